"""What `evaluate` sees of a variant that is one model in training and another in search."""

import math

import pytest
import torch
from wrong_variants import register

from repro.core.config import ModelConfig
from repro.core.decoding import SearchConfig, Translator
from repro.core.transformer import Transformer
from repro.data.corpora import load_pairs
from repro.errors import InputError
from repro.measures.rereading import check_search
from repro.measures.scores import evaluate_run


def searched(translator: Translator, search: SearchConfig):
    sources = load_pairs("minigerman", "en", "de", "test")[0][:40]
    return sources, translator.search(sources, search)


def other_model(translator: Translator, site: str, variant: str) -> Translator:
    """Return a model with the parameters of a trained one as far as it has them, and a variant at
    one site."""
    old = translator.model
    config = ModelConfig(**{**vars(old.config), site: variant})
    model = Transformer(
        config, old.output.weight.shape[0], old.pad_id, old.starts_word.tolist(), 1.0
    )
    own = model.state_dict()
    model.load_state_dict(
        {name: value for name, value in old.state_dict().items() if name in own}, strict=False
    )
    return Translator(model, translator.subwords)


@pytest.mark.parametrize(
    "search",
    [SearchConfig(), SearchConfig(beam=1, alpha=0.0), SearchConfig(penalty="wu", extra_tokens=0)],
)
def test_a_right_model_scores_its_translations_alike_both_ways(translator, search):
    sources, found = searched(translator, search)
    check_search(translator, sources, found, search, "run")
    check_search(
        translator, ["", *sources], translator.search(["", *sources], search), search, "run"
    )


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("convolved-keys", "decoder_self"),
        ("leak-from-eight", "decoder_self"),
        ("neighbouring-queries", "cross"),
    ],
)
def test_a_wrong_variant_is_refused_and_its_site_named(translator, name, site, monkeypatch):
    register(monkeypatch, name)
    wrong, search = other_model(translator, site, name), SearchConfig()
    sources, found = searched(wrong, search)
    meaning = (
        r"run: the model scores its own translation -\d+\.\d when read at once and -\d+\.\d step "
        rf"by step: the variant at {site} "
    )
    with pytest.raises(
        InputError,
        match=f"{meaning}depends on tokens that it is not given in a step. "
        f"Fix: see what is wrong with repro check {name}, and train",
    ):
        check_search(wrong, sources, found, search, "run")


def test_a_score_that_is_no_number_is_refused(translator):
    sources, found = searched(translator, SearchConfig())
    broken = other_model(translator, "cross", "dot-product")
    with torch.no_grad():
        broken.model.decoder_norm.bias[0] += math.nan
    with pytest.raises(InputError, match="scores its own translation nan when read at once"):
        check_search(broken, sources, found, SearchConfig(), "run")


def test_evaluate_refuses_a_run_of_such_a_variant_and_keeps_no_score(
    translator, whole, monkeypatch
):
    run = whole()
    evaluate_run(run, "dev", SearchConfig(beam=2))
    kept = sorted((run.path / "evaluations").iterdir())
    register(monkeypatch, "convolved-keys")
    wrong = other_model(translator, "decoder_self", "convolved-keys")
    monkeypatch.setattr("repro.measures.scores.load_translator", lambda run: wrong)
    reason = "the variant at decoder_self depends on tokens that it is not given in a step"
    with pytest.raises(InputError, match=reason):
        evaluate_run(run, "dev")
    assert sorted((run.path / "evaluations").iterdir()) == kept
