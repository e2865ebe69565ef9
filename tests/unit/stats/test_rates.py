"""Intervals of rates and of their difference, against the tables that introduced or compared them."""

from __future__ import annotations

from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from harness.stats import (
    StatsInputError,
    Tally,
    clopper_pearson_interval,
    cohens_h,
    difference_interval,
    wilson_interval,
)

COUNTS = st.integers(1, 400).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))
TALLIES = COUNTS.map(lambda counts: Tally(*counts))
CONFIDENCES = st.floats(0.5, 0.999)
NEWCOMBE_1998_TABLE_I = {
    (81, 263): ((0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148): ((0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20): ((0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29): ((0.0061, 0.1718), (0.0009, 0.1776)),
}


@pytest.mark.parametrize("counts", NEWCOMBE_1998_TABLE_I)
def test_intervals_of_one_rate_are_those_published(counts: tuple[int, int]) -> None:
    """Methods 3 and 5 of Newcombe (1998), Table I, to its four places."""
    wilson, exact = NEWCOMBE_1998_TABLE_I[counts]

    assert wilson == tuple(round(end, 4) for end in wilson_interval(*counts))
    assert exact == tuple(round(end, 4) for end in clopper_pearson_interval(*counts))


@given(COUNTS, CONFIDENCES)
def test_wilson_is_what_scipy_says(counts: tuple[int, int], confidence: float) -> None:
    """An independent implementation gives the same ends."""
    other = scipy_stats.binomtest(*counts).proportion_ci(confidence, method="wilson")

    assert pytest.approx((other.low, other.high), abs=1e-12) == tuple(wilson_interval(*counts, confidence=confidence))


@pytest.mark.parametrize("interval", [wilson_interval, clopper_pearson_interval])
@given(counts=COUNTS, confidence=CONFIDENCES)
def test_an_interval_holds_its_rate_and_is_symmetric(interval, counts: tuple[int, int], confidence: float) -> None:
    """Ends lie in [0, 1] around the rate, and failures mirror passes."""
    passes, trials = counts
    found = interval(passes, trials, confidence=confidence)
    mirrored = interval(trials - passes, trials, confidence=confidence)

    assert 0 <= found.low <= passes / trials <= found.high <= 1
    assert pytest.approx((found.low, found.high), abs=1e-9) == (1 - mirrored.high, 1 - mirrored.low)


@given(COUNTS, CONFIDENCES)
def test_more_passes_more_trials_and_less_confidence_move_it_as_they_should(
    counts: tuple[int, int], confidence: float
) -> None:
    """One pass more raises both ends; ten times the trials, or less confidence, narrow it."""
    passes, trials = counts
    found = wilson_interval(passes, trials, confidence=confidence)
    wider = wilson_interval(passes, trials, confidence=(1 + confidence) / 2)
    narrower = wilson_interval(10 * passes, 10 * trials, confidence=confidence)

    assert wider.low <= found.low
    assert found.high <= wider.high
    assert narrower.high - narrower.low < found.high - found.low
    if passes < trials:
        more = wilson_interval(passes + 1, trials, confidence=confidence)
        assert found.low < more.low
        assert found.high < more.high


def test_coverage_counted_out() -> None:
    """Of all outcomes of 30 trials, Wilson's intervals hold the true rate with 95 % on average, the exact ones with 95 % at least."""
    wilson = [wilson_interval(passes, 30) for passes in range(31)]
    exact = [clopper_pearson_interval(passes, 30) for passes in range(31)]
    rates = [step / 200 for step in range(1, 200)]
    held = {
        name: [
            sum(
                scipy_stats.binom.pmf(passes, 30, rate)
                for passes in range(31)
                if found[passes].low <= rate <= found[passes].high
            )
            for rate in rates
        ]
        for name, found in (("wilson", wilson), ("exact", exact))
    }

    assert 0.945 < sum(held["wilson"]) / len(rates) < 0.96
    assert min(held["wilson"]) > 0.83
    assert min(held["exact"]) >= 0.95


def test_the_interval_of_a_difference_is_that_published() -> None:
    """Method 10 of Newcombe (1998) for 56/70 against 48/80: 0.0524 to 0.3339."""
    found = difference_interval(Tally(48, 80), Tally(56, 70))

    assert (0.0524, 0.3339) == tuple(round(end, 4) for end in found)


@given(TALLIES, TALLIES)
def test_a_difference_lies_in_its_interval_and_turns_round(baseline: Tally, candidate: Tally) -> None:
    """Ends lie in [−1, 1] around the difference; exchanging the sides changes the sign only."""
    found = difference_interval(baseline, candidate)
    turned = difference_interval(candidate, baseline)

    assert -1 <= found.low <= candidate.rate - baseline.rate + 1e-12
    assert candidate.rate - baseline.rate - 1e-12 <= found.high <= 1
    assert pytest.approx((found.low, found.high)) == (-turned.high, -turned.low)


def test_effect_sizes_are_those_of_the_book() -> None:
    """Cohen (1988), Table 6.2.2: φ of 0.50 is 1.571 and of 0.65 is 1.875."""
    assert pytest.approx(1.875 - 1.571, abs=0.001) == cohens_h(0.50, 0.65)
    assert pytest.approx(pi) == cohens_h(0, 1)


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_effect_turns_round(one: float, other: float) -> None:
    """Exchanging the sides changes the sign, and no effect is larger than π."""
    assert cohens_h(one, other) == -cohens_h(other, one)
    assert abs(cohens_h(one, other)) <= pi


def test_a_rate_in_percent_is_refused() -> None:
    """A rate is a share."""
    with pytest.raises(StatsInputError, match="a rate lies between 0 and 1, not at 95"):
        cohens_h(0.5, 95)
