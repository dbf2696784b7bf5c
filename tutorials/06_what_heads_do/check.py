"""What these exercises ask for, from its definition: Voita et al. (ACL 2019), sections 4 and 5,
with the package's choices."""

import torch

from repro import exercise

SENTENCES = (
    torch.tensor(
        [
            [
                [0.1, 0.6, 0.1, 0.2],
                [0.3, 0.1, 0.1, 0.5],
                [0.2, 0.3, 0.1, 0.4],
                [0.7, 0.1, 0.1, 0.1],
            ],
            [
                [0.05, 0.05, 0.1, 0.8],
                [0.9, 0.0, 0.0, 0.1],
                [0.0, 0.0, 0.1, 0.9],
                [0.1, 0.2, 0.3, 0.4],
            ],
        ]
    ),
    torch.tensor([[[0.5, 0.4, 0.1], [0.2, 0.2, 0.6], [0.0, 0.9, 0.1]]]),
)


@exercise(
    cases=[(weights,) for weights in SENTENCES],
    hints=[
        "In which rows and columns is the end mark?",
        (
            "Cross out the last row and the last column on paper. Of what is left, take the "
            "largest number of each row, then their mean."
        ),
        "`weights[:, :-1, :-1].amax(dim=-1).mean(dim=-1)`.",
    ],
    hidden=[(SENTENCES[0].flip(0),)],
)
def confidence(weights):
    words = range(weights.shape[-1] - 1)  # the last position is the end mark
    return torch.stack(
        [sum(max(head[i, j] for j in words) for i in words) / len(words) for head in weights]
    )


@confidence.mistake
def nothing_left_out(weights):
    """The end mark is still in, as query and as key. A head that parks there looks sure although it
    says nothing about words."""
    return weights.amax(dim=-1).mean(dim=-1)


@confidence.mistake
def end_as_key(weights):
    """The end mark still counts as a key. Looking there is no statement about a word: leave out its
    column too."""
    return weights[:, :-1].amax(dim=-1).mean(dim=-1)


@confidence.mistake
def end_as_query(weights):
    """The end mark still counts as a query: leave out its row too, and divide by the number of
    words."""
    return weights[:, :, :-1].amax(dim=-1).mean(dim=-1)


@confidence.mistake
def renormalized(weights):
    """You divided the rows by their sum again after leaving out the end mark. Here weights stay as
    they are: a parked head is not sure."""
    inside = weights[:, :-1, :-1]
    return (inside / inside.sum(dim=-1, keepdim=True)).amax(dim=-1).mean(dim=-1)


@confidence.mistake
def over_queries(weights):
    """You took the largest weight of each column. A row is a query: how sure is it of its own best
    key?"""
    return weights[:, :-1, :-1].amax(dim=-2).mean(dim=-1)


MOSTLY_BEFORE = torch.tensor(
    [
        [0.1, 0.2, 0.1, 0.0, 0.6],
        [0.7, 0.1, 0.0, 0.1, 0.1],
        [0.0, 0.5, 0.2, 0.2, 0.1],
        [0.1, 0.0, 0.8, 0.0, 0.1],
        [0.2, 0.1, 0.4, 0.0, 0.3],
    ]
)
MOSTLY_AFTER = torch.tensor(
    [[0.2, 0.7, 0.1, 0.0], [0.1, 0.2, 0.5, 0.2], [0.6, 0.1, 0.1, 0.2], [0.4, 0.3, 0.2, 0.1]]
)
MOSTLY_ITSELF = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.8, 0.1]])
# yet it points to itself more often
STRONG_BEFORE = torch.tensor([[0.4, 0.3, 0.3], [0.39, 0.41, 0.2], [0.05, 0.9, 0.05]])
TWO_AFTER = torch.tensor(
    [[0.1, 0.2, 0.6, 0.1], [0.1, 0.2, 0.2, 0.5], [0.3, 0.4, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1]]
)


def targets_of(weights):
    """Return the place of the largest weight of each query."""
    return [max(range(len(row)), key=lambda j, row=row: row[j]) for row in weights]


def shares(weights):
    """Return for each offset how many queries point there, and how many could."""
    length, targets = len(weights), targets_of(weights)
    return {
        offset: (
            sum(targets[i] == i + offset for i in range(length)),
            sum(0 <= i + offset < length for i in range(length)),
        )
        for offset in range(1 - length, length)
    }


