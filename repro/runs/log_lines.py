"""Print lines about training where no progress bar is seen: in batch jobs and in workers."""

import math
import sys
import time
from typing import Any

from repro.core.config import RunConfig
from repro.runs.naming import run_name

SILENCE = 60  # seconds between two lines at most, apart from those of evaluations


class LogLines:
    """Print a line on standard error after every evaluation, and at least once a minute.

    Args:
        config: of the run.
    """

    def __init__(self, config: RunConfig) -> None:
        self._name, self._updates = run_name(config), config.train.max_updates
        self._told: float | None = None

    def __call__(self, line: dict[str, Any]) -> None:
        """Take a line of metrics."""
        now = time.monotonic()
        if self._told is None:
            self._told = now
        if "dev_nll" in line or now - self._told > SILENCE:
            self._told = now
            print(f"{self._name}: {describe(line, self._updates)}", file=sys.stderr, flush=True)


def describe(line: dict[str, Any], updates: int) -> str:
    """Return a line of metrics in words, with the time left at this speed."""
    update = line["update"]
    parts = [f"update {update:,} of {updates:,}", f"loss {line['loss']:.3f}"]
    if "dev_nll" in line:
        parts.append(f"dev perplexity {math.exp(min(line['dev_nll'], 50)):.2f}")
    parts.append(f"{line['tokens_per_second']:,} tokens/s")
    if left := math.ceil(line["seconds"] / update * (updates - update) / 60):
        parts.append(f"{left} minute{'s' * (left > 1)} left at most")
    return ", ".join(parts)
