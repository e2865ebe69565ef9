"""Bodies that nobody should send: they end in a reply or in a `ModelError`, and never in anything else."""

from __future__ import annotations

import gzip
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects import ANTHROPIC, OPENAI_CHAT, OPENAI_EMBEDDINGS, ChatDialect, Dialect
from harness.errors import BadFileError
from harness.records.digest import canonical_json
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingReply, ModelReply, ThinkingBlock, ToolCall, Usage

JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        10**400,
        "",
        "x",
        "\ud83d",
        [],
        {},
        [[]],
        [{}],
        {"a": []},
        {"type": []},
        float("nan"),
        "9" * 5000,
    ]
)
KEYS = st.sampled_from(
    ["type", "index", "id", "error", "function", "usage", "content", "message", "delta", "tool_calls"]
)
REPLY = ModelReply(
    text="some text",
    tool_calls=(ToolCall("c1", "f", '{"a": 1}', {"a": 1}), ToolCall("c2", "g", "{}", {})),
    thinking=(ThinkingBlock("thinking", "hm", "sig"), ThinkingBlock("redacted", data="xx")),
    finish_reason="tool_calls",
    usage=Usage(10, 5, 1, 2),
    model="m",
)
WHOLE = {
    "openai_chat": OPENAI_CHAT.encode_reply(REPLY, id="i", created=1),
    "anthropic": ANTHROPIC.encode_reply(REPLY, id="i", created=1),
    "openai_embeddings": OPENAI_EMBEDDINGS.encode_reply(EmbeddingReply(((0.5, 1.0),), "m"), id="i", created=1),
}
STREAMS = {
    dialect.name: [event.decode() for event in dialect.encode_stream(REPLY, id="i", created=1)]
    for dialect in (OPENAI_CHAT, ANTHROPIC)
}
REQUESTS = {
    "openai_chat": {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}]},
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "tool_choice": {"function": {"name": "f"}},
        "temperature": 1,
        "response_format": {"type": "json_schema", "json_schema": {"schema": {}}},
    },
    "anthropic": {
        "model": "m",
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text"}]}]},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "a"}, {"type": "tool_use", "input": {}}],
            },
            {"role": "user", "content": [{"type": "image", "source": {"media_type": "image/png", "data": "aa"}}]},
        ],
        "tools": [{"name": "f", "input_schema": {}}],
        "tool_choice": {"type": "tool", "name": "f"},
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "output_config": {"effort": "low", "format": {"schema": {}}},
    },
    "openai_embeddings": {"model": "m", "input": ["a", "b"]},
}
HEADERS = st.sampled_from(
    [
        {},
        {"Content-Type": "text/event-stream"},
        {"content-encoding": "gzip"},
        {"content-encoding": "deflate"},
        {"retry-after": "nan"},
    ]
)
EACH = pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC, OPENAI_EMBEDDINGS], ids=lambda one: str(one.name))
EACH_CHAT = pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC], ids=lambda one: str(one.name))


def spoilt(data: st.DataObject, value: object) -> object:
    """*value* with something in it replaced, left out or added."""
    rare = data.draw(st.integers(0, 11))
    if rare == 0:
        return data.draw(JUNK)
    if isinstance(value, dict):
        kept = {key: spoilt(data, inner) for key, inner in value.items() if data.draw(st.integers(0, 15))}
        return kept | ({data.draw(KEYS): data.draw(JUNK)} if rare == 1 else {})
    return [spoilt(data, inner) for inner in value] if isinstance(value, list) else value


def read(dialect: Dialect, headers: dict[str, str], body: bytes, status: int = 200) -> None:
    """Read *body*; what comes of it can be written down."""
    try:
        canonical_json(dialect.decode_reply(status, headers, body, asked_model="m"))
    except ModelError as refused:
        assert refused.message  # noqa: PT017
        canonical_json(refused.message)
    canonical_json(dialect.unknown(headers, body))


@EACH
@given(data=st.data())
def test_spoilt_answers_end_well(dialect: Dialect, data: st.DataObject) -> None:
    """Any field may hold anything."""
    body = json.dumps(spoilt(data, json.loads(WHOLE[dialect.name]))).encode()

    read(dialect, {}, body, data.draw(st.sampled_from([200, 200, 400, 599])))


@EACH_CHAT
@given(data=st.data())
def test_spoilt_streams_end_well(dialect: ChatDialect, data: st.DataObject) -> None:
    """Any field of any event may hold anything, and events may be missing or out of order."""
    events = data.draw(st.lists(st.sampled_from(STREAMS[dialect.name]), max_size=12))
    stream = b""
    for event in events:
        head, _, value = event.rpartition("data: ")
        spoiled = json.dumps(spoilt(data, json.loads(value))) if value.startswith("{") else value.strip()
        stream += f"{head}data: {spoiled}\n\n".encode()

    read(dialect, {"content-type": "text/event-stream"}, stream)
    decoded = dialect.decode_stream(200, {"content-type": "text/event-stream"}, stream)
    canonical_json(decoded.chunks)


@EACH
@given(data=st.data())
def test_damaged_bytes_end_well(dialect: Dialect, data: st.DataObject) -> None:
    """Any byte may be missing, changed or added."""
    sound = WHOLE[dialect.name] if data.draw(st.booleans()) else "".join(STREAMS.get(dialect.name, [])).encode()
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(sound)), st.integers(0, len(sound)))))
    damaged = sound[:start] + data.draw(st.binary(max_size=8)) + sound[end if data.draw(st.booleans()) else start :]

    read(dialect, data.draw(HEADERS), damaged)
    read(dialect, data.draw(HEADERS), gzip.compress(damaged)[: data.draw(st.integers(0, 400))])


@EACH
@given(data=st.data())
def test_spoilt_requests_end_well(dialect: Dialect, data: st.DataObject) -> None:
    """A request is read, or refused as a bad file."""
    try:
        canonical_json(dialect.decode_request(json.dumps(spoilt(data, REQUESTS[dialect.name])).encode()))
    except BadFileError as refused:
        assert "bad-interaction" == refused.code  # noqa: PT017


@EACH
@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 10_000_000,
        b'{"a":' * 2_000_000,
        b'{"choices":[{"message":{"content":"x","tool_calls":[{"function":{"name":"f","arguments":' + b"[" * 100_000,
        b"data: " + b"[" * 5_000_000 + b"\n\n",
        b"data: {}\n\n" * 100_000,
        b"\n" * 5_000_000,
        b"<think>" * 500_000,
        b'{"error": "' + b"rate " * 1_000_000 + b'"}',
        gzip.compress(b"0" * 80_000_000, 1),
        b"9" * 5_000_000,
    ],
    ids=["array", "object", "arguments", "event", "events", "lines", "tags", "error", "gzip", "digits"],
)
def test_bombs_do_not_go_off(dialect: Dialect, bomb: bytes) -> None:
    """Depth, size and repetition are bounded, in time too."""
    start = time.monotonic()
    read(dialect, {}, bomb)
    read(dialect, {}, bomb, 400)

    assert time.monotonic() - start < 10