@exercise(
    cases=[(MOSTLY_BEFORE,), (MOSTLY_AFTER,), (MOSTLY_ITSELF,), (TWO_AFTER,), (STRONG_BEFORE,)],
    hints=[
        "How many queries of five have a token two places before them?",
        (
            "Write down key minus query for every row. Which number is most frequent? Of the rows "
            "that have such a key, how many point to it?"
        ),
        (
            "`moves = weights.argmax(dim=1) - torch.arange(n)`, its `mode()`, and divide the hits "
            "by `n - abs(offset)`."
        ),
    ],
    hidden=[(torch.eye(4).roll(1, dims=1),)],
)
def favourite_offset(weights):
    found = shares(weights)
    best = max(found, key=lambda offset: found[offset][0])
    hits, possible = found[best]
    return best, hits / possible


@favourite_offset.mistake
def border_misses(weights):
    """You divided by all words. The first word has no word before it: a place counts only for the
    words that have one there."""
    offset, _ = favourite_offset.definition(weights)
    return offset, shares(weights)[offset][0] / len(weights)


@favourite_offset.mistake
def one_place_missing(weights):
    """You divided by one word fewer, whatever the offset. Two words on, two words have no such
    place; on the word itself, all have it."""
    offset, _ = favourite_offset.definition(weights)
    return offset, shares(weights)[offset][0] / (len(weights) - 1)


@favourite_offset.mistake
def signed_distance(weights):
    """You divided by the length minus the offset. For an offset of -1, that is one more than there
    are words: take its absolute value."""
    offset, _ = favourite_offset.definition(weights)
    return offset, shares(weights)[offset][0] / (len(weights) - offset)


@favourite_offset.mistake
def largest_share(weights):
    """You took the offset with the largest share. A far place exists for one word only, so one hit
    makes 100 %: count hits first."""
    found = shares(weights)
    best = max(found, key=lambda offset: found[offset][0] / found[offset][1])
    return best, found[best][0] / found[best][1]


@favourite_offset.mistake
def from_key_to_query(weights):
    """The sign is wrong: an offset is key minus query, so that -1 is the word before. Or is a row
    not a query?"""
    offset, share = favourite_offset.definition(weights)
    return -offset, share


@favourite_offset.mistake
def without_sign(weights):
    """Your offset has no sign. Key minus query is -1 for the word before and +1 for the word after:
    they are different places."""
    offset, share = favourite_offset.definition(weights)
    return abs(offset), share


@favourite_offset.mistake
def offset_of_most_weight(weights):
    """You took the offset that gets most weight. Here only where a row is largest counts, not by
    how much: count hits."""
    found = shares(weights)
    best = max(found, key=lambda offset: weights.diagonal(offset).sum())
    return best, found[best][0] / found[best][1]


@favourite_offset.mistake
def mean_weight(weights):
    """Your share is the mean weight at that place. Only where a row is largest counts here, not by
    how much."""
    best = max(shares(weights), key=lambda offset: weights.diagonal(offset).sum())
    return best, weights.diagonal(best).mean().item()


PIECES = torch.tensor(
    [[0.1, 0.2, 0.3, 0.4], [0.3, 0.1, 0.5, 0.1], [0.2, 0.2, 0.1, 0.5], [0.4, 0.3, 0.2, 0.1]]
)
MORE_PIECES = torch.tensor(
    [
        [0.1, 0.3, 0.2, 0.1, 0.3],
        [0.6, 0.1, 0.1, 0.1, 0.1],
        [0.4, 0.2, 0.2, 0.1, 0.1],
        [0.2, 0.0, 0.0, 0.5, 0.3],
        [0.0, 0.2, 0.1, 0.3, 0.4],
    ]
)


def merged(weights, words, query_share, key_share):
    """Add all weights between two words, each times a share that depends on how many pieces the
    query word and the key word have."""
    result = torch.zeros(max(words) + 1, max(words) + 1)
    for query, query_word in enumerate(words):
        for key, key_word in enumerate(words):
            weight = weights[query, key]
            result[query_word, key_word] += (
                weight * query_share(words.count(query_word)) * key_share(words.count(key_word))
            )
    return result


def all_of_it(_count):
    return 1


def mean_of_it(count):
    return 1 / count


@exercise(
    cases=[(PIECES, [0, 0, 1]), (MORE_PIECES, [0, 1, 1, 1, 2])],
    hints=[
        "What is added and what is averaged: the pieces that look, or those looked at?",
        (
            "Work out one number: what the first word gives to itself. Which weights lie between "
            "its pieces, and of how many queries?"
        ),
        (
            "For all pieces i, j: `merged[words[i], words[j]] += weights[i, j] / "
            "words.count(words[i])`."
        ),
    ],
    hidden=[(MORE_PIECES, [0, 0, 1, 2])],
)
def merge_pieces(weights, words):
    return merged(weights, words, mean_of_it, all_of_it)


