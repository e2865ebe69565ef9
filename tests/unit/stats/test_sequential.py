"""Wald's sequential test: its published lines, its error chances and its saving, by simulation."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import SequentialTest, StatsInputError, Stopped, Tally

TEXTBOOK = SequentialTest(good=0.99, bad=0.94, alpha=0.05, beta=0.10)
"""Acceptable at 1 % failures, to be caught at 6 %: Montgomery, "Introduction to Statistical Quality Control", section 15.5.1."""
RATES = st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)).filter(lambda rates: abs(rates[0] - rates[1]) > 0.02)


def test_the_published_lines() -> None:
    """Accept below −1.22 + 0.028 n failures, reject above 1.57 + 0.028 n."""
    assert (1.22, 1.57, 0.028) == (
        round(TEXTBOOK.accept_below, 2),
        round(TEXTBOOK.reject_above, 2),
        round(TEXTBOOK.slope, 3),
    )


def test_where_the_lines_are_first_crossed() -> None:
    """44 passes in a row accept, 43 do not; two failures at once reject, one does not."""
    counts = [Tally(43, 43), Tally(44, 44), Tally(0, 1), Tally(0, 2)]

    assert ["undecided", "good", "undecided", "bad"] == [TEXTBOOK.decide(seen) for seen in counts]


def test_the_test_of_fixed_length_beside_it() -> None:
    """0.95 against 0.80 at 5 % and 20 %: ((1.645 · 0.218 + 0.842 · 0.4) / 0.15)² = 21.5 trials."""
    assert (
        22 == SequentialTest().fixed_trials == SequentialTest(good=0.95, bad=0.80, alpha=0.05, beta=0.20).fixed_trials
    )
    assert SequentialTest() == SequentialTest(good=0.95, bad=0.80, alpha=0.05, beta=0.20)


@given(RATES, st.integers(0, 200), st.integers(0, 200))
def test_another_pass_never_makes_it_worse(rates: tuple[float, float], passes: int, failures: int) -> None:
    """Verdicts only improve when a failure becomes a pass; no trial at all decides nothing."""
    test = SequentialTest(good=max(rates), bad=min(rates))
    rank = ["bad", "undecided", "good"]
    found = [
        rank.index(test.decide(Tally(passes + better, passes + failures))) for better in range(min(failures, 10) + 1)
    ]

    assert sorted(found) == found
    assert "undecided" == test.decide(Tally(0, 0))
    assert min(rates) < 1 - test.slope < max(rates)


def ended(test: SequentialTest, rate: float, *, runs: int, seed: int) -> list[Stopped]:
    """*runs* sequential runs at a true *rate*, each planned so long that it decides."""
    chance = Random(seed)
    return [test.run(iter(lambda: chance.random() < rate, None), planned=10_000) for _ in range(runs)]


def test_error_chances_and_saving_by_simulation() -> None:
    """Over 2,000 runs at each rate the errors stay within what was asked, and fewer trials are used than at fixed length."""
    test = SequentialTest()
    at_good, at_bad = ended(test, 0.95, runs=2_000, seed=1), ended(test, 0.80, runs=2_000, seed=2)
    used = [sum(end.seen.trials for end in ends) / 2_000 for ends in (at_good, at_bad)]

    assert sum(end.decision == "bad" for end in at_good) / 2_000 < 0.06
    assert sum(end.decision == "good" for end in at_bad) / 2_000 < 0.22
    assert max(used) < test.fixed_trials
    for mean, rate in zip(used, (0.95, 0.80), strict=True):
        assert test.expected_trials(rate) < mean < 1.35 * test.expected_trials(rate)


def test_what_was_saved_is_said() -> None:
    """A run planned for 100 trials that accepts after 44 saved 56, and later outcomes were never asked for."""
    asked = iter([True] * 100)
    stopped = TEXTBOOK.run(asked, planned=100)

    assert Stopped("good", Tally(44, 44), 100) == stopped
    assert (56, 0.56, 56) == (stopped.saved, stopped.saving, len(list(asked)))


@pytest.mark.parametrize("outcomes", [[True] * 10, [True] * 5, []])
def test_no_decision_saves_nothing(outcomes: list[bool]) -> None:
    """A run that comes to its planned end, or runs out of outcomes, is undecided and claims no saving."""
    stopped = TEXTBOOK.run(outcomes, planned=10)

    assert ("undecided", 0, len(outcomes)) == (stopped.decision, stopped.saved, stopped.seen.trials)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: SequentialTest(good=0.8, bad=0.8), "bad lies below good, not 0.8 beside 0.8"),
        (lambda: SequentialTest(good=1.0), "good lies between 0 and 1, both excluded, not at 1.0"),
        (lambda: SequentialTest(alpha=0.5, beta=0.5), "alpha and beta together lie below 1, not at 1.0"),
        (lambda: TEXTBOOK.run([True], planned=0), "at least one trial is planned, not 0"),
        (lambda: TEXTBOOK.expected_trials(0.5), "the mean length is known at 0.99 and 0.94, not at 0.5"),
    ],
)
def test_what_is_no_test_is_refused(call, text: str) -> None:
    """Rates and error chances that make no test are named."""
    with pytest.raises(StatsInputError) as refused:
        call()

    assert text == refused.value.message
