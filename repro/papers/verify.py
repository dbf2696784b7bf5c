"""Derive every stored number again from what it was computed from: translations, counts, and scores of single items."""

from collections.abc import Callable
from pathlib import Path

from repro.config import RunConfig, from_dict
from repro.errors import DamagedFileError, ReproError
from repro.papers.evidence import Evidence
from repro.papers.suites import check_contrastive
from repro.papers.verdicts import claims_of, judge, load, scales_with_verdicts
from repro.records import kind_of, load_records, rescore


def verify_records(folder: Path, report: Callable[[str], None]) -> list[str]:
    """Return a line for every record whose numbers are not what its evidence gives.

    Scores come from stored translations and the references of the corpus, accuracies from the scores of single pairs, the digest of a
    configuration from the configuration. A record whose corpus is not at hand is reported and passed over.
    """
    problems = []
    for record in load_records(folder, None):
        name = f"{record['run']}, {kind_of(record)} {record.get('split', '')}".rstrip()
        try:
            problems += [f"{name}: {what}" for what in _differences(record)]
        except DamagedFileError as error:
            problems.append(f"{name}: {error}")
        except ReproError as error:
            report(f"{name}: not checked: {error}")
    return problems


def verify_claims(folder: Path) -> list[str]:
    """Return a line for every stored verdict that the records do not give."""
    problems = []
    records = load_records(folder, None)
    for scale in scales_with_verdicts(folder):
        found = judge(claims_of(), Evidence(scale, records))
        for name, stored in load(folder, scale).items():
            derived = found.get(name)
            if derived is None:
                problems.append(f"{name} at {scale}: no paper has this claim")
            elif _comparable(stored) != _comparable(derived):
                problems.append(
                    f"{name} at {scale}: stored {stored['status']}, derived {derived['status']}: {'; '.join(derived['evidence'])}"
                )
    return problems


def _differences(record: dict) -> list[str]:
    digest = from_dict(RunConfig, record["config"]).digest()
    problems = [] if digest == record["config_digest"] else [f"stored configuration {record['config_digest']}, derived {digest}"]
    if kind_of(record) == "contrastive":
        check_contrastive(record)
    if kind_of(record) == "scores" and record["scores"] != (derived := rescore(record)):
        problems.append(f"stored {record['scores']}, derived {derived}")
    return problems


def _comparable(verdict: dict) -> tuple:
    return verdict["test"], verdict["status"], list(verdict["evidence"]), verdict["reason"]
