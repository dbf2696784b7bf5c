"""Score a finished run: translate a test set, and write down what was found as a record, which the run keeps so that nobody asks twice."""

import hashlib
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repro.core.batches import EncodedPairs
from repro.core.config import RunConfig
from repro.core.decoding import SearchConfig
from repro.core.training import evaluate_nll
from repro.data.corpora import (
    MOVED,
    check_at_hand,
    is_moved,
    load_once,
    load_pairs,
    may_change,
    own_folder,
    task_of,
)
from repro.data.parallel import digest
from repro.errors import DamagedFileError, InputError, MachineError, check_kind
from repro.measures.rereading import check_search
from repro.records.schema import kind_of
from repro.records.stored import FORMAT, load_record, overlap_of, plain, plain_name, write_record
from repro.records.translations import hypotheses_of, score_tables, writable
from repro.runs.behaviour import output_of
from repro.runs.log_lines import LogLines
from repro.runs.models import changed_code, load_subwords, load_translator
from repro.runs.naming import system_of
from repro.runs.run import Run
from repro.runs.train import train
from repro.statistics.comparing import as_records, score_all

Pairs = tuple[list[str], list[str]]  # sources and references


def evaluate_run(
    run: Run, split: str = "test", search: SearchConfig | None = None, quiet: bool = True
) -> dict[str, Any]:
    """Translate and score a split with a finished run; the record is kept in the run's folder, if it may be, and found there the next time.

    A kept record that is damaged, edited, or of other text than there is now is made again.

    Args:
        run: a finished run.
        split: `test`, `dev`, a further test set of the corpus, or one of another corpus,
            `iwslt16:test`.
        search: how to search.
        quiet: no progress bar.

    Returns:
        The record.

    Raises:
        InputError: a run that is not finished, an unknown split, or a published corpus that has
            changed since: the sentences of the test set may be in the training text that there was.
            Also a model that scores its translations otherwise read at once.
    """
    check_kind("run", run, "find it by its name, as in repro.Run.find('base')", Run)
    if search is not None:
        check_kind("search", search, "write it as in repro.SearchConfig(beam=1)", SearchConfig)
    search = search or SearchConfig()
    data = run.config.data
    _check_version(run)
    sources, refs = load_pairs(data.corpus, data.source, data.target, split)
    made_of = json.dumps(asdict(search), sort_keys=True)
    # unlike a published corpus, it may have changed since
    if ":" in split or own_folder(data.corpus):
        made_of += str((sources, refs))
    if not refs:
        raise InputError(
            f"{data.corpus}, {split}",
            "has no sentence pair",
            "put some into its files, or choose another split",
        )
    if changed_code(run):  # the kept translations are those of the old code
        made_of += str(output_of(run.config.model))
    path = (
        run.path
        / "evaluations"
        / f"{plain_name(split)}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}.json"
    )
    if run.is_finished and _is_what_it_would_be(path, run, split, search, (sources, refs)):
        return load_record(path)
    translator = load_translator(run)
    start = time.perf_counter()
    found = translator.search(sources, search, quiet)
    hyps = translator.texts(found)
    seconds = time.perf_counter() - start
    check_search(translator, sources, found, search, str(run.path))
    decoding = {
        "seconds": round(seconds, 2),
        "sentences_per_second": round(len(sources) / seconds, 1),
    }
    record = _describe(run, split, search, (sources, refs), hyps, decoding)
    try:
        write_record(path, record)
    except MachineError as error:  # a run in a folder that others share may be for reading only
        print(f"{error}. The scores are not kept beside the run", file=sys.stderr)
    return plain(record)


def dev_loss(run: Run) -> float:
    """Return the mean negative log-likelihood of the target tokens of dev by the final parameters of a run, in nats.

    It is measured where these are the mean of several checkpoints; else the log has it, as the last
    one.
    """
    data, config = run.config.data, run.config
    logged = [line["dev_nll"] for line in run.metrics() if "dev_nll" in line]
    if logged and config.train.average == 1:
        return logged[-1]
    translator = load_translator(run)
    sources, refs = load_pairs(data.corpus, data.source, data.target, "dev")
    subwords = translator.subwords
    pairs = EncodedPairs(
        subwords.encode(sources), subwords.encode(refs), config.model.source_end_mark
    )
    return evaluate_nll(translator.model, pairs, config.train, translator.between_batches)


def _check_version(run: Run) -> None:
    """Refuse a run of another version of a corpus. Your own text may be another one by now, but where it is said to have moved only."""
    data = run.config.data
    check_at_hand(data.corpus, run.path)
    if (own_folder(data.corpus) and not is_moved(data.corpus)) or not may_change(data.corpus):
        return
    if (
        load_once(data.corpus, data.source, data.target).fingerprint
        != run.provenance()["data_fingerprint"]
    ):
        what = f"was trained on another version of {data.corpus}, whose training text may hold what is test text in this one"
        elsewhere = (
            f"set {MOVED} to the folder that holds its text now"
            if is_moved(data.corpus)
            else "restore the corpus"
        )
        raise InputError(
            str(run.path), what, f"{elsewhere}, or delete the run's folder to train it again"
        )


def _is_what_it_would_be(
    path: Path, run: Run, split: str, search: SearchConfig, pairs: Pairs
) -> bool:
    """Tell whether a record is kept at a path and is what its translations give; a score that was edited, or a cut file, is not."""
    try:
        kept = load_record(path)
        if kind_of(kept) != "scores":
            return False
        derived = _describe(run, split, search, pairs, hypotheses_of(kept), kept["decoding"])
        if not kept["tables"]["references"].is_sound():
            return False
    # no file, or a damaged one, or not as many translations as references
    except (DamagedFileError, InputError):
        return False
    return kept == plain(derived)


def describe_run(run: Run) -> dict[str, Any]:
    """Return what a record of any kind says about its run."""
    origin = run.provenance()
    if changed := changed_code(run):
        origin |= {"inexact": [*origin.get("inexact", []), changed]}
    return {
        "format": FORMAT,
        "run": run.name,
        "system": system_of(run.config.model),
        "seed": run.config.train.seed,
        "config": asdict(run.config),
        "config_digest": run.config.digest(),
        "provenance": origin,
    }


def _describe(
    run: Run,
    split: str,
    search: SearchConfig,
    pairs: Pairs,
    hyps: list[str],
    decoding: dict[str, float],
) -> dict[str, Any]:
    """Return the record of translations of a split."""
    data, (sources, refs) = run.config.data, pairs
    task = task_of(data.corpus)
    training = run.state()
    return describe_run(run) | {
        "split": split,
        "training": training
        | {"target_tokens_per_second": round(training["tokens"] / training["seconds"])},
        "search": asdict(search),
        "decoding": decoding,
        "scores": as_records(score_all(hyps, refs, data.target, task)),
        "references_sha256": digest(refs),
        "sentences": len(hyps),
        "tables": score_tables(hyps, sources, refs, data.target, task),
        **overlap_of(data.corpus, data.source, data.target, split),
        **writable(load_subwords(run.subwords_path), hyps, refs, data.target, task),
    }


def train_and_evaluate(config: RunConfig, split: str = "test") -> dict[str, Any]:
    """Train a run, or find it finished, and return its result record."""

    return evaluate_run(train(config, quiet=True, log=LogLines(config)), split)
