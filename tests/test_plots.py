"""Figures show the numbers they were given, and text as it was typed."""

import numpy as np
import pytest

from repro.plots import attention_maps, curves, escape


@pytest.mark.parametrize(
    "typed, shown",
    [
        ("<s>", "&lt;s&gt;"),
        ("a & b", "a &amp; b"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x00", "⟨U+0000⟩"),
        ("Häuser ▁日本", "Häuser ▁日本"),
    ],
)
def test_text_is_never_markup(typed, shown):
    assert escape(typed) == shown


def test_maps_hold_the_weights_and_the_tokens():
    weights = np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
    figure = attention_maps([weights, weights[:, ::-1]], ["<b>one", "two"], ["q", "<s>"], ["a", "a", "b"])
    assert [trace.z.tolist() for trace in figure.data] == [weights.tolist(), weights[:, ::-1].tolist()]
    assert figure.layout.xaxis.ticktext == ("a", "a", "b") and figure.layout.yaxis.ticktext == ("q", "&lt;s&gt;")
    assert figure.layout.annotations[0].text == "&lt;b&gt;one"
    assert all((trace.zmin, trace.zmax) == (0, 1) for trace in figure.data)


def test_curves_hold_the_values():
    figure = curves({"training": ([1, 2], [3.0, 2.5]), "dev": ([2], [2.7])}, "updates", "loss")
    assert [list(trace.y) for trace in figure.data] == [[3.0, 2.5], [2.7]]
    assert [trace.name for trace in figure.data] == ["training", "dev"]
