"""Contrastive evaluation: scores are cross entropies, ties are wrong, and a record holds what was
decided."""

import json
import math
from collections import Counter

import pytest
import torch

from repro.analysis.ablation import scaled_heads
from repro.contrastive.scoring import (
    accuracies,
    check_contrastive_record,
    cross_entropies,
    decisions,
    mean_token_losses,
    score_suite,
    wilson_accuracy,
)
from repro.contrastive.suites import ContrastiveItem, ContrastiveSuite
from repro.core.decoding import Translator
from repro.core.subwords import BOS_ID, EOS_ID, PAD_ID, Subwords
from repro.errors import DamagedFileError, InputError
from test_transformer import small

SENTENCES = [
    "a small house",
    "the old tree stands",
    "a tree",
    "the house",
    "the old house stands",
    "a small old tree",
]


def suite_of(*items, **fields):
    return ContrastiveSuite(
        **({"name": "own", "source": "en", "target": "de", "items": items} | fields)
    )


@pytest.fixture(scope="module")
def translator():
    torch.manual_seed(4)
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small()
    return Translator(type(model)(model.config, len(subwords), PAD_ID), subwords)


@pytest.fixture
def suite():
    pairs = [(a, b) for a in SENTENCES for b in SENTENCES if a != b]
    items = [
        ContrastiveItem(
            a,
            b,
            (b + " tree", "old " + b)[: 1 + i % 2],
            "even" if i % 2 else "odd",
            i % 20 or None,
            origin=a[0],
        )
        for i, (a, b) in enumerate(pairs)
    ]
    return suite_of(*items, skipped=Counter(why=1))


def test_the_mean_is_over_tokens_and_padding_is_none():
    """Two words of a vocabulary of five, and one: probabilities 1/2, 1/4 and 1/8 by hand."""
    probabilities = torch.tensor(
        [[[0.125, 0.125, 0.125, 0.5, 0.125], [0.25, 0.25, 0.25, 0.125, 0.125]]]
    ).repeat(2, 1, 1)
    tgt_out = torch.tensor([[3, 1], [4, PAD_ID]])
    expected = [(math.log(2) + math.log(4)) / 2, math.log(8)]
    assert mean_token_losses(probabilities.log() + 7, tgt_out).tolist() == pytest.approx(
        expected, abs=1e-6
    )


def test_cross_entropies_are_those_of_each_pair_alone_token_by_token(translator):
    sources, targets = (
        ["a tree", "the old house stands", "a tree"],
        ["the house", "a small house", "the old tree stands"],
    )
    found = cross_entropies(translator, sources, targets)
    for source, target, value in zip(sources, targets, found, strict=True):
        src, tgt = translator.subwords.encode([source, target])
        if translator.model.config.source_end_mark:
            src = [*src, EOS_ID]
        losses = []
        for place, token in enumerate([*tgt, EOS_ID]):
            with torch.no_grad():
                logits = translator.model(
                    torch.tensor([src]), torch.tensor([[BOS_ID, *tgt[:place]]])
                )[0, -1]
            losses.append(-float(logits.log_softmax(dim=-1)[token]))
        assert value == pytest.approx(sum(losses) / len(losses), abs=1e-5)


def test_order_and_batches_change_nothing(translator, suite):
    record = score_suite(translator, suite)
    backwards = score_suite(translator, suite_of(*suite.items[::-1]))
    assert backwards["items"]["reference"] == pytest.approx(
        record["items"]["reference"][::-1], abs=2e-5
    )
    assert decisions(backwards)[::-1] == decisions(record)
    texts = [item.reference for item in suite.items]
    sources = [item.source for item in suite.items]
    whole, single = (
        cross_entropies(translator, sources, texts, batch_tokens=size) for size in (100_000, 1)
    )
    assert whole == pytest.approx(single, abs=1e-5)


def test_a_tie_is_wrong_and_all_contrastive_translations_count(translator):
    low, high = sorted(
        SENTENCES[:2], key=lambda text: cross_entropies(translator, ["a tree"], [text])[0]
    )
    items = [
        # both signs are unknown, so the ids are equal
        ContrastiveItem("a tree", "a house ♠", ("a house ♣",), "tie"),
        ContrastiveItem("a tree", low, (high,), "right"),
        ContrastiveItem("a tree", high, (low,), "wrong"),
        ContrastiveItem("a tree", low + " ♠", (high, low + " ♣"), "one equal"),
    ]
    record = score_suite(translator, suite_of(*items))
    assert decisions(record) == [False, True, False, False]
    assert {found.group: found.right for found in accuracies(record)} == {
        "tie": 0,
        "right": 1,
        "wrong": 0,
        "one equal": 0,
    }


def test_typed_text_is_read_as_the_training_text_was(translator):
    """A model of lower-cased text sees no capitals, so none may move a decision."""
    lower = Translator(
        translator.model, translator.subwords, lambda texts: [text.lower() for text in texts]
    )
    found = cross_entropies(lower, ["A Tree", "THE house"], ["The House", "a Tree"])
    assert found == cross_entropies(translator, ["a tree", "the house"], ["the house", "a tree"])
    item = ContrastiveItem("A Tree", "The House", ("A House",), "word")
    suite = suite_of(item, ContrastiveItem("A tree", "The house", ("the house",), "case"))
    record = score_suite(lower, suite)
    read = score_suite(
        translator, suite_of(ContrastiveItem("a tree", "the house", ("a house",), "word"))
    )
    assert (record["items"], record["suite"]["sha256"]) == (read["items"], read["suite"]["sha256"])
    assert record["suite"]["skipped"] == {"the model does not see the error": 1}
    with pytest.raises(
        InputError, match="own: has no items with an error that the model sees, of 1"
    ):
        score_suite(lower, suite_of(suite.items[1]))


