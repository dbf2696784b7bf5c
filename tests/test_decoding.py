"""Search: against exhaustive search, greedy search, and itself without a cache."""

import itertools
from typing import NamedTuple

import datasets
import numpy as np
import pytest
import torch
from expected_errors import refuses

from repro.core.batches import pad
from repro.core.decoding import (
    NEVER_GENERATED,
    SearchConfig,
    Translator,
    _best_tokens,
    _close_gaps,
    _keep_places,
    beam_search,
)
from repro.core.int8 import quantized
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID, Subwords
from repro.core.transformer import Transformer
from repro.errors import InputError
from repro.runs.models import load_parameters
from test_transformer import SYSTEMS, VOCAB, every_model, small

WORDS = [4, 5, 6, 7]


class Uncached:
    """The same model, reading the whole prefix again at every step: what the cache must equal."""

    class State(NamedTuple):
        src: torch.Tensor
        tgt: torch.Tensor

        def select(self, rows, sentences):
            return Uncached.State(self.src[sentences], self.tgt[rows])

    def __init__(self, model):
        self.model, self.output, self.max_len = model, model.output, model.max_len

    def start(self, src):
        return self.State(src, None)

    def decode(self, state, tgt_in):
        tgt = tgt_in if state.tgt is None else torch.cat([state.tgt, tgt_in], dim=1)
        src = state.src.repeat_interleave(len(tgt) // len(state.src), dim=0)
        return self.model.decode(self.model.start(src), tgt)[0][:, -tgt_in.shape[1] :], self.State(
            state.src, tgt
        )


def sources(num_sentences: int = 12) -> list[list[int]]:
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 9, (num_sentences,), generator=generator)
    return [torch.randint(4, VOCAB, (int(n),), generator=generator).tolist() for n in lengths]


def sharpened(variant, seed: int, **options):
    """An untrained model with enough spread in its scores that ties do not decide."""
    torch.manual_seed(seed)
    model = small(variant, **options)
    with torch.no_grad():
        model.output.weight.mul_(4)
    return model.double()


@pytest.mark.parametrize("variant", SYSTEMS)
@pytest.mark.parametrize(
    "alpha, penalty, max_words", [(0.0, "length", 2), (1.0, "length", 1), (0.6, "wu", 1)]
)
def test_a_beam_of_five_is_exhaustive_search_on_four_words(variant, alpha, penalty, max_words):
    """Five prefixes hold all four one-word prefixes. Probabilities only fall, so without a
    penalty nothing is missed to two words; a
    penalty can favour a prefix that has fallen behind, so there only outputs that all fit into the
    beam are compared."""
    src = torch.tensor([[4, 6]])
    search = SearchConfig(beam=5, alpha=alpha, penalty=penalty, extra_tokens=max_words - 1)
    lengths = set()
    for seed in range(20):
        model = small_vocabulary(variant, seed)
        (found,) = beam_search(model, src, search)
        candidates = [
            list(words)
            for length in range(max_words + 1)
            for words in itertools.product(WORDS, repeat=length)
        ]
        best = max(candidates, key=lambda ids: rank(model, src, ids, search))
        assert found.ids == best
        assert found.score == pytest.approx(rank(model, src, best, search), abs=1e-6)
        lengths.add(len(best))
    assert max_words in lengths, (
        "the longest output must be the best of some model, or the search is hardly tested"
    )


def small_vocabulary(variant: str, seed: int):
    torch.manual_seed(seed)
    model = sharpened(variant, seed, embed_dim=12)
    with torch.no_grad():
        model.output.bias = torch.nn.Parameter(torch.zeros(VOCAB, dtype=torch.double))
        model.output.bias[8:] = float("-inf")
    return model


def rank(model, src, ids, search) -> float:
    logits = model(src, torch.tensor([[BOS_ID, *ids]]))[0].detach().float()
    logits[:, NEVER_GENERATED] = float("-inf")
    log_prob = logits.log_softmax(-1)[range(len(ids) + 1), [*ids, EOS_ID]].sum()
    return float(search.rank(log_prob, len(ids) + 1))


