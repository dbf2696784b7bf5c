"""What these exercises ask for, from its definition: Vaswani et al. (NeurIPS 2017), sections 3.2.1
and 3.2.2."""

import math

import torch

from repro import exercise


def table(num_rows, num_columns, number):
    """Return a matrix of `number(i, j)`."""
    return torch.tensor(
        [[float(number(i, j)) for j in range(num_columns)] for i in range(num_rows)]
    )


def normal(num_rows, num_columns, seed):
    """Return random numbers, rounded so that they can be read."""
    return torch.randn(num_rows, num_columns, generator=torch.Generator().manual_seed(seed)).round(
        decimals=1
    )


@exercise(
    cases=[
        (
            torch.tensor([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, -1.0], [3.0, 1.0, 0.0, 2.0]]),
            torch.tensor([[2.0, 0.0, 1.0, 0.0], [0.0, 4.0, 0.0, 2.0]]),
        ),
        (torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0], [0.0, 1.0], [2.0, 2.0]])),
    ],
    hints=[
        "How many numbers are added up in the product of one query and one key?",
        (
            "Work out one number on paper: query 0 and key 0 of the first case give 1 * 2 + 2 * 1 "
            "= 4, divided by the root of the width 4."
        ),
        "`query @ key.T` has all products; divide it by `math.sqrt(query.shape[-1])`.",
    ],
    hidden=[(normal(3, 5, seed=7), normal(4, 5, seed=8))],
)
def scaled_scores(query, key):
    products = [
        [sum(q * k for q, k in zip(row, other, strict=True)) for other in key.tolist()]
        for row in query.tolist()
    ]
    return table(len(query), len(key), lambda i, j: products[i][j] / math.sqrt(query.shape[1]))


@scaled_scores.mistake
def number_of_keys(query, key):
    """You divided by the root of the number of keys. It is the width of a query: how many numbers
    are added up in a product."""
    return query @ key.T / math.sqrt(len(key))


@scaled_scores.mistake
def number_of_keys_itself(query, key):
    """You divided by the number of keys, as for a mean over keys. It is the root of the width."""
    return query @ key.T / len(key)


@scaled_scores.mistake
def root_of_all_numbers(query, key):
    """You divided by the root of how many numbers all queries have together. Added up in a product
    are those of one query: the root of `query.shape[-1]`."""
    return query @ key.T / math.sqrt(query.numel())


@scaled_scores.mistake
def cosine(query, key):
    """These are cosines: you divided by the lengths of the vectors. Attention divides by the root
    of the width, so that long vectors still speak louder."""
    return (query / query.norm(dim=-1, keepdim=True)) @ (key / key.norm(dim=-1, keepdim=True)).T


@scaled_scores.mistake
def times_the_root(query, key):
    """You multiplied by the root of the width; the products are divided by it."""
    return query @ key.T * math.sqrt(query.shape[1])


@scaled_scores.mistake
def not_scaled(query, key):
    """The products are not divided. The wider a head, the larger they get, and the softmax after
    them settles on one key."""
    return query @ key.T


@scaled_scores.mistake
def root_forgotten(query, key):
    """You divided by the width itself; it is the square root of the width."""
    return query @ key.T / query.shape[1]


@scaled_scores.mistake
def root_of_the_length(query, key):
    """You divided by the root of the number of words. It is the width of a query: how many numbers
    are added up in a product."""
    return query @ key.T / math.sqrt(len(query))


@scaled_scores.mistake
def keys_in_rows(query, key):
    """Rows and columns are exchanged: a row belongs to a query, a column to a key."""
    return scaled_scores.definition(key, query)


@scaled_scores.mistake
def softmax_too_early(query, key):
    """These are weights already: the softmax comes in the next exercise."""
    return scaled_scores.definition(query, key).softmax(dim=-1)


@exercise(
    cases=[
        (
            torch.tensor([[1.0, 0.0, 2.0], [3.0, 1.0, 0.0]]),
            torch.tensor([[False, False, True], [True, False, False]]),
        ),
        (
            torch.tensor([[2.0, -1.0], [0.0, 1.0], [3.0, 2.0]]),
            torch.tensor([[True, True], [False, False], [False, True]]),
        ),
        (torch.tensor([[200.0, 0.0, 1.0]]), torch.tensor([[True, False, False]])),
        (
            torch.tensor([[200.0, 0.0, 199.0], [-200.0, 5.0, -199.0], [1.0, 7.0, 2.0]]),
            torch.tensor([[False, True, False]]).repeat(3, 1),
        ),
    ],
    hints=[
        "Which keys belong to the sum of a row, and what is a row without any?",
        (
            "A row (a query) with any allowed key sums to one, blocked keys have exactly 0 in it; "
            "a row with every key blocked is all zeros."
        ),
        (
            "Fill the blocked scores with `torch.finfo(scores.dtype).min`, take "
            "`softmax(dim=-1)`, and fill the blocked weights with 0."
        ),
    ],
    hidden=[(normal(4, 3, seed=9), table(4, 3, lambda i, j: i == 2 or j > i).bool())],
)
def masked_softmax(scores, blocked):
    result = torch.zeros_like(scores)
    for i in range(len(scores)):
        allowed = [j for j in range(scores.shape[1]) if not blocked[i, j]]
        total = sum(math.exp(scores[i, j]) for j in allowed)
        for j in allowed:
            result[i, j] = math.exp(scores[i, j]) / total
    return result


