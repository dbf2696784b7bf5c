"""The gap to a baseline against updates, from made-up dev curves: numbers, bands, two scales."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from paper_records import BASE, HARD, score_record
from scipy import stats

from repro.claims.curves import dev_gaps
from repro.claims.evidence import Evidence, NotMeasured
from repro.claims.settings import Setting
from repro.papers.figures import gap_curve_figure
from repro.papers.gaps_over_training import gaps_over_training
from repro.plots.still import draw

UPDATES = (50, 100, 700)
OTHER = Setting("mma")


def with_curve(setting: Setting, seed: int, nats, updates=UPDATES) -> dict:
    record = score_record(setting, ["Es regnet."], seed)
    record["training"]["dev_curve"] = [list(point) for point in zip(updates, nats, strict=True)]
    return record


def records(scale: str = "smoke") -> list[dict]:
    found = [
        with_curve(BASE, 1, [3.0, 2.0, 1.00]),
        with_curve(BASE, 2, [3.2, 2.2, 1.02]),
        with_curve(HARD, 1, [2.0, 1.5, 0.97]),
        with_curve(HARD, 2, [2.0, 1.5, 0.99]),
        score_record(OTHER, ["Es regnet."]),
    ]
    for record in found:
        setting = Setting(record["system"])
        record["config"] = asdict(setting.config(scale, record["seed"]))
    return found


def test_a_gap_is_a_difference_of_means_over_seeds_with_a_band_over_seeds():
    gaps = dev_gaps(Evidence("smoke", records()), HARD, BASE)
    assert list(gaps) == list(UPDATES)
    assert [gap.value for gap in gaps.values()] == pytest.approx([-1.1, -0.6, -0.03])
    # the variances of base and hc-sa are pooled: 0.02 and 0 after 50 updates
    half = stats.t.isf(0.025, 2) * math.sqrt(0.01 * (1 / 2 + 1 / 2))
    assert gaps[50].high - gaps[50].value == pytest.approx(half)
    assert gaps[50].seeds == (2, 2) and gaps[50].counts_seeds and gaps[50].unit == "nats"


def test_only_updates_that_all_curves_have_are_compared():
    shorter = with_curve(HARD, 3, [2.0, 1.0], (100, 700))
    gaps = dev_gaps(Evidence("smoke", [*records(), shorter]), HARD, BASE)
    assert list(gaps) == [100, 700] and gaps[100].value == pytest.approx((1.5 + 1.5 + 2) / 3 - 2.1)


def test_a_gap_of_single_seeds_has_no_band():
    single = [with_curve(BASE, 1, [3.0, 2.0, 1.0]), with_curve(HARD, 1, [2.0, 1.5, 0.9])]
    (figure,) = gap_curve_figure(Evidence("smoke", single), (BASE, HARD)).values()
    band, line = figure.data
    assert len(band.x) == 0 and list(line.y) == pytest.approx([-1.0, -0.5, -0.1])


@pytest.mark.parametrize("scale", ["smoke", "multi30k"])
def test_the_figure_leaves_out_what_has_no_curve_and_shades_its_bands(scale):
    evidence = Evidence(scale, records(scale))
    ((title, figure),) = gap_curve_figure(evidence, (BASE, OTHER, HARD)).items()
    assert title == f"Gap to base against updates, {scale}: below zero is better"
    band, line = figure.data
    assert line.name == "hc-sa" and list(line.x) == list(UPDATES)
    assert (band.y[0], band.y[-1]) == pytest.approx(
        dev_gaps(evidence, HARD, BASE)[50].ends, abs=1e-4
    )
    (shaded,) = draw(figure).axes[0].collections
    corners = shaded.get_paths()[0].vertices
    assert shaded.get_alpha() == 0.15 and corners[:6] == pytest.approx(np.array([band.x, band.y]).T)
    with pytest.raises(NotMeasured, match=f"the dev curve of mma: in no record at {scale}"):
        gap_curve_figure(evidence, (BASE, OTHER))


def test_the_table_says_what_becomes_of_an_early_gain():
    curves = {
        "base": [[4.0, 3.00, 2.0, 1.00], [4.0, 3.02, 2.0, 1.02]],
        "hc-sa": [[3.0, 2.50, 1.8, 1.00], [3.0, 2.50, 1.8, 1.01]],  # closes
        "mma": [[3.0, 2.50, 1.6, 0.70], [3.0, 2.50, 1.6, 0.71]],  # lasts
        "hc-all": [[3.0, 3.00, 2.4, 1.90], [3.0, 3.00, 2.4, 1.93]],  # falls behind
        "sh-x": [[4.0, 3.00, 2.0, 1.02], [4.0, 3.01, 2.0, 1.00]],  # never had one
        "ran-e": [[3.0, 2.50, 1.6, 0.70]],
    }
    of = {name: Setting(name) for name in curves}
    updates = (100, 200, 300, 400)
    found = [
        with_curve(of[name], seed, nats, updates)
        for name, by_seed in curves.items()
        for seed, nats in enumerate(by_seed, 1)
    ]
    text = gaps_over_training(Evidence("smoke", found), tuple(of.values()))
    said = {
        line.split(" | ")[0][2:]: line.split(" | ")[-1][:-2] for line in text.splitlines()[6:11]
    }
    assert said == {
        "hc-sa": "closes",
        "mma": "lasts",
        "hc-all": "falls behind",
        "sh-x": "open",
        "ran-e": "lasts",
    }
    assert "Systems: 5. **lasts**" in text and "| -1.000," in text
    single = Evidence("smoke", [record for record in found if record["seed"] == 1])
    assert "**open**, anything else, as always with one seed: 5." in gaps_over_training(
        single, tuple(of.values())
    )


def test_without_curves_there_is_no_table():
    evidence = Evidence(
        "smoke", [score_record(setting, ["Es regnet."]) for setting in (BASE, OTHER)]
    )
    assert gaps_over_training(evidence, (BASE, OTHER)) == ""
