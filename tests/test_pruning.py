"""Pruning: gates against their closed form, what is frozen stays bit for bit, and the smaller model
is the gated one."""

import shutil
from dataclasses import replace

import pytest
import torch
from expected_errors import refuses
from few_pairs import SIZES, few_pairs
from tiny_runs import assert_same, forget_hashes, parameters_of, stop_after, tiny

from repro.core.batches import EncodedPairs
from repro.core.config import SITES, RunConfig, TrainConfig
from repro.core.decoding import SearchConfig
from repro.core.subwords import PAD_ID
from repro.core.training import freeze_decoder
from repro.core.transformer import Transformer, count_parameters
from repro.data.corpora import load_corpus
from repro.errors import InputError, Stopped
from repro.files import write_json
from repro.measures import pruning as pruning_sweep
from repro.measures.scores import evaluate_run
from repro.presets import resolve
from repro.pruning.cutting import from_scratch_config, save_pruned
from repro.pruning.gates import (
    continued_config,
    count_undecided_gates,
    gate_table,
    kept_heads,
    pruning_config,
)
from repro.runs.models import find_start, load_model, load_start, load_translator, new_model
from repro.runs.run import Run
from repro.runs.train import apply_update, make_optimizer, train
from test_transformer import small

SHORT = {"max_updates": 12, "eval_every": 2, "average": 6, "gate_init": None}


