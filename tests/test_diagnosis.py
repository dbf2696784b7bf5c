"""What the checks say to answers that were written before the checks were read."""

import re

import pytest
from test_tutorials import ROOT, exercises_of
from wrong_answers import WRONG_ANSWERS

BARE = re.compile(r"stops( in line \d+)? with ")
LESSONS = {folder.name[:2]: exercises_of(folder) for folder in ROOT.iterdir() if folder.is_dir()}


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
