"""What a suite can see: against R's and Miller's published figures, brute force, and simulation."""

from __future__ import annotations

from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import (
    StatsInputError,
    Tally,
    cases_needed,
    permutation_test,
    power_of,
    smallest_detectable_drop,
    smallest_detectable_shift,
    suite_smallest_detectable,
    suite_trials_needed,
    tally,
    trials_needed,
)
from harness.stats.power import EXACT_TRIALS

RATES = st.floats(0.02, 0.98)


def test_two_rates_as_in_r() -> None:
    """The examples of `power.prop.test`: 50 a side have power 0.740, power 0.90 needs 76.7, and 50 see up to 0.8026."""
    assert 0.740 == round(power_of(0.50, 0.75, 50), 3)
    assert 77 == trials_needed(0.50, 0.75, power=0.90)
    # R's root is searched to four places only.
    assert pytest.approx(0.8026141 - 0.5, abs=1e-4) == smallest_detectable_drop(0.50, 50, power=0.90)


@pytest.mark.parametrize("trials", [1, 3, 5, 8])
@given(before=st.floats(0, 1), after=st.floats(0, 1))
def test_few_trials_are_counted_out(trials: int, before: float, after: float) -> None:
    """Adding up every pair of counts that the permutation test rejects gives the same power."""
    expected = 0.0
    for one in range(trials + 1):
        for other in range(trials + 1):
            ways = comb(trials, one) * comb(trials, other)
            chance = before**one * (1 - before) ** (trials - one) * after**other * (1 - after) ** (trials - other)
            rejected = permutation_test([(Tally(one, trials), Tally(other, trials))]).p_value <= 0.05
            expected += ways * chance * rejected

    assert pytest.approx(expected, abs=1e-9) == power_of(before, after, trials)


def test_three_trials_promise_nothing() -> None:
    """Of three trials a side no outcome is significant, so no fall can be seen; four see only the fall from 1 to 0."""
    assert 0.0 == power_of(1.0, 0.0, 3)
    assert (1.0, 4) == (power_of(1.0, 0.0, 4), trials_needed(1.0, 0.0))
    assert smallest_detectable_drop(1.0, 3) is None


def test_a_p_value_at_alpha_itself_rejects() -> None:
    """Three trials a side that all turn have p = 0.1, which a test at 10 % rejects."""
    assert 1.0 == power_of(1.0, 0.0, 3, alpha=0.1)


def test_certain_rates_are_seen_or_not() -> None:
    """Rates of 0 and 1 vary in no trial: past the counting, too, their difference is seen for certain."""
    assert 1.0 == power_of(1.0, 0.0, EXACT_TRIALS + 1)
    assert 0.0 == power_of(1.0, 1.0, EXACT_TRIALS + 1)


def test_the_questions_that_an_eval_needs() -> None:
    """Miller (2024), section 5: a 3-point difference with ω² = 1/9 at 80 % power takes 969 questions."""
    assert 969 == cases_needed(0.03, between=1 / 9)


def test_a_shift_is_seen_from_so_many_standard_errors_on() -> None:
    """At 5 % and 80 % power it is 1.960 + 0.842 standard errors."""
    assert pytest.approx(2.8016, abs=1e-4) == smallest_detectable_shift(1.0)


@given(RATES, RATES, st.integers(EXACT_TRIALS + 1, 500))
def test_power_grows_with_trials(one: float, other: float, trials: int) -> None:
    """More trials see more, and direction does not matter."""
    assert 0 <= power_of(one, other, trials) <= power_of(one, other, trials + 1) + 1e-12 <= 1 + 2e-12
    assert pytest.approx(power_of(one, other, trials)) == power_of(other, one, trials)
    assert pytest.approx(power_of(one, other, 7)) == power_of(other, one, 7)


@given(RATES, RATES, st.floats(0.5, 0.99))
def test_needed_trials_reach_the_power(one: float, other: float, power: float) -> None:
    """As many as are needed reach it, and one fewer does not."""
    needed = trials_needed(one, other, power=power)
    if one == other:
        assert needed is None
        return

    assert needed is not None
    assert power_of(one, other, needed) >= power - 1e-6
    assert needed == 1 or power_of(one, other, needed - 1) < power + 1e-3


