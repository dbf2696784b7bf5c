"""Write the quiz of `docs/teaching/quiz.toml` for Moodle, as QTI, and as a sheet to print."""

import inspect
import random
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import repro
from repro.errors import GET_PROJECT, MachineError
from repro.teaching.exercise import Exercise
from repro.teaching.lessons import load_lesson

SOURCE = Path(repro.__file__).parents[1] / "docs" / "teaching" / "quiz.toml"
LETTERS = "abcd"


@dataclass
class Item:
    """A question with one right option.

    Args:
        name: a short name.
        goal: what a student who answers it can do.
        question: the question.
        right: the right option.
        why: shown after the answer.
        wrong: wrong options, by the mistake that each stands for, such as
            "02.gaussian_weights.wrong_side".
    """

    name: str
    goal: str
    question: str
    right: str
    why: str
    wrong: dict[str, str]

    def options(self) -> list[tuple[str, str]]:
        """Return (mistake, option) in an order that is always the same; "" is the right one."""
        options = [("", self.right), *self.wrong.items()]
        random.Random(self.name).shuffle(options)
        return options


def read_quiz() -> tuple[str, list[Item]]:
    """Return the title and the items.

    Raises:
        MachineError: the package was installed without its documentation.
    """
    if not SOURCE.exists():
        raise MachineError("quiz", "is not beside this package", GET_PROJECT)
    source = tomllib.loads(SOURCE.read_text())
    return source["title"], [Item(**item) for item in source["items"]]


def moodle_xml(title: str, items: list[Item]) -> bytes:
    """Return the quiz as Moodle imports it: single choice, in shuffled order, with explanations."""
    quiz = ElementTree.Element("quiz")
    category = ElementTree.SubElement(quiz, "question", type="category")
    _text(category, "category", f"$course$/top/{title}")
    for item in items:
        question = ElementTree.SubElement(quiz, "question", type="multichoice")
        _text(question, "name", item.name)
        _text(question, "questiontext", item.question, format="plain_text")
        _text(question, "generalfeedback", item.why, format="plain_text")
        for tag, value in (("defaultgrade", "1"), ("penalty", "0"), ("single", "true")):
            ElementTree.SubElement(question, tag).text = value
        for tag, value in (("shuffleanswers", "true"), ("answernumbering", "abc")):
            ElementTree.SubElement(question, tag).text = value
        for mistake, option in item.options():
            fraction = "0" if mistake else "100"
            answer = ElementTree.SubElement(question, "answer", fraction=fraction)
            answer.set("format", "plain_text")
            ElementTree.SubElement(answer, "text").text = option
            _text(answer, "feedback", _explained(mistake) or "Right.", format="plain_text")
    ElementTree.indent(quiz)
    return ElementTree.tostring(quiz, encoding="utf-8", xml_declaration=True)


def _explained(mistake: str) -> str:
    """Return what the check of a tutorial says of a mistake; nothing for the right option."""
    if not mistake:
        return ""
    number, task, name = mistake.split(".")
    functions = _exercises(number)[task].mistakes
    text = next(inspect.getdoc(one) or "" for one in functions if one.__name__ == name)
    return f"{' '.join(text.split())} ({mistake})"


@cache
def _exercises(number: str) -> dict[str, Exercise]:
    return load_lesson(number).exercises


def _text(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    """Add an element that holds a text, as Moodle nests it."""
    element = ElementTree.SubElement(parent, tag, attributes)
    ElementTree.SubElement(element, "text").text = text


def qti_zip(title: str, items: list[Item]) -> bytes:
    """Return the quiz as a QTI 1.2 package, which Canvas and others import.

    Raises:
        MachineError: text2qti is not installed.
    """
    try:
        from text2qti.config import Config
        from text2qti.qti import QTI
        from text2qti.quiz import Quiz
    except ImportError:
        raise MachineError("QTI", "needs text2qti", "pip install 'repro-attention[quiz]'") from None
    config = Config()
    quiz = Quiz(_as_text2qti(title, items), config=config, source_name=SOURCE.name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quiz.zip"
        QTI(quiz).save(path)
        return path.read_bytes()


def _as_text2qti(title: str, items: list[Item]) -> str:
    """Return the quiz in the plain text that text2qti reads."""
    lines = [f"Quiz title: {title}", "shuffle answers: true", ""]
    for number, item in enumerate(items, start=1):
        lines += [f"Title: {item.name}", "Points: 1", f"{number}. {item.question}"]
        lines += [f"... {item.why}"]
        for letter, (mistake, option) in zip(LETTERS, item.options(), strict=True):
            lines += [f"{'' if mistake else '*'}{letter}) {option}"]
        lines += [""]
    return "\n".join(lines)


def sheet(title: str, items: list[Item]) -> bytes:
    """Return a sheet to print, and behind it the scoring sheet, as Markdown."""
    lines = [f"# {title}: quiz", "", "Code: ______  Date: ______  before / after", ""]
    key = ["# Scoring sheet", "", "| item | right | goal | each other letter is |"]
    key += ["| ---: | :---: | --- | --- |"]
    for number, item in enumerate(items, start=1):
        lines += [f"**{number}.** {item.question}", ""]
        mistakes = []
        for letter, (mistake, option) in zip(LETTERS, item.options(), strict=True):
            lines += [f"- ({letter}) {option}"]
            if mistake:
                mistakes.append(f"{letter} `{mistake}`")
            else:
                right = letter
        lines += [""]
        key += [f"| {number} | {right} | {item.goal} | {', '.join(mistakes)} |"]
    key += ["", "One point for each right letter; an empty answer is wrong. At most 12 points."]
    return "\n".join([*lines, *key, ""]).encode()


WRITERS: dict[str, Callable[[str, list[Item]], bytes]] = {
    ".xml": moodle_xml,
    ".zip": qti_zip,
    ".md": sheet,
}
"""How each kind of file is written."""
