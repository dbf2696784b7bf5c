"""The slider over pruned models, and what a page without a kernel shows of it."""

import pytest
from expected_errors import refuses

from repro.core.decoding import SearchConfig, Translator
from repro.errors import InputError
from repro.pruning.cutting import drop_heads
from repro.widgets import Pruning
from repro.widgets.heads import factors_at_test_time

SENTENCE = "The old man sees a dog."

HOSTILE = "The <img src=x onerror=alert(1)> sees a dog."

SEARCH = SearchConfig(beam=2)


def texts(row: dict) -> str:
    return " ".join(word["text"] for word in row["words"])


def test_the_pruning_slider_shows_what_is_left(translator, gated):
    pruning = Pruning([("all heads", translator), ("gated", gated)], SENTENCE, SEARCH)
    assert [texts(row) for row in pruning.words.rows] == translator.translate([SENTENCE], SEARCH)
    assert pruning.heads.factors == [[[1.0] * 4] * 2] * 3
    pruning.level.value = "gated"
    whole, left = (model.translate([SENTENCE], SEARCH)[0] for model in (translator, gated))
    assert [texts(row) for row in pruning.words.rows] == [whole, left]
    gates = [
        [attention.gate().tolist() for attention in layers]
        for layers in gated.model.attentions().values()
    ]
    assert pruning.heads.factors == gates == factors_at_test_time(gated.model)
    kept = int(sum(sum(map(sum, layers)) for layers in gates))
    assert pruning.words.message == f"{kept} of 24 heads are left" and 0 < kept < 24
    cut = Translator(drop_heads(gated.model), gated.subwords)
    only_cut = Pruning([("all", translator), ("cut", cut)], SENTENCE, SEARCH)
    only_cut.level.value = "cut"
    assert only_cut.words.message == f"{kept} of 24 heads are left"  # of those that there were


def test_a_run_in_place_of_its_translator_is_one_line_with_the_fix():
    with refuses(InputError, "translator", "'base'", "repro.load_translator"):
        Pruning([("a", "base")], SENTENCE)


def test_no_models_is_a_mistake(translator):
    # one of them would not be shown
    with pytest.raises(InputError, match="models: have a label twice"):
        Pruning([("8 heads", translator), ("8 heads", translator)], SENTENCE)
    with pytest.raises(InputError, match="models: there is none"):
        Pruning([], SENTENCE)


def test_markup_stays_text(translator):
    page = Pruning([("<b>all</b>", translator)], HOSTILE, SEARCH).static()
    assert "<b>all" not in page and "&lt;b&gt;all" in page
    assert "<img" not in page and "<script" not in page


def test_the_static_page_has_translation_and_heads(translator, gated):
    translation = translator.translate([SENTENCE], SEARCH)[0]
    pruning = Pruning([("base", translator), ("gated", gated)], SENTENCE, SEARCH)
    assert all(f"{word} <sub>" in pruning.static() for word in translation.split())
    base, gated_heads = pruning.static().split("gated</th>")
    assert base.count("■") == 24 and "□" not in base
    assert "□" in gated_heads and "<b><u>" not in base


def test_a_widget_and_its_stand_in_are_two_outputs(translator, monkeypatch):
    """Of one output an exported page would choose the widget, and show nothing."""
    widget, outputs = Pruning([("a", translator)], SENTENCE, SEARCH), []
    monkeypatch.setattr("repro.widgets.parts.display", lambda data, raw: outputs.append(data))
    widget._ipython_display_()
    live, still = outputs
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert set(still) == {"text/html", "text/plain"}
    assert live["text/plain"] == still["text/plain"] == ""
    assert "text/html" not in live and widget.static() in still["text/html"]
    assert "not live: run the cell in JupyterLab" in still["text/html"]
