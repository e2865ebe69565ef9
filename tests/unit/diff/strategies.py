"""Trajectories for properties: few tools, arguments and texts, so that the same ones come again."""

from __future__ import annotations

from hypothesis import strategies as st

from harness.records.messages import Usage
from harness.records.trajectory import Call, Trajectory, Turn

leaves = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 0.5, "", "a", "b c", "x" * 70])
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)
texts = st.text(st.sampled_from("ab \n.天日"), max_size=30)
calls = st.builds(
    Call,
    tool=st.sampled_from(["get", "set"]),
    args=st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=1),
    ok=st.sampled_from([True, None]),
    result=st.sampled_from(["", "r"]),
)
turns = st.builds(
    Turn,
    purpose=st.sampled_from(["agent", "plan"]),
    text=st.sampled_from(["", "well", "well then"]),
    error=st.sampled_from(["", "timeout"]),
    calls=st.lists(calls, max_size=3).map(tuple),
    usage=st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
    cost_usd=st.sampled_from([None, 0.5]),
)
trajectories = st.builds(
    Trajectory,
    turns=st.lists(turns, max_size=6).map(tuple),
    answer=texts,
    outcome=st.dictionaries(st.sampled_from("ab"), leaves, max_size=2),
)
