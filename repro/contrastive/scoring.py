r"""Contrastive evaluation: check whether a model prefers a reference to versions with errors.

- Sennrich: How Grammatical is Character-level Neural Machine Translation?, EACL 2017: scoring
  instead of translating.
- You, Sun, Iyyer: Hard-Coded Gaussian Attention for Neural Machine Translation, ACL 2020, Table 4
  and Figure 5: "accuracy is computed by counting how many references have lower token-level cross
  entropy loss than their contrastive counterparts".
- Raganato, Scherrer, Tiedemann: Fixed Encoder Self-Attention Patterns, Findings of EMNLP 2020,
  Figure 3 and Table 6.

    H(y | x) = -1/n sum_t ln p(y[t] | y[<t], x)
    right: H(reference) < H(c) for every contrastive translation c

`n` counts target tokens with the end mark. A tie is wrong. Both sides are rounded to `DECIMALS`
before comparison, because smaller digits depend on the order of summation. So the stored numbers
give exactly the stored accuracies.

To disable a head at test time (Raganato et al. 2020, "H8 disabled"), mask it:

    mask = [1, 1, 1, 1, 1, 1, 1, 0]
    factors = {("encoder_self", layer): mask for layer in range(6)}
    with scaled_heads(translator.model, factors):
        record = score_suite(translator, suite)
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from time import perf_counter
from typing import Any, Literal

import scipy  # which imports its parts when they are used
import torch
from torch import Tensor

from repro import stops
from repro.contrastive.suites import ContrastiveSuite, prepared_suite
from repro.core.batches import MAX_SENTENCE, EncodedPairs, cut_by_tokens
from repro.core.decoding import Translator
from repro.core.settings import READERS
from repro.core.subwords import PAD_ID
from repro.core.transformer import Transformer
from repro.errors import DamagedFileError, InputError, check_kind, shortened

KIND = "contrastive"
METRIC = "mean cross entropy of the target tokens with end mark, nats"
DECIMALS = 5
CONFIDENCE = 0.95
# The least distance of each bin, in words. The papers print no bins.
DISTANCE_BINS = (1, 2, 3, 4, 5, 6, 8, 11, 16)

Group = Literal["type", "distance", "origin"]


@dataclass(frozen=True)
class Accuracy:
    """The share of right decisions in a group of items, with its 95 % interval.

    For one model, it is the interval of Wilson (1927). For several models, `right` is a mean.
    """

    group: str
    right: float
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Return the share of contrastive items decided right."""
        return self.right / self.total

    def cell(self) -> str:
        """Return the accuracy on contrastive items with its interval in percent."""
        return f"{100 * self.value:.1f} ({100 * self.low:.0f} to {100 * self.high:.0f})"


@torch.no_grad()
def cross_entropies(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    batch_tokens: int = 2048,
) -> list[float]:
    """Return the mean cross entropy of each target, to compare contrastive ones, in nats.

    Both sides are read as the model's training text was. The end mark counts as a token. Pairs with
    the same ids are scored once, so that they tie exactly. For other pairs, batching changes only
    the last digits.

    Args:
        translator: a trained model.
        sources, targets: sentences, line by line; a source may be repeated with several targets.
        batch_tokens: padded size of a batch.

    Raises:
        InputError: unequal numbers of sources and targets, or a sentence longer than the model's
            attention allows.
    """
    if len(sources) != len(targets):
        raise InputError(
            "targets",
            f"{len(targets):,} targets for {len(sources):,} sources",
            "give one target per source",
        )
    subwords, model = translator.subwords, translator.model
    ids = [
        (tuple(src), tuple(tgt))
        for src, tgt in zip(
            *(subwords.encode(translator.prepare(list(side))) for side in (sources, targets)),
            strict=True,
        )
    ]
    distinct = list(dict.fromkeys(ids))
    pairs = EncodedPairs(
        [list(src) for src, _ in distinct],
        [list(tgt) for _, tgt in distinct],
        model.config.source_end_mark,
    )
    _check_lengths(translator, pairs)
    ordered = sorted(range(len(pairs)), key=lambda i: pairs.lengths[i])
    found: dict[Hashable, float] = {}
    device = next(model.parameters()).device
    for indices in cut_by_tokens(ordered, pairs.lengths, batch_tokens):
        stops.raise_if_stopping()
        batch = pairs.batch(indices).to(device)
        means = mean_token_losses(model(batch.src, batch.tgt_in), batch.tgt_out)
        found |= zip((distinct[i] for i in indices), means.tolist(), strict=True)
    return [found[pair] for pair in ids]


