"""Say in words how an answer differs from the expected value, apart from known mistakes."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from repro.teaching.values import equal, first_wrong, has_nan


def other_kind(found: Any, expected: Any) -> str | None:
    """Say that the contents are right, but of another kind; None if that is not so."""
    for what, kind, value in _other_kinds(found):
        if isinstance(expected, kind) and not isinstance(found, kind) and equal(value, expected):
            return (
                f"the {what} are right, but a {kind.__name__.lower()} is expected; yours is a "
                f"{type(found).__name__.lower()}"
            )
    return None


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


def wrong_shape_only(found: Any, expected: Any) -> str | None:
    """Say that only the shape is wrong; None if that is not so."""
    both = (
        isinstance(found, torch.Tensor)
        and isinstance(expected, torch.Tensor)
        and found.numel() == expected.numel()
    )
    if both and found.shape != expected.shape and equal(found.flatten(), expected.flatten()):
        return (
            f"the numbers are right, but their shape is {tuple(found.shape)}; "
            f"{tuple(expected.shape)} is expected"
        )
    return None


def wrong_factor(found: Any, expected: Any) -> str | None:
    """Say that every number is wrong by the same factor; None if that is not so."""
    both = isinstance(found, torch.Tensor) and isinstance(expected, torch.Tensor)
    if not both or found.shape != expected.shape or expected.dtype == torch.bool:
        return None
    if found.is_meta or found.is_complex() or found.layout != torch.strided:
        return None
    wanted, yours = expected.detach().double(), found.detach().double()
    if (wanted != 0).sum() < 2 or not yours.any():
        return None
    factor = ((yours * wanted).sum() / wanted.square().sum()).item()
    if not equal(yours, factor * wanted):
        return None
    return (
        f"every number is {factor:.4g} times what it should be: does a division or a factor "
        "lack, is it one too many, or of the wrong size?"
    )


def difference_in_kind(found: Any, expected: Any) -> str | None:
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
            return _shapes(found, expected)
        if has_nan(found):
            return "some of it is NaN, which 0 / 0 makes, 0 * infinity, and infinity - infinity"
    return None


def _shapes(found: torch.Tensor, expected: torch.Tensor) -> str:
    """Say which shape is wrong, and why one axis is missing, where that is known."""
    said = f"your shape is {tuple(found.shape)}, {tuple(expected.shape)} is expected"
    if found.ndim == 1 and expected.ndim == 2 and len(found) in expected.shape:
        said += (
            ". You took one number for each place, with the same index twice, as on a diagonal. "
            "Pair every row with every column: `a[:, None]` beside `b`"
        )
    return said


def first_wrong_entry(found: Any, expected: Any) -> str | None:
    """Say where a value differs first, and by what; None for a single number or another shape."""
    if isinstance(expected, (tuple, list)) and isinstance(found, (tuple, list)):
        pairs = enumerate(zip(found, expected, strict=False))
        wrong = [(place, *pair) for place, pair in pairs if not equal(*pair)]
        if not wrong or not all(isinstance(value, (int, float)) for value in wrong[0]):
            return None
        place, yours, wanted = wrong[0]
        return f"first wrong value, number {place + 1}: yours {yours:.4g}, expected {wanted:.4g}"
    place = first_wrong(found, expected)
    if place is None:
        return None
    yours, wanted = (_entry(value[place]) for value in (found, expected))
    return f"first wrong entry, {list(place)}: yours {yours}, expected {wanted}"


def _entry(value: torch.Tensor) -> str:
    """Return one number of a tensor as text; a mask has True and False."""
    number = value.item()
    return str(number) if isinstance(number, (bool, int)) else f"{number:.3f}"
