"""Ablation: factors act where they are laid and nowhere else, nothing is left behind, and
differences are those of BLEU."""

import pytest
import torch
from expected_errors import refuses

from repro.analysis.ablation import Head, ablate, heads_of, leave_one_out, scaled_heads
from repro.core.decoding import SearchConfig, Translator
from repro.core.int8 import quantized
from repro.core.subwords import PAD_ID, Subwords
from repro.errors import InputError
from repro.statistics.comparing import paired_bootstrap
from test_transformer import SMALL, VOCAB, small

SENTENCES = [
    "a small house",
    "the old tree stands",
    "a tree",
    "the house",
    "the old house stands",
    "a small old tree",
]
SEARCH = SearchConfig(beam=2, extra_tokens=4)


@pytest.fixture
def translator() -> Translator:
    """Return an untrained translator whose output depends on its heads: their part of the stream is
    made larger."""
    subwords = Subwords.fit(SENTENCES * 5, 40)
    model = small(cross="none; last: dot-product(heads=2)")
    model = type(model)(model.config, len(subwords), PAD_ID)
    with torch.no_grad():
        for attention in attentions(model):
            attention.out_proj.weight.mul_(4)
    return Translator(model, subwords)


def attentions(model) -> list:
    return [
        attention
        for layers in model.attentions().values()
        for attention in layers
        if attention is not None
    ]


def logits(model) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    src, tgt_in = (torch.randint(4, VOCAB, (2, length), generator=generator) for length in (7, 5))
    with torch.no_grad():
        return model(src, tgt_in)


@pytest.mark.parametrize("site, layer", [("encoder_self", 1), ("decoder_self", 0), ("cross", 2)])
def test_factors_act_on_their_heads_only(site, layer):
    model = small().double()
    attention, factors = model.attentions()[site][layer], [1.0, 0.5, 0.0, 2.0]
    seen = []
    attention.out_proj.register_forward_pre_hook(
        lambda _, inputs: seen.append(inputs[0].unflatten(-1, (SMALL["num_heads"], -1)))
    )
    whole = logits(model)
    with scaled_heads(model, {(site, layer): factors}):
        assert not torch.allclose(logits(model), whole)
        assert [found.head_scale is None for found in attentions(model)].count(False) == 1
    torch.testing.assert_close(
        seen[1], seen[0] * torch.tensor(factors, dtype=torch.double)[:, None]
    )


def test_a_parameter_as_factors_does_not_become_one_of_the_model():
    model = small()
    names = [name for name, _ in model.named_parameters()]
    factors = torch.nn.Parameter(torch.ones(SMALL["num_heads"]))
    with scaled_heads(model, {("cross", 0): factors}):
        assert [name for name, _ in model.named_parameters()] == names
        model.attentions()["cross"][0].head_scale.sum().backward()
    assert factors.grad.tolist() == [1.0] * SMALL["num_heads"]
    # it can be laid over again
    with scaled_heads(model, {("cross", 0): [0.0] * SMALL["num_heads"]}):
        pass


def test_heads_of_a_model_in_8_bits_can_be_masked(translator):
    small = translator.with_model(quantized(translator.model))
    whole = small.translate(SENTENCES[:2])
    with scaled_heads(small.model, {("encoder_self", 0): [0.0] * SMALL["num_heads"]}):
        assert small.translate(SENTENCES[:2]) != whole
    assert small.translate(SENTENCES[:2]) == whole


def test_factors_lie_on_top_of_others_and_a_tensor_keeps_its_gradient():
    model = small()
    scale = torch.tensor([1.0, 0.0, 3.0, 1.0])
    model.attentions()["cross"][0].head_scale = scale
    factors = torch.tensor([0.5, 1.0, 0.5, 1.0], requires_grad=True)
    with scaled_heads(model, {("cross", 0): factors}):
        laid = model.attentions()["cross"][0].head_scale
        assert laid.tolist() == [0.5, 0.0, 1.5, 1.0]
        assert torch.autograd.grad(laid.sum(), factors)[0].tolist() == scale.tolist()
    assert model.attentions()["cross"][0].head_scale is scale


