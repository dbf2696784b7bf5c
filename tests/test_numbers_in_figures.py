"""Figures of experiments hold the numbers of the records that they are drawn from, each where its
axis or its title says."""

from dataclasses import asdict

import numpy as np
import pytest
from paper_records import BASE, HARD, damaged, heads_about, masked_records, score_record
from plotly.graph_objects import Figure
from test_suites import TOKEN, contrastive_record

from repro.claims.evidence import Evidence
from repro.claims.settings import Setting
from repro.core.config import SITES
from repro.papers.figures import (
    accuracy_figure,
    distance_figure,
    divergence_figures,
    entropy_figure,
    gap_figure,
    head_figures,
    histogram_figure,
    length_cost_figure,
    map_figures,
    masked_length_figure,
    rare_words_figure,
    relevance_figures,
)
from repro.plots.scores import Measured
from repro.records.sentences import REFERENCE_WORDS

STATISTICS = (
    "confidence",
    "offset",
    "distance",
    "rarest",
    "two_rarest",
    "entropy",
    "relevance",
    "relevance_alphabeta",
    "gradient",
)
BINS = (REFERENCE_WORDS, [0, 8, 1000])
PERCENT = {"encoder_self": 10, "decoder_self": 20, "cross": 30}


def every_statistic(first: int) -> dict:
    """Return what is measured of two layers of three heads: all numbers differ."""
    numbers = {
        name: (first + 6 * place + np.arange(6).reshape(2, 3)) / 1000
        for place, name in enumerate(STATISTICS)
    }
    numbers |= {
        "divergence": np.array([[0, first], [first, 0]]) / 1000,
        "histogram": first + np.arange(24).reshape(2, 3, 4),
    }
    return {name: values.tolist() for name, values in numbers.items()} | {
        "roles": [[["unknown"]] * 3] * 2
    }


HEADS = {
    setting: heads_about(
        setting, **{site: every_statistic(start + 100 * i) for i, site in enumerate(SITES)}
    )
    for setting, start in ((BASE, 100), (HARD, 500))
}
EVIDENCE = Evidence("smoke", HEADS.values())


def measured(name: str, site: str = "encoder_self", setting: Setting = BASE) -> np.ndarray:
    return np.array(HEADS[setting]["sites"][site][name])


def ends(figure: Figure, name: str) -> Measured:
    """Return values and ends of the intervals of a curve, which reach to both sides of the
    values."""
    (trace,) = [trace for trace in figure.data if trace.name == name]
    assert (trace.error_y.array >= 0).all() and (trace.error_y.arrayminus >= 0).all()
    return Measured(trace.y, trace.y - trace.error_y.arrayminus, trace.y + trace.error_y.array)


def test_bars_are_the_distances_of_each_site():
    of_all, of_two = (
        distance_figure(EVIDENCE, BASE).popitem()[1],
        head_figures(HEADS[BASE])["Distance"],
    )
    for figure, sites in ((of_all, SITES), (of_two, ("encoder_self", "decoder_self"))):
        drawn = {
            note.text: bars.y
            for note, bars in zip(figure.layout.annotations, figure.data, strict=True)
        }
        assert {site: y.tolist() for site, y in drawn.items()} == {
            site: measured("distance", site).ravel().tolist() for site in sites
        }


def test_rare_words_are_the_two_rarest():
    ((title, figure),) = rare_words_figure(EVIDENCE, BASE).items()
    assert "two rarest" in title and figure.data[0].z == pytest.approx(measured("two_rarest"))


def test_confidence_goes_to_the_right_and_relevance_upwards():
    figures = relevance_figures(EVIDENCE, BASE)
    (cloud,) = figures["Confidence against relevance"].data
    assert (cloud.x.tolist(), cloud.y.tolist()) == tuple(
        measured(name).ravel().tolist() for name in ("confidence", "relevance")
    )
    for title in ("Confidence", "Relevance"):
        assert figures[title].data[0].z == pytest.approx(measured(title.lower()))


def test_histograms_are_of_the_layers_that_the_paper_draws():
    site = {"histogram": np.ones((6, 2, 4)).tolist()}
    figures = histogram_figure(
        Evidence("smoke", [heads_about(BASE, encoder_self=site, decoder_self=site)]), (BASE,)
    )
    for figure in figures.values():
        # their 1, 3 and 6
        assert [note.text for note in figure.layout.annotations][:3] == [
            "layer 1",
            "layer 3",
            "layer 6",
        ]


