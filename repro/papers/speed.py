"""Compare decoding speed as the papers do."""

import statistics
from collections.abc import Sequence

from repro.claims.arms import Arm
from repro.claims.evidence import Evidence, NotMeasured
from repro.markdown import table
from repro.statistics.intervals import Estimate, median

TOGETHER = "`repro run` measures them together"


def speed_ratio(evidence: Evidence, arm: Arm, base: Arm) -> Estimate:
    """Return how many times as fast as a base a setting decodes: the median over rounds.

    Both must have been measured in one session.

    Raises:
        NotMeasured: one of them was not measured, or not in the same session.
    """
    second, _ = evidence.one("speed", base), evidence.one("speed", arm)
    if not (together := evidence.find("speed", arm, sitting=second["sitting"])):
        raise NotMeasured(f"speed of {arm}", f"measured in another sitting than {base}", TOGETHER)
    ratios = [
        a / b
        for a, b in zip(
            together[0]["sentences_per_second"], second["sentences_per_second"], strict=True
        )
    ]
    return median(ratios, f"{len(ratios)} rounds")


def speed_table(evidence: Evidence, arms: Sequence[Arm]) -> str:
    """Return sentences per second of the measured settings, and the ratio to the first.

    Settings from another session than the first are left out and named.
    """
    arms = evidence.having("speed", arms)
    base, first, body = arms[0], evidence.one("speed", arms[0]), []
    together = {
        arm: found[0]
        for arm in arms
        if (found := evidence.find("speed", arm, sitting=first["sitting"]))
    }
    for arm, record in together.items():
        ratio = speed_ratio(evidence, arm, base)
        times = (
            f"{ratio.value:.2f}"
            if arm == base
            else f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        )
        body.append([str(arm), f"{statistics.median(record['sentences_per_second']):,.0f}", times])
    note = (
        f"{first['sentences']} sentences, batches of {first['batch_size']}, {first['steps']} steps "
        "each, greedy, "
    )
    machine = f" of {first['processor']}" if "processor" in first else ""
    note += (
        f"{first['threads']} threads{machine}; speeds are medians of "
        f"{len(first['sentences_per_second'])} rounds in one "
    )
    note += "sitting, ratios medians of the ratios within each round."
    if apart := [str(arm) for arm in arms if arm not in together]:
        note += (
            f" Measured in another sitting than {base}, and so not compared: {', '.join(apart)}; "
            f"{TOGETHER}."
        )
    return f"{table(['system', 'sentences/s', f'times {base}'], body)}\n\n{note}"