@masked_softmax.mistake
def divided_by_their_number(scores, blocked):
    """You divided by the number of keys. Divide by the sum of the exponentials of the row."""
    return scores.exp().masked_fill(blocked, 0) / scores.shape[1]


@masked_softmax.mistake
def inverted(scores, blocked):
    """You kept the blocked keys and removed the others: True means may not attend. (In
    `F.scaled_dot_product_attention` it means may.)"""
    return masked_softmax.definition(scores, ~blocked)


@masked_softmax.mistake
def score_of_zero(scores, blocked):
    """A score of 0 is not a weight of 0: exp(0) is 1. The score that gives no weight is minus
    infinity, or a very large negative number."""
    return scores.masked_fill(blocked, 0).softmax(dim=-1)


@masked_softmax.mistake
def too_late(scores, blocked):
    """You crossed out after the exponentials of all keys. Where a blocked key has by far the
    largest, the others are 0: block it before."""
    weights = scores.softmax(dim=-1).masked_fill(blocked, 0)
    return (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num()


@masked_softmax.mistake
def crossed_out(scores, blocked):
    """You set weights to 0 after the softmax, so what blocked keys got is lost. Block before it,
    and the others share all of it."""
    return scores.softmax(dim=-1).masked_fill(blocked, 0)


@masked_softmax.mistake
def too_large_for_a_float(scores, blocked):
    """exp(200) is larger than any 32-bit number. Take the row's largest score off first, as
    `torch.softmax` does: the weights stay the same."""
    exponentials = scores.exp().masked_fill(blocked, 0)
    return exponentials / exponentials.sum(dim=-1, keepdim=True).clamp_min(1e-9)


@masked_softmax.mistake
def too_large_and_hidden(scores, blocked):
    """exp(200) is larger than any 32-bit number, and `nan_to_num` hides what came of it. Take the
    row's largest score off first."""
    exponentials = scores.exp().masked_fill(blocked, 0)
    return (exponentials / exponentials.sum(dim=-1, keepdim=True)).nan_to_num()


@masked_softmax.mistake
def nothing_by_nothing(scores, blocked):
    """A row with every key blocked became 0 / 0 = NaN. It is padding, but 0 * NaN is NaN: the next
    layer spreads it to all words."""
    return scores.masked_fill(blocked, -math.inf).softmax(dim=-1)


@masked_softmax.mistake
def not_the_lowest(scores, blocked):
    """Your blocked score is low, but real scores can be lower still, and then the blocked key wins.
    Only minus infinity is below all."""
    return scores.masked_fill(blocked, -20).softmax(dim=-1).masked_fill(blocked, 0)


@masked_softmax.mistake
def low_and_shared(scores, blocked):
    """Your blocked score is not below all real ones, and rows with every key blocked share it. Take
    minus infinity; set such rows to 0."""
    return scores.masked_fill(blocked, -20).softmax(dim=-1)


@masked_softmax.mistake
def largest_of_all_rows(scores, blocked):
    """You took the largest score of all rows off. Far below it, every exp of a row is 0, and 0 / 0
    is no number: each row has its own largest."""
    left = scores.masked_fill(blocked, -math.inf)
    exponentials = (left - left.max()).exp()
    return (exponentials / exponentials.sum(dim=-1, keepdim=True)).nan_to_num()


@masked_softmax.mistake
def shared_by_the_blocked(scores, blocked):
    """A row with every key blocked shares its weight among them, since all have the same lowest
    score. Set them to 0 afterwards."""
    return scores.masked_fill(blocked, -1e9).softmax(dim=-1)


@masked_softmax.mistake
def blocked_unused(scores, blocked):
    """That is the softmax over all keys. `blocked` says which of them may not be seen: they get 0,
    and the others share all of it."""
    return scores.softmax(dim=-1)


@masked_softmax.mistake
def over_queries(scores, blocked):
    """Your columns sum to one: the softmax went over the queries. A query shares 1 among its keys,
    which are the last axis."""
    return scores.masked_fill(blocked, -math.inf).softmax(dim=0).nan_to_num()


@masked_softmax.mistake
def sums_of_columns(scores, blocked):
    """You divided by the sums of columns. Sum over the keys of a row, and keep the axis:
    `sum(dim=-1, keepdim=True)`."""
    seen = scores.exp().masked_fill(blocked, 0)
    return (seen / seen.sum(dim=0)).nan_to_num(0)


WORDS = table(4, 6, lambda i, c: 10 * i + c)


@exercise(
    cases=[(WORDS, 2), (WORDS, 3)],
    hints=[
        "Which numbers of a word belong to the first head: neighbours, or every second one?",
        (
            "The tens say which word a number comes from, the ones which place in it. With 2 "
            "heads, the first has places 0, 1 and 2."
        ),
        "`x.reshape(len(x), num_heads, -1)` cuts every word; then swap the first two axes.",
    ],
    hidden=[(table(3, 8, lambda i, c: 10 * i + c), 4)],
)
def split_heads(x, num_heads):
    head_dim = x.shape[1] // num_heads
    return torch.stack(
        [
            table(len(x), head_dim, lambda i, c, first=head * head_dim: x[i, first + c])
            for head in range(num_heads)
        ]
    )


@split_heads.mistake
def only_reshaped(x, num_heads):
    """The shape is right, the numbers are not: a head got all of some words, not a part of each.
    `reshape` cannot swap two axes."""
    return x.reshape(num_heads, len(x), -1)


@split_heads.mistake
def dealt_out(x, num_heads):
    """You dealt the numbers out like cards. The first head takes the first head_dim numbers of each
    word, the second the next ones."""
    return x.reshape(len(x), -1, num_heads).permute(2, 0, 1)


@split_heads.mistake
def words_first(x, num_heads):
    """The parts are right, but words come first. Swap the first two axes: the head comes first, so
    that `heads[h]` is a matrix of words."""
    return x.reshape(len(x), num_heads, -1)


@split_heads.mistake
def words_in_columns(x, num_heads):
    """The parts are right, but inside each head words stand in columns; they belong in rows, as in
    x."""
    return x.T.reshape(num_heads, -1, len(x))


@split_heads.mistake
def words_cut(x, num_heads):
    """You cut between words. Every head gets all words: cut the last axis (`chunk` and `split` take
    the first one unless told)."""
    return torch.stack(x.chunk(num_heads))


@split_heads.mistake
def parts_of_num_heads(x, num_heads):
    """`split` wants to know how wide a part is, not how many there are: give it head_dim, or use
    `chunk`."""
    return torch.stack(x.split(num_heads, dim=1))


def read(weights, value):
    """Return the weighted sum of the values for each query."""
    return table(
        len(weights),
        value.shape[1],
        lambda i, c: sum(weights[i, j] * value[j, c] for j in range(len(value))),
    )


def heads_of(query, key, value, num_heads, blocked):
    """Return what each head reads, a list of `(query_len, head_dim)`."""
    found, head_dim = [], query.shape[1] // num_heads
    for head in range(num_heads):
        part = slice(head * head_dim, (head + 1) * head_dim)
        weights = masked_softmax.definition(
            scaled_scores.definition(query[:, part], key[:, part]), blocked
        )
        found.append(read(weights, value[:, part]))
    return found


QUERY, KEY, VALUE = normal(4, 6, seed=1), normal(5, 6, seed=4), table(5, 6, lambda j, c: 10 * j + c)


@exercise(
    cases=[
        (QUERY, KEY, VALUE, 2, torch.zeros(4, 5, dtype=torch.bool)),
        (QUERY, KEY, VALUE, 3, table(4, 5, lambda i, j: j >= 2 * i).bool()),
    ],
    hints=[
        "What does each head have of its own: queries, keys, values, weights?",
        (
            "Column c of the output comes from column c of the values, read with the weights of "
            "the head that owns this column. Are `scaled_scores`, `masked_softmax` and "
            "`split_heads` right already?"
        ),
        (
            "For each head: `masked_softmax(scaled_scores(q[head], k[head]), blocked) @ v[head]`; "
            "join them with `torch.cat(..., dim=-1)`."
        ),
    ],
    hidden=[(QUERY[:3], KEY[:4], VALUE[:4], 2, table(3, 4, lambda i, j: j > i).bool())],
)
def multi_head(query, key, value, num_heads, blocked):
    return torch.cat(heads_of(query, key, value, num_heads, blocked), dim=1)


@multi_head.mistake
def key_as_value(query, key, value, num_heads, blocked):
    """You read the keys. A key says where to look; what is read there is the value."""
    return multi_head.definition(query, key, key, num_heads, blocked)


@multi_head.mistake
def mean_of_heads(query, key, value, num_heads, blocked):
    """You averaged the heads. They are put side by side: each owns columns of the output."""
    heads = torch.stack(heads_of(query, key, value, num_heads, blocked))
    return heads.mean(dim=0).repeat(1, num_heads)


@multi_head.mistake
def softmax_across_heads(query, key, value, num_heads, blocked):
    """Your softmax runs across heads. Each head shares one out among its keys: the last axis."""
    q, k, v = (split_heads.definition(x, num_heads) for x in (query, key, value))
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(blocked, -math.inf)
    return torch.cat(list(scores.softmax(dim=0).nan_to_num(0) @ v), dim=1)


@multi_head.mistake
def values_not_split(query, key, value, num_heads, blocked):
    """Your heads read whole values, and you averaged what they found. Each reads its own part of
    the values, and the parts are put side by side."""
    q, k = (split_heads.definition(x, num_heads) for x in (query, key))
    weights = [
        masked_softmax.definition(scaled_scores.definition(*parts), blocked)
        for parts in zip(q, k, strict=True)
    ]
    return torch.stack([read(one, value) for one in weights]).mean(dim=0)


@multi_head.mistake
def one_wide_head(query, key, value, num_heads, blocked):
    """All columns were read with the same weights, as by one wide head. Every head has its own,
    from its slice of the vectors."""
    return multi_head.definition(query, key, value, 1, blocked)


@multi_head.mistake
def words_dealt_to_heads(query, key, value, num_heads, blocked):
    """Your heads got some words each, not a part of every word: `reshape` cannot swap two axes. Use
    your `split_heads`."""
    parts = zip(*(only_reshaped(x, num_heads) for x in (query, key, value)), strict=True)
    read_by_heads = [
        read(masked_softmax.definition(scaled_scores.definition(q, k), blocked), v)
        for q, k, v in parts
    ]
    return torch.cat(read_by_heads, dim=1)


@multi_head.mistake
def not_swapped_back(query, key, value, num_heads, blocked):
    """The heads are right, but `reshape` alone mixed the words when it joined them. Swap the axes
    back first, or use `torch.cat`."""
    return torch.stack(heads_of(query, key, value, num_heads, blocked)).reshape(len(query), -1)


@multi_head.mistake
def added_up(query, key, value, num_heads, blocked):
    """You added the heads up. They are put side by side, so that the output is as wide as the
    input."""
    return sum(heads_of(query, key, value, num_heads, blocked))


@multi_head.mistake
def scaled_by_the_whole(query, key, value, num_heads, blocked):
    """You divided by the root of the whole width; each head divides by the root of its own,
    head_dim."""
    return multi_head.definition(query / math.sqrt(num_heads), key, value, num_heads, blocked)


@multi_head.mistake
def blocked_forgotten(query, key, value, num_heads, blocked):
    """Every query sees every key: `blocked` holds in each head."""
    return multi_head.definition(query, key, value, num_heads, torch.zeros_like(blocked))


@multi_head.mistake
def inverted_in_heads(query, key, value, num_heads, blocked):
    """You kept the blocked keys: True means may not attend. (In `F.scaled_dot_product_attention` it
    means may.)"""
    return multi_head.definition(query, key, value, num_heads, ~blocked)


@multi_head.mistake
def heads_not_scaled(query, key, value, num_heads, blocked):
    """The scores of your heads are not divided: by the root of head_dim, as in `scaled_scores`."""
    return multi_head.definition(
        query * math.sqrt(query.shape[1] // num_heads), key, value, num_heads, blocked
    )


@multi_head.mistake
def heads_of_nothing(query, key, value, num_heads, blocked):
    """A query with every key blocked became NaN. Its weights are zeros, and so is what it reads: is
    `masked_softmax` right already?"""
    read_by_others = multi_head.definition(query, key, value, num_heads, blocked)
    return read_by_others.masked_fill(blocked.all(dim=1, keepdim=True), math.nan)


@multi_head.mistake
def one_below_the_other(query, key, value, num_heads, blocked):
    """The heads are right, but stand one below the other. Put them side by side: `torch.cat` joins
    the first axis unless told."""
    return torch.cat(heads_of(query, key, value, num_heads, blocked))


@multi_head.mistake
def not_joined(query, key, value, num_heads, blocked):
    """The heads are right, but still apart, in an axis of their own. Put them side by side, so that
    the output is as wide as the input."""
    return torch.stack(heads_of(query, key, value, num_heads, blocked))