@pytest.mark.parametrize("variant", SYSTEMS)
def test_a_score_is_that_of_its_own_words(variant):
    """A prefix taken from another row of the beam would carry another's score. Flat models make the
    rows of a beam change places."""
    search = SearchConfig(beam=5, alpha=0.7, extra_tokens=9)
    for seed in range(5):
        torch.manual_seed(seed)
        model = small(variant).double()
        found = beam_search(model, pad(sources()), search)
        assert max(len(hypothesis.ids) for hypothesis in found) > 3
        for ids, hypothesis in zip(sources(), found, strict=True):
            assert hypothesis.score == pytest.approx(
                rank(model, torch.tensor([ids]), hypothesis.ids, search), abs=1e-5
            )


@pytest.mark.parametrize("variant", SYSTEMS)
def test_a_beam_of_one_is_greedy_search(variant):
    model, search = sharpened(variant, 0), SearchConfig(beam=1, extra_tokens=20)
    for ids in sources():
        (found,) = beam_search(model, torch.tensor([ids]), search)
        greedy: list[int] = []
        while len(greedy) < len(ids) + 20 - 1:
            logits = model(torch.tensor([ids]), torch.tensor([[BOS_ID, *greedy]]))[0, -1]
            logits[NEVER_GENERATED] = float("-inf")
            token = int(logits.argmax())
            if token == EOS_ID:
                break
            greedy.append(token)
        assert found.ids == greedy


class Scripted:
    """A model that looks at nothing: for each step the probabilities of the end mark and of the
    word 4; four words share the rest."""

    class State(NamedTuple):
        length: int

        def select(self, rows, sentences):
            return self

    def __init__(self, *steps: tuple[float, float]):
        self.steps = steps

    def max_len(self, *sites):
        return None

    def start(self, src):
        return self.State(0)

    def decode(self, state, tgt_in):
        return torch.full((len(tgt_in), 1, 1), state.length), self.State(state.length + 1)

    def output(self, hidden):
        end, word = self.steps[min(int(hidden[0]), len(self.steps) - 1)]
        rest = (1 - end - word) / 4
        return (
            torch.tensor([0.0, 0, 0, end, word, rest, rest, rest, rest])
            .log()
            .expand(len(hidden), -1)
            .clone()
        )


@pytest.mark.parametrize(
    "beam, steps, words",
    [
        (1, [(0.01, 0.9), (0.9, 0.05)], 1),  # greedy search ends where the end is likeliest
        # and nowhere else, though a translation that had ended at second best would have ranked
        # higher
        (1, [(0.4, 0.5), (0.31, 0.2)], 1),
        # outranked for a moment, but a single end says too little
        (2, [(0.55, 0.44), (0.001, 0.98), (0.98, 0.01)], 2),
        # two ends, but the mean of the living prefix is still higher
        (2, [(0.001, 0.98), (0.4, 0.59), (0.4, 0.59), (0.98, 0.01)], 3),
        (1, [(0.5, 0.45), (0.98, 0.01)], 0),  # a prefix ranks by the tokens that it has
        # Ends behind the two best extensions are none of them, so the sentence goes on while it is
        # outranked, to a better end.
        (
            2,
            [
                (0.0, 0.4),
                (0.25, 0.7),
                (0.25, 0.7),
                (0.001, 0.22),
                (0.001, 0.22),
                (0.001, 0.98),
                (0.98, 0.01),
            ],
            6,
        ),
    ],
)
def test_a_sentence_is_done_after_as_many_ends_as_beams_unless_a_prefix_is_better(
    beam, steps, words
):
    (found,) = beam_search(Scripted(*steps), torch.tensor([[5]]), SearchConfig(beam=beam))
    assert (found.ids, found.cut) == ([4] * words, False)


