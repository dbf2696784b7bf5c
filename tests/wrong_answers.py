"""Forty wrong answers to the exercises, each with the words that a right diagnosis contains.

They were written from the exercises alone, before the checks were read: `exercise.ipynb` says what
is asked, and each answer is what a student may write instead. `tests/test_diagnosis.py` counts how
many the checks explain.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

EPSILON, TEMPERATURE = 0.1, 0.33


@dataclass
class WrongAnswer:
    """A wrong answer to an exercise; `diagnosis` matches what a right explanation says of it."""

    tutorial: str
    exercise: str
    diagnosis: str
    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return f"{self.tutorial}-{self.exercise}-{self.function.__name__}"


WRONG_ANSWERS: list[WrongAnswer] = []


def wrong(tutorial: str, exercise: str, diagnosis: str) -> Callable:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        WRONG_ANSWERS.append(WrongAnswer(tutorial, exercise, diagnosis, function))
        return function

    return add


def softmax(scores):
    return scores.softmax(dim=-1)


def split(x, num_heads):
    return x.reshape(len(x), num_heads, -1).transpose(0, 1)


# 01: attention


@wrong("01", "scaled_scores", r"transpose|\.T\b|\.mT\b|width of both|same letter")
def einsum_over_unlike_axes(query, key):
    return torch.einsum("qd,dk->qk", query, key) / math.sqrt(query.shape[-1])


@wrong("01", "scaled_scores", r"number of (queries|keys|words)|length")
def divides_by_root_of_how_many_queries(query, key):
    return query @ key.T / math.sqrt(len(query))


@wrong("01", "scaled_scores", r"math\.sqrt|\*\* 0\.5|plain number|a number, not a tensor")
def torch_root_of_a_number(query, key):
    return query @ key.T / torch.sqrt(query.shape[-1])


@wrong("01", "masked_softmax", r"changes what it is given|copy")
def fills_in_place(scores, blocked):
    scores[blocked] = -math.inf
    weights = scores.softmax(dim=-1)
    return weights.nan_to_num(0)


@wrong("01", "masked_softmax", r"(divide|sum).*|after the softmax")
def zeroes_after_softmax(scores, blocked):
    weights = torch.softmax(scores, dim=1)
    weights[blocked] = 0
    return weights


@wrong("01", "masked_softmax", r"NaN|nan")
def leaves_nan(scores, blocked):
    seen = torch.exp(scores) * ~blocked
    return seen / seen.sum(dim=1, keepdim=True)


@wrong("01", "masked_softmax", r"keepdim|column|each row|sum of its row|axis")
def divides_by_sums_of_columns(scores, blocked):
    seen = torch.exp(scores).masked_fill(blocked, 0)
    return (seen / seen.sum(dim=0)).nan_to_num(0)


@wrong("01", "masked_softmax", r"torch\.exp|tensor method")
def math_exp(scores, blocked):
    seen = math.exp(scores) * ~blocked
    return seen / seen.sum(-1, keepdim=True)


@wrong("01", "split_heads", r"head.*(front|first)|transpose|permute|axes")
def head_stays_in_the_middle(x, num_heads):
    length, embed_dim = x.shape
    return x.view(length, num_heads, embed_dim // num_heads)


@wrong("01", "split_heads", r"side by side|neighbour|next to each other|every \w+ number|deal|turn")
def deals_numbers_out(x, num_heads):
    return torch.stack([x[:, head::num_heads] for head in range(num_heads)])


@wrong("01", "multi_head", r"transpose|side by side|axes|order of the axes|mixe")
def joins_without_turning_back(query, key, value, num_heads, blocked):
    q, k, v = (split(x, num_heads) for x in (query, key, value))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(blocked, -math.inf).softmax(-1).nan_to_num(0)
    return (weights @ v).reshape(len(query), -1)


@wrong("01", "multi_head", r"each head|every head|same weights|own (scores|weights)|whole vector")
def same_weights_in_all_heads(query, key, value, num_heads, blocked):
    scores = query @ key.T / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(blocked, -math.inf).softmax(-1).nan_to_num(0)
    return weights @ value


# 02: hard-coded Gaussian attention


@wrong("02", "gaussian_weights", r"wrong side|other side|sign|minus|i - c")
def center_on_the_other_side(query_len, key_len, center):
    i, j = torch.arange(query_len)[:, None], torch.arange(key_len)
    return torch.exp(-((j - i + center) ** 2) / 2) / math.sqrt(2 * math.pi)


@wrong("02", "gaussian_weights", r"root|sqrt|factor|2 ?pi|2\\pi|parenthes|bracket")
def root_of_two_times_pi(query_len, key_len, center):
    mean = torch.arange(query_len)[:, None] + center
    return 1 / math.sqrt(2) * math.pi * torch.exp(-((torch.arange(key_len) - mean) ** 2) / 2)


@wrong("02", "gaussian_weights", r"row.*column|column.*row|broadcast|\[:, None\]|unsqueeze|pair")
def one_row_only(query_len, key_len, center):
    mean = torch.arange(query_len) + center
    return torch.exp(-((torch.arange(key_len) - mean) ** 2) / 2) / math.sqrt(2 * math.pi)


@wrong("02", "mask_future", r"past|future|triu|upper|wrong (half|side)|other half")
def keeps_the_future(weights):
    return torch.triu(weights)


@wrong("02", "mask_future", r"share|sum|divide")
def shares_out(weights):
    kept = torch.tril(weights)
    return kept / kept.sum(dim=-1, keepdim=True)


@wrong("02", "window_attention", r"border|edge|outside|past the (end|last)|does not exist")
def reads_past_the_border(value, center):
    out = torch.zeros_like(value)
    for i in range(len(value)):
        for k in (-1, 0, 1):
            out[i] += math.exp(-(k**2) / 2) / math.sqrt(2 * math.pi) * value[i + center + k]
    return out


@wrong("02", "window_attention", r"wrap|around|other end|roll")
def wraps_around(value, center):
    bell = [math.exp(-(k**2) / 2) / math.sqrt(2 * math.pi) for k in (-1, 0, 1)]
    return sum(w * value.roll(-(center + k), dims=0) for w, k in zip(bell, (-1, 0, 1), strict=True))


@wrong("02", "cross_means", r"round|floor")
def rounds(tgt_len, center, gamma):
    return torch.round(gamma * torch.arange(tgt_len) + center)


@wrong("02", "cross_means", r"floor|whole|cent(er|re)")
def adds_center_after_floor(tgt_len, center, gamma):
    return torch.floor(gamma * torch.arange(tgt_len)) + center


@wrong("02", "one_learned_head", r"last|every layer|each layer")
def reads_source_in_every_layer(states, source, self_weights):
    for weights in self_weights:
        states = states + weights @ states
        cross = softmax(states @ source.T / math.sqrt(states.shape[-1]))
        states = states + cross @ source
    return states


@wrong("02", "one_learned_head", r"add|residual|replace")
def replaces_states(states, source, self_weights):
    for weights in self_weights:
        states = weights @ states
    return states + softmax(states @ source.T / math.sqrt(states.shape[-1])) @ source


# 03: fixed patterns


@wrong(
    "03", "neighbour", r"sign|direction|other side|wrong side|exchanged|i - offset|after.*before"
)
def offset_the_other_way(length, offset):
    i, j = torch.arange(length)[:, None], torch.arange(length)[None]
    return (i == j + offset).float()


@wrong("03", "left_context", r"i - 1|i - 2|token before|directly|previous")
def reads_the_token_before_too(length):
    cubes = torch.tril((torch.arange(length) + 1.0).pow(3).repeat(length, 1), diagonal=-1)
    return cubes / cubes.sum(dim=-1, keepdim=True).clamp(min=1)


@wrong("03", "left_context", r"NaN|nan|0 / 0")
def divides_by_zero(length):
    cubes = torch.tril((torch.arange(length) + 1.0).pow(3).repeat(length, 1), diagonal=-2)
    return cubes / cubes.sum(dim=-1, keepdim=True)


@wrong("03", "by_word", r"divide|sum to one|sums? of|normali")
def forgets_to_divide(word_weights, words):
    return word_weights[words][:, words]


@wrong("03", "by_word", r"diagonal|pair|itself|every piece.*every|two (axes|indices)|\[:, words\]")
def takes_the_diagonal(word_weights, words):
    rows = word_weights[words, words]
    return rows / rows.sum(dim=-1, keepdim=True)


# 04: mixed heads


@wrong("04", "local_mask", r"True.*(may not|blocked)|inverted|opposite|other way|turned (a)?round")
def marks_what_may_be_seen(length, window):
    i = torch.arange(length)
    return (i[:, None] - i).abs() <= window


@wrong("04", "local_mask", r"window|included|w itself|exactly|one (token )?(too|less|narrow)")
def one_token_too_narrow(length, window):
    i = torch.arange(length)
    return (i[:, None] - i).abs() >= window


@wrong("04", "head_types", r"repeat|last|begins? again")
def never_repeats_the_last(types, num_heads, repeat):
    return (types * num_heads)[:num_heads]


@wrong("04", "mixed_weights", r"quer|row|key|column")
def pads_queries(scores, masks, is_padding):
    blocked = masks | is_padding[:, None]
    return scores.masked_fill(blocked, -math.inf).softmax(-1).nan_to_num(0)


# 05: recurrent attention


@wrong("05", "step", r"transpose|\.T\b|\(out, in\)|out, in")
def multiplies_by_weight_itself(scores, weight, bias):
    mixed = torch.tanh(scores @ weight + bias)
    return torch.nn.functional.layer_norm(mixed, mixed.shape[-1:]) + scores


@wrong("05", "scores_of_layer", r"A_0|one step|too few|once more|layer below|first layer")
def one_step_short(first_scores, weight, bias, layer):
    scores = first_scores
    for _ in range(1, layer):
        mixed = torch.tanh(scores @ weight.T + bias)
        scores = torch.nn.functional.layer_norm(mixed, mixed.shape[-1:]) + scores
    return scores


# 06: what heads do


@wrong("06", "confidence", r"end mark|last position")
def keeps_the_end_mark(weights):
    return weights.max(dim=-1).values.mean(dim=-1)


@wrong("06", "favourite_offset", r"sign|key minus query|query minus key|direction")
def query_minus_key(weights):
    length = len(weights)
    offsets = (torch.arange(length) - weights.argmax(dim=-1)).tolist()
    best = max(set(offsets), key=offsets.count)
    return best, offsets.count(best) / (length - abs(best))


@wrong("06", "relation_accuracy", r"zero|nowhere|empty")
def reads_empty_rows_as_first_word(weights, pairs):
    return sum(int(weights[query].argmax()) == key for query, key in pairs) / len(pairs)


# 07: pruning heads


@wrong("07", "hard_concrete", r"clamp|torch\.(minimum|where)")
def builtin_min_and_max(log_alpha, uniform):
    s = torch.sigmoid((uniform.log() - (1 - uniform).log() + log_alpha) / TEMPERATURE)
    return min(1, max(0, (1 + 2 * EPSILON) * s - EPSILON))


@wrong("07", "chance_open", r"sign|minus|shut|closed|plus|is 0\b|1 -")
def adds_instead_of_subtracting(log_alpha):
    return torch.sigmoid(log_alpha + TEMPERATURE * math.log(EPSILON / (1 + EPSILON)))


# 08: what one may conclude


@wrong("08", "paired_bootstrap", r"center|centre|moved|mean of (all|the) |around|chance alone")
def counts_without_moving_to_zero(first, second, samples):
    differences = (second[samples] - first[samples]).mean(axis=1)
    observed = second.mean() - first.mean()
    p = (1 + (np.abs(differences) >= abs(observed)).sum()) / (1 + len(samples))
    return observed, *np.percentile(differences, [2.5, 97.5]), p
