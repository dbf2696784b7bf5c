"""Simplified attention in neural machine translation: five papers, one seam, reproducible runs.

The names a notebook needs; each is imported when it is first used, so that the command line answers before torch is loaded.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

if find_spec("fcntl") is None:  # on Windows; without it no run could be locked
    sys.exit("error: repro: runs on Linux and macOS. Fix: on Windows, install and start it inside WSL")

_HOME = {
    "resolve": "repro.scales",
    "train": "repro.training",
    "Run": "repro.runs",
    "Translator": "repro.decoding",
    "SearchConfig": "repro.decoding",
    "Transformer": "repro.transformer",
    "count_parameters": "repro.transformer",
    "load_corpus": "repro.data.corpora",
    "Subwords": "repro.data.subwords",
    "build_weights": "repro.attention",
    "evaluate_run": "repro.scoring",
    "load_records": "repro.records",
    "results": "repro.frames",
    "paired_bootstrap": "repro.evaluation",
    "score_all": "repro.evaluation",
}

__all__ = list(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'repro' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
