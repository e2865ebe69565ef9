"""What a suite can see at all, and how many trials it would take to see more: said whenever a verdict is inconclusive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import ceil, comb, exp, floor, lgamma, log, sqrt
from statistics import NormalDist

from harness.stats.paired import mcnemar_exact
from harness.stats.samples import StatsInputError, Tally, check_finite, check_rate, check_share, check_tally

POWER = 0.8
ALPHA = 0.05
MOST = 20_000
"""Where the search for a number of trials ends: more than anybody runs."""

EXACT_TRIALS = 40
"""Up to so many trials a side the power of two rates is counted out."""

EXACT_CHANGES = 500
"""Up to so many changed cases the limits of McNemar's test are found in integers, past it in floating point."""


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
        before = [_binomial(count, trials, baseline_rate) for count in range(trials + 1)]
        after = [_binomial(count, trials, candidate_rate) for count in range(trials + 1)]
        return min(1.0, sum(before[one] * after[other] for one, other in _rejected(trials, alpha)))
    shift = sqrt(trials) * abs(candidate_rate - baseline_rate)
    pooled, own = _deviations(baseline_rate, candidate_rate)
    limit = _z(1 - alpha / 2) * pooled
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
    normal: float = ((_z(1 - alpha / 2) * pooled + _z(power) * own) / difference) ** 2
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
    return _smallest(
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
    return (_z(1 - alpha / 2) + _z(power)) * standard_error


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
    return max(1, ceil(((_z(1 - alpha / 2) + _z(power)) / shift) ** 2 * (between + within) - 1e-9))


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
    return max(1, ceil(2 * variance * ((_z(1 - alpha / 2) + _z(power)) / change) ** 2 - 1e-9))


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
            _binomial(changed, pairs, changing) * _rejection(changed, share, alpha)
            for changed in _likely(pairs, changing)
        ),
    )


def pairs_needed(lost: float, gained: float, *, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """
    Return the cases that McNemar's exact test needs to see a change of *lost* against *gained*; None where they are equal.

    A number at which `pairs_power` reaches *power* and with one case fewer does not, searched upwards from the normal
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
    approximate = (_z(1 - alpha / 2) * sqrt(changing) + _z(power) * sqrt(max(0.0, changing - net * net))) / net
    return _first_enough(
        lambda pairs: pairs_power(lost, gained, pairs, alpha=alpha) >= power, max(1, floor(approximate**2))
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
    return _smallest(
        lambda more: pairs_power(min(gained + more, 1 - gained), gained, pairs, alpha=alpha),
        1 - 2 * gained,
        power,
        gained,
    )


def _smallest(power_at: Callable[[float], float], most: float, power: float, offset: float = 0.0) -> float | None:
    """The smallest x in [0, most] whose power suffices, plus *offset*, by bisection."""
    if most <= 0 or power_at(most) < power:
        return None
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return offset + high


def _first_enough(enough: Callable[[int], bool], start: int) -> int | None:
    """A count from *start* on that is enough while one fewer is not, in steps that double and then halve."""
    low, step = start - 1, 1
    while not enough(low + step):
        low, step = low + step, 2 * step
        if low > MOST:
            return None
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


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


def _z(share: float) -> float:
    check_share("power or alpha", share)
    return NormalDist().inv_cdf(share)


def _binomial(successes: int, trials: int, chance: float) -> float:
    """The chance of exactly so many successes; by logarithms, for thousands of trials."""
    if chance in {0.0, 1.0}:
        return float(successes == round(trials * chance))
    ways = lgamma(trials + 1) - lgamma(successes + 1) - lgamma(trials - successes + 1)
    return exp(ways + successes * log(chance) + (trials - successes) * log(1 - chance))


def _likely(trials: int, chance: float) -> range:
    """Counts whose chances add up to 1 but for 1e-12 or so."""
    middle, reach = trials * chance, 8 * sqrt(trials * chance * (1 - chance)) + 8
    return range(max(0, floor(middle - reach)), min(trials, ceil(middle + reach)) + 1)


def _rejection(changed: int, share: float, alpha: float) -> float:
    """The chance that the test rejects when *changed* cases changed, each lost with chance *share*."""
    limit = _largest_rejected(changed, alpha)
    likely = _likely(changed, share)
    return sum(_binomial(lost, changed, share) for lost in likely if lost <= limit or lost >= changed - limit)


@cache
def _largest_rejected(changed: int, alpha: float) -> int:
    """The largest count on the rarer side that the test rejects; −1 where it never does."""
    if changed > EXACT_CHANGES:
        tail, count = 0.0, _likely(changed, 0.5).start
        while (tail := tail + _binomial(count, changed, 0.5)) <= alpha / 2:
            count += 1
        return count - 1
    low, high = -1, changed // 2
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if mcnemar_exact(middle, changed - middle) <= alpha else (low, middle - 1)
    return low