def mean_token_losses(logits: Tensor, tgt_out: Tensor) -> Tensor:
    """Return the mean cross entropy of each contrastive row's tokens, without padding.

    Args:
        logits: `(batch, tgt_len, vocab)`.
        tgt_out: the tokens to predict, `(batch, tgt_len)`.

    Returns:
        In nats, `(batch,)`.
    """
    losses = torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), tgt_out.flatten(), ignore_index=PAD_ID, reduction="none"
    )
    return losses.view_as(tgt_out).sum(dim=1) / (tgt_out != PAD_ID).sum(dim=1)


def score_suite(translator: Translator, suite: ContrastiveSuite) -> dict[str, Any]:
    """Score all items of a contrastive suite, and return a record of JSON values.

    The record holds the cross entropies of each item, in the order of the suite, and the accuracies
    by type. It is of the suite as the model reads it (`prepared_suite`), which leaves out the items
    whose error this model cannot see. The caller adds the description of the model: run,
    configuration, seed, masked heads.

    Args:
        translator: a trained model, of the direction of the suite.
        suite: the items.

    Raises:
        InputError: the suite is empty, the model sees none of its errors, or a sentence is longer
            than the model's attention allows.
    """
    check_kind("translator", translator, "load one, as in repro.load_translator(run)", Translator)
    check_kind(
        "suite", suite, "read one, as in read_suite('my/suite.json', 'en', 'de')", ContrastiveSuite
    )
    given, suite = len(suite), prepared_suite(suite, translator.prepare)
    if not suite.items:
        what = f"has no items with an error that the model sees, of {given}"
        raise InputError(suite.name, what, "choose another suite or test set")
    start = perf_counter()
    candidates = [(item.reference, *item.contrastive) for item in suite.items]
    sources = [
        item.source for item, texts in zip(suite.items, candidates, strict=True) for _ in texts
    ]
    targets = [text for texts in candidates for text in texts]
    scores = iter(cross_entropies(translator, sources, targets))
    rows = [_rounded_losses(islice(scores, len(texts))) for texts in candidates]
    record = {
        "kind": KIND,
        "suite": {
            "name": suite.name,
            "source": suite.source,
            "target": suite.target,
            "items": len(suite),
            "skipped": dict(suite.skipped),
            "sha256": suite.fingerprint,
        },
        "metric": METRIC,
        "seconds": round(perf_counter() - start, 2),
        "items": {
            "type": encode_names(item.type for item in suite.items),
            "origin": encode_names(item.origin for item in suite.items),
            "distance": [item.distance for item in suite.items],
            "reference": [row[0] for row in rows],
            "contrastive": [row[1:] for row in rows],
        },
    }
    return record | {"accuracy": _accuracies_as_json(record)}


def decisions(record: dict[str, Any]) -> list[bool]:
    """Return for each contrastive item whether the reference has the lowest cross entropy."""
    items = record["items"]
    return [
        reference < min(contrastive)
        for reference, contrastive in zip(items["reference"], items["contrastive"], strict=True)
    ]


def chance_accuracies(record: dict[str, Any]) -> dict[str, float]:
    """Return the accuracy of random choices between reference and errors, by type of error."""
    found: dict[str, list[float]] = {}
    for kind, contrastive in zip(
        _decode_names(record["items"]["type"]), record["items"]["contrastive"], strict=True
    ):
        found.setdefault(kind, []).append(1 / (1 + len(contrastive)))
    return {kind: sum(shares) / len(shares) for kind, shares in found.items()}


