"""Write values of exercises as JSON and read them again, so that processes need not trust another.

Pickled objects run code when they are read; numbers, texts and lists of them do not.
"""

import dataclasses
import json
from typing import Any

import numpy as np
import torch

from repro.teaching.observing import Outcome, Stop

LARGEST = 100_000  # numbers in a tensor; the answers to exercises have a few
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float16,
        torch.float32,
        torch.float64,
        torch.bool,
        torch.uint8,
        torch.int32,
        torch.int64,
    )
}


def pack(value: Any) -> Any:
    """Return a value as JSON has it; what JSON cannot hold becomes the name of its type."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value) if abs(int(value)) < 2**63 else {"type": "int"}
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (list, tuple)) and len(value) <= LARGEST:
        return {type(value).__name__: [pack(part) for part in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= LARGEST:
        return {"array": value.tolist(), "dtype": str(value.dtype), "shape": value.shape}
    if isinstance(value, torch.Tensor) and _is_plain(value):
        name = str(value.dtype).removeprefix("torch.")
        packed = {"tensor": value.detach().tolist(), "dtype": name, "shape": list(value.shape)}
        return packed | {"learned": value.requires_grad and value.is_leaf}
    return {"type": type(value).__name__}


def _is_plain(value: torch.Tensor) -> bool:
    """Whether a tensor is a plain table of real numbers."""
    dense = value.layout == torch.strided and not value.is_meta
    return dense and str(value.dtype).removeprefix("torch.") in DTYPES and value.numel() <= LARGEST


def unpack(packed: Any) -> Any:
    """Return the value of what `pack` made; an unknown type becomes an object of that name.

    Raises:
        ValueError: it was not made by `pack`.
    """
    if packed is None or isinstance(packed, (bool, str, int, float)):
        return packed
    try:
        if "tensor" in packed:
            value = torch.tensor(packed["tensor"], dtype=DTYPES[packed["dtype"]])
            return value.reshape(packed["shape"]).requires_grad_(packed["learned"] is True)
        if "array" in packed:
            dtype = np.dtype(str(packed["dtype"]))
            return np.array(packed["array"], dtype=dtype).reshape(packed["shape"])
        for kind in (list, tuple):
            if kind.__name__ in packed:
                return kind(unpack(part) for part in packed[kind.__name__])
        return type(str(packed["type"])[:60].replace("\0", ""), (), {})()
    except (TypeError, KeyError, RuntimeError, OverflowError) as error:
        raise ValueError(f"not a packed value: {type(error).__name__}") from None


def pack_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON has it."""
    stop = dataclasses.asdict(outcome.stop) if outcome.stop else None
    return {
        "value": pack(outcome.value),
        "gradients": pack(outcome.gradients),
        "changed": outcome.changed,
        "copied": outcome.copied,
        "stop": stop,
    }


def unpack_outcome(packed: dict[str, Any]) -> Outcome:
    """Return the outcome of what `pack_outcome` made.

    Raises:
        ValueError: it was not made by `pack_outcome`.
    """
    try:
        stop = packed["stop"]
        if stop:
            line = stop["line"] if isinstance(stop["line"], int) else None
            words = (str(stop[key])[:500] for key in ("kind", "message", "function"))
            kind, message, function = words
            return Outcome(stop=Stop(kind, message, line, function))
        gradients = unpack(packed["gradients"])
        changed, copied = (bool(packed[key]) for key in ("changed", "copied"))
        return Outcome(unpack(packed["value"]), gradients, changed, copied)
    except (TypeError, KeyError) as error:
        raise ValueError(f"not a packed outcome: {type(error).__name__}") from None


def to_line(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message).encode() + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """Return the message of a line.

    Raises:
        ValueError: it is not an object of JSON.
    """
    try:
        message = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message
