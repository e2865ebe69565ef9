"""
Two sides over the same cases with several trials of each: what such a comparison can see, and bounds on rates and on
their difference where trials of one case, and cases of one family, hang together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil, comb, sqrt

from harness.stats.clusters import clustered_interval, clustered_standard_error
from harness.stats.power import ALPHA, POWER, normal_quantile, smallest_detectable_shift
from harness.stats.rates import difference_interval, wilson_interval
from harness.stats.samples import Interval, StatsInputError, Tally, check_finite, check_share, check_tally, two_sided_z

_MOST_RATIO = 1e9
"""Past this a difference is rounding, and the trials that would show it are only a large number."""
_ALWAYS_ENOUGH = 64
"""Trials of one case whose utmost difference is significant at any level that somebody asks for."""
Case = tuple[Tally, Tally]
"""The trials of one case on both sides."""


def matched_standard_error(cases: Sequence[Case]) -> float:
    """
    Return the standard error of the mean over *cases* of the difference of two rates, from the trials of each alone.

    √Σ (p_a (1 − p_a) / n_a + p_b (1 − p_b) / n_b) / C, each rate by Laplace's rule (c + 1) / (n + 2), so that a case that
    never failed yet is not taken for one that never will.

    Raises:
        StatsInputError: There is no case, or a count is out of range.
    """
    _check(cases)
    return sqrt(sum(_variance(one) / one.trials for both in cases for one in both)) / len(cases)


def matched_smallest_detectable(cases: Sequence[Case], *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """
    Return the smallest difference of the mean rates, 0 to 1, that the trials of these *cases* see; None where they see none.

    `smallest_detectable_shift` of `matched_standard_error`; and none at all where not even the utmost difference would be
    significant in `permutation_test`.

    Raises:
        StatsInputError: There is no case, or a number is out of range.
    """
    shift = smallest_detectable_shift(matched_standard_error(cases), power=power, alpha=alpha)
    utmost = 1.0
    for before, after in cases:
        utmost /= comb(before.trials + after.trials, after.trials)
    return shift if shift <= 1 and 2 * utmost <= alpha else None


def matched_trials_needed(
    cases: Sequence[Case], difference: float, *, power: float = POWER, alpha: float = ALPHA
) -> int:
    """
    Return the trials of each case, on each side, that see a *difference* of the mean rates: `matched_smallest_detectable`
    turned round.

    Raises:
        StatsInputError: There is no case, *difference* is 0 or no number, or another number is out of range.
    """
    _check(cases)
    check_finite("differences", (difference,))
    if difference == 0:
        raise StatsInputError("a difference is not 0")
    single = sqrt(sum(_variance(one) for both in cases for one in both)) / len(cases)
    reach = normal_quantile(1 - alpha / 2) + normal_quantile(power)
    ratio = min(reach * single / abs(difference), _MOST_RATIO)
    trials = max(1, ceil(ratio * ratio - 1e-9))
    while trials < _ALWAYS_ENOUGH and 2 / comb(2 * trials, trials) ** len(cases) > alpha:
        trials += 1
    return trials


def matched_interval(cases: Sequence[Case], families: Sequence[Hashable], *, confidence: float = 0.95) -> Interval:
    """
    Bound the mean over *cases* of rate after − rate before. Needs scipy where there are two families or more.

    `clustered_interval` of the differences of the cases. Where these are all the same, no spread can be seen, and
    `matched_standard_error` takes its place; where there is one family alone, it is Newcombe's `difference_interval` of its
    trials, and says nothing of others.

    Returns:
        Both ends in [−1, 1].

    Raises:
        StatsInputError: There is no case, or a number is out of range.
        UsageError: scipy is not installed.
    """
    _check(cases)
    check_share("confidence", confidence)
    differences = [after.rate - before.rate for before, after in cases]
    if len(set(families)) < 2:
        before, after = (
            Tally(sum(one.passes for one in side), sum(one.trials for one in side)) for side in zip(*cases, strict=True)
        )
        return difference_interval(before, after, confidence=confidence)
    mean = sum(differences) / len(differences)
    if clustered_standard_error(differences, families) > 1e-12:
        low, high = clustered_interval(differences, families, confidence=confidence)
    else:
        reach = two_sided_z(confidence) * matched_standard_error(cases)
        low, high = mean - reach, mean + reach
    return Interval(max(-1.0, low), min(1.0, high))


def clustered_rate_interval(
    cases: Sequence[Tally], families: Sequence[Hashable], *, confidence: float = 0.95
) -> Interval:
    """
    Bound the mean rate over *cases* by Wilson's interval for as many independent trials as the clustered ones are worth.

    n / deff trials, where deff is the ratio of the squared standard errors of the mean with and without regard to families,
    at least 1: L. Kish, "Survey Sampling" (1965), section 8.2; for Wilson's interval N. Dean and M. Pagano, "Evaluating confidence
    interval methods for binomial proportions in clustered surveys", Journal of Survey Statistics and Methodology 3 (2015)
    484–503. Where all trials end alike no spread can be seen, and each family is worth one trial; where there is one family alone,
    its trials count in full, and the interval says nothing of others.

    Args:
        cases: One a case; each weighs the same.
        families: The family of each case, in the same order.
        confidence: Two-sided coverage, strictly between 0 and 1.

    Returns:
        Both ends in [0, 1], with the mean rate between them.

    Raises:
        StatsInputError: There is no case, a count is out of range, or the lengths differ.
    """
    if not cases:
        raise StatsInputError("at least one case is needed, not 0")
    for case in cases:
        check_tally(*case)
    rates = [case.rate for case in cases]
    rate, trials = sum(rates) / len(rates), sum(case.trials for case in cases)
    worth = float(trials)
    if len(set(families)) > 1:
        plain = rate * (1 - rate) / (trials - 1)
        clustered = clustered_standard_error(rates, families) ** 2
        worth = float(len(set(families))) if plain <= 0 else trials / max(1.0, clustered / plain)
    return wilson_interval(rate * worth, worth, confidence=confidence)  # type: ignore[arg-type]  # a share of a trial


def _variance(one: Tally) -> float:
    rate = (one.passes + 1) / (one.trials + 2)
    return rate * (1 - rate)


def _check(cases: Sequence[Case]) -> None:
    if not cases:
        raise StatsInputError("at least one case is needed, not 0")
    for both in cases:
        for one in both:
            check_tally(*one)
