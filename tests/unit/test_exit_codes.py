"""Totals and exit codes of a run: what CI relies on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ExitCode
from harness.evaluate import exit_code_of, totals_of
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


KEPT, BROKEN, UNCHECKED = verdict("kept"), verdict("broken"), verdict("could_not_check")
KNOWN = verdict("broken", known=True)


def test_totals_count_known_failures_among_the_broken():
    """A known failure is broken as well."""
    found = totals_of([KEPT, BROKEN, KNOWN, UNCHECKED])

    assert Totals(trials=4, kept=1, broken=2, known=1, could_not_check=1) == found


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([KEPT, KEPT], ExitCode.PASS),
        ([KEPT, KNOWN], ExitCode.PASS),
        ([KEPT, BROKEN, KNOWN], ExitCode.REGRESSED),
        ([BROKEN, UNCHECKED], ExitCode.COULD_NOT_CHECK),
        ([], ExitCode.NOTHING_COMPARED),
    ],
)
def test_the_exit_code_follows_from_the_verdicts(verdicts, code):
    """Known failures pass; what could not be checked goes before a regression; nothing is no pass."""
    assert code == exit_code_of(verdicts)


@given(st.lists(st.sampled_from([KEPT, BROKEN, KNOWN, UNCHECKED])))
def test_only_checked_runs_pass(verdicts):
    """Exit 0 means: something ran, all of it was checked, and what broke is known; exit 1 means that something broke."""
    code = exit_code_of(verdicts)

    assert (code == ExitCode.PASS) == (bool(verdicts) and BROKEN not in verdicts and UNCHECKED not in verdicts)
    assert (code == ExitCode.REGRESSED) == (BROKEN in verdicts and UNCHECKED not in verdicts)


@given(st.lists(st.sampled_from([KEPT, BROKEN, KNOWN, UNCHECKED]), min_size=1))
def test_a_failure_more_never_turns_red_into_green(verdicts):
    """Adding a broken trial never makes a run pass."""
    assert exit_code_of([*verdicts, BROKEN]) != ExitCode.PASS
