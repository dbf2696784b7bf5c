"""Read what a record says of likelihood: of the test references, and of dev while it was trained.

All are negative log-likelihoods of target tokens with the end mark, in nats.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

NLL, TOKENS = "nll", "tokens"
"""Columns of the table `likelihood`: of a reference its nats, and its tokens with the end mark."""
DIGITS = 6  # of nats per token in a record


def references_fields(table: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return what the record itself says of its table `likelihood`: tokens, and nats per token."""
    tokens = int(table[TOKENS].sum())
    return {"tokens": tokens, "nats_per_token": round(float(table[NLL].sum() / tokens), DIGITS)}


def reference_sums(record: dict[str, Any]) -> np.ndarray | None:
    """Return nats and tokens of each reference in a record; None if it holds none."""
    table = record["tables"].get("likelihood")
    return None if table is None else np.stack([table[NLL], table[TOKENS]], axis=1).astype(float)


def curve_of(lines: Iterable[Mapping[str, Any]]) -> list[list[float]]:
    """Return the dev curve that a record keeps of a log: updates and nats per token.

    A run that was killed may have logged an update twice. The later line is the one it went on
    from.

    Args:
        lines: as `Run.metrics` returns them.
    """
    found = {line["update"]: line["dev_nll"] for line in lines if "dev_nll" in line}
    return [[update, round(found[update], DIGITS)] for update in sorted(found)]


def dev_curve(record: dict[str, Any]) -> dict[int, float]:
    """Return the dev loss of a score record by update; empty if the record is older than curves."""
    return {int(update): nats for update, nats in record["training"].get("dev_curve", [])}