@pytest.fixture(scope="module", autouse=True)
def without_dev_loss():
    """The loss on dev decides nothing in these short runs, and to compute it would take most of
    their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("repro.runs.train.evaluate_nll", lambda *_: 1.0)
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Run:
    """Return a run of a few updates: what it translates matters to nobody, that others start from
    it does."""
    return train(tiny("train.max_updates=16"), tmp_path_factory.mktemp("runs"), quiet=True)


def test_older_runs_keep_their_names():
    overrides = (
        "data.vocab_size=1000",
        "data.subwords=nfkc",
        "train.optimizer=adam",
        "train.matrix_rate=0.02",
        "train.max_updates=600",
        "train.batch_tokens=2048",
        "train.learning_rate=0.01",
        "train.warmup=100",
    )
    base, gated = (resolve("smoke", system, overrides=overrides) for system in ("base", "gated"))
    assert (base.digest(), gated.digest()) == ("f38e999b361d", "b96a52ee47dd")
    assert replace(base, train=replace(base.train, start_from="x")).digest() != "f38e999b361d"


# Training


def test_a_frozen_decoder_does_not_move_by_a_bit(base):
    config = pruning_config(base, 0.05, ("encoder_self",), **SHORT)
    assert config.train.freeze_decoder
    run = train(config, base.path.parent, quiet=True)
    first, last = parameters_of(base), parameters_of(run)
    moved = {name for name, value in first.items() if not torch.equal(value, last[name])}
    assert moved == {name for name in first if name.startswith("encoder")}
    assert set(last) - set(first) == {
        f"encoder.{i}.self_attention.sublayer.gate.log_alpha" for i in range(2)
    }
    assert run.state()["parameters"] == sum(value.numel() for value in last.values())


def test_without_freezing_the_decoder_moves(base):
    """The control: the comparison above can fail."""
    config = pruning_config(base, 0.05, ("encoder_self",), freeze_decoder=False, **SHORT)
    first, last = parameters_of(base), parameters_of(train(config, base.path.parent, quiet=True))
    assert not any(
        torch.equal(value, last[name]) for name, value in first.items() if value.dim() > 1
    )


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_with_separate_embeddings_the_source_moves_and_the_target_does_not(norm):
    """With layer normalisation before each sublayer, there is one more behind the last, in the
    decoder too."""
    model = small(tie_embeddings=False, norm=norm, gated_sites=("encoder_self",))
    freeze_decoder(model)
    config, pairs = (
        TrainConfig(freeze_decoder=True, gate_rate=2.0),
        EncodedPairs([[5, 6, 7], [8, 9]], [[9, 8], [7, 6, 5]], True),
    )
    optimizer = make_optimizer(model, config)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for _ in range(3):
        apply_update(model, optimizer, pairs.batch([0, 1]), 1e-2, config)
    same = {name for name, value in model.state_dict().items() if torch.equal(value, before[name])}
    assert same == {
        name for name in before if name.startswith(("decoder", "target_embedding", "output"))
    }


def test_gates_learn_at_their_own_rate():
    moves = []
    for rate in (1.0, 10.0):
        torch.manual_seed(1)
        model = small(gated_sites=("cross",), gate_init=1.0)
        config, pairs = (
            TrainConfig(gate_rate=rate, gate_penalty=1.0),
            EncodedPairs([[5, 6, 7]], [[9, 8]], True),
        )
        weight = model.decoder[0].cross_attention.sublayer.out_proj.weight
        before = weight.detach().clone()
        apply_update(model, make_optimizer(model, config), pairs.batch([0]), 1e-3, config)
        gate = model.decoder[0].cross_attention.sublayer.gate.log_alpha
        moves.append((1 - gate.mean().item(), (weight - before).abs().max().item()))
    assert moves[0] == pytest.approx((1e-3, 1e-3), rel=1e-2) and moves[1] == pytest.approx(
        (1e-2, 1e-3), rel=1e-2
    )


def test_a_pruning_run_starts_where_its_base_ended(base, monkeypatch):
    # the subwords are the base's, not fitted again
    monkeypatch.setattr("repro.core.subwords.Subwords.fit", None)
    config = pruning_config(base, 0.0, max_updates=1, learning_rate=1e-9, matrix_rate=1e-9)
    last = parameters_of(run := train(config, base.path.parent, quiet=True))
    for name, value in parameters_of(base).items():
        torch.testing.assert_close(last[name], value, rtol=0, atol=1e-6)
    assert all(row.log_alpha == pytest.approx(2, abs=1e-6) for row in gate_table(load_model(run)))
    assert run.subwords_path.read_bytes() == base.subwords_path.read_bytes()


def test_a_penalty_shuts_gates_and_none_leaves_them_open(base):
    options = {"max_updates": 24, "gate_rate": 20.0, "gate_init": 2.0}
    counts = []
    for penalty in (0.0, 5.0):
        run = train(pruning_config(base, penalty, **options), base.path.parent, quiet=True)
        counts.append(sum(row.gate for row in gate_table(load_model(run))))
    assert counts[0] == 24 and counts[1] < 12


@pytest.mark.parametrize("sites", [("encoder_self",), SITES])
def test_the_control_is_trained_on_as_the_pruned_ones_are_without_gates(base, sites):
    control, pruning = continued_config(base, sites), pruning_config(base, 0.05, sites)
    gates = {name: getattr(TrainConfig(), name) for name in ("gate_penalty", "gate_rate")}
    assert control.train == replace(pruning.train, **gates) and control.model == base.config.model
    first, last = parameters_of(base), parameters_of(train(control, base.path.parent, quiet=True))
    assert set(first) == set(last)
    moved = {name for name, value in first.items() if not torch.equal(value, last[name])}
    assert moved == {name for name in first if sites == SITES or name.startswith("encoder")}


def test_the_control_of_a_model_that_was_cut_out_says_nothing_of_the_gates_that_it_had(
    base, tmp_path
):
    kept = replace(base.config.model, gate_init=2.0, gate_rule="soft")
    cut_out = replace(
        base.config,
        model=kept,
        train=replace(base.config.train, cut_from="gated-seed1", gate_penalty=0.1, gate_rate=5.0),
    )
    assert continued_config(Run.create(cut_out, tmp_path)).model == base.config.model


@pytest.mark.parametrize("sites", ["encoder_self", ("encoder",)])
def test_the_control_of_an_unknown_site_is_refused_for_nothing_would_be_frozen(base, sites):
    with pytest.raises(InputError, match="sites: unknown site 'e"):
        continued_config(base, sites)


@pytest.mark.parametrize("sites", [("encoder_self",), SITES])
def test_a_stopped_pruning_run_resumes_to_the_same_bits(base, tmp_path, monkeypatch, sites):
    config = pruning_config(base, 0.05, sites, **SHORT)
    for name in ("whole", "cut"):
        shutil.copytree(base.path, tmp_path / name / base.path.name)
    whole = train(config, tmp_path / "whole", quiet=True)
    stop_after(monkeypatch, 6)
    with pytest.raises(Stopped):
        train(config, tmp_path / "cut", quiet=True)
    monkeypatch.undo()
    assert_same(train(config, tmp_path / "cut", quiet=True), whole)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"train": {"start_from": "base-seed9"}},
            "train.start_from: there is no run 'base-seed9' in .*whole folder name",
        ),
        (
            {"data": {"max_tokens": 64}},
            (
                "does not fit: data.max_tokens is 128 there, 64 here. Fix: start from a run of "
                "the same data"
            ),
        ),
        ({"model": {"num_heads": 8}}, "does not fit: model.num_heads is 4 there, 8 here"),
        (
            {"train": {"cut_from": "gated-seed1"}},
            "is not trained, but cut out of another run. Fix: prune gated-seed1 again",
        ),
    ],
)
def test_a_start_that_does_not_fit_is_refused(base, change, message):
    config = pruning_config(base, 0.1, **SHORT)
    parts = {part: replace(getattr(config, part), **values) for part, values in change.items()}
    with pytest.raises(InputError, match=message):
        train(replace(config, **parts), base.path.parent, quiet=True)


def test_a_start_outside_the_folder_of_runs_is_refused(base):
    name = f"../{base.path.parent.name}/{base.path.name}"
    config = pruning_config(base, 0.1, **SHORT)
    with pytest.raises(
        InputError, match=f"train.start_from: there is no run '{name}' in .*whole folder name"
    ):
        train(
            replace(config, train=replace(config.train, start_from=name)),
            base.path.parent,
            quiet=True,
        )


def test_a_start_that_is_unfinished_or_of_another_corpus_is_refused(base, tmp_path):
    config = pruning_config(base, 0.1, **SHORT)
    other = Run(shutil.copytree(base.path, tmp_path / base.path.name))
    forget_hashes(other)
    write_json(other.path / "provenance.json", other.provenance() | {"data_fingerprint": "0" * 64})
    with pytest.raises(InputError, match=f"was trained on another version of {few_pairs()}"):
        train(config, tmp_path, quiet=True)
    shutil.rmtree(other.path / "final")
    with refuses(InputError, "train.start_from", base.path.name):
        train(config, tmp_path, quiet=True)


def test_a_run_may_drop_more_or_less_than_its_start(base):
    config = continued_config(base)
    other = replace(config, model=replace(config.model, dropout=0.3, attention_dropout=0.2))
    assert (
        find_start(Run.create(other, base.path.parent), base.provenance()["data_fingerprint"]).path
        == base.path
    )


def test_gates_in_a_frozen_decoder_are_refused(base):
    with refuses(InputError, "train.freeze_decoder", "encoder_self", "decoder_self"):
        pruning_config(base, 0.1, freeze_decoder=True)


def test_the_default_schedule_is_half_the_base_with_faster_gates_and_can_be_changed(base):
    train_config = pruning_config(base, 0.1).train
    assert (train_config.max_updates, train_config.warmup, train_config.freeze_decoder) == (
        8,
        1,
        False,
    )
    assert (train_config.gate_penalty, train_config.gate_rate) == (0.1, 10.0)
    assert pruning_config(base, 0.1, max_updates=40).train.warmup == 4
    assert pruning_config(base, 0.1, max_updates=40, warmup=7, seed=3).train.warmup == 7


def test_the_rule_of_the_gates_is_the_one_that_was_asked_for(base):
    assert [
        pruning_config(base, 0.1, gate_rule=rule).model.gate_rule for rule in ("sign", "soft")
    ] == ["sign", "soft"]


# The pruned run


@pytest.fixture(scope="module")
def pruning(base) -> Run:
    """Return a pruning run whose gates went both ways."""
    run = train(
        pruning_config(base, 0.3, max_updates=12, gate_rate=5.0, gate_init=None),
        base.path.parent,
        quiet=True,
    )
    counts = [len(heads) for layers in kept_heads(load_model(run)).values() for heads in layers]
    assert 0 < sum(counts) < 24
    return run


def test_a_start_hands_on_its_gates_as_they_ended(pruning):
    model, _ = new_model(pruning)
    load_start(model, pruning)
    assert all(
        torch.equal(parameters_of(pruning)[name], value) for name, value in model.named_parameters()
    )


@pytest.mark.parametrize("rule", ["sign", "soft"])
def test_a_pruned_run_translates_as_the_gated_one_under_the_rule(pruning, rule):
    pruned = save_pruned(pruning, rule)
    sources = load_corpus("minigerman", "en", "de").pairs("dev", "en", "de")[0][:40]
    search = SearchConfig(beam=2, extra_tokens=5)
    whole = load_translator(pruning)
    for layers in whole.model.attentions().values():
        for attention in layers:
            attention.gate.rule = rule
    smaller = load_translator(pruned)
    assert smaller.translate(sources, search) == whole.translate(sources, search)
    assert count_parameters(smaller.model) < count_parameters(whole.model)
    assert pruned.state()["parameters"] == count_parameters(smaller.model)
    assert (
        pruned.config.train.cut_from == pruning.path.name and pruned.config.model.gate_rule == rule
    )


def test_a_pruned_run_is_found_again_and_needs_no_other(pruning, tmp_path):
    pruned = save_pruned(pruning)
    before = (pruned.path / "final" / "model.safetensors").stat().st_mtime_ns
    assert (
        save_pruned(pruning).path
        == pruned.path
        == train(pruned.config, pruned.path.parent, quiet=True).path
    )
    assert (pruned.path / "final" / "model.safetensors").stat().st_mtime_ns == before
    assert save_pruned(pruning, "soft").path != pruned.path
    alone = Run(shutil.copytree(pruned.path, tmp_path / pruned.path.name))
    record = evaluate_run(alone, "dev", SearchConfig(beam=1, extra_tokens=2))
    assert alone.metrics() == pruning.metrics() != []
    assert (
        record["config"]["train"]["cut_from"] == pruning.path.name
        and record["sentences"] == SIZES["dev"]
    )
    assert "inexact" not in record["provenance"]  # the code is the same, only the model is smaller


def test_a_pruned_run_can_be_trained_on_and_pruned_again(pruning):
    again = pruning_config(save_pruned(pruning), 0.3, max_updates=1)
    assert (
        again.train.cut_from is None and train(again, pruning.path.parent, quiet=True).is_finished
    )


def test_from_scratch_is_the_pruned_shape_with_both_trainings_updates(base, pruning):
    pruned = save_pruned(pruning)
    config = from_scratch_config(pruned)
    assert isinstance(config, RunConfig) and config.train == replace(
        base.config.train, max_updates=16 + 12
    )
    assert config.model == replace(pruned.config.model, gate_init=None, gate_rule="sign")
    vocab = load_model(base).output.out_features
    assert (
        count_parameters(Transformer(config.model, vocab, PAD_ID)) == pruned.state()["parameters"]
    )
    with pytest.raises(InputError, match="was not pruned from a trained run"):
        from_scratch_config(base)


def test_a_model_that_is_pruned_again_has_its_controls(base, pruning):
    once = save_pruned(pruning, "soft")
    whole = once.state()["parameters"]
    twice = save_pruned(
        train(
            pruning_config(once, 0.3, max_updates=2, gate_rule="soft"), base.path.parent, quiet=True
        )
    )
    assert twice.state()["parameters"] <= whole
    scratch, control = from_scratch_config(twice), continued_config(once)
    assert scratch.train == replace(base.config.train, max_updates=16 + 12 + 2)
    assert train(control, base.path.parent, quiet=True).is_finished
    assert (control.model.gate_rule, control.train.start_from, control.train.gate_rate) == (
        "sign",
        once.path.name,
        1.0,
    )
    with pytest.raises(
        InputError,
        match=(
            f"{pruning.path.name}: has gates, which would go on shutting heads. Fix: give the run "
            "that"
        ),
    ):
        continued_config(pruning)


def test_a_point_counts_heads_by_site_and_layer(pruning, monkeypatch):
    record = {"scores": [{"name": "chrF", "value": 3.0}, {"name": "BLEU", "value": 7.5}]}
    monkeypatch.setattr(
        pruning_sweep,
        "evaluate_run",
        lambda run, split: record if (run, split) == (pruning, "dev") else None,
    )
    point = pruning_sweep.pruning_point(pruning, "dev")
    model = load_model(pruning)
    assert point.kept == {
        site: [len(heads) for heads in layers] for site, layers in kept_heads(model).items()
    }
    assert point.heads == sum(map(sum, point.kept.values())) and point.penalty == 0.3
    assert point.undecided == count_undecided_gates(gate_table(model)) and point.bleu == 7.5
