"""The widgets in a real JupyterLab: pictures and translations follow the hand, numbers are the model's, text stays text, nothing leaves."""

import nbclient
import numpy as np
import pytest
from conftest import notebook_of
from nbformat.sign import NotebookNotary

from repro.widgets.parts import PALETTE

pytestmark = pytest.mark.browser

SENTENCE = "The old man sees a dog."
HOSTILE = "The <img src=x onerror=alert(1)> sees a dog."
LONG = "The old man sees a dog and the small woman buys the new table that the child with the hat likes and the young men sleep."
LOAD = f"""
import numpy as np
import torch
torch.set_num_threads(1)
from repro import gallery
from repro.analysis.reading import read, weights_of
from repro.decoding import SearchConfig, Translator
from repro.widgets import Ablation, ClaimsTable, Comparison, Explorer, Playground, Pruning
SENTENCE, LONG, SEARCH = {SENTENCE!r}, {LONG!r}, SearchConfig(beam=2)
base, gated = (Translator.from_run(gallery.load(name)) for name in ("base", "gated"))
"""
LARGE = """
import torch
torch.set_num_threads(1)
import repro.widgets.explorer as module
from repro import gallery
from repro.analysis.reading import Reading
from repro.config import ModelConfig
from repro.decoding import Translator
from repro.transformer import Transformer
subwords = Translator.from_run(gallery.load("base")).subwords
model = Transformer(ModelConfig(encoder_layers=6, decoder_layers=6, num_heads=8), len(subwords), 0)
ids = torch.randint(4, len(subwords), (1, 40))
tokens = [f"token{i}" for i in range(40)]
module.read = lambda *_: Reading(tokens, tokens, [], ids, ids)
explorer = module.Explorer(Translator(model, subwords), "any")
"""


def cell(lab, number: int):
    """Return what the code cell of that number shows, the first one 0."""
    return lab.page.locator(".jp-CodeCell").nth(number)


def text_of(place, selector: str) -> str:
    return " ".join(place.locator(selector).all_text_contents())


def type_sentence(place, sentence: str) -> None:
    field = place.locator("input[type='text']").first
    field.fill(sentence)
    field.press("Enter")


def until(lab, condition, what: str, seconds: float = 60) -> None:
    """Wait until the page is as it should be."""
    for _ in range(int(seconds * 10)):
        if condition():
            return
        lab.page.wait_for_timeout(100)
    raise AssertionError(f"waited {seconds} s for {what}")


def check_quiet(lab) -> None:
    """Nothing left the machine, nothing was wrong, no script of a sentence ran."""
    assert lab.outside == [] and lab.errors == [] and lab.dialogs == []


def test_a_drawn_number_and_its_colour_are_the_models(open_notebook, server):
    save = "reading = read(base, LONG, SEARCH)\nnp.save('cross.npy', weights_of(base, reading).cross[1][0].numpy())"
    lab = open_notebook("explorer", [LOAD, "explorer = Explorer(base, SENTENCE, SEARCH)\nexplorer", save])
    lab.run_all()
    explorer = cell(lab, 1)
    type_sentence(explorer, LONG)
    explorer.locator("[data-exact='2']").wait_for(timeout=60_000)
    weights = np.load(server.folder / "cross.npy")

    grid = explorer.get_by_label("Cross attention: heads")
    grid.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):  # the first one comes here from another site
        grid.press(key)
    until(lab, lambda: "Cross attention, layer 1, head 2" in text_of(explorer, ".rp-title"), "the chosen head")
    detail = explorer.get_by_label("Cross attention, layer 1, head 2")
    detail.focus()
    for key in ["ArrowDown"] * 6 + ["ArrowRight"] * 4:  # the first one puts the cursor on 0, 0
        detail.press(key)
    assert np.float32(text_of(explorer, ".rp-weight")) == weights[2, 5, 4]
    assert float(text_of(explorer, ".rp-sum")) == pytest.approx(1, abs=1e-6)

    box, seen = detail.bounding_box(), set()
    for share in np.linspace(0.3, 0.85, 12):
        page_x, page_y = (int(box[start] + share * box[size]) for start, size in (("x", "width"), ("y", "height")))
        lab.page.mouse.move(page_x, page_y)
        query, key = (int(value.rpartition("(")[2][:-1]) for value in explorer.locator(".rp-line .rp-value").all_text_contents()[:2])
        assert np.float32(text_of(explorer, ".rp-weight")) == weights[2, query, key]
        place = [page_x - box["x"], page_y - box["y"]]
        point = detail.evaluate("(canvas, [x, y]) => [...canvas.getContext('2d').getImageData(x, y, 1, 1).data]", place)
        assert np.abs(np.array(point[:3]) - PALETTE[round(255 * float(weights[2, query, key]))]).max() <= 1
        seen.add((query, key))
    assert len(seen) > 5
    lab.shoot("explorer", ".jp-CodeCell:nth-of-type(2) .jp-OutputArea")
    check_quiet(lab)


