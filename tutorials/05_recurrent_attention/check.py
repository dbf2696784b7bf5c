"""What these exercises ask for, from its definition: Zeng, Wu, Yin, Jiang and Li (EMNLP 2021),
section 2, and what it counts."""

import math

import torch

from repro import exercise

SCORES = torch.tensor(
    [
        [
            [0.0, 1.0, -0.5, 0.3],
            [0.8, -0.2, 0.4, -1.0],
            [-0.6, 0.5, 0.1, 0.9],
            [0.4, -0.9, 0.7, -0.1],
        ],
        [
            [0.2, -0.7, 0.6, 0.1],
            [-0.3, 0.9, 0.0, 0.5],
            [1.0, 0.4, -0.8, -0.1],
            [0.3, 0.6, -0.4, 0.8],
        ],
    ]
)
WEIGHT = torch.tensor(
    [[0.5, -0.3, 0.2, 0.8], [0.1, 0.7, -0.6, -0.2], [-0.4, 0.6, 0.3, 0.1], [0.9, 0.2, -0.1, -0.5]]
)
BIAS = torch.tensor([0.1, -0.4, 0.3, 0.6])
SMALL = (SCORES[:1, :3, :3], WEIGHT[:3, :3])


def normalize(scores):
    """Subtract the mean over keys and divide by the standard deviation."""
    return torch.nn.functional.layer_norm(scores, scores.shape[-1:])


@exercise(
    cases=[
        (*SMALL, torch.zeros(3)),
        (SCORES, WEIGHT, BIAS),
        (SCORES, 0.01 * WEIGHT, 0 * BIAS),
        (SCORES, 0 * WEIGHT, 0 * BIAS),
        (SCORES[:, :2], WEIGHT, BIAS),  # fewer queries than keys
    ],
    hints=[
        "Which axis counts the keys, and does a row see any other row?",
        (
            "One row at a time: the linear layer over the keys, tanh, minus the mean, divided by "
            "the deviation, plus the row itself."
        ),
        (
            "`mixed = torch.tanh(scores @ weight.T + bias)`; "
            "`torch.nn.functional.layer_norm(mixed, mixed.shape[-1:]) + scores`."
        ),
    ],
    hidden=[(SCORES[1:, 1:], WEIGHT.T, -BIAS)],
)
def step(scores, weight, bias):
    num_heads, num_rows, max_len = scores.shape
    result = scores.clone()
    for head in range(num_heads):
        for i in range(num_rows):
            mixed = [
                math.tanh(sum(weight[k, j] * scores[head, i, j] for j in range(max_len)) + bias[k])
                for k in range(max_len)
            ]
            mean = sum(mixed) / max_len
            deviation = math.sqrt(sum((value - mean) ** 2 for value in mixed) / max_len + 1e-5)
            for k in range(max_len):
                result[head, i, k] += (mixed[k] - mean) / deviation
    return result


@step.mistake
def mixes_queries(scores, weight, bias):
    """Your W stands on the left and mixes queries, the rows. Here it mixes the keys of a row:
    `scores` left, `weight.T` right."""
    num_rows = scores.shape[1]  # with fewer queries than keys, a reader's product stops
    return normalize(torch.tanh(weight[:num_rows, :num_rows] @ scores + bias)) + scores


@step.mistake
def not_transposed(scores, weight, bias):
    """You multiply by `weight`, not by its transpose. A linear layer keeps it as (out, in): what
    becomes key k is weighted by row k."""
    return normalize(torch.tanh(scores @ weight + bias)) + scores


@step.mistake
def sum_normalized(scores, weight, bias):
    """You normalised the sum. The norm is for what the step adds; the scores from below pass by it
    unchanged."""
    return normalize(torch.tanh(scores @ weight.T + bias) + scores)


@step.mistake
def replaced(scores, weight, bias):
    """The residual is missing: a step adds to the scores from below, it does not replace them."""
    return step.definition(scores, weight, bias) - scores


@step.mistake
def one_key_less(scores, weight, bias):
    """You divide by the number of keys minus one, as `std` does by default. A layer norm divides by
    their number: `correction=0`."""
    mixed = torch.tanh(scores @ weight.T + bias)
    variance = mixed.var(dim=-1, keepdim=True)
    return (mixed - mixed.mean(dim=-1, keepdim=True)) / (variance + 1e-5).sqrt() + scores


@step.mistake
def one_key_less_and_nothing_under_the_root(scores, weight, bias):
    """You divide by the number of keys minus one, as `std` does by default; a layer norm by their
    number. And 1e-5 is missing under the root."""
    mixed = torch.tanh(scores @ weight.T + bias)
    return (mixed - mixed.mean(dim=-1, keepdim=True)) / mixed.std(dim=-1, keepdim=True) + scores


