"""What these exercises ask for, from its definition: Koehn (2004), Schuirmann (1987), and the
package's rule for a claim of no loss."""

import math

import numpy as np
from scipy import stats

from repro import exercise


def mean(numbers):
    return float(sum(numbers)) / len(numbers)


def percentile(numbers, percent):
    """Return the number below which so many percent lie, between two numbers in proportion, as
    `np.percentile` does."""
    ordered = sorted(numbers)
    place = percent / 100 * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 2)
    return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])


def resampled(first, second, samples):
    """Return the difference of each resample, and the observed one."""
    differences = [
        mean([second[i] for i in sample]) - mean([first[i] for i in sample]) for sample in samples
    ]
    return differences, mean(second) - mean(first)


def interval(differences):
    return percentile(differences, 2.5), percentile(differences, 97.5)


@exercise(
    cases=[
        (
            np.array([30.0, 42.0, 18.0, 51.0]),
            np.array([34.0, 41.0, 25.0, 50.0]),
            np.array([[2, 3, 2, 1], [0, 0, 2, 2], [0, 3, 1, 0], [2, 2, 2, 2], [0, 0, 2, 2]]),
        ),
        (
            np.array([0.2, 0.9, 0.4]),
            np.array([0.5, 0.1, 0.3]),
            np.array([[0, 0, 1], [2, 2, 2], [1, 0, 2], [1, 1, 0]]),
        ),
        (
            np.array([10.0, 20.0, 30.0]),
            np.array([7.0, 26.0, 32.0]),
            np.array([[1, 1, 2], [2, 0, 0], [2, 2, 0], [0, 2, 1], [0, 2, 0]]),
        ),
        (np.array([1.0, 3.0]), np.array([5.0, 3.0]), np.array([[0, 0], [1, 1], [0, 1]])),
        (
            np.array([9.0, 1.0, 4.0]),
            np.array([0.0, 4.0, 9.0]),
            np.array([[1, 1, 2], [1, 2, 0], [1, 2, 2], [1, 1, 1], [1, 0, 2]]),
        ),
    ],
    hints=[
        (
            "Around which number do the resamples scatter, and around which would they by chance "
            "alone?"
        ),
        (
            "Compare number by number: the difference, the two ends, p. The first one that is "
            "wrong says where to look."
        ),
        (
            "`differences = second[samples].mean(axis=1) - first[samples].mean(axis=1)`; p counts "
            "`abs(differences - differences.mean()) >= abs(observed)`."
        ),
    ],
    hidden=[
        (
            np.array([2.0, 8.0, 5.0, 1.0]),
            np.array([3.0, 7.5, 9.0, 2.0]),
            np.array([[0, 1, 2, 3], [3, 3, 0, 1], [2, 2, 1, 0]]),
        )
    ],
)
def paired_bootstrap(first, second, samples):
    differences, observed = resampled(first, second, samples)
    far = sum(
        1 for difference in differences if abs(difference - mean(differences)) >= abs(observed)
    )
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def first_minus_second(first, second, samples):
    """You subtracted the second from the first. Here a positive difference means that the second
    system is better."""
    return paired_bootstrap.definition(second, first, samples)


@paired_bootstrap.mistake
def not_centered(first, second, samples):
    """For p, you compared the resampled differences with 0. They scatter around the observed one,
    not around 0: subtract their mean."""
    differences, observed = resampled(first, second, samples)
    far = sum(1 for difference in differences if abs(difference) >= abs(observed))
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def one_tail(first, second, samples):
    """Your p counts one side only. A difference as large in the other direction counts too: take
    absolute values."""
    differences, observed = resampled(first, second, samples)
    far = sum(1 for difference in differences if difference - mean(differences) >= abs(observed))
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def with_its_sign(first, second, samples):
    """Your p asks which resampled differences are larger than the observed one, with its sign.
    Compare sizes: `abs` on both sides."""
    differences, observed = resampled(first, second, samples)
    far = sum(1 for difference in differences if difference - mean(differences) >= observed)
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def mean_over_resamples(first, second, samples):
    """You took means over the resamples. A row of `samples` is one resample: its scores lie along
    the last axis, `axis=1`."""
    _, observed = resampled(first, second, samples)
    differences = [second[column].mean() - first[column].mean() for column in samples.T]
    far = sum(
        1 for difference in differences if abs(difference - mean(differences)) >= abs(observed)
    )
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def centered_on_observed(first, second, samples):
    """For p, you subtracted the observed difference. Subtract the mean of the resampled ones, from
    which they scatter."""
    differences, observed = resampled(first, second, samples)
    far = sum(1 for difference in differences if abs(difference - observed) >= abs(observed))
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def strictly_farther(first, second, samples):
    """Your p leaves out resamples that are exactly as far out as the observed difference. They
    count: at least as far."""
    differences, observed = resampled(first, second, samples)
    far = sum(
        1 for difference in differences if abs(difference - mean(differences)) > abs(observed)
    )
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def mean_for_observed(first, second, samples):
    """For p, you asked which differences are as far out as their own mean. Ask for the difference
    that the test set itself has."""
    differences, observed = resampled(first, second, samples)
    far = sum(
        1
        for difference in differences
        if abs(difference - mean(differences)) >= abs(mean(differences))
    )
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def without_one(first, second, samples):
    """Your p is the bare share. Add one above and below the line: the test set itself is one of the
    samples, and no p is 0."""
    differences, observed = resampled(first, second, samples)
    far = sum(
        1 for difference in differences if abs(difference - mean(differences)) >= abs(observed)
    )
    return observed, *interval(differences), far / len(samples)


