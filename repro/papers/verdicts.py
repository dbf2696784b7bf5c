"""Store and compare verdicts, each with the digest of the test that it answers.

A test must not change quietly once its result is known. The code that computes a number may change:
`repro verify` then reports stored verdicts that the records no longer give.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median

from repro.claims.conditions import ELSEWHERE, Condition
from repro.claims.endpoints import NATS_PER_BLEU
from repro.claims.evidence import Evidence
from repro.claims.outcomes import STATUSES, Status, Verdict
from repro.claims.pooling import AND
from repro.claims.settings import Setting
from repro.claims.verdict_fields import (
    StoredVerdict,
    VerdictFile,
    as_stored,
    as_verdict,
    first_difference,
    given_up,
    verdict_faults,
)
from repro.core.config import RunConfig, from_dict
from repro.errors import DamagedFileError, InputError, ReproError, did_you_mean
from repro.files import write_json
from repro.measures.registry import EVERY_SEED
from repro.papers import PAPERS, Claim, Experiment, Paper, load_paper
from repro.papers.printed_effects import printed_effects
from repro.reading import read_plain
from repro.records.sentences import cannot_read
from repro.records.stored import VERDICTS, plain_name
from repro.runs.locks import locked
from repro.runs.provenance_fields import now
from repro.scales import SCALES, add_scale, command_options, is_own

FORMAT = 2
NO_DATA: Status = "not run"
TEST = "test"  # the set that claims were written for
Wanted = tuple[str, Setting]  # a kind of record, and what it is of
STATUSES_EXPLAINED = (
    "A claim is *reproduced* if all its conditions hold, *partly* if some hold and some fail, *not "
    "reproduced* if some fail and none holds. It is *not testable here* if none fails and one "
    "cannot be decided: a number does not exist, a premise is not shown, or no true number that "
    "the claim may mean would show with a chance of 20 %. Else it is *undecided*."
)
LIKELIHOOD_EXPLAINED = (
    "Verdicts speak of BLEU where the papers do. The same differences are judged by likelihood, "
    "per token of the test references. Where a record holds no more, it is that of dev, by the "
    "best single checkpoint of each run. Bounds in BLEU are taken as nats at "
    f"{NATS_PER_BLEU:g} nats a point, the slope over systems on Multi30k, fixed before any claim "
    "was judged so. "
    "Likelihood *agrees* with a verdict or *disagrees*, *decides* what BLEU leaves undecided, or "
    "is *open*, too."
)


def claims_of(name: str | None = None) -> list[Claim]:
    """Return the claims of a paper, the one claim of that name, or all.

    Raises:
        InputError: an unknown name.
    """
    every = [(paper, claim) for paper in PAPERS for claim in load_paper(paper).claims]
    found = [claim for paper, claim in every if name in (None, paper, claim.name)]
    if not found:
        known = [*PAPERS, *(claim.name for _, claim in every)]
        raise InputError(
            "claims", f"unknown paper or claim '{name}'", did_you_mean(str(name), known)
        )
    return found


def experiments_of(claim: Claim, wanted: set[Wanted]) -> list[str]:
    """Return the fewest experiments of a claim's paper that make such records.

    They are found one after the other, each with the most records that are still missing. A claim
    of no paper has none.
    """
    makes = {
        f"{paper.name}.{experiment.name}": _made(experiment)
        for paper in map(load_paper, PAPERS)
        if claim in paper.claims
        for experiment in paper.experiments
    }
    chosen: list[str] = []
    while wanted and makes:
        best = max(makes, key=lambda name: len(makes[name] & wanted))
        if not makes[best] & wanted:
            break
        chosen.append(best)
        wanted = wanted - makes[best]
    return chosen


def claims_answered(chosen: Iterable[tuple[Paper, Experiment]]) -> list[Claim]:
    """Return the claims that need no more records than these experiments of papers make.

    Those of a whole paper are all its claims.
    """
    made: dict[str, set[Wanted]] = {}
    left = {
        paper: {experiment.name for experiment in load_paper(paper).experiments} for paper in PAPERS
    }
    for paper, experiment in chosen:
        made.setdefault(paper.name, set()).update(_made(experiment))
        left[paper.name].discard(experiment.name)
    return [
        claim
        for name, records in made.items()
        for claim in load_paper(name).claims
        if not left[name] or needed_by(claim) <= records
    ]


def needed_by(claim: Claim) -> set[Wanted]:
    """Return the records that a claim of a paper needs."""
    return {("scores", setting) for setting in claim.settings()} | set(claim.measures())


def lacking(claim: Claim, evidence: Evidence, seeds: int) -> set[Wanted]:
    """Return the records that a claim needs and the evidence lacks, for any of so many seeds.

    What is measured once needs only the first seed.
    """
    return {
        (kind, setting)
        for kind, setting in needed_by(claim)
        for seed in range(1, seeds + 1 if kind in ("scores", *EVERY_SEED) else 2)
        if not evidence.find(
            kind, setting, seed, **({"split": evidence.split} if kind == "scores" else {})
        )
    }


def _made(experiment: Experiment) -> set[Wanted]:
    """Return the records that an experiment of a paper makes."""
    measured = experiment.measures.items()
    return {("scores", setting) for setting in experiment.settings} | {
        (kind, setting) for kind, settings in measured for setting in settings
    }


def of_scores(claims: Iterable[Claim]) -> list[Claim]:
    """Return the papers' claims that depend on scores alone: other test sets can judge them."""
    return [claim for claim in claims if not claim.measures()]


