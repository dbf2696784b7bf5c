"""Work on Ray: evenly divided, what fails stops nothing else, and a stop loses nothing."""

import importlib.util
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from dying_drivers import dies, dies_once, dies_when_stopped, hears_nothing
from expected_errors import refuses
from pieces_of_work import endless
from test_jobs import stop_three_runs, stop_twice
from tiny_runs import tiny

from repro import stops
from repro.errors import InputError, MachineError, Stopped
from repro.measures.scores import train_and_evaluate
from repro.runs import cluster
from repro.runs.cluster import DRIVERS, Share, do_piece, folders_here, run_all_on_cluster, share_of
from repro.runs.run import Run

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed; `make cluster` installs it",
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_RUNS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "machines, jobs, expected",
    [
        ([(16, 0)], 2, Share(8, 0)),
        ([(2, 0)], 3, Share(1, 0)),  # the third waits
        ([(16, 1)], 4, Share(4, 0.25)),
        ([(16, 4)], 2, Share(8, 1)),  # a run uses one GPU
        ([(16, 2)], 3, Share(5, 0.5)),  # three of four halves
        ([(16, 2), (8, 4)], 2, Share(4, 1)),  # what every machine can give
        ([(64, 0), (8, 1)], 2, Share(4, 0.5)),  # nothing trains beside the GPUs
    ],
)
def test_machines_are_shared_evenly(machines, jobs, expected):
    assert share_of(machines, jobs) == expected


def test_no_jobs_and_a_missing_package_are_refused(monkeypatch):
    with refuses(InputError, "--jobs", "1", "1000", "0"):
        run_all_on_cluster("local", [(tiny(),)], train_and_evaluate, 0, lambda *end: None)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        MachineError, match=r"--cluster: Ray is not installed\. Fix: pip install -e '\.\[cluster\]'"
    ):
        run_all_on_cluster("local", [(tiny(),)], train_and_evaluate, 1, lambda *end: None)


@pytest.mark.parametrize("exists", [True, False])
def test_a_worker_finds_what_is_named_from_where_the_command_was_given(
    tmp_path, monkeypatch, exists
):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir()
    monkeypatch.setenv("PWD", str(elsewhere))
    monkeypatch.setenv("REPRO_RUNS", "my-runs")
    monkeypatch.setenv("REPRO_DATA", "../corpora")
    monkeypatch.chdir(here)
    folders = folders_here()
    assert folders == {
        "REPRO_RUNS": str(here / "my-runs"),
        "REPRO_DATA": str(tmp_path / "corpora"),
        "PWD": str(here),
    }
    monkeypatch.chdir(elsewhere)
    if not exists:
        here.rmdir()
    assert do_piece(os.getcwd, (), torch.get_num_threads(), folders) == str(
        here if exists else elsewhere
    )
    assert (os.environ["REPRO_RUNS"], os.environ["REPRO_DATA"]) == (
        folders["REPRO_RUNS"],
        folders["REPRO_DATA"],
    )


@needs_ray
def test_what_a_driver_left_when_it_died_another_does(tmp_path, monkeypatch):
    told = tmp_path / "told"
    told.write_text("")
    monkeypatch.setattr("repro.runs.cluster._drive", dies_once)
    tasks, ends = [("a",), ("b",), ("c",)], []
    assert run_all_on_cluster(str(told), tasks, print, 1, lambda *end: ends.append(end)) == [
        {"task": task} for task in tasks
    ]
    assert [(count, of, outcome["task"]) for count, of, outcome in ends] == [
        (1, 3, ("b",)),
        (2, 3, ("a",)),
        (3, 3, ("c",)),
    ]
    told.write_text("")
    monkeypatch.setattr("repro.runs.cluster._drive", dies)
    with refuses(MachineError, "--cluster", DRIVERS):
        run_all_on_cluster(str(told), tasks, print, 1, lambda *end: None)
    assert told.read_text() == "3 " + "2 " * (DRIVERS - 1)


@needs_ray
def test_no_other_driver_goes_on_after_one_that_was_asked_to_stop(tmp_path, monkeypatch):
    """Ray can end the process while pieces of work are canceled."""
    told = tmp_path / "told"
    told.write_text("")
    monkeypatch.setattr("repro.runs.cluster._drive", dies_when_stopped)
    with pytest.raises(Stopped) as stop:
        run_all_on_cluster(str(told), [("a",), ("b",), ("c",)], print, 1, lambda *end: None)
    assert stop.value.exit_code == 128 + signal.SIGTERM
    assert told.read_text() == "3 "