@merge_pieces.mistake
def mean_of_keys(weights, words):
    """You averaged over the pieces of the key word too. Whoever looks at two pieces of a word looks
    at the word with both: add them."""
    return merged(weights, words, mean_of_it, mean_of_it)


@merge_pieces.mistake
def sum_of_queries(weights, words):
    """You added over the pieces of the query word too, so a word of two pieces gives away twice
    what others give: average there."""
    return merged(weights, words, all_of_it, all_of_it)


@merge_pieces.mistake
def swapped(weights, words):
    """Sum and mean are swapped: add over the pieces of the word that is looked at (columns),
    average over those that look (rows)."""
    return merged(weights, words, all_of_it, mean_of_it)


@merge_pieces.mistake
def first_piece(weights, words):
    """You let the first piece stand for its word. That is the package's other way, `merge="first
    piece"`; here all pieces count."""
    first = [words.index(word) for word in range(max(words) + 1)]
    return weights[first][:, first]


@merge_pieces.mistake
def end_mark_kept(weights, words):
    """What comes after the pieces, such as the end mark, belongs to no word: leave out its row and
    column."""
    rest = range(max(words) + 1, max(words) + 1 + len(weights) - len(words))
    return merge_pieces.definition(weights, [*words, *rest])


NO_ZERO_ROW = torch.tensor(
    [[0.1, 0.2, 0.6, 0.1], [0.5, 0.1, 0.3, 0.1], [0.2, 0.3, 0.1, 0.4], [0.7, 0.1, 0.2, 0.0]]
)
BOTH_WAYS = torch.tensor(
    [[0.1, 0.3, 0.2, 0.4], [0.2, 0.1, 0.6, 0.1], [0.3, 0.2, 0.1, 0.4], [0.6, 0.1, 0.2, 0.1]]
)
ZERO_ROW = torch.tensor([[0.2, 0.3, 0.5], [0.0, 0.0, 0.0], [0.9, 0.1, 0.0]])


def points_to(weights, query, key):
    """Return whether no key has a larger weight, and whether there is any weight."""
    return weights[query, key] > 0 and all(
        weights[query, key] >= weight for weight in weights[query]
    )


@exercise(
    cases=[
        (NO_ZERO_ROW, [(1, 0), (2, 3), (3, 2)]),
        (ZERO_ROW, [(1, 0), (2, 0), (0, 1)]),
        (BOTH_WAYS, [(1, 2), (3, 0), (0, 1)]),
    ],
    hints=[
        "Where does a row of zeros point?",
        (
            "Go through the pairs one by one: where is the largest weight in the row of the first "
            "word? Return a plain number."
        ),
        (
            "Count pairs with `weights[query].max() > 0 and weights[query].argmax() == key`; "
            "divide by their number."
        ),
    ],
    hidden=[(BOTH_WAYS, [(2, 3), (0, 3), (1, 0), (3, 0)])],
)
def relation_accuracy(weights, pairs):
    return sum(1 for query, key in pairs if points_to(weights, query, key)) / len(pairs)


@relation_accuracy.mistake
def other_direction(weights, pairs):
    """You looked from the second word to the first. A head may follow a relation in one direction
    only, so each is counted by itself."""
    return relation_accuracy.definition(weights, [(key, query) for query, key in pairs])


@relation_accuracy.mistake
def other_direction_from_zeros(weights, pairs):
    """You looked from the second word to the first, and `argmax` took a row of zeros for one that
    points to word 0. Start from the first word of a pair; a row of zeros is a miss."""
    return sum(1 for query, key in pairs if weights[key].argmax() == query) / len(pairs)


@relation_accuracy.mistake
def either_direction(weights, pairs):
    """You counted a pair if either word points to the other. The paper counts each direction by
    itself."""
    return sum(
        1
        for query, key in pairs
        if points_to(weights, query, key) or points_to(weights, key, query)
    ) / len(pairs)


@relation_accuracy.mistake
def any_pair(weights, pairs):
    """You said whether any pair is hit (or all of them). Asked is the share of the pairs that
    are."""
    return any(points_to(weights, query, key) for query, key in pairs)


@relation_accuracy.mistake
def per_word(weights, pairs):
    """You divided by the number of words. Most words are in no pair of this relation: divide by the
    number of pairs."""
    return relation_accuracy.definition(weights, pairs) * len(pairs) / len(weights)