@paired_bootstrap.mistake
def around_the_median(first, second, samples):
    """Your p counts differences far from their median. Asked is how far they are from their
    mean."""
    differences, observed = resampled(first, second, samples)
    far = sum(
        1
        for difference in differences
        if abs(difference - percentile(differences, 50)) >= abs(observed)
    )
    return observed, *interval(differences), (far + 1) / (len(samples) + 1)


@paired_bootstrap.mistake
def ninety_percent(first, second, samples):
    """You cut 5 % off on each side, which leaves 90 %. For 95 %, cut off 2.5 % on each side."""
    differences, _ = resampled(first, second, samples)
    observed, _, _, p = paired_bootstrap.definition(first, second, samples)
    return observed, percentile(differences, 5), percentile(differences, 95), p


@paired_bootstrap.mistake
def fractions(first, second, samples):
    """`np.percentile` counts percent: the ends are 2.5 and 97.5. With 0.025 and 0.975 both lie near
    the smallest difference."""
    differences, _ = resampled(first, second, samples)
    observed, _, _, p = paired_bootstrap.definition(first, second, samples)
    return observed, percentile(differences, 0.025), percentile(differences, 0.975), p


@paired_bootstrap.mistake
def mean_of_the_resampled(first, second, samples):
    """Your difference is the mean of the resampled ones. Asked is that of the test set itself;
    resamples only say how sure it is."""
    differences, _ = resampled(first, second, samples)
    return mean(differences), *paired_bootstrap.definition(first, second, samples)[1:]


def deviation(numbers, lost=1):
    """Return the standard deviation, dividing by one less than there are numbers."""
    return math.sqrt(
        sum((number - mean(numbers)) ** 2 for number in numbers) / (len(numbers) - lost)
    )


@exercise(
    cases=[
        (np.array([0.5, 0.52, 0.48]), 1.0, 2.920),
        (np.array([-2.0, 1.5, -0.5, 1.2]), 1.0, 2.353),
        (np.array([1.9, 2.1, 2.0, 1.95, 2.05]), 0.7, 2.132),
        (np.array([0.6, -0.6, 0.0, 0.7, -0.5]), 1.0, 2.132),
        (np.array([0.6, -0.6, 0.6]), 0.7, 2.920),
        (np.array([0.3, -0.3, 0.0]), 0.1, 2.920),
        (np.array([0.3, -0.3, 0.0]), 0.35, 2.920),
        (np.array([0.3, -0.3, 0.0]), 0.45, 2.920),
        (np.array([0.3, -0.3, 0.0]), 0.55, 2.920),
        (np.array([0.3, -0.3, 0.0]), 0.65, 2.920),
        (np.array([0.3, -0.3, 0.0]), 0.65, 4.303),  # that of 97.5 %
        (np.array([-1.9, -2.1, -2.0, -1.95, -2.05]), 0.7, 2.132),
        (np.array([0.3, -0.3, 0.0, 0.1, -0.1]), 0.12, 2.132),
        (np.array([2.0, -2.0, 0.0]), 4.0, 2.920),
        (np.array([0.9, -0.2, 0.1, 0.0, -0.3, 0.2]), 0.7, 2.015),
        (
            np.array([0.9, -0.2, 0.1, 0.0, -0.3, 0.2]),
            0.55,
            2.015,
        ),  # 2.920, that of three seeds, would say no
        (np.array([0.0, 0.0, 0.0, 0.0, 1.0]), 0.5, 2.132),  # the median would say yes
    ],
    hints=[
        "How far may the mean be from 0, in standard errors, on either side?",
        (
            "Write down mean - quantile * error and mean + quantile * error. Both must lie "
            "between -margin and +margin."
        ),
        (
            "`error = differences.std(ddof=1) / np.sqrt(len(differences))`; both `(mean + margin) "
            "/ error > quantile` and `(margin - mean) / error > quantile`."
        ),
    ],
    hidden=[
        (np.array([0.2, -0.1, 0.15, 0.05]), 0.5, 2.353),
        (np.array([0.2, -0.1, 0.15, 0.05]), 0.1, 2.353),
    ],
)
def is_equivalent(differences, margin, quantile):
    error = deviation(differences) / math.sqrt(len(differences))
    not_below = (mean(differences) + margin) / error > quantile
    not_above = (margin - mean(differences)) / error > quantile
    return not_below and not_above


