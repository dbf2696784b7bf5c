"""Check a reader's function beside its definition, on small fixed inputs, and explain mistakes.

`tutorials/*/check.py` states the exercises. No answer raises: the behaviour of a reader's function
becomes a few lines with the input, the answer, the expected value, and a hint.
"""

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from repro.teaching.differences import (
    difference_in_kind,
    first_wrong_entry,
    other_kind,
    wrong_factor,
    wrong_shape_only,
)
from repro.teaching.observing import TOO_LONG, Outcome, gradients, observe
from repro.teaching.pictures import show_difference
from repro.teaching.stops import describe, not_written
from repro.teaching.values import ROUNDED, equal, format_value, has_nan, is_mask

NEARLY = (
    "nearly right, but not to five digits: is a constant rounded, "
    "or something small where 0 should be?"
)
EXCHANGED = "the numbers are right, but rows and columns are exchanged"
NO_MASK = (
    "the places are right, but a mask is made of True and False (bool), which `masked_fill` "
    "asks for; yours has numbers"
)
NO_GRADIENT = (
    "the numbers are right, but no gradient can flow back through them to all that is learned; "
    "use torch functions on tensors, no floats, no `detach`, no new `requires_grad`"
)
COPIED = (
    "the numbers are right, but the definition or the package made them, and not your function; "
    "write it yourself (the definition of an earlier exercise may be called)"
)
NOTHING = "returns nothing; does every way through it end in a `return`?"
HIDDEN = (
    "right in the cases that you see, but not in a hidden one; does it hold for other sizes, other "
    "signs, and fractions?"
)


@dataclass
class Diagnosis:
    """What is wrong with an answer.

    Args:
        name: of the mistake, for counting: the name of its function in `check.py`, or of its kind.
        text: what the reader is told first.
        details: the answer, the expected value, and the case.
        found, expected: both values, to be drawn; None if there is nothing to draw.
    """

    name: str
    text: str
    details: str = ""
    found: Any = None
    expected: Any = None

    def __str__(self) -> str:
        return f"{self.text}\n{self.details}" if self.details else self.text


