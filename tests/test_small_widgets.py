"""Widgets without a model: predictions, one head, and matrices that follow one another."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from expected_errors import refuses

from repro.errors import InputError
from repro.page.bundle import FOLDER
from repro.papers import as_verdict, load_verdicts
from repro.widgets import Question, carried, one_head, predict
from repro.widgets.matrices import LOOKS, MASKS

RESULTS = Path(__file__).resolve().parents[1] / "results"
Y_02 = Question("Y-02", "How many <b>points</b> are lost?", (0, 20))


def data_of(frame) -> object:
    """Return what the page of a widget is given."""
    page = re.search(r"srcdoc='([^']*)'", frame._repr_mimebundle_()["text/html"])[1]
    found = re.search(r'<script type="application/json" id="data">(.*)</script>', page)
    return json.loads(html.unescape(found[1]))


def test_a_prediction_holds_the_stored_number_with_its_interval():
    (asked,) = data_of(predict(Y_02, results=RESULTS))
    (judged,) = as_verdict(load_verdicts(RESULTS, "multi30k")["Y-02"]).conditions
    row = next(row for row in asked["rows"] if row["label"] == "multi30k")
    found = [row["score"][name] for name in ("value", "low", "high")]
    assert found == pytest.approx([judged.found.value, *judged.found.ends], rel=1e-3)
    assert (asked["least"], asked["most"], asked["step"]) == (0, 20, 0.1)
    assert len(asked["printed"]) == 8 and max(asked["printed"]) == 10.3


def test_an_answer_is_folded_away_where_scripts_do_not_run():
    shown = predict(Y_02, results=RESULTS)._repr_mimebundle_()["text/html"]
    _, stand_in = shown.split("</iframe>")
    assert re.fullmatch(
        r"<div data-stand-in><details><summary>[^<]*</summary>(<p>[^<]*</p>){2}</details></div>",
        stand_in,
    )
    assert "&lt;b&gt;points" in stand_in.partition("</summary>")[0] and "<b>" not in shown
    assert "Printed: 8.9" in stand_in.partition("</summary>")[2]


@pytest.mark.parametrize(
    "question, said",
    [
        (Question("Y-99", "?", (0, 1)), "no condition 1 among its 0"),
        (Question("Y-02", "?", (0, 1), condition=2), "no condition 2 among its 1"),
        (Question("Y-13", "?", (0, 1)), "no stored verdict"),
        (Question("Y-02", "?", (1, 0)), "from 1 to 0"),
    ],
)
def test_a_question_that_has_no_answer_is_refused(question, said):
    with refuses(InputError, f"the question of {question.claim}", said):
        predict(question, results=RESULTS)


def test_a_prediction_without_a_question_is_refused():
    with refuses(InputError, "predict", "no question"):
        predict(results=RESULTS)


def test_every_look_of_a_head_is_known_to_the_page():
    front = FOLDER / "front"
    texts = (front / "patterns.js").read_text() + (front / "one_head.js").read_text()
    assert all(re.search(rf"^  \[?{look}\]?:", texts, re.M | re.I) for look in LOOKS)
    assert set(MASKS) < set(LOOKS)
    assert data_of(one_head(["a", "b"], ["local", "bell"])) == {
        "words": ["a", "b"],
        "looks": ["local", "bell"],
    }


def test_a_head_that_looks_nowhere_known_is_refused():
    with refuses(InputError, "looks", "'bel'", "did you mean 'bell'"):
        one_head(["a"], ["bel"])
    with refuses(InputError, "looks", "there is none"):
        one_head(["a"], [])
    with refuses(InputError, "words", "there is none"):
        one_head([], ["bell"])


def test_matrices_that_follow_one_another_have_a_title_and_the_words():
    matrices = [np.eye(2), np.full((2, 2), 1 / 3)]
    data = data_of(carried(matrices, ["one", "two"], ["a", "b"]))
    assert data["matrices"] == [[[1, 0], [0, 1]], [[0.3333, 0.3333], [0.3333, 0.3333]]]
    assert (data["titles"], data["words"]) == (["one", "two"], ["a", "b"])
    for wrong in (matrices[:1], [np.eye(3), np.eye(3)], []):
        with refuses(InputError, "matrices", "do not fit"):
            carried(wrong, ["one", "two"], ["a", "b"])
