"""From a scripted reply to the bytes of an HTTP answer in a provider's form."""

from __future__ import annotations

import base64
import gzip
import http
import json
import struct
import zlib
from collections.abc import Mapping, Sequence

import msgspec

from harness.dialects.base import ChatDialect, Dialect, EmbeddingDialect
from harness.dialects.body import tool_args
from harness.dialects.failures import kind_of_status
from harness.models.scripted.script import Reply
from harness.records.messages import (
    EmbeddingReply,
    EmbeddingRequest,
    Json,
    ModelReply,
    ModelRequest,
    ThinkingBlock,
    ToolCall,
    Usage,
)

CREATED = 1_773_100_800
"""Every scripted answer was made at 2026-03-10T00:00:00Z, in seconds since 1970."""
CHARS_PER_TOKEN = 4
"""Usage that a script leaves open is counted as a quarter of the characters."""


class HttpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as it goes out: a whole body in one piece, or a stream of pieces, each sent when it is due."""

    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...]
    streamed: bool = False
    delay_ms: int = 0
    chunk_delay_ms: int = 0
    drop: bool = False
    """Break the connection off: after the pieces of a stream, in the middle of a whole body."""

    @property
    def reason(self) -> str:
        """The words beside the status."""
        return http.HTTPStatus(self.status).phrase if self.status in _KNOWN_STATUS else "Unknown"


_KNOWN_STATUS = {status.value for status in http.HTTPStatus}


def error_answer(dialect: Dialect, status: int, message: str) -> HttpAnswer:
    """An error in the provider's form, of the class that goes with *status*."""
    return _whole(dialect.encode_error(status, kind_of_status(status), message), Reply(status=status))


def chat_answer(dialect: ChatDialect, reply: Reply, request: ModelRequest, *, number: int) -> HttpAnswer:
    """Answer *request* as *reply*, step *number* of its script, says."""
    if reply.body is not None:
        return _whole(reply.body.encode(), reply)
    if reply.status >= 400:
        return _whole(_error(dialect, reply), reply)
    answered = model_reply(dialect.name, reply, request, number=number)
    name = f"chatcmpl-{number}" if dialect.name == "openai_chat" else f"msg_{number:04d}"
    if not request.stream:
        return _whole(dialect.encode_reply(answered, id=name, created=CREATED), reply)
    events = dialect.encode_stream(answered, id=name, created=CREATED, text_pieces=text_pieces(reply))
    if reply.cut is not False or reply.drop:
        events = events[: len(events) // 2 if isinstance(reply.cut, bool) else reply.cut]
    if reply.error is not None:
        start = b"event: error\ndata: " if dialect.name == "anthropic" else b"data: "
        events = [*events, start + _error(dialect, reply) + b"\n\n"]
    return _stream(events, reply)


def embedding_answer(
    dialect: EmbeddingDialect, reply: Reply, request: EmbeddingRequest, wire: Mapping[str, Json]
) -> HttpAnswer:
    """Answer *request* with the vectors of *reply*, in the encoding that *wire* asks for."""
    if reply.body is not None:
        return _whole(reply.body.encode(), reply)
    if reply.status >= 400:
        return _whole(_error(dialect, reply), reply)
    usage = reply.usage or Usage(input=sum(len(text) for text in request.texts) // CHARS_PER_TOKEN + 1)
    answered = EmbeddingReply(reply.vectors or (), request.model, usage)
    body = dialect.encode_reply(answered, id="", created=CREATED)
    return _whole(_as_base64(body) if wire.get("encoding_format") == "base64" else body, reply)


def model_reply(dialect: str, reply: Reply, request: ModelRequest, *, number: int) -> ModelReply:
    """The logical reply; what the script leaves open is filled in the same way each time."""
    prefix = "toolu" if dialect == "anthropic" else "call"
    calls = tuple(
        ToolCall(call.id or f"{prefix}_{number}_{nth}", call.name, call.raw, tool_args(call.raw))
        for nth, call in enumerate(reply.tool_calls, start=1)
    )
    thinking = tuple(
        ThinkingBlock("thinking", block.text, block.signature)
        if block.redacted is None
        else ThinkingBlock("redacted", data=block.redacted)
        for block in reply.thinking
    )
    return ModelReply(
        text=reply.text,
        tool_calls=calls,
        thinking=thinking,
        finish_reason=reply.finish_reason or ("tool_calls" if calls else "stop"),
        usage=reply.usage or _counted(reply, request),
        model=request.model,
    )


def text_pieces(reply: Reply) -> Sequence[str] | None:
    """The pieces in which the text is streamed, or None where the script leaves it open."""
    if not isinstance(reply.chunks, int):
        return reply.chunks
    size = max(1, -(-len(reply.text) // reply.chunks))
    return [reply.text[start : start + size] for start in range(0, len(reply.text), size)]


def _counted(reply: Reply, request: ModelRequest) -> Usage:
    asked = sum(
        len(message.text) + sum(len(call.args_raw) for call in message.tool_calls) for message in request.messages
    )
    thought = sum(len(block.text) for block in reply.thinking)
    said = len(reply.text) + sum(len(call.name) + len(call.raw) for call in reply.tool_calls)
    thinking = thought // CHARS_PER_TOKEN
    return Usage(input=asked // CHARS_PER_TOKEN + 1, output=said // CHARS_PER_TOKEN + 1 + thinking, thinking=thinking)


def _error(dialect: Dialect, reply: Reply) -> bytes:
    """The error body; inside a stream, whose status is 200, one without a kind is an error of the server."""
    status = reply.status if reply.status >= 400 else 500
    kind = (reply.error.kind if reply.error else None) or kind_of_status(status)
    return dialect.encode_error(status, kind, reply.error.message if reply.error else "")


def _whole(body: bytes, reply: Reply) -> HttpAnswer:
    is_stream = body.startswith((b"data:", b"event:"))
    headers = _headers(reply, "text/event-stream; charset=utf-8" if is_stream else "application/json")
    packed = gzip.compress(body, mtime=0) if reply.gzip else body
    return HttpAnswer(status=reply.status, headers=headers, pieces=(packed,), delay_ms=reply.delay_ms, drop=reply.drop)


def _stream(events: Sequence[bytes], reply: Reply) -> HttpAnswer:
    pieces = tuple(_gzip_pieces(events)) if reply.gzip else tuple(events)
    return HttpAnswer(
        status=reply.status,
        headers=_headers(reply, "text/event-stream; charset=utf-8"),
        pieces=pieces,
        streamed=True,
        delay_ms=reply.delay_ms,
        chunk_delay_ms=reply.chunk_delay_ms,
        drop=reply.drop,
    )


def _gzip_pieces(events: Sequence[bytes]) -> list[bytes]:
    """Pack a stream so that each event can be unpacked as soon as it is there."""
    packer = zlib.compressobj(wbits=31)
    pieces = [packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH) for event in events]
    return [*pieces, packer.flush()]


def _headers(reply: Reply, content_type: str) -> dict[str, str]:
    headers = {"content-type": content_type}
    if reply.gzip:
        headers["content-encoding"] = "gzip"
    if reply.retry_after is not None:
        headers["retry-after"] = f"{reply.retry_after:g}"
    return headers


def _as_base64(body: bytes) -> bytes:
    """Each vector as base64 of little-endian 32-bit floats, which is what OpenAI's own client asks for."""
    content = json.loads(body)
    for item in content["data"]:
        vector = item["embedding"]
        item["embedding"] = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return json.dumps(content).encode()
