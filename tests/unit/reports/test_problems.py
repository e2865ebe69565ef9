"""What a run has to say to CI: nothing that is not kept is left out."""

from __future__ import annotations

import pytest
from hypothesis import given

from harness.records.finding import Finding
from harness.reports.problems import KINDS, place, problems, problems_of

from .ci_runs import ALL, BROKEN, KNOWN, UNCHECKED, hostile_runs, verdict, verdicts


@given(verdicts)
def test_every_trial_that_is_not_kept_has_a_problem_of_its_kind(found):
    """Whatever findings a verdict has: a report cannot be green by accident."""
    kinds = {problem.kind for problem in problems_of(found)}

    if found.verdict == "could_not_check":
        assert "could_not_check" in kinds
    if found.verdict == "broken":
        assert ("known" if found.known else "broken") in kinds


@given(hostile_runs)
def test_the_gravest_come_first(record):
    """Formats that show only some show these."""
    ranks = [KINDS.index(problem.kind) for problem in problems(record)]

    assert sorted(ranks) == ranks


def test_one_of_each_kind():
    """In the order of gravity, with the golden case's file and line."""
    assert [
        ("could_not_check", "cassette-missing", "goldensets/shared.yaml:14"),
        ("broken", "facts", "goldensets/shared.yaml:17"),
        ("known", "facts", "goldensets/shared.yaml:17"),
        ("advisory", "CX15", "goldensets/shared.yaml:14"),
    ] == [(problem.kind, problem.rule, problem.at) for problem in problems(ALL)]


def test_the_text_names_the_trial_who_answered_and_the_evidence():
    """All that a reader needs to go on."""
    (problem,) = problems_of(BROKEN, prefix="services/bot")

    assert problem.text == (
        "BROKEN facts: the answer does not say 7\n"
        "lean_react × scripted on shared/S2, trial 0, answered by: scripted\n"
        "evidence: turn 2; events 4, 9; shortest 9\n"
        "cassette: cassettes/S2.0.yaml\n"
        "at services/bot/goldensets/shared.yaml:17"
    )
    assert problems_of(KNOWN)[0].text.startswith("KNOWN FAILURE facts: ")
    assert problems_of(UNCHECKED)[0].text.startswith("COULD NOT CHECK cassette-missing: no recording of this trial\n")


def test_a_contract_that_failed_itself_is_no_failure_of_the_agent():
    """Broken and could not check are told apart within one trial."""
    crashed = Finding(contract="CX2", state="could_not_check", because="the contract itself failed")
    found = problems_of(verdict("S1", "could_not_check", findings=(BROKEN.findings[1], crashed)))

    assert [("facts", "broken"), ("CX2", "could_not_check")] == [(problem.rule, problem.kind) for problem in found]


@pytest.mark.parametrize(
    ("at", "prefix", "expected"),
    [
        ("a/b.yaml:3", "", ("a/b.yaml", 3)),
        ("a/b.yaml:3", "x/", ("x/a/b.yaml", 3)),
        ("a:b.yaml", "", ("a:b.yaml", 0)),
        ("", "x", ("", 0)),
        ("a.yaml:٣", "", ("a.yaml:٣", 0)),
    ],
)
def test_places(at, prefix, expected):
    """Only ASCII digits after the last colon are a line."""
    assert expected == place(at, prefix)