def accuracies(
    record: dict[str, Any], by: Group = "type", only: str | None = None
) -> list[Accuracy]:
    """Compute accuracies by group of contrastive items, from their cross entropies.

    Args:
        record: made by `score_suite`.
        by: the grouping; items without a distance belong to no group of `distance`.
        only: restrict to this type; default all.

    Returns:
        One accuracy for each group with items: types and origins in the order of the suite,
        distances from near to far.

    Raises:
        InputError: an unknown `by`.
    """
    if by not in ("type", "distance", "origin"):
        raise InputError("by", f"cannot group by '{by}'", "use type, distance or origin")
    groups = (
        _distance_bins(record["items"]["distance"])
        if by == "distance"
        else list(_decode_names(record["items"][by]))
    )
    rows = zip(groups, _decode_names(record["items"]["type"]), decisions(record), strict=True)
    counts: dict[str, list[bool]] = {
        name: []
        for name in (_distance_bin_names() if by == "distance" else groups)
        if name is not None
    }
    for group, kind, is_right in rows:
        if group is not None and only in (None, kind):
            counts[group].append(is_right)
    return [
        wilson_accuracy(group, sum(found), len(found)) for group, found in counts.items() if found
    ]


def wilson_accuracy(group: str, right: int, total: int) -> Accuracy:
    """Return the accuracy on a group of contrastive items with its Wilson interval."""
    interval = scipy.stats.binomtest(right, total).proportion_ci(CONFIDENCE, method="wilson")
    return Accuracy(group, right, total, float(interval.low), float(interval.high))


def check_contrastive_record(record: dict[str, Any]) -> None:
    """Check a contrastive record: derive its accuracies again from the stored cross entropies.

    Raises:
        DamagedFileError: they differ, or the record is incomplete.
    """
    try:
        is_whole = (
            record["kind"] == KIND and len(record["items"]["reference"]) == record["suite"]["items"]
        )
        is_sound = is_whole and _accuracies_as_json(record) == record["accuracy"]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DamagedFileError(
            "contrastive record", "is not whole", "score the suite again"
        ) from error
    if not is_sound:
        what = "its accuracies are not those of its cross entropies"
        raise DamagedFileError(f"{record['suite']['name']} record", what, "score the suite again")


def longest_readable(model: Transformer, side: Literal["source", "target"]) -> int:
    """Return how many tokens of a contrastive sentence a model can score on a side."""
    return min(model.max_len(*READERS[side]) or MAX_SENTENCE, MAX_SENTENCE)


def _check_lengths(translator: Translator, pairs: EncodedPairs) -> None:
    """Refuse contrastive sentences too long for the model's attention or for the memory."""
    sides: tuple[tuple[Literal["source", "target"], list[list[int]], int], ...] = (
        ("source", pairs.src, 0),
        ("target", pairs.tgt, 1),
    )
    for side, rows, mark in sides:
        limit = longest_readable(translator.model, side)
        longest = max(rows, key=len, default=[])
        if len(longest) + mark > limit:
            (text,) = translator.subwords.decode([longest])
            what = (
                f"has {len(longest) + mark} tokens with its mark, but this model can score {limit}"
            )
            raise InputError(
                f"the {side} '{shortened(text, 44)}'", what, "leave the item out of the suite"
            )


def _rounded_losses(values: Iterable[float]) -> list[float]:
    """Round the cross entropies of contrastive items as records store them."""
    return [round(value, DECIMALS) for value in values]


def _accuracies_as_json(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return accuracies on contrastive items as JSON values, with rounded intervals."""
    return [
        asdict(found) | {"low": round(found.low, 4), "high": round(found.high, 4)}
        for found in accuracies(record)
    ]


def encode_names(names: Iterable[str]) -> dict[str, list]:
    """Encode the names of contrastive items as indices into the distinct ones."""
    names = list(names)
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return {"names": list(places), "of": [places[name] for name in names]}


def _decode_names(encoded: dict[str, list]) -> Iterator[str]:
    """Yield the name of each contrastive item from `encode_names`."""
    return (encoded["names"][place] for place in encoded["of"])


def _distance_bin_names() -> list[str]:
    """Name the bins of distances in contrastive pairs: "0", "1", ..., "8-10", "11-15", "16+"."""
    lows = (0, *DISTANCE_BINS)
    ends = [high - 1 for high in DISTANCE_BINS]
    return [
        str(low) if low == end else f"{low}-{end}" for low, end in zip(lows, ends, strict=False)
    ] + [f"{DISTANCE_BINS[-1]}+"]


def _distance_bins(distances: list[int | None]) -> list[str | None]:
    """Return the bin of each contrastive item's distance; None without a distance."""
    names = _distance_bin_names()
    return [
        None if distance is None else names[sum(distance >= low for low in DISTANCE_BINS)]
        for distance in distances
    ]
