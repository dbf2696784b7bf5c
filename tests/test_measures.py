"""What is measured on finished runs besides scores: each kind against the sentences taken one by
one."""

from types import SimpleNamespace

import numpy as np
import pytest
import sacrebleu
import torch

from repro.analysis.ablation import scaled_heads
from repro.analysis.weights import collect_weights
from repro.contrastive.scoring import score_suite
from repro.contrastive.suites import ContrastiveItem, ContrastiveSuite
from repro.core.decoding import Translator
from repro.core.subwords import BOS_ID, EOS_ID
from repro.measures import registry as measures
from repro.measures.contrastive import contrastive_results, measure_contrastive
from repro.measures.registry import SENTENCES, measure_maps, measure_masks, measure_off_diagonal
from repro.records.translations import changed_by, hypotheses_of, score_tables, statistics_of
from repro.runs import gallery
from repro.runs.models import load_translator
from repro.runs.run import Run
from repro.statistics.resampling import bleu_of_sums

SOURCES = [
    "The old man with the hat sees a dog in the garden.",
    "She sleeps.",
    "The child buys a small red table.",
    "We wait here.",
]
REFS = [
    "Der alte Mann mit dem Hut sieht einen Hund im Garten.",
    "Sie schläft.",
    "Das Kind kauft einen kleinen roten Tisch.",
    "Wir warten.",
]
LAYERS, HEADS = 2, 4


@pytest.fixture(scope="module")
def run() -> Run:
    return gallery.load("base")


@pytest.fixture(scope="module")
def translator(run) -> Translator:
    return load_translator(run, "cpu")


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch, translator):
    """Let every test set be the sentences above."""
    monkeypatch.setattr(
        measures, "load_once", lambda *_: SimpleNamespace(pairs=lambda *_: (SOURCES, REFS))
    )
    monkeypatch.setattr(
        measures,
        "evaluate_run",
        lambda *_: {
            "tables": score_tables(
                translator.translate(SOURCES), SOURCES, REFS, "de", "translation"
            )
        },
    )


def weights_of(translator: Translator, source: str, target: str):
    """Return the ids of a pair as the model reads them, and its weights."""
    src, tgt = translator.subwords.encode([source, target])
    src, tgt_in = torch.tensor([[*src, EOS_ID]]), torch.tensor([[BOS_ID, *tgt]])
    return src, tgt_in, collect_weights(translator.model, src, tgt_in)


def masked(translator: Translator, head: int):
    factors = [0.0 if other == head else 1.0 for other in range(HEADS)]
    return scaled_heads(
        translator.model, {("encoder_self", layer): factors for layer in range(LAYERS)}
    )


def test_a_mask_takes_one_head_out_of_all_encoder_layers_and_only_what_it_changes_is_kept(
    run, translator
):
    found, whole = measure_masks(run), translator.translate(SOURCES)
    assert (
        found["split"] == "test"
        and hypotheses_of(found | {"kind": "masks"}) == whole
        and list(found["masks"]) == ["1", "2", "3", "4"]
    )
    for head, mask in enumerate(found["masks"].values()):
        assert mask["heads"] == [["encoder_self", layer, head] for layer in range(LAYERS)]
        with masked(translator, head):
            hyps = translator.translate(SOURCES)
        assert changed_by(found, head + 1) == {
            i: hyps[i] for i in range(len(SOURCES)) if hyps[i] != whole[i]
        }
        expected = sacrebleu.corpus_bleu(hyps, [REFS]).score
        assert bleu_of_sums(
            statistics_of(found | {"kind": "masks"}, "BLEU", head + 1).sum(axis=0)[None]
        )[0] == pytest.approx(expected)
    assert any(changed_by(found, head) for head in range(1, HEADS + 1))
    assert translator.translate(SOURCES) == whole


def test_maps_are_of_our_sentence_and_the_models_own_translation(run, translator):
    found, sentence = measure_maps(run), SENTENCES["en"]
    (translation,) = translator.translate([sentence])
    assert found["source"] == [*translator.subwords.pieces(sentence), "</s>"]
    assert found["target"] == ["<s>", *translator.subwords.pieces(translation)]
    _, _, expected = weights_of(translator, sentence, translation)
    for site, layers in expected._asdict().items():
        assert len(found["weights"][site]) == LAYERS
        for layer, weights in zip(found["weights"][site], layers, strict=True):
            np.testing.assert_allclose(layer, weights[0], atol=0.51e-4)


def test_maps_of_a_lower_case_corpus_are_of_the_sentence_in_lower_case(run, monkeypatch):
    monkeypatch.setattr(
        measures,
        "prepare_lines",
        lambda name, lines: [line.lower() for line in lines if name == "minigerman"],
    )
    assert measure_maps(run)["source"][0] == "▁the"


def test_a_share_off_the_diagonal_is_that_of_the_sentence_by_itself(run, translator, monkeypatch):
    """A token counts by its weights averaged over all heads and layers; the end mark is none."""
    monkeypatch.setattr(measures, "BATCH", 3)  # the last batch is smaller
    shares = measure_off_diagonal(run)["shares"]
    assert len(shares["encoder_self"]) == len(shares["decoder_self"]) == len(SOURCES)
    for place, pair in enumerate(zip(SOURCES, REFS, strict=True)):
        src, tgt_in, weights = weights_of(translator, *pair)
        for site, length in (("encoder_self", src.shape[1] - 1), ("decoder_self", tgt_in.shape[1])):
            mean = torch.cat(getattr(weights, site), dim=1)[0].mean(dim=0)[:length, :length]
            far = [abs(int(row.argmax()) - i) >= 2 for i, row in enumerate(mean)]
            assert shares[site][place] == pytest.approx(sum(far) / length, abs=0.51e-4)
    assert all(0 < np.mean(values) < 1 for values in shares.values())


def test_contrastive_pairs_are_scored_whole_and_without_the_last_encoder_head(
    run, translator, monkeypatch
):
    items = [
        ContrastiveItem(source, ref, (ref.replace(" ", " nicht ", 1),), "t")
        for source, ref in zip(SOURCES, REFS, strict=True)
    ]
    suite = ContrastiveSuite("own", "en", "de", tuple(items))
    monkeypatch.setattr("repro.measures.contrastive.suite_of", lambda _: suite)
    whole, without = contrastive_results(measure_contrastive(run))
    assert (whole["masked"], without["masked"]) == (None, "4")
    assert whole["items"] == score_suite(translator, suite)["items"]
    with masked(translator, HEADS - 1):
        assert without["items"] == score_suite(translator, suite)["items"]
    assert without["items"]["reference"] != whole["items"]["reference"]