def test_what_differs_by_less_than_is_stored_is_a_tie(translator, monkeypatch):
    monkeypatch.setattr(
        "repro.contrastive.scoring.cross_entropies",
        lambda *_, **__: [1.000001, 1.000002, 1.00001, 1.00002],
    )
    items = [
        ContrastiveItem("a tree", "a house", ("the house",), kind) for kind in ("tie", "right")
    ]
    record = score_suite(translator, suite_of(*items))
    assert (record["items"]["reference"], record["items"]["contrastive"]) == (
        [1.0, 1.00001],
        [[1.0], [1.00002]],
    )
    assert decisions(record) == [False, True]


def test_a_record_is_json_and_says_how_it_was_made(translator, suite):
    record = score_suite(translator, suite)
    again = json.loads(json.dumps(record, allow_nan=False))
    assert again == record and record["kind"] == "contrastive"
    assert record["suite"] == {
        "name": "own", "source": "en", "target": "de", "items": 30, "skipped": {"why": 1},
        "sha256": suite.fingerprint,
    }  # fmt: skip
    check_contrastive_record(again)
    with pytest.raises(InputError, match="own: has no items"):
        score_suite(translator, suite_of())


def test_accuracies_by_type_distance_and_origin(translator, suite):
    record = score_suite(translator, suite)
    right = decisions(record)
    assert {True, False} == set(right)
    for by, group_of in {
        "type": lambda item: item.type,
        "origin": lambda item: item.origin,
    }.items():
        expected = {}
        for item, is_right in zip(suite.items, right, strict=True):
            expected.setdefault(group_of(item), []).append(is_right)
        found = accuracies(record, by=by)
        assert [(a.group, a.right, a.total) for a in found] == [
            (group, sum(all_), len(all_)) for group, all_ in expected.items()
        ]
    near = accuracies(record, by="distance")
    assert [a.group for a in near] == ["1", "2", "3", "4", "5", "6-7", "8-10", "11-15", "16+"]
    assert [a.total for a in near] == [2, 2, 2, 2, 2, 4, 5, 5, 4]
    assert [a.total for a in accuracies(record, by="distance", only="odd")] == [2, 2, 2, 3, 2, 2]
    with pytest.raises(InputError, match="cannot group by 'word'"):
        accuracies(record, by="word")


def test_wilson_interval_by_its_formula():
    found, z, p, n = wilson_accuracy("x", 8, 10), 1.959964, 0.8, 10
    center, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found.low, found.high) == pytest.approx(
        [(center + sign * half) / (1 + z * z / n) for sign in (-1, 1)], abs=1e-6
    )
    assert wilson_accuracy("x", 0, 5).low == 0 and wilson_accuracy("x", 5, 5).high == 1


@pytest.mark.parametrize("fault", ["score", "accuracy", "lost item", "lost key"])
def test_a_record_edited_by_hand_is_found(translator, suite, fault):
    record = json.loads(json.dumps(score_suite(translator, suite)))
    if fault == "score":
        record["items"]["reference"][decisions(record).index(True)] += 9
    elif fault == "accuracy":
        record["accuracy"][0]["right"] += 1
    elif fault == "lost item":
        record["items"]["reference"].pop()
    else:
        del record["items"]["type"]
    with pytest.raises(DamagedFileError, match="score the suite again"):
        check_contrastive_record(record)


def test_head_masks_compose(translator, suite):
    """Claim R-08: accuracy with and without a head, by laying a mask around the call."""
    whole = score_suite(translator, suite)
    with scaled_heads(translator.model, {("encoder_self", 0): [1.0, 1.0, 1.0, 0.0]}):
        masked = score_suite(translator, suite)
    assert masked["items"]["reference"] != whole["items"]["reference"]
    assert score_suite(translator, suite)["items"] == whole["items"]


def test_sentences_beyond_the_memory_are_refused(translator):
    with pytest.raises(
        InputError, match=r"the source .*: has \d+ tokens with its mark, but .* can score 2000"
    ):
        cross_entropies(translator, ["a " * 2500], ["a tree"])


def test_sentences_beyond_the_attention_are_refused():
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small(encoder_self="recurrent(max_len=12)", decoder_self="recurrent(max_len=12)")
    bounded = Translator(type(model)(model.config, len(subwords), PAD_ID), subwords)
    long = "a small old tree " * 5
    with pytest.raises(
        InputError,
        match=r"the source 'a small old tree .*': has \d+ tokens with its mark, but .* can "
        "score 12",
    ):
        cross_entropies(bounded, [long], ["a tree"])
    with pytest.raises(InputError, match="the target 'a small old tree"):
        cross_entropies(bounded, ["a tree"], [long])
    with pytest.raises(InputError, match="targets: 1 targets for 2 sources"):
        cross_entropies(bounded, ["a tree", "the house"], ["a tree"])


@pytest.mark.parametrize(
    "site, side",
    [
        ("encoder_self", "source"),
        ("decoder_self", "target"),
        ("cross", "source"),
        ("cross", "target"),
    ],
)
def test_the_longest_sentence_with_its_mark_is_the_last_that_is_read(site, side):
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small(**{site: "synthesizer(max_len=12)"})
    bounded = Translator(type(model)(model.config, len(subwords), PAD_ID), subwords)
    for length in (11, 12):
        pair = {"source": "a", "target": "a"} | {side: " ".join(["a"] * length)}
        assert len(subwords.encode([pair[side]])[0]) == length
        if length == 11:
            assert cross_entropies(bounded, [pair["source"]], [pair["target"]])
        else:
            with pytest.raises(
                InputError,
                match=rf"the {side} 'a a .*': has 13 tokens with its mark, but .* can score 12",
            ):
                cross_entropies(bounded, [pair["source"]], [pair["target"]])