@every_model
@pytest.mark.parametrize("beam", [1, 5])
def test_cached_and_uncached_search_agree_at_every_batch_size(variant, beam):
    model, search, rows = sharpened(variant, 1), SearchConfig(beam=beam, extra_tokens=9), sources()
    cached = beam_search(model, pad(rows), search)
    assert [found.ids for found in beam_search(Uncached(model), pad(rows), search)] == [
        found.ids for found in cached
    ]
    alone = [beam_search(model, torch.tensor([row]), search)[0] for row in rows]
    assert [found.ids for found in alone] == [found.ids for found in cached]


def test_a_state_is_continued_once():
    """Its memory is written in place, so what is continued twice would be silently wrong."""
    model = small()
    with torch.no_grad():
        _, state = model.decode(model.start(torch.tensor([[5, 6]])), torch.tensor([[BOS_ID]]))
        model.decode(state, torch.tensor([[7]]))
        with pytest.raises(RuntimeError, match="has been continued already"):
            model.decode(state, torch.tensor([[8]]))


def test_no_sentence_is_searched_longer_for_the_company_it_has(monkeypatch):
    """Which sentences are done is counted apart for each, though they change places."""
    decode, steps = Transformer.decode, []
    monkeypatch.setattr(
        Transformer,
        "decode",
        lambda *args: steps.append(len(args[1].source_blocked)) or decode(*args),
    )
    search = SearchConfig(beam=3, alpha=0.0, extra_tokens=30)
    for seed in range(5):
        torch.manual_seed(seed)
        model = small().double()
        beam_search(model, pad(sources()), search)
        together = sum(steps)
        steps.clear()
        for row in sources():
            beam_search(model, torch.tensor([row]), search)
        assert together == len(steps) > 3 * len(sources())
        steps.clear()


def test_rows_that_live_on_keep_their_places():
    origin = torch.tensor([[4, 0, 4, 4, 1], [0, 1, 2, 3, 4], [3, 3, 3, 3, 3], [1, 0, 3, 2, 4]])
    order = _keep_places(origin)
    assert order.sort(dim=1).values.tolist() == [[0, 1, 2, 3, 4]] * 4
    assert origin.gather(1, order).tolist() == [
        [0, 1, 4, 4, 4],
        [0, 1, 2, 3, 4],
        [3, 3, 3, 3, 3],
        [0, 1, 2, 3, 4],
    ]
    generator = torch.Generator().manual_seed(0)
    origin = torch.randint(0, 5, (200, 5), generator=generator)
    placed = origin.gather(1, _keep_places(origin))
    assert all(row[i] == i for row in placed.tolist() for i in set(row))


def test_the_last_sentences_fill_the_places_of_those_that_are_done():
    assert _close_gaps(torch.tensor([True, False, True, False, True, True])).tolist() == [
        0,
        4,
        2,
        5,
    ]
    assert _close_gaps(torch.tensor([True, True])).tolist() == [0, 1]
    assert _close_gaps(torch.tensor([False, False])).tolist() == []


@pytest.mark.parametrize("vocab", [40, 448, 449, 511, 1000])
def test_the_best_tokens_are_those_of_a_selection_among_all(vocab):
    logits = torch.randn(30, vocab, generator=torch.Generator().manual_seed(vocab))
    # the best may lie together, in a few blocks or behind the last whole one
    logits[:10, :200] -= 10
    logits[10:20, -30:] += 10
    logits[20:, 3:] = float("-inf")
    for count in (1, 2, 6):
        best, tokens = _best_tokens(logits, count)
        assert torch.equal(best, logits.topk(count).values) and torch.equal(
            logits.gather(1, tokens), best
        )


