"""Check a reader's function beside its definition, on small fixed inputs, and explain mistakes.

`tutorials/*/check.py` states the exercises; this file explains wrong answers. No answer raises: the
behaviour of a reader's function becomes a few lines with the input, the answer, the expected value,
and a hint.
"""

import copy
import inspect
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

TOLERANCE = 1e-5
ROUNDED = 2e-3
SECONDS = 20  # for a call on a small input
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


@dataclass
class Exercise:
    """A function to write; calling the exercise with an answer prints what is wrong, or `right`.

    Args:
        definition: returns the expected value, as slowly and plainly as the definition reads; its
            name is the exercise's.
        cases: the arguments of each call, small enough to be printed.
        hint: shown for a wrong answer that matches no known mistake.
        mistakes: functions with a typical mistake. The docstring of one explains answers that agree
            with it in every case.
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
        """Return the answer if it is right, else the definition: a stuck reader can go on."""
        return answer if self.problem(answer) is None else self.definition

    def problem(self, answer: Callable[..., Any]) -> str | None:
        """Return what is wrong with an answer, in words; None if nothing is."""
        for case in self.cases:
            given = copy.deepcopy(case)
            try:
                with _time_limit():
                    found = answer(*given)
            # A reader's function may raise anything.
            except (Exception, SystemExit, _TooLong) as error:
                return (
                    _not_written(error, answer)
                    or f"{_describe_stop(error, answer)}\n{self._show_case(case)}"
                )
            if not _equal(given, case, tolerance=0):
                return f"changes what it is given; work on a copy\n{self._show_case(case)}"
            problem = self._compare(answer, found, given, case)
            if problem is not None:
                return f"{problem}\n{self._show_case(case)}"
        return None

    def _compare(
        self, answer: Callable[..., Any], found: Any, given: tuple, case: tuple
    ) -> str | None:
        """Return what is wrong with an answer in one case, or None."""
        again = copy.deepcopy(case)
        expected = self.definition(*again)
        if found is None:
            return "returns nothing; is there a `return`?"
        if _equal(found, expected):
            if _is_mask(expected) and not _is_mask(found):
                return NO_MASK
            return (
                None
                if _equal(_gradients(found, given), _gradients(expected, again), ROUNDED)
                else NO_GRADIENT
            )
        for what, kind, value in _other_kinds(found):
            if (
                isinstance(expected, kind)
                and not isinstance(found, kind)
                and _equal(value, expected)
            ):
                return (
                    f"the {what} are right, but a {kind.__name__.lower()} is expected; yours is a "
                    f"{type(found).__name__.lower()}"
                )
        nearly = _equal(found, expected, ROUNDED)
        said = self._known_mistake(answer) or (
            NEARLY if nearly else _wrong_shape_only(found, expected)
        )
        if said is None:
            unlike = _difference_in_kind(found, expected)
            said = f"not right yet{f': {unlike}' if unlike else ''}. Hint: {self.hint}"
        digits = 6 if nearly else 3
        yours, wanted = (_format_value(value, digits) for value in (found, expected))
        return f"{said}\n  yours{yours}\n  expected{wanted}"

    def _known_mistake(self, answer: Callable[..., Any]) -> str | None:
        """Return the explanation of the mistake that an answer agrees with wherever it returns.

        In a single case they may agree by chance. NaN is a mistake by itself. If none explains it,
        the cases without NaN may show another mistake.
        """
        found, returned = [], []
        for case in self.cases:
            try:
                with _time_limit():
                    found.append(answer(*copy.deepcopy(case)))
            except _TooLong:
                return None
            except (Exception, SystemExit):
                continue
            returned.append(case)
        numbers = [place for place, value in enumerate(found) if not _has_nan(value)]
        return self._agreeing_mistake(found, returned) or self._agreeing_mistake(
            [found[p] for p in numbers], [returned[p] for p in numbers]
        )

    def _agreeing_mistake(self, found: Sequence[Any], cases: Sequence[tuple]) -> str | None:
        """Return the explanation of the known mistake that gives the same answers, if any."""
        right = [self.definition(*copy.deepcopy(case)) for case in cases]
        if _equal(found, right):  # as they are if there is none
            return None
        for mistake in self.mistakes:
            if _equal(found, [mistake(*copy.deepcopy(case)) for case in cases]):
                return " ".join((inspect.getdoc(mistake) or "").split())
        is_matrix = all(isinstance(value, torch.Tensor) and value.ndim >= 2 for value in found)
        return EXCHANGED if is_matrix and _equal([value.mT for value in found], right) else None

    def _show_case(self, case: tuple) -> str:
        """Return the arguments of a case as text."""
        names = inspect.signature(self.definition).parameters
        return "\n".join(
            [
                "when called with",
                *(
                    f"  {name}{_format_value(value)}"
                    for name, value in zip(names, case, strict=True)
                ),
            ]
        )


def exercise(cases: Sequence[tuple], hint: str) -> Callable[[Callable[..., Any]], Exercise]:
    """Make an exercise of the decorated definition; see `Exercise`."""
    return lambda definition: Exercise(definition, cases, hint)


def _equal(found: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two values have the same kind, shape and numbers."""
    try:
        return bool(_same(found, expected, tolerance))
    # They are not numbers, or do not compare.
    except Exception:
        return False


