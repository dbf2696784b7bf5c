"""Runs in use, stopped, killed and damaged: a run that goes on ends the same, and nothing of it is
lost."""

import fcntl
import json
import os
import random
import shutil
import signal
import time

import pytest
import torch
from expected_errors import refuses
from few_pairs import few_pairs
from quick_workers import QuickWorkers
from tiny_runs import (
    TINY,
    assert_same,
    cut_short,
    forget_hashes,
    parameters_of,
    stop_after,
    tiny,
)

import repro.runs.train
from repro.core.training import batch_loss, evaluate_nll
from repro.errors import BusyError, DamagedFileError, InputError, MachineError, Stopped
from repro.files import write_json
from repro.presets import resolve
from repro.runs.checkpoint_folders import remove_checkpoints, sound_checkpoints
from repro.runs.checkpoints import finish
from repro.runs.run import Run
from repro.runs.storage import load_state
from repro.runs.tensors import load_tensors, save_tensors
from repro.runs.train import apply_update, train


def test_a_run_in_use_is_refused_and_named(tmp_path):
    run = Run.create(tiny(), tmp_path)
    for _ in range(2):  # who owned it before is not named again
        with (
            run.lock(),
            pytest.raises(BusyError, match=f"is in use by process {os.getpid()} on ") as refused,
        ):
            train(tiny(), tmp_path, quiet=True)
        assert str(refused.value).count(f"process {os.getpid()}") == 1


def test_a_run_that_another_process_took_away_is_no_ones(tmp_path, monkeypatch):
    run, flock = Run.create(tiny(), tmp_path), fcntl.flock

    def removed_meanwhile(*arguments):
        shutil.rmtree(run.path)
        flock(*arguments)

    monkeypatch.setattr("repro.runs.locks.fcntl.flock", removed_meanwhile)
    for _ in ("between opening and locking", "before opening"):
        with (
            pytest.raises(
                BusyError,
                match="was removed by another process just now. Fix: start the same command again",
            ),
            run.lock(),
        ):
            pytest.fail("owned what is gone")


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
    monkeypatch.setattr(
        Run,
        "is_finished",
        property(lambda self: next(answers, None) is not False and finished(self)),
    )
    monkeypatch.setattr("repro.runs.train.find_device", lambda _: pytest.fail("trained again"))
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
    newest = sound_checkpoints(run.path)[-1]
    (run.path / "checkpoints" / "0000001").symlink_to(newest.name)
    (run.path / "checkpoints" / "²").mkdir()  # a digit, but no number
    remove_checkpoints(run.path, keep=[int(newest.name)])
    assert sound_checkpoints(run.path) == [newest]


