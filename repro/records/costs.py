"""Write the costs of training as table cells, and what to know before comparing them."""

from collections.abc import Callable
from typing import Any

from repro.markdown import escape

TRAINING_COSTS = [
    "parameters",
    "updates",
    "training seconds",
    "joules",
    "target tokens/s in training",
    "threads",
]


def training_costs(records: list[dict[str, Any]]) -> list[list[str]]:
    """Return the cells below `TRAINING_COSTS` for each record."""
    by_run = {record["run"]: record for record in records}
    rows = []
    for record in records:
        training, cut = record["training"], record["config"]["train"].get("cut_from")
        spent = (
            _cost_in_words(record, by_run, number)
            for number in (_updates_of, _seconds_of, energy_of)
        )
        rate = "-" if cut else f"{training['target_tokens_per_second']:,}"
        rows.append(
            [f"{training['parameters']:,}", *spent, rate, str(record["provenance"]["threads"])]
        )
    return rows


def _cost_in_words(
    record: dict[str, Any],
    by_run: dict[str, dict[str, Any]],
    number: Callable[[dict[str, Any]], str],
) -> str:
    """Return a cost in a record of training, plus that of the run it starts from, as a cell.

    A dash for a model that was cut out of another.
    """
    train, own = record["config"]["train"], number(record["training"])
    # a model that was cut out has the numbers of the run that it comes from
    if train.get("cut_from") or own == "-":
        return "-"
    start = train.get("start_from")
    if start is None:
        return own
    return f"{own} + {_cost_in_words(by_run[start], by_run, number) if start in by_run else '?'}"


def _updates_of(training: dict[str, Any]) -> str:
    """Return the number of updates in the record of a training, as a table cell."""
    return f"{training['update']:,}"


def _seconds_of(training: dict[str, Any]) -> str:
    """Return the seconds in the record of a training, as a table cell."""
    return f"{training['seconds']:,.0f}"


def costs_note(records: list[dict[str, Any]]) -> str:
    """Say below a table of records where costs come from, and what a sum and a dash mean."""
    origins = [record["provenance"] for record in records]
    found = {
        "machines": {(origin["device"], origin["processor"]) for origin in origins},
        "numbers of threads": {origin["threads"] for origin in origins},
    }
    several = " and ".join(what for what, values in found.items() if len(values) > 1)
    lines = [
        f"The machine may have had other work meanwhile{several and f', and {several} differ'}: "
        "do not compare speeds by these seconds and rates. For that there are the records below "
        "`speed/` (`repro run you2020.table3`) and `benchmarks/RESULTS.md`."
    ]
    if any(record["config"]["train"].get("start_from") for record in records):
        lines.append(
            "a + b: this run took a, the run from which it goes on (`train.start_from`) took "
            "b; ? where no record of that run is here. "
            "A model that was cut out of another (`train.cut_from`) was not trained further: "
            "a dash."
        )
    return "\n\n".join([*lines, energy_note(records)])


def energy_of(training: dict[str, Any]) -> str:
    """Return the joules in a record of training, or a dash where they are not known."""
    joules = training.get("joules")  # older records have none
    return f"{sum(joules.values()):,.0f}" if joules else "-"


def energy_note(records: list[dict[str, Any]]) -> str:
    """Say which counters the joules of records come from, and what is in them."""
    counters = sorted(
        {name for record in records for name in record["training"].get("joules") or ()}
    )
    if not counters:
        return "Joules: none measured; this needs an energy counter that the program may read."
    what = (
        "the whole device while it trained, other work and idling included; a dash where not all "
        "of it was measured"
    )
    return f"Joules: {escape(', '.join(counters))}; {what}."
