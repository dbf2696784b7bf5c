"""Compare decoding speed as the papers do."""

import statistics
from collections.abc import Sequence

from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.markdown import table
from repro.statistics.intervals import Estimate, median

TOGETHER = "`repro run` measures them together"


# The digest of a claim includes the names of these arguments: `arm` is older than `Setting`.
def speed_ratio(evidence: Evidence, arm: Setting, base: Setting) -> Estimate:
    """Return the speed-up that papers print: a setting's decoding over a base's, by rounds.

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


def speed_table(evidence: Evidence, settings: Sequence[Setting]) -> str:
    """Return a paper's table of sentences per second, with the ratio to the first setting.

    Settings from another session than the first are left out and named.
    """
    settings = evidence.having("speed", settings)
    base, first, body = settings[0], evidence.one("speed", settings[0]), []
    together = {
        setting: found[0]
        for setting in settings
        if (found := evidence.find("speed", setting, sitting=first["sitting"]))
    }
    for setting, record in together.items():
        ratio = speed_ratio(evidence, setting, base)
        times = (
            f"{ratio.value:.2f}"
            if setting == base
            else f"{ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
        )
        body.append(
            [str(setting), f"{statistics.median(record['sentences_per_second']):,.0f}", times]
        )
    note = (
        f"{first['sentences']} sentences, batches of {first['batch_size']}, {first['steps']} steps "
        "each, greedy, "
    )
    machine = f" of {first['processor']}" if "processor" in first else ""
    note += (
        f"{first['threads']} thread{'s' * (first['threads'] > 1)}{machine}; speeds are medians of "
        f"{len(first['sentences_per_second'])} rounds in one "
    )
    note += "sitting, ratios medians of the ratios within each round."
    if apart := [str(setting) for setting in settings if setting not in together]:
        note += (
            f" Measured in another sitting than {base}, and so not compared: {', '.join(apart)}; "
            f"{TOGETHER}."
        )
    return f"{table(['system', 'sentences/s', f'times {base}'], body)}\n\n{note}"