@step.mistake
def nothing_under_the_root(scores, weight, bias):
    """The 1e-5 is missing under the root. If W and b are zeros, all that tanh returns is alike, and
    0 / 0 is no number."""
    mixed = torch.tanh(scores @ weight.T + bias)
    return (mixed - mixed.mean(dim=-1, keepdim=True)) / mixed.std(
        dim=-1, keepdim=True, correction=0
    ) + scores


@step.mistake
def beside_the_root(scores, weight, bias):
    """You added the 1e-5 to the deviation. It belongs to the variance, under the root."""
    mixed = torch.tanh(scores @ weight.T + bias)
    return (mixed - mixed.mean(dim=-1, keepdim=True)) / (
        mixed.std(dim=-1, keepdim=True, correction=0) + 1e-5
    ) + scores


@step.mistake
def normalized_together(scores, weight, bias):
    """You normalised the rows of a head together. A layer norm has a mean and a deviation for each
    row, over its keys alone."""
    return (
        torch.nn.functional.layer_norm(torch.tanh(scores @ weight.T + bias), scores.shape[-2:])
        + scores
    )


@step.mistake
def no_tanh(scores, weight, bias):
    """The tanh is missing, between the linear layer and the norm."""
    return normalize(scores @ weight.T + bias) + scores


@step.mistake
def not_normalized(scores, weight, bias):
    """The layer norm is missing: what the tanh returns is normalised before it is added."""
    return torch.tanh(scores @ weight.T + bias) + scores


@step.mistake
def tanh_last(scores, weight, bias):
    """The norm comes after the tanh; yours comes before it."""
    return torch.tanh(normalize(scores @ weight.T + bias)) + scores


@exercise(
    cases=[(*SMALL, BIAS[:3], 1), (*SMALL, BIAS[:3], 3)],
    hints=[
        "How many steps lie between the first scores and layer 1?",
        (
            "Layer 1 is one step away from the first scores, layer 2 two steps, and each step "
            "starts where the one before ended. Is `step` right already?"
        ),
        (
            "Start with `first_scores`, and call `step` `layer` times on what the call before "
            "returned."
        ),
    ],
    hidden=[(SCORES, WEIGHT, BIAS, 2)],
)
def scores_of_layer(first_scores, weight, bias, layer):
    scores = first_scores
    for _ in range(layer):
        scores = step.definition(scores, weight, bias)
    return scores


@scores_of_layer.mistake
def one_step_late(first_scores, weight, bias, layer):
    """Your layer 1 uses the first scores as they are. No layer does: layer 1 already uses A_1, one
    step on."""
    return scores_of_layer.definition(first_scores, weight, bias, layer - 1)


@scores_of_layer.mistake
def one_step_early(first_scores, weight, bias, layer):
    """That is one step too many: layer 1 is one step away from the first scores."""
    return scores_of_layer.definition(first_scores, weight, bias, layer + 1)


@scores_of_layer.mistake
def always_from_the_first(first_scores, weight, bias, layer):
    """Every layer of yours is one step from the first scores, so all attend alike. A step starts
    from the scores of the layer below."""
    return scores_of_layer.definition(first_scores, weight, bias, 1)


@scores_of_layer.mistake
def weights_go_up(first_scores, weight, bias, layer):
    """You handed weights to the next layer. What goes up are the scores; the softmax is the layer's
    own business."""
    scores = step.definition(first_scores, weight, bias)
    for _ in range(layer - 1):
        scores = step.definition(scores.softmax(dim=-1), weight, bias)
    return scores


SQUARE = torch.stack([WEIGHT, 2 * WEIGHT.T])


def block_future(scores):
    """Put minus infinity where a key stands after the query."""
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)


@exercise(
    cases=[(SQUARE, 3), (SQUARE[:1], 4), (-200 * SQUARE[1:], 4), (SCORES, 4)],
    hints=[
        "Which keys does the first token see, and what do the rows sum to after that?",
        (
            "Query 0 sees key 0 only and gives it 1; query 1 shares 1 between keys 0 and 1 by "
            "exp(score); every row sums to one."
        ),
        (
            "Cut `scores[:, :length, :length]`, fill `triu(1)` with `-torch.inf`, and take "
            "`softmax(dim=-1)`."
        ),
    ],
    hidden=[(SQUARE, 2)],
)
def layer_weights(scores, length):
    result = torch.zeros(len(scores), length, length)
    for head in range(len(scores)):
        for i in range(length):
            exponentials = [math.exp(scores[head, i, j]) for j in range(i + 1)]
            for j in range(i + 1):
                result[head, i, j] = exponentials[j] / sum(exponentials)
    return result


