"""The loop: schedules, learning, stopping, averaging, and the promise that a killed run ends the same."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import torch
from few_pairs import few_pairs
from safetensors.torch import load_file

import repro.training
from repro.checkpoints import finish
from repro.config import TrainConfig
from repro.data.batches import EncodedPairs
from repro.data.corpora import load_pairs
from repro.data.subwords import PAD_ID, Subwords
from repro.errors import BusyError, DamagedFileError, InputError, MachineError, Stopped
from repro.files import write_json
from repro.runs import Run, load_state
from repro.scales import resolve
from repro.training import DivergedError, apply_update, batch_loss, evaluate_nll, learning_rate, make_optimizer, train
from test_transformer import small

TINY = (
    f"data.corpus={few_pairs()}",
    "data.vocab_size=300",
    "train.max_updates=24",
    "train.eval_every=4",
    "train.batch_tokens=500",
    "model.dropout=0.1",
)


def tiny(*overrides: str, variant: str = "base"):
    return resolve("smoke", variant, overrides=(*TINY, *overrides))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Callable[..., Run]:
    """Return what gives the run of some options that nobody stopped; each is trained once."""
    return cache(lambda *options: train(tiny(*options), tmp_path_factory.mktemp("whole"), quiet=True))


def parameters_of(run: Run) -> dict[str, torch.Tensor]:
    return load_file(run.path / "final" / "model.safetensors")


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
    short, long = EncodedPairs([[5, 6]], [[7]], True), EncodedPairs([[5, 6], [5] * 6], [[7], [8] * 6], True)
    alone, _, _ = batch_loss(model, short.batch([0]), config)
    both, _, _ = batch_loss(model, long.batch([0, 1]), config)
    other, _, _ = batch_loss(model, long.batch([1]), config)
    torch.testing.assert_close(both, alone + other)
    both.backward()
    assert not any(embedding.weight.grad[PAD_ID].any() for embedding in (model.source_embedding, model.target_embedding))


RAGGED = EncodedPairs([[5, 6, 7], [8, 9], [10]], [[9], [7, 6, 5, 4, 8], [12, 11]], True)


def step(model, **options) -> float:
    """Do one update of plain gradient descent at rate 1; return how far all parameters moved together."""
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    apply_update(model, torch.optim.SGD(model.parameters()), RAGGED.batch([0, 1, 2]), 1.0, TrainConfig(**options))
    return math.sqrt(sum((parameter - before[name]).square().sum().item() for name, parameter in model.named_parameters()))


def test_a_step_is_no_longer_than_the_gradient_may_be_and_leaves_no_gradient():
    model = small()
    assert step(model, clip_norm=0.01) == pytest.approx(0.01, rel=1e-3) and step(model, clip_norm=999.0) > 0.1
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
    torch.testing.assert_close(moved[0] - moved[1], torch.full((4,), p * (1 - p)), rtol=1e-3, atol=1e-5)


def test_the_loss_on_dev_is_a_mean_over_tokens_without_dropout():
    model = small(dropout=0.5).train()
    found = [evaluate_nll(model, RAGGED, TrainConfig(batch_tokens=size)) for size in (1, 12, 1000)]
    alone = [batch_loss(model.eval(), RAGGED.batch([i]), TrainConfig()) for i in range(3)]
    assert found == pytest.approx([sum(nll.item() for _, nll, _ in alone) / 11] * 3)


def test_the_optimiser_has_the_constants_of_the_paper_but_for_beta2():
    optimizer = make_optimizer(small(gated_sites=("cross",)), TrainConfig(adam_beta2=0.9))
    assert {(group["betas"], group["eps"], group["weight_decay"]) for group in optimizer.param_groups} == {((0.9, 0.9), 1e-9, 0)}


def test_a_line_of_the_log_has_the_means_over_the_tokens_since_the_last(tmp_path, monkeypatch):
    results = []
    monkeypatch.setattr("repro.training.apply_update", lambda *args: results.append(apply_update(*args)) or results[-1])
    run = train(tiny("train.max_updates=6", "train.eval_every=3"), tmp_path, quiet=True)
    for line, part in zip(run.metrics(), (results[:3], results[3:]), strict=True):
        tokens = sum(count for _, _, count in part)
        assert line["loss"] == pytest.approx(sum(loss * count for loss, _, count in part) / tokens)
        assert line["nll"] == pytest.approx(sum(nll * count for _, nll, count in part) / tokens)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_loss_falls_in_both_precisions(tmp_path, precision):
    run = train(tiny(f"train.precision={precision}", "train.max_updates=60", "train.warmup=10"), tmp_path, quiet=True)
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
    subwords = Subwords.load(run.subwords_path)
    source, target = (sum(map(len, subwords.encode(side))) for side in load_pairs(few_pairs(), "en", "de", "train"))
    assert run.length_ratio() == source / target


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(tmp_path, whole):
    first, again, other = whole(), train(tiny(), tmp_path, quiet=True), train(tiny("train.seed=2"), tmp_path, quiet=True)
    same = [torch.equal(parameters_of(first)[name], value) for name, value in parameters_of(again).items()]
    assert all(same)
    assert not any(torch.equal(parameters_of(first)[name], v) for name, v in parameters_of(other).items() if v.dim() > 1)


def test_early_stopping_and_averaging(tmp_path):
    run = train(tiny("train.patience=2", "train.learning_rate=0.00000001", "train.average=3"), tmp_path, quiet=True)
    state = load_state(run.path / "final")
    evals = [line["dev_nll"] for line in run.metrics() if "dev_nll" in line]
    best = min(range(len(evals)), key=evals.__getitem__)
    assert len(evals) == min(best + 3, 6) and state["averaged"] == min(3, len(evals))
    assert state["best_dev_nll"] == min(evals)


def test_the_final_parameters_are_the_mean_of_the_last_checkpoints(tmp_path, monkeypatch):
    seen = []
    original = Run.save_checkpoint

    def remember(self, update, tensors, state):
        seen.append({name: value.clone() for name, value in tensors["model"].items()})
        original(self, update, tensors, state)

    monkeypatch.setattr(Run, "save_checkpoint", remember)
    final = parameters_of(train(tiny("train.average=3"), tmp_path, quiet=True))
    for name, value in final.items():
        torch.testing.assert_close(value, torch.stack([tensors[name] for tensors in seen[-3:]]).mean(dim=0), rtol=0, atol=0)


def test_a_loss_that_is_not_finite_stops_before_theupdate(tmp_path):
    with pytest.raises(DivergedError, match=r"training: loss .* at rate .*, training pairs \[.*lower train.learning_rate"):
        train(tiny("train.learning_rate=100000", "train.warmup=1", "train.clip_norm=999999"), tmp_path, quiet=True)


def test_a_dev_loss_that_is_not_finite_stops(tmp_path, monkeypatch):
    monkeypatch.setattr("repro.training.evaluate_nll", lambda *arguments: math.nan)
    with pytest.raises(DivergedError, match=r"training: dev loss nan after update 4 at rate .* Fix: lower train.learning_rate"):
        train(tiny(), tmp_path, quiet=True)


def test_a_run_in_use_is_refused_and_named(tmp_path):
    run = Run.create(tiny(), tmp_path)
    with run.lock(), pytest.raises(BusyError, match=f"is in use by process {os.getpid()} on "):
        train(tiny(), tmp_path, quiet=True)


def test_a_lock_that_the_disk_refuses_is_named(tmp_path):
    run = Run.create(tiny(), tmp_path)
    (run.path / ".lock").symlink_to("/dev/full")
    with pytest.raises(MachineError, match=rf"{run.path}/\.lock: cannot be written \("), run.lock():
        pytest.fail("owned without a lock")


def test_a_run_that_another_process_finished_meanwhile_is_not_trained_again(tmp_path, monkeypatch):
    run = train(tiny(), tmp_path, quiet=True)
    before = run.provenance_path.read_bytes()
    answers = iter([False])  # what it was when this process looked; from then on it is finished
    finished = Run.is_finished.fget
    monkeypatch.setattr(Run, "is_finished", property(lambda self: next(answers, None) is not False and finished(self)))
    monkeypatch.setattr("repro.training.find_device", lambda _: pytest.fail("trained again"))
    assert train(tiny(), tmp_path, quiet=True).path == run.path
    assert run.provenance_path.read_bytes() == before


def test_checkpoints_of_a_finished_run_are_left_to_who_still_owns_it(tmp_path):
    run = train(tiny(), tmp_path, quiet=True)
    leftover = run.path / "checkpoints" / "0000001"
    leftover.mkdir(parents=True)
    with run.lock():  # the process that trained it is removing them right now
        assert train(tiny(), tmp_path, quiet=True).path == run.path and leftover.exists()
    assert train(tiny(), tmp_path, quiet=True).path == run.path and not leftover.exists()


def test_a_checkpoint_that_is_a_link_is_removed_without_what_it_points_to(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    newest = run.checkpoints()[-1]
    (run.path / "checkpoints" / "0000001").symlink_to(newest.name)
    (run.path / "checkpoints" / "²").mkdir()  # a digit, but no number
    run.remove_checkpoints(keep=[int(newest.name)])
    assert run.checkpoints() == [newest]


def test_resuming_elsewhere_is_refused_unless_allowed_and_then_noted(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    write_json(run.path / "provenance.json", run.provenance() | {"device": "cuda"})
    with pytest.raises(InputError, match="cannot resume exactly: device was cuda, is cpu"):
        train(tiny(), tmp_path, quiet=True)
    assert train(tiny(), tmp_path, quiet=True, allow_inexact=True).provenance()["inexact"] == ["device was cuda, is cpu"]


def test_a_run_goes_on_with_as_many_threads_as_it_began_with(tmp_path, monkeypatch):
    """A sum over another number of threads is another sum; `repro run --jobs` gives a run more or fewer than `repro train`."""
    before, counts = torch.get_num_threads(), []
    cut_short(tmp_path, monkeypatch)
    monkeypatch.setattr("repro.training.apply_update", lambda *args: (counts.append(torch.get_num_threads()), apply_update(*args))[1])
    torch.set_num_threads(before + 2)
    try:
        run = train(tiny(), tmp_path, quiet=True)
        assert set(counts) == {before} and run.provenance()["threads"] == before
        assert torch.get_num_threads() == before + 2
    finally:
        torch.set_num_threads(before)


def stop_after(monkeypatch, update: int) -> None:
    """Send this process a polite stop in the middle of the given update."""
    calls = []

    def counted(*args):
        calls.append(None)
        if len(calls) == update:
            os.kill(os.getpid(), signal.SIGTERM)
        return apply_update(*args)

    monkeypatch.setattr("repro.training.apply_update", counted)


@pytest.mark.parametrize("step", ["load_corpus", "prepare"])
def test_a_stop_while_the_data_are_made_ready_is_heard_before_training(tmp_path, monkeypatch, step):
    original = getattr(repro.training, step)
    monkeypatch.setattr(repro.training, step, lambda *args: (os.kill(os.getpid(), signal.SIGTERM), original(*args))[1])
    monkeypatch.setattr(repro.training, "apply_update", None)
    with pytest.raises(Stopped, match="stopped after update 0"):
        train(tiny(), tmp_path, quiet=True)


def test_a_stop_that_comes_after_the_last_update_is_for_the_caller(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("repro.training.finish", lambda *args: (os.kill(os.getpid(), signal.SIGTERM), finish(*args)))
    before = signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    try:
        run = train(tiny("train.max_updates=1"), tmp_path, quiet=True)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert run.is_finished and asked == [signal.SIGTERM]


@pytest.mark.parametrize("update", [1, 6, 22, 24])
def test_a_polite_stop_saves_and_resumes_to_the_same_bits(tmp_path, monkeypatch, whole, update):
    stop_after(monkeypatch, update)
    with pytest.raises(Stopped, match=f"stopped after update {update}; the same command resumes there") as stopped:
        train(tiny("train.average=2"), tmp_path, quiet=True)
    assert stopped.value.exit_code == 143
    monkeypatch.undo()
    assert_same(train(tiny("train.average=2"), tmp_path, quiet=True), whole("train.average=2"))


def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(tmp_path, monkeypatch, capfd, whole):
    newest = sorted((cut_short(tmp_path, monkeypatch).path / "checkpoints").iterdir())[-1]
    damaged = bytearray((newest / "model.safetensors").read_bytes())
    damaged[-5] ^= 1
    (newest / "model.safetensors").write_bytes(damaged)
    assert_same(train(tiny(), tmp_path, quiet=True), whole())
    what = "is damaged, or one before it that the final mean needs; training goes on after update 12"
    assert capfd.readouterr().err == f"{newest}: {what}\n"


@pytest.mark.parametrize(("stop", "damaged", "goes_on"), [(14, 4, 14), (14, 8, 4), (18, 12, 8), (24, 16, 0)])
def test_a_damaged_older_checkpoint_that_the_mean_needs_is_made_again(tmp_path, monkeypatch, whole, stop, damaged, goes_on):
    """After update 24 nothing older than the mean is left: training begins again."""
    expected, run = whole("train.average=3"), cut_short(tmp_path, monkeypatch, stop, "train.average=3")
    os.truncate(run.path / "checkpoints" / f"{damaged:07d}" / "model.safetensors", 1000)
    updates = []
    monkeypatch.setattr("repro.training.apply_update", lambda *args: (updates.append(None), apply_update(*args))[1])
    assert_same(train(run.config, tmp_path, quiet=True), expected)
    assert len(updates) == 24 - goes_on and load_state(run.path / "final")["averaged"] == 3


def test_a_checkpoint_that_is_damaged_before_the_mean_is_made_ends_in_no_other_mean(tmp_path, monkeypatch, whole):
    options = ("train.max_updates=16", "train.average=3")

    def damage_then_finish(run, model, progress):
        os.truncate(run.path / "checkpoints" / "0000012" / "model.safetensors", 1000)
        finish(run, model, progress)

    monkeypatch.setattr("repro.training.finish", damage_then_finish)
    with pytest.raises(DamagedFileError, match="checkpoints/0000012: is missing or damaged, .* Fix: start the same command again"):
        train(tiny(*options), tmp_path, quiet=True)
    monkeypatch.undo()
    assert_same(train(tiny(*options), tmp_path, quiet=True), whole(*options))


def cut_short(tmp_path, monkeypatch, update: int = 14, *options: str) -> Run:
    """Return a run that was stopped after an update."""
    stop_after(monkeypatch, update)
    with pytest.raises(Stopped):
        train(tiny(*options), tmp_path, quiet=True)
    monkeypatch.undo()
    return Run.create(tiny(*options), tmp_path)


def test_a_torn_last_line_of_the_log_and_a_stray_file_among_the_checkpoints_bar_no_resume(tmp_path, monkeypatch, whole):
    run = cut_short(tmp_path, monkeypatch)
    with open(run.metrics_path, "a") as file:
        file.write('{"update": 16, "epo')
    (run.path / "checkpoints" / "0000016").write_text("")
    assert_same(train(tiny(), tmp_path, quiet=True), whole())
    lines = run.metrics_path.read_text().split("\n")
    run.metrics_path.write_text("\n".join([lines[0][:9], *lines[1:]]))
    with pytest.raises(DamagedFileError, match=r"metrics.jsonl:1: is not JSON of an update. Fix: restore it, or delete that line"):
        run.metrics()
    run.metrics_path.write_text("\n".join([lines[1], "5"]))
    assert run.metrics() == [json.loads(lines[1])], "a last line that is none is left out"
    run.metrics_path.write_text("\n".join(["5", *lines[1:]]))
    with pytest.raises(DamagedFileError, match=r"metrics.jsonl:1: is not JSON of an update."):
        run.metrics()


def test_an_emptied_final_folder_is_named_and_costs_no_checkpoint(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    (run.path / "final").mkdir()
    with pytest.raises(DamagedFileError, match="final: has no readable MANIFEST.json. Fix: delete the folder and make it again"):
        train(tiny(), tmp_path, quiet=True)
    assert run.checkpoints()
    with pytest.raises(DamagedFileError, match="final: has no readable MANIFEST.json"):
        load_state(run.path / "final")


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    run = Run.create(tiny(), tmp_path)
    (run.path / "checkpoints" / ".0000004.x1.part").mkdir(parents=True)
    (run.path / "checkpoints" / ".0000004.x1.part" / ".state.json.99.part").write_text("{")
    (run.path / ".metrics.jsonl.99.part").write_text("half a li")
    train(tiny(), tmp_path, quiet=True)
    assert not list(run.path.rglob("*.part"))


def test_a_run_killed_three_times_ends_bit_identical(tmp_path):
    """SIGKILL at random instants of the real command; the same command again each time."""
    options = [*(option for option in TINY if "max_updates" not in option), "train.max_updates=90", "train.average=2"]
    whole = train(resolve("smoke", overrides=tuple(options)), tmp_path / "whole", quiet=True)
    command = [sys.executable, "-m", "repro", "train", "--scale", "smoke", *options]
    environment = os.environ | {"REPRO_RUNS": str(tmp_path / "cut"), "OMP_NUM_THREADS": str(torch.get_num_threads())}
    random.seed(1)
    run = Run.create(whole.config, tmp_path / "cut")
    for _ in range(3):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(run.metrics())
        while process.poll() is None and len(run.metrics()) < before + 3:
            time.sleep(0.02)
        time.sleep(random.uniform(0, 0.3))
        assert process.poll() is None, "the run ended before it could be killed: make it longer"
        process.kill()
        process.wait()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert_same(run, whole)
    assert timeless(run) == timeless(whole)


def timeless(run: Run) -> list[dict]:
    """Return what a run noted, without what depends on the clock."""
    return [{key: value for key, value in line.items() if key not in ("seconds", "tokens_per_second")} for line in run.metrics()]


def test_without_the_random_state_a_resumed_run_differs(tmp_path, monkeypatch, whole):
    """The control: the comparison of the tests above can fail."""
    expected = parameters_of(whole())
    cut_short(tmp_path, monkeypatch)
    monkeypatch.setattr("torch.set_rng_state", lambda state: None)
    resumed = parameters_of(train(tiny(), tmp_path, quiet=True))
    assert not all(torch.equal(expected[name], value) for name, value in resumed.items())


def assert_same(run: Run, expected: Run) -> None:
    found, wanted = parameters_of(run), parameters_of(expected)
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    for name in ("update", "dev_nll"):
        assert [line.get(name) for line in run.metrics()] == [line.get(name) for line in expected.metrics()]
    assert not list(run.path.rglob("*.part"))


def test_an_infinite_gradient_is_caught():
    model = small()
    with torch.no_grad():
        model.output.weight[5, 0] = math.inf
    pairs = EncodedPairs([[5, 6]], [[7]], True)
    with pytest.raises(DivergedError):
        apply_update(model, torch.optim.Adam(model.parameters()), pairs.batch([0]), 1e-3, TrainConfig())