def test_a_token_selected_once_is_followed_by_all_views(open_notebook):
    lab = open_notebook(
        "token", [LOAD, "explorer = Explorer(base, SENTENCE, SEARCH)\nexplorer", "print('token is', dict(explorer.maps.token))"]
    )
    lab.run_all()
    explorer = cell(lab, 1)
    explorer.locator("[data-exact='1']").wait_for(timeout=60_000)
    pictures = "nodes => nodes.map(node => node.toDataURL())"
    before = explorer.locator("canvas.rp-canvas").evaluate_all(pictures)
    explorer.get_by_role("toolbar", name="source tokens").get_by_role("button").nth(2).press("Enter")
    until(lab, lambda: explorer.locator("[aria-pressed='true']").count() == 1, "the pressed token")
    after = explorer.locator("canvas.rp-canvas").evaluate_all(pictures)
    encoder, decoder, cross, detail = (a != b for a, b in zip(before, after, strict=True))
    assert (encoder, decoder, cross, detail) == (True, False, True, True)
    lab.shoot("explorer-token", ".jp-CodeCell:nth-of-type(2) .jp-OutputArea")
    lab.run_all_below(2)
    until(lab, lambda: "token is {'side': 'source', 'index': 2}" in cell(lab, 2).inner_text(), "Python to know the token")
    check_quiet(lab)


def test_the_playground_follows_the_hand(open_notebook):
    lab = open_notebook("playground", [LOAD, "play = Playground(base, SENTENCE, SEARCH)\nplay"])
    lab.run_all()
    play = cell(lab, 1)
    play.get_by_label("Decoder self-attention, layer 0, head 2").click()
    until(lab, lambda: "Decoder self-attention, layer 0, head 2" in text_of(play, ".rp-title"), "the chosen head")
    play.locator("select").select_option("gaussian")
    until(lab, lambda: play.locator("mark.rp-changed").count() > 0, "words that are lost when this head looks at the token before")
    drawn, slider, words = play.locator("[data-drawn]"), play.locator(".noUi-handle").first, text_of(play, ".rp-text")
    for _ in range(16):  # a quarter of a token each
        number = drawn.get_attribute("data-drawn")
        slider.press("ArrowRight")
        until(lab, lambda number=number: drawn.get_attribute("data-drawn") != number, "another picture")
        if text_of(play, ".rp-text") != words:
            break
    until(lab, lambda: text_of(play, ".rp-text") != words, "another translation", 5)

    handle, center = play.locator("[data-handle='center']"), play.locator("[data-handle='center']").get_attribute("aria-valuenow")
    box = handle.bounding_box()
    lab.page.mouse.move(box["x"] + 9, box["y"] + 9)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] - 60, box["y"] + 9, steps=4)
    lab.page.mouse.up()
    until(lab, lambda: handle.get_attribute("aria-valuenow") != center, "the dragged centre")
    center = float(handle.get_attribute("aria-valuenow"))
    until(lab, lambda: play.locator(".widget-readout").first.inner_text().replace("\u2212", "-") == f"{center:.2f}", "the slider")
    width = play.locator("[data-handle='std']")
    width.press("ArrowRight")
    until(lab, lambda: width.get_attribute("aria-valuenow") == "1.05", "the width")
    lab.shoot("playground", ".jp-CodeCell:nth-of-type(2) .jp-OutputArea")

    number = drawn.get_attribute("data-drawn")
    matrix = play.get_by_label("weights of the head")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Space"):
        matrix.press(key)
    until(lab, lambda: drawn.get_attribute("data-drawn") != number, "a blocked pair")
    assert "blocked" in text_of(play, ".rp-hint")
    lab.shoot("playground-painted", ".jp-CodeCell:nth-of-type(2) .jp-OutputArea")
    check_quiet(lab)


def test_a_head_switched_off_changes_the_translation(open_notebook):
    lab = open_notebook("ablation", [LOAD, "ablation = Ablation(base, SENTENCE, SEARCH)\nablation"])
    lab.run_all()
    ablation = cell(lab, 1)
    whole = text_of(ablation, ".rp-text")
    for head in range(8):
        button = ablation.get_by_label(f"Cross attention, layer {head // 4}, head {head % 4}")
        button.press("Space")
        until(lab, lambda button=button: button.get_attribute("aria-label").endswith(", off"), "the head to go off")
        number = text_of(ablation, ".rp-number")
        lab.page.wait_for_timeout(300)
        if text_of(ablation, ".rp-text") != whole and number:
            break
    until(lab, lambda: ablation.locator("mark.rp-changed").count() > 0, "a changed word")
    assert "translated in" in text_of(ablation, ".rp-notice")
    slider = ablation.locator(".noUi-handle").first
    for _ in range(3):
        slider.press("ArrowRight")
    until(lab, lambda: "0.15" in text_of(ablation, ".rp-head"), "the factor in the grid")
    lab.shoot("ablation", ".jp-CodeCell:nth-of-type(2) .jp-OutputArea")
    check_quiet(lab)