@pytest.mark.parametrize("fails", [False, True])
def test_afterwards_nothing_has_changed(fails):
    model = small()
    model.attentions()["decoder_self"][1].head_scale = scale = torch.tensor([1.0, 0.5, 1.0, 1.0])
    before = logits(model)
    factors = {
        ("encoder_self", 0): [0.0] * 4,
        ("decoder_self", 1): [0.0] * 4,
        ("cross", 1): [2.0] * 4,
    }
    try:
        with scaled_heads(model, factors):
            assert not torch.allclose(logits(model), before)
            if fails:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert torch.equal(logits(model), before)
    assert [
        attention.head_scale for attention in attentions(model) if attention.head_scale is not None
    ] == [scale]


@pytest.mark.parametrize(
    "factors, message",
    [
        (
            {("encoder", 0): [1.0] * 4},
            "site: unknown site 'encoder'. Fix: did you mean 'encoder_self'?",
        ),
        ({("cross", 3): [1.0] * 4}, "cross layer 3: the model has 3 layers there. Fix: use 0 to 2"),
        ({("cross", -1): [1.0] * 4}, "cross layer -1: "),
        (
            {("decoder_self", 0): [1.0] * 4},
            "decoder_self layer 0: this layer has no attention. Fix: layers with heads are 2",
        ),
        (
            {("cross", 0): [1.0] * 3},
            "cross layer 0: .* is not one finite factor for each of 4 heads",
        ),
        (
            {("cross", 0): [1.0, float("nan"), 1.0, 1.0]},
            "cross layer 0: .* is not one finite factor for each of 4 heads",
        ),
    ],
)
def test_factors_for_heads_that_do_not_exist_are_refused_before_anything_changes(factors, message):
    model = small(decoder_self="none; last: dot-product")
    with (
        pytest.raises(InputError, match=message),
        scaled_heads(model, {("cross", 1): [0.0] * 4} | factors),
    ):
        pass
    assert all(attention.head_scale is None for attention in attentions(model))


@pytest.mark.parametrize(
    "head, factor, message",
    [
        (("cross", 2, 2), 0.0, "cross layer 2 head 2: the layer has 2 heads. Fix: use 0 to 1"),
        (("cross", 2, -1), 0.0, "cross layer 2 head -1: "),
        (("cross", 0, 0), 0.0, "cross layer 0: this layer has no attention"),
        (("encoder_self", 0, 0), float("inf"), "factor: found inf"),
    ],
)
def test_heads_that_do_not_exist_are_refused_before_anything_is_translated(
    translator, monkeypatch, head, factor, message
):
    monkeypatch.setattr(translator, "translate", None)
    with pytest.raises(InputError, match=message):
        ablate(translator, SENTENCES, SENTENCES, "en", [head], factor)


def test_ablation_compares_with_the_whole_model(translator):
    """The whole model's own translations are the references, so that its BLEU is 100."""
    refs = translator.translate(SENTENCES, SEARCH)
    heads = [("encoder_self", 0, head) for head in range(4)] + [("cross", 2, 1)]
    bleu, *others = ablate(translator, SENTENCES, refs, "en", heads, search=SEARCH)
    with scaled_heads(translator.model, {("encoder_self", 0): [0.0] * 4, ("cross", 2): [1.0, 0.0]}):
        changed = translator.translate(SENTENCES, SEARCH)
    assert changed != refs
    assert [bleu, *others] == paired_bootstrap(refs, changed, refs, "en")
    assert bleu.metric == "BLEU" and bleu.first == pytest.approx(100) and bleu.difference < 0
    assert translator.translate(SENTENCES, SEARCH) == refs


