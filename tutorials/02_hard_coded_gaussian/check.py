"""What these exercises ask for, from its definition: You, Sun and Iyyer (ACL 2020), sections 3.1,
3.2 and 6.3 (Table 5)."""

import math

import torch

from repro import exercise


def table(num_rows, num_columns, number):
    """Return a matrix of `number(i, j)`."""
    return torch.tensor(
        [[float(number(i, j)) for j in range(num_columns)] for i in range(num_rows)]
    )


def density(distance):
    """Return the standard normal density at a distance from the mean."""
    return math.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi)


def sum_to_one(weights):
    """Divide every row by its sum."""
    return weights / weights.sum(dim=-1, keepdim=True)


@exercise(
    cases=[(4, 4, 0.0), (3, 5, -1.0), (5, 3, 1.0), (3, 4, 0.5)],
    hints=[
        "Where is the middle of the curve for query i, and how far is key j from it?",
        (
            "Work out one number on paper: with center 0, query 0 is at distance 0 from key 0, "
            "where the density is 1 / sqrt(2 pi) = 0.399."
        ),
        (
            "With `i` as a column and `j` as a row: `torch.exp(-((j - (i + center)) ** 2) / 2) / "
            "math.sqrt(2 * math.pi)`."
        ),
    ],
    hidden=[(2, 6, -1.5), (6, 2, 2.0)],
)
def gaussian_weights(query_len, key_len, center):
    return table(query_len, key_len, lambda i, j: density(j - (i + center)))


@gaussian_weights.mistake
def times_pi(query_len, key_len, center):
    """The factor is 1 / sqrt(2 pi): pi belongs under the root, and below the line. In Python that
    takes parentheses: `/ math.sqrt(2 * math.pi)`."""
    return gaussian_weights.definition(query_len, key_len, center) * math.pi**1.5


@gaussian_weights.mistake
def root_of_two_alone(query_len, key_len, center):
    """Under the root stands 2 pi, not 2 alone or pi alone."""
    return gaussian_weights.definition(query_len, key_len, center) * math.sqrt(math.pi)


@gaussian_weights.mistake
def no_minus(query_len, key_len, center):
    """The minus before the square is missing: your weights grow with the distance."""
    return table(query_len, key_len, lambda i, j: 1 / (2 * math.pi * density(j - i - center)))


@gaussian_weights.mistake
def distance_not_squared(query_len, key_len, center):
    """The distance is not squared: a bell has exp(-distance^2 / 2)."""
    return table(
        query_len,
        key_len,
        lambda i, j: math.exp(-abs(j - i - center) / 2) / math.sqrt(2 * math.pi),
    )


