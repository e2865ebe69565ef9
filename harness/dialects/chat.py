"""
The two chat dialects: they differ in their wire formats, not in how a response is approached.

Every replay comes through here, and most need one reader of the dozen: the others are imported where they are used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

import msgspec

from harness.dialects import openai_reply
from harness.dialects.base import MAX_UNKNOWN, DecodedStream, StreamDecoder
from harness.dialects.body import BodyError, header, load_object, plain
from harness.dialects.failures import Provider, anthropic_error, failure, openai_error
from harness.dialects.sse import SseReader, looks_like_sse
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json, ModelReply, ModelRequest, ReplyChunk


class _Chat(ABC):
    """What both dialects do alike: errors by status, packing, streams and whole bodies told apart by their start."""

    _provider: Provider

    def decode_reply(
        self, status: int, headers: Mapping[str, str], body: bytes, *, asked_model: str = ""
    ) -> ModelReply:
        content = self._content(status, headers, body)
        if _is_stream(headers, content):
            decoder = self.stream_decoder(asked_model=asked_model)
            decoder.feed(content)
            return decoder.finish()
        return self._whole(content, asked_model)

    def decode_stream(
        self, status: int, headers: Mapping[str, str], body: bytes, *, asked_model: str = ""
    ) -> DecodedStream:
        content = self._content(status, headers, body)
        if not _is_stream(headers, content):
            reply = self._whole(content, asked_model)
            chunks = [ReplyChunk("text", reply.text)] if reply.text else []
            return DecodedStream(chunks, reply, self.unknown(headers, content))
        decoder = self.stream_decoder(asked_model=asked_model)
        chunks = decoder.feed(content)
        try:
            return DecodedStream(chunks, decoder.finish(), decoder.unknown)
        except ModelError as failed:
            return DecodedStream(chunks, failed, decoder.unknown)

    def unknown(self, headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
        try:
            content = plain(headers, body)
            if not _is_stream(headers, content):
                return tuple(self._unknown_in(load_object(content)))
        except BodyError as broken:
            return (str(broken),)
        decoder = self.stream_decoder()
        decoder.feed(content)
        reader = SseReader()
        names = [*decoder.unknown]
        for event in (*reader.feed(content), *reader.close()):
            with suppress(BodyError):
                names.extend(self._unknown_in(load_object(event.data)))
        return tuple(dict.fromkeys(names))[:MAX_UNKNOWN]

    @abstractmethod
    def stream_decoder(self, *, asked_model: str = "") -> StreamDecoder: ...

    @abstractmethod
    def _reply_from(self, answer: dict[str, Json], asked_model: str) -> ModelReply: ...

    @abstractmethod
    def _unknown_in(self, answer: dict[str, Json]) -> list[str]: ...

    def _content(self, status: int, headers: Mapping[str, str], body: bytes) -> bytes:
        if status >= 400:
            raise failure(self._provider, status, headers, body)
        try:
            return plain(headers, body)
        except BodyError as broken:
            raise ModelError("bad_reply", str(broken), status=status) from None

    def _whole(self, content: bytes, asked_model: str) -> ModelReply:
        try:
            answer = load_object(content)
        except BodyError as broken:
            raise ModelError("bad_reply", f"the answer cannot be read: {broken}") from None
        return self._reply_from(answer, asked_model)


class OpenAIChat(_Chat):
    """Chat completions, as OpenAI and the many servers that speak its format answer."""

    name: Literal["openai_chat", "anthropic"] = "openai_chat"
    _provider: Provider = "openai"

    def decode_request(self, body: bytes, headers: Mapping[str, str] | None = None) -> ModelRequest:
        from harness.dialects.openai_request import request_from

        return request_from(body)

    def stream_decoder(self, *, asked_model: str = "") -> StreamDecoder:
        from harness.dialects.openai_stream import OpenAIStreamDecoder

        return OpenAIStreamDecoder(asked_model)

    def encode_reply(self, reply: ModelReply, *, id: str, created: int) -> bytes:
        from harness.dialects.openai_encode import reply_body

        return reply_body(reply, id=id, created=created)

    def encode_stream(
        self, reply: ModelReply, *, id: str, created: int, text_pieces: Sequence[str] | None = None
    ) -> list[bytes]:
        from harness.dialects.openai_encode import stream_events

        return stream_events(reply, id=id, created=created, text_pieces=text_pieces)

    def encode_error(self, status: int, kind: ErrorKind, message: str) -> bytes:
        return msgspec.json.encode(openai_error(kind, message))

    def _reply_from(self, answer: dict[str, Json], asked_model: str) -> ModelReply:
        return openai_reply.reply_from(answer, asked_model)

    def _unknown_in(self, answer: dict[str, Json]) -> list[str]:
        from harness.dialects.unknown import unknown_in_openai

        return unknown_in_openai(answer)


class Anthropic(_Chat):
    """Anthropic's messages."""

    name: Literal["openai_chat", "anthropic"] = "anthropic"
    _provider: Provider = "anthropic"

    def decode_request(self, body: bytes, headers: Mapping[str, str] | None = None) -> ModelRequest:
        from harness.dialects.anthropic_request import request_from

        return request_from(body, headers or {})

    def stream_decoder(self, *, asked_model: str = "") -> StreamDecoder:
        from harness.dialects.anthropic_stream import AnthropicStreamDecoder

        return AnthropicStreamDecoder(asked_model)

    def encode_reply(self, reply: ModelReply, *, id: str, created: int) -> bytes:
        from harness.dialects.anthropic_encode import reply_body

        return reply_body(reply, id=id)

    def encode_stream(
        self, reply: ModelReply, *, id: str, created: int, text_pieces: Sequence[str] | None = None
    ) -> list[bytes]:
        from harness.dialects.anthropic_encode import stream_events

        return stream_events(reply, id=id, text_pieces=text_pieces)

    def encode_error(self, status: int, kind: ErrorKind, message: str) -> bytes:
        return msgspec.json.encode(anthropic_error(kind, message))

    def _reply_from(self, answer: dict[str, Json], asked_model: str) -> ModelReply:
        from harness.dialects.anthropic_reply import reply_from

        return reply_from(answer, asked_model)

    def _unknown_in(self, answer: dict[str, Json]) -> list[str]:
        from harness.dialects.unknown import unknown_in_anthropic

        return unknown_in_anthropic(answer)


def _is_stream(headers: Mapping[str, str], content: bytes) -> bool:
    if content[:1] == b"{":
        return False
    return looks_like_sse(content) or "text/event-stream" in header(headers, "content-type").lower()
