"""Several runs at once: what fails stops nothing else, what is finished is not made again, and a
stop loses nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from expected_errors import refuses
from few_pairs import few_pairs
from pieces_of_work import endless, hard_to_send, killed, threads_here, trouble
from stopped_work import held_before_training, leave, measure_three
from tiny_runs import TINY, tiny

from repro.errors import InputError, MachineError, Stopped
from repro.measures.scores import train_and_evaluate
from repro.papers.runner import Plan, execute_plan
from repro.runs.checkpoint_folders import sound_checkpoints
from repro.runs.jobs import describe_outcome, run_all
from repro.runs.naming import run_name
from repro.runs.run import Run
from repro.runs.train import train

quick = pytest.mark.usefixtures("quick_workers")


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    return tmp_path


def test_one_that_fails_stops_nothing_else_and_nothing_is_made_twice(root):
    configs = [tiny(), tiny("model.encoder_self=recurrent(max_len=3)"), tiny(variant="hc-sa")]
    tasks, ends = [(config, "dev") for config in configs], []
    base, refused, hard_coded = run_all(tasks, train_and_evaluate, 2, lambda *end: ends.append(end))
    assert (base["system"], hard_coded["system"]) == ("base", "hc-sa")
    assert isinstance(refused, InputError) and "an attention is defined for 3" in str(refused)
    assert [end[:2] for end in ends] == [(1, 3), (2, 3), (3, 3)]
    assert sorted(describe_outcome(end[2])[:6] for end in ends) == ["base-s", "error:", "hc-sa-"]
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*.safetensors")}
    assert run_all(tasks[:1], train_and_evaluate, 1, lambda *end: None)[0] == base
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.safetensors")} == before


@quick
def test_what_is_measured_of_one_run_does_not_meet_itself_in_training(root):
    """Records may lie here without their runs: each piece of work then trains the run first, or
    finds it finished."""
    # from German, heads need no parser
    config, lines = tiny("data.source=de", "data.target=en"), []
    found = Plan([], [(config, "dev"), (config, "test")], [(config, "heads"), (config, "maps")], [])
    assert execute_plan(found, root / "results", 2, lines.append) == []
    name = run_name(config)
    assert sorted(path.name for path in (root / "results").rglob("*.json")) == [
        f"{name}.dev.json",
        f"{name}.json",
        f"{name}.json",
        f"{name}.test.json",
    ]
    assert [line.rpartition(": ")[2].split()[0] for line in lines] == [
        "BLEU",
        "BLEU",
        "heads",
        "maps",
    ]
    assert " on dev, " in lines[0] and " on " not in lines[1]


def test_a_record_that_cannot_be_kept_is_told_at_once_and_others_are_kept(root, monkeypatch):
    lines, kept = [], []

    def publish(record, folder):
        if not kept:
            kept.append("refused")
            raise MachineError("results", "cannot be written", "free some space")
        kept.append(record["run"])

    def hand_out(pieces, work, jobs, ended):
        for number, (config,) in enumerate(pieces, start=1):
            ended(number, len(pieces), {"run": config.model.encoder_self, "kind": "maps"})

    monkeypatch.setattr("repro.papers.runner.publish", publish)
    errors = execute_plan(
        Plan([tiny(), tiny(variant="hc-sa")], [], [], []), root, 1, lines.append, hand_out
    )
    assert kept == ["refused", "gaussian"] and len(errors) == 1
    assert "results: cannot be written" in lines[0] and lines[1].startswith("[2/2] gaussian")


def test_a_round_has_every_run_once():
    one, other = tiny(), tiny("train.seed=2")
    measures, rounds = [(one, "heads"), (one, "maps"), (other, "maps")], []
    execute_plan(
        Plan([], [], measures, []), Path(), 2, print, lambda pieces, *_: rounds.append(pieces)
    )
    assert rounds == [[(one, "heads"), (other, "maps")], [(one, "maps")]]


@quick
def test_a_bug_in_one_piece_is_told_when_the_others_have_ended():
    ends = []
    with pytest.raises(LookupError, match="nobody expected this"):
        run_all([("bug",), ("memory",), ("good",)], trouble, 1, lambda *end: ends.append(end[2]))
    memory, good = ends
    assert (
        isinstance(memory, MachineError)
        and "not enough of it" in str(memory)
        and good == {"kind": "good"}
    )


@quick
def test_a_killed_worker_costs_its_piece_one_more_try_and_nothing_else(tmp_path, capfd):
    ends = []
    tasks = [(tmp_path, "twice", 2), (tmp_path, "once", 1), (tmp_path, "never", 0)]
    twice, once, never = run_all(tasks, killed, 2, lambda *end: ends.append(end[:2]))
    assert (once, never, ends) == ({"kind": "once"}, {"kind": "never"}, [(1, 3), (2, 3), (3, 3)])
    assert isinstance(
        twice, MachineError
    ) and "twice, 2: its worker process was killed 2 times. Fix: use fewer jobs" in str(twice)
    assert (tmp_path / "twice").read_text() == "xx"
    said = capfd.readouterr().err.splitlines()
    assert (
        sorted(line.partition(": ")[2] for line in said)
        == ["its worker process was killed; it is tried once more"] * 2
    )


@quick
def test_a_worker_that_is_told_to_end_by_others_ends_nothing_else(capfd):
    refused, threads = (
        run_all([()], leave, 1, lambda *end: None)[0],
        run_all([()], threads_here, 1, lambda *end: None)[0],
    )
    assert (
        isinstance(refused, MachineError)
        and "killed 2 times" in str(refused)
        and "threads" in threads
    )


@quick
def test_an_error_that_no_process_can_make_again_is_told_in_its_words():
    with pytest.raises(RuntimeError, match="Own: odd of a kind") as told:
        run_all([("odd",)], hard_to_send, 1, lambda *end: None)
    assert "in hard_to_send" in told.value.__notes__[0]


@quick
def test_a_stop_that_comes_before_training_is_heeded_before_any_update(root):
    with pytest.raises(Stopped) as stopped:
        run_all([(tiny(),)], held_before_training, 1, lambda *end: pytest.fail("trained"))
    assert stopped.value.exit_code == 128 + signal.SIGTERM and list(root.iterdir()) == []


@quick
@pytest.mark.parametrize("what", ["translation", "contrastive", "relevance"])
def test_a_stop_while_something_is_measured_is_heeded_before_the_next_batch(tmp_path, what, capfd):
    with pytest.raises(Stopped):
        run_all([(what, tmp_path / "told")], measure_three, 1, lambda *end: pytest.fail("measured"))
    assert (tmp_path / "told").read_text() == "x"
    assert capfd.readouterr().err == "stopping after this batch; a second request ends at once\n"


def stop_twice(folder: Path, workers: int) -> None:
    """Ask this process to stop once so many workers have begun, and half a second later again."""
    deadline = time.monotonic() + 240
    while len(list(folder.iterdir())) < workers:
        assert time.monotonic() < deadline, "no worker has begun"
        time.sleep(0.05)
    for pause in (0, 0, 0.5):
        time.sleep(pause)
        os.kill(os.getpid(), signal.SIGTERM)


@quick
def test_a_second_request_ends_workers_that_heed_none(tmp_path, monkeypatch):
    """The request is one that came twice if both come at once, as from timeout(1)."""
    monkeypatch.setattr("repro.stops.SAME", 0.2)

    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(stop_twice, tmp_path, 2)
        with pytest.raises(Stopped) as stopped:
            run_all([(tmp_path,)] * 3, endless, 2, lambda *end: None)
        asked.result()
    assert (
        stopped.value.exit_code == 128 + signal.SIGTERM
        and signal.getsignal(signal.SIGTERM) == before
    )
    assert len(list(tmp_path.iterdir())) == 2


@quick
def test_a_stop_that_comes_with_the_last_piece_is_no_success():
    ends = []
    with pytest.raises(Stopped) as stopped:
        run_all([("stop",)], trouble, 1, lambda *end: ends.append(end[2]))
    assert stopped.value.exit_code == 128 + signal.SIGTERM and ends == [{"kind": "stop"}]


@quick
@pytest.mark.parametrize(("threads", "jobs", "expected"), [(6, 2, 3), (6, 1, 6), (2, 4, 1)])
def test_jobs_share_the_threads_that_this_process_was_given(threads, jobs, expected):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert run_all([()], threads_here, jobs, lambda *end: None) == [{"threads": expected}]
    finally:
        torch.set_num_threads(before)


@quick
def test_a_thread_that_hears_no_signals_may_run_them():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run_all, [()], threads_here, 1, lambda *end: None).result() == [
            {"threads": torch.get_num_threads()}
        ]


def test_no_jobs_are_refused():
    with refuses(InputError, "--jobs", "1", "1000", "0"):
        run_all([(tiny(),)], train_and_evaluate, 0, lambda *end: None)


def endless_options() -> list[str]:
    """Return the options of small runs that nothing ends."""
    bounded = ("train.max_updates", "train.eval_every")
    return [
        f"data.corpus={few_pairs()}",
        *(option for option in TINY if not option.startswith(bounded)),
        "train.max_updates=99999",
        "train.patience=99999",
    ]


def stop_three_runs(
    root, results, *options: str, number: int = signal.SIGTERM, send=os.kill
) -> str:
    """Stop `repro run` while the first of three runs trains, which must have saved, and the others
    not begun; return what it said."""
    command = [
        sys.executable,
        "-m",
        "repro",
        "run",
        "base",
        "hc-sa",
        "sh-x",
        *endless_options(),
        "train.eval_every=99999",
        "--jobs",
        "1",
        *options,
        "--results",
        str(results),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 240
    while (
        process.poll() is None
        and not any(root.glob("*/metrics.jsonl"))
        and time.monotonic() < deadline
    ):
        time.sleep(0.2)
    time.sleep(1)
    send(process.pid, number)
    _, message = process.communicate(timeout=120)
    assert process.returncode == 128 + number, message
    (folder,) = root.iterdir()
    assert len(sound_checkpoints(Run(folder).path)) == 1
    return message


@pytest.mark.parametrize(
    ("number", "send"),
    [(signal.SIGTERM, os.kill), (signal.SIGINT, os.kill), (signal.SIGINT, os.killpg)],
)
def test_a_stop_reaches_the_workers_which_save_and_end(root, tmp_path_factory, number, send):
    """Ctrl-C in a terminal reaches all processes of a command, the button of an editor only the
    first."""
    said = stop_three_runs(
        root, tmp_path_factory.mktemp("results"), number=number, send=send
    ).splitlines()
    assert said == [
        "3 runs to train, 0 to measure; no stored run tells how long",
        "to train: base, hc-sa, sh-x; --dry-run lists the runs and the hours without training",
        "stopping after this batch; a second request ends at once",
        "stopped; the same command goes on where the runs were",
    ]


def children_of(process: subprocess.Popen) -> list[str]:
    """Return the numbers of the processes that a process has started."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True)
    return found.stdout.split()