@relation_accuracy.mistake
def mean_of_weights(weights, pairs):
    """You averaged the weights on the pairs. The paper counts how often the largest weight is on
    the right word."""
    return sum(weights[query, key].item() for query, key in pairs) / len(pairs)


@relation_accuracy.mistake
def zero_row_points(weights, pairs):
    """A row of zeros points nowhere, but `argmax` says 0 for it. Count it as a miss."""
    return sum(1 for query, key in pairs if weights[query].argmax() == key) / len(pairs)


@relation_accuracy.mistake
def zero_row_left_out(weights, pairs):
    """You left out the pairs whose first word points nowhere. Pointing nowhere is a miss like any
    other: divide by all pairs."""
    pointing = [(query, key) for query, key in pairs if weights[query].max() > 0]
    return relation_accuracy.definition(weights, pointing)


TO_RARE = torch.tensor(
    [
        [0.05, 0.6, 0.25, 0.04, 0.06],
        [0.12, 0.08, 0.22, 0.5, 0.08],
        [0.15, 0.11, 0.09, 0.6, 0.05],
        [0.02, 0.24, 0.23, 0.11, 0.4],
        [0.55, 0.07, 0.12, 0.22, 0.04],
    ]
)
# the piece at 0 and 3 is the same one
TWICE = torch.tensor(
    [[0.1, 0.2, 0.6, 0.1], [0.2, 0.1, 0.1, 0.6], [0.5, 0.3, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1]]
)


def points_into(weights, wanted):
    """Return the share of queries whose largest weight is on one of some places."""
    return sum(target in wanted for target in targets_of(weights)) / len(weights)


@exercise(
    cases=[(TO_RARE, [900, 12, 80, 7, 300]), (TWICE, [5, 60, 40, 5]), (TWICE, [70, 3, 9000, 70])],
    hints=[
        "Which are the two smallest different counts, and at which places are they?",
        (
            "Write down the two smallest different counts, then the places that have one of them. "
            "How many rows are largest at such a place?"
        ),
        (
            "`rarest = torch.tensor(counts).unique()[:2]`; the mean of "
            "`torch.isin(torch.tensor(counts)[weights.argmax(dim=1)], rarest)`."
        ),
    ],
    hidden=[(TO_RARE, [3, 900, 80, 500, 40])],
)
def rare_share(weights, counts):
    two_smallest = sorted(set(counts))[:2]
    return points_into(
        weights, [place for place, count in enumerate(counts) if count in two_smallest]
    )


@rare_share.mistake
def rarest_alone(weights, counts):
    """You counted the rarest piece alone. Here the two rarest count: the paper gives both numbers,
    and the package judges by this one."""
    return points_into(
        weights, [place for place, count in enumerate(counts) if count == min(counts)]
    )


@rare_share.mistake
def most_frequent(weights, counts):
    """You took the two largest counts. Rare pieces occur seldom in the training data: theirs are
    the smallest."""
    two_largest = sorted(set(counts))[-2:]
    return points_into(
        weights, [place for place, count in enumerate(counts) if count in two_largest]
    )


@rare_share.mistake
def two_places(weights, counts):
    """You took two places. Where a piece stands twice in the sentence, both its places are one
    piece: look for two different counts."""
    return points_into(weights, sorted(range(len(counts)), key=lambda place: counts[place])[:2])


@rare_share.mistake
def counted_twice(weights, counts):
    """You took the two smallest counts as they stand. A piece that stands twice has its count
    twice: take two *different* ones."""
    two_smallest = sorted(counts)[:2]
    return points_into(
        weights, [place for place, count in enumerate(counts) if count in two_smallest]
    )


@rare_share.mistake
def weight_on_rare(weights, counts):
    """You averaged how much weight rare pieces get. Asked is how often the largest weight of a row
    is on one."""
    two_smallest = sorted(set(counts))[:2]
    return weights[:, [count in two_smallest for count in counts]].sum(dim=1).mean().item()


@rare_share.mistake
def from_rare(weights, counts):
    """You counted the places of rare pieces. Asked is how many queries look at them: go through all
    rows."""
    two_smallest = sorted(set(counts))[:2]
    return sum(count in two_smallest for count in counts) / len(counts)


@rare_share.mistake
def over_columns(weights, counts):
    """You took the largest weight of each column. A row is a query: where does it point?"""
    return rare_share.definition(weights.T, counts)


