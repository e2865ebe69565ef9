"""What single trials of the same cases, before and after, can see: the exact power of McNemar's test."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import floor, sqrt

from harness.stats.binomial import binomial, likely_counts
from harness.stats.paired import mcnemar_exact
from harness.stats.power import ALPHA, POWER, normal_quantile, smallest_seen
from harness.stats.samples import check_rate, check_share, check_tally

MOST = 5_000
"""Where the search for a number of cases ends: more than anybody runs."""

EXACT_CHANGES = 500
"""Up to so many changed cases the limits of McNemar's test are found in integers, past it in floating point."""


def pairs_power(lost: float, gained: float, pairs: int, *, alpha: float = ALPHA) -> float:
    """
    Return the chance that McNemar's exact two-sided test at *alpha* sees a change, computed exactly.

    The number of cases that change is binomial, and so is their split: S. W. Duffy, "Asymptotic and exact power for the McNemar
    test and its analogue with R controls per case", Biometrics 40 (1984) 1005–1015.

    Args:
        lost: The chance that a case passes before and fails after.
        gained: The chance that it fails before and passes after; both together at most 1.
        pairs: Cases with one trial on each side, at least 1.
        alpha: The chance of a false alarm at most.

    Raises:
        StatsInputError: A number is out of range.
    """
    changing = lost + gained
    check_rate("the chance of a loss", lost)
    check_rate("the chance of a gain", gained)
    check_rate("the chance of a change", changing)
    check_tally(0, pairs)
    check_share("alpha", alpha)
    if changing == 0:
        return 0.0
    share = min(1.0, lost / changing)
    return min(
        1.0,
        sum(
            binomial(changed, pairs, changing) * _rejection(changed, share, alpha)
            for changed in likely_counts(pairs, changing)
        ),
    )


def pairs_needed(lost: float, gained: float, *, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """
    Return the cases that McNemar's exact test needs to see a change of *lost* against *gained*; None where they are equal.

    A number at which `pairs_power` reaches *power* and with one case fewer does not, searched upwards from half the normal
    approximation of R. J. Connor, "Sample size for testing differences in proportions for the paired-sample design", Biometrics
    43 (1987) 207–211. None past `MOST` cases too.

    Raises:
        StatsInputError: A number is out of range.
    """
    check_share("power", power)
    changing, net = lost + gained, abs(lost - gained)
    pairs_power(lost, gained, 1, alpha=alpha)
    if net == 0:
        return None
    approximate = (
        normal_quantile(1 - alpha / 2) * sqrt(changing) + normal_quantile(power) * sqrt(max(0.0, changing - net * net))
    ) / net
    return _first_enough(
        lambda pairs: pairs_power(lost, gained, pairs, alpha=alpha) >= power, max(1, floor(approximate**2 / 2))
    )


def smallest_detectable_loss(
    pairs: int, *, gained: float = 0.0, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """
    Return the smallest share of cases lost, beside *gained* ones, that McNemar's exact test sees; None where it cannot see any.

    Raises:
        StatsInputError: A number is out of range.
    """
    check_share("power", power)
    check_rate("the chance of a gain", gained)
    return smallest_seen(
        lambda more: pairs_power(min(gained + more, 1 - gained), gained, pairs, alpha=alpha),
        1 - 2 * gained,
        power,
        gained,
    )


def _first_enough(enough: Callable[[int], bool], start: int) -> int | None:
    """A count from *start* on that is enough while one fewer is not, in steps that double and then halve."""
    low, step = start - 1, 1
    while low < MOST and not enough(min(low + step, MOST)):
        low, step = low + step, 2 * step
    if low >= MOST:
        return None
    high = min(low + step, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rejection(changed: int, share: float, alpha: float) -> float:
    """The chance that the test rejects when *changed* cases changed, each lost with chance *share*."""
    limit = _largest_rejected(changed, alpha)
    likely = likely_counts(changed, share)
    return sum(binomial(lost, changed, share) for lost in likely if lost <= limit or lost >= changed - limit)


@lru_cache(maxsize=4 * MOST)
def _largest_rejected(changed: int, alpha: float) -> int:
    """The largest count on the rarer side that the test rejects; −1 where it never does."""
    if changed > EXACT_CHANGES:
        tail, count = 0.0, likely_counts(changed, 0.5).start
        while (tail := tail + binomial(count, changed, 0.5)) <= alpha / 2:
            count += 1
        return count - 1
    low, high = -1, changed // 2
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if mcnemar_exact(middle, changed - middle) <= alpha else (low, middle - 1)
    return low
