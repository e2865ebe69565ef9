"""Two runs over the same cases, one trial each: what changed, and whether that is more than luck."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal, NamedTuple

from harness.stats.rates import wilson_interval
from harness.stats.samples import Interval, StatsInputError

Alternative = Literal["two-sided", "worse", "better"]
"""What the candidate is suspected of."""


class Pairs(NamedTuple):
    """Cases by their outcome before and after."""

    both: int
    lost: int
    gained: int
    neither: int

    @property
    def cases(self) -> int:
        """All of them."""
        return sum(self)

    @property
    def difference(self) -> float:
        """Candidate rate − baseline rate, −1 to 1."""
        return (self.gained - self.lost) / self.cases


def pair(baseline: Sequence[bool], candidate: Sequence[bool]) -> Pairs:
    """
    Count pairs of outcomes of the same cases in the same order, True = passed.

    Raises:
        StatsInputError: The sequences are empty, or differ in length.
    """
    if len(baseline) != len(candidate):
        raise StatsInputError(f"pairs need as many outcomes before as after, not {len(baseline)} and {len(candidate)}")
    if not baseline:
        raise StatsInputError("at least one pair is needed, not 0")
    seen = list(zip(map(bool, baseline), map(bool, candidate), strict=True))
    return Pairs(
        seen.count((True, True)), seen.count((True, False)), seen.count((False, True)), seen.count((False, False))
    )


def mcnemar_exact(lost: int, gained: int, *, alternative: Alternative = "two-sided") -> float:
    """
    Return the exact p-value of McNemar's test: the binomial test of a half on the cases that changed.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages", Psychometrika 12
    (1947) 153–157; exact form: A. Agresti, "Categorical Data Analysis" (2002), section 10.1.4. Two-sided is twice the smaller
    tail, at most 1.

    Args:
        lost: Cases that passed before and fail now, at least 0.
        gained: Cases that failed before and pass now, at least 0.
        alternative: `worse` counts many losses as evidence, `better` many gains.

    Raises:
        StatsInputError: A count is negative.
    """
    if lost < 0 or gained < 0:
        raise StatsInputError(f"counts of cases are not negative, as {min(lost, gained)} is")
    changed = lost + gained
    at_most = {"worse": gained, "better": lost, "two-sided": min(lost, gained)}[alternative]
    tail = ways = 1
    for count in range(at_most):
        ways = ways * (changed - count) // (count + 1)
        tail += ways
    return min(1.0, (2 if alternative == "two-sided" else 1) * tail / (1 << changed))


def paired_standard_error(pairs: Pairs) -> float:
    """
    Return the standard error of the paired difference of rates, of the sample itself: √(b + c − (b − c)² / n) / n.

    A. Agresti, "Categorical Data Analysis" (2002), equation 10.2.

    Raises:
        StatsInputError: There is no pair, or a count is negative.
    """
    _check(pairs)
    changed, net = pairs.lost + pairs.gained, pairs.lost - pairs.gained
    return sqrt(changed - net * net / pairs.cases) / pairs.cases


def paired_interval(pairs: Pairs, *, confidence: float = 0.95) -> Interval:
    """
    Bound candidate rate − baseline rate over the same cases, from the Wilson intervals of both and their correlation.

    Method 10 of R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
    paired data", Statistics in Medicine 17 (1998) 2635–2650, with its continuity-corrected φ.

    Returns:
        Both ends in [−1, 1], with the observed difference between them.

    Raises:
        StatsInputError: There is no pair, a count is negative, or *confidence* is out of range.
    """
    _check(pairs)
    cases, passed_before, passed_after = pairs.cases, pairs.both + pairs.lost, pairs.both + pairs.gained
    before = wilson_interval(passed_before, cases, confidence=confidence)
    after = wilson_interval(passed_after, cases, confidence=confidence)
    baseline, candidate, phi = passed_before / cases, passed_after / cases, _phi(pairs)
    below = _joined(candidate - after.low, before.high - baseline, phi)
    above = _joined(after.high - candidate, baseline - before.low, phi)
    return Interval(max(-1.0, pairs.difference - below), min(1.0, pairs.difference + above))


def _joined(one: float, other: float, phi: float) -> float:
    """Length of the side opposite an angle with cosine *phi*; rounding must not make it imaginary."""
    return sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def _phi(pairs: Pairs) -> float:
    """Correlation of the outcomes before and after, −1 to 1, drawn towards 0 where it is positive."""
    both, lost, gained, neither = pairs
    margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither)
    if margins == 0:
        return 0.0
    product = both * neither - lost * gained
    return (max(product - pairs.cases / 2, 0.0) if product > 0 else product) / sqrt(margins)


def _check(pairs: Pairs) -> None:
    if min(pairs) < 0:
        raise StatsInputError(f"counts of cases are not negative, as {min(pairs)} is")
    if pairs.cases == 0:
        raise StatsInputError("at least one pair is needed, not 0")
