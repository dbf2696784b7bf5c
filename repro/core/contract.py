"""Check the promises of `AttentionWeights`, and say in words which of them a variant breaks.

Sizes differ pairwise: equal ones hide transposes. Lengths are on both sides of the usual borders of
blocks.
"""

import copy
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from repro.core.attention.base import AttentionWeights, Positions
from repro.core.attention.masks import causal_mask
from repro.core.attention.multihead import MultiHeadAttention
from repro.core.attention.spec import build_weights
from repro.core.attention.variants import options_of
from repro.core.config import ModelConfig
from repro.core.layers import Cache, DecoderLayer
from repro.core.numbering import FIRST

LENGTHS = (1, 5, 19, 67)
BATCH, NUM_HEADS, HEAD_DIM = 2, 4, 6
EMBED_DIM = NUM_HEADS * HEAD_DIM
MAX_LEN = 80  # the size of tables of positions, whose default takes long
PADDED = 2  # keys at the end of the second sentence, where it has as many to spare
ROUNDING = 1e-10
OF_FLOAT32 = 1e-5  # a difference below it is what float32 rounds


class BrokenPromise(AssertionError):
    """A variant breaks a promise; the message says which, where and by how much."""


def require(holds: bool | Tensor, what: str) -> None:
    """Raise `BrokenPromise` with these words unless something holds."""
    if not holds:
        raise BrokenPromise(what)


class Case(NamedTuple):
    """The weights of a layer and what they are asked: inputs, and a mask.

    The mask blocks padding and, in the decoder, the future.
    """

    weights: AttentionWeights
    query: Tensor
    key: Tensor
    blocked: Tensor
    positions: Positions

    def weigh(self) -> Tensor:
        """Return the weights, `(batch, num_heads, query_len, key_len)`.

        Raises:
            InputError: `forward` returned another shape.
        """
        key_len = self.key.shape[1]
        key = self.weights.project_key(self.key, torch.arange(key_len))
        # times one: `attend` itself, which a variant may override, checks the shape
        one = torch.eye(key_len, dtype=self.query.dtype)
        one = one.expand(len(self.query), self.weights.num_heads, -1, -1)
        return AttentionWeights.attend(
            self.weights, self.query, key, one, self.blocked, self.positions
        )


def build_one(
    spec: str, site: str, dropout: float = 0.0, max_len: int = MAX_LEN
) -> AttentionWeights:
    """Return the weights of the second layer.

    An option `max_len` stays small, since tables of positions take long.
    """
    name, _, options = spec.removesuffix(")").partition("(")
    if "max_len" not in options and "max_len" in options_of(name):
        spec = f"{name}({', '.join(part for part in (f'max_len={max_len}', options) if part)})"
    return build_weights(spec, site, 2, EMBED_DIM, NUM_HEADS, dropout, 1.3)[1]


def make(
    spec: str,
    site: str,
    length: int = 5,
    dtype: torch.dtype = torch.float64,
    dropout: float = 0.0,
    max_len: int = MAX_LEN,
) -> Case:
    """Return a case of `length` queries; a source sentence has two tokens more than that."""
    weights = build_one(spec, site, dropout, max_len).to(dtype)
    key_len = length + 2 if site == "cross" else length
    query = torch.randn(BATCH, length, EMBED_DIM, dtype=dtype)
    key = torch.randn(BATCH, key_len, EMBED_DIM, dtype=dtype) if site == "cross" else query
    positions = Positions(
        torch.arange(length), words_of(length) if site == "encoder_self" else None
    )
    padded = torch.zeros(BATCH, 1, 1, key_len, dtype=torch.bool)
    padded[1, ..., max(1, key_len - PADDED) :] = True
    blocked = padded | causal_mask(positions.query, key_len) if site == "decoder_self" else padded
    return Case(weights, query, key, blocked, positions)


def tokens(length: int) -> str:
    """Return a length in words."""
    return f"{length} token{'s' * (length != 1)}"


