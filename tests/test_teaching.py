"""The teacher's corner: quiz, slides and plans agree with the tutorials."""

import io
import re
import zipfile
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_tutorials import FOLDERS, exercises_of

from repro.errors import MachineError
from repro.teaching.quiz import LETTERS, moodle_xml, qti_zip, read_quiz, sheet
from repro.teaching.slides import slides_html, slides_in

PLANS = Path(__file__).resolve().parents[1] / "docs" / "teaching"


@pytest.fixture(scope="module")
def quiz():
    return read_quiz()


def test_every_wrong_option_of_the_quiz_is_a_mistake_that_a_check_knows(quiz):
    lessons = {folder.name[:2]: exercises_of(folder) for folder in FOLDERS}
    known = {
        f"{number}.{task}.{mistake.__name__}"
        for number, tasks in lessons.items()
        for task, exercise in tasks.items()
        for mistake in exercise.mistakes
    }
    items = quiz[1]
    assert len(items) == 12 and len({item.name for item in items}) == 12
    for item in items:
        assert len(item.wrong) == 3 and set(item.wrong) <= known, item.name


def test_the_right_options_are_spread_and_each_is_scored_in_every_format(quiz):
    title, items = quiz
    places = [[mistake for mistake, _ in item.options()].index("") for item in items]
    assert set(places) == {0, 1, 2, 3}
    questions = ElementTree.fromstring(moodle_xml(title, items)).findall("question")[1:]
    for item, question, place in zip(items, questions, places, strict=True):
        fractions = [answer.get("fraction") for answer in question.findall("answer")]
        assert fractions.index("100") == place and fractions.count("0") == 3
        assert question.findtext("questiontext/text") == item.question
        feedback = [answer.findtext("feedback/text") for answer in question.findall("answer")]
        assert feedback[place] == "Right." and all(
            mistake in told for (mistake, _), told in zip(item.options(), feedback, strict=True)
        )
    key = re.findall(r"^\| \d+ \| (\w) \|", sheet(title, items).decode(), re.M)
    assert [LETTERS.index(letter) for letter in key] == places


def test_the_quiz_becomes_qti_where_its_library_is(quiz):
    try:
        import text2qti  # noqa: F401
    except ImportError:
        with pytest.raises(MachineError, match="text2qti"):
            qti_zip(*quiz)
        return
    with zipfile.ZipFile(io.BytesIO(qti_zip(*quiz))) as package:
        texts = [package.read(name).decode() for name in package.namelist() if "/text2" in name]
    assert sum(text.count("<item ") for text in texts) == 12


def test_the_slides_of_a_plan_are_what_its_marks_enclose():
    page = (PLANS / "lesson.md").read_text()
    slides = slides_in(page)
    assert slides[0].startswith("# A lesson of 90 minutes") and len(slides) >= 5
    assert page.count("<!-- slide -->") == len(slides) - 1
    assert len(slides_in((PLANS / "course.md").read_text())) == 6
    shown = slides_html(page)
    assert shown.count("<section") >= len(slides) and "Break a translator" in shown
    assert "Walk around" not in shown


def test_the_minutes_of_each_plan_fill_its_lesson():
    for name, lessons in (("lesson", 1), ("course", 5)):
        page = (PLANS / f"{name}.md").read_text()
        spans = [tuple(map(int, s)) for s in re.findall(r"^\| (\d+) to (\d+) \|", page, re.M)]
        starts = [i for i, (start, _) in enumerate(spans) if start == 0]
        assert len(starts) == lessons
        for first, after in zip(starts, [*starts[1:], len(spans)], strict=True):
            lesson = spans[first:after]
            assert lesson[-1][1] == 90
            assert all(a[1] == b[0] for a, b in pairwise(lesson))
