"""What a dialect does not know is named."""

from __future__ import annotations

import json

import pytest

from harness.dialects import ANTHROPIC, OPENAI_CHAT, ChatDialect
from harness.dialects.unknown import unknown_in_openai
from harness.records.messages import Json

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def completion(message: Json, **fields: Json) -> Json:
    """A chat completion."""
    return {"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", **message}}], **fields}


@pytest.mark.parametrize(
    ("dialect", "answer", "unknown"),
    [
        (OPENAI_CHAT, completion({"content": "x"}), ()),
        (OPENAI_CHAT, completion({"content": "x", "audio": None}), ()),
        (OPENAI_CHAT, completion({"content": "x", "audio": {"id": "a"}}, hologram=1), ("hologram", "message.audio")),
        (OPENAI_CHAT, completion({"tool_calls": [{**CALL, "extra_content": {"x": 1}}]}), ("tool_call.extra_content",)),
        (
            OPENAI_CHAT,
            completion({"tool_calls": [{**CALL, "function": {"name": "multi_tool_use.parallel"}}]}),
            ("tool_call multi_tool_use.parallel",),
        ),
        (OPENAI_CHAT, {"choices": [{"index": 0}, {"index": 1}, {"index": 2}]}, ("a second choice",)),
        (ANTHROPIC, {"type": "message", "content": [{"type": "text", "text": "x", "citations": None}]}, ()),
        (
            ANTHROPIC,
            {"type": "message", "content": [{"type": "hologram"}, {"type": []}]},
            ("block hologram", "block []"),
        ),
        (ANTHROPIC, {"type": "message", "content": [{"type": "text", "shade": 1}], "mood": 1}, ("mood", "text.shade")),
    ],
)
def test_unknown_fields_of_answers_are_listed(dialect: ChatDialect, answer: Json, unknown: tuple[str, ...]) -> None:
    """Each once, in order; fields that are null say nothing."""
    assert unknown == dialect.unknown({}, json.dumps(answer).encode())


def test_unknown_fields_of_events_are_listed() -> None:
    """Streams are looked through event by event; events that cannot be read are left to the reply."""
    event = b'data: {"choices": [{"index": 0, "delta": {"content": "x", "audio": {}}}]}\n\n'
    start = b'data: {"type": "content_block_start", "content_block": {"type": "text", "text": "", "shade": 1}}\n\n'

    assert ("message.audio",) == OPENAI_CHAT.unknown({}, event + b"data: oops\n\n" + event)
    assert ("event weather", "text.shade") == ANTHROPIC.unknown({}, b'data: {"type": "weather"}\n\n' + start)


def test_the_list_is_bounded() -> None:
    """A hostile body names at most fifty, of eighty characters each."""
    assert 50 == len(unknown_in_openai({str(n): 1 for n in range(1000)}))
    assert ["x" * 80] == unknown_in_openai({"x" * 1000: 1})
