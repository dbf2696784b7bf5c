"""Return stored results as pandas frames, for analyses that this package does not have."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from repro.claims.conditions import Verdict
from repro.claims.verdict_fields import as_verdict
from repro.errors import InputError, did_you_mean
from repro.papers.verdicts import claims_of, load_verdicts, verdict_places
from repro.records.schema import kind_of
from repro.records.stored import group_key, load_records, search_of
from repro.records.translations import lengths_of
from repro.statistics.metrics import TOKENISED

What = Literal["records", "scores", "verdicts"]
ABOUT = ("kind", "corpus", "source", "target", "system", "group", "seed", "run", "split")


def results(what: What = "scores", folder: str | Path = "results") -> pd.DataFrame:
    """Return the results on all papers as a pandas frame; missing values are None or NaN.

    Args:
        what: `records`, `scores` or `verdicts`.
        folder: of results.

    Returns:
        For `records`, a row per record of any kind: `kind`; `corpus`, `source`, `target`; `system`;
        `group`, a name that the seeds of one configuration share; `seed`, `run`, `split`; `device`,
        `commit`, `started`, and whether the run is `exact`.

        For `scores`, a row per test set, search and metric. It has the columns above up to `split`;
        `search`, the options that differ from the usual ones; `metric`, `value`, `signature`;
        `sentences`; for BLEU the brevity penalty `bp` and the tokens `hyp_length`, `ref_length`;
        `reference_nll`, the likelihood of the references (nats per token; NaN in older records).
        About training it has `parameters`, `updates`, `tokens`, `train_seconds` and `dev_nll` (nats
        per token).

        For `verdicts`, a row per condition. It has `scale`, `split`, `claim`, its `statement`,
        `test` (the digest of its structure), `status`, `reason`; `condition` in words, `outcome`;
        `value`, `low`, `high`, `level`, `over`, `least_seeds`, `most_seeds`, `counts_seeds`,
        `detectable`, `unit` (see `statistics.intervals.Estimate`), `right`, `by_chance` (percent),
        and `void`, the reason for a missing number. `likelihood` is what likelihood says of the
        claim; `nats_outcome`, `nats`, `nats_low`, `nats_high`, `nats_over` are the condition by it.
        A claim that was not run has one row without a condition.

    Raises:
        InputError: no such kind of results, or no such folder.
        DamagedFileError: a file is damaged.
    """
    if what not in ROWS:
        raise InputError("what", f"unknown results '{what}'", did_you_mean(str(what), ROWS))
    return pd.DataFrame(ROWS[what](Path(folder)))


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of `results("records")`: stored records of all kinds."""
    for record in load_records(folder, None):
        origin = record["provenance"]
        made = {name: origin.get(name) for name in ("device", "commit", "started")}
        yield _about(record) | made | {"exact": not origin.get("inexact")}


def _about(record: dict[str, Any]) -> dict[str, Any]:
    """Return what every row of `results` says of the record behind it."""
    data = record["config"]["data"]
    kept = {name: record.get(name) for name in ("system", "seed", "run", "split")}
    found = kept | {name: data[name] for name in ("corpus", "source", "target")}
    found |= {"kind": kind_of(record), "group": group_key(record)}
    return {name: found[name] for name in ABOUT}


def _scores(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of `results("scores")`, each with the costs of its training."""
    for record in load_records(folder):
        training = record["training"]
        costs = {
            "parameters": training["parameters"],
            "updates": training["update"],
            "tokens": training["tokens"],
            "train_seconds": training["seconds"],
            "dev_nll": training["best_dev_nll"],
        }
        about = _about(record) | {"search": ", ".join(search_of(record))}
        for score in record["scores"]:
            measured = {
                "metric": score["name"],
                "value": score["value"],
                "signature": score["signature"],
            }
            sentences = {
                "sentences": record["sentences"],
                "reference_nll": record.get("likelihood", {}).get("nats_per_token"),
            }
            yield about | measured | sentences | _lengths(record, score["name"]) | costs


def _lengths(record: dict[str, Any], metric: str) -> dict[str, float]:
    """Return the columns of `results` on length: BLEU's penalty and its lengths."""
    if metric not in ("BLEU", TOKENISED):
        return {}
    found = lengths_of(record, metric)
    return {
        "bp": found.penalty,
        "hyp_length": found.hypotheses,
        "ref_length": found.references,
    }


def _verdicts(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of `results("verdicts")` on the papers' claims, one per condition."""
    if not folder.is_dir():
        raise InputError(
            str(folder), "is no folder of results", "name the folder that `repro run` made"
        )
    places, errors = verdict_places(folder)
    if errors:
        raise errors[0]
    statements = {claim.name: claim.statement for claim in claims_of()}
    for scale, split in places:
        for claim, stored in load_verdicts(folder, scale, split).items():
            verdict = as_verdict(stored)
            about = {
                "scale": scale,
                "split": split,
                "claim": claim,
                "statement": statements.get(claim),
            }
            about |= {"test": stored["test"], "status": verdict.status, "reason": verdict.reason}
            about |= {"likelihood": verdict.likelihood}
            yield from (about | condition for condition in _conditions(verdict))


def _conditions(verdict: Verdict) -> Iterator[dict[str, Any]]:
    """Yield the columns of `results` on each condition of a paper's claim."""
    if not verdict.conditions:
        yield {}
    for judged in verdict.conditions:
        row: dict[str, Any] = {"condition": judged.condition, "outcome": judged.outcome}
        if (found := judged.found) is None:
            yield row | {"void": judged.reason}
            continue
        row |= {name: getattr(found, name) for name in ("value", "low", "high", "level", "over")}
        if judged.likelihood and (nats := judged.likelihood.found):
            row |= {"nats_outcome": judged.likelihood.outcome, "nats": nats.value}
            row |= {"nats_low": nats.low, "nats_high": nats.high, "nats_over": nats.over}
        row |= dict(zip(("least_seeds", "most_seeds"), found.seeds or (None, None), strict=True))
        row |= {name: getattr(found, name) for name in ("counts_seeds", "detectable", "unit")}
        yield row | {name.replace(" ", "_"): share for name, share in found.shares}


ROWS = {"records": _records, "scores": _scores, "verdicts": _verdicts}