def test_resuming_elsewhere_is_refused_unless_allowed_and_then_noted(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    earlier = ["torch was 2.0, is 2.1"]
    write_json(
        run.path / "provenance.json", run.provenance() | {"device": "cuda", "inexact": earlier}
    )
    with pytest.raises(InputError, match="cannot resume exactly: device was cuda, is cpu"):
        train(tiny(), tmp_path, quiet=True)
    assert train(tiny(), tmp_path, quiet=True, allow_inexact=True).provenance()["inexact"] == [
        *earlier,
        "device was cuda, is cpu",
    ]


def test_a_processor_that_rounds_otherwise_is_another_one_and_more_of_the_same_are_not(
    tmp_path, monkeypatch
):
    run = cut_short(tmp_path, monkeypatch)
    here = run.provenance()["processor"]
    instructions = torch.backends.cpu.get_cpu_capability()
    write_json(
        run.path / "provenance.json", run.provenance() | {"processor": "64 x Another, Ltd., SVE"}
    )
    with pytest.raises(
        InputError, match=f"cannot resume exactly: instructions was SVE, is {instructions}"
    ):
        train(tiny(), tmp_path, quiet=True)
    write_json(
        run.path / "provenance.json",
        run.provenance() | {"processor": f"64 x Another, {instructions}"},
    )
    assert "inexact" not in train(tiny(), tmp_path, quiet=True).provenance() and here.endswith(
        f", {instructions}"
    )


def test_a_run_goes_on_with_as_many_threads_as_it_began_with(tmp_path, monkeypatch):
    """A sum over another number of threads is another sum; `repro run --jobs` gives a run more or
    fewer than `repro train`."""
    before, counts = torch.get_num_threads(), []
    cut_short(tmp_path, monkeypatch)
    monkeypatch.setattr(
        "repro.runs.train.apply_update",
        lambda *args: (counts.append(torch.get_num_threads()), apply_update(*args))[1],
    )
    torch.set_num_threads(before + 2)
    try:
        run = train(tiny(), tmp_path, quiet=True)
        assert set(counts) == {before} and run.provenance()["threads"] == before
        assert torch.get_num_threads() == before + 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("step, before", [("load_once", 0), ("prepare", 0), ("prepare", 14)])
def test_a_stop_while_the_data_are_made_ready_is_heard_before_training(
    tmp_path, monkeypatch, step, before
):
    if before:
        cut_short(tmp_path, monkeypatch, before)
    original = getattr(repro.runs.train, step)
    monkeypatch.setattr(
        repro.runs.train,
        step,
        lambda *args: (os.kill(os.getpid(), signal.SIGTERM), original(*args))[1],
    )
    monkeypatch.setattr(repro.runs.train, "apply_update", None)
    with pytest.raises(Stopped, match=f"stopped after update {before};"):
        train(tiny(), tmp_path, quiet=True)


def test_a_stop_that_comes_after_the_last_update_is_for_the_caller(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "repro.runs.train.finish",
        lambda *args: (os.kill(os.getpid(), signal.SIGTERM), finish(*args)),
    )
    before = signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    try:
        run = train(tiny("train.max_updates=1"), tmp_path, quiet=True)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert run.is_finished and asked == [signal.SIGTERM]


def test_what_is_said_of_a_stop_begins_on_a_line_of_its_own(tmp_path, monkeypatch, capsys):
    stop_after(monkeypatch, 2)
    # which keeps what was going on alive, as the command line does
    with pytest.raises(Stopped) as stopped:
        train(tiny(), tmp_path)
    shown = capsys.readouterr().err
    assert "2/24" in shown and shown.endswith("\n"), stopped


def test_a_run_whose_folder_vanishes_ends_at_its_next_line(tmp_path, monkeypatch):
    """Else a folder would be made again with checkpoints and parameters in it, and no
    configuration."""
    updates = []

    def vanish(*arguments):
        updates.append(None)
        if len(updates) == 2:
            shutil.rmtree(tmp_path / "runs")
        return apply_update(*arguments)

    monkeypatch.setattr("repro.runs.train.apply_update", vanish)
    with pytest.raises(
        MachineError,
        match=r"metrics.jsonl: cannot be written: its folder is gone. Fix: start the command again",
    ):
        train(tiny(), tmp_path / "runs", quiet=True)
    assert len(updates) == 4 and not (tmp_path / "runs").exists()


@pytest.mark.parametrize("update", [1, 6, 22, 24])
def test_a_polite_stop_saves_and_resumes_to_the_same_bits(tmp_path, monkeypatch, whole, update):
    stop_after(monkeypatch, update)
    with pytest.raises(
        Stopped, match=f"stopped after update {update}; the same command resumes there"
    ) as stopped:
        train(tiny("train.average=2"), tmp_path, quiet=True)
    assert stopped.value.exit_code == 143
    monkeypatch.undo()
    assert_same(train(tiny("train.average=2"), tmp_path, quiet=True), whole("train.average=2"))


def stop_in_evaluation(monkeypatch, number: int) -> list[int]:
    """Send this process a polite stop in the first batch of an evaluation on dev, and count the
    batches of it that are read."""
    evaluations, batches = [], []

    def counted(*args):
        evaluations.append(None)
        return evaluate_nll(*args)

    def stopping(model, *args):
        if not model.training and len(evaluations) == number:
            batches.append(None)
            if len(batches) == 1:
                os.kill(os.getpid(), signal.SIGTERM)
        return batch_loss(model, *args)

    monkeypatch.setattr("repro.runs.train.evaluate_nll", counted)
    monkeypatch.setattr("repro.core.training.batch_loss", stopping)
    return batches


@pytest.mark.parametrize("update", [4, 12, 24])
def test_a_stop_in_an_evaluation_is_heeded_before_its_next_batch(
    tmp_path, monkeypatch, whole, update
):
    batches = stop_in_evaluation(monkeypatch, update // 4)
    with pytest.raises(
        Stopped, match=f"stopped after update {update}; the same command resumes there"
    ) as stopped:
        train(tiny("train.average=2"), tmp_path, quiet=True)
    assert stopped.value.exit_code == 143 and len(batches) == 1
    monkeypatch.undo()
    run = Run.create(tiny("train.average=2"), tmp_path)
    assert [line["update"] for line in run.metrics()] == list(range(4, update, 4))
    # as if it had gone on, and been killed just before the checkpoint
    with open(run.metrics_path, "a") as file:
        file.write(json.dumps({"update": update}) + "\n")
    assert_same(train(run.config, tmp_path, quiet=True), whole("train.average=2"))
    assert all(0 < line["tokens_per_second"] for line in run.metrics())


def test_patience_counts_an_evaluation_that_was_stopped_once(tmp_path, monkeypatch, whole):
    # the second evaluation is no better
    still = ("train.learning_rate=1e-30", "train.matrix_rate=1e-30")
    options = ("train.schedule=inverse-sqrt", "train.patience=1", *still)
    stop_in_evaluation(monkeypatch, 2)
    with pytest.raises(Stopped, match="stopped after update 8"):
        train(tiny(*options), tmp_path, quiet=True)
    monkeypatch.undo()
    run = train(tiny(*options), tmp_path, quiet=True)
    assert_same(run, whole(*options))
    assert run.metrics()[-1]["update"] == 8


def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(
    tmp_path, monkeypatch, capfd, whole
):
    newest = sorted((cut_short(tmp_path, monkeypatch).path / "checkpoints").iterdir())[-1]
    damaged = bytearray((newest / "model.safetensors").read_bytes())
    damaged[-5] ^= 1
    (newest / "model.safetensors").write_bytes(damaged)
    capfd.readouterr()
    assert_same(train(tiny(), tmp_path, quiet=True), whole())
    what = (
        "is damaged, or one before it that the final mean needs; training goes on after update 12"
    )
    assert capfd.readouterr().err == f"{newest}: {what}\n"


@pytest.mark.parametrize(
    ("stop", "damaged", "goes_on"), [(14, 4, 14), (14, 8, 4), (18, 12, 8), (24, 16, 0)]
)
def test_a_damaged_older_checkpoint_that_the_mean_needs_is_made_again(
    tmp_path, monkeypatch, whole, stop, damaged, goes_on
):
    """After update 24 nothing older than the mean is left: training begins again."""
    expected, run = (
        whole("train.average=3"),
        cut_short(tmp_path, monkeypatch, stop, "train.average=3"),
    )
    os.truncate(run.path / "checkpoints" / f"{damaged:07d}" / "model.safetensors", 1000)
    updates = []
    monkeypatch.setattr(
        "repro.runs.train.apply_update",
        lambda *args: (updates.append(None), apply_update(*args))[1],
    )
    assert_same(train(run.config, tmp_path, quiet=True), expected)
    assert len(updates) == 24 - goes_on and run.state()["averaged"] == 3


def test_a_checkpoint_that_is_damaged_before_the_mean_is_made_ends_in_no_other_mean(
    tmp_path, monkeypatch, whole
):
    options = ("train.max_updates=16", "train.average=3")

    def damage_then_finish(run, *rest):
        os.truncate(run.path / "checkpoints" / "0000012" / "model.safetensors", 1000)
        finish(run, *rest)

    monkeypatch.setattr("repro.runs.train.finish", damage_then_finish)
    with pytest.raises(
        DamagedFileError,
        match="checkpoints/0000012: is missing or damaged, .* Fix: start the same command again",
    ):
        train(tiny(*options), tmp_path, quiet=True)
    monkeypatch.undo()
    assert_same(train(tiny(*options), tmp_path, quiet=True), whole(*options))


def test_a_torn_last_line_of_the_log_and_a_stray_file_among_the_checkpoints_bar_no_resume(
    tmp_path, monkeypatch, whole
):
    run = cut_short(tmp_path, monkeypatch)
    with open(run.metrics_path, "a") as file:
        file.write('{"update": 16, "epo')
    (run.path / "checkpoints" / "0000016").write_text("")
    assert_same(train(tiny(), tmp_path, quiet=True), whole())
    forget_hashes(run)
    lines = run.metrics_path.read_text().split("\n")
    run.metrics_path.write_text("\n".join([lines[0][:9], *lines[1:]]))
    with pytest.raises(
        DamagedFileError,
        match=r"metrics.jsonl:1: is not JSON of an update. Fix: restore it, or delete that line",
    ):
        run.metrics()
    run.metrics_path.write_text("\n".join([lines[1], "5"]))
    assert run.metrics() == [json.loads(lines[1])], "a last line that is none is left out"
    run.metrics_path.write_text("\n".join(["5", *lines[1:]]))
    with pytest.raises(DamagedFileError, match=r"metrics.jsonl:1: is not JSON of an update."):
        run.metrics()


def test_an_emptied_final_folder_is_named_and_costs_no_checkpoint(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    (run.path / "final").mkdir()
    with refuses(DamagedFileError, "final", "MANIFEST.json"):
        train(tiny(), tmp_path, quiet=True)
    assert sound_checkpoints(run.path)
    with refuses(DamagedFileError, "final", "MANIFEST.json"):
        run.state()


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    run = Run.create(tiny(), tmp_path)
    (run.path / "checkpoints" / ".0000004.x1.part").mkdir(parents=True)
    (run.path / "checkpoints" / ".0000004.x1.part" / ".state.json.99.part").write_text("{")
    (run.path / ".metrics.jsonl.99.part").write_text("half a li")
    train(tiny(), tmp_path, quiet=True)
    assert not list(run.path.rglob("*.part"))


def test_a_run_killed_three_times_ends_bit_identical(tmp_path):
    """SIGKILL at random instants of its own process; the same training again each time."""
    few = tuple(option for option in TINY if "max_updates" not in option)
    options = (f"data.corpus={few_pairs()}", *few, "train.max_updates=90", "train.average=2")
    whole = train(resolve("smoke", overrides=options), tmp_path / "whole", quiet=True)
    random.seed(1)
    run = Run.create(whole.config, tmp_path / "cut")
    for _ in range(3):
        quietly = (whole.config, tmp_path / "cut", None, False, True)
        process = QuickWorkers.Process(target=train, args=quietly)
        process.start()
        before = len(run.metrics())
        while process.is_alive() and len(run.metrics()) < before + 3:
            time.sleep(0.02)
        time.sleep(random.uniform(0, 0.3))
        assert process.is_alive(), "the run ended before it could be killed: make it longer"
        process.kill()
        process.join()
    assert_same(train(whole.config, tmp_path / "cut", quiet=True), whole)


def test_without_the_random_state_a_resumed_run_differs(tmp_path, monkeypatch, whole):
    """The control: the comparison of the tests above can fail."""
    expected = parameters_of(whole())
    cut_short(tmp_path, monkeypatch)
    monkeypatch.setattr("torch.set_rng_state", lambda state: None)
    resumed = parameters_of(train(tiny(), tmp_path, quiet=True))
    assert not all(torch.equal(expected[name], value) for name, value in resumed.items())


def test_a_checkpoint_of_a_newer_version_is_named_and_stays(tmp_path, monkeypatch):
    run = cut_short(tmp_path, monkeypatch)
    for checkpoint in sound_checkpoints(run.path):
        state = load_state(checkpoint) | {"counted_tomorrow": 1}
        tensors = {
            name: load_tensors(checkpoint, name) for name in ("model", "optimizer", "random")
        }
        save_tensors(checkpoint, tensors, state)
    with pytest.raises(
        DamagedFileError,
        match=r"state.json: has other counters than this version knows. Fix: upgrade repro",
    ):
        train(tiny(), tmp_path, quiet=True)
    assert load_state(sound_checkpoints(run.path)[-1]) == state
