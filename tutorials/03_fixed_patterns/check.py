"""What these exercises ask for, from its definition: Raganato, Scherrer and Tiedemann (Findings of
EMNLP 2020), section 3."""

import torch

from repro import exercise


def table(length, number):
    """Return a square matrix of `number(i, j)`."""
    return torch.tensor([[float(number(i, j)) for j in range(length)] for i in range(length)])


def sum_to_one(values):
    """Divide every row by its sum; a row of zeros stays one."""
    sums = values.sum(dim=-1, keepdim=True)
    return values / sums.masked_fill(sums == 0, 1)


@exercise(
    cases=[(4, -1), (5, 0), (3, 1)],
    hints=[
        "In which column is the 1 of row 0, if the head looks one token ahead?",
        (
            "Row i is the token that looks, column j the token looked at. A row holds a single 1, "
            "at j = i + offset, or no 1 at all."
        ),
        "`(j == i + offset).float()`, with `i` as a column and `j` as a row.",
    ],
    hidden=[(5, -2), (4, 3)],
)
def neighbour(length, offset):
    return table(length, lambda i, j: j == i + offset)


@neighbour.mistake
def wrong_side(length, offset):
    """The head looks to the wrong side: -1 is the token before. Or is a row of yours not the token
    that looks?"""
    return neighbour.definition(length, -offset)


@neighbour.mistake
def ring(length, offset):
    """Your sentence is bent into a ring: one end looks at the other. Past the end there is nothing,
    so that row is all zeros."""
    return table(length, lambda i, j: j == (i + offset) % length)


@neighbour.mistake
def nearest_instead(length, offset):
    """At the border your token looks at itself, as the nearest there is. That token has no such
    neighbour, so its row is all zeros."""
    return table(length, lambda i, j: j == min(max(i + offset, 0), length - 1))


@neighbour.mistake
def uniform_border(length, offset):
    """The row without a target is uniform, as a softmax makes it when every key is masked alike. No
    target, no weight: all zeros."""
    return table(length, lambda i, j: j == i + offset if 0 <= i + offset < length else 1 / length)


def cubes_before(length, number_of_keys):
    """Return rising cubes over the first `number_of_keys(i)` keys of row i, divided by their
    sum."""
    return sum_to_one(table(length, lambda i, j: (j + 1) ** 3 if j < number_of_keys(i) else 0))


@exercise(
    cases=[(5,), (1,)],
    hints=[
        "Which tokens may the third token read, if its neighbour has a head already?",
        (
            "Work out one row on paper: with i = 4 the keys 0, 1, 2 have the cubes 1, 8, 27, "
            "which sum to 36."
        ),
        "`cubes = (j <= i - 2) * (j + 1) ** 3`; divide each row by its sum, `clamp_min(1)`.",
    ],
    hidden=[(7,)],
)
def left_context(length):
    return table(
        length,
        lambda i, j: (j + 1) ** 3 / sum((k + 1) ** 3 for k in range(i - 1)) if j <= i - 2 else 0,
    )


@left_context.mistake
def nothing_by_nothing(length):
    """Rows 0 and 1 are 0 / 0 = nan: nothing stands far enough to the left. Such a row is all zeros;
    a nan would spread upwards."""
    cubes = table(length, lambda i, j: (j + 1) ** 3 if j <= i - 2 else 0)
    return cubes / cubes.sum(dim=-1, keepdim=True)


@left_context.mistake
def with_the_neighbour(length):
    """Your context includes the token just before, i - 1. That one has a head of its own; this
    context ends at i - 2."""
    return cubes_before(length, lambda i: i)


@left_context.mistake
def one_short(length):
    """Your context ends at i - 3. Token i - 2 is still in it, in the numerator and in the sum (and
    `range` stops before its end)."""
    return cubes_before(length, lambda i: i - 2)


@left_context.mistake
def farthest_most(length):
    """The far end of the context gets most. The cube grows with j, so the token nearest to the
    query, i - 2, gets most."""
    return sum_to_one(table(length, lambda i, j: (i - 1 - j) ** 3 if j <= i - 2 else 0))


@left_context.mistake
def cubes_of_the_distance(length):
    """You cubed the distance from the query, so the far end of the context gets most. Cubed is the
    place of the key, j + 1, counted from the start of the sentence."""
    return sum_to_one(table(length, lambda i, j: (i - j) ** 3 if j <= i - 2 else 0))


@left_context.mistake
def not_divided(length):
    """These are the cubes themselves; each row is still to be divided by its sum."""
    return table(length, lambda i, j: (j + 1) ** 3 if j <= i - 2 else 0)


@left_context.mistake
def first_left_out(length):
    """The first token gets nothing: you cubed 0, 1, 2, ... Positions count from 0, and j + 1 is
    cubed: 1, 2, 3, ..."""
    return sum_to_one(table(length, lambda i, j: j**3 if j <= i - 2 else 0))


@left_context.mistake
def keys_in_rows(length):
    """Rows and columns are exchanged: a row belongs to the token that looks, a column to the token
    looked at."""
    return left_context.definition(length).T