@gaussian_weights.mistake
def whole_half(query_len, key_len, center):
    """`// 2` cuts to a whole number; divide by 2 with `/`."""
    return table(
        query_len,
        key_len,
        lambda i, j: math.exp(-((j - i - center) ** 2 // 2)) / math.sqrt(2 * math.pi),
    )


@gaussian_weights.mistake
def positions_stretched(query_len, key_len, center):
    """You stretched the queries over the keys, as cross attention does later. Here the mean of
    query i is i + center, whatever the lengths."""
    return table(query_len, key_len, lambda i, j: density(j - (i * key_len / query_len + center)))


@gaussian_weights.mistake
def whole_center(query_len, key_len, center):
    """You rounded the center down to a whole number of tokens. It may lie between two words."""
    return gaussian_weights.definition(query_len, key_len, float(int(center)))


@gaussian_weights.mistake
def normalized(query_len, key_len, center):
    """Your rows sum to one, as after a softmax. The paper's do not: weights are densities, and what
    falls outside the sentence is lost."""
    return sum_to_one(gaussian_weights.definition(query_len, key_len, center))


@gaussian_weights.mistake
def wrong_side(query_len, key_len, center):
    """The curve stands on the wrong side of the query: the mean is i + center, so -1 is the word
    before. Or is a row not a query?"""
    return gaussian_weights.definition(query_len, key_len, -center)


@gaussian_weights.mistake
def no_half(query_len, key_len, center):
    """The 2 in the exponent is missing: it is -distance^2 / (2 std^2)."""
    return table(
        query_len, key_len, lambda i, j: math.exp(-((j - i - center) ** 2)) / math.sqrt(2 * math.pi)
    )


@gaussian_weights.mistake
def no_factor(query_len, key_len, center):
    """The factor 1 / sqrt(2 pi) before the exponential is missing."""
    return table(query_len, key_len, lambda i, j: math.exp(-((j - i - center) ** 2) / 2))


@gaussian_weights.mistake
def no_root(query_len, key_len, center):
    """The factor is 1 / sqrt(2 pi); you divided by 2 pi itself."""
    return gaussian_weights.definition(query_len, key_len, center) / math.sqrt(2 * math.pi)


@gaussian_weights.mistake
def center_forgotten(query_len, key_len, center):
    """The curve stands around the query itself, whatever the center: the mean is i + center."""
    return gaussian_weights.definition(query_len, key_len, 0.0)


@exercise(
    cases=[(gaussian_weights.definition(4, 4, -1.0),), (gaussian_weights.definition(3, 3, 0.0),)],
    hints=[
        "Which corner of the matrix is the future: above or below the diagonal?",
        (
            "Query i may look at keys 0 to i, itself included. The others get 0, and nothing else "
            "changes."
        ),
        "`torch.tril` keeps the diagonal and all that is below it.",
    ],
    hidden=[(gaussian_weights.definition(5, 5, 1.0),)],
)
def mask_future(weights):
    return table(*weights.shape, lambda i, j: weights[i, j] if j <= i else 0)


@mask_future.mistake
def mask_kept(weights):
    """You kept what is blocked: in a mask of this project True means may not attend, so the
    weights are multiplied by `~mask`."""
    return weights.triu(1)


@mask_future.mistake
def divided_again(weights):
    """You divided by the sum after masking. The paper does not: what the mask takes is gone, and a
    head with center 0 keeps 0.7 at most."""
    return sum_to_one(weights.tril())


@mask_future.mistake
def divided_before(weights):
    """You divided by the sum before masking; the paper's weights never sum to one."""
    return sum_to_one(weights).tril()


@mask_future.mistake
def not_itself(weights):
    """The query may look at itself: only keys after it are masked."""
    return weights.tril(-1)


@mask_future.mistake
def past(weights):
    """You masked the past and kept the future: keys with j > i are the ones to go."""
    return weights.triu()


@mask_future.mistake
def minus_infinity(weights):
    """Minus infinity is for scores, before a softmax. These are weights already: a key that may not
    be seen has a weight of 0."""
    return weights.masked_fill(torch.ones_like(weights, dtype=torch.bool).triu(1), -math.inf)


@mask_future.mistake
def softmax_of_weights(weights):
    """You took a softmax. That is for scores, and hands what the mask takes to the words that are
    left. These are weights already: set those of the future to 0, and change nothing else."""
    return minus_infinity(weights).softmax(dim=-1)


@mask_future.mistake
def very_low(weights):
    """A very low number is for scores, before a softmax. These are weights already: a key that may
    not be seen has a weight of 0."""
    return weights.masked_fill(minus_infinity(weights).isinf(), -1e9)


@mask_future.mistake
def one_word_ahead(weights):
    """The query still sees the word after it: keys with j > i go, so j = i + 1 goes, too."""
    return weights.tril(1)


VALUE = torch.tensor([[1.0, 0.0], [2.0, 0.5], [4.0, 0.0], [8.0, -1.0], [16.0, 3.0]])


@exercise(
    cases=[(VALUE, 0), (VALUE, -1), (VALUE[:2], 1), (VALUE, -3)],
    hints=[
        "Which three places does the first word read, and which of them exist?",
        (
            "Position i reads i + center - 1, i + center and i + center + 1, weighted by the "
            "density at distance 1, 0, 1."
        ),
        (
            "For each of -1, 0, 1: `j = positions + center + tap`, `inside = (j >= 0) & (j < "
            "len(value))`, and add `density * value[j[inside]]` to `result[inside]`."
        ),
    ],
    hidden=[(VALUE[:3], 2), (VALUE[1:], -1)],
)
def window_attention(value, center):
    result = torch.zeros_like(value)
    for i in range(len(value)):
        for tap in (-1, 0, 1):
            j = i + center + tap
            if 0 <= j < len(value):
                result[i] += density(tap) * value[j]
    return result


@window_attention.mistake
def ring(value, center):
    """Your sentence is bent into a ring: `torch.roll` puts the last word before the first. What
    lies outside counts nothing."""
    return sum(density(tap) * torch.roll(value, -(center + tap), dims=0) for tap in (-1, 0, 1))


@window_attention.mistake
def from_the_end(value, center):
    """An index of -1 is the last word in Python. Before the first word there is nothing: ask for `j
    >= 0`, too."""
    places = torch.arange(len(value))[:, None] + center + torch.tensor([-1, 0, 1])
    weights = torch.tensor([density(tap) for tap in (-1, 0, 1)]) * (
        (places >= -len(value)) & (places < len(value))
    )
    return (weights[:, :, None] * value[places % len(value)]).sum(dim=1)


@window_attention.mistake
def ignores_center(value, center):
    """The window stands around the query; it belongs around the head's center, i + center."""
    return window_attention.definition(value, 0)


@window_attention.mistake
def all_the_same(value, center):
    """All three words count the same; they are weighted by the density at their distance from the
    mean."""
    return table(len(value), len(value), lambda i, j: abs(j - i - center) <= 1) @ value / 3


@window_attention.mistake
def sums_to_one(value, center):
    """Your three weights sum to one; the paper's are densities and sum to 0.883."""
    return window_attention.definition(value, center) / sum(map(density, (-1, 0, 1)))


@window_attention.mistake
def whole_curve(value, center):
    """You read the whole sentence. That is the full curve again, and its cost grows with the square
    of the length."""
    return gaussian_weights.definition(len(value), len(value), center) @ value


@window_attention.mistake
def window_on_the_wrong_side(value, center):
    """The window stands on the wrong side of the query: a center of -1 reads around the word
    before. `torch.roll` by 1 shifts that way."""
    return window_attention.definition(value, -center)


@window_attention.mistake
def border_repeated(value, center):
    """Past the end you read the last word once more (or the first, before the beginning). There is
    nothing: it counts 0."""
    return sum(
        density(tap) * value[(torch.arange(len(value)) + center + tap).clamp(0, len(value) - 1)]
        for tap in (-1, 0, 1)
    )


@window_attention.mistake
def distance_from_the_query(value, center):
    """You weighted by the distance from the query. It is the distance from the mean that counts: 1,
    0, 1, whatever the center."""
    reach = table(
        len(value), len(value), lambda i, j: density(j - i) if abs(j - i - center) <= 1 else 0
    )
    return reach @ value


@exercise(
    cases=[(5, 0.0, 1.3), (6, 1.0, 0.5), (4, -1.0, 0.8), (5, 0.5, 1.3)],
    hints=[
        "At which source word do you expect the last target word, if the source is longer?",
        (
            "Target position i is expected at source position gamma * i; the center is added, and "
            "the sum is rounded down."
        ),
        "`torch.floor(gamma * torch.arange(tgt_len) + center)`.",
    ],
    hidden=[(3, -0.6, 0.7), (7, 1.5, 1.1)],
)
def cross_means(tgt_len, center, gamma):
    return torch.tensor([math.floor(gamma * i + center) for i in range(tgt_len)])


@cross_means.mistake
def counted_from_one(tgt_len, center, gamma):
    """You counted positions from 1. The first target word is i = 0."""
    return torch.tensor([math.floor(gamma * (i + 1) + center) for i in range(tgt_len)])


@cross_means.mistake
def no_center(tgt_len, center, gamma):
    """The center is missing: gamma * i + center, rounded down."""
    return torch.tensor([math.floor(gamma * i) for i in range(tgt_len)])


@cross_means.mistake
def towards_zero(tgt_len, center, gamma):
    """`int`, `trunc` and `.long()` cut towards zero: -0.3 becomes 0. Rounded down it is -1, outside
    the sentence."""
    return torch.tensor([int(gamma * i + center) for i in range(tgt_len)])


@cross_means.mistake
def upside_down(tgt_len, center, gamma):
    """gamma is source length / target length, so a target position is multiplied by it, not
    divided."""
    return torch.tensor([math.floor(i / gamma + center) for i in range(tgt_len)])


@cross_means.mistake
def nearest(tgt_len, center, gamma):
    """You rounded to the nearest position; the paper rounds down."""
    return torch.tensor([round(gamma * i + center) for i in range(tgt_len)])


@cross_means.mistake
def not_rounded(tgt_len, center, gamma):
    """The means are not rounded; the paper rounds them down to a position."""
    return torch.tensor([gamma * i + center for i in range(tgt_len)])


@cross_means.mistake
def center_scaled(tgt_len, center, gamma):
    """The center counts source tokens: add it after multiplying by gamma, not before."""
    return torch.tensor([math.floor(gamma * (i + center)) for i in range(tgt_len)])


@cross_means.mistake
def center_added_last(tgt_len, center, gamma):
    """You rounded gamma * i and added the center after that. Add first, then round down: a center
    may lie between two words."""
    return torch.tensor([math.floor(gamma * i) + center for i in range(tgt_len)])


@cross_means.mistake
def kept_inside(tgt_len, center, gamma):
    """You moved a mean from before the first source word onto it. Leave it outside: that query
    reads only the tail of its bell."""
    return cross_means.definition(tgt_len, center, gamma).clamp_min(0)


@cross_means.mistake
def rounded_up(tgt_len, center, gamma):
    """You rounded up; the paper rounds down."""
    return torch.tensor([math.ceil(gamma * i + center) for i in range(tgt_len)])


def read(states, source, scale=True):
    """Return what one learned head, without its projections, reads in the source for each state."""
    scores = states @ source.T / (math.sqrt(source.shape[1]) if scale else 1)
    return scores.softmax(dim=-1) @ source


def through_layers(states, source, self_weights, reading):
    """Return the states above a decoder that reads the source in some of its layers, counted from
    0."""
    for layer, weights in enumerate(self_weights):
        states = states + weights @ states
        if layer in reading:
            states = states + read(states, source)
    return states


TARGET = torch.tensor([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]])
SOURCE = torch.tensor([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.5], [1.0, 1.0]])
BELLS = torch.stack(
    [mask_future.definition(gaussian_weights.definition(3, 3, center)) for center in (-1.0, 0.0)]
)

