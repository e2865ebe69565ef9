"""Two runs over the same cases, several trials each: a permutation test that shuffles within each case only."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, lcm
from random import Random
from typing import NamedTuple

from harness.stats.paired import Alternative
from harness.stats.samples import StatsInputError, Tally, check_tally

EXACT_STATES = 20_000
"""The most sums that the exact distribution may hold; past that it is sampled."""

_Stratum = dict[int, int]
"""How many relabellings of the trials of one case lead to each (scaled) difference of rates."""


class RateComparison(NamedTuple):
    """
    The result of the test: *difference* of the mean rates (candidate − baseline, −1 to 1), *p_value* in (0, 1], and whether
    it is *exact* or sampled.
    """

    difference: float
    p_value: float
    exact: bool


def permutation_test(
    cases: Sequence[tuple[Tally, Tally]],
    *,
    alternative: Alternative = "two-sided",
    resamples: int = 20_000,
    seed: int = 0,
) -> RateComparison:
    """
    Test whether the mean over cases of candidate rate − baseline rate is more than chance, each case a stratum.

    Under the hypothesis that nothing changed, the labels *before* and *after* of the trials of one case can be exchanged; its
    passes then fall as a hypergeometric. The distribution of the sum over cases is computed exactly (as integers) where it has
    at most `EXACT_STATES` values, else sampled, with the p-value (hits + 1) / (resamples + 1) that can never be 0.
    P. Good, "Permutation, Parametric and Bootstrap Tests of Hypotheses" (3rd edition, 2005), sections 3.6 and 6.3; for the
    sampled p-value B. Phipson and G. K. Smyth, SAGMB 9 (2010) article 39. With one trial on each side it is McNemar's exact test.

    Args:
        cases: (baseline, candidate) of each case, at least one trial on each side.
        alternative: What the candidate is suspected of.
        resamples: How many sums are drawn where the exact way is too long, at least 1.
        seed: Where drawing starts: equal seeds give equal results.

    Raises:
        StatsInputError: There is no case, a count is out of range, or *resamples* is less than 1.
    """
    if not cases:
        raise StatsInputError("at least one case is needed, not 0")
    if resamples < 1:
        raise StatsInputError(f"at least one resample is needed, not {resamples}")
    for both in cases:
        for one in both:
            check_tally(*one)
    scale = lcm(*(one.trials for both in cases for one in both))
    strata = [_stratum(baseline, candidate, scale) for baseline, candidate in cases]
    observed = sum(_scaled(after.passes, after, before.passes, before, scale) for before, after in cases)
    sums = _exact_sums(strata)
    if sums is None:
        p_value = _sampled(strata, observed, alternative, resamples, Random(seed))  # noqa: S311 - a sample, no secret
    else:
        hits = sum(ways for value, ways in sums.items() if _as_extreme(value, observed, alternative))
        p_value = hits / sum(sums.values())
    return RateComparison(observed / scale / len(cases), p_value, sums is not None)


def _stratum(baseline: Tally, candidate: Tally, scale: int) -> _Stratum:
    passes = baseline.passes + candidate.passes
    ways: _Stratum = {}
    for after in range(max(0, passes - baseline.trials), min(candidate.trials, passes) + 1):
        difference = _scaled(after, candidate, passes - after, baseline, scale)
        ways[difference] = comb(candidate.trials, after) * comb(baseline.trials, passes - after)
    return ways


def _scaled(after: int, candidate: Tally, before: int, baseline: Tally, scale: int) -> int:
    """The difference of two rates as an integer, so that sums are compared without rounding."""
    return after * (scale // candidate.trials) - before * (scale // baseline.trials)


def _exact_sums(strata: Sequence[_Stratum]) -> _Stratum | None:
    """The distribution of the sum, or None where it has too many values."""
    sums: _Stratum = {0: 1}
    for stratum in strata:
        joined: _Stratum = {}
        for value, ways in sums.items():
            for difference, more in stratum.items():
                joined[value + difference] = joined.get(value + difference, 0) + ways * more
        if len(joined) > EXACT_STATES:
            return None
        sums = joined
    return sums


def _sampled(
    strata: Sequence[_Stratum], observed: int, alternative: Alternative, resamples: int, chance: Random
) -> float:
    sums = [0] * resamples
    # In a fixed order, so that the order of the cases does not change what is drawn for whom.
    for stratum in sorted(strata, key=lambda ways: sorted(ways.items())):
        total = sum(stratum.values())
        drawn = chance.choices(list(stratum), weights=[ways / total for ways in stratum.values()], k=resamples)
        sums = [value + more for value, more in zip(sums, drawn, strict=True)]
    hits = sum(_as_extreme(value, observed, alternative) for value in sums)
    return (hits + 1) / (resamples + 1)


def _as_extreme(value: int, observed: int, alternative: Alternative) -> bool:
    if alternative == "worse":
        return value <= observed
    if alternative == "better":
        return value >= observed
    return abs(value) >= abs(observed)
