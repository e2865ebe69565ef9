"""The news desk's stream: each line is one whole object, and the last one ends the story."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.react_lines import NO_ANSWER, ends_stream, error_line, react_line, react_lines
from harness.records.trace import (
    ErrorRaised,
    Event,
    EventData,
    FallbackUsed,
    FinalAnswer,
    LlmChunk,
    PhaseStarted,
    Progress,
    Thought,
    ToolCalled,
    ToolResult,
    TrialFinished,
    Warned,
)
from harness.testing.builders import make_event

KEYS: dict[str, set[str]] = {
    "thought": {"type", "content"},
    "action": {"type", "tool", "input"},
    "observation": {"type", "content"},
    "final_answer": {"type", "content"},
    "error": {"type", "content", "code"},
}

text = st.text(st.characters(), max_size=30) | st.sampled_from(["a\nb", "a\u2028b", "a\x85b", "\ud83d", "```json\n{}"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
results = text | values.map(lambda value: json.dumps(value, allow_nan=True))
shown: st.SearchStrategy[EventData] = st.one_of(
    st.builds(Thought, text=st.none() | text, source=st.sampled_from(["react_thought", "native"])),
    st.builds(ToolCalled, call_id=text, tool=text, args=st.none() | st.dictionaries(text, values, max_size=3)),
    st.builds(ToolResult, call_id=text, tool=text, ok=st.booleans(), text=results),
    st.builds(Warned, code=text, detail=text),
    st.builds(Progress, stage=text, value=st.floats(0, 1)),
    st.builds(FallbackUsed, origin=text, to=text, reason=text),
    st.builds(LlmChunk, call_span=text, index=st.just(0), text=text),
    st.builds(PhaseStarted, name=text),
    st.builds(FinalAnswer, text=text),
    st.builds(ErrorRaised, kind=text, message=text, fatal=st.booleans()),
    st.builds(TrialFinished, status=st.just("failed"), reason=text),
)
streams = st.lists(shown.map(make_event), max_size=12)


def lines(*data: EventData) -> list[dict[str, Any]]:
    """The lines of a trace made of *data*, decoded."""
    return [json.loads(line) for line in react_lines(map(make_event, data))]


def test_a_run_of_one_lookup_reads_as_its_document_draws_it() -> None:
    """Thought, action, observation, answer: exactly the keys that a client was promised."""
    seen = lines(
        PhaseStarted(name="agent"),
        Thought(text="Preciso contar.", source="react_thought"),
        ToolCalled(call_id="c1", tool="count_clusters", args={"prioridade": "IRRELEVANTE"}, source="json_action"),
        ToolResult(call_id="c1", tool="count_clusters", ok=True, text='{"total":8}'),
        FinalAnswer(text="Hoje há **8** notícias irrelevantes."),
        TrialFinished(status="completed"),
    )

    assert seen == [
        {"type": "thought", "content": "Preciso contar."},
        {"type": "action", "tool": "count_clusters", "input": {"prioridade": "IRRELEVANTE"}},
        {"type": "observation", "content": {"ok": True, "result": {"total": 8}}},
        {"type": "final_answer", "content": "Hoje há **8** notícias irrelevantes."},
    ]


@pytest.mark.parametrize(
    ("result", "content"),
    [
        (ToolResult(call_id="c", tool="t", ok=True, text="[1,2]"), {"ok": True, "result": [1, 2]}),
        (ToolResult(call_id="c", tool="t", ok=True, text="7 °C, rain"), {"ok": True, "result": "7 °C, rain"}),
        (
            ToolResult(call_id="c", tool="t", ok=False, text='{"error":"not_found","message":"no cluster 999"}'),
            {"ok": False, "error": "no cluster 999"},
        ),
        (ToolResult(call_id="c", tool="t", ok=False, text="gone"), {"ok": False, "error": "gone"}),
    ],
)
def test_an_observation_is_an_object_that_says_whether_it_is_ok(result: ToolResult, content: dict[str, Any]) -> None:
    """Lists and texts stand under `result`, failures under `error`."""
    [seen, _] = lines(result)

    assert seen == {"type": "observation", "content": content}


def test_a_failed_run_ends_with_its_error() -> None:
    """A client that got status 200 learns of the failure from the last line."""
    seen = lines(ErrorRaised(kind="llm_errors", message="o modelo não responde"), FinalAnswer(text="…", complete=False))

    assert seen == [{"type": "error", "content": "o modelo não responde", "code": "llm_errors"}]


@pytest.mark.parametrize(("reason", "code"), [("crash: ValueError", "crash: ValueError"), ("", NO_ANSWER)])
def test_a_run_that_just_stops_is_told(reason: str, code: str) -> None:
    """Without an answer and without an error the stream still ends with an error line."""
    seen = lines(TrialFinished(status="failed", reason=reason))

    assert seen == [{"type": "error", "content": "the run ended without an answer", "code": code}]


def test_what_a_user_must_not_see_is_not_in_the_stream() -> None:
    """Native thinking, chunks of JSON actions and progress have no line."""
    hidden = [
        Thought(text="raw", source="native"),
        LlmChunk(call_span="s", index=0, text='{"thought":'),
        Progress(stage="planejando", value=0.5),
        ErrorRaised(kind="retry", message="once more", fatal=False),
    ]

    assert [react_line(make_event(data)) for data in hidden] == [None, None, None, None]


@given(streams)
def test_each_line_is_one_object_with_the_keys_of_its_type(events: list[Event]) -> None:
    """Whatever texts are in it, a line survives UTF-8 and every reader's idea of a line break."""
    for line in react_lines(events):
        assert [line] == line.encode().decode().splitlines()
        fields = json.loads(line, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
        assert KEYS[fields["type"]] == set(fields)
        if fields["type"] == "observation":
            assert {"ok", "result" if fields["content"]["ok"] else "error"} == set(fields["content"])
        if fields["type"] == "action":
            assert isinstance(fields["input"], dict)


@given(streams)
def test_only_the_last_line_ends_the_story(events: list[Event]) -> None:
    """The last line is an answer or an error, and no other line is."""
    kinds = [json.loads(line)["type"] for line in react_lines(events)]

    assert kinds[-1] in ("final_answer", "error")
    assert not {"final_answer", "error"} & set(kinds[:-1])


@given(streams)
def test_event_by_event_is_the_same_stream(events: list[Event]) -> None:
    """Whoever projects events as they come sends what the finished trace gives."""
    sent: list[str] = []
    for event in events:
        line = react_line(event)
        sent += [line] if line is not None else []
        if ends_stream(event):
            break
    else:
        sent.append(list(react_lines(events))[-1])

    assert sent == list(react_lines(events))


def test_lines_are_made_as_events_come() -> None:
    """The action's line is there before its tool has run."""
    drawn: list[str] = []

    def coming() -> Any:
        for data in (ToolCalled(call_id="c", tool="t", args={}), ToolResult(call_id="c", tool="t", ok=True)):
            drawn.append(data.type)
            yield make_event(data)

    first = next(react_lines(coming()))

    assert {"type": "action", "tool": "t", "input": {}} == json.loads(first)
    assert ["tool_call"] == drawn


def test_half_a_character_is_replaced() -> None:
    """A model cut off in the middle of an emoji does not break the stream."""
    assert '{"type":"error","content":"\ufffd!","code":"x"}' == error_line("\ud83d!", "x")