# bells commute, as all weights do that depend on the distance alone: with them the order of the
# layers would not matter
OTHER_WEIGHTS = torch.tensor(
    [
        [[0.2, 0.0, 0.0], [0.5, 0.1, 0.0], [0.0, 0.3, 0.4]],
        [[0.1, 0.0, 0.0], [0.1, 0.6, 0.0], [0.7, 0.1, 0.1]],
    ]
)


@exercise(
    cases=[
        (TARGET, SOURCE, BELLS),
        (TARGET[:2], SOURCE[1:], BELLS[[1, 0, 1], :2, :2]),
        (TARGET, SOURCE, BELLS[:1]),
        (TARGET, SOURCE, OTHER_WEIGHTS),
    ],
    hints=[
        "Which layers read the source, and what becomes of the states that were there?",
        (
            "In every layer, from the first on, add weights @ states to the states. Then add "
            "softmax(states @ source.T / sqrt(embed_dim)) @ source."
        ),
        (
            "Loop `states = states + weights @ states`; after the loop add `(states @ source.T / "
            "math.sqrt(source.shape[1])).softmax(dim=-1) @ source`."
        ),
    ],
    hidden=[(TARGET.flip(0), SOURCE[:3], OTHER_WEIGHTS.flip(0))],
)
def one_learned_head(states, source, self_weights):
    return through_layers(states, source, self_weights, reading=[len(self_weights) - 1])


