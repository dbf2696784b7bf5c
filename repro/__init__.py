"""Simplified attention in neural machine translation: five papers, one seam, reproducible runs.

    train       resolve, train, Run, run_name, runs_root, SCALES, SYSTEMS, gallery
    translate   Translator, SearchConfig, load_model, Transformer, count_parameters
    attend      weights, build_weights
    text        load_corpus, Subwords, minigerman, read_suite
    score       evaluate_run, score_all, score_suite, load_records, results, score_of, search_of,
                label_of, published_for, hypotheses_of
    compare     paired_bootstrap, BOOTSTRAP_SEED, SeedNoise, estimate, minimum_detectable
    prune       pruning, cutting
    show        table, scores_table, means_table, costs_table
    measure     describe_origin, keep_freed_memory, write_json
    teach       exercise
    errors      ReproError, InputError, MachineError

More stands behind five doors, and nothing that a reader needs lies deeper: `repro.core` has the
parts of a model, `repro.analysis` looks inside a trained one, `repro.papers` has the papers with
their claims, `repro.plots` the figures, `repro.widgets` things to touch.
"""

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from repro.lazy import attach

if find_spec("fcntl") is None:  # on Windows; without it no run could be locked
    sys.exit("error: repro: runs on Linux and macOS. Fix: on Windows, install and start it inside WSL")

if TYPE_CHECKING:
    from repro import cutting, gallery, pruning
    from repro.allocator import keep_freed_memory
    from repro.analysis.contrastive import score_suite
    from repro.analysis.weights import weights
    from repro.attention import build_weights
    from repro.checkpoints import load_model
    from repro.data import minigerman
    from repro.data.contrastive import read_suite
    from repro.data.corpora import load_corpus
    from repro.data.subwords import Subwords
    from repro.decoding import SearchConfig, Translator
    from repro.errors import InputError, MachineError, ReproError
    from repro.evaluation import paired_bootstrap, score_all
    from repro.exercises import exercise
    from repro.files import write_json
    from repro.frames import results
    from repro.markdown import table
    from repro.provenance import provenance as describe_origin
    from repro.published import published_for
    from repro.records import load_records, score_of, search_of
    from repro.report import costs_table, label_of, means_table, scores_table
    from repro.resampling import BOOTSTRAP_SEED
    from repro.runs import Run, runs_root
    from repro.scales import SCALES, SYSTEMS, resolve, run_name
    from repro.scoring import evaluate_run
    from repro.statistics import SeedNoise, estimate, minimum_detectable
    from repro.training import train
    from repro.transformer import Transformer, count_parameters
    from repro.translations import hypotheses_of

__getattr__, __dir__, __all__ = attach(__name__, __file__)