@pytest.mark.parametrize("site", ["encoder_self", "decoder_self"])
def test_entropies_divergences_and_histograms_are_those_of_the_site_and_the_model(site):
    entropies, divergences, histograms = (
        make(EVIDENCE, (BASE, HARD))[f"{title}, {site}"]
        for make, title in (
            (entropy_figure, "Entropy"),
            (divergence_figures, "Divergence of layers"),
            (histogram_figure, "Histogram of the weights"),
        )
    )
    for place, setting in enumerate((BASE, HARD)):
        mean, dots = entropies.data[2 * place : 2 * place + 2]
        assert dots.y.tolist() == measured("entropy", site, setting).ravel().tolist()
        assert mean.y == pytest.approx(measured("entropy", site, setting).mean(axis=1))
        assert divergences.data[place].z == pytest.approx(measured("divergence", site, setting))
        of_layers = [steps.y[:4] for steps in histograms.data if steps.name == str(setting)]
        counts = measured("histogram", site, setting).sum(axis=1)
        assert np.array(of_layers) == pytest.approx(counts / counts.sum(axis=1, keepdims=True))
        assert {entropies.data[2 * place].name, divergences.data[place].name} == {str(setting)}


def test_maps_have_a_row_a_query_and_a_column_a_key():
    """In cross-attention the translation asks, and the source is looked at."""
    source, target = ("the", "dog", "sleeps", "."), ("der", "Hund", "schläft")
    sides = {
        "encoder_self": (source, source),
        "decoder_self": (target, target),
        "cross": (target, source),
    }
    weights = {
        site: [np.full((1, len(queries), len(keys)), PERCENT[site] / 100).tolist()]
        for site, (queries, keys) in sides.items()
    }
    record = {
        "kind": "maps",
        "config": asdict(BASE.config("smoke")),
        "config_digest": BASE.config("smoke").digest(),
        "source": source,
        "target": target,
        "weights": weights,
    }
    for site, (queries, keys) in sides.items():
        (figure,) = map_figures(Evidence("smoke", [record]), BASE, site).values()
        assert (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext) == (queries, keys)
        assert figure.data[0].z.tolist() == [[PERCENT[site]] * len(keys)] * len(queries)


def test_intervals_of_gaps_end_where_those_of_the_evidence_do(refs):
    evidence = Evidence(
        "smoke", [score_record(BASE, damaged(refs, 4)), score_record(HARD, damaged(refs, 8))]
    )
    (figure,) = gap_figure(evidence, (BASE, HARD), *BINS, "reference words").values()
    gaps = [gap for _, _, gap in evidence.gap_by([(1, HARD), (-1, BASE)], *BINS)]
    expected = Measured(*([getattr(gap, end) for gap in gaps] for end in ("value", "low", "high")))
    assert np.array(ends(figure, "hc-sa")) == pytest.approx(np.array(expected), abs=1e-4)


def test_what_a_mask_costs_is_drawn_downwards_with_its_interval(refs):
    """The highest loss is the lowest change."""
    evidence = Evidence("smoke", masked_records(TOKEN, refs, range(0, len(refs), 5)))
    (figure,) = masked_length_figure(evidence, TOKEN, "8", *BINS, "reference words").values()
    losses = [evidence.masked(TOKEN, "8", inside) for _, _, inside in evidence.bins(TOKEN, *BINS)]
    expected = Measured(
        *([-getattr(loss, end) for loss in losses] for end in ("value", "high", "low"))
    )
    assert np.array(ends(figure, str(TOKEN))) == pytest.approx(np.array(expected), abs=1e-4)
    assert max(expected.values) < 0


def test_accuracies_are_drawn_in_percent_with_their_intervals():
    """Ninety of a hundred pairs, and sixty with a head masked: the ends of Wilson's intervals,
    which are not symmetric."""
    evidence = Evidence(
        "smoke", [contrastive_record(TOKEN, "smoke", "agreement", 90, 60, distance=2)]
    )
    (figure,) = accuracy_figure(evidence, "agreement", (TOKEN,), masked="8").values()
    assert [end[0] for end in ends(figure, str(TOKEN))] == pytest.approx(
        [90, 82.56, 94.48], abs=0.01
    )
    assert [end[0] for end in ends(figure, f"{TOKEN}, head 8 masked")] == pytest.approx(
        [60, 50.20, 69.06], abs=0.01
    )
    assert figure.layout.xaxis.ticktext == ("2",)


def test_costs_by_length_are_found_wherever_the_report_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (figure,) = length_cost_figure(Evidence("smoke", [])).values()
    assert {line.name for line in figure.data} >= {"dot-product", "recurrent"}
