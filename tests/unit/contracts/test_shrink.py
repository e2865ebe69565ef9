"""The shortest sub-trace that still breaks a contract."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import broken, contract
from harness.contracts.shrink import minimise
from harness.testing.builders import answer, check, make_trace, model_turn, tool_use


@contract("pair")
def pair(view):
    """No write after a search."""
    searches = [use for use in view.uses if use.tool == "search"]
    for use in view.uses:
        if use.tool == "write" and any(search.event.seq < use.event.seq for search in searches):
            yield broken(use.event, "a write after a search")


def test_only_what_is_needed_is_left():
    """Of a long trace only the two calls are left, though the witness names one of them."""
    trace = make_trace(
        model_turn(),
        tool_use("read"),
        tool_use("search"),
        model_turn(),
        tool_use("read"),
        tool_use("write"),
        answer("x"),
    )

    finding = check(pair, trace)[0]

    assert ((11,), (5, 11)) == (finding.witness, finding.shortest)


@given(st.sets(st.integers(0, 30), max_size=12), st.data())
def test_minimise_finds_exactly_the_needed_events(noise, data):
    """Whatever stands around them, exactly the needed events are left."""
    events = sorted(noise | {31, 32, 33})
    needed = data.draw(st.sets(st.sampled_from(events), min_size=1, max_size=4))

    assert sorted(needed) == minimise(events, lambda rest: needed <= set(rest))


def test_minimise_of_what_needs_nothing():
    """If the empty trace breaks already, nothing is needed."""
    assert [] == minimise([1, 2], lambda rest: True)
