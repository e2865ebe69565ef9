"""Trends: sums for each design, provenances apart, and what changed before each run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.records.messages import Usage
from harness.reports.history.trend import restless, trends

from .made import local, past_trials, run, trial


def test_designs_models_and_provenances_stand_apart():
    """A scripted run never lifts the rate of a real model."""
    found = trends([run(1, trial("S1"), trial("S2", "broken"), local("S1", "broken"))])

    assert [("lean_react", "qwen", "local", 0.0), ("lean_react", "scripted", "scripted", 0.5)] == [
        (series.agent, series.model, series.provenance, series.points[0].kept_rate) for series in found
    ]


def test_a_point_sums_its_trials():
    """Verdicts, calls, tokens, cost and time."""
    trials = [
        local("S1", cost_usd=0.25, thinking_tokens=5),
        local("S2", "broken", known=True, cost_usd=0.5, cached_tokens=7),
        local("S3", "could_not_check", cost_usd=0.0),
    ]
    point = trends([run(1, *trials)])[0].points[0]

    assert (3, 1, 1, 1, 1) == (point.trials, point.kept, point.broken, point.known, point.could_not_check)
    assert (6, 3, 24, 0.75) == (point.llm_calls, point.tool_calls, point.recorded_ms, point.cost_usd)
    assert Usage(input=1800, output=54, cached=7, thinking=5) == point.tokens
    assert 1 / 3 == point.kept_rate


def test_a_cost_is_known_where_each_trial_has_a_price():
    """A sum with a hole in it would look like a saving."""
    assert trends([run(1, local("S1", cost_usd=0.25), local("S2"))])[0].points[0].cost_usd is None


def test_only_new_recordings_are_samples():
    """The second run replays what the first recorded; the third brings one new answer."""
    first, again = run(1, local("S1"), local("S2")), run(2, local("S1"), local("S2"))
    anew = run(3, local("S1", cassette_digest="other"), local("S2"))
    points = trends([first, again, anew])[0].points

    assert [(2, ()), (0, ()), (1, ("recordings",))] == [(point.new_recordings, point.changed) for point in points]


def test_what_changed_is_named_from_the_locks():
    """Prompts, code and the like, where both runs say what they had."""
    changed = {"golden": "g1", "prompt": "new", "code": "new", "contracts": "k1", "judge": "only now"}
    points = trends(
        [run(1, trial("S1")), run(2, trial("S1", lock=changed)), run(3, trial("S1", lock={}), trial("S2"))]
    )[0].points

    assert [(), ("prompt", "code"), ("cases",)] == [point.changed for point in points]


def test_a_design_that_skips_a_run_has_no_point_there():
    """Nothing is invented for a run without it."""
    found = trends([run(1, trial("S1")), run(2, local("S1")), run(3, trial("S1"))])

    assert [["09:02"], ["09:01", "09:03"]] == [[point.began[11:16] for point in series.points] for series in found]


def test_cases_that_were_not_always_kept_have_a_mark_for_each_run():
    """A case stands for its trials, by the gravest; one that was always kept is not there."""
    runs = [
        run(1, trial("S1"), trial("S2", "broken"), trial("S3")),
        run(2, trial("S1"), trial("S1", "broken", trial=1), trial("S2", "broken", known=True)),
        run(3, trial("S1", "could_not_check", code="cassette-miss"), trial("S1", trial=1), trial("S3")),
    ]

    assert [("S1", ".x?"), ("S2", "xk-")] == [(case.case, case.states) for case in restless(runs)]


@given(st.lists(st.lists(past_trials(), max_size=5, unique_by=lambda one: one.place), max_size=4))
def test_nothing_is_counted_twice_or_lost(runs):
    """The points of all series together are the trials of all runs."""
    past = [run(number, *trials) for number, trials in enumerate(runs)]
    found = [point for series in trends(past) for point in series.points]

    assert sum(map(len, runs)) == sum(point.trials for point in found)
    assert all(point.kept + point.broken + point.could_not_check == point.trials for point in found)
    assert all(len(case.states) == len(past) for case in restless(past))