@layer_weights.mistake
def zero_is_no_mask(scores, length):
    """You set the scores of the future to 0. That is a score like any other, exp(0) = 1: what is to
    get no weight needs minus infinity."""
    return scores[:, :length, :length].tril().softmax(dim=-1)


@layer_weights.mistake
def masked_by_value(scores, length):
    """You masked whatever score is 0. A score that may be seen can be 0, too: mask by place, with
    True above the diagonal."""
    cut = scores[:, :length, :length].tril()
    return cut.masked_fill(cut == 0, -math.inf).softmax(dim=-1)


@layer_weights.mistake
def masked_last(scores, length):
    """You masked after the softmax. What the future had is lost then, and rows do not sum to one:
    mask the scores, before the softmax."""
    return scores[:, :length, :length].softmax(dim=-1).tril()


@layer_weights.mistake
def cut_last(scores, length):
    """Your softmax runs over all keys that the matrix has, so weight goes to tokens that the
    sentence lacks. Cut and mask first."""
    return scores.softmax(dim=-1)[:, :length, :length].tril()


@layer_weights.mistake
def divided_again(scores, length):
    """You divided once more after a softmax over all keys. Where the future took everything, the
    others are 0, and no division helps."""
    weights = scores.softmax(dim=-1)[:, :length, :length].tril()
    return (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num()


@layer_weights.mistake
def over_queries(scores, length):
    """Your columns sum to one: the softmax went over the queries. Each query shares 1 among its
    keys, which are the last axis."""
    return block_future(scores[:, :length, :length]).softmax(dim=-2)


@layer_weights.mistake
def scaled(scores, length):
    """You divided by a square root. That tames dot products of long vectors; here the scores are
    learned as they are."""
    return layer_weights.definition(scores / math.sqrt(scores.shape[-1]), length)


@layer_weights.mistake
def not_masked(scores, length):
    """Every query sees every key. In a decoder query i sees the keys up to i."""
    return scores[:, :length, :length].softmax(dim=-1)


@layer_weights.mistake
def past_masked(scores, length):
    """You masked the past and kept the future: keys with j > i are the ones to go."""
    return block_future(scores[:, :length, :length].mT).mT.softmax(dim=-1)


@layer_weights.mistake
def not_itself(scores, length):
    """The diagonal is masked, too, and the first query is left with nothing: a query may see
    itself."""
    return (
        scores[:, :length, :length]
        .masked_fill(torch.ones(length, length).triu().bool(), -math.inf)
        .softmax(dim=-1)
    )


@exercise(
    cases=[(2, 3, 5), (6, 8, 256)],
    hints=[
        "Which of the learned parts does each layer have of its own?",
        (
            "Four things are learned: A_0, W, b and the layer norm. How many numbers is each, and "
            "does every head or layer have its own?"
        ),
        (
            "`num_heads * max_len**2`, and once: `max_len**2 + max_len` for the step, `2 * "
            "max_len` for the norm."
        ),
    ],
    hidden=[(1, 4, 7), (3, 1, 10)],
)
def count_recurrence(num_layers, num_heads, max_len):
    first_scores = num_heads * max_len * max_len
    linear = max_len * max_len + max_len
    norm = 2 * max_len
    return first_scores + linear + norm


@count_recurrence.mistake
def layer_by_layer(num_layers, num_heads, max_len):
    """You count everything once a layer. All layers of a stack share all of it; that is what makes
    it a recurrence."""
    return num_layers * count_recurrence.definition(num_layers, num_heads, max_len)


@count_recurrence.mistake
def matrices_in_every_layer(num_layers, num_heads, max_len):
    """You count first scores for every layer. That is the Random Synthesizer; here only one A_0 is
    learned, and the rest is computed."""
    return count_recurrence.definition(num_layers, num_layers * num_heads, max_len)


@count_recurrence.mistake
def head_by_head(num_layers, num_heads, max_len):
    """You count a step for every head. Heads have an A_0 each, but the step is the same for all."""
    return num_heads * count_recurrence.definition(num_layers, 1, max_len)


@count_recurrence.mistake
def no_norm(num_layers, num_heads, max_len):
    """The layer norm is missing: it learns a factor and an offset for every key."""
    return count_recurrence.definition(num_layers, num_heads, max_len) - 2 * max_len


@count_recurrence.mistake
def one_vector_short(num_layers, num_heads, max_len):
    """You are short of one vector: the bias b, or one of the two that a layer norm learns, factors
    and offsets."""
    return count_recurrence.definition(num_layers, num_heads, max_len) - max_len