def test_what_has_ended_is_never_canceled(monkeypatch):
    """Ray ends its process, without an exception, where that happens in the same moment."""
    monkeypatch.setattr(cluster, "parent_process", lambda: SimpleNamespace(is_alive=lambda: True))
    left, canceled = ["first", "second", "third"], []

    def get(ref):
        if ref == "second":
            raise AttributeError("a fault of the program")
        return {"run": ref}

    ray = SimpleNamespace(
        nodes=lambda: [{"Alive": True, "Resources": {"CPU": 1}}],
        remote=lambda **share: (
            lambda work: SimpleNamespace(remote=lambda work, task, *rest: task[0])
        ),
        wait=lambda refs, timeout, num_returns=1: (refs[:num_returns], refs[num_returns:]),
        get=get,
        cancel=canceled.append,
        exceptions=SimpleNamespace(RayTaskError=ZeroDivisionError, RayError=ZeroDivisionError),
    )
    sent = []
    with pytest.raises(AttributeError, match="a fault of the program"):
        cluster._hand_out(
            ray, [(name,) for name in left], print, 1, [], SimpleNamespace(send=sent.append)
        )
    assert (sent, canceled) == ([(0, {"run": "first"})], ["third"])
    with pytest.raises(Stopped):
        cluster._hand_out(
            ray,
            [(name,) for name in left],
            print,
            1,
            [signal.SIGTERM],
            SimpleNamespace(send=sent.append),
        )
    assert canceled == ["third", "second", "third"]


@needs_ray
@pytest.mark.parametrize(
    "address", ["auto", "127.0.0.1:1", "ray://127.0.0.1:1", "nonsense", "host:port"]
)
def test_a_cluster_that_is_not_there_is_one_line(address, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(
        InputError,
        match=f"--cluster: no cluster answers at '{address}'. Fix: `ray start --head` starts one",
    ):
        run_all_on_cluster(address, [(tiny(),)], train_and_evaluate, 1, lambda *end: None)


@needs_ray
def test_one_that_fails_stops_nothing_else_and_nothing_is_made_twice(root):
    configs = [tiny(), tiny("model.encoder_self=recurrent(max_len=3)"), tiny(variant="hc-sa")]
    tasks, ends = [(config, "dev") for config in configs], []
    base, refused, hard_coded = run_all_on_cluster(
        "local", tasks, train_and_evaluate, 2, lambda *end: ends.append(end[:2])
    )
    assert (base["system"], hard_coded["system"]) == ("base", "hc-sa")
    assert isinstance(refused, InputError) and "an attention is defined for 3" in str(refused)
    assert ends == [(1, 3), (2, 3), (3, 3)]
    assert {path.name for path in root.iterdir() if Run(path).is_finished} == {
        base["run"],
        hard_coded["run"],
    }
    assert train_and_evaluate(*tasks[0]) == base  # what the workers left is what this process finds


@needs_ray
def test_a_fault_of_the_program_is_raised_as_it_is(root):
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3 were given"):
        run_all_on_cluster(
            "local", [("one", "too", "many")], train_and_evaluate, 1, lambda *end: None
        )


@needs_ray
def test_a_stop_reaches_the_workers_which_save_and_end(root, tmp_path_factory):
    said = stop_three_runs(root, tmp_path_factory.mktemp("results"), "--cluster", "local")
    # a machine so busy that Ray gave up its first start says so
    assert [line for line in said.splitlines() if not line.startswith("Ray: ")] == [
        "3 runs to train, 0 to measure; no stored run tells how long",
        "to train: base, hc-sa, sh-x; --dry-run lists the runs and the hours without training",
        "stopping after this batch; a second request ends at once",
        "stopped; the same command goes on where the runs were",
    ]


@needs_ray
def test_a_second_request_ends_a_driver_that_heeds_none(tmp_path, monkeypatch):
    """One that cannot hear it, too, as where Ray takes minutes to start."""
    monkeypatch.setattr("repro.stops.SAME", 0.2)
    monkeypatch.setattr("repro.runs.cluster._drive", hears_nothing)
    told = tmp_path / "told"
    with pytest.raises(Stopped) as stop:
        run_all_on_cluster(str(told), [("a",)], print, 1, lambda *end: None)
    assert stop.value.exit_code == 128 + signal.SIGTERM and told.read_text() == "xx"


@needs_ray
def test_a_second_request_ends_workers_that_heed_none(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("repro.stops.SAME", 0.2)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # where workers find their work
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(stop_twice, tmp_path, 1)
        with pytest.raises(Stopped) as stop:
            run_all_on_cluster("local", [(tmp_path,)], endless, 1, lambda *end: None)
        asked.result()
    assert stop.value.exit_code == 128 + signal.SIGTERM
    (begun,) = tmp_path.iterdir()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{begun.suffix[1:]}").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not Path(f"/proc/{begun.suffix[1:]}").exists()
    assert capfd.readouterr().err == stops.NOTICE
