"""One figure of each kind, with markup wherever text goes in."""

import numpy as np
import pytest

from repro import plots
from repro.plots import (
    Difference,
    Measured,
    attention_grid,
    attention_maps,
    curves,
    export,
    head_values,
)

MARKUP = "<img src=x onerror=alert(1)>"

NAN = float("nan")

VALUES = np.array([[0.1, 0.2, 0.3], [NAN, NAN, NAN]])  # the second layer lacks the sublayer

ROLES = [[("positional",), ("rare", "syntactic"), ("unknown",)], [(), (), ()]]

INTERVALS = Measured([90, 80], [85, 70], [92, 95])
NO_SENTENCE = Measured([90, NAN], [85, NAN], [92, NAN])  # in the second bin

READING = plots.Reading(0.5, -0.5, 1.5, "undecided")

COUNTS = np.arange(24).reshape(2, 3, 4)

FIGURES = {  # one of each kind, with markup wherever text goes in
    "attention_maps": lambda: attention_maps([np.eye(2)], [MARKUP], [MARKUP, "b"], ["a", MARKUP]),
    "attention_grid": lambda: attention_grid(
        [np.eye(2)[None], None], [MARKUP, "b"], ["a", MARKUP], title=MARKUP
    ),
    "heatmaps": lambda: plots.heatmaps(
        [plots.Matrix(MARKUP, VALUES, [MARKUP, "b"], ["a", "b", MARKUP])],
        MARKUP,
        MARKUP,
        MARKUP,
        (0, 1),
    ),
    "pattern_gallery": lambda: plots.pattern_gallery({MARKUP: np.eye(3), "next": np.eye(3, k=1)}),
    "bell_curves": lambda: plots.bell_curves([MARKUP, "b", "c"], {MARKUP: 0, "after": 1.5}),
    "transformer": lambda: plots.transformer(2),
    "attention_by_sublayer": lambda: plots.attention_by_sublayer(
        {MARKUP: [(4, "learned"), None]}, [MARKUP, "cross"]
    ),
    "score_sources": lambda: plots.score_sources({MARKUP: "words", "b": "nothing", "c": "scores"}),
    "head_values": lambda: head_values({MARKUP: VALUES, "cross": VALUES}, MARKUP),
    "divergence_matrix": lambda: plots.divergence_matrix({MARKUP: np.array([[0, 0.2], [0.2, 0]])}),
    "offset_histograms": lambda: plots.offset_histograms(np.full((2, 2, 3), 1 / 3)),
    "head_bars": lambda: plots.head_bars({MARKUP: VALUES}, MARKUP),
    "entropy_by_layer": lambda: plots.entropy_by_layer({MARKUP: VALUES, "base": VALUES}),
    "weight_histograms": lambda: plots.weight_histograms({MARKUP: COUNTS, "base": COUNTS}, [0, 1]),
    "confidence_against_relevance": lambda: plots.confidence_against_relevance(
        VALUES, VALUES, ROLES
    ),
    "roles_by_layer": lambda: plots.roles_by_layer(ROLES),
    "role_counts": lambda: plots.role_counts({MARKUP: {"positional": 2, "rare": 1}}, MARKUP),
    "gate_paths": lambda: plots.gate_paths(
        [np.array([[2.0, 1.5], [2.1, -0.5]]), np.array([[2.0], [2.6]])], 2.398
    ),
    "pruning_curve": lambda: plots.pruning_curve(
        {MARKUP: ([4, 2], [30.0, 29.0])}, {"WMT": ([48, 4], [29.6, 29.1])}
    ),
    "heads_kept_by_site": lambda: plots.heads_kept_by_site(
        {MARKUP: {MARKUP: [4, 2], "cross": [4, 3]}}
    ),
    "heads_kept_by_layer": lambda: plots.heads_kept_by_layer(
        {MARKUP: np.array([[4, 2], [4, 3]])}, [MARKUP, "5"]
    ),
    "differences_by_length": lambda: plots.differences_by_length(
        [MARKUP, "9"], {MARKUP: NO_SENTENCE}, [1200, 0], MARKUP, MARKUP
    ),
    "changes": lambda: plots.changes(
        {MARKUP: {MARKUP: (-1, -2, -0.5), "b": (0.5, -0.5, 1), "c": (0, -1, 1)}}, MARKUP, MARKUP
    ),
    "accuracy_by_distance": lambda: plots.accuracy_by_distance(["1", MARKUP], {MARKUP: INTERVALS}),
    "training_curves": lambda: plots.training_curves(
        {MARKUP: [{"update": 1, "nll": 3.0}, {"update": 2, "nll": 2.0, "dev_nll": 2.5}]}
    ),
    "gaps_over_updates": lambda: plots.gaps_over_updates(
        {MARKUP: ([1, 2], INTERVALS), "b": ([1, 2], NO_SENTENCE)}, MARKUP
    ),
    "curves": lambda: curves({MARKUP: ([1, 2], [3.0, 2.5])}, MARKUP, MARKUP),
    "speed_by_length": lambda: plots.speed_by_length({MARKUP: ([16, 32], [900.0, 500.0])}, MARKUP),
    "forest": lambda: plots.forest(
        MARKUP,
        {
            MARKUP: [plots.Effect(MARKUP, MARKUP, [plots.EffectRow(MARKUP, READING, MARKUP)], 0.0)],
            "own": [plots.Effect("a", "b", [plots.EffectRow("c", READING, "d")], None, 1.0)],
        },
        own_scales="own",
    ),
    "published_beside_reproduced": lambda: plots.published_beside_reproduced(
        [Difference(MARKUP, NAN, -0.2, -0.5, 0.1)]
    ),
}


def shown(figure) -> list[tuple[dict, dict]]:
    """Return what a notebook gets of a figure: data by MIME type and metadata, an output each."""
    outputs = []
    with pytest.MonkeyPatch.context() as patched:
        keep = lambda data, metadata=None, raw=False: outputs.append((data, metadata or {}))  # noqa: E731
        patched.setattr(export, "display", keep)
        export.Still().render(figure.to_dict())
    return outputs


every_figure = pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