@pytest.mark.parametrize("variant", ["base", "hc-sa", "7Fword+1L", "mma", "ran-all", "sh-x"])
def test_eight_bit_integers_change_scores_a_little_and_the_model_not_at_all(variant):
    model = small(variant)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    rounded = quantized(model)
    src, tgt = pad([[5, 6, 7], [8, 9, 10, 11, 12]]), torch.randint(4, VOCAB, (2, 6))
    difference = (rounded(src, tgt) - model(src, tgt)).abs().max() / model(src, tgt).abs().max()
    assert 0 < difference < 0.05
    assert all(torch.equal(before[name], parameter) for name, parameter in model.named_parameters())
    assert not any(
        type(module) is torch.nn.Linear
        for name, module in rounded.named_modules()
        if "recurrence" not in name
    )
    found = beam_search(rounded, src, SearchConfig(beam=5, extra_tokens=5))
    assert len(found) == 2 and all(hypothesis.ids for hypothesis in found)


def test_an_output_that_never_ends_is_cut_flagged_and_leaves_the_others_alone():
    model, search = sharpened("base", 1), SearchConfig(beam=3, extra_tokens=4)
    with torch.no_grad():
        model.output.weight[EOS_ID] = 0
        model.output.bias = torch.nn.Parameter(torch.zeros(VOCAB, dtype=torch.double))
        model.output.bias[EOS_ID] = -1e4
    rows = [[5, 6], [7, 8, 9, 10]]
    for row, found in zip(rows, beam_search(model, pad(rows), search), strict=True):
        assert found.cut and len(found.ids) == len(row) + search.extra_tokens - 1


def test_an_output_that_ends_by_itself_at_the_limit_is_not_cut():
    row = [4, 6]
    found = (
        (model, beam_search(model, pad([row]), SearchConfig(beam=5))[0])
        for model in (small_vocabulary("base", n) for n in range(20))
    )
    model, free = next((model, free) for model, free in found if not free.cut and len(free.ids) > 2)
    (at_limit,) = beam_search(
        model, pad([row]), SearchConfig(beam=5, extra_tokens=len(free.ids) + 1 - len(row))
    )
    assert at_limit == free


@pytest.mark.parametrize(
    "penalty, expected", [("length", -6 / 8**0.5), ("wu", -6 / (13 / 6) ** 0.5)]
)
def test_length_penalties(penalty, expected):
    assert SearchConfig(alpha=0.5, penalty=penalty).rank(torch.tensor(-6.0), 8) == pytest.approx(
        expected
    )


@pytest.mark.parametrize(
    "options",
    [
        {"beam": 0},
        {"alpha": -1.0},
        {"penalty": "best"},
        {"batch_size": 0},
        {"extra_tokens": -1},
        {"beam": 4.0},
        {"beam": "4"},
    ],
)
def test_impossible_searches_are_refused(options):
    with pytest.raises(InputError, match=r"search(\.\w+)?: "):
        SearchConfig(**options)


def test_a_whole_number_is_a_strength_of_the_penalty():
    assert repr(SearchConfig(alpha=1)) == repr(SearchConfig())


def test_the_translator_keeps_order_and_blank_lines_and_reads_marks_as_text():
    texts = ["a small house", "the old tree stands", "a tree", "the house"]
    subwords = Subwords.fit(texts * 5, 40)
    torch.manual_seed(0)
    model = small()
    model = type(model)(model.config, len(subwords), PAD_ID)
    translator = Translator(model, subwords)
    assert translator.translate([]) == []
    lines = [
        "the house",
        "",
        "   ",
        "<s> </s> <pad> ▁",
        "a tree \N{GRINNING FACE}" + "\u0301" * 1000,
        "the old tree",
    ]
    found = translator.translate(lines, SearchConfig(beam=2, extra_tokens=3, batch_size=2))
    assert len(found) == len(lines) and found[1] == found[2] == ""
    assert found == [
        translator.translate([line], SearchConfig(beam=2, extra_tokens=3))[0] for line in lines
    ]