@left_context.mistake
def divided_by_the_whole(length):
    """You divided every row by the cubes of the whole sentence. A row's sum ends where its context
    does, at i - 2."""
    cubes = table(length, lambda i, j: (j + 1) ** 3 if j <= i - 2 else 0)
    return cubes / sum((k + 1) ** 3 for k in range(length))


@exercise(
    cases=[(4, "end"), (3, "start")],
    hints=[
        "Does a row depend on the query at all?",
        (
            "Four tokens have the cubes 1, 8, 27, 64, which sum to 100: every row is 0.01, 0.08, "
            "0.27, 0.64 or its mirror image."
        ),
        (
            "Cubes of `torch.arange(1, length + 1)`, flipped for the start, divided by their sum, "
            "repeated for all rows."
        ),
    ],
    hidden=[(5, "start"), (2, "end")],
)
def toward_edge(length, edge):
    cubes = [(k + 1) ** 3 if edge == "end" else (length - k) ** 3 for k in range(length)]
    return table(length, lambda i, j: cubes[j] / sum(cubes))


@toward_edge.mistake
def one_row(length, edge):
    """That is a single row. Every query has one, all alike, so the answer is (length, length)."""
    return toward_edge.definition(length, edge)[0]


@toward_edge.mistake
def up_to_the_query(length, edge):
    """Your rows end at the query. This head reads the whole sentence, whoever asks: the formula has
    no i in it."""
    return sum_to_one(toward_edge.definition(length, edge).tril())


@toward_edge.mistake
def counted_from_zero(length, edge):
    """One token gets nothing: you cubed 0, 1, 2, ... Positions count from 0, and j + 1 is cubed: 1,
    2, 3, ..."""
    return sum_to_one(table(length, lambda i, j: (j if edge == "end" else length - 1 - j) ** 3))


@toward_edge.mistake
def same_for_both(length, edge):
    """You give the same for both edges. Did you flip the rows? They are all alike: flip the
    columns, the keys."""
    return toward_edge.definition(length, "end")


@toward_edge.mistake
def exchanged(length, edge):
    """The edges are exchanged: toward "end" the last token gets most, toward "start" the first."""
    return toward_edge.definition(length, "start" if edge == "end" else "end")


@toward_edge.mistake
def cubes_themselves(length, edge):
    """These are the cubes themselves; each row is still to be divided by its sum."""
    return table(length, lambda i, j: (j + 1 if edge == "end" else length - j) ** 3)


@toward_edge.mistake
def one_column(length, edge):
    """Rows and columns are exchanged: the weights of a query stand in a row, and all rows are
    alike."""
    return toward_edge.definition(length, edge).T


@exercise(
    cases=[
        (neighbour.definition(3, -1), torch.tensor([0, 1, 1, 2])),
        (toward_edge.definition(3, "end"), torch.tensor([0, 1, 1, 1, 2])),
    ],
    hints=[
        "How much does a row sum to, if the word that it looks at has two pieces?",
        (
            "Lay the words over the pieces first: piece i gives piece j what the word of i gives "
            "the word of j. Then look at the row sums."
        ),
        (
            "`laid = word_weights[words][:, words]`; divide each row by its sum, where the sum is "
            "not 0."
        ),
    ],
    hidden=[(neighbour.definition(4, 1), torch.tensor([0, 0, 1, 2, 2, 3]))],
)
def by_word(word_weights, words):
    return sum_to_one(table(len(words), lambda i, j: word_weights[words[i], words[j]]))


@by_word.mistake
def not_shared(word_weights, words):
    """Every piece has the weight of its word, so a row that looks at a word of two pieces sums to
    more than one. Divide by the sum."""
    return table(len(words), lambda i, j: word_weights[words[i], words[j]])


@by_word.mistake
def empty_row_divided(word_weights, words):
    """A row without a target sums to 0, and 0 / 0 = nan. It stays a row of zeros, as with
    tokens."""
    laid = not_shared(word_weights, words)
    return laid / laid.sum(dim=-1, keepdim=True)


@by_word.mistake
def first_piece_only(word_weights, words):
    """Only one piece of the word is looked at. All pieces of a word get the same."""
    laid = not_shared(word_weights, words)
    return sum_to_one(
        table(len(words), lambda i, j: laid[i, j] if j == 0 or words[j] != words[j - 1] else 0)
    )


@by_word.mistake
def by_column(word_weights, words):
    """You divided by the sum of each column. A row is a query, and it is a query's weights that sum
    to one."""
    return sum_to_one(not_shared(word_weights, words).T).T


@by_word.mistake
def split_first(word_weights, words):
    """You split each word's weight among its pieces. Here every piece gets the whole weight, and
    then the row is divided by its sum."""
    return sum_to_one(
        table(len(words), lambda i, j: word_weights[words[i], words[j]] / (words == words[j]).sum())
    )


@by_word.mistake
def keys_still_words(word_weights, words):
    """Your rows are pieces, your columns still words: lay the words over the pieces on both
    sides."""
    return word_weights[words]
