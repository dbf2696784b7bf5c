"""Expect errors by their structure: kind, place, and the values that they name."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from repro.errors import ReproError


@contextmanager
def refuses(
    kind: type[ReproError], where: object, *values: object
) -> Iterator[pytest.ExceptionInfo[ReproError]]:
    """Expect an error of one line in the block; its wording is free.

    Args:
        kind: of the error.
        where: its place, or the end of a path that is its place.
        values: found in what is wrong or in the fix.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert error.where.endswith(str(where)), error
    assert error.what and error.fix and "\n" not in str(error)
    missing = [value for value in values if str(value) not in f"{error.what}. Fix: {error.fix}"]
    assert not missing, error
