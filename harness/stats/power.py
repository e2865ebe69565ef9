"""What a suite can see at all, and how many trials it would take to see more: said whenever a verdict is inconclusive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import ceil, comb, sqrt
from statistics import NormalDist

from harness.stats.binomial import binomial
from harness.stats.samples import StatsInputError, Tally, check_finite, check_rate, check_share, check_tally

POWER = 0.8
"""The chance to see a change, where nothing else is said."""

ALPHA = 0.05
"""The chance of a false alarm, where nothing else is said."""

EXACT_TRIALS = 40
"""Up to so many trials a side the power of two rates is counted out."""


def power_of(baseline_rate: float, candidate_rate: float, trials: int, *, alpha: float = ALPHA) -> float:
    """
    Return the chance that a two-sided test at *alpha* sees the difference of two rates, *trials* on each side.

    Up to `EXACT_TRIALS` it is counted out for `permutation_test` of one case, so that a handful of trials promises nothing that
    they cannot hold. Past that it is the normal approximation of J. L. Fleiss, "Statistical Methods for Rates and Proportions"
    (2nd edition, 1981), section 3.2, without continuity correction, both tails: `power.prop.test(strict = TRUE)` of R.

    Raises:
        StatsInputError: A rate lies outside [0, 1], *alpha* outside (0, 1), or *trials* is less than 1.
    """
    check_rate("a rate", baseline_rate)
    check_rate("a rate", candidate_rate)
    check_tally(0, trials)
    check_share("alpha", alpha)
    if trials <= EXACT_TRIALS:
        before = [binomial(count, trials, baseline_rate) for count in range(trials + 1)]
        after = [binomial(count, trials, candidate_rate) for count in range(trials + 1)]
        return min(1.0, sum(before[one] * after[other] for one, other in _rejected(trials, alpha)))
    shift = sqrt(trials) * abs(candidate_rate - baseline_rate)
    pooled, own = _deviations(baseline_rate, candidate_rate)
    limit = normal_quantile(1 - alpha / 2) * pooled
    if own == 0:
        return 1.0 if shift > limit else 0.0
    return NormalDist().cdf((shift - limit) / own) + NormalDist().cdf((-shift - limit) / own)


def trials_needed(
    baseline_rate: float, candidate_rate: float, *, power: float = POWER, alpha: float = ALPHA
) -> int | None:
    """
    Return the trials that each side needs to see the difference of two rates; None where there is none to see.

    The first number at which `power_of` reaches *power*, counted out or, past `EXACT_TRIALS`, by Fleiss's formula.

    Raises:
        StatsInputError: A rate lies outside [0, 1], or *power* or *alpha* outside (0, 1).
    """
    check_rate("a rate", baseline_rate)
    check_rate("a rate", candidate_rate)
    difference = abs(candidate_rate - baseline_rate)
    if difference == 0:
        return None
    pooled, own = _deviations(baseline_rate, candidate_rate)
    normal: float = ((normal_quantile(1 - alpha / 2) * pooled + normal_quantile(power) * own) / difference) ** 2
    if normal <= 2 * EXACT_TRIALS:
        for trials in range(1, EXACT_TRIALS + 1):
            if power_of(baseline_rate, candidate_rate, trials, alpha=alpha) >= power:
                return trials
    return max(EXACT_TRIALS + 1, ceil(normal - 1e-9))


def smallest_detectable_drop(
    baseline_rate: float, trials: int, *, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """
    Return the smallest fall of *baseline_rate*, 0 to 1, that *trials* on each side see; None where not even a fall to 0.

    Formula and range as in `power_of`.

    Raises:
        StatsInputError: The rate lies outside [0, 1], *power* or *alpha* outside (0, 1), or *trials* is less than 1.
    """
    check_share("power", power)
    check_rate("a rate", baseline_rate)
    return smallest_seen(
        lambda drop: power_of(baseline_rate, baseline_rate - drop, trials, alpha=alpha), baseline_rate, power
    )


def smallest_detectable_shift(standard_error: float, *, power: float = POWER, alpha: float = ALPHA) -> float:
    """
    Return the smallest difference that is seen when it is measured with *standard_error*: (z₁₋α/₂ + z₁₋β) · SE, in its unit.

    E. Miller, "Adding error bars to evals" (2024), arXiv:2411.00640, equation 10. For families of cases give
    `clustered_standard_error` of the differences.

    Raises:
        StatsInputError: *standard_error* is negative, or *power* or *alpha* lies outside (0, 1).
    """
    if not standard_error >= 0:
        raise StatsInputError(f"a standard error is at least 0, not {standard_error}")
    return (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * standard_error


def cases_needed(
    shift: float, *, between: float, within: float = 0.0, power: float = POWER, alpha: float = ALPHA
) -> int:
    """
    Return the cases that a paired comparison of two runs needs to see a mean *shift*.

    n = (z₁₋α/₂ + z₁₋β)² · (ω² + σ_A²/K_A + σ_B²/K_B) / δ²: Miller (2024), equation 9.

    Args:
        shift: δ, the difference of the means to see, not 0.
        between: ω², the variance over cases of the difference of their expected scores, at least 0.
        within: σ_A²/K_A + σ_B²/K_B, the mean variance of a case's own trials, each divided by how often it ran; at least 0.
        power: The chance to see it.
        alpha: The chance of a false alarm.

    Raises:
        StatsInputError: A number is out of range.
    """
    check_finite("a shift and variances", (shift, between, within))
    if shift == 0 or between < 0 or within < 0:
        raise StatsInputError("a shift is not 0, and variances are not negative")
    return max(
        1, ceil(((normal_quantile(1 - alpha / 2) + normal_quantile(power)) / shift) ** 2 * (between + within) - 1e-9)
    )


def suite_smallest_detectable(
    cases: Sequence[Tally], trials: int, *, power: float = POWER, alpha: float = ALPHA
) -> float:
    """
    Return the smallest change of the mean rate of these cases that *trials* of each, before and after, see; may exceed 1.

    `smallest_detectable_shift` for a fixed suite: the variance of a case is p(1−p) of its rate, estimated by Laplace's rule
    (c + 1) / (n + 2), so that a case that never failed yet is not taken for one that never will.

    Raises:
        StatsInputError: There is no case, or a number is out of range.
    """
    check_tally(0, trials)
    return smallest_detectable_shift(sqrt(2 * _suite_variance(cases) / trials), power=power, alpha=alpha)


def suite_trials_needed(cases: Sequence[Tally], change: float, *, power: float = POWER, alpha: float = ALPHA) -> int:
    """
    Return the trials of each case, before and after, that see a *change* of the mean rate: `suite_smallest_detectable` turned round.

    Raises:
        StatsInputError: There is no case, *change* is 0, or a number is out of range.
    """
    check_finite("changes", (change,))
    if change == 0:
        raise StatsInputError("a change is not 0")
    variance = _suite_variance(cases)
    return max(1, ceil(2 * variance * ((normal_quantile(1 - alpha / 2) + normal_quantile(power)) / change) ** 2 - 1e-9))


def smallest_seen(power_at: Callable[[float], float], most: float, power: float, offset: float = 0.0) -> float | None:
    """The smallest x in [0, most] whose power suffices, plus *offset*, by bisection."""
    if most <= 0 or power_at(most) < power:
        return None
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return offset + high


def normal_quantile(share: float) -> float:
    check_share("power or alpha", share)
    return NormalDist().inv_cdf(share)


def _deviations(baseline_rate: float, candidate_rate: float) -> tuple[float, float]:
    """Standard deviations of a difference of single trials: as if nothing changed, and as it is."""
    both = baseline_rate + candidate_rate
    own = baseline_rate * (1 - baseline_rate) + candidate_rate * (1 - candidate_rate)
    return sqrt(both * (1 - both / 2)), sqrt(own)


@lru_cache(maxsize=2 * EXACT_TRIALS)
def _rejected(trials: int, alpha: float) -> tuple[tuple[int, int], ...]:
    """Every (passes before, passes after), of *trials* each, that `permutation_test` of one case rejects."""
    found = []
    for passes in range(2 * trials + 1):
        most, tail = alpha * comb(2 * trials, passes), 0
        # From the most uneven split inwards: both ends of a split are equally likely.
        for few in range(max(0, passes - trials), (passes + 1) // 2):
            tail += 2 * comb(trials, few) * comb(trials, passes - few)
            if tail > most:
                break
            found += [(few, passes - few), (passes - few, few)]
    return tuple(found)


def _suite_variance(cases: Sequence[Tally]) -> float:
    """The variance of the mean rate of one trial a case."""
    if not cases:
        raise StatsInputError("at least one case is needed, not 0")
    for case in cases:
        check_tally(*case)
    rates = [(case.passes + 1) / (case.trials + 2) for case in cases]
    return sum(rate * (1 - rate) for rate in rates) / len(cases) ** 2
