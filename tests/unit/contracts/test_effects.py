"""CX9: declared effects against the store."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.contracts.effects import declared_effects, net_changes
from harness.records.trace import Effect
from harness.testing.builders import answer, check, make_trace, reasons, tool_use

CHANGED = Effect("cluster", "120", "P3", "P2")


def test_cx9_said_and_done():
    """A write that stands in result and store keeps CX9; a trial without writes does not trigger it."""
    trace = make_trace(tool_use("update", effect="write", effects=[CHANGED]), answer("ok"))

    assert ["kept"] == reasons(check(declared_effects, trace))
    assert ["vacuous"] == reasons(check(declared_effects, make_trace(tool_use("read"))))


def test_cx9_said_and_not_done():
    """A success that the store knows nothing of breaks CX9; the witness is the result that says so."""
    trace = make_trace(tool_use("update", effect="write", effects=[CHANGED]), finished={"store_diff": ()})

    finding = check(declared_effects, trace)[0]

    assert "cluster 120: a tool reports a change that is not in the store" == finding.because
    assert (2, 3) == finding.witness


def test_cx9_done_and_not_said():
    """A change that no result reports, or that differs from the report, breaks CX9."""
    silent = make_trace(tool_use("read"), finished={"store_diff": (CHANGED,)})
    other = Effect("cluster", "120", "P3", "P1")
    differs = make_trace(tool_use("update", effects=[CHANGED]), finished={"store_diff": (other,)})

    assert ["cluster 120: the store changed, and no tool result says so"] == reasons(check(declared_effects, silent))
    assert ["cluster 120: a tool reports 'P3' → 'P2', the store has 'P3' → 'P1'"] == reasons(
        check(declared_effects, differs)
    )


def test_cx9_failed_call_with_effects():
    """A failed call that says it changed something breaks CX9."""
    trace = make_trace(tool_use("update", error="timeout", effects=[CHANGED]), finished={"store_diff": ()})

    assert ["update failed, yet says that it changed something"] == reasons(check(declared_effects, trace))


def test_applied_twice_is_one_change():
    """Two writes of one row are one change from its first state to its last."""
    effects = [Effect("f", "vera", "Neutral", "Happy"), Effect("f", "vera", "Happy", "Sad")]

    assert {("f", "vera"): ("Neutral", "Sad")} == net_changes(effects)


@given(st.lists(st.integers(0, 3), min_size=1))
def test_net_change_depends_on_the_ends_alone(states):
    """Whatever a row went through, only its first and last state count, and a way back to the start is no change."""
    effects = [Effect("row", "1", before, after) for before, after in zip([0, *states], states, strict=False)]
    expected = {("row", "1"): (0, states[-1])} if states[-1] else {}

    assert expected == net_changes(effects)