def judge(claims: Iterable[Claim], evidence: Evidence) -> dict[str, StoredVerdict]:
    """Judge claims of the papers; return stored verdicts by claim."""
    return {
        claim.name: as_stored(
            claim.judge(evidence, partial(_reported, claim)), claim.digest(evidence.scale)
        )
        for claim in claims
    }


def _reported(claim: Claim, condition: Condition) -> float | None:
    """Return the median of what a paper prints about a claim's condition; None if unknown."""
    of = [paper for paper in PAPERS if claim.name in {one.name for one in load_paper(paper).claims}]
    values = [effect.value for paper in of for effect in printed_effects(paper, condition)]
    return median(values) if values else None


def update_verdicts(
    folder: Path, scale: str, claims: list[Claim], evidence: Evidence, discard: Iterable[str] = ()
) -> list[Verdict]:
    """Judge claims of the papers, store their verdicts, and return them.

    Args:
        folder: of results.
        scale: its name.
        claims: the claims to judge.
        evidence: of that scale. Verdicts on another test set than `TEST` have a file of their own.
        discard: claims whose stored verdict is given up first: of `claims`, or of no paper any
            more. The new verdict keeps the old one in its history.

    Raises:
        InputError: the test of a claim has changed since its verdict, or its records are gone; no
            such folder, or no such claim to discard.
    """
    if not Path(folder).is_dir():
        raise InputError(
            str(folder), "is no folder of results", "name the folder that `repro run` made"
        )
    with locked(_path(folder, scale, evidence.split).parent):
        return _update(folder, scale, claims, evidence, discard)


def _update(
    folder: Path, scale: str, claims: list[Claim], evidence: Evidence, discard: Iterable[str]
) -> list[Verdict]:
    """Judge the papers' claims, and write their verdicts into the locked file."""
    judged, of_papers, split = (
        {claim.name for claim in claims},
        {claim.name for claim in claims_of()},
        evidence.split,
    )
    before = load_verdicts(folder, scale, split)
    # Another paper's verdict would not be judged again.
    known = sorted(judged | (before.keys() - of_papers))
    for name in sorted(set(discard) - set(known)):
        raise InputError("--discard", f"unknown claim '{name}'", did_you_mean(name, known))
    stored = {name: verdict for name, verdict in before.items() if name not in set(discard)}
    for claim in claims:
        old = stored.get(claim.name)
        if old is not None and old["status"] != NO_DATA and old["test"] != claim.digest(scale):
            what = (
                f"its test was changed after its result at {scale} was known (was "
                f"{old['test']}, is {claim.digest(scale)})"
            )
            raise InputError(
                claim.name,
                what,
                f"restore the test, or {_give_up(claim.name, scale, folder)}",
            )
    found = judge(claims, evidence)
    for name, verdict in found.items():
        if verdict["status"] == NO_DATA and stored.get(name, verdict)["status"] != NO_DATA:
            what = (
                f"was {stored[name]['status']} at {scale}, and now it is not run: "
                f"{verdict['missing']}"
            )
            raise InputError(
                name,
                what,
                f"restore its records, or {_give_up(name, scale, folder)}",
            )
    head = {"format": FORMAT, "scale": scale} | ({} if split == TEST else {"split": split})
    head |= {"configuration": asdict(SCALES[scale])} if is_own(scale) else {}
    same = {
        name: stored[name]
        for name, verdict in found.items()
        if name in stored and not first_difference(stored[name], verdict)
    }
    for name, verdict in found.items():
        if name in before and (first := _first_look(before[name])) != _seeds(verdict):
            verdict["first_look"] = first
    for name in found.keys() & before.keys():
        if name in set(discard):
            found[name]["history"] = given_up(before[name], now())
        elif history := before[name].get("history"):
            found[name]["history"] = history
    write_json(
        _path(folder, scale, split),
        head | {"verdicts": dict(sorted((stored | found | same).items()))},
    )
    return [as_verdict(verdict) for verdict in found.values()]


def _give_up(claim: str, scale: str, folder: Path) -> str:
    return f"give the result up: repro claims {command_options(scale, folder)} --discard {claim}"