@one_learned_head.mistake
def last_self_attention_only(states, source, self_weights):
    """Only the last layer's self-attention is left. The layers below have no cross attention, but
    self-attention they have."""
    return through_layers(states, source, self_weights[-1:], reading=[0])


@one_learned_head.mistake
def in_every_layer(states, source, self_weights):
    """You read the source in every layer, as usual decoders do. Here the lower layers have no cross
    attention at all."""
    return through_layers(states, source, self_weights, reading=range(len(self_weights)))


@one_learned_head.mistake
def in_the_first_layer(states, source, self_weights):
    """You read the source in the first layer. The paper keeps the head in the last one, right below
    the output."""
    return through_layers(states, source, self_weights, reading=[0])


@one_learned_head.mistake
def before_itself(states, source, self_weights):
    """You read the source before the last layer's self-attention. The order in a layer is: first
    the target, then the source."""
    below = through_layers(states, source, self_weights[:-1], reading=[])
    return through_layers(below + read(below, source), source, self_weights[-1:], reading=[])


@one_learned_head.mistake
def asks_with_the_input(states, source, self_weights):
    """The head asks with the states that came in at the bottom. It sits in the last layer: its
    queries are the states there."""
    return through_layers(states, source, self_weights, reading=[]) + read(states, source)


@one_learned_head.mistake
def replaces_the_states(states, source, self_weights):
    """You return what the head reads. It is added to the states: there is a residual connection
    around cross attention, too."""
    return read(through_layers(states, source, self_weights, reading=[]), source)


