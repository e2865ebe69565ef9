"""
The dialects on recordings made by others: every chat completion and every Anthropic message in a file that plain vcrpy
loads is read to the text, calls, finish reason and usage that an independent reader found.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from harness.dialects import ChatDialect, dialect_of
from harness.records.faults import ModelError

pytestmark = pytest.mark.realdata

READ = {"chat.completions": "openai_chat", "messages": "anthropic", "embeddings": "openai_embeddings"}
FINISH = {"end_turn": "stop", "stop_sequence": "stop", "pause_turn": "stop", "tool_use": "tool_calls"}
FINISH |= {"function_call": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}


class Recorded(NamedTuple):
    """One interaction and what is expected of it."""

    file: str
    expected: dict[str, Any]
    uri: str
    request_body: bytes
    headers: dict[str, str]
    body: bytes

    @property
    def name(self) -> str:
        """How a failure names it."""
        return f"{self.file}[{self.expected['i']}]"

    @property
    def dialect(self) -> ChatDialect:
        """The dialect that reads it."""
        dialect = dialect_of(self.uri)
        assert dialect is not None
        assert dialect.name != "openai_embeddings"
        return dialect


@pytest.fixture(scope="module")
def recorded(realdata: Path) -> list[Recorded]:
    """Every interaction of every file that plain vcrpy loads."""
    return list(interactions(realdata))


@pytest.fixture(scope="module")
def chats(recorded: list[Recorded]) -> list[Recorded]:
    """Those of a chat API."""
    found = [one for one in recorded if READ.get(one.expected["api"]) in {"openai_chat", "anthropic"}]
    assert found
    return found


def interactions(realdata: Path) -> Iterator[Recorded]:
    """Read the files as plain YAML: a reader of its own, so that nothing but the dialects is tested."""
    for file in json.loads((realdata / "cassettes" / "expected.json").read_text(encoding="utf-8")):
        if file["vcrpy_9_4_2_load"] != "ok":
            continue
        document = yaml.load((realdata / file["file"]).read_bytes(), yaml.CSafeLoader)
        for expected, kept in zip(file["interactions"], document["interactions"], strict=True):
            request, response = kept["request"], kept["response"]
            headers = {
                name: values if isinstance(values, str) else values[0] for name, values in response["headers"].items()
            }
            body = as_bytes((response.get("body") or {}).get("string"))
            yield Recorded(file["file"], expected, request["uri"], as_bytes(request.get("body")), headers, body)


def as_bytes(body: str | bytes | None) -> bytes:
    """A recorded body as bytes."""
    return body if isinstance(body, bytes) else (body or "").encode()


def test_each_interface_is_read_or_refused(recorded: list[Recorded], capsys: pytest.CaptureFixture[str]) -> None:
    """The path tells the dialect, and every other interface has none; the refused ones are printed."""
    refused = Counter(one.expected["api"] for one in recorded if dialect_of(one.uri) is None)
    with capsys.disabled():
        print("\nrefused:", ", ".join(f"{api} ×{count}" for api, count in refused.most_common()))  # noqa: T201
    found = {one.name: getattr(dialect_of(one.uri), "name", None) for one in recorded}

    assert {one.name: READ.get(one.expected["api"]) for one in recorded} == found


def test_replies_are_read_as_others_read_them(chats: list[Recorded]) -> None:
    """Text, calls, finish reason, usage, model and the length of the reasoning."""
    differing = {}
    for one in chats:
        if one.expected["status"] >= 400:
            continue
        reply = one.dialect.decode_reply(one.expected["status"], one.headers, one.body)
        found = {
            "text_len": len(reply.text),
            "text_sha256": hashlib.sha256(reply.text.encode()).hexdigest()[:16],
            "tool_calls": [{"name": call.name, "arguments": call.args, "id": call.id} for call in reply.tool_calls],
            "finish": reply.finish_reason,
            "usage": {"input": reply.usage.input, "output": reply.usage.output},
            "response_model": reply.model,
            "reasoning_len": sum(len(block.text) for block in reply.thinking),
        }
        if wanted(one, found) != found:
            differing[one.name] = (wanted(one, found), found)

    assert {} == differing


def wanted(one: Recorded, found: dict[str, Any]) -> dict[str, Any]:
    """What is expected of a reply, in our words."""
    expected = one.expected
    calls = [
        call | {"id": call.get("id") or ours["id"]}  # an id that was not sent is made up
        for call, ours in zip(expected["tool_calls"], [*found["tool_calls"], *expected["tool_calls"]], strict=False)
    ]
    finish = FINISH.get(expected["finish"], expected["finish"]) or "stop"
    if finish == "stop" and calls and not expected.get("stream_events"):
        finish = "tool_calls"  # a forced tool; litellm says so for whole answers only
    usage = expected["usage"] or {"input": 0, "output": 0}
    return {
        "text_len": expected["text_len"],
        "text_sha256": expected["text_sha256"],
        "tool_calls": calls,
        "finish": finish,
        "usage": {side: usage[side] or 0 for side in ("input", "output")},
        "response_model": expected["response_model"] or "",
        "reasoning_len": expected.get("reasoning_len", 0),
    }


def test_errors_keep_the_providers_words(chats: list[Recorded]) -> None:
    """An error response raises what its body says."""
    for one in chats:
        if one.expected["status"] < 400:
            continue
        with pytest.raises(ModelError) as refused:
            one.dialect.decode_reply(one.expected["status"], one.headers, one.body)

        assert (one.expected["error"], one.expected["status"]) == (refused.value.message, refused.value.status)


def test_requests_are_read(chats: list[Recorded]) -> None:
    """Model, stream and the tools on offer."""
    for one in chats:
        request = one.dialect.decode_request(one.request_body)
        expected = one.expected

        assert (expected["request_model"], expected["request_stream"], expected.get("request_tools", [])) == (
            request.model,
            request.stream,
            [tool.name for tool in request.tools],
        ), one.name
        assert request.messages, one.name


def test_streams_are_read_alike_in_pieces(chats: list[Recorded]) -> None:
    """Fed byte by byte, a stream gives the chunks and the reply that it gives at once."""
    streams = [one for one in chats if one.expected.get("stream_events")]
    assert streams
    for one in streams:
        whole = one.dialect.decode_stream(200, one.headers, one.body)
        decoder = one.dialect.stream_decoder()
        chunks = [chunk for at in range(len(one.body)) for chunk in decoder.feed(one.body[at : at + 1])]

        assert whole.reply == decoder.finish(), one.name
        assert list(whole) == chunks, one.name


def test_nothing_is_unknown(chats: list[Recorded]) -> None:
    """Each field of each answer is read, or known to change nothing."""
    unknown = {one.name: one.dialect.unknown(one.headers, one.body) for one in chats if one.expected["status"] < 400}

    assert {} == {name: names for name, names in unknown.items() if names}