def words_of(length: int) -> Tensor:
    """Return the word that each token is a piece of; the two sentences are cut differently."""
    i = torch.arange(length)
    return (
        torch.stack([(i % 5 % 2 == 0) & (i > 0), (i % 7 % 3 == 1) & (i > 0)]).long().cumsum(dim=1)
    )


def lengths_of(spec: str, site: str) -> list[int]:
    """Return the lengths that a variant is defined for, with the two more tokens of a source."""
    longest = build_one(spec, site).max_len
    return [length for length in LENGTHS if longest is None or length + 2 <= longest]


def check_same(found: Tensor, expected: Tensor, what: str) -> None:
    """Fail where two tensors `(batch, positions, ...)` differ, naming the first position."""
    apart = (found - expected).abs().flatten(2).amax(-1).amax(0)  # of each position
    wrong = (~(apart <= ROUNDING)).nonzero()[:, 0].tolist()
    if wrong:
        by = float(apart[wrong[0]])
        hint = (
            ". So little is rounding: the contract computes in float64, so take the type of the "
            "query, as in x.to(query.dtype) for x.float()"
        )
        said = hint if by < OF_FLOAT32 else ""
        raise BrokenPromise(f"{what}: position {wrong[0]} differs by {by:.2g}{said}")


@torch.no_grad()
def check_nothing_later_counts(spec: str, length: int) -> None:
    """Change each token in turn: no earlier output may change.

    Row t of a batch has token t changed, the last row none.
    """
    weights = build_one(spec, "decoder_self").double().eval()
    layer = MultiHeadAttention(weights, EMBED_DIM).double()
    text = torch.randn(length, EMBED_DIM, dtype=torch.float64).expand(length + 1, -1, -1).clone()
    text[range(length), range(length)] += torch.randn(length, EMBED_DIM, dtype=torch.float64)
    at = torch.arange(length)
    output = layer(text, layer.project(text), causal_mask(at, length), Positions(at))
    moved = (output[:-1] - output[-1]).abs().amax(-1)  # (changed token, position)
    early = (moved > ROUNDING) & (at < at[:, None])
    where = f"{spec} at decoder_self, {tokens(length)}"
    if pairs := early.nonzero().tolist():
        # the only key of the first position has all of its weight, which tells nothing
        changed, at_query = next((pair for pair in pairs if pair[1] > 0), pairs[0])
        both = text[[changed, -1]]
        case = Case(weights, both, both, causal_mask(at, length), Positions(at))
        token, position = pairs[0]
        raise BrokenPromise(
            f"{where}: position {position} changed when token {token} changed, which is not there "
            f"yet: {_why_the_future_counts(case.weigh()[..., at_query, :], at_query)}"
        )
    if length > 5:
        require((moved > ROUNDING).any(), f"{where}: no output changes, whichever token changes")


def _why_the_future_counts(rows: Tensor, position: int) -> str:
    """Say how a later token got into a row of weights.

    Args:
        rows: the row with the token changed and as it was, `(2, num_heads, key_len)`.
        position: of the query.
    """
    seen, future = rows[..., : position + 1], rows[..., position + 1 :]
    if (future != 0).any():
        return "it has a weight of its own"
    changed, before = seen
    if torch.allclose(changed, before, rtol=0, atol=ROUNDING):
        return "the weights are the same, so keys or values mix with their neighbours"
    share, share_before = (row / row.sum(-1, keepdim=True) for row in (changed, before))
    if torch.allclose(share, share_before, rtol=0, atol=ROUNDING):
        return "all weights of the row shrink or grow alike: blocked keys are in the normaliser"
    return "it is in the scores of earlier keys"


