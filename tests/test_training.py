"""The loop: schedules, learning, stopping early, averaging."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from expected_errors import refuses
from few_pairs import few_pairs
from tiny_runs import cut_short, parameters_of, tiny
from torch.nn import functional as F

from repro.core.batches import EncodedPairs
from repro.core.config import TrainConfig
from repro.core.subwords import PAD_ID
from repro.core.training import (
    DivergedError,
    apply_update,
    batch_loss,
    evaluate_nll,
    learning_rate,
)
from repro.data.corpora import load_pairs
from repro.errors import MachineError
from repro.runs.checkpoint_folders import sound_checkpoints
from repro.runs.checkpoints import Progress
from repro.runs.models import load_subwords
from repro.runs.storage import load_state
from repro.runs.tensors import save_tensors
from repro.runs.train import train
from test_transformer import small


def test_learning_rates():
    config = TrainConfig(max_updates=100, warmup=10, learning_rate=0.5, schedule="linear")
    assert [learning_rate(u, config) for u in (1, 10)] == pytest.approx([0.05, 0.5])
    assert learning_rate(11, config) < 0.5 and learning_rate(100, config) == pytest.approx(0.5 / 91)
    falling = replace(config, schedule="inverse-sqrt")
    assert [learning_rate(u, falling) for u in (5, 10, 40)] == pytest.approx([0.25, 0.5, 0.25])


def test_one_batch_is_learned_by_heart():
    model = small().train()
    pairs = EncodedPairs([[5, 6, 7], [8, 9], [10, 11, 12]], [[9, 8], [7, 6, 5], [12, 11, 10]], True)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    config = TrainConfig(label_smoothing=0.0)
    for _ in range(150):
        loss, _, tokens = apply_update(model, optimizer, pairs.batch([0, 1, 2]), 5e-3, config)
    assert loss < 0.1 and tokens == 11
    assert evaluate_nll(model, pairs, config) < 0.05


def test_padding_carries_no_loss_and_no_gradient():
    model, config = small(tie_embeddings=False), TrainConfig()
    short, long = (
        EncodedPairs([[5, 6]], [[7]], True),
        EncodedPairs([[5, 6], [5] * 6], [[7], [8] * 6], True),
    )
    alone, _, _ = batch_loss(model, short.batch([0]), config)
    both, _, _ = batch_loss(model, long.batch([0, 1]), config)
    other, _, _ = batch_loss(model, long.batch([1]), config)
    torch.testing.assert_close(both, alone + other)
    both.backward()
    assert not any(
        embedding.weight.grad[PAD_ID].any()
        for embedding in (model.source_embedding, model.target_embedding)
    )


RAGGED = EncodedPairs([[5, 6, 7], [8, 9], [10]], [[9], [7, 6, 5, 4, 8], [12, 11]], True)


def step(model, **options) -> float:
    """Do one update of plain gradient descent at rate 1; return how far all parameters moved
    together."""
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    apply_update(
        model,
        torch.optim.SGD(model.parameters()),
        RAGGED.batch([0, 1, 2]),
        1.0,
        TrainConfig(**options),
    )
    return math.sqrt(
        sum(
            (parameter - before[name]).square().sum().item()
            for name, parameter in model.named_parameters()
        )
    )


def test_a_step_is_no_longer_than_the_gradient_may_be_and_leaves_no_gradient():
    model = small()
    assert (
        step(model, clip_norm=0.01) == pytest.approx(0.01, rel=1e-3)
        and step(model, clip_norm=999.0) > 0.1
    )
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_penalty_counts_per_token_whatever_the_size_of_the_batch():
    """d penalty / d log_alpha = p (1 - p), p = P(g != 0)."""
    moved = []
    for penalty in (0.0, 1.0):
        torch.manual_seed(1)
        model = small(gated_sites=("cross",), gate_init=1.0)
        step(model, gate_penalty=penalty, clip_norm=999.0)
        moved.append(model.decoder[0].cross_attention.sublayer.gate.log_alpha.detach())
    p = 1 / (1 + math.exp(-1 - 0.33 * math.log(11)))
    torch.testing.assert_close(
        moved[0] - moved[1], torch.full((4,), p * (1 - p)), rtol=1e-3, atol=1e-5
    )


def test_the_loss_on_dev_is_a_mean_over_tokens_without_dropout():
    model = small(dropout=0.5).train()
    found = [evaluate_nll(model, RAGGED, TrainConfig(batch_tokens=size)) for size in (1, 12, 1000)]
    alone = [batch_loss(model.eval(), RAGGED.batch([i]), TrainConfig()) for i in range(3)]
    assert found == pytest.approx([sum(nll.item() for _, nll, _ in alone) / 11] * 3)


def test_a_line_of_the_log_has_the_means_over_the_tokens_since_the_last(tmp_path, monkeypatch):
    results = []
    monkeypatch.setattr(
        "repro.runs.train.apply_update",
        lambda *args: results.append(apply_update(*args)) or results[-1],
    )
    run = train(tiny("train.max_updates=6", "train.eval_every=3"), tmp_path, quiet=True)
    for line, part in zip(run.metrics(), (results[:3], results[3:]), strict=True):
        tokens = sum(count for _, _, count in part)
        assert line["loss"] == pytest.approx(sum(loss * count for loss, _, count in part) / tokens)
        assert line["nll"] == pytest.approx(sum(nll * count for _, nll, count in part) / tokens)


def test_a_speed_is_of_the_updates_since_the_last_line_and_seconds_include_evaluations(
    tmp_path, monkeypatch
):
    now, counts = [0], []

    def update_for_two_seconds(*args):
        now[0] += 2
        counts.append((found := apply_update(*args))[2])
        return found

    def evaluate_for_a_hundred_seconds(*_):
        now[0] += 100
        return 1.0

    monkeypatch.setattr("repro.runs.train.time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr("repro.runs.train.apply_update", update_for_two_seconds)
    monkeypatch.setattr("repro.runs.train.evaluate_nll", evaluate_for_a_hundred_seconds)
    monkeypatch.setattr("repro.runs.train.LOG_EVERY", 2)
    run = train(tiny("train.max_updates=5", "train.eval_every=3"), tmp_path, quiet=True)
    speeds = [round((counts[0] + counts[1]) / 4), *(round(count / 2) for count in counts[2:])]
    expected = list(zip((2, 3, 4, 5), speeds, (4, 6, 108, 110), strict=True))
    assert [
        (line["update"], line["tokens_per_second"], line["seconds"]) for line in run.metrics()
    ] == expected


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_loss_falls_in_both_precisions(tmp_path, precision):
    run = train(tiny(f"train.precision={precision}", "train.warmup=5"), tmp_path, quiet=True)
    losses = [line["dev_nll"] for line in run.metrics() if "dev_nll" in line]
    assert losses[-1] < losses[0] - 0.3


def test_a_finished_run_is_not_trained_again(whole):
    run = whole()
    before = (run.path / "final" / "model.safetensors").stat().st_mtime_ns
    assert train(tiny(), run.path.parent, quiet=True).path == run.path
    assert (run.path / "final" / "model.safetensors").stat().st_mtime_ns == before
    assert not list((run.path / "checkpoints").iterdir())


def test_a_run_notes_the_length_ratio_of_its_data_without_marks(tmp_path):
    config = tiny("train.max_updates=1")
    run = train(config, tmp_path, quiet=True)
    subwords = load_subwords(run.subwords_path)
    source, target = (
        sum(map(len, subwords.encode(side)))
        for side in load_pairs(few_pairs(), "en", "de", "train")
    )
    assert run.length_ratio() == source / target


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(tmp_path, whole):
    first, again, other = (
        whole(),
        train(tiny(), tmp_path, quiet=True),
        train(tiny("train.seed=2"), tmp_path, quiet=True),
    )
    same = [
        torch.equal(parameters_of(first)[name], value)
        for name, value in parameters_of(again).items()
    ]
    assert all(same)
    assert not any(
        torch.equal(parameters_of(first)[name], v)
        for name, v in parameters_of(other).items()
        if v.dim() > 1
    )


# too small a rate to change a parameter in 32 bits
NO_PROGRESS = (
    "train.patience=1",
    "train.learning_rate=1e-30",
    "train.matrix_rate=1e-30",
    "train.warmup=1",
)


def test_early_stopping_and_averaging(tmp_path):
    run = train(
        tiny(*NO_PROGRESS, "train.schedule=inverse-sqrt", "train.average=3"), tmp_path, quiet=True
    )
    state = run.state()
    evals = [line["dev_nll"] for line in run.metrics() if "dev_nll" in line]
    best = min(range(len(evals)), key=evals.__getitem__)
    assert len(evals) == best + 2 < 6 and state["averaged"] == min(3, len(evals))
    assert state["best_dev_nll"] == min(evals)


def test_a_linear_schedule_goes_to_its_end_however_long_dev_has_not_improved(tmp_path):
    """Stopped before, its learning rate would still be high, and the model not comparable with
    others."""
    run = train(tiny(*NO_PROGRESS, "train.schedule=linear"), tmp_path, quiet=True)
    assert run.metrics()[-1]["update"] == run.config.train.max_updates


def test_the_final_parameters_are_the_mean_of_the_last_checkpoints(tmp_path, monkeypatch):
    seen = []
    original = save_tensors

    def remember(path, tensors, state):
        seen.append({name: value.clone() for name, value in tensors["model"].items()})
        original(path, tensors, state)

    monkeypatch.setattr("repro.runs.checkpoints.save_tensors", remember)
    final = parameters_of(train(tiny("train.average=3"), tmp_path, quiet=True))
    for name, value in final.items():
        torch.testing.assert_close(
            value, torch.stack([tensors[name] for tensors in seen[-3:]]).mean(dim=0), rtol=0, atol=0
        )


def test_a_loss_that_is_not_finite_stops(tmp_path):
    with refuses(DivergedError, "training", "train.learning_rate"):
        train(
            tiny(
                "train.learning_rate=100000",
                "train.optimizer=adam",
                "train.matrix_rate=0.02",
                "train.warmup=1",
                "train.clip_norm=999999",
                "train.eval_every=24",
            ),
            tmp_path,
            quiet=True,
        )


@pytest.mark.parametrize("precision, fix", [("fp32", ""), ("bf16", " or use train.precision=fp32")])
def test_a_dev_loss_that_is_not_finite_stops(tmp_path, monkeypatch, precision, fix):
    monkeypatch.setattr("repro.runs.train.evaluate_nll", lambda *arguments: math.nan)
    expected = (
        r"training: dev loss nan after update 4 at rate .* Fix: lower train.learning_rate or "
        rf"raise train.warmup{fix}$"
    )
    with pytest.raises(DivergedError, match=expected):
        train(tiny(f"train.precision={precision}"), tmp_path, quiet=True)


def test_an_infinite_gradient_is_caught_before_anything_moves():
    model = small()
    with torch.no_grad():
        model.output.weight[5, 0] = math.inf
    before = [parameter.clone() for parameter in model.parameters()]
    with pytest.raises(DivergedError, match="Fix: look at its attention: no step was taken yet"):
        apply_update(
            model, torch.optim.SGD(model.parameters()), RAGGED.batch([0]), 1.0, TrainConfig()
        )
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))


def test_a_gradient_that_is_not_finite_is_caught_though_the_loss_is():
    model = small()
    model.output.weight.register_hook(lambda gradient: gradient * math.inf)
    with pytest.raises(
        DivergedError, match=r"training: loss \d.*, gradient norm (nan|inf) at rate"
    ):
        step(model)


def test_training_smooths_its_targets_and_dev_does_not():
    model, batch = small(dropout=0.0), RAGGED.batch([0, 1, 2])
    real = batch.tgt_out.flatten() != PAD_ID
    logits, targets = (
        model(batch.src, batch.tgt_in).flatten(0, 1)[real],
        batch.tgt_out.flatten()[real],
    )
    for training, smoothing in ((True, 0.1), (False, 0.0)):
        loss, _, _ = batch_loss(model.train(training), batch, TrainConfig(label_smoothing=0.1))
        torch.testing.assert_close(
            loss, F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
        )


def test_the_model_computes_in_the_precision_that_was_asked_for():
    seen, model = [], small()
    model.encoder[0].feed_forward.sublayer[0].register_forward_hook(
        lambda *args: seen.append(args[2].dtype)
    )
    for precision in ("fp32", "bf16"):
        batch_loss(model, RAGGED.batch([0]), TrainConfig(precision=precision))
    assert seen == [torch.float32, torch.bfloat16]


def test_every_update_has_the_rate_of_its_number(tmp_path, monkeypatch):
    rates = []
    monkeypatch.setattr(
        "repro.runs.train.apply_update",
        lambda *args: (rates.append(args[3]), apply_update(*args))[1],
    )
    run = train(
        tiny("train.max_updates=6", "train.warmup=3", "train.eval_every=3"), tmp_path, quiet=True
    )
    assert rates == [learning_rate(update, run.config.train) for update in range(1, 7)]


def test_a_run_counts_the_tokens_and_seconds_of_all_its_updates(tmp_path, monkeypatch):
    progress = Progress(update=4, tokens=5, seconds=2.0).after(
        epoch=1, batch=2, tokens=3, seconds=0.5
    )
    assert (progress.update, progress.tokens, progress.seconds) == (5, 8, 2.5)
    before, counts = load_state(sound_checkpoints(cut_short(tmp_path, monkeypatch).path)[-1]), []
    monkeypatch.setattr(
        "repro.runs.train.apply_update",
        lambda *args: counts.append(apply_update(*args)) or counts[-1],
    )
    state = train(tiny(), tmp_path, quiet=True).state()
    assert before["tokens"] > 0 and state["tokens"] == before["tokens"] + sum(
        count for *_, count in counts
    )


def test_a_disk_without_room_for_the_checkpoints_is_told_before_the_first_update(
    tmp_path, monkeypatch
):
    run = train(tiny(), tmp_path / "roomy", quiet=True)
    parameters = sum(tensor.nbytes for tensor in parameters_of(run).values())
    # three checkpoints of a parameter and two numbers of Adam each, and the final parameters
    needed = 10 * parameters
    room = [needed - 1]
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=room[0]))
    monkeypatch.setattr("repro.runs.train.apply_update", lambda *_: 1 / 0)
    told = (
        f"its checkpoints need {needed / 1e6:,.1f} MB, and {room[0] / 1e6:,.1f} MB are free. Fix: "
        "free some space"
    )
    with pytest.raises(MachineError, match=re.escape(told)):
        train(tiny(), tmp_path / "full", quiet=True)
    room[0] = needed
    with pytest.raises(ZeroDivisionError):
        train(tiny(), tmp_path / "full", quiet=True)