TWO_HEADS = (
    torch.tensor([[1.0, 2.0], [0.5, -1.0]]),
    torch.tensor([[[1.0, 0.5, -1.0], [0.2, 1.0, 0.4]], [[2.0, -0.4, 0.6], [-0.6, 0.3, -1.0]]]),
    torch.tensor([3.0, 1.0, -0.5]),
)
THREE_HEADS = (
    torch.tensor([[2.0], [-1.0], [0.5]]),
    torch.tensor([[[0.5, 1.0]], [[-1.0, 0.5]], [[2.0, 0.6]]]),
    torch.tensor([0.2, 0.9]),
)


def added_by(outputs, weight):
    """Return what each neuron of each head adds to each neuron of the layer, `(num_heads, head_dim,
    embed_dim)`."""
    return outputs[:, :, None] * weight


@exercise(
    cases=[TWO_HEADS, THREE_HEADS],
    hints=[
        "What share of a neuron does a head get that added a third of it?",
        (
            "Work out the first neuron of the layer: what does every neuron of every head add to "
            "it? Hand its relevance on in these proportions."
        ),
        (
            "`added = outputs[:, :, None] * weight`; `(added / added.sum(dim=(0, 1)) * "
            "relevance).sum(dim=(1, 2))`."
        ),
    ],
    hidden=[(THREE_HEADS[0] + 1.5, THREE_HEADS[1], THREE_HEADS[2])],
)
def head_relevance(outputs, weight, relevance):
    num_heads, head_dim = outputs.shape
    found = torch.zeros(num_heads)
    for v in range(len(relevance)):
        into = [
            [outputs[h, d] * weight[h, d, v] for d in range(head_dim)] for h in range(num_heads)
        ]
        whole = sum(sum(of_head) for of_head in into)
        for h in range(num_heads):
            found[h] += sum(into[h]) / whole * relevance[v]
    return found


@head_relevance.mistake
def sizes(outputs, weight, relevance):
    """You took absolute values. What is added has a sign: a head that works against the others gets
    relevance below zero."""
    added = added_by(outputs, weight).abs()
    return (added / added.sum(dim=(0, 1)) * relevance).sum(dim=(1, 2))


@head_relevance.mistake
def sizes_of_heads(outputs, weight, relevance):
    """You took absolute values of what each head adds. It has a sign: a head that works against the
    others gets relevance below zero."""
    added = added_by(outputs, weight).sum(dim=1).abs()
    return (added / added.sum(dim=0) * relevance).sum(dim=1)


@head_relevance.mistake
def weights_alone(outputs, weight, relevance):
    """You shared by the weights alone. A neuron that is zero adds nothing, however large its
    weight: share by output times weight."""
    return (weight / weight.sum(dim=(0, 1)) * relevance).sum(dim=(1, 2))


@head_relevance.mistake
def not_divided(outputs, weight, relevance):
    """You multiplied by what is added, not by its share. Divide by all that reaches the neuron, or
    relevance is made out of nothing."""
    return (added_by(outputs, weight) * relevance).sum(dim=(1, 2))


@head_relevance.mistake
def over_targets(outputs, weight, relevance):
    """You divided by all that a neuron of a head adds. Shares are of what *reaches* a neuron: sum
    over heads and their neurons instead."""
    added = added_by(outputs, weight)
    return (added / added.sum(dim=2, keepdim=True) * relevance).sum(dim=(1, 2))


@head_relevance.mistake
def within_the_head(outputs, weight, relevance):
    """You divided by what the same head adds, so that each head gets everything. Divide by the sum
    over all heads."""
    added = added_by(outputs, weight)
    return (added / added.sum(dim=1, keepdim=True) * relevance).sum(dim=(1, 2))


@head_relevance.mistake
def every_neuron_alike(outputs, weight, relevance):
    """You counted every neuron of the layer alike. Each hands on its own relevance: multiply its
    shares by it before you add."""
    added = added_by(outputs, weight)
    return (added / added.sum(dim=(0, 1))).sum(dim=(1, 2))


@head_relevance.mistake
def mean_of_neurons(outputs, weight, relevance):
    """You averaged over the neurons of a head. A head has what all its neurons have: add them."""
    return head_relevance.definition(outputs, weight, relevance) / outputs.shape[1]


@head_relevance.mistake
def of_the_layer(outputs, weight, relevance):
    """You divided by the sum over the heads at the end. That is the next step, to compare layers;
    here relevance is handed on as it is."""
    found = head_relevance.definition(outputs, weight, relevance)
    return found / found.sum()
