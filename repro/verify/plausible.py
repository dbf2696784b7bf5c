"""Check shapes and ranges of numbers that cannot be derived without the model or a clock."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from repro.claims.evidence import Record
from repro.core.config import SELF_SITES, SITES
from repro.records.likelihood import DIGITS, NLL, TOKENS

SLACK = 0.001  # of the sum of a row of rounded weights
RANGES = {"confidence": 1, "rarest": 1, "two_rarest": 1, "divergence": math.log(2)}
"""The highest possible number of a site in a head record; the lowest is 0.

Divergence is in nats, the others are shares.
"""
# These fields of a site in a head record do not have rows of heads by layer.
NOT_BY_HEAD = ("num_queries", "available", "rare_queries", "divergence")


def check_training(record: Record) -> Iterator[str]:
    """Verify a record's training: yield a message for an impossible end or average."""
    training, schedule = record["training"], record["config"]["train"]
    update, every = training["update"], schedule["eval_every"]
    if not 0 < update <= schedule["max_updates"] or (
        update % every and update != schedule["max_updates"]
    ):
        yield (
            f"update {update} cannot end a training of {schedule['max_updates']} updates "
            f"with a check every {every}"
        )
    elif schedule["schedule"] == "linear" and update < schedule["max_updates"]:
        yield f"update {update} is before the end of a linear schedule of {schedule['max_updates']}"
    if training["averaged"] != (expected := min(schedule["average"], math.ceil(update / every))):
        yield f"averaged checkpoints: stored {training['averaged']}, derived {expected}"


def check_dev_curve(record: Record) -> Iterator[str]:
    """Yield a message for a dev curve that this training cannot have; older records have none."""
    training, every = record["training"], record["config"]["train"]["eval_every"]
    update, curve = training["update"], training.get("dev_curve")
    if not curve:  # a copy of a run may lack its log
        return
    expected = [*range(every, update, every), update]
    if [point[0] for point in curve] != expected or any(len(point) != 2 for point in curve):
        yield f"dev curve: is not of the updates {expected[0]} to {update}, every {every}"
    elif abs(min(nats for _, nats in curve) - training["best_dev_nll"]) > 10**-DIGITS:
        yield f"dev curve: its least is not {training['best_dev_nll']:.6f}, the best of training"


def check_likelihood(record: Record) -> Iterator[str]:
    """Verify a record's likelihood of references: yield a message if no model gives it."""
    table = record["tables"]["likelihood"]
    nll, tokens = table[NLL], table[TOKENS]
    if table.num_rows != record["sentences"]:
        yield f"likelihood: is of {table.num_rows:,} references, not {record['sentences']:,}"
    if not (np.isfinite(nll).all() and (nll >= 0).all() and (tokens >= 1).all()):
        yield "likelihood: has a reference without a token, or nats that are not from 0"


def check_site_shapes(site: str, found: dict[str, Any], heads: list[int]) -> Iterator[str]:
    """Verify a head record: yield a message for a field whose shape contradicts its heads.

    Rows are as long as that of the layer with most heads.
    """
    known = [sum(value is not None for value in row) for row in found["confidence"]]
    if known != heads:
        yield f"{site}: has {known} heads by layer, not {heads}"
    for name, rows in found.items():
        if name not in NOT_BY_HEAD and (sizes := [len(row) for row in rows]) != [max(heads)] * len(
            heads
        ):
            yield (
                f"{site} {name}: has rows of {sizes} heads, not of {max(heads)} in {len(heads)} "
                "layers"
            )
    for name, most in RANGES.items():
        if not all(
            0 <= value <= most + SLACK for row in found[name] for value in row if value is not None
        ):
            yield f"{site} {name}: is not from 0 to {most:.4g}"
    if (sizes := [len(row) for row in found["divergence"]]) != [len(heads)] * len(heads):
        yield f"{site} divergence: has rows of {sizes} layers, not of {len(heads)}"


def check_maps(record: Record) -> Iterator[str]:
    """Yield a message for every map that cannot be attention on the record's sentence.

    Its shape follows from the tokens; weights are at least 0, and rows sum to at most 1.
    """
    model, lengths = (
        record["config"]["model"],
        {"source": len(record["source"]), "target": len(record["target"])},
    )
    sides = {
        "encoder_self": ("source", "source"),
        "decoder_self": ("target", "target"),
        "cross": ("target", "source"),
    }
    for site in SITES:
        layers = record["weights"][site]
        if len(layers) != model["encoder_layers" if site == "encoder_self" else "decoder_layers"]:
            yield f"maps of {site}: has {len(layers)} layers"
        for number, weights in enumerate(layers, start=1):
            if weights is not None and not _is_attention(
                weights, *(lengths[side] for side in sides[site])
            ):
                yield f"maps of {site}, layer {number}: are not weights of {lengths}"


def _is_attention(weights: Any, queries: int, keys: int) -> bool:
    """Verify that weights can be attention from so many queries to so many keys."""
    found = np.array(weights, dtype=float)
    return found.shape[1:] == (queries, keys) and bool(
        (found >= 0).all() and (found.sum(axis=-1) <= 1 + SLACK).all()
    )


def check_off_diagonal(record: Record) -> Iterator[str]:
    """Verify a record's off-diagonal shares: from 0 to 1, and of as many sentences by site."""
    shares = {site: np.array(record["shares"][site], dtype=float) for site in SELF_SITES}
    if len({len(found) for found in shares.values()}) != 1:
        yield "shares: are of different numbers of sentences"
    for site, found in shares.items():
        if not ((found >= 0) & (found <= 1)).all():
            yield f"shares of {site}: are not between 0 and 1"


def check_speed(record: Record) -> Iterator[str]:
    """Verify a speed record: rates above 0, and its own run in the session."""
    rates = np.array(record["sentences_per_second"], dtype=float)
    if not len(rates) or not (rates > 0).all() or record["threads"] < 1:
        yield "sentences per second: are not all above 0, or of no thread"
    if record["run"] not in record["sitting"]:
        yield f"sitting: is without {record['run']}"


def check_kept_heads(point: dict[str, Any], whole: dict[str, list[int]]) -> Iterator[str]:
    """Verify a pruning record: no head kept that did not exist, or twice."""
    kept = [
        (site, layer, head)
        for site in SITES
        for layer, heads in enumerate(point["kept_heads"][site])
        for head in heads
    ]
    before = {
        (site, layer, head)
        for site in SITES
        for layer, number in enumerate(whole[site])
        for head in range(number)
    }
    if len(set(kept)) < len(kept) or not before.issuperset(kept):
        yield f"{point['run']} keeps heads that were not there, or one twice"
