"""Energy as counters tell it: a prepared powercap folder, a prepared NVML, and a training that
knows what it drew."""

from pathlib import Path
from types import SimpleNamespace

import pynvml
import pytest
import torch
from tiny_runs import stop_after, tiny

from repro.errors import Stopped
from repro.measures.scores import evaluate_run
from repro.papers.report import _costs
from repro.records.report import costs_table
from repro.runs.energy import EnergyMeter, add_joules
from repro.runs.train import apply_update, train

CPU = torch.device("cpu")
RANGE = 262_143_328_850  # microjoules, as processors have it


def add_zone(folder: Path, zone: str, name: str, energy_uj: int = 0) -> None:
    path = folder / zone
    path.mkdir(parents=True)
    (path / "name").write_text(f"{name}\n")
    (path / "max_energy_range_uj").write_text(f"{RANGE}\n")
    draw(folder, zone, energy_uj)


def draw(folder: Path, zone: str, microjoules: int) -> None:
    """Let a counter go on, and start again from 0 when its range is used up."""
    path = folder / zone / "energy_uj"
    before = int(path.read_text()) if path.exists() else 0
    path.write_text(f"{(before + microjoules) % RANGE}\n")


@pytest.fixture
def powercap(tmp_path, monkeypatch):
    """One package with cores inside it and memory beside it, as servers have them, and the
    platform around all of these, as laptops do.

    The package is about to start again from 0.
    """
    folder = tmp_path / "powercap"
    add_zone(folder, "intel-rapl:0", "package-0", RANGE - 1_000_000)
    add_zone(folder, "intel-rapl:0:0", "core")
    add_zone(folder, "intel-rapl:0:1", "dram")
    add_zone(folder, "intel-rapl:1", "psys")
    monkeypatch.setattr("repro.runs.energy.POWERCAP", folder)
    return folder


def test_a_meter_says_what_was_drawn_since_it_was_last_read(powercap):
    meter = EnergyMeter(CPU)
    assert meter.spent() == {"package-0": 0.0, "dram of package-0": 0.0}
    draw(powercap, "intel-rapl:0", 3_000_000)
    draw(powercap, "intel-rapl:0:0", 2_000_000)  # cores are part of the package: not a second time
    draw(powercap, "intel-rapl:0:1", 500_000)
    draw(powercap, "intel-rapl:1", 5_000_000)  # and the package is part of the platform
    assert meter.spent() == {"package-0": 3.0, "dram of package-0": 0.5}
    assert meter.spent() == {"package-0": 0.0, "dram of package-0": 0.0}


def test_a_counter_that_cannot_be_read_is_left_out_at_once_and_later(powercap):
    (powercap / "intel-rapl:0:1" / "energy_uj").unlink()
    meter = EnergyMeter(CPU)
    assert meter.spent() == {"package-0": 0.0}
    (powercap / "intel-rapl:0" / "energy_uj").unlink()
    assert meter.spent() == {}


def test_without_counters_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr("repro.runs.energy.POWERCAP", tmp_path / "absent")
    assert EnergyMeter(CPU).spent() == {}
    assert add_joules({}, {}) is None


def test_a_sum_over_other_counters_is_not_known():
    first = add_joules({}, {"package-0": 2.0})
    assert add_joules(first, {"package-0": 1.5}) == {"package-0": 3.5}
    assert add_joules(first, {"package-0": 1.5, "dram of package-0": 1.0}) is None
    assert add_joules(None, {"package-0": 1.5}) is None


def test_a_gpu_counts_millijoules_and_only_for_its_own_work(tmp_path, monkeypatch):
    monkeypatch.setattr("repro.runs.energy.POWERCAP", tmp_path / "absent")
    readings = iter([7_000, 9_500])
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", lambda uuid: uuid)
    monkeypatch.setattr(
        pynvml,
        "nvmlDeviceGetTotalEnergyConsumption",
        lambda handle: {"GPU-1-2": next(readings)}[handle],
    )
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda device: SimpleNamespace(name="a GPU", uuid="1-2"),
    )
    assert EnergyMeter(torch.device("cuda")).spent() == {"a GPU": 2.5}
    assert EnergyMeter(CPU).spent() == {}


def test_a_gpu_without_a_counter_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr("repro.runs.energy.POWERCAP", tmp_path / "absent")
    monkeypatch.setattr(
        pynvml,
        "nvmlInit",
        lambda: (_ for _ in ()).throw(pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)),
    )
    assert EnergyMeter(torch.device("cuda")).spent() == {}


def draw_two_joules_an_update(monkeypatch, powercap: Path) -> None:
    def drawing(*args):
        draw(powercap, "intel-rapl:0", 2_000_000)
        return apply_update(*args)

    monkeypatch.setattr("repro.runs.train.apply_update", drawing)


def test_a_training_counts_its_own_energy_over_a_stop(tmp_path, monkeypatch, powercap):
    draw_two_joules_an_update(monkeypatch, powercap)
    stop_after(monkeypatch, 6)
    with pytest.raises(Stopped):
        train(tiny(), tmp_path, quiet=True)
    draw(powercap, "intel-rapl:0", 1_000_000_000)  # by whatever runs between stop and start
    draw_two_joules_an_update(monkeypatch, powercap)
    run = train(tiny(), tmp_path, quiet=True)
    assert run.state()["joules"] == {"package-0": 48.0, "dram of package-0": 0.0}

    record = evaluate_run(run)
    assert "| 48 |" in costs_table(
        [record]
    ) and "Joules: dram of package-0, package-0; the whole device" in costs_table([record])
    report = _costs(SimpleNamespace(all=lambda kind: [record]))
    assert "| 48 |" in report and "Joules: dram" in report


def test_a_training_that_went_on_without_counters_does_not_know_its_energy(
    tmp_path, monkeypatch, powercap
):
    stop_after(monkeypatch, 6)
    with pytest.raises(Stopped):
        train(tiny(), tmp_path, quiet=True)
    monkeypatch.undo()
    monkeypatch.setattr("repro.runs.energy.POWERCAP", tmp_path / "absent")
    run = train(tiny(), tmp_path, quiet=True)
    assert run.state()["joules"] is None
    assert "| - |" in costs_table([evaluate_run(run)]) and "Joules: none measured" in costs_table(
        [evaluate_run(run)]
    )