@dataclass
class Exercise:
    """A function to write; calling the exercise with an answer prints what is wrong, or `right`.

    Args:
        definition: returns the expected value, as slowly and plainly as the definition reads; its
            name is the exercise's.
        cases: the arguments of each call, small enough to be printed.
        hints: from a question to nearly the line itself, asked for one by one. The first is shown
            for a wrong answer that matches no known mistake.
        hidden: arguments of more calls, which are never shown.
        mistakes: functions with a typical mistake. The docstring of one explains answers that agree
            with it in every case.
    """

    definition: Callable[..., Any]
    cases: Sequence[tuple]
    hints: Sequence[str]
    hidden: Sequence[tuple] = ()
    mistakes: list[Callable[..., Any]] = field(default_factory=list)
    hints_given: int = 0

    def mistake(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Add a typical wrong answer; used as a decorator."""
        self.mistakes.append(function)
        return function

    @property
    def name(self) -> str:
        """The name of the function to write."""
        return self.definition.__name__

    def __call__(self, answer: Callable[..., Any]) -> None:
        """Print what is wrong with an answer, or that it is right; in a notebook, draw it."""
        diagnosis = self.diagnose(answer)
        print(f"{self.name}: {diagnosis or 'right'}")
        if diagnosis is not None:
            show_difference(diagnosis.found, diagnosis.expected)

    def hint(self) -> None:
        """Print the next hint; after the last, the last again."""
        self.hints_given = min(self.hints_given + 1, len(self.hints))
        place = f"hint {self.hints_given} of {len(self.hints)}"
        print(f"{self.name}, {place}: {self.hints[self.hints_given - 1]}")

    def or_definition(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """Return the answer if it is right, else the definition: a stuck reader can go on."""
        return answer if self.diagnose(answer) is None else self.definition

    def problem(self, answer: Callable[..., Any]) -> str | None:
        """Return what is wrong with an answer, in words; None if nothing is."""
        diagnosis = self.diagnose(answer)
        return None if diagnosis is None else str(diagnosis)

    def diagnose(self, answer: Callable[..., Any]) -> Diagnosis | None:
        """Return what is wrong with an answer; None if nothing is."""
        name = getattr(answer, "__name__", self.name)
        return self.judge(name, lambda case: observe(answer, case, self.definition))

    def judge(self, name: str, call: Callable[[tuple], Outcome]) -> Diagnosis | None:
        """Return what is wrong with a function of which only the outcomes are known.

        Args:
            name: of the function.
            call: calls it with one case; see `observe`.
        """
        seen, outcomes = [*self.cases, *self.hidden], []
        for case in seen:
            outcomes.append(call(case))
            stop = outcomes[-1].stop
            if stop and stop.kind == TOO_LONG:
                break
        for place, (case, outcome) in enumerate(zip(seen, outcomes, strict=False)):
            diagnosis = self._judge_case(name, outcome, case, outcomes)
            if diagnosis is not None and place < len(self.cases):
                details = f"{diagnosis.details}\n{self._show_case(case)}".strip("\n")
                if diagnosis.name != "not_written":
                    diagnosis.details = details
                return diagnosis
            if diagnosis is not None:
                known = diagnosis.name in {mistake.__name__ for mistake in self.mistakes}
                text = diagnosis.text if known else f"{HIDDEN}{self._first_hint()}"
                return Diagnosis(diagnosis.name if known else "hidden_case", text)
        return Diagnosis("copied", COPIED) if any(one.copied for one in outcomes) else None

    def _judge_case(
        self, name: str, outcome: Outcome, case: tuple, outcomes: Sequence[Outcome]
    ) -> Diagnosis | None:
        """Return what is wrong with the outcome of one case, or None."""
        if outcome.stop:
            if unwritten := not_written(outcome.stop, name):
                return Diagnosis("not_written", unwritten)
            late = outcome.stop.kind == TOO_LONG
            kind = "too_long" if late else f"stops:{outcome.stop.kind}"
            return Diagnosis(kind, f"{describe(outcome.stop)}{self._first_hint()}")
        if outcome.changed:
            return Diagnosis("changes_arguments", "changes what it is given; work on a copy")
        given = copy.deepcopy(case)
        expected, found = self.definition(*given), outcome.value
        if found is None:
            return Diagnosis("returns_nothing", NOTHING)
        if equal(found, expected):
            return _if_right(outcome, expected, gradients(expected, given))
        if said := other_kind(found, expected):
            return Diagnosis("wrong_kind", said)
        return self._explain(found, expected, outcomes)

    def _explain(self, found: Any, expected: Any, outcomes: Sequence[Outcome]) -> Diagnosis:
        """Return why a value is not the expected one."""
        nearly = equal(found, expected, ROUNDED)
        diagnosis = self._known_mistake(outcomes)
        if diagnosis is None and nearly:
            diagnosis = Diagnosis("nearly", NEARLY)
        if diagnosis is None and (said := wrong_shape_only(found, expected)):
            diagnosis = Diagnosis("wrong_shape", said)
        if diagnosis is None and (said := wrong_factor(found, expected)):
            diagnosis = Diagnosis("wrong_factor", f"{said}{self._first_hint()}")
        if diagnosis is None:
            unlike = difference_in_kind(found, expected)
            said = f"not right yet{f': {unlike}' if unlike else ''}.{self._first_hint(' ')}"
            diagnosis = Diagnosis("unlike" if unlike else "unknown", said)
        digits = 6 if nearly else 3
        yours, wanted = (format_value(value, digits) for value in (found, expected))
        entry = first_wrong_entry(found, expected)
        diagnosis.details = "\n".join(
            [*([f"  {entry}"] if entry else []), f"  yours{yours}", f"  expected{wanted}"]
        )
        diagnosis.found, diagnosis.expected = found, expected
        return diagnosis

    def _first_hint(self, before: str = "\n") -> str:
        """Return the first hint, and how to ask for the next."""
        if not self.hints:
            return ""
        self.hints_given = max(self.hints_given, 1)
        more = f" For more: `check.{self.name}.hint()`." if len(self.hints) > 1 else ""
        return f"{before}Hint: {self.hints[0]}{more}"

    def _known_mistake(self, outcomes: Sequence[Outcome]) -> Diagnosis | None:
        """Return the mistake that an answer agrees with wherever it returns.

        In a single case they may agree by chance. NaN is a mistake by itself. If none explains it,
        the cases without NaN may show another mistake.
        """
        if any(outcome.stop and outcome.stop.kind == TOO_LONG for outcome in outcomes):
            return None
        cases = [*self.cases, *self.hidden]
        returned = [
            (outcome.value, case)
            for outcome, case in zip(outcomes, cases, strict=True)
            if not outcome.stop
        ]
        numbers = [(value, case) for value, case in returned if not has_nan(value)]
        return self._agreeing_mistake(returned) or self._agreeing_mistake(numbers)

    def _agreeing_mistake(self, returned: Sequence[tuple[Any, tuple]]) -> Diagnosis | None:
        """Return the known mistake that gives the same answers, if any."""
        found = [value for value, _ in returned]
        right = [self.definition(*copy.deepcopy(case)) for _, case in returned]
        if equal(found, right):  # as they are if there is none
            return None
        for mistake in self.mistakes:
            if equal(found, [mistake(*copy.deepcopy(case)) for _, case in returned]):
                text = " ".join((inspect.getdoc(mistake) or "").split())
                return Diagnosis(mistake.__name__, text)
        is_matrix = all(isinstance(value, torch.Tensor) and value.ndim >= 2 for value in found)
        if is_matrix and equal([value.mT for value in found], right):
            return Diagnosis("exchanged", EXCHANGED)
        return None

    def _show_case(self, case: tuple) -> str:
        """Return the arguments of a case as text."""
        names = inspect.signature(self.definition).parameters
        arguments = zip(names, case, strict=True)
        shown = [f"  {name}{format_value(value)}" for name, value in arguments]
        return "\n".join(["when called with", *shown])


def _if_right(
    outcome: Outcome, expected: Any, wanted_gradients: list[torch.Tensor]
) -> Diagnosis | None:
    """Return what is wrong with an answer whose numbers are right."""
    if is_mask(expected) and not is_mask(outcome.value):
        return Diagnosis("no_mask", NO_MASK)
    if not equal(outcome.gradients, wanted_gradients, ROUNDED):
        return Diagnosis("no_gradient", NO_GRADIENT)
    return None


def exercise(
    cases: Sequence[tuple], hints: Sequence[str], hidden: Sequence[tuple] = ()
) -> Callable[[Callable[..., Any]], Exercise]:
    """Make an exercise of the decorated definition; see `Exercise`."""
    return lambda definition: Exercise(definition, cases, hints, hidden)
