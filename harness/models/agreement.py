"""
Holds the fast port against the wire port: the same recorded bytes, read by our dialects and by litellm.

No agent is needed: the request of each interaction is read back from the cassette and asked again on both ports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

import msgspec

from harness.cassettes.file import Cassette, Interaction
from harness.cassettes.player import Player, first_values
from harness.dialects import dialect_of
from harness.models.capability import is_anthropic
from harness.models.port import Answered, CallInfo, Port
from harness.models.replayed import is_unsent
from harness.records.faults import ModelError
from harness.records.messages import (
    EmbeddingRequest,
    ModelReply,
    ModelRequest,
    ReplyChunk,
    ThinkingBlock,
    ToolCall,
    Usage,
)

_SHOWN_CHARS = 200


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent sees of one call, whichever port is below; *model* is left out, litellm does not always pass it on."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: tuple[ThinkingBlock, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    vectors: tuple[tuple[float, ...], ...] = ()
    streamed: tuple[tuple[str, int, str], ...] = ()
    """What was streamed, joined by channel and tool call; a failed call may have streamed before it failed."""
    error: str = ""
    status: int | None = None
    message: str = ""
    retry_after_ms: int | None = None


def disagreements(cassette: Cassette, fast: Callable[[Player], Port], wire: Callable[[Player], Port]) -> list[str]:
    """
    List where the two ports read *cassette* differently: one line a call and field, with what each made of it.

    Args:
        cassette: What is played, once on each port; external tools and what was never sent are passed over.
        fast: Opens the port under test.
        wire: Opens the port that it is held against.
    """
    asked = list(_asked(cassette))

    async def outcomes(port: Port) -> list[Outcome]:
        return [await outcome(port, request, call) for request, call in asked]

    async def both() -> tuple[list[Outcome], list[Outcome]]:
        from harness.models.litellm_client import close_clients

        pair = (await outcomes(fast(Player(cassette))), await outcomes(wire(Player(cassette))))
        await close_clients()
        return pair

    ours, theirs = asyncio.run(both())
    return [
        f"call {call.number}: {line}"
        for (_, call), one, other in zip(asked, ours, theirs, strict=True)
        for line in differences(one, other)
    ]


def differences(ours: Outcome, theirs: Outcome) -> list[str]:
    """Name each field in which two outcomes differ, with both values cut to 200 characters."""
    return [
        f"{name}: {_shown(getattr(ours, name))}, not {_shown(getattr(theirs, name))}"
        for name in Outcome.__struct_fields__
        if getattr(ours, name) != getattr(theirs, name)
    ]


async def outcome(port: Port, request: ModelRequest | EmbeddingRequest, call: CallInfo) -> Outcome:
    """Make one call and return what came of it; a `ModelError` is an outcome too."""
    chunks: list[ReplyChunk] = []
    try:
        if isinstance(request, EmbeddingRequest):
            embedded = (await port.embed(request, call)).reply
            return Outcome(vectors=embedded.vectors, usage=embedded.usage)
        if not request.stream:
            return _of_reply((await port.chat(request, call)).reply, chunks)
        async for piece in port.stream(request, call):
            if isinstance(piece, Answered):
                return _of_reply(piece.reply, chunks)
            chunks.append(piece)
    except ModelError as error:
        return _of_error(error, chunks)
    raise AssertionError("a stream ends with its reply")


def outcome_sync(port: Port, request: ModelRequest | EmbeddingRequest, call: CallInfo) -> Outcome:
    """The sync twin of `outcome`."""
    chunks: list[ReplyChunk] = []
    try:
        if isinstance(request, EmbeddingRequest):
            embedded = port.embed_sync(request, call).reply
            return Outcome(vectors=embedded.vectors, usage=embedded.usage)
        if not request.stream:
            return _of_reply(port.chat_sync(request, call).reply, chunks)
        for piece in port.stream_sync(request, call):
            if isinstance(piece, Answered):
                return _of_reply(piece.reply, chunks)
            chunks.append(piece)
    except ModelError as error:
        return _of_error(error, chunks)
    raise AssertionError("a stream ends with its reply")


def _asked(cassette: Cassette) -> Iterator[tuple[ModelRequest | EmbeddingRequest, CallInfo]]:
    for interaction in cassette.interactions:
        dialect = dialect_of(interaction.uri)
        if dialect is None or is_unsent(interaction):
            continue
        request = dialect.decode_request(interaction.request_body.encode(), first_values(interaction.request_headers))
        if dialect.name == "openai_chat" and is_anthropic(request.model):
            request = msgspec.structs.replace(request, model=f"openai/{request.model}")
        yield request, _info(interaction)


def _info(interaction: Interaction) -> CallInfo:
    return CallInfo(number=interaction.call, ask=interaction.ask, slot=interaction.slot)


def _of_reply(reply: ModelReply, chunks: Sequence[ReplyChunk]) -> Outcome:
    return Outcome(
        text=reply.text,
        tool_calls=reply.tool_calls,
        thinking=reply.thinking,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        streamed=_joined(chunks),
    )


def _of_error(error: ModelError, chunks: Sequence[ReplyChunk]) -> Outcome:
    return Outcome(
        error=error.kind,
        status=error.status,
        # an answer that nobody can read has no words of the provider's own
        message="" if error.kind == "bad_reply" else error.message,
        retry_after_ms=error.retry_after_ms,
        streamed=_joined(chunks),
    )


def _joined(chunks: Sequence[ReplyChunk]) -> tuple[tuple[str, int, str], ...]:
    joined: dict[tuple[str, int], str] = {}
    for chunk in chunks:
        key = (chunk.channel, chunk.index)
        joined[key] = joined.get(key, "") + chunk.text
    return tuple((channel, index, text) for (channel, index), text in joined.items())


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
