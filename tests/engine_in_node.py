"""The page's engine, run in Node beside PyTorch."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from repro.core.decoding import Translator
from repro.core.transformer import Transformer
from repro.page.export import model_file
from repro.runs import gallery
from repro.runs.models import load_translator

NODE = shutil.which("node")
SCRIPT = Path(__file__).with_name("run_engine.mjs")


def run_engine(path: Path, *jobs: tuple[str, dict[str, Any]]) -> list[Any]:
    """Return what the engine answers to jobs with one model file; see `run_engine.mjs`."""
    return run_jobs([(name, path, arguments) for name, arguments in jobs])


def run_jobs(jobs: list[tuple[str, Path, dict[str, Any]]]) -> list[Any]:
    """Return what the engine answers to jobs with several model files."""
    if NODE is None:
        pytest.skip("node is not installed: the engine in JavaScript is not run")
    given = json.dumps([(name, str(path), arguments) for name, path, arguments in jobs])
    done = subprocess.run([NODE, str(SCRIPT)], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.rstrip("\n").split("\n")]


@cache
def exported(name: str, folder: Path) -> tuple[Path, Translator]:
    """Return the model file of a gallery model, and the model in PyTorch with the same numbers.

    The file holds half precision. So PyTorch's parameters are rounded to it, too: else two tokens
    of nearly the same probability may change places for that reason alone.
    """
    run = gallery.load(name)
    path = folder / f"{name}.bin"
    path.write_bytes(model_file(run, name))
    translator = load_translator(run, "cpu")
    round_to_half(translator.model)
    return path, translator


@torch.no_grad()
def round_to_half(model: Transformer) -> None:
    """Round all parameters to what half precision can hold."""
    for parameter in model.parameters():
        parameter.copy_(parameter.half().float())