@torch.no_grad()
def check_step_by_step(spec: str, site: str) -> None:
    """Read one token at a time through the real cache, and all at once, up to each length.

    Search does the first, training the second.
    """
    lengths = lengths_of(spec, site)
    longest, source_len = max(lengths), max(lengths) + 2
    weights = build_one(spec, site)
    own, cross = (weights, None) if site == "decoder_self" else (None, weights)
    config = ModelConfig(embed_dim=EMBED_DIM, num_heads=NUM_HEADS, ffn_dim=2, dropout=0.0)
    layer = DecoderLayer(config, own, cross).double().eval()
    text = torch.randn(BATCH, longest, EMBED_DIM, dtype=torch.float64)
    encoded = torch.randn(BATCH, source_len, EMBED_DIM, dtype=torch.float64)
    source_blocked = torch.zeros(BATCH, 1, 1, source_len, dtype=torch.bool)
    source_blocked[1, ..., -PADDED:] = True

    def read(start: int, end: int, cache: Cache) -> tuple[Tensor, Cache]:
        positions = torch.arange(start, end)
        return layer(
            text[:, start:end],
            cache,
            causal_mask(positions, end),
            source_blocked,
            Positions(positions),
        )

    cache, steps = layer.start(encoded), []
    for i in range(longest):
        output, cache = read(i, i + 1, cache)
        steps.append(output)
    for length in lengths:
        whole = read(0, length, layer.start(encoded))[0]
        what = (
            f"{spec} at {site}, {tokens(length)}: read one at a time through the cache, not all at "
            "once, it gives something else"
        )
        check_same(torch.cat(steps[:length], dim=1), whole, what)


@torch.no_grad()
def check_rows_on_their_own(spec: str, site: str, length: int) -> None:
    """Ask one query at a time about the same keys: a row may depend on its own query only."""
    case = make(spec, site, length)
    together = case.weigh()
    blocked = case.blocked.expand(-1, -1, length, -1)
    rows = []
    for i in range(length):
        positions = case.positions._replace(query=case.positions.query[i : i + 1])
        one = case._replace(
            query=case.query[:, i : i + 1], blocked=blocked[:, :, i : i + 1], positions=positions
        )
        rows.append(one.weigh())
    what = f"{spec} at {site}, {tokens(length)}: a row of weights depends on the other queries"
    check_same(torch.cat(rows, dim=2).transpose(1, 2), together.transpose(1, 2), what)


@torch.no_grad()
def check_padding_and_batch(spec: str, site: str, length: int) -> None:
    """Reverse the batch, and take a sentence out of it: neither may change a result."""
    weights, query, key, blocked, positions = make(spec, site, length)
    layer = MultiHeadAttention(weights, EMBED_DIM).double().eval()
    whole = layer(query, layer.project(key), blocked, positions)
    words = None if positions.words is None else positions.words.flip(0)
    arguments = (blocked.expand(BATCH, 1, -1, -1).flip(0), positions._replace(words=words))
    flipped = layer(query.flip(0), layer.project(key.flip(0)), *arguments).flip(0)
    where = f"{spec} at {site}, {tokens(length)}"
    check_same(flipped, whole, f"{where}: the order of the sentences in a batch counts")
    real = int((~blocked[1, 0, -1]).sum())
    rows = slice(None) if site == "cross" else slice(real)  # a padded position asks nothing
    words = None if positions.words is None else positions.words[1:, :real]
    blocked = blocked.expand(BATCH, 1, length, -1)[1:, :, rows, :real]
    cut = layer(
        query[1:, rows],
        layer.project(key[1:, :real]),
        blocked,
        Positions(positions.query[rows], words),
    )
    check_same(
        cut,
        whole[1:, rows],
        f"{where}: a sentence alone, not padded beside a longer one, gives something else",
    )


