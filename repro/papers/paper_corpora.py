"""Say which corpus of which paper runs by which command, and how long training took here."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from repro.claims.evidence import Evidence, Record
from repro.claims.settings import Setting
from repro.data.catalogue import CORPORA
from repro.markdown import table
from repro.reading import read_plain
from repro.records.stored import load_records
from repro.scales import SCALES

BASE = Setting("base")
NOT_MEASURED = "not measured"
NEWSTEST2019 = "wmt-news:newstest2019"
TIMED = Path("benchmarks/results/hours.json")  # beside the folder of results


@dataclass(frozen=True)
class Used:
    """A corpus that a paper trains on.

    Args:
        paper: its name here.
        what: the corpus, in the paper's words.
        scale: the one that trains on it; empty if there is none.
        changed: settings of a scale of your own that differ, for another language or size.
        missing: why there is no scale.
        scored_on: a further test set, where the corpus comes without one.
    """

    paper: str
    what: str
    scale: str = ""
    changed: str = ""
    missing: str = ""
    scored_on: str = ""


USED = (
    Used("raganato2020", "WMT19 De-En, 2.9 million pairs", "wmt19", scored_on=NEWSTEST2019),
    Used(
        "raganato2020",
        "WMT19 De-En, 11.5 million pairs",
        "wmt19",
        "data.train_pairs = 11_500_000",
        scored_on=NEWSTEST2019,
    ),
    Used("raganato2020", "IWSLT14 De-En", "iwslt14"),
    Used("raganato2020", "IWSLT15 En-Vi and Vi-En", "iwslt15"),
    Used("raganato2020", "news, Ko-En", missing="`local:FOLDER`: no public copy is known here"),
    Used("you2020", "IWSLT16 En-De and De-En", "iwslt16"),
    Used("you2020", "IWSLT17 En-Ja and Ja-En", "iwslt17"),
    Used("you2020", "WMT16 En-Ro and Ro-En", "wmt16"),
    Used("you2020", "WMT14 En-De", "wmt14"),
    Used("you2020", "WMT14 En-Fr, Europarl and Common Crawl", "wmt14-en-fr"),
    Used(
        "voita2019",
        "WMT En-De and En-Fr, 2.5 million pairs each",
        "wmt14",
        "data.train_pairs = 2_500_000",
    ),
    Used("voita2019", "WMT En-Ru, 2.5 million pairs", "wmt17", 'direction = "en-ru"'),
    Used("voita2019", "OpenSubtitles2018 En-Ru, 6 million pairs", "opensubtitles"),
    Used("zeng2021", "WMT14 En-De and De-En", "wmt14"),
    Used("zeng2021", "WMT14 En-Fr and Fr-En", "wmt14-en-fr"),
    Used("zeng2021", "WMT17 En-Tr and Tr-En", "wmt17"),
    Used("zeng2021", "WMT17 En-Fi and Fi-En", "wmt17", 'direction = "en-fi"'),
    Used("zeng2021", "WMT17 En-Lv and Lv-En", "wmt17", 'direction = "en-lv"'),
    Used("zeng2021", "NIST12 Zh-En", missing="sold by the LDC: `local:FOLDER`"),
    Used("zeng2021", "CNN/DailyMail", "cnndm"),
    Used("zeng2021", "Persona-Chat", "personachat"),
    Used("cui2019", "IWSLT14 De-En", "iwslt14"),
    Used("cui2019", "WAT17 En-Ja (ASPEC)", missing="on request from its makers: `local:FOLDER`"),
)


def corpora_page(folder: Path) -> str:
    """Return the tables of the papers' corpora, and of what has been trained here.

    Args:
        folder: of results.
    """
    records = load_records(folder, None)
    evidences = {scale: Evidence(scale, records) for scale in SCALES}
    hours = {scale: _by_machine(evidence) for scale, evidence in evidences.items()}
    timed = _estimated(folder.parent / TIMED)
    return "\n\n".join(
        [
            "## The papers' own corpora",
            table(
                ["paper", "its corpus", "here, from", "command", "a run of base"],
                [_row_of(used, hours, timed) for used in USED],
            ),
            "## What has been trained here",
            table(
                ["scale", "corpus", "runs", "training, all together", "a run of base"],
                [
                    _row_of_scale(scale, evidence, hours[scale])
                    for scale, evidence in evidences.items()
                    if evidence.all("scores")
                ],
            ),
        ]
    )


def _row_of(
    used: Used, hours: dict[str, dict[str, str]], timed: dict[str, dict[str, str]]
) -> list[str]:
    if not used.scale:
        return [used.paper, used.what, used.missing, "-", "-"]
    corpus = SCALES[used.scale].data.corpus
    record = CORPORA[corpus]
    places = [f"`{record.folder}/`", *([f"Hub: `{record.hub.id}`"] if record.hub else [])]
    # another language or size of text does not change how many updates there are
    known = (
        timed.get(used.scale, {})
        if used.changed
        else hours[used.scale] or timed.get(used.scale, {})
    )
    return [
        used.paper,
        used.what,
        f"`{corpus}`: {' or '.join(places)}",
        _command(used),
        _said(known),
    ]


def _command(used: Used) -> str:
    """Return what runs a paper's corpus: a paper's experiments, or systems where they are not."""
    record = CORPORA[SCALES[used.scale].data.corpus]
    own = f', with `base = "{used.scale}"` and `{used.changed}` in it' if used.changed else ""
    scale = "my.toml" if used.changed else used.scale
    if used.scored_on:
        scored = f"`repro evaluate base --split {used.scored_on}`"
        return f"`repro train --scale {scale} --system base`{own}, then {scored}"
    if used.changed:
        return f"`repro run {used.paper} --scale {scale}`{own}"
    if record.task != "translation":
        return f"`repro run base ran-all --scale {used.scale}`"
    return f"`repro run {used.paper} --scale {used.scale}`"


def _row_of_scale(scale: str, evidence: Evidence, hours: dict[str, str]) -> list[str]:
    runs = {record["run"]: record for record in evidence.all("scores")}
    total = sum(record["training"]["seconds"] for record in runs.values())
    return [
        f"`{scale}`",
        SCALES[scale].data.corpus,
        str(len(runs)),
        _in_words(total),
        _said(hours),
    ]


def _by_machine(evidence: Evidence) -> dict[str, str]:
    """Return how long a run of base took at a scale, by machine: the median of its seeds."""
    found: dict[str, list[float]] = {}
    for record in _runs_of_base(evidence):
        found.setdefault(_machine(record), []).append(record["training"]["seconds"])
    return {name: _in_words(median(each)) for name, each in sorted(found.items())}


def _estimated(path: Path) -> dict[str, dict[str, str]]:
    """Return about how long a run of base would take, by scale and machine.

    Args:
        path: what `python -m benchmarks.hours` wrote: seconds of an update. It may be missing.
    """
    found: dict[str, dict[str, str]] = {}
    for row in json.loads(read_plain(path))["rows"] if path.exists() else []:
        seconds = row["seconds_of_update"] * SCALES[row["scale"]].train.max_updates
        found.setdefault(row["scale"], {})[_machine(row)] = f"about {_in_words(seconds)}"
    return found


def _said(hours: dict[str, str]) -> str:
    """Return the hours on each machine in one cell."""
    return "; ".join(f"{time} on {name}" for name, time in hours.items()) or NOT_MEASURED


def _runs_of_base(evidence: Evidence) -> Iterable[Record]:
    return {record["run"]: record for record in evidence.find("scores", BASE)}.values()


def _in_words(seconds: float) -> str:
    hours = seconds / 3600
    if hours < 1:
        return f"{seconds / 60:.0f} min"
    return f"{hours:,.0f} h" if hours >= 100 else f"{hours:.1f} h"


def _machine(record: Record) -> str:
    """Return the device of a run: a GPU by its name, a processor with its threads."""
    origin = record["provenance"]
    threads = origin["threads"]
    if origin["device"] != "cpu":
        return str(origin["processor"]).partition(", ")[0]
    return f"{origin['processor']}, {threads} thread{'s' * (threads > 1)}"