@is_equivalent.mistake
def quantile_ignored(differences, margin, quantile):
    """You work the quantile out yourself. Use `quantile` as it is given: a test at another level
    than 5 % needs another one."""
    half = (
        stats.t.ppf(0.95, len(differences) - 1)
        * deviation(differences)
        / math.sqrt(len(differences))
    )
    return abs(mean(differences)) + half < margin


@is_equivalent.mistake
def divided_by_all(differences, margin, quantile):
    """Perhaps your standard deviation divides by n, as `np.std` does unless told otherwise? For a
    sample it is n - 1: `ddof=1`."""
    half = quantile * deviation(differences, lost=0) / math.sqrt(len(differences))
    return abs(mean(differences)) + half < margin


@is_equivalent.mistake
def one_less_twice(differences, margin, quantile):
    """You divided by the root of n - 1. The n - 1 is in the standard deviation already; for a mean,
    divide by the root of n."""
    half = quantile * deviation(differences) / math.sqrt(len(differences) - 1)
    return abs(mean(differences)) + half < margin


@is_equivalent.mistake
def not_the_root(differences, margin, quantile):
    """You divided the standard deviation by n. For the mean of n seeds, divide it by the root of
    n."""
    return abs(mean(differences)) + quantile * deviation(differences) / len(differences) < margin


@is_equivalent.mistake
def variance(differences, margin, quantile):
    """You took the variance, the square of the standard deviation. `np.std` is its root, in BLEU
    points as the margin is."""
    return (
        abs(mean(differences))
        + quantile * deviation(differences) ** 2 / math.sqrt(len(differences))
        < margin
    )


@is_equivalent.mistake
def mean_alone(differences, margin, quantile):
    """You looked at the mean alone. Seeds that scatter widely may have a mean near 0 by chance."""
    return abs(mean(differences)) < margin


@is_equivalent.mistake
def signs_lost(differences, margin, quantile):
    """You dropped the signs of the differences. Seeds that disagree about the sign then look as if
    they agreed."""
    sizes = [abs(difference) for difference in differences]
    return mean(sizes) + quantile * deviation(sizes) / math.sqrt(len(sizes)) < margin


@is_equivalent.mistake
def every_seed(differences, margin, quantile):
    """You asked each seed by itself to lie within the margin. The claim is about the mean: put an
    interval around it."""
    return max(abs(difference) for difference in differences) < margin


@is_equivalent.mistake
def not_significant(differences, margin, quantile):
    """You asked whether the difference is *not* significant. That is no proof of equality: with
    few, noisy seeds nothing ever is."""
    return abs(mean(differences)) < quantile * deviation(differences) / math.sqrt(len(differences))


@is_equivalent.mistake
def one_side(differences, margin, quantile):
    """You looked at one side only: not much worse. "Equal" also means not much better."""
    return (
        mean(differences) - quantile * deviation(differences) / math.sqrt(len(differences))
        > -margin
    )


@is_equivalent.mistake
def other_side(differences, margin, quantile):
    """You looked at one side only: not much better. "Equal" also means not much worse."""
    return (
        mean(differences) + quantile * deviation(differences) / math.sqrt(len(differences)) < margin
    )


@is_equivalent.mistake
def either_side(differences, margin, quantile):
    """You joined the two tests by "or". A system that is much better passes one of them: both sides
    must be shown."""
    return one_side(differences, margin, quantile) or other_side(differences, margin, quantile)


