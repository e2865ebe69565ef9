"""Bounds on cost, tokens and latency, whose distributions have long tails. Needs scipy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Literal, NamedTuple

from harness.stats.extra import numeric
from harness.stats.samples import Interval, StatsInputError, check_finite, check_share

Measure = Literal["mean", "median", "p90", "p95"]
"""What of the values is bounded."""

_Statistic = Callable[..., Any]


class Estimate(NamedTuple):
    """
    A *value* in the unit of what was measured, and its *interval*.

    *method* is `BCa`; `percentile` where its corrections cannot be computed; `constant` where all observations are equal, so
    that the interval is a point.
    """

    value: float
    interval: Interval
    method: Literal["BCa", "percentile", "constant"]


def bootstrap_interval(
    values: Sequence[float],
    *,
    measure: Measure = "mean",
    confidence: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
) -> Estimate:
    """
    Bound a *measure* of *values* by the bias-corrected and accelerated bootstrap.

    B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987) 171–185; B. Efron and R. J. Tibshirani, "An Introduction
    to the Bootstrap" (1993), section 14.3. For the change between two paired runs give the differences.

    Args:
        values: One number a fresh trial, or a case; at least 2. Their order does not matter.
        measure: What is bounded; percentiles are interpolated linearly.
        confidence: Two-sided coverage, strictly between 0 and 1.
        resamples: How many samples are drawn, at least 100.
        seed: Where drawing starts: equal seeds give equal results.

    Raises:
        StatsInputError: There are too few values or resamples, one is not finite, or *confidence* is out of range.
        UsageError: scipy is not installed.
    """
    check_finite("values", values)
    # Sorted, so that the order in which trials ended changes nothing.
    return _bca([sorted(values)], _statistic(measure), confidence, resamples, seed)


def bootstrap_ratio(
    baseline: Sequence[float],
    candidate: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
) -> Estimate:
    """
    Bound the ratio of the totals, candidate / baseline, over the same cases in the same order: 1.1 = a tenth dearer.

    Pairs are drawn together, so that what makes a case dear on both sides cancels. Formulas as in `bootstrap_interval`; the
    ratio of paired means is the example of Efron and Tibshirani (1993), section 10.3.

    Args:
        baseline: One positive number a case, at least 2.
        candidate: One number of at least 0 for each of the same cases.
        confidence: Two-sided coverage, strictly between 0 and 1.
        resamples: How many samples are drawn, at least 100.
        seed: Where drawing starts.

    Raises:
        StatsInputError: The lengths differ, a number is out of range, or there are too few.
        UsageError: scipy is not installed.
    """
    if len(baseline) != len(candidate):
        raise StatsInputError(f"pairs need as many values before as after, not {len(baseline)} and {len(candidate)}")
    check_finite("values", (*baseline, *candidate))
    if any(value <= 0 for value in baseline) or any(value < 0 for value in candidate):
        raise StatsInputError("a ratio needs values above 0 before, and of at least 0 after")
    pairs = sorted(zip(baseline, candidate, strict=True))
    return _bca([[before for before, _ in pairs], [after for _, after in pairs]], _ratio, confidence, resamples, seed)


def _bca(
    samples: Sequence[Sequence[float]], statistic: _Statistic, confidence: float, resamples: int, seed: int
) -> Estimate:
    if len(samples[0]) < 2:
        raise StatsInputError(f"at least two values are needed, not {len(samples[0])}")
    if resamples < 100:
        raise StatsInputError(f"at least 100 resamples are needed, not {resamples}")
    check_share("confidence", confidence)
    value = float(statistic(*samples, axis=-1))
    if all(len(set(sample)) == 1 for sample in samples):
        return Estimate(value, Interval(value, value), "constant")
    for method in ("BCa", "percentile"):
        interval = _resampled(samples, statistic, confidence, resamples, seed, method)
        if isfinite(interval.low) and isfinite(interval.high):
            break
    return Estimate(value, interval, method)


def _resampled(
    samples: Sequence[Sequence[float]],
    statistic: _Statistic,
    confidence: float,
    resamples: int,
    seed: int,
    method: Literal["BCa", "percentile"],
) -> Interval:
    with warnings.catch_warnings():
        # Where the corrections are undefined, scipy warns and gives NaN; the caller then takes the next method.
        warnings.simplefilter("ignore")
        drawn = numeric("scipy.stats").bootstrap(
            samples,
            statistic,
            paired=len(samples) > 1,
            vectorized=True,
            axis=-1,
            n_resamples=resamples,
            confidence_level=confidence,
            method=method,
            random_state=seed,
            # Bounds the memory: at most this many resamples at once.
            batch=max(1, 1_000_000 // len(samples[0])),
        )
    return Interval(float(drawn.confidence_interval.low), float(drawn.confidence_interval.high))


def _statistic(measure: Measure) -> _Statistic:
    np = numeric("numpy")
    percents = {"median": 50, "p90": 90, "p95": 95}
    if measure == "mean":
        return lambda sample, axis: np.mean(sample, axis=axis)
    return lambda sample, axis: np.percentile(sample, percents[measure], axis=axis)


def _ratio(before: Any, after: Any, axis: int) -> Any:
    np = numeric("numpy")
    return np.sum(after, axis=axis) / np.sum(before, axis=axis)
