"""Two sides over the same cases, against values worked out by hand, other formulas of the package, and laws."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import (
    StatsInputError,
    Tally,
    clustered_interval,
    clustered_rate_interval,
    difference_interval,
    matched_interval,
    matched_smallest_detectable,
    matched_standard_error,
    matched_trials_needed,
    permutation_test,
    suite_smallest_detectable,
    wilson_interval,
)

REACH = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """A few trials of one case."""
    trials = draw(st.integers(1, 6))
    return Tally(draw(st.integers(0, trials)), trials)


CASES = st.lists(st.tuples(tallies(), tallies()), min_size=1, max_size=12)


def test_the_standard_error_by_hand() -> None:
    """Two cases, (1 of 2 → 2/4 by Laplace, 0 of 1 → 1/3) and (4 of 4 → 5/6, 0 of 4 → 1/6)."""
    cases = [(Tally(1, 2), Tally(0, 1)), (Tally(4, 4), Tally(0, 4))]
    quarter, thirds, sixths = Fraction(1, 4), Fraction(2, 9), Fraction(5, 36)
    expected = sqrt(quarter / 2 + thirds + sixths / 4 + sixths / 4) / 2

    assert pytest.approx(expected) == matched_standard_error(cases)


def test_equal_sides_see_what_a_suite_sees() -> None:
    """Where both sides came to the same, it is the formula of one suite before and after."""
    suite = [Tally(2, 4), Tally(4, 4), Tally(0, 4), Tally(3, 4), Tally(1, 4), Tally(4, 4), Tally(4, 4), Tally(2, 4)]
    both = [(case, case) for case in suite]

    assert pytest.approx(suite_smallest_detectable(suite, 4)) == matched_smallest_detectable(both)


def test_too_few_trials_see_nothing() -> None:
    """Five cases of one trial cannot be significant at all: 2 / 2**5 > 0.05; six can."""
    one = (Tally(1, 1), Tally(0, 1))
    shift = REACH * sqrt(2 * Fraction(2, 9) / 6)

    assert matched_smallest_detectable([one] * 5) is None
    assert pytest.approx(shift) == matched_smallest_detectable([one] * 6)


def test_trials_needed_by_hand() -> None:
    """Eleven cases that both sides failed once: (z · √(11 · 2 · 2/9) / 11 / 0.1)² is just below 32."""
    cases = [(Tally(0, 1), Tally(0, 1))] * 11
    exact = (REACH * sqrt(11 * 2 * Fraction(2, 9)) / 11 / 0.1) ** 2

    assert 31 < exact < 32
    assert 32 == matched_trials_needed(cases, 0.1) == matched_trials_needed(cases, -0.1)


def test_trials_needed_are_enough_for_the_test_itself() -> None:
    """Five cases: a trial of each can never be significant, though the normal approximation is content with it."""
    needed = matched_trials_needed([(Tally(0, 1), Tally(1, 1))] * 5, 1.0)

    assert REACH * sqrt(5 * 2 * Fraction(2, 9)) / 5 < 1
    assert permutation_test([(Tally(0, 1), Tally(1, 1))] * 5).p_value > 0.05
    assert permutation_test([(Tally(0, needed), Tally(needed, needed))] * 5).p_value <= 0.05
    assert 2 == needed


@pytest.mark.parametrize("difference", [1e-17, -3.7e-17, 5e-324])
def test_a_difference_that_is_rounding_needs_a_large_number(difference: float) -> None:
    """It is no overflow, and no endless search."""
    assert matched_trials_needed([(Tally(0, 1), Tally(1, 3))] * 3, difference) > 10**15


@given(CASES)
def test_the_two_directions_agree(cases: list[tuple[Tally, Tally]]) -> None:
    """With the trials that a difference needs on each side, and the same rates, it is seen."""
    needed = matched_trials_needed(cases, 0.2)
    single = sqrt(
        sum((t.passes + 1) / (t.trials + 2) * (1 - (t.passes + 1) / (t.trials + 2)) for c in cases for t in c)
    )

    assert REACH * single / len(cases) / sqrt(needed) <= 0.2 + 1e-9


@given(CASES)
def test_the_other_way_round_only_the_sign_changes(cases: list[tuple[Tally, Tally]]) -> None:
    """Standard error and power do not ask who is who; the interval is mirrored."""
    turned = [(after, before) for before, after in cases]
    families = range(len(cases))
    low, high = matched_interval(cases, families)

    assert pytest.approx(matched_standard_error(cases)) == matched_standard_error(turned)
    assert pytest.approx(matched_smallest_detectable(cases)) == matched_smallest_detectable(turned)
    assert pytest.approx((-high, -low)) == tuple(matched_interval(turned, families))
    assert -1 <= low <= high <= 1


def test_the_interval_is_that_of_the_differences() -> None:
    """Student's t over families; cases of one family are one."""
    cases = [
        (Tally(0, 2), Tally(1, 2)),
        (Tally(0, 2), Tally(1, 2)),
        (Tally(2, 2), Tally(2, 2)),
        (Tally(1, 2), Tally(0, 2)),
    ]
    families = ["a", "a", "b", "c"]

    assert tuple(clustered_interval([0.5, 0.5, 0.0, -0.5], families))[1] > 1
    assert tuple(clustered_interval([0.5, 0.0, -0.5, 0.0], "abcd")) == tuple(
        matched_interval([(Tally(0, 2), Tally(1, 2)), (Tally(1, 2), Tally(1, 2)), (Tally(1, 2), Tally(0, 2)),
                          (Tally(2, 2), Tally(2, 2))], "abcd")
    )  # fmt: skip
    assert (-1.0, 1.0) == tuple(matched_interval(cases, families))


