"""Models beside each other, the table of claims, and what a page without a kernel shows."""

import base64
import io

import numpy as np
import pytest
from expected_errors import refuses
from PIL import Image

from repro.analysis.reading import changed_words
from repro.core.config import ModelConfig
from repro.core.decoding import SearchConfig, Translator
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer
from repro.errors import InputError
from repro.pruning.cutting import drop_heads
from repro.widgets import ClaimsTable, Comparison, Explorer, Pruning
from repro.widgets.heads import factors_at_test_time
from repro.widgets.stills import overview

SENTENCE = "The old man sees a dog."

OTHER = "A woman buys the small table."

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


def test_a_sentence_goes_through_all_models(translator, gated):
    comparison = Comparison({"base": translator, "gated": gated}, SENTENCE, SEARCH)
    comparison.sentence.value = OTHER
    base, other = (model.translate([OTHER], SEARCH)[0] for model in (translator, gated))
    assert [(row["label"], texts(row)) for row in comparison.words.rows] == [
        ("base", base),
        ("gated", other),
    ]
    assert [word["changed"] for word in comparison.words.rows[1]["words"]] == changed_words(
        base.split(), other.split()
    )


@pytest.mark.parametrize("make", [Explorer, lambda run, text: Comparison({"a": run}, text)])
def test_a_run_in_place_of_its_translator_is_one_line_with_the_fix(make):
    with refuses(InputError, "translator", "'base'", "repro.load_translator"):
        make("base", SENTENCE)


def test_no_models_is_a_mistake(translator):
    # one of them would not be shown
    with pytest.raises(InputError, match="models: have a label twice"):
        Pruning([("8 heads", translator), ("8 heads", translator)], SENTENCE)
    for make in (lambda: Pruning([], SENTENCE), lambda: Comparison({}, SENTENCE)):
        with pytest.raises(InputError, match="models: there is none"):
            make()
    nothing = dict.fromkeys(("encoder_self", "decoder_self", "cross"), "none")
    empty = Translator(
        Transformer(ModelConfig(**nothing), len(translator.subwords), PAD_ID), translator.subwords
    )
    with pytest.raises(InputError, match="model: has no attention head"):
        Explorer(empty, SENTENCE)


CLAIM = {
    "id": "a1",
    "paper": "Nobody 2020",
    "statement": "<b>bold</b> & more",
    "verdict": "partly",
    "evidence": "2 < 3",
}


def test_the_claims_table_is_text():
    table = ClaimsTable([CLAIM, {**CLAIM, "id": "a2", "unknown": 1}])
    failed = ClaimsTable(
        [
            {**CLAIM, "verdict": "who knows"},
            CLAIM,
            {**CLAIM, "id": "a2", "verdict": "not reproduced"},
        ]
    ).static()
    assert failed.index("not reproduced") < failed.index("partly") < failed.index("who knows")
    assert table.table.claims == [CLAIM, {**CLAIM, "id": "a2"}]
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in table.static() and "<b>" not in table.static()
    assert (
        ">2 &lt; 3<br>4 &amp; 5</td>"
        in ClaimsTable([{**CLAIM, "evidence": "2 < 3\n4 & 5"}]).static()
    )
    with pytest.raises(
        InputError,
        match=(
            "claim 1: has no text for verdict, evidence. Fix: give verdict, id, paper, statement, "
            "evidence"
        ),
    ):
        ClaimsTable([CLAIM, {"id": "", "paper": "", "statement": "", "evidence": None}])


@pytest.mark.parametrize("make", [Explorer, lambda model, *rest: Comparison({"a": model}, *rest)])
def test_markup_stays_text(translator, make):
    widget = make(translator, HOSTILE, SEARCH)
    if make is Explorer:
        assert "".join(widget.maps.source[:-1]).replace("▁", " ").strip() == HOSTILE
    page = widget.static()
    assert "onerror" not in page.replace("&lt;img src=x onerror=alert(1)&gt;", "").replace(
        "onerror=alert(1)&gt;", ""
    )
    assert "<img src=x" not in page and "<script" not in page


