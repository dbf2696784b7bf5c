"""Compare and print what functions return: numbers, texts, tensors, and rows of them."""

from contextlib import suppress
from typing import Any

import numpy as np
import torch

TOLERANCE = 1e-5
ROUNDED = 2e-3


def equal(found: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
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
        numbers_of(value) if isinstance(value, torch.Tensor) else value
        for value in (found, expected)
    )
    found, expected = np.asarray(found), np.asarray(expected)
    # NumPy would read numbers from text.
    if found.dtype.kind in "USO":
        return False
    found = found.astype(np.float64)
    return found.shape == expected.shape and bool(_close(found, expected, tolerance).all())


def _close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Return which numbers are equal within a tolerance; a count is exact."""
    tolerance *= expected.dtype.kind == "f"
    return np.isclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def first_wrong(found: Any, expected: Any) -> tuple[int, ...] | None:
    """Return the index of the first entry that differs between two tensors of the same shape.

    None for values of another kind or shape, and for a single number.
    """
    with suppress(TypeError, RuntimeError):
        if isinstance(found, torch.Tensor) and isinstance(expected, torch.Tensor):
            yours, wanted = numbers_of(found), numbers_of(expected)
            if yours.shape == wanted.shape and yours.ndim:
                wrong = np.argwhere(~_close(yours.astype(np.float64), wanted, TOLERANCE))
                return tuple(int(index) for index in wrong[0]) if len(wrong) else None
    return None


def numbers_of(value: torch.Tensor) -> np.ndarray:
    """Return the numbers of a tensor as a NumPy array.

    Raises:
        TypeError: they are complex.
    """
    if value.is_complex():
        raise TypeError("numbers have an imaginary part")
    return (
        value.detach().to(torch.float64 if value.is_floating_point() else torch.int64).cpu().numpy()
    )


def has_nan(value: Any) -> bool:
    """Whether a tensor holds NaN; one without data, or not of real numbers, does not."""
    with suppress(TypeError, RuntimeError):
        return isinstance(value, torch.Tensor) and bool(np.isnan(numbers_of(value)).any())
    return False


def is_mask(value: Any) -> bool:
    """Return whether a value is a tensor of booleans."""
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def format_value(value: Any, digits: int = 3) -> str:
    """Format a value for print, with its shape if it is a tensor, on several lines if needed."""
    if not isinstance(value, torch.Tensor):
        return f" = {value:.{digits + 1}g}" if isinstance(value, float) else f" = {value!r}"
    kind = f" = tensor of shape {tuple(value.shape)}"
    if value.numel() == 0:
        return kind
    if value.layout != torch.strided or value.is_complex() or value.is_meta:
        return f"{kind}\n    {value!r}"
    numbers = numbers_of(value).astype(bool) if is_mask(value) else numbers_of(value)
    text = np.array2string(numbers, precision=digits, suppress_small=True, threshold=200)
    return "\n".join([kind, *(f"    {line}" for line in text.split("\n"))])