@given(st.floats(0.3, 1), st.integers(4, 400))
def test_the_smallest_drop_is_just_seen(rate: float, trials: int) -> None:
    """At the smallest detectable drop the power is what was asked, and a hair before it is not."""
    drop = smallest_detectable_drop(rate, trials)
    if drop is None:
        assert power_of(rate, 0, trials) < 0.8
        return

    assert 0 < drop <= rate
    assert power_of(rate, rate - drop, trials) >= 0.8 - 1e-9
    assert power_of(rate, rate - drop * 0.999, trials) < 0.8


def test_what_cannot_be_seen_is_none() -> None:
    """Equal rates need no number, and what is at 0 cannot fall."""
    assert trials_needed(0.5, 0.5) is None
    assert smallest_detectable_drop(0.0, 1000) is None


def test_equal_rates_are_called_different_no_more_often_than_alpha_says() -> None:
    """Without a difference, power is the chance of a false alarm: α by the approximation, at most α where it is counted."""
    assert pytest.approx(0.05) == power_of(0.4, 0.4, 300)
    assert 0 < power_of(0.4, 0.4, 30) <= 0.05


def test_a_suite_sees_less_of_fewer_trials() -> None:
    """Trials needed and change seen are each other's reverse, and never having failed is not taken for certainty."""
    cases = [Tally(5, 5), Tally(4, 5), Tally(2, 5), Tally(5, 5)]
    seen = suite_smallest_detectable(cases, 10)

    # Laplace's rates are 6/7, 5/7, 3/7 and 6/7; the variance of the mean of 10 + 10 trials is 2 · (6 + 10 + 12 + 6) / 49 / 160.
    assert pytest.approx(2.8015852 * (2 * 34 / 49 / 160) ** 0.5) == seen
    assert 10 == suite_trials_needed(cases, seen)
    assert suite_smallest_detectable(cases, 40) == pytest.approx(seen / 2)
    assert suite_smallest_detectable([Tally(5, 5)] * 3, 5) > 0.1
    assert suite_smallest_detectable(cases[::-1], 10) == pytest.approx(seen)


def test_the_suites_promise_by_simulation() -> None:
    """A fall of the size that a suite is said to see is called a change in about 80 of 100 runs."""
    chance = Random(8)
    rates = [0.5, 0.6, 0.7, 0.8] * 3
    drop = suite_smallest_detectable([Tally(round(1000 * rate), 1000) for rate in rates], 20)
    seen = 0
    for _ in range(150):
        cases = [
            (
                tally(chance.random() < rate for _ in range(20)),
                tally(chance.random() < rate - drop for _ in range(20)),
            )
            for rate in rates
        ]
        seen += permutation_test(cases).p_value <= 0.05

    assert 0.70 < seen / 150 < 0.90


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: power_of(1.5, 0.5, 3), "a rate lies between 0 and 1, not at 1.5"),
        (lambda: trials_needed(0.5, 0.6, power=80), "power or alpha lies between 0 and 1, both excluded, not at 80"),
        (lambda: smallest_detectable_shift(-1), "a standard error is at least 0, not -1"),
        (lambda: cases_needed(0, between=1), "a shift is not 0, and variances are not negative"),
        (lambda: cases_needed(0.1, between=-1), "a shift is not 0, and variances are not negative"),
        (lambda: suite_trials_needed([Tally(1, 2)], 0), "a change is not 0"),
        (lambda: suite_smallest_detectable([], 3), "at least one case is needed, not 0"),
        (lambda: smallest_detectable_drop(-0.1, 3), "a rate lies between 0 and 1, not at -0.1"),
    ],
)
def test_what_means_nothing_is_refused(call, text: str) -> None:
    """Numbers out of range are named."""
    with pytest.raises(StatsInputError) as refused:
        call()

    assert text == refused.value.message