def _same(found: Any, expected: Any, tolerance: float) -> bool:
    """Return whether an answer equals the expected value within a tolerance."""
    if isinstance(expected, (tuple, list)):
        same_length = isinstance(found, (tuple, list, np.ndarray)) and len(found) == len(expected)
        return same_length and all(
            _same(*pair, tolerance) for pair in zip(found, expected, strict=True)
        )
    if isinstance(expected, (str, dict)) or expected is None:
        return found == expected
    if isinstance(expected, torch.Tensor) != isinstance(found, torch.Tensor) and np.ndim(expected):
        return False  # one number may be a tensor or not
    found, expected = (
        _numbers(value) if isinstance(value, torch.Tensor) else value for value in (found, expected)
    )
    found, expected = np.asarray(found), np.asarray(expected)
    # NumPy would read numbers from text.
    if found.dtype.kind in "USO":
        return False
    found = found.astype(np.float64)
    tolerance *= expected.dtype.kind == "f"  # a count is exact
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=tolerance, atol=tolerance, equal_nan=True
    )


def _wrong_shape_only(found: Any, expected: Any) -> str | None:
    """Say that only the shape is wrong; None if that is not so."""
    both = (
        isinstance(found, torch.Tensor)
        and isinstance(expected, torch.Tensor)
        and found.numel() == expected.numel()
    )
    if both and found.shape != expected.shape and _equal(found.flatten(), expected.flatten()):
        return (
            f"the numbers are right, but their shape is {tuple(found.shape)}; "
            f"{tuple(expected.shape)} is expected"
        )
    return None


def _difference_in_kind(found: Any, expected: Any) -> str | None:
    """Return how an answer differs apart from its numbers; None if it does not.

    It may differ in kind, length or shape, or by NaN.
    """
    ndim = getattr(found, "ndim", 0 if isinstance(found, (bool, int, float)) else 1)
    if isinstance(expected, str):
        kind, is_kind = "a str", isinstance(found, str)
    elif isinstance(expected, (tuple, list)):
        kind, is_kind = (
            f"a {type(expected).__name__}",
            isinstance(found, (tuple, list, np.ndarray)) and ndim > 0,
        )
    elif isinstance(expected, torch.Tensor):
        kind, is_kind = (
            "a tensor",
            isinstance(found, torch.Tensor) or (not expected.ndim and not ndim),
        )
    else:
        kind, is_kind = (
            "True or False" if isinstance(expected, (bool, np.bool_)) else "a number",
            ndim == 0,
        )
    if not is_kind:
        return f"{kind} is expected; yours is of type {type(found).__name__}"
    if isinstance(expected, (tuple, list)) and len(found) != len(expected):
        return f"{len(expected)} values are expected; yours are {len(found)}"
    if isinstance(expected, torch.Tensor) and isinstance(found, torch.Tensor):
        if found.shape != expected.shape:
            return f"your shape is {tuple(found.shape)}, {tuple(expected.shape)} is expected"
        if _has_nan(found):
            return "some of it is NaN, which 0 / 0 makes, 0 * infinity, and infinity - infinity"
    return None


