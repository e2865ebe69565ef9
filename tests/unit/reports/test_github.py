"""Workflow commands: one line each, and no text can add another."""

from __future__ import annotations

import re

from hypothesis import given

from harness.reports.github import MOST_SHOWN, workflow_commands

from .ci_runs import ALL, FACTS, hostile_runs, run_of, verdict

COMMAND = re.compile(r"::(error|warning|notice) ((?:file=[^:,]*,)?(?:line=\d+,)?title=[^:,]*)::(.+)")


@given(hostile_runs)
def test_each_line_is_one_command_of_ours(record):
    """Whatever the texts hold, each line parses as the runner parses it."""
    lines = workflow_commands(record).split("\n")

    assert [] == [line for line in lines if line and not COMMAND.fullmatch(line)]
    levels = [line.partition(" ")[0] for line in lines]
    assert all(levels.count(level) <= MOST_SHOWN for level in ("::error", "::warning", "::notice"))
    if any(each.verdict != "kept" and not each.known for each in record.results):
        assert "::error" in levels


def test_a_run_of_each_kind():
    """At the golden case's own line, the gravest first."""
    assert workflow_commands(ALL, prefix="bot").split("\n") == [
        (
            "::error file=bot/goldensets/shared.yaml,line=14,title=COULD NOT CHECK cassette-missing::"
            "COULD NOT CHECK cassette-missing: no recording of this trial%0A"
            "lean_react × scripted on shared/S4, trial 0, answered by: scripted%0Aat bot/goldensets/shared.yaml:14"
        ),
        (
            "::error file=bot/goldensets/shared.yaml,line=17,title=BROKEN facts::BROKEN facts: the answer does not say 7%0A"
            "lean_react × scripted on shared/S2, trial 0, answered by: scripted%0A"
            "evidence: turn 2; events 4, 9; shortest 9%0Acassette: cassettes/S2.0.yaml%0Aat bot/goldensets/shared.yaml:17"
        ),
        (
            "::warning file=bot/goldensets/shared.yaml,line=17,title=KNOWN FAILURE facts::"
            "KNOWN FAILURE facts: the answer does not say 7%0Alean_react × small on shared/S3, trial 0, answered by: local%0A"
            "evidence: turn 2; events 4, 9; shortest 9%0Aat bot/goldensets/shared.yaml:17"
        ),
        (
            "::notice file=bot/goldensets/shared.yaml,line=14,title=ADVISORY CX15::ADVISORY CX15: a table is ragged%0A"
            "lean_react × scripted on shared/S5, trial 0, answered by: scripted%0Aat bot/goldensets/shared.yaml:14"
        ),
    ]


def test_more_than_github_shows_are_counted():
    """The tenth says how many there are beside the nine."""
    record = run_of(*(verdict(f"S{number}", "broken", findings=(FACTS,)) for number in range(15)))
    lines = workflow_commands(record).split("\n")

    assert (len(lines), lines[-1]) == (
        10,
        "::error title=tapegate::and 6 more of this level; the summary of the job names them",
    )


def test_nothing_wrong_is_nothing_said():
    """A green run leaves no annotation."""
    assert workflow_commands(run_of(verdict("S1"))) == ""