@torch.no_grad()
def check_weights(spec: str, site: str, length: int) -> None:
    """Check sign, blocked keys and sums of the weights."""
    case, where = make(spec, site, length), f"{spec} at {site}, {tokens(length)}"
    result, weights = case.weigh(), case.weights
    require(result.isfinite().all(), f"{where}: a weight is not finite")
    require(
        weights.signed or (result >= 0).all(),
        f"{where}: a weight is below zero, {float(result.min()):.2g}. "
        "If that is meant, its class says signed = True",
    )
    result, blocked = torch.broadcast_tensors(result, case.blocked)
    if (result[blocked] != 0).any():
        most = float(result[blocked].abs().max())
        raise BrokenPromise(f"{where}: a blocked key has the weight {most:.2g}")
    require((result[~blocked] != 0).any() or length == 1, f"{where}: no key has any weight")
    if weights.rows_sum_to_one:
        _check_sums(result[0], where)


def _check_sums(weights: Tensor, where: str) -> None:
    """Check the rows of a sentence without padding, `(num_heads, query_len, key_len)`."""
    sums = weights.sum(dim=-1)
    for head, row in ((sums - 1).abs() > 1e-6).nonzero().tolist()[:1]:
        what = f"row {row} of head {head + FIRST} sums to {float(sums[head, row]):.4f}, not to one"
        raise BrokenPromise(
            f"{where}: {what}. If that is meant, its class says rows_sum_to_one = False"
        )


@torch.no_grad()
def check_calls_do_not_meet(spec: str, site: str) -> None:
    """Ask about one text, then another of the same shape: what was asked first may not count."""
    case, where = make(spec, site), f"{spec} at {site}"
    case.weights.eval()
    fresh, first = copy.deepcopy(case.weights), case.weigh()
    check_same(
        case.weigh().transpose(1, 2),
        first.transpose(1, 2),
        f"{where}: the same call gives something else the second time",
    )
    other = case._replace(query=torch.randn_like(case.query), key=torch.randn_like(case.key))
    other = other if site == "cross" else other._replace(key=other.query)
    late, expected = other.weigh(), other._replace(weights=fresh).weigh()
    check_same(
        late.transpose(1, 2),
        expected.transpose(1, 2),
        f"{where}: what an earlier call was given changes a later one",
    )


@torch.no_grad()
def check_rows_without_keys(spec: str, site: str) -> None:
    """Block every key of a row: its weights are zero, not NaN."""
    case = make(spec, site)
    blocked = case.blocked.expand(BATCH, 1, 5, -1).clone()
    blocked[0, :, 1] = True
    row = case._replace(blocked=blocked).weigh()[0, :, 1]
    wrong = row[row != 0]  # which NaN is, too
    if len(wrong):
        what = f"a row with every key blocked has the weight {float(wrong[0]):.2g}, not zero"
        raise BrokenPromise(f"{spec} at {site}: {what}")


@torch.no_grad()
def check_saved(spec: str, site: str) -> None:
    """Load the saved state into another one: it gives the same weights."""
    case = make(spec, site)
    other = build_one(spec, site).double()
    other.load_state_dict(case.weights.state_dict())
    what = (
        f"{spec} at {site}: saved and loaded, it gives something else: what is drawn must be a "
        "parameter or a buffer"
    )
    check_same(
        case._replace(weights=other).weigh().transpose(1, 2), case.weigh().transpose(1, 2), what
    )


def broken_promises(spec: str, site: str) -> list[str]:
    """Return in words what is wrong with a variant at a site; empty if it keeps every promise."""
    checks = [check_rows_without_keys, check_saved, check_calls_do_not_meet]
    checks += [check_step_by_step] if site != "encoder_self" else []
    calls: list[Callable[[], None]] = [partial(check, spec, site) for check in checks]
    for length in lengths_of(spec, site):
        calls += [
            partial(check, spec, site, length)
            for check in (check_weights, check_padding_and_batch, check_rows_on_their_own)
        ]
        calls += (
            [partial(check_nothing_later_counts, spec, length)] if site == "decoder_self" else []
        )
    found = []
    for call in calls:
        try:
            call()
        except BrokenPromise as error:
            found.append(str(error))
    return found