@is_equivalent.mistake
def ninety_five_percent(differences, margin, quantile):
    """That is the 95 % interval, two tests at 2.5 % each. Two one-sided tests at 5 % make the 90 %
    interval: use `quantile` as it is."""
    half = (
        stats.t.ppf(0.975, len(differences) - 1)
        * deviation(differences)
        / math.sqrt(len(differences))
    )
    return abs(mean(differences)) + half < margin


@is_equivalent.mistake
def normal_quantile(differences, margin, quantile):
    """Perhaps you took a quantile of the normal distribution? With few seeds, Student's t is much
    wider: use `quantile`."""
    return (
        abs(mean(differences))
        + stats.norm.ppf(0.95) * deviation(differences) / math.sqrt(len(differences))
        < margin
    )


@is_equivalent.mistake
def single_values(differences, margin, quantile):
    """You took the standard deviation of single seeds. The mean of n seeds is surer: divide by the
    root of n."""
    return abs(mean(differences)) + quantile * deviation(differences) < margin


@is_equivalent.mistake
def no_quantile(differences, margin, quantile):
    """Perhaps `quantile` is missing? One standard error on either side is too narrow an interval:
    it is `quantile` times as wide."""
    return abs(mean(differences)) + deviation(differences) / math.sqrt(len(differences)) < margin


def decided(low, high, bound):
    if low >= bound:
        return "reproduced"
    return "not reproduced" if high < bound else "undecided"


@exercise(
    cases=[
        (-0.4, 0.9, 1.0),
        (-0.8, -0.2, 1.0),
        (-2.1, 1.3, 1.0),
        (0.2, 2.5, 0.5),
        (1.4, 2.6, 0.5),
        (-3.0, -1.6, 1.0),
        (-1.9, -0.3, 0.7),
        (-1.0, 0.4, 1.0),
        (-2.0, -1.0, 1.0),
    ],
    hints=[
        "Which of the two ends decides that nothing too bad happened?",
        (
            "Draw a line with a mark at -margin and lay the interval over it. Is all of it to the "
            "right, all of it to the left, or neither?"
        ),
        (
            '"reproduced" if `low >= -margin`, "not reproduced" if `high < -margin`, else '
            '"undecided".'
        ),
    ],
    hidden=[(-0.5, 0.1, 0.5), (-0.6, -0.55, 0.5), (-0.6, 0.0, 0.5)],
)
def verdict(low, high, margin):
    return decided(low, high, -margin)


@verdict.mistake
def middle(low, high, margin):
    """You looked at the middle of the interval, or at nothing but one number. The ends say whether
    the data can tell."""
    return "reproduced" if (low + high) / 2 >= -margin else "not reproduced"


@verdict.mistake
def contains_zero(low, high, margin):
    """You asked whether 0 is in the interval. The claim is that the loss is at most the margin:
    look at -margin, not at 0."""
    return "not reproduced" if high < 0 else "reproduced"


@verdict.mistake
def open_ends(low, high, margin):
    """An end that lies exactly on -margin: a loss of the margin is still allowed, so `low` may be
    equal to it, and `high` must be below."""
    if low > -margin:
        return "reproduced"
    return "not reproduced" if high < -margin else "undecided"


@verdict.mistake
def closed_above(low, high, margin):
    """An interval that only just reaches -margin does not refute the claim: "not reproduced" needs
    `high` below it."""
    if low >= -margin:
        return "reproduced"
    return "not reproduced" if high <= -margin else "undecided"


@verdict.mistake
def without_sign(low, high, margin):
    """You took the size of `low` without its sign. A gain larger than the margin is no loss:
    compare `low` itself with -margin."""
    if abs(low) <= margin:
        return "reproduced"
    return "not reproduced" if high < -margin else "undecided"


@verdict.mistake
def better(low, high, margin):
    """You tested whether the system is better: the bound of that claim is 0. A claim of no loss has
    its bound at -margin."""
    return decided(low, high, 0.0)


@verdict.mistake
def two_answers(low, high, margin):
    """You have no third answer. An interval on both sides of the bound does not refute the claim:
    it leaves it undecided."""
    return "reproduced" if low >= -margin else "not reproduced"


@verdict.mistake
def equality(low, high, margin):
    """You also asked that the gain is small. A claim of no loss does not mind a gain: only the
    lower bound counts."""
    if -margin <= low and high <= margin:
        return "reproduced"
    return "not reproduced" if high < -margin or low > margin else "undecided"


@verdict.mistake
def margin_without_minus(low, high, margin):
    """The bound is -margin: losses are negative numbers. You compared with +margin, as if the
    system had to gain that much."""
    return decided(low, high, margin)
