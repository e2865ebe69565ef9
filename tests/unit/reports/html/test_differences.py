"""Diffs in the page: the list is in the index, each diff in a chunk, and what is the same needs none."""

from __future__ import annotations

from harness.diff.trajectories import diff_traces
from harness.reports.html.differences import Difference, Differences
from harness.testing.builders import answer, make_trace, model_turn, tool_use

from .pages import page_of, run_of, verdict

A, B = verdict("S1"), verdict("S1", "broken")


def trace(city: str):
    """A trial that looks up the weather of a city."""
    return (
        make_trace(
            model_turn(calls=[("get_weather", {"city": city})]), tool_use("get_weather", {"city": city}), answer("7")
        ),
    )


def told(tmp_path, *pairs: Difference, **changes):
    """The page with these pairs, and its list of them."""
    fields = {"kind": "run", "a": "r0", "b": "r1", "pairs": iter(pairs)}
    page = page_of(tmp_path, run_of(A), differences=(Differences(**(fields | changes)),))
    (diffs,) = page.index["diffs"]
    return page, diffs


def test_a_difference_is_listed_and_packed(tmp_path):
    """The list says what differs and where they part; the chunk holds every edit."""
    page, diffs = told(tmp_path, Difference(a=A, b=B, diff=diff_traces(trace("Berlin"), trace("Bonn"))))
    (pair,) = diffs["pairs"]

    assert ("kept", "broken", False) == (pair["a"]["verdict"], pair["b"]["verdict"], pair["same"])
    assert '`get_weather` with `city` "Berlin", against "Bonn"' == pair["because"]
    assert 1 == pair["counts"]["replace"]
    assert "replace" in [edit["kind"] for edit in page.item(pair["chunk"], pair["place"])["edits"]]


def test_what_is_the_same_takes_no_room(tmp_path):
    """It is counted, and nothing of it is packed."""
    _, diffs = told(tmp_path, Difference(a=A, b=A, diff=diff_traces(trace("Bonn"), trace("Bonn"))))
    (pair,) = diffs["pairs"]

    assert pair["same"]
    assert "chunk" not in pair


def test_a_trial_without_a_trace_is_named(tmp_path):
    """With what is wrong."""
    _, diffs = told(tmp_path, Difference(a=A, b=B, diff=None, why_not="no trace was kept"))

    assert (True, "no trace was kept") == (diffs["pairs"][0]["unread"], diffs["pairs"][0]["because"])


def test_what_has_no_counterpart_is_named(tmp_path):
    """Trials of one run only, and pairs that were left out."""
    _, diffs = told(tmp_path, only_a=(A.cell,), left_out=3)

    assert [{"set": "shared", "case": "S1", "agent": "lean_react", "model": "scripted", "trial": 0}] == diffs["only_a"]
    assert ([], 3) == (diffs["only_b"], diffs["left_out"])