def _first_look(before: StoredVerdict) -> list[int]:
    """Return the seeds of the first verdict on a paper's claim, given the last one.

    A test that was given up since was looked at, too.
    """
    return before.get("first_look") or _seeds(before)


def _seeds(verdict: StoredVerdict) -> list[int]:
    """Return the fewest and most seeds behind a verdict on a paper's claim."""
    return [*(as_verdict(verdict).seeds or ())]


def load_verdicts(folder: Path, scale: str, split: str = TEST) -> dict[str, StoredVerdict]:
    """Return the stored verdicts on the papers' claims at a scale; empty without a file.

    Raises:
        DamagedFileError: the file is damaged.
    """
    path = _path(folder, scale, split)
    if not path.exists():
        return {}
    values = _read(path)
    if (values["scale"], values.get("split", TEST)) == (scale, split):
        return values["verdicts"]
    raise _no_verdicts(path)


def _read(path: Path) -> VerdictFile:
    """Read a file of verdicts on the papers' claims, and refuse a damaged one."""
    try:
        values: VerdictFile = json.loads(read_plain(path))
        if values["format"] == FORMAT and next(verdict_faults(values), None) is None:
            if "configuration" in values:
                _know(values["scale"], from_dict(RunConfig, values["configuration"]))
            return values
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    except InputError:  # a configuration of no run
        pass
    except OSError as error:
        raise cannot_read(path, error) from error
    raise _no_verdicts(path)


def _know(scale: str, config: RunConfig) -> None:
    """Make somebody's own scale known.

    Raises:
        ValueError: its name does not fit its configuration.
    """
    if add_scale(scale.rpartition("-")[0], config) != scale:
        raise ValueError(scale)


def _no_verdicts(path: Path) -> DamagedFileError:
    """Return the error that a file holds no verdicts on the papers' claims."""
    return DamagedFileError(
        str(path), "is not a file of verdicts", "restore it, or delete it and run repro claims"
    )


def scales_with_verdicts(folder: Path) -> list[str]:
    """Return the scales with stored verdicts on the papers' claims."""
    return sorted(path.stem for path in _files(folder) if "." not in path.stem)


def further_test_sets(folder: Path) -> list[tuple[str, str]]:
    """Return the (scale, test set) pairs with verdicts on papers' claims besides `TEST`.

    Raises:
        DamagedFileError: a file is damaged.
    """
    found = [
        (values["scale"], values.get("split", TEST))
        for values in (_read(path) for path in _files(folder) if "." in path.stem)
    ]
    return sorted(found, key=lambda place: (place[0], place[1].count(AND), place[1]))


def verdict_places(folder: Path) -> tuple[list[tuple[str, str]], list[ReproError]]:
    """Return the (scale, test set) pairs with verdicts on papers' claims, and errors."""
    places, errors = [], []
    for path in _files(folder):
        try:
            values = _read(path)
            place = values["scale"], values.get("split", TEST)
            if _path(folder, *place) != path:
                raise _no_verdicts(path)
            places.append(place)
        except ReproError as error:
            errors.append(error)
    return sorted(places), errors


def _files(folder: Path) -> list[Path]:
    """Return the files of verdicts on papers' claims; hidden ones are skipped."""
    try:
        names = sorted(os.listdir(Path(folder) / VERDICTS))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise cannot_read(Path(folder) / VERDICTS, error) from error
    return [
        Path(folder) / VERDICTS / name
        for name in names
        if name.endswith(".json") and not name.startswith(".")
    ]


def verdict_on(claim: Claim, verdicts: dict[str, StoredVerdict]) -> Verdict:
    """Return the verdict on a paper's claim among those of a scale; or `not run`."""
    return (
        as_verdict(verdicts[claim.name])
        if claim.name in verdicts
        else Verdict(claim.name, NO_DATA, missing="no verdict is stored")
    )


def count_verdicts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count the verdicts on papers' claims by status."""
    statuses = [verdict.status for verdict in verdicts]
    return {status: statuses.count(status) for status in STATUSES}


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return in words how many verdicts there are by status, and how many no run could make."""
    never = sum(verdict.reason.startswith(ELSEWHERE) for verdict in verdicts)
    elsewhere = f" ({never} of them can only be tested at other scales)" if never else ""
    counts = count_verdicts(verdicts).items()
    return ", ".join(
        f"{n} {status}{elsewhere if status == NO_DATA else ''}" for status, n in counts
    )


def _path(folder: Path, scale: str, split: str = TEST) -> Path:
    """Return the file of the verdicts on papers' claims at a scale, on a test set."""
    return (
        Path(folder)
        / VERDICTS
        / (f"{scale}.json" if split == TEST else f"{scale}.{plain_name(split)}.json")
    )
