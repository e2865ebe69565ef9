"""Traces on disk: what is written is read, and what is no trace is refused by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError
from harness.records.messages import Usage
from harness.records.trace import (
    EVENT_TYPES,
    AskedCall,
    CallError,
    Effect,
    Event,
    FinalAnswer,
    LlmResult,
    ToolCalled,
    ToolResult,
    TrialFinished,
    Warned,
)
from harness.records.trace_file import decode_events, encode_events

text = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
data = st.one_of(
    st.builds(FinalAnswer, text=text, complete=st.booleans(), chunks=st.integers(0, 9)),
    st.builds(Warned, code=text, detail=text),
    st.builds(
        ToolCalled,
        call_id=text,
        tool=text,
        args=st.none() | st.dictionaries(text, json_values, max_size=3),
        args_raw=text,
    ),
    st.builds(
        ToolResult,
        call_id=text,
        tool=text,
        ok=st.booleans(),
        text=text,
        effects=st.lists(st.builds(Effect, text, text, json_values, json_values), max_size=2).map(tuple),
    ),
    st.builds(
        LlmResult,
        call_span=text,
        text=text,
        tool_calls=st.lists(st.builds(AskedCall, text, text, text, st.none()), max_size=2).map(tuple),
        usage=st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
        error=st.none() | st.builds(CallError, text, text, st.none()),
    ),
    st.builds(TrialFinished, status=st.sampled_from(["completed", "failed"]), reason=text),
)
events = st.lists(
    st.tuples(data, st.none() | st.integers(1, 9), text).map(
        lambda parts: Event("t", 0, 0, parts[0].type, parts[0], span=parts[2], turn=parts[1])
    ),
    max_size=5,
).map(tuple)


@given(events)
def test_what_is_written_is_read(written: tuple[Event, ...]) -> None:
    """A trace comes back from disk as it was, whatever its texts hold."""
    assert written == decode_events(encode_events(written))


def test_every_event_type_has_a_record() -> None:
    """The vocabulary is complete, and each record knows its own name."""
    assert {
        "trial_started", "config_resolved", "phase_started", "phase_finished", "llm_call", "llm_chunk", "llm_result",
        "thinking", "tool_call", "tool_result", "plan_updated", "solution", "verification", "progress", "state_saved",
        "state_loaded", "fallback_used", "warning", "final_answer", "error", "trial_finished",
    } == set(EVENT_TYPES)  # fmt: skip
    assert all(name == record.type for name, record in EVENT_TYPES.items())


@pytest.mark.parametrize(
    ("line", "because"),
    [
        (b"{", "runs/x.jsonl:2: not an event: Input data was truncated"),
        (b'{"trial_id":"t","seq":0,"ts":0,"type":"tea","data":{}}', "runs/x.jsonl:2: no event type `tea`"),
        (
            b'{"trial_id":"t","seq":0,"ts":0,"type":"warning","data":{},"v":7}',
            "runs/x.jsonl:2: trace format 7 is not known to this version (it reads 1)",
        ),
        (
            b'{"trial_id":"t","seq":0,"ts":0,"type":"warning","data":{}}',
            "runs/x.jsonl:2: not an event: Object missing required field `code`",
        ),
    ],
)
def test_what_is_no_event_is_named_by_line(line: bytes, because: str) -> None:
    """A line that cannot be read is refused with the file, its number and the reason."""
    good = b'{"trial_id":"t","seq":0,"ts":0,"type":"warning","data":{"code":"c"}}\n'

    with pytest.raises(BadFileError) as caught:
        decode_events(good + line + b"\n", path="runs/x.jsonl")

    assert because == caught.value.message