def test_texts_come_in_any_row_and_what_is_no_text_is_named():
    """As a notebook has them: a tuple, an array, a column of a table, a generator."""
    texts = ["a small house", "a tree"]
    subwords = Subwords.fit(texts * 5, 20)
    translator = Translator(Transformer(small().config, len(subwords), PAD_ID), subwords)
    expected = translator.translate(texts)
    column = datasets.Dataset.from_dict({"en": texts})["en"]
    for row in (tuple(texts), np.array(texts), iter(texts), column):
        assert translator.translate(row) == expected
    with refuses(InputError, "sentences[1]", "D800", "UTF-8"):
        translator.translate(["a", "b\ud800"])
    with pytest.raises(
        InputError, match=r"sentences: are one text, not a list\. Fix: write \[text\]"
    ):
        translator.translate("a tree")
    with pytest.raises(
        InputError,
        match=r"sentences\[1\]: is of the type NoneType, not a text\. Fix: give a list of str",
    ):
        translator.translate(["a tree", None])


def test_a_book_on_one_line_is_refused_by_name(monkeypatch):
    subwords = Subwords.fit(["a b c d"] * 4, 12)
    translator = Translator(Transformer(small().config, len(subwords), PAD_ID), subwords)
    limit = len(subwords.encode(["a b c d"])[0]) + 1
    monkeypatch.setattr("repro.core.decoding.MAX_SENTENCE", limit)
    assert translator.translate(["a b c d"])
    expected = (
        rf"the sentence 'a b c d a': has {limit + 1} tokens, and .*: "
        rf"the limit is {limit}. Fix: split the sentence"
    )
    with pytest.raises(InputError, match=expected):
        translator.translate(["a b c d", "a b c d a"])


@pytest.mark.parametrize("site", ["encoder_self", "cross"])
def test_a_sentence_may_fill_an_attention_with_its_mark_and_no_more(site):
    subwords = Subwords.fit(["a b c d"] * 4, 12)
    length = len(subwords.encode(["a b c d"])[0]) + 1
    fits, is_short = (
        Translator(
            Transformer(
                small({site: f"synthesizer(max_len={max_len})"}).config, len(subwords), PAD_ID
            ),
            subwords,
        )
        for max_len in (length, length - 1)
    )
    assert len(fits.search(["a b c d"])) == 1
    with pytest.raises(
        InputError,
        match=(
            f"has {length} tokens, but this model's attention is defined for {length - 1}. Fix: "
            "split"
        ),
    ):
        is_short.search(["a b c d"])


def test_as_many_sentences_are_searched_at_a_time_as_were_asked_for(monkeypatch):
    subwords, sizes = Subwords.fit(["a b c d"] * 4, 12), []
    translator = Translator(Transformer(small().config, len(subwords), PAD_ID), subwords)
    monkeypatch.setattr(
        "repro.core.decoding.beam_search",
        lambda *args: (sizes.append(len(args[1])), beam_search(*args))[1],
    )
    translator.translate(
        ["a", "a b", "a b c", "a b c d", "d"], SearchConfig(beam=1, batch_size=2, extra_tokens=1)
    )
    assert sizes == [2, 2, 1]


def test_parameters_of_another_shape_leave_the_model_untouched(tmp_path):
    model, other = small(), small("hc-sa")
    before = {name: parameter.clone() for name, parameter in other.named_parameters()}
    with pytest.raises(InputError, match="does not fit the model: .*query_proj.weight is unknown"):
        load_parameters(other, dict(model.named_parameters()), tmp_path)
    with pytest.raises(
        InputError,
        match=(
            r"does not fit the model: decoder.0.feed_forward.sublayer.0.bias is \(16,\), wanted "
            r"\(20,\);"
        ),
    ):
        load_parameters(other, dict(small("hc-sa", ffn_dim=16).named_parameters()), tmp_path)
    assert all(torch.equal(before[name], parameter) for name, parameter in other.named_parameters())


def test_a_beam_beyond_memory_is_refused():
    with refuses(InputError, "search.beam", "1", "1,000", "100,000,000"):
        SearchConfig(beam=100_000_000)
