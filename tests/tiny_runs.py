"""Runs of seconds: trained, stopped on purpose, and compared bit by bit."""

import json
import os
import signal

import pytest
import torch
from few_pairs import few_pairs
from safetensors.torch import load_file

import repro.runs.train
from repro.core.config import RunConfig
from repro.errors import Stopped
from repro.files import write_json
from repro.presets import resolve
from repro.runs.run import Run
from repro.runs.storage import BESIDE, MANIFEST
from repro.runs.train import train

TINY = (
    "data.vocab_size=300",
    "train.max_updates=24",
    "train.eval_every=4",
    "train.batch_tokens=500",
    "model.dropout=0.1",
)


def tiny(*overrides: str, variant: str = "base") -> RunConfig:
    """Return the configuration of a run of seconds, with more options."""
    return resolve("smoke", variant, overrides=(f"data.corpus={few_pairs()}", *TINY, *overrides))


def parameters_of(run: Run) -> dict[str, torch.Tensor]:
    """Return the final parameters of a run."""
    return load_file(run.path / "final" / "model.safetensors")


def stop_after(monkeypatch, update: int) -> None:
    """Send this process a polite stop in the middle of the given update."""
    calls, original = [], repro.runs.train.apply_update

    def counted(*args):
        calls.append(None)
        if len(calls) == update:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(*args)

    monkeypatch.setattr("repro.runs.train.apply_update", counted)


def cut_short(tmp_path, monkeypatch, update: int = 14, *options: str) -> Run:
    """Return a run that was stopped after an update."""
    stop_after(monkeypatch, update)
    with pytest.raises(Stopped):
        train(tiny(*options), tmp_path, quiet=True)
    monkeypatch.undo()
    return Run.create(tiny(*options), tmp_path)


def forget_hashes(run: Run) -> None:
    """Let a finished run be one of before hashes were noted of what is beside its final
    parameters."""
    manifest = run.path / "final" / MANIFEST
    write_json(
        manifest,
        {
            name: entry
            for name, entry in json.loads(manifest.read_bytes()).items()
            if not name.startswith(BESIDE)
        },
    )


def timeless(run: Run) -> list[dict]:
    """Return what a run noted, without what depends on the clock."""
    return [
        {key: value for key, value in line.items() if key not in ("seconds", "tokens_per_second")}
        for line in run.metrics()
    ]


def assert_same(run: Run, expected: Run) -> None:
    """Compare two runs bit by bit, and what they noted."""
    found, wanted = parameters_of(run), parameters_of(expected)
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert timeless(run) == timeless(expected)
    assert not list(run.path.rglob("*.part"))
