"""Score a finished run: translate a test set, and keep the record in the run's folder."""

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
from repro.data.corpora import load_once, load_pairs, task_of, text_may_change
from repro.data.own_text import MOVED_TEXT, check_text_is_found, is_text_moved, own_folder
from repro.data.parallel import column_digest
from repro.errors import DamagedFileError, InputError, MachineError, check_kind
from repro.measures.likelihood import likelihood_tables
from repro.measures.rereading import check_search
from repro.records.likelihood import curve_of, references_fields
from repro.records.schema import kind_of
from repro.records.sentences import Table
from repro.records.stored import FORMAT, load_record, overlap_of, plain, plain_name, write_record
from repro.records.translations import hypotheses_of, score_tables, writable
from repro.runs.behaviour import output_of
from repro.runs.log_lines import LogLines
from repro.runs.models import (
    changed_code,
    load_subwords,
    load_translator,
    warn_of_changed_code,
)
from repro.runs.naming import system_of
from repro.runs.run import Run
from repro.runs.train import train
from repro.statistics.comparing import as_records, score_all

Pairs = tuple[list[str], list[str]]  # sources and references


def evaluate_run(
    run: Run, split: str = "test", search: SearchConfig | None = None, quiet: bool = True
) -> dict[str, Any]:
    """Measure the scores of a run: translate a split, and return the score record.

    The record is kept in the run's folder, if that is writable, and reused. A kept record that is
    damaged, edited, or based on other text is made again. One that is older than the likelihood of
    references gets it, and keeps its translations.

    Args:
        run: a finished run.
        split: `test`, `dev`, a further test set of the corpus, or one of another corpus,
            `iwslt16:test`.
        search: the search options, by default those of the run.
        quiet: no progress bar.

    Returns:
        The record.

    Raises:
        InputError: an unfinished run or an unknown split. Also a corpus that has changed since
            training: test sentences may be in the old training text. Also a model that scores
            its translations differently when it reads them at once.
    """
    check_kind("run", run, "find it by its name, as in repro.Run.find('base')", Run)
    if search is not None:
        check_kind("search", search, "write it as in repro.SearchConfig(beam=1)", SearchConfig)
    search = search or SearchConfig(alpha=run.alpha)
    data = run.config.data
    _check_version(run)
    sources, refs = load_pairs(data.corpus, data.source, data.target, split)
    made_of = json.dumps(asdict(search), sort_keys=True)
    # Such a test set may have changed since, unlike one of a published corpus.
    if ":" in split or own_folder(data.corpus):
        made_of += str((sources, refs))
    if not refs:
        raise InputError(
            f"{data.corpus}, {split}",
            "has no sentence pair",
            "put some into its files, or choose another split",
        )
    # Kept translations come from the old code.
    if changed_code(run):
        made_of += str(output_of(run.config.model))
    path = (
        run.path
        / "evaluations"
        / f"{plain_name(split)}-{hashlib.sha256(made_of.encode()).hexdigest()[:8]}.json"
    )
    kept = _kept_record(path, run, split, search, (sources, refs)) if run.is_finished else None
    if kept is not None and "dev_curve" in kept["training"]:
        warn_of_changed_code(run)  # as loading the model does
        return kept
    translator = load_translator(run)
    if kept is not None:
        hyps, decoding = hypotheses_of(kept), kept["decoding"]
    else:
        start = time.perf_counter()
        found = translator.search(sources, search, quiet)
        hyps = translator.texts(found)
        seconds = time.perf_counter() - start
        check_search(translator, sources, found, search, str(run.path))
        decoding = {
            "seconds": round(seconds, 2),
            "sentences_per_second": round(len(sources) / seconds, 1),
        }
    likely = likelihood_tables(translator, sources, refs)
    record = _score_record(run, split, search, (sources, refs), hyps, decoding, likely)
    try:
        write_record(path, record)
    # A run in a shared folder may be read-only.
    except MachineError as error:
        print(f"{error}. The scores are not kept beside the run", file=sys.stderr)
    return plain(record)


def dev_loss(run: Run) -> float:
    """Measure the mean negative log-likelihood of the target tokens of dev, in nats.

    It is that of the final parameters: the last one in the log, or measured where they average
    several checkpoints.
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
    """Refuse to measure a run that was trained on another version of its corpus."""
    data = run.config.data
    check_text_is_found(data.corpus, run.path)
    if not text_may_change(data.corpus):
        return
    if (
        load_once(data.corpus, data.source, data.target).fingerprint
        != run.provenance()["data_fingerprint"]
    ):
        what = (
            f"was trained on another version of {data.corpus}, whose training text "
            "may hold this test text"
        )
        elsewhere = (
            f"set {MOVED_TEXT} to the folder that holds its text now"
            if is_text_moved(data.corpus)
            else "restore the corpus"
        )
        raise InputError(
            str(run.path), what, f"{elsewhere}, or delete the run's folder to train it again"
        )


def _kept_record(
    path: Path, run: Run, split: str, search: SearchConfig, pairs: Pairs
) -> dict[str, Any] | None:
    """Return the record at a path if it is what its translations give; not an edited or cut one."""
    try:
        kept = load_record(path)
        if kind_of(kept) != "scores":
            return None
        tables = kept["tables"]
        likely = {name: Table(tables[name]) for name in ("likelihood",) if name in tables}
        made = (hypotheses_of(kept), kept["decoding"], likely)
        derived = plain(_score_record(run, split, search, pairs, *made))
        if not tables["references"].is_sound():
            return None
    # The file is missing or damaged, or translations and references differ in number.
    except (DamagedFileError, InputError):
        return None
    if "dev_curve" not in kept["training"]:  # written before there were curves
        del derived["training"]["dev_curve"]
    return kept if kept == derived else None


def describe_run(run: Run) -> dict[str, Any]:
    """Return the fields about a run that the records of all measures begin with."""
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


def _score_record(
    run: Run,
    split: str,
    search: SearchConfig,
    pairs: Pairs,
    hyps: list[str],
    decoding: dict[str, float],
    likely: dict[str, Table],
) -> dict[str, Any]:
    """Return the record of the translations of a split, and of the likelihood of its references."""
    data, (sources, refs) = run.config.data, pairs
    task = task_of(data.corpus)
    training = run.state()
    return describe_run(run) | {
        "split": split,
        "training": training
        | {
            "target_tokens_per_second": round(training["tokens"] / training["seconds"]),
            "dev_curve": curve_of(run.metrics()),
        },
        "search": asdict(search),
        "decoding": decoding,
        "scores": as_records(score_all(hyps, refs, data.target, task)),
        "references_sha256": column_digest(refs),
        "sentences": len(hyps),
        "tables": score_tables(hyps, sources, refs, data.target, task) | likely,
        **{name: references_fields(table) for name, table in likely.items()},
        **overlap_of(data.corpus, data.source, data.target, split),
        **writable(load_subwords(run.subwords_path), hyps, refs, data.target, task),
    }


def train_and_evaluate(config: RunConfig, split: str = "test") -> dict[str, Any]:
    """Train a run, or find it finished, and return its score record."""

    return evaluate_run(train(config, quiet=True, log=LogLines(config)), split)