def test_the_static_page_has_translation_heads_and_picture(translator, gated):
    translation = translator.translate([SENTENCE], SEARCH)[0]
    pruning = Pruning([("base", translator), ("gated", gated)], SENTENCE, SEARCH)
    assert all(f"{word} <sub>" in pruning.static() for word in translation.split())
    assert pruning.static().count("■") == 24
    pruning.level.value = "gated"
    assert "□" in pruning.static()
    explorer = Explorer(translator, SENTENCE, SEARCH).static()
    # three sites, and the chosen head with its tokens
    assert explorer.count('src="data:image/png;base64,') == 4
    assert 'alt="Encoder self-attention, layer 1, head 1"' in explorer
    image = Image.open(io.BytesIO(base64.b64decode(explorer.split("base64,")[1].split('"')[0])))
    size = len(translator.subwords.encode([SENTENCE])[0]) + 1
    scale = 320 // (4 * (size + 1))
    assert image.size == (4 * (size + 1) * scale, 2 * (size + 1) * scale)


def pictures(page: str) -> list[Image.Image]:
    """Return the pictures within HTML."""
    return [
        Image.open(io.BytesIO(base64.b64decode(part.split('"')[0])))
        for part in page.split("base64,")[1:]
    ]


def test_a_widget_and_its_stand_in_are_two_outputs(translator, monkeypatch):
    """Of one output an exported page would choose the widget, and show nothing."""
    for widget in (
        Explorer(translator, SENTENCE, SEARCH),
        Comparison({"a": translator}, SENTENCE, SEARCH),
        ClaimsTable([CLAIM]),
    ):
        outputs = []
        monkeypatch.setattr(
            "repro.widgets.parts.display", lambda data, raw, outputs=outputs: outputs.append(data)
        )
        widget._ipython_display_()
        live, still = outputs
        assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
        assert (
            set(still) == {"text/html", "text/plain"}
            and live["text/plain"] == still["text/plain"] == ""
        )
        assert "text/html" not in live and widget.static() in still["text/html"]
        assert "not live: run the cell in JupyterLab" in still["text/html"]


def test_every_picture_of_the_static_page_has_a_text_and_a_width(translator):
    page = Explorer(translator, SENTENCE, SEARCH).static()
    assert 'alt="Cross attention: the weights of all heads, 4 in layer 1, 4 in layer 2"' in page
    *maps, detail = pictures(page)
    assert [f'width="{image.width}"' in page for image in maps] == [True] * 3
    assert f'width="{detail.width // 2}"' in page  # two pixels for one of the page


def test_still_pictures_of_a_long_sentence_are_bounded(translator):
    explorer = Explorer(translator, "dog " * 90, SEARCH)
    page = explorer.static()
    assert len(page) < 100_000 and all(max(image.size) < 2000 for image in pictures(page))
    assert "Drawn: the first 32 of 91 queries and the first 32 of 91 keys." in page
    assert "Drawn" not in Explorer(translator, SENTENCE, SEARCH).static()


def test_an_overview_keeps_the_largest_weights_and_brightens_dim_maps():
    peaked, dim = np.zeros((96, 10), np.float32), np.full((96, 10), 0.25, np.float32)
    peaked[95, 9] = 1
    (image,) = pictures(overview([[peaked, dim]], "site", width=22))
    shades = np.array(image)  # of fifteen, and one for no weight
    assert shades.shape == (49, 22) and (
        shades[:48, :10].max(),
        shades[47, 9],
        (shades[:48, :10] > 0).sum(),
    ) == (14, 14, 1)
    assert (shades[:48, 11:21] == 7).all()  # the root of a quarter is a half
    assert (shades[48] == 15).all() and (shades[:, 10] == 15).all()
