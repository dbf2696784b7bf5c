"""Call a reader's function with one case, and note everything that can be wrong with the call."""

import copy
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch

from repro.teaching.values import equal

SECONDS = 20  # for a call on a small input
TOO_LONG = "TooLong"


@dataclass
class Stop:
    """How a call ended without a value.

    Args:
        kind: the name of the exception's type; `TOO_LONG` if it was stopped.
        message: the exception's text; the seconds if it was stopped.
        line: from the function's own `def`, counted from 1; None where it is not known.
        function: the name of the function that raised.
    """

    kind: str
    message: str
    line: int | None = None
    function: str = ""


@dataclass
class Outcome:
    """What a call with one case returned and did.

    Args:
        value: what the function returned.
        gradients: of the value's weighted sum by the arguments that are learned.
        changed: the function changed its arguments.
        copied: it called the definition, or the package, which is no answer of its own.
        stop: set if it did not return.
    """

    value: Any = None
    gradients: list[torch.Tensor] = field(default_factory=list)
    changed: bool = False
    copied: bool = False
    stop: Stop | None = None


def observe(
    answer: Callable[..., Any],
    case: tuple,
    definition: Callable[..., Any] | None = None,
    seconds: float | None = None,
    timer: int = signal.ITIMER_REAL,
) -> Outcome:
    """Call a function with a copy of a case. No answer raises here.

    Args:
        answer: the function.
        case: its arguments.
        definition: the function that it may not call.
        seconds: after which it is stopped; `SECONDS` if not given.
        timer: `ITIMER_PROF` counts seconds of the processor, `ITIMER_REAL` those on the clock.
    """
    seconds = SECONDS if seconds is None else seconds
    given = copy.deepcopy(case)
    watched = _Watch(getattr(definition, "__code__", None))
    try:
        with _time_limit(seconds, timer), watched:
            value = answer(*given)
    # A reader's function may raise anything.
    except (Exception, SystemExit, _TooLong) as error:
        return Outcome(stop=_stop(error, answer, seconds))
    changed = not equal(given, case, tolerance=0)
    return Outcome(value, gradients(value, given), changed, watched.seen)


def gradients(value: Any, arguments: tuple) -> list[torch.Tensor]:
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


class _Watch:
    """Notice calls of the definition and of this package while a reader's function runs."""

    def __init__(self, definition: CodeType | None) -> None:
        self.definition, self.seen = definition, False

    def __enter__(self) -> None:
        self.before = sys.getprofile()
        sys.setprofile(self._called)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self.before)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        ours = module.startswith("repro.") and not module.startswith("repro.teaching")
        if event == "call" and (ours or frame.f_code is self.definition):
            self.seen = True


def _stop(error: BaseException, answer: Callable[..., Any], seconds: float) -> Stop:
    """Return how a call ended, with the line where it is known."""
    code, steps = getattr(answer, "__code__", None), traceback.extract_tb(error.__traceback__)
    lines = [step.lineno for step in steps if code and step.name == code.co_name and step.lineno]
    line = lines[-1] - code.co_firstlineno + 1 if code and lines else None
    if isinstance(error, _TooLong):
        return Stop(TOO_LONG, f"{seconds:g}", line)
    return Stop(type(error).__name__, str(error), line, steps[-1].name)


class _TooLong(BaseException):
    """A reader's function did not end in time."""


@contextmanager
def _time_limit(seconds: float, timer: int) -> Iterator[None]:
    """Raise `_TooLong` in code that runs too long.

    It needs signals and the main thread, where a notebook runs its cells; elsewhere there is no
    limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLong

    number = signal.SIGPROF if timer == signal.ITIMER_PROF else signal.SIGALRM
    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)
