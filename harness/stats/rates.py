"""Bounds on a pass rate, and on the difference of two."""

from __future__ import annotations

from math import asin, sqrt

from harness.stats.extra import numeric
from harness.stats.samples import Interval, Tally, check_rate, check_share, check_tally, two_sided_z


def wilson_interval(passes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """
    Bound the pass rate of one case from repeated trials by Wilson's score interval.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927) 209–212; method 3 of
    R. G. Newcombe, Statistics in Medicine 17 (1998) 857–872.

    Args:
        passes: Trials that passed, 0 ≤ passes ≤ trials.
        trials: Independent trials, at least 1. Cached replays are not independent.
        confidence: Two-sided coverage, strictly between 0 and 1.

    Returns:
        Both ends in [0, 1], low ≤ passes / trials ≤ high.

    Raises:
        StatsInputError: A count or *confidence* is out of range.
    """
    check_tally(passes, trials)
    z = two_sided_z(confidence)
    rate = passes / trials
    middle = (passes + z * z / 2) / (trials + z * z)
    half = z / (trials + z * z) * sqrt(trials * rate * (1 - rate) + z * z / 4)
    # The ends are exact at 0 and 1; only rounding would put them a hair beside.
    low = 0.0 if passes == 0 else min(middle - half, rate)
    high = 1.0 if passes == trials else max(middle + half, rate)
    return Interval(low, high)


def clopper_pearson_interval(passes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """
    Bound a pass rate so that the coverage is never below *confidence*; wider than Wilson's. Needs scipy.

    C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
    Biometrika 26 (1934) 404–413.

    Args:
        passes: Trials that passed, 0 ≤ passes ≤ trials.
        trials: Independent trials, at least 1.
        confidence: Two-sided coverage at least, strictly between 0 and 1.

    Raises:
        StatsInputError: A count or *confidence* is out of range.
        UsageError: scipy is not installed.
    """
    check_tally(passes, trials)
    check_share("confidence", confidence)
    quantile = numeric("scipy.special").betaincinv
    tail = (1 - confidence) / 2
    low = 0.0 if passes == 0 else float(quantile(passes, trials - passes + 1, tail))
    high = 1.0 if passes == trials else float(quantile(passes + 1, trials - passes, 1 - tail))
    return Interval(low, high)


def difference_interval(baseline: Tally, candidate: Tally, *, confidence: float = 0.95) -> Interval:
    """
    Bound candidate rate − baseline rate of two independent samples, from the two Wilson intervals.

    Method 10 of R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17 (1998) 873–890.

    Returns:
        Both ends in [−1, 1], with the observed difference between them.

    Raises:
        StatsInputError: A count or *confidence* is out of range.
    """
    before = wilson_interval(*baseline, confidence=confidence)
    after = wilson_interval(*candidate, confidence=confidence)
    difference = candidate.rate - baseline.rate
    below = sqrt((candidate.rate - after.low) ** 2 + (before.high - baseline.rate) ** 2)
    above = sqrt((after.high - candidate.rate) ** 2 + (baseline.rate - before.low) ** 2)
    return Interval(max(-1.0, difference - below), min(1.0, difference + above))


def cohens_h(baseline_rate: float, candidate_rate: float) -> float:
    """
    Return the effect size of a change of rate, −π to π; 0.2 is called small, 0.5 medium, 0.8 large.

    J. Cohen, "Statistical Power Analysis for the Behavioral Sciences" (2nd edition, 1988), formula 6.2.1.

    Raises:
        StatsInputError: A rate lies outside [0, 1].
    """
    check_rate("a rate", baseline_rate)
    check_rate("a rate", candidate_rate)
    return 2 * asin(sqrt(candidate_rate)) - 2 * asin(sqrt(baseline_rate))