def test_a_stop_while_workers_start_is_told_in_one_line(tmp_path):
    command = [
        sys.executable,
        "-m",
        "repro",
        "run",
        "base",
        "hc-sa",
        "--jobs",
        "2",
        "--results",
        str(tmp_path / "results"),
    ]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path
    )
    assert process.stderr.readline().startswith("2 runs to train")
    assert process.stderr.readline().startswith("to train: base, hc-sa; ")
    while len(children_of(process)) < 3:  # two workers, and what tracks their resources
        assert process.poll() is None
        time.sleep(0.05)
    # both workers import torch, which takes longer
    os.killpg(process.pid, signal.SIGINT)
    _, message = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT, message
    assert message.splitlines() == [
        "stopping after this batch; a second request ends at once",
        "stopped; the same command goes on where the runs were",
    ]


def kill_once(begun: Callable[[], bool], command: list[str], root: Path) -> None:
    """Kill a command when something has begun; its workers, which have the same standard error,
    must end by themselves."""
    process = subprocess.Popen(
        [sys.executable, "-m", "repro", *command], stderr=subprocess.PIPE, cwd=root
    )
    deadline = time.monotonic() + 240
    while process.poll() is None and not begun() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert begun()
    process.kill()
    process.communicate(timeout=120)


def test_workers_of_a_killed_command_save_and_end(root, tmp_path_factory):
    command = [
        "run",
        "base",
        "hc-sa",
        *endless_options(),
        "train.eval_every=4",
        "--results",
        str(tmp_path_factory.mktemp("results")),
    ]
    kill_once(lambda: len(list(root.glob("*/checkpoints/*"))) > 1, command, root)
    for run in map(Run, root.iterdir()):
        with run.lock():  # which nobody has
            assert not run.is_finished and sound_checkpoints(run.path)


def test_workers_of_a_killed_pruning_end(root):
    base = train(tiny(), root, quiet=True)
    kill_once(
        lambda: len(list(root.glob("*/.lock"))) > 1, ["prune", base.path.name, "--heads", "4"], root
    )
    for run in map(Run, root.iterdir()):
        with run.lock():
            assert run.config


def test_a_worker_that_does_not_heed_its_parents_death_is_ended(tmp_path):
    code = (
        f"import pieces_of_work, repro.runs.jobs as jobs; jobs.run_all([({str(tmp_path)!r},)], "
        "pieces_of_work.endless, 1, print)"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])
    }
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, env=environment
    )
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.1)
    process.kill()
    process.communicate(timeout=120)
    assert list(tmp_path.iterdir())