def test_a_factor_of_one_changes_nothing_and_a_negative_one_something(translator):
    refs, heads = (
        translator.translate(SENTENCES, SEARCH),
        heads_of(translator.model, "decoder_self"),
    )
    same, *_ = ablate(translator, SENTENCES, refs, "en", heads, 1.0, SEARCH)
    other, *_ = ablate(translator, SENTENCES, refs, "en", heads, -1.0, SEARCH)
    assert (same.difference, same.p) == (0, 1)
    assert other.difference < 0


def test_leave_one_out_has_a_row_a_head_that_is_its_ablation(translator):
    refs = translator.translate(SENTENCES, SEARCH)
    rows = leave_one_out(
        translator,
        SENTENCES,
        refs,
        "en",
        sites=("cross", "encoder_self"),
        search=SEARCH,
        quiet=True,
    )
    expected = [("cross", 2, head) for head in range(2)]
    expected += [("encoder_self", layer, head) for layer in range(2) for head in range(4)]
    assert [Head(*row[:3]) for row in rows] == expected
    assert len({row.score for row in rows}) > 1
    for row in rows[:4]:
        bleu, *_ = ablate(translator, SENTENCES, refs, "en", [row[:3]], search=SEARCH)
        assert row[3:] == (
            "BLEU",
            bleu.second,
            bleu.difference,
            bleu.low,
            bleu.high,
            bleu.p,
            bleu.signature,
        )
        assert row.difference == row.score - bleu.first
    assert translator.translate(SENTENCES, SEARCH) == refs


def test_a_factor_of_leave_one_out_is_that_of_the_ablation(translator):
    refs, heads = translator.translate(SENTENCES, SEARCH), heads_of(translator.model, "cross")
    halved, masked = (
        leave_one_out(translator, SENTENCES, refs, "en", ["cross"], factor, SEARCH, quiet=True)
        for factor in (0.5, 0.0)
    )
    bleus = [ablate(translator, SENTENCES, refs, "en", [head], 0.5, SEARCH)[0] for head in heads]
    assert (
        [row.score for row in halved]
        == [bleu.second for bleu in bleus]
        != [row.score for row in masked]
    )


def test_leaving_out_all_sites_translates_the_whole_model_once(translator, monkeypatch, capsys):
    calls, translate = [], translator.translate
    monkeypatch.setattr(
        translator, "translate", lambda *arguments: calls.append(1) or translate(*arguments)
    )
    rows = leave_one_out(translator, SENTENCES[:2], SENTENCES[:2], "en", search=SEARCH)
    assert len(rows) == (2 + 3) * 4 + 2 and len(calls) == len(rows) + 1
    assert f"{len(rows)}/{len(rows)}" in capsys.readouterr().err
    with pytest.raises(InputError, match="unknown site 'source'"):
        leave_one_out(translator, SENTENCES, SENTENCES, "en", sites=["source"])


def test_a_task_is_compared_by_its_own_metrics(translator):
    refs, heads = translator.translate(SENTENCES, SEARCH), heads_of(translator.model, "cross")
    with scaled_heads(translator.model, {("cross", 2): [0.0, 0.0]}):
        changed = translator.translate(SENTENCES, SEARCH)
    for task, metrics in (
        ("summarisation", ["ROUGE-1", "ROUGE-2", "ROUGE-L"]),
        ("dialogue", ["BLEU", "ROUGE-L"]),
    ):
        found = ablate(translator, SENTENCES, refs, "summary", heads, search=SEARCH, task=task)
        assert [result.metric for result in found] == metrics
        assert found == paired_bootstrap(refs, changed, refs, "summary", task=task)
        first = leave_one_out(
            translator, SENTENCES, refs, "summary", ["cross"], search=SEARCH, quiet=True, task=task
        )[0]
        alone, *_ = ablate(
            translator, SENTENCES, refs, "summary", heads[:1], search=SEARCH, task=task
        )
        assert (first.metric, first.score, first.signature) == (
            metrics[0],
            alone.second,
            alone.signature,
        )
    with refuses(InputError, "task", "'summary'", "'summarisation'"):
        ablate(translator, SENTENCES, refs, "en", heads, search=SEARCH, task="summary")
