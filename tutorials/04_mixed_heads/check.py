"""What these exercises ask for, from its definition: Cui et al. (WNGT 2019), section 3 (equations 7
to 11), section 4.2 and Table 4."""

import math

import torch

from repro import exercise


def mask(length, allowed):
    """Return True where `allowed(i, j)` does not hold: where a query may not attend."""
    return torch.tensor([[not allowed(i, j) for j in range(length)] for i in range(length)])


@exercise(
    cases=[(5, 1), (6, 2), (3, 0)],
    hints=[
        "How far from the query is the last key that may be seen, and what does True mean?",
        (
            "Row i is query i. With window 1 the middle rows have three keys that may be seen "
            "(False), the first and the last row two."
        ),
        "`(positions - positions[:, None]).abs() > window`.",
    ],
    hidden=[(7, 3), (2, 4)],
)
def local_mask(length, window):
    return mask(length, lambda i, j: i - window <= j <= i + window)


@local_mask.mistake
def inverted(length, window):
    """Right, but the other way round: in this package True means may not attend."""
    return ~local_mask.definition(length, window)


@local_mask.mistake
def added_to_scores(length, window):
    """These are the 0 and minus infinity that the paper adds to scores. Here a mask is True where a
    key may not be seen, else False."""
    return torch.zeros(length, length).masked_fill(local_mask.definition(length, window), -math.inf)


@local_mask.mistake
def too_narrow(length, window):
    """Your window is too narrow: it reaches as many tokens to either side as it says, and the
    outermost ones may be seen."""
    return mask(length, lambda i, j: abs(j - i) < window)


