"""Cases that resemble each other, such as one question in three languages, say less than as many independent ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt

from harness.stats.extra import numeric
from harness.stats.samples import Interval, StatsInputError, check_finite, check_share


def clustered_standard_error(values: Sequence[float], families: Sequence[Hashable]) -> float:
    """
    Return the standard error of the mean of *values* when cases of one family hang together.

    √(G / (G−1) · Σ_g (Σ_{i in g} (x_i − x̄))²) / n for G families: E. Miller, "Adding error bars to evals" (2024),
    arXiv:2411.00640, equation 4, with the correction for few clusters of A. C. Cameron and D. L. Miller, "A practitioner's guide
    to cluster-robust inference", Journal of Human Resources 50 (2015), equation 12. With families of one it is s / √n.

    Args:
        values: One number a trial: 0 or 1, a cost, or a difference of two runs.
        families: The family of each, in the same order; at least two different ones.

    Raises:
        StatsInputError: The lengths differ, a value is not finite, or there are fewer than two families.
    """
    if len(values) != len(families):
        raise StatsInputError(f"each value has one family: there are {len(values)} and {len(families)}")
    check_finite("values", values)
    count = len(set(families))
    if count < 2:
        raise StatsInputError(f"at least two families are needed, not {count}")
    mean = sum(values) / len(values)
    sums: dict[Hashable, float] = {}
    for value, family in zip(values, families, strict=True):
        sums[family] = sums.get(family, 0.0) + (value - mean)
    return sqrt(count / (count - 1) * sum(total * total for total in sums.values())) / len(values)


def clustered_interval(values: Sequence[float], families: Sequence[Hashable], *, confidence: float = 0.95) -> Interval:
    """
    Bound the mean of *values* by Student's t with one degree of freedom fewer than there are families. Needs scipy.

    Cameron and Miller (2015), section VI.A. The ends may lie outside the range of the values.

    Raises:
        StatsInputError: As in `clustered_standard_error`, or *confidence* is out of range.
        UsageError: scipy is not installed.
    """
    check_share("confidence", confidence)
    error = clustered_standard_error(values, families)
    mean = sum(values) / len(values)
    quantile = float(numeric("scipy.special").stdtrit(len(set(families)) - 1, (1 + confidence) / 2))
    return Interval(mean - quantile * error, mean + quantile * error)