def _has_nan(found: Any) -> bool:
    """Whether a tensor holds NaN; one without data, or not of real numbers, does not."""
    with suppress(TypeError, RuntimeError):
        return isinstance(found, torch.Tensor) and bool(np.isnan(_numbers(found)).any())
    return False


def _other_kinds(found: Any) -> Iterator[tuple[str, type, Any]]:
    """Yield (contents, kind, value) for each other kind that a value converts to."""
    # It may not be numbers or rows of them, or be a tensor without data.
    with suppress(TypeError, ValueError, RuntimeError):
        if isinstance(found, torch.Tensor):
            yield "numbers", tuple, tuple(found.tolist())
        # Generators are excluded: one may raise anything, or never end.
        elif isinstance(found, (list, tuple, np.ndarray)):
            yield "numbers", torch.Tensor, torch.stack([torch.as_tensor(row) for row in found])
    if isinstance(found, (list, tuple)) and all(isinstance(part, str) for part in found):
        yield "letters", str, "".join(found)


def _numbers(value: torch.Tensor) -> np.ndarray:
    """Return the numbers of a tensor as a NumPy array."""
    if value.is_complex():
        raise TypeError("numbers have an imaginary part")
    return (
        value.detach().to(torch.float64 if value.is_floating_point() else torch.int64).cpu().numpy()
    )


def _is_mask(value: Any) -> bool:
    """Return whether a value is a tensor of booleans."""
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def _gradients(value: Any, arguments: tuple) -> list[torch.Tensor]:
    """Return the gradients of a value's weighted sum by the learned arguments; zeros if missing.

    Learned arguments are those that require a gradient.
    """
    learned = [
        part for parts in arguments for part in (parts if isinstance(parts, list) else [parts])
    ]
    learned = [part for part in learned if isinstance(part, torch.Tensor) and part.requires_grad]
    if not learned or not isinstance(value, torch.Tensor) or not value.requires_grad:
        return [torch.zeros_like(part) for part in learned]
    try:
        # The plain sum of rows of weights is constant.
        different = torch.linspace(1, 2, value.numel()).view(value.shape)
        return list(
            torch.autograd.grad(
                (value * different).sum(), learned, allow_unused=True, materialize_grads=True
            )
        )
    # The graph was freed already.
    except RuntimeError:
        return [torch.zeros_like(part) for part in learned]


def _format_value(value: Any, digits: int = 3) -> str:
    """Format a value for print, with its shape if it is a tensor, on several lines if needed."""
    if not isinstance(value, torch.Tensor):
        return f" = {value:.{digits + 1}g}" if isinstance(value, float) else f" = {value!r}"
    kind = f" = tensor of shape {tuple(value.shape)}"
    if value.numel() == 0:
        return kind
    if value.layout != torch.strided or value.is_complex() or value.is_meta:
        return f"{kind}\n    {value!r}"
    text = np.array2string(_numbers(value), precision=digits, suppress_small=True, threshold=200)
    return "\n".join([kind, *(f"    {line}" for line in text.split("\n"))])


def _not_written(error: BaseException, answer: Callable[..., Any]) -> str | None:
    """Name the function that is not written yet; None for another error.

    Torch's errors of the same type have a text.
    """
    if not isinstance(error, NotImplementedError) or str(error):
        return None
    last = traceback.extract_tb(error.__traceback__)[-1].name
    return (
        "not written yet"
        if last == getattr(answer, "__name__", last)
        else f"calls `{last}`, which is not written yet"
    )


def _describe_stop(error: BaseException, answer: Callable[..., Any]) -> str:
    """Say how a reader's function stopped, and in which line from its `def`, where known."""
    code = getattr(answer, "__code__", None)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if code and frame.name == code.co_name
    ]
    place = f" in line {lines[-1] - code.co_firstlineno + 1}" if code and lines else ""
    if isinstance(error, _TooLong):
        return f"still runs{place} after {SECONDS} seconds; does every loop end?"
    return f"stops{place} with {type(error).__name__}: {error}"


class _TooLong(BaseException):
    """A reader's function did not end in time."""


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise `_TooLong` in code that runs too long.

    It needs signals and the main thread, where a notebook runs its cells; elsewhere there is no
    limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "setitimer"
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