@local_mask.mistake
def half_on_either_side(length, window):
    """You took the window for the width of the whole neighbourhood and halved it. It reaches that
    many tokens to the left and as many to the right."""
    return mask(length, lambda i, j: abs(j - i) <= window // 2)


@local_mask.mistake
def one_side(length, window):
    """Your window reaches to the left only; a local head looks to both sides."""
    return mask(length, lambda i, j: i - window <= j <= i)


@local_mask.mistake
def without_itself(length, window):
    """A word may look at itself: the diagonal belongs to the window."""
    return mask(length, lambda i, j: 1 <= abs(j - i) <= window)


@local_mask.mistake
def other_side(length, window):
    """Your window reaches to the right only; a local head looks to both sides."""
    return mask(length, lambda i, j: i <= j <= i + window)


@exercise(
    cases=[(4, "forward"), (5, "backward")],
    hints=[
        "Which word may a forward head see from the last place?",
        (
            "Row i is query i. In a forward head the first word sees all words, the last word "
            "only itself; backward is the mirror image."
        ),
        'Blocked is `j < i` for "forward" and `j > i` for "backward".',
    ],
    hidden=[(3, "backward"), (6, "forward")],
)
def directional_mask(length, direction):
    if direction == "forward":
        return mask(length, lambda i, j: j >= i)
    return mask(length, lambda i, j: j <= i)


@directional_mask.mistake
def exchanged(length, direction):
    """Forward and backward are exchanged: a forward head reads what follows and blocks what came
    before. Or is a row not a query?"""
    return directional_mask.definition(length, "backward" if direction == "forward" else "forward")


@directional_mask.mistake
def always_forward(length, direction):
    """Your mask is the same for both directions: look at `direction`."""
    return directional_mask.definition(length, "forward")


@directional_mask.mistake
def always_backward(length, direction):
    """Your mask is the same for both directions: look at `direction`."""
    return directional_mask.definition(length, "backward")


@directional_mask.mistake
def allowed_marked(length, direction):
    """You marked the keys that may be seen. True means may not attend: a forward head blocks what
    came before."""
    return ~directional_mask.definition(length, direction)


@directional_mask.mistake
def not_itself(length, direction):
    """A word may look at itself in either direction. Without that the last word of a forward head
    has nothing to look at."""
    return mask(length, lambda i, j: j > i if direction == "forward" else j < i)


@exercise(
    cases=[("GLFB", 8, "all"), ("GL", 4, "last"), ("GLB", 8, "all"), ("GLF", 5, "last")],
    hints=[
        "Which letter comes after the last one, in either way of repeating?",
        (
            "Return one string with a letter for each head: the types in turn, from the beginning "
            "again after the last, or the last one only."
        ),
        ('For "last" append the last letter often enough; then `(types * num_heads)[:num_heads]`.'),
    ],
    hidden=[("GLFB", 6, "last"), ("G", 3, "all"), ("GLFB", 3, "last")],
)
def head_types(types, num_heads, repeat):
    letters = ""
    for head in range(num_heads):
        if head < len(types):
            letters += types[head]
        elif repeat == "last":
            letters += types[-1]
        else:
            letters += types[head % len(types)]
    return letters


@head_types.mistake
def in_blocks(types, num_heads, repeat):
    """A model with these heads is as good, but the package deals the types out in turn: the fifth
    of eight heads is global again."""
    return "".join(sorted(head_types.definition(types, num_heads, repeat), key=types.index))


@head_types.mistake
def rest_global(types, num_heads, repeat):
    """You gave each type one head and left the others global. In the paper each type has two of
    eight heads."""
    return types + "G" * (num_heads - len(types))


@head_types.mistake
def first_and_last(types, num_heads, repeat):
    """With "last" every type has its turn first; only then the last one is repeated."""
    return (
        types[0] + types[-1] * (num_heads - 1)
        if repeat == "last"
        else head_types.definition(types, num_heads, repeat)
    )


@head_types.mistake
def repeat_ignored(types, num_heads, repeat):
    """You repeat all types. With "last" only the last one is repeated: one global head, and all
    others of one type."""
    return head_types.definition(types, num_heads, "all")


@head_types.mistake
def heads_left_over(types, num_heads, repeat):
    """Some heads have no type: the number of types need not divide the number of heads. Begin again
    and stop in the middle."""
    whole = head_types.definition(types, num_heads, repeat)
    return whole[: num_heads - num_heads % len(types)] if repeat == "all" else whole


@head_types.mistake
def letters_left_over(types, num_heads, repeat):
    """Too many letters: with "last" the last type fills the heads that the first ones leave, which
    are fewer than all."""
    return (
        types + types[-1] * num_heads
        if repeat == "last"
        else head_types.definition(types, num_heads, repeat)
    )


NO_PADDING = torch.zeros(3, dtype=torch.bool)


@exercise(
    cases=[
        (
            torch.tensor(
                [
                    [[1.0, 0.0, 2.0], [0.0, 1.0, 3.0], [2.0, -1.0, 0.0]],
                    [[0.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 1.0]],
                ]
            ),
            torch.stack([local_mask.definition(3, 1), directional_mask.definition(3, "forward")]),
            NO_PADDING,
        ),
        (
            torch.tensor(
                [
                    [0.0, 1.0, 2.0, 1.0],
                    [1.0, 0.0, 3.0, 2.0],
                    [2.0, 1.0, 0.0, 0.0],
                    [1.0, 2.0, 0.0, 3.0],
                ]
            ).repeat(2, 1, 1),
            torch.stack(
                [
                    directional_mask.definition(4, "forward"),
                    directional_mask.definition(4, "backward"),
                ]
            ),
            torch.tensor([False, False, False, True]),
        ),
        (
            torch.tensor([[[1.0, 0.0, 2.0], [200.0, 0.0, 1.0], [0.0, 1.0, 2.0]]]),
            directional_mask.definition(3, "forward")[None],
            NO_PADDING,
        ),
        (
            torch.tensor([[[1.0, 200.0, 199.0], [0.0, -202.0, -201.0], [0.0, 1.0, 2.0]]]),
            directional_mask.definition(3, "forward")[None],
            NO_PADDING,
        ),
    ],
    hints=[
        "Is padding what looks, or what is looked at: a row or a column?",
        (
            "For each head and query: a softmax over the keys that neither the head's mask nor "
            "padding blocks; all zeros where none is left."
        ),
        (
            "`blocked = masks | is_padding`; fill the scores with their lowest value, "
            "`softmax(dim=-1)`, fill the weights with 0."
        ),
    ],
    hidden=[
        (
            torch.tensor([[[0.5, -1.0], [2.0, 1.0]]]),
            local_mask.definition(2, 0)[None],
            torch.tensor([False, True]),
        )
    ],
)
def mixed_weights(scores, masks, is_padding):
    result = torch.zeros_like(scores)
    num_heads, length, _ = scores.shape
    for head in range(num_heads):
        for i in range(length):
            allowed = [j for j in range(length) if not masks[head, i, j] and not is_padding[j]]
            total = sum(math.exp(scores[head, i, j]) for j in allowed)
            for j in allowed:
                result[head, i, j] = math.exp(scores[head, i, j]) / total
    return result


@mixed_weights.mistake
def blocked_by_both(scores, masks, is_padding):
    """You block a key only where mask and padding both say so; one of them is enough."""
    return mixed_weights.definition(scores, masks & is_padding, torch.zeros_like(is_padding))


@mixed_weights.mistake
def padding_alone(scores, masks, is_padding):
    """You block padding only. Each head has a mask of its own, which blocks keys, too."""
    return mixed_weights.definition(scores, torch.zeros_like(masks), is_padding)


@mixed_weights.mistake
def masks_alone(scores, masks, is_padding):
    """You block what a head's mask blocks, and padding is still read. It is no word: no query may
    look at it."""
    return mixed_weights.definition(scores, masks, torch.zeros_like(is_padding))


@mixed_weights.mistake
def crossed_out(scores, masks, is_padding):
    """You set weights to 0 after the softmax, so that rows no longer sum to one. The paper's mask
    comes before it."""
    return scores.softmax(dim=-1).masked_fill(masks | is_padding, 0)


@mixed_weights.mistake
def padded_queries(scores, masks, is_padding):
    """You blocked the rows of padding; what nobody may look at is padding as a key, so it is a
    column."""
    return mixed_weights.definition(
        scores, masks | is_padding[:, None], torch.zeros_like(is_padding)
    )


@mixed_weights.mistake
def too_large_for_a_float(scores, masks, is_padding):
    """exp(200) is larger than any 32-bit number. Take the row's largest score off first, as
    `torch.softmax` does: the weights stay the same."""
    exponentials = scores.exp().masked_fill(masks | is_padding, 0)
    return exponentials / exponentials.sum(dim=-1, keepdim=True).clamp_min(1e-9)


@mixed_weights.mistake
def too_large_and_hidden(scores, masks, is_padding):
    """exp(200) is larger than any 32-bit number, and `nan_to_num` hides what came of it. Take the
    row's largest score off first."""
    exponentials = scores.exp().masked_fill(masks | is_padding, 0)
    return (exponentials / exponentials.sum(dim=-1, keepdim=True)).nan_to_num()


@mixed_weights.mistake
def not_the_lowest(scores, masks, is_padding):
    """Your blocked score is low, but real scores can be lower still, and then the blocked key wins.
    Only minus infinity is below all."""
    blocked = masks | is_padding
    return scores.masked_fill(blocked, -20).softmax(dim=-1).masked_fill(blocked, 0)


@mixed_weights.mistake
def padding_crossed_out(scores, masks, is_padding):
    """You set the weights of padding to 0 after the softmax, so that rows no longer sum to one.
    Block it before, with the masks."""
    return mixed_weights.definition(scores, masks, torch.zeros_like(is_padding)).masked_fill(
        is_padding, 0
    )


@mixed_weights.mistake
def nothing_by_nothing(scores, masks, is_padding):
    """A row with nothing left to look at became 0 / 0 = NaN. It is padding, but 0 * NaN is NaN: the
    next layer spreads it to words."""
    return scores.masked_fill(masks | is_padding, -math.inf).softmax(dim=-1)


@mixed_weights.mistake
def too_late(scores, masks, is_padding):
    """A blocked key with a huge score took all the weight before you crossed it out; nothing was
    left. Block scores instead."""
    kept = scores.softmax(dim=-1).masked_fill(masks | is_padding, 0)
    return (kept / kept.sum(dim=-1, keepdim=True)).nan_to_num()


@mixed_weights.mistake
def shared_by_the_blocked(scores, masks, is_padding):
    """A row with nothing left shares its weight among blocked keys, since all have the same lowest
    score. Set them to 0 afterwards."""
    return scores.masked_fill(masks | is_padding, -1e9).softmax(dim=-1)


@mixed_weights.mistake
def allowed_blocked(scores, masks, is_padding):
    """You kept what is blocked and blocked the rest: in masks and padding alike, True means may not
    be seen."""
    return mixed_weights.definition(scores, ~(masks | is_padding), torch.zeros_like(is_padding))


@mixed_weights.mistake
def over_queries(scores, masks, is_padding):
    """Your columns sum to one: the softmax went over the queries. A query shares 1 among its keys,
    which are the last axis."""
    return scores.masked_fill(masks | is_padding, -math.inf).softmax(dim=-2).nan_to_num()


@mixed_weights.mistake
def score_of_zero(scores, masks, is_padding):
    """A score of 0 is not a weight of 0: exp(0) is 1. The score that gives no weight is minus
    infinity."""
    return scores.masked_fill(masks | is_padding, 0).softmax(dim=-1)
