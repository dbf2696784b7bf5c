"""What the checks say to answers that were written before the checks were read."""

import math
import re

import pytest
import torch
from test_tutorials import ROOT, exercises_of
from wrong_answers import WRONG_ANSWERS

import repro.core
from repro.teaching.exercise import exercise
from repro.teaching.pictures import difference_figure

BARE = re.compile(r"stops( in line \d+)? with ")
LESSONS = {
    folder.name[:2]: exercises_of(folder)
    for folder in ROOT.iterdir()
    if (folder / "check.py").is_file()
}


@pytest.fixture(scope="module")
def said():
    """What the check says to each wrong answer: the explanation, without the values."""
    return {
        wrong.name: LESSONS[wrong.tutorial][wrong.exercise].diagnose(wrong.function).text
        for wrong in WRONG_ANSWERS
    }


def test_most_wrong_answers_get_the_right_diagnosis(said):
    assert len(said) == 40
    missed = [w.name for w in WRONG_ANSWERS if not re.search(w.diagnosis, said[w.name], re.I)]
    assert len(missed) <= 6, missed


def test_no_wrong_answer_gets_a_bare_error_of_python(said):
    bare = [name for name, text in said.items() if BARE.match(text) and "\n" not in text]
    assert not bare


@pytest.fixture
def shares():
    task = exercise(
        cases=[(torch.tensor([[1.0, 3.0], [2.0, 2.0]]),)],
        hints=["What is the sum?", "0.25 and 0.75.", "Divide by the sum."],
        hidden=[(torch.tensor([[4.0, 1.0, 5.0]]),)],
    )
    return task(lambda rows: rows / rows.sum(dim=-1, keepdim=True))


def test_hints_come_one_by_one_and_a_shown_one_counts(shares, capsys):
    for _ in range(4):
        shares.hint()
    printed = capsys.readouterr().out.rstrip("\n").split("\n")
    assert [line.partition(": ")[2] for line in printed] == [*shares.hints, shares.hints[-1]]
    shares.hints_given = 0
    shares(lambda rows: rows)
    capsys.readouterr()
    shares.hint()
    assert "hint 2 of 3: 0.25 and 0.75." in capsys.readouterr().out


def test_the_first_wrong_entry_is_told_and_not_the_first_entry(shares):
    said = shares.problem(lambda rows: torch.tensor([[0.25, 0.7], [0.5, 0.4]]))
    assert "first wrong entry, [0, 1]: yours 0.700, expected 0.750" in said
    pair = exercise(cases=[(2.0,)], hints=[])(lambda x: (x, x / 2))
    assert "first wrong value, number 2: yours 3, expected 1" in pair.problem(lambda x: (x, 3.0))
    mask = exercise(cases=[(2,)], hints=[])(lambda n: torch.ones(n, n, dtype=torch.bool).triu(1))
    said = mask.problem(lambda n: torch.ones(n, n, dtype=torch.bool))
    assert "[0, 0]: yours True, expected False" in said and "[[False  True]" in said


def test_a_wrong_factor_is_told_and_an_unusual_error_comes_with_what_to_do(shares):
    assert shares.diagnose(lambda rows: 2 * rows / rows.sum(-1, keepdim=True)).text.startswith(
        "every number is 2 times what it should be"
    )
    assert shares.problem(lambda rows: next(iter([]))).startswith("Python cannot do what this")


def test_an_answer_made_for_the_visible_cases_fails_and_the_hidden_one_is_not_shown(shares):
    diagnosis = shares.diagnose(lambda rows: rows / 4)
    assert diagnosis.name == "hidden_case" and "Hint: What is the sum?" in diagnosis.text
    assert "5." not in str(diagnosis)
    diagnosis = shares.diagnose(lambda rows: rows / rows[:, :2].sum(-1, keepdim=True))
    assert diagnosis.name == "hidden_case"


def test_calling_the_definition_or_the_package_does_not_pass():
    tasks = LESSONS["02"]
    bells, masked = tasks["gaussian_weights"], tasks["mask_future"]
    assert bells.diagnose(bells.definition).name == "copied"
    assert bells.diagnose(lambda *case: bells.definition(*case)).name == "copied"

    def of_an_earlier_exercise(weights):
        bells.definition(1, 1, 0.0)
        return weights.tril()

    assert masked.diagnose(of_an_earlier_exercise) is None

    def of_the_package(weights):
        future = repro.core.causal_mask(torch.arange(len(weights)), len(weights))
        return weights.masked_fill(future.squeeze(), 0)

    found = masked.diagnose(of_the_package)
    assert found.name == "copied", found


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda rows: rows @ rows.new_ones(3, 2), "Is a transpose missing"),
        (lambda rows: math.exp(rows), "Take torch's own: `torch.exp(x)`"),
        (lambda rows: torch.sqrt(2), "this is a plain number"),
        (lambda rows: rows[5], "past the border"),
        (lambda rows: min(1, rows), "Take `x.clamp(low, high)`"),
        (lambda rows: rows + torch.ones(3), "Two shapes do not fit"),
        (lambda rows: rows.reshape(3, 3), "another count of numbers"),
        (lambda rows: rows.sum(dim=5), "There is no such axis"),
        (lambda rows: rows @ torch.ones(2, 2, dtype=torch.long), "do not mix here"),
        (lambda rows: rows[rows], "must be a whole number"),
        (lambda rows: nowhere, "before it has a value"),  # noqa: F821
        (lambda rows, more: rows, "number of arguments"),
        (lambda rows: [1].exp(), "This is no tensor"),
        (lambda rows: None + 1, "do not go together"),
        (lambda rows: 1 / 0, "You divide by 0"),
    ],
)
def test_a_usual_first_error_is_explained_with_the_hint(shares, answer, said):
    text = shares.diagnose(answer).text
    assert said in text and "stops" in text and "Hint: What is the sum?" in text


def test_the_first_wrong_cell_is_marked_in_the_picture():
    expected = torch.eye(3).repeat(2, 1, 1)
    found = expected.clone()
    found[1, 2, 0] = 5
    figure = difference_figure(found, expected)
    assert len(figure.data) == len(figure.layout.shapes) == 3
    marked = {(shape.x0, shape.y0) for shape in figure.layout.shapes}
    assert marked == {(-0.5, 1.5)} and "row 2, column 0 of matrix [1]" in figure.layout.title.text
    assert figure.data[2].z[2][0] == 5 and figure.data[1].z[0][0] == 1
    assert difference_figure(expected, expected) is None
    assert difference_figure(found[:1], expected) is None
