"""Make tables of results for use elsewhere: every score, or systems with intervals for a paper."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import pandas as pd

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.core.config import ModelConfig, from_dict
from repro.errors import InputError, shortened
from repro.markdown import escape, table
from repro.papers import find_experiments
from repro.presets import STRUCTURE, SYSTEMS
from repro.records.report import score_of

METRIC = "BLEU"
PREAMBLE = """% \\usepackage{booktabs}
% table* spans both columns of a two-column paper; a paper of one column prints it as table."""
LAYOUT = "\\centering\n\\small\n\\setlength{\\tabcolsep}{4pt}\n"


def systems_frame(
    evidence: Evidence, settings: Sequence[Setting], against: Setting
) -> pd.DataFrame:
    """Return a row for each setting that was scored.

    Args:
        evidence: of a scale and a test set.
        settings: to show, in this order.
        against: what differences are to.

    Returns:
        `system`, `seeds`, `BLEU`, the mean over seeds, and its standard deviation `sd`;
        `difference` to `against` in the same direction, its interval `low` to `high`, and whether
        that `counts_seeds`; `parameters`. NaN where there is none.

    Raises:
        InputError: none of the settings was scored.
    """
    rows = [row for setting in settings if (row := _row(evidence, setting, against))]
    if not rows:
        what = f"there are no scores of {shortened(', '.join(map(str, settings)), 150)}"
        fix = "train them with `repro run`, or name other systems"
        raise InputError(f"{evidence.scale} {evidence.split}", what, fix)
    return pd.DataFrame(rows)


def _row(evidence: Evidence, setting: Setting, against: Setting) -> dict[str, Any]:
    """Return the row of a setting; empty if it was not scored."""
    try:
        records = [evidence.scores(setting, seed) for seed in evidence.seeds(setting)]
    except NotMeasured:
        return {}
    values = [score_of(record, METRIC)["value"] for record in records]
    data, name = setting.config(evidence.scale).data, str(setting)
    row = {
        "system": name.replace("other direction", f"{data.source} to {data.target}"),
        "seeds": len(values),
        METRIC: mean(values),
        "sd": stdev(values) if len(values) > 1 else None,
    }
    reference, found = reference_of(setting, against, evidence.scale), None
    if reference and reference != setting:
        with suppress(NotMeasured):
            found = evidence.contrast(((1, setting), (-1, reference)))
    return (
        row
        | {name: getattr(found, name, None) for name in ("low", "high", "counts_seeds")}
        | {"difference": getattr(found, "value", None)}
        | {"parameters": records[0]["training"]["parameters"]}
    )


def reference_of(setting: Setting, against: Setting, scale: str) -> Setting | None:
    """Return the reference in the direction of a setting; None on another corpus.

    Scores of two directions or corpora are of other sentences and say nothing together.
    """
    reference = replace(against, reverse=setting.reverse)
    data, other = (of.config(scale).data for of in (setting, reference))
    same = (data.corpus, data.source, data.target) == (other.corpus, other.source, other.target)
    return reference if same else None


def further_systems(evidence: Evidence) -> dict[str, Setting]:
    """Return settings of the scored systems that no paper named, such as variants of your own, by
    the names in their records."""
    usual, found = ModelConfig(), {}
    for record in evidence.all("scores"):
        if (name := record["system"]) not in SYSTEMS:
            model = from_dict(ModelConfig, record["config"]["model"])
            values = {option: getattr(model, option) for option in STRUCTURE}
            found[name] = Setting(
                "base",
                tuple(
                    f"model.{option}={value if isinstance(value, str) else json.dumps(value)}"
                    for option, value in values.items()
                    if value != getattr(usual, option)
                ),
            )
    return found


def every_system(evidence: Evidence) -> list[Setting]:
    """Return the systems of the suite, and further ones that no experiment of a paper compares."""
    compared = {
        setting.config(evidence.scale)
        for _, experiment in find_experiments("all")
        for setting in experiment.settings
    }
    further = further_systems(evidence).values()
    own = [setting for setting in further if setting.config(evidence.scale) not in compared]
    return [*map(Setting, SYSTEMS), *own]


def for_people(frame: pd.DataFrame, against: Setting, minus: str = "-") -> pd.DataFrame:
    """Return the columns of a paper's table as text: scores, and differences with intervals."""

    def signed(value: float) -> str:
        return f"{value:+.2f}".replace("-", minus)

    deviations = ["" if pd.isna(sd) else f" ± {sd:.2f}" for sd in frame["sd"]]
    differences = [
        "" if pd.isna(value) else f"{signed(value)} [{signed(low)}, {signed(high)}]"
        for value, low, high in zip(frame["difference"], frame["low"], frame["high"], strict=True)
    ]
    return pd.DataFrame(
        {
            "system": frame["system"],
            METRIC: [
                f"{value:.2f}{sd}" for value, sd in zip(frame[METRIC], deviations, strict=True)
            ],
            f"minus {against} [95 %]": differences,
            "seeds": frame["seeds"].astype(str),
            "parameters": [f"{value:,}" for value in frame["parameters"]],
        }
    )


def as_markdown(frame: pd.DataFrame, against: Setting) -> str:
    """Return the table of systems as Markdown."""
    shown = for_people(frame, against)
    return table(
        [*shown.columns], [[escape(cell) for cell in row] for row in shown.values.tolist()]
    )


def as_latex(frame: pd.DataFrame, against: Setting, about: str, label: str) -> str:
    r"""Return the table of systems for LaTeX with `\usepackage{booktabs}`.

    Args:
        frame: of `systems_frame`.
        against: what differences are to.
        about: what the caption says: corpus, direction, scale, test set.
        label: what `\ref` finds it by, behind `tab:`.
    """
    shown = for_people(frame, against, minus="\u2212")
    seeds, said = sorted(set(frame["seeds"])), "mean ± standard deviation over training seeds"
    if len(seeds) == 1:
        shown = shown.drop(columns="seeds")
        said = f"mean ± standard deviation over {seeds[0]} training seeds"
    if seeds == [1]:
        said = "one training seed"
    shown["parameters"] = [
        f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.1f} k"
        for value in frame["parameters"]
    ]
    escaped = shown.map(latex_escaped)
    escaped.columns = pd.Index([latex_escaped(name) for name in shown.columns])
    body = escaped.to_latex(
        index=False,
        escape=False,
        column_format="l" + "r" * (len(shown.columns) - 1),
        caption=latex_escaped(f"{METRIC} on {about}: {said}. In brackets: 95 % intervals."),
        label=f"tab:{label}",
        position="t",
    )
    body = body.replace("{table}", "{table*}").replace(
        "\\begin{tabular}", LAYOUT + "\\begin{tabular}"
    )
    return f"{PREAMBLE}\n{body}"


_ESCAPES = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "\u2212": "$-$",
}


def latex_escaped(text: str) -> str:
    """Return text as LaTeX prints it."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)
