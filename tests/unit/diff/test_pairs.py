"""Which trials are held against each other."""

from __future__ import annotations

from harness.diff.pairs import Choice, paired
from harness.records.run import CaseVerdict


def verdict(agent="lean", model="scripted", set="shared", case="S1", trial=0):
    """A verdict of that cell."""
    return CaseVerdict(
        agent=agent, profile="reference", model=model, provenance="scripted", set=set, case=case, trial=trial,
        verdict="kept",
    )  # fmt: skip


def told(pairs):
    """The pairs and what is left, in few words."""
    return (
        [(a.agent, b.agent, a.case) for a, b in pairs.both],
        [c.case for c in pairs.only_a],
        [c.case for c in pairs.only_b],
    )


def test_the_same_cell_of_both_runs():
    """What is in one run only is named."""
    a, b = [verdict(), verdict(case="S2")], [verdict(case="S3"), verdict()]

    assert told(paired(a, b, Choice())) == ([("lean", "lean", "S1")], ["S2"], ["S3"])


def test_two_agents_are_held_against_each_other():
    """The first of the first run against the second of the second, case by case."""
    run = [verdict("lean"), verdict("deep"), verdict("lean", case="S2"), verdict("other")]

    assert told(paired(run, run, Choice(agents=("lean", "deep")))) == ([("lean", "deep", "S1")], ["S2"], [])


def test_two_models_are_held_against_each_other():
    """With one agent for both."""
    run = [verdict(), verdict(model="small"), verdict("deep"), verdict("deep", model="small")]

    both = paired(run, run, Choice(agents=("lean",), models=("scripted", "small"))).both
    assert [("scripted", "small")] == [(a.model, b.model) for a, b in both]


def test_flags_narrow_both_sides():
    """Case by glob, set and trial by name."""
    run = [verdict(), verdict(case="T1"), verdict(set="own"), verdict(trial=1)]

    assert told(paired(run, run, Choice(cases=("S*",), sets=("shared",), trial=1))) == (
        [("lean", "lean", "S1")],
        [],
        [],
    )
