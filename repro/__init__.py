"""Simplified attention in neural machine translation: five papers, one seam, reproducible runs.

    train       resolve, train, Run, run_name, runs_root, SCALES, SYSTEMS, gallery
    translate   load_translator, Translator, SearchConfig, load_model, Transformer, count_parameters
    attend      weights, build_weights, find_treebank, count_tokens
    text        load_corpus, Subwords, minigerman, read_suite
    score       CorpusMetric, Rouge, evaluate_run, score_all, score_suite, cross_entropies,
                load_records, results, score_of, search_of,
                label_of, published_for, hypotheses_of
    compare     paired_bootstrap, BOOTSTRAP_SEED, SeedNoise, estimate, minimum_detectable
    prune       pruning, cutting
    show        table, scores_table, means_table, costs_table, heads_table, layers_table
    measure     describe_origin, keep_freed_memory, write_json
    export      save_ctranslate2, ctranslate2_spec, save_huggingface
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

__version__ = "0.1.0"

if find_spec("fcntl") is None:  # on Windows; without it no run could be locked
    sys.exit(
        "error: repro: runs on Linux and macOS. Fix: on Windows, install and start it inside WSL"
    )

if TYPE_CHECKING:
    from repro import pruning
    from repro.analysis.weights import weights
    from repro.contrastive.scoring import cross_entropies, score_suite
    from repro.contrastive.suites import read_suite
    from repro.core.attention.spec import build_weights
    from repro.core.decoding import SearchConfig, Translator
    from repro.core.subwords import Subwords
    from repro.core.transformer import Transformer, count_parameters
    from repro.data.corpora import load_corpus
    from repro.errors import InputError, MachineError, ReproError
    from repro.files import write_json
    from repro.generated import minigerman
    from repro.markdown import table
    from repro.measures.heads import count_tokens, find_treebank
    from repro.measures.scores import evaluate_run
    from repro.papers.frames import results
    from repro.presets import SCALES, SYSTEMS, resolve
    from repro.pruning import cutting
    from repro.records.head_tables import heads_table, layers_table
    from repro.records.published import published_for
    from repro.records.report import costs_table, label_of, means_table, scores_table
    from repro.records.stored import load_records, score_of, search_of
    from repro.records.translations import hypotheses_of
    from repro.runs import gallery
    from repro.runs.ctranslate2 import save_ctranslate2
    from repro.runs.ctranslate2 import spec_of as ctranslate2_spec
    from repro.runs.huggingface import save_huggingface
    from repro.runs.machine import keep_freed_memory
    from repro.runs.models import load_model, load_translator
    from repro.runs.naming import run_name
    from repro.runs.provenance import provenance as describe_origin
    from repro.runs.run import Run, runs_root
    from repro.runs.train import train
    from repro.statistics.comparing import paired_bootstrap, score_all
    from repro.statistics.intervals import estimate
    from repro.statistics.metrics import CorpusMetric, Rouge
    from repro.statistics.noise import SeedNoise
    from repro.statistics.power import minimum_detectable
    from repro.statistics.resampling import BOOTSTRAP_SEED
    from repro.teaching.exercise import exercise

from repro.runs import own_code as _  # so that every process knows variants of your own

__getattr__, __dir__, __all__ = attach(__name__, __file__)
