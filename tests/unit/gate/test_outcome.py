"""Totals and exit codes of a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ExitCode
from harness.gate.outcome import exit_code_of, strongest, totals_of
from harness.records.run import CaseVerdict, Totals


def verdict(state: str, *, known: bool = False) -> CaseVerdict:
    """Make a verdict in *state*."""
    return CaseVerdict(
        agent="a",
        profile="reference",
        model="m",
        provenance="local",
        set="s",
        case="c",
        trial=0,
        verdict=state,
        known=known,
    )


def test_totals_count_known_failures_among_the_broken():
    """A known failure is broken as well."""
    found = totals_of([verdict("kept"), verdict("broken"), verdict("broken", known=True), verdict("could_not_check")])

    assert Totals(trials=4, kept=1, broken=2, known=1, could_not_check=1) == found


@pytest.mark.parametrize(
    ("totals", "code"),
    [
        (Totals(trials=2, kept=2), ExitCode.PASS),
        (Totals(trials=2, kept=1, broken=1, known=1), ExitCode.PASS),
        (Totals(trials=2, kept=1, broken=1), ExitCode.REGRESSED),
        (Totals(trials=2, broken=1, could_not_check=1), ExitCode.COULD_NOT_CHECK),
        (Totals(), ExitCode.NOTHING_COMPARED),
    ],
)
def test_the_exit_code_follows_from_the_totals(totals, code):
    """Known failures pass; what could not be checked goes before a regression."""
    assert code == exit_code_of(totals)


def test_the_strongest_code_wins():
    """The order is 2, 3, 1, 4, 5, 0."""
    order = [ExitCode(code) for code in (2, 3, 1, 4, 5, 0)]

    assert order == [strongest(order[place:]) for place in range(6)]


@given(st.lists(st.tuples(st.sampled_from(["kept", "broken", "could_not_check"]), st.booleans())))
def test_only_checked_runs_pass(states):
    """Exit 0 means: something ran, all of it was checked, and what broke is known; exit 1 means that something broke."""
    verdicts = [verdict(state, known=known) for state, known in states]
    code = exit_code_of(totals_of(verdicts))

    unchecked = any(v.verdict == "could_not_check" for v in verdicts)
    regressed = any(v.verdict == "broken" and not v.known for v in verdicts)
    assert (code == ExitCode.PASS) == (bool(verdicts) and not unchecked and not regressed)
    assert (code == ExitCode.REGRESSED) == (regressed and not unchecked)