def test_differences_that_are_all_alike_still_have_an_interval() -> None:
    """No spread is seen in ties, so the trials' own chance stands in for it."""
    reach = NormalDist().inv_cdf(0.975) * sqrt(2 * Fraction(1, 4) * Fraction(3, 4) / 2 / 4)

    assert pytest.approx((-reach, reach)) == tuple(matched_interval([(Tally(2, 2), Tally(2, 2))] * 4, range(4)))


def test_one_family_speaks_of_itself() -> None:
    """Newcombe's interval of two independent rates, of all its trials."""
    cases = [(Tally(1, 4), Tally(3, 4)), (Tally(0, 4), Tally(2, 4))]

    assert difference_interval(Tally(1, 8), Tally(5, 8)) == matched_interval(cases, ["one", "one"])


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_single_independent_trials_give_wilsons_interval(outcomes: list[bool]) -> None:
    """Nothing hangs together there."""
    cases = [Tally(int(outcome), 1) for outcome in outcomes]

    assert pytest.approx(tuple(wilson_interval(sum(outcomes), len(outcomes)))) == tuple(
        clustered_rate_interval(cases, range(len(cases)))
    )


def test_trials_of_a_case_that_end_alike_are_worth_one() -> None:
    """Ten copies of each of four cases tell as much as four trials: deff = (4/3 · ¼ / 4) / (¼ / 39) = 13, 40 / 13 trials."""
    cases = [Tally(10, 10), Tally(0, 10), Tally(10, 10), Tally(0, 10)]
    worth = 40 / 13

    assert pytest.approx(tuple(wilson_interval(worth / 2, worth))) == tuple(clustered_rate_interval(cases, range(4)))


def test_families_that_all_end_alike_count_each_once() -> None:
    """Six trials of two families that were all kept are two."""
    assert wilson_interval(2, 2) == clustered_rate_interval([Tally(2, 2), Tally(2, 2), Tally(2, 2)], ["a", "a", "b"])


def test_one_family_counts_its_trials() -> None:
    """There is no other to compare it with."""
    assert wilson_interval(3, 4) == clustered_rate_interval([Tally(3, 4)], ["a"])


@given(st.lists(st.tuples(tallies(), st.sampled_from("abc")), min_size=1, max_size=12))
def test_the_mean_rate_lies_in_its_interval(cases: list[tuple[Tally, str]]) -> None:
    """And the interval is never narrower than that of as many independent trials."""
    counts, families = [case for case, _ in cases], [family for _, family in cases]
    rate = sum(case.rate for case in counts) / len(counts)
    trials = sum(case.trials for case in counts)
    low, high = clustered_rate_interval(counts, families)
    narrow = wilson_interval(rate * trials, trials)

    assert 0 <= low <= rate + 1e-12
    assert rate - 1e-12 <= high <= 1
    assert high - low >= narrow.high - narrow.low - 1e-9


@pytest.mark.parametrize(
    "call",
    [
        lambda: matched_standard_error([]),
        lambda: matched_standard_error([(Tally(2, 1), Tally(0, 1))]),
        lambda: matched_smallest_detectable([]),
        lambda: matched_trials_needed([], 0.1),
        lambda: matched_trials_needed([(Tally(0, 1), Tally(0, 1))], 0.0),
        lambda: matched_trials_needed([(Tally(0, 1), Tally(0, 1))], float("nan")),
        lambda: matched_interval([], []),
        lambda: matched_interval([(Tally(0, 1), Tally(0, 1))] * 2, ["a", "b"], confidence=1.0),
        lambda: clustered_rate_interval([], []),
        lambda: clustered_rate_interval([Tally(0, 0)], ["a"]),
        lambda: clustered_rate_interval([Tally(0, 1)] * 3, ["a", "b"]),
    ],
)
def test_numbers_that_mean_nothing_are_refused(call) -> None:
    """No case, impossible counts, no difference to see, no confidence, and a family too few."""
    with pytest.raises(StatsInputError):
        call()
