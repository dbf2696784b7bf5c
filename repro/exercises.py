"""Exercises that explain mistakes: a reader's function beside its definition, on small fixed inputs.

`tutorials/*/check.py` says what is asked; this file says what of an answer is wrong. No answer raises: whatever a reader's function does
becomes a few lines with the input, the answer, what was expected, and what to think of next.
"""

import copy
import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

TOLERANCE = 1e-4
NO_GRADIENT = "the numbers are right, but no gradient can flow back through them; use torch functions on tensors, no floats, no `detach`"


@dataclass
class Exercise:
    """A function to write. Calling an exercise with one prints what is wrong with it, or that it is right.

    Args:
        definition: what the function should return, made as slowly and plainly as the definition reads; its name is the exercise's.
        cases: the arguments of each call, small enough to be printed.
        hint: what to think of when an answer is wrong in a way that nobody foresaw.
        mistakes: functions that make a typical mistake; their docstring is what to say of it.
    """

    definition: Callable[..., Any]
    cases: Sequence[tuple]
    hint: str
    mistakes: list[Callable[..., Any]] = field(default_factory=list)

    def mistake(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Add a typical wrong answer; used as a decorator."""
        self.mistakes.append(function)
        return function

    @property
    def name(self) -> str:
        """The name of the function to write."""
        return self.definition.__name__

    def __call__(self, answer: Callable[..., Any]) -> None:
        """Print what is wrong with an answer, or that it is right."""
        problem = self.problem(answer)
        print(f"{self.name}: {problem or 'right'}")

    def or_definition(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """Return the answer if it is right, else the definition, so that a reader who is stuck can go on."""
        return answer if self.problem(answer) is None else self.definition

    def problem(self, answer: Callable[..., Any]) -> str | None:
        """Return what is wrong with an answer, in words; None if nothing is."""
        for case in self.cases:
            given = copy.deepcopy(case)
            try:
                found = answer(*given)
            except NotImplementedError:
                return "not written yet"
            except Exception as error:  # a reader's function may do anything
                return f"stops{_line_of(error, answer)} with {type(error).__name__}: {error}\n{self._show_case(case)}"
            if not _equal(given, case):
                return f"changes what it is given; work on a copy\n{self._show_case(case)}"
            problem = self._compare(found, case)
            if problem is not None:
                return f"{problem}\n{self._show_case(case)}"
        return None

    def _compare(self, found: Any, case: tuple) -> str | None:
        expected = self.definition(*copy.deepcopy(case))
        if found is None:
            return "returns nothing; is there a `return`?"
        if _equal(found, expected):
            return NO_GRADIENT if _has_gradient(expected) and not _has_gradient(found) else None
        if isinstance(expected, torch.Tensor) and not isinstance(found, torch.Tensor) and _equal(_as_tensor(found), expected):
            return f"the numbers are right, but a tensor is expected; yours is a {type(found).__name__}"
        known = (inspect.getdoc(mistake) for mistake in self.mistakes if _equal(found, mistake(*copy.deepcopy(case))))
        said = next(known, f"not right yet. Hint: {self.hint}")
        return f"{said}\n  yours{_show(found)}\n  expected{_show(expected)}"

    def _show_case(self, case: tuple) -> str:
        names = inspect.signature(self.definition).parameters
        return "\n".join(["when called with", *(f"  {name}{_show(value)}" for name, value in zip(names, case, strict=True))])


def exercise(cases: Sequence[tuple], hint: str) -> Callable[[Callable[..., Any]], Exercise]:
    """Make an exercise of the definition that this decorates; see `Exercise`."""
    return lambda definition: Exercise(definition, cases, hint)


def _equal(found: Any, expected: Any) -> bool:
    """Return whether two values have the same kind, shape and numbers."""
    if isinstance(expected, (tuple, list)):
        return isinstance(found, (tuple, list, np.ndarray)) and len(found) == len(expected) and all(map(_equal, found, expected))
    if isinstance(expected, (str, dict)) or expected is None:
        return found == expected
    if isinstance(expected, torch.Tensor) != isinstance(found, torch.Tensor) and np.ndim(expected):
        return False  # one number may be a tensor or not
    found, expected = (value.detach() if isinstance(value, torch.Tensor) else value for value in (found, expected))
    try:
        found, expected = (np.asarray(value, dtype=np.float64) for value in (found, expected))
    except (TypeError, ValueError):  # not numbers
        return False
    return found.shape == expected.shape and np.allclose(found, expected, atol=TOLERANCE, equal_nan=True)


def _as_tensor(rows: Any) -> torch.Tensor | None:
    """Return what stands in lists, tuples or arrays as a tensor; None if that is impossible."""
    try:
        return torch.stack([torch.as_tensor(row) for row in rows])
    except (TypeError, ValueError, RuntimeError):
        return None


def _has_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _show(value: Any) -> str:
    """Return a value for print, with its shape if it is a tensor, on lines of its own if it needs several."""
    if not isinstance(value, torch.Tensor):
        return f" = {value:.4g}" if isinstance(value, float) else f" = {value!r}"
    kind = f" = tensor of shape {tuple(value.shape)}"
    if value.numel() == 0:
        return kind
    numbers = value.detach().to(torch.float64 if value.is_floating_point() else torch.int64).numpy()
    text = np.array2string(numbers, precision=3, suppress_small=True, threshold=200)
    return "\n".join([kind, *(f"    {line}" for line in text.split("\n"))])


def _line_of(error: Exception, answer: Callable[..., Any]) -> str:
    """Return where in a reader's function it stopped, counted from its `def`; nothing where that is not known."""
    code = getattr(answer, "__code__", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if code and frame.name == code.co_name]
    return f" in line {lines[-1] - code.co_firstlineno + 1}" if lines else ""