def test_markup_in_a_sentence_is_text(open_notebook):
    cells = ["explorer = Explorer(base, SENTENCE, SEARCH)\nexplorer", "play = Playground(base, SENTENCE, SEARCH)\nplay"]
    cells += [
        "ablation = Ablation(base, SENTENCE, SEARCH)\nablation",
        "both = Comparison({'<b>base</b>': base, 'gated': gated}, SENTENCE)\nboth",
    ]
    lab = open_notebook("hostile", [LOAD, *cells])
    lab.run_all()
    for number in range(1, 5):
        before = text_of(cell(lab, number), ".rp-token, .rp-number")
        type_sentence(cell(lab, number), HOSTILE)
        until(lab, lambda n=number, b=before: text_of(cell(lab, n), ".rp-token, .rp-number") != b, "the new sentence")
    typed = "".join(cell(lab, 1).get_by_role("toolbar", name="source tokens").locator("button").all_text_contents())
    assert typed.replace("▁", " ").strip() == f"{HOSTILE}(end)"
    assert "<b>base</b>" in text_of(cell(lab, 4), ".rp-side")
    lab.page.wait_for_timeout(500)
    assert lab.page.locator(".rp img, .rp script, .rp b").count() == 0
    lab.shoot("hostile")
    check_quiet(lab)


def test_pruning_comparison_and_claims(open_notebook):
    claims = "[dict(id=str(i), paper='P', statement='<i>s</i>', verdict=v, evidence='e') for i, v in enumerate(VERDICTS)]"
    claims = f"VERDICTS = ['reproduced', 'partly', 'not reproduced', 'reproduced']\nClaimsTable({claims})"
    pruning = "Pruning([('all heads', base), ('gated', gated)], SENTENCE, SEARCH)"
    lab = open_notebook("others", [LOAD, pruning, "Comparison({'base': base, 'gated': gated}, LONG, SEARCH)", claims])
    lab.run_all()
    assert cell(lab, 1).locator(".rp-head").count() == 24 and cell(lab, 1).locator(".rp-off").count() == 0
    cell(lab, 1).locator(".noUi-handle").press("ArrowRight")
    until(lab, lambda: cell(lab, 1).locator(".rp-off").count() > 0, "pruned heads")
    until(lab, lambda: "of 24 heads are left" in text_of(cell(lab, 1), ".rp-notice"), "their number")
    assert cell(lab, 2).locator("mark.rp-changed").count() > 0
    table = cell(lab, 3)
    assert table.locator("tbody .rp-verdict").all_text_contents() == ["not reproduced", "partly", "reproduced", "reproduced"]
    table.get_by_role("button", name="id", exact=True).press("Enter")
    assert table.locator("tbody td:nth-child(2)").all_text_contents() == ["0", "1", "2", "3"]
    table.get_by_role("button", name="reproduced 2", exact=True).press("Enter")
    until(lab, lambda: table.locator("tbody tr").count() == 2, "the filter")
    assert table.locator("i").count() == 0 and "<i>s</i>" in table.inner_text()
    for number, name in enumerate(("pruning", "comparison", "claims"), start=1):
        lab.shoot(name, f".jp-CodeCell:nth-of-type({number + 1}) .jp-OutputArea")
    check_quiet(lab)


def test_a_large_model_is_painted_within_a_second_and_saved_small(open_notebook, server):
    lab = open_notebook("large", [LARGE, "explorer"])
    lab.run_all()
    times = []
    for version in range(1, 4):  # the best of three: a busy machine says nothing
        if version > 1:
            type_sentence(cell(lab, 1), f"again {version}")
        cell(lab, 1).locator(f"[data-exact='{version}']").wait_for(timeout=60_000)
        times.append(int(cell(lab, 1).locator("[data-painted-ms]").get_attribute("data-painted-ms")))
    assert min(times) < 1000, times
    lab.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    assert (server.folder / "large.ipynb").stat().st_size < 500_000
    lab.shoot("large", ".jp-CodeCell:nth-of-type(2) .jp-OutputArea")
    check_quiet(lab)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_saved_notebook_shows_everything_before_anything_runs(open_notebook, server, trusted):
    """Trusted: the widgets, from the state in the file. Else: their text and pictures, as on a page without any kernel."""
    cells = [LOAD, "Explorer(base, SENTENCE, SEARCH)", "Ablation(base, SENTENCE, SEARCH)"]
    notebook = notebook_of(cells)
    nbclient.NotebookClient(notebook, timeout=300).execute()
    if trusted:
        NotebookNotary(data_dir=str(server.data)).sign(notebook)
    lab = open_notebook(f"saved-{trusted}", notebook)
    if trusted:
        cell(lab, 1).locator("[data-painted-ms]").wait_for(timeout=60_000)
        box = cell(lab, 1).get_by_label("Encoder self-attention, layer 0, head 0").bounding_box()
        lab.page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"])
        assert text_of(cell(lab, 1), ".rp-weight").startswith("about 0.")
        assert cell(lab, 2).locator(".rp-word").count() > 5
    else:
        assert cell(lab, 1).locator("img[src^='data:image/png']").count() == 3
        assert "whole model" in text_of(cell(lab, 2), "th") and "■ ■ ■ ■" in cell(lab, 2).inner_text()
    assert (server.folder / f"saved-{trusted}.ipynb").stat().st_size < 400_000
    lab.shoot(f"saved-{trusted}")
    check_quiet(lab)
