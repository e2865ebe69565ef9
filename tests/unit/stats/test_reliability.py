"""pass@k and pass^k against enumeration of every choice of k trials, and the flakiness of a case."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import PassRow, StatsInputError, Tally, flakiness, pass_at_k, pass_hat_k, pass_table, tally

SMALL = Path(__file__).parent / "three_tasks.json"
OUTCOMES = st.lists(st.booleans(), min_size=1, max_size=8)
CASES = st.integers(1, 6).flatmap(
    lambda trials: st.lists(st.integers(0, trials).map(lambda passes: Tally(passes, trials)), min_size=1, max_size=6)
)


def tallies_of(rows: Iterable[dict[str, Any]]) -> list[Tally]:
    """Passes and trials of each task of a file in the form of τ-bench: rows of task_id, trial and reward."""
    tasks: dict[int, list[bool]] = {}
    for row in rows:
        tasks.setdefault(row["task_id"], []).append(row["reward"] == 1)
    return [tally(outcomes) for outcomes in tasks.values()]


@given(OUTCOMES, st.data())
def test_both_are_the_share_of_all_choices_of_k_trials(outcomes: list[bool], data: st.DataObject) -> None:
    """Choosing k of the trials in every way: any passes, and all pass, in exactly these shares."""
    k = data.draw(st.integers(1, len(outcomes)))
    chosen = list(combinations(outcomes, k))

    assert Fraction(sum(map(any, chosen)), len(chosen)) == pass_at_k(sum(outcomes), len(outcomes), k)
    assert Fraction(sum(map(all, chosen)), len(chosen)) == pass_hat_k(sum(outcomes), len(outcomes), k)


@given(CASES)
def test_the_table_starts_at_the_pass_rate_and_spreads(cases: list[Tally]) -> None:
    """Both begin at the mean rate; pass@k never falls with k, pass^k never rises, and neither leaves [0, 1]."""
    table = pass_table(cases)
    at, hat = [row.pass_at_k for row in table], [row.pass_hat_k for row in table]

    assert sum(Fraction(*case) for case in cases) / len(cases) == at[0] == hat[0]
    assert sorted(at) == at
    assert sorted(hat, reverse=True) == hat
    assert 0 <= hat[-1] <= at[-1] <= 1
    assert table == pass_table(cases[::-1])


def test_all_passing_is_no_power_of_the_rate() -> None:
    """Two passes of four make pass^2 one sixth, and not the quarter that the rate squared would promise."""
    assert Fraction(1, 6) == pass_hat_k(2, 4, 2)


def test_no_flattering_plug_in_for_any_passing() -> None:
    """One pass of four makes pass@2 one half, where 1 − (1 − p)² would say 7/16."""
    assert Fraction(1, 2) == pass_at_k(1, 4, 2)


def test_a_small_file_in_the_form_of_tau_bench() -> None:
    """Three tasks of four trials with 4, 2 and 0 passes give the table that hand and pencil give."""
    table = pass_table(tallies_of(json.loads(SMALL.read_text(encoding="utf-8"))))

    assert (
        PassRow(1, Fraction(1, 2), Fraction(1, 2)),
        PassRow(2, Fraction(11, 18), Fraction(7, 18)),
        PassRow(3, Fraction(2, 3), Fraction(1, 3)),
        PassRow(4, Fraction(2, 3), Fraction(1, 3)),
    ) == table


def test_the_table_ends_with_the_case_that_ran_least() -> None:
    """No case is spoken for beyond the trials that it had."""
    assert [1, 2] == [row.k for row in pass_table([Tally(3, 5), Tally(2, 2)])]


@pytest.mark.parametrize("k", [0, 5])
def test_more_than_there_are_is_refused(k: int) -> None:
    """k beyond the trials is refused, not extrapolated."""
    with pytest.raises(StatsInputError, match=f"k lies between 1 and the 4 trials that there are, not at {k}"):
        pass_hat_k(2, 4, k)


@pytest.mark.parametrize(
    ("cases", "text"), [([], "at least one case is needed"), ([Tally(0, 0)], "at least one trial is needed")]
)
def test_nothing_is_no_table(cases: list[Tally], text: str) -> None:
    """No case, and a case without a trial, have no table."""
    with pytest.raises(StatsInputError, match=text):
        pass_table(cases)


@given(st.lists(st.booleans(), min_size=2, max_size=12))
def test_flakiness_is_the_share_of_pairs_that_disagree(outcomes: list[bool]) -> None:
    """Of all pairs of trials, this share has one that passed and one that failed."""
    pairs = list(combinations(outcomes, 2))

    assert pytest.approx(sum(one != other for one, other in pairs) / len(pairs)) == flakiness(
        sum(outcomes), len(outcomes)
    )


def test_steady_cases_are_not_flaky() -> None:
    """Always passing and always failing are both steady; halves are as flaky as can be."""
    assert [0, 0] == [flakiness(5, 5), flakiness(0, 5)]
    assert max(range(11), key=lambda passes: flakiness(passes, 10)) == 5


@pytest.mark.parametrize("formula", [flakiness, lambda passes, trials: pass_hat_k(passes, trials, 1)])
def test_more_passes_than_trials_are_refused(formula) -> None:
    """Impossible counts have neither."""
    with pytest.raises(StatsInputError, match="passes lie between 0 and 3 trials, not at 4"):
        formula(4, 3)


def test_one_trial_says_nothing_about_flickering() -> None:
    """A single trial is refused rather than called steady."""
    with pytest.raises(StatsInputError, match="at least two trials are needed to see whether they disagree, not 1"):
        flakiness(1, 1)