@one_learned_head.mistake
def self_attention_replaces(states, source, self_weights):
    """You replaced the states by weights @ states. It is added to them: without the residual
    connection a word loses itself."""
    for weights in self_weights:
        states = weights @ states
    return states + read(states, source)


@one_learned_head.mistake
def from_the_top(states, source, self_weights):
    """You went through the layers from the last to the first. The first layer stands at the bottom,
    where the words come in."""
    return one_learned_head.definition(states, source, self_weights.flip(0))


@one_learned_head.mistake
def all_from_the_bottom(states, source, self_weights):
    """Every layer of yours reads the states that came in. A layer reads those that the layer below
    has left."""
    states = states + self_weights.sum(dim=0) @ states
    return states + read(states, source)


@one_learned_head.mistake
def root_of_the_source(states, source, self_weights):
    """You divided by the root of the number of source words. It is the width of a state,
    embed_dim."""
    states = through_layers(states, source, self_weights, reading=[])
    return states + (states @ source.T / math.sqrt(len(source))).softmax(dim=-1) @ source


@one_learned_head.mistake
def source_from_left_to_right(states, source, self_weights):
    """You masked the source. All of it is there before the first word is written: only the target
    has a future."""
    states = through_layers(states, source, self_weights, reading=[])
    scores = states @ source.T / math.sqrt(source.shape[1])
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return states + scores.masked_fill(future, -math.inf).softmax(dim=-1) @ source


@one_learned_head.mistake
def not_scaled(states, source, self_weights):
    """You did not divide the scores by the root of the width. This head is as wide as the model, so
    it is the root of embed_dim."""
    states = through_layers(states, source, self_weights, reading=[])
    return states + read(states, source, scale=False)


@one_learned_head.mistake
def over_queries(states, source, self_weights):
    """Your softmax runs over the queries. Each query shares one out among the source words: take
    the last dimension."""
    states = through_layers(states, source, self_weights, reading=[])
    return states + (states @ source.T / math.sqrt(source.shape[1])).softmax(dim=0) @ source
