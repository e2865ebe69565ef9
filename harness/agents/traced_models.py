"""The model client of a trial: it asks a port, and writes each call and its result into the trace itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from harness.agents.protocol import Reply
from harness.agents.trace_writer import TraceWriter
from harness.errors import LimitExceededError
from harness.models.port import Answered, CallInfo, Port
from harness.records.case import Limits
from harness.records.digest import digest, digest_bytes
from harness.records.faults import ModelError
from harness.records.messages import (
    EmbeddingReply,
    EmbeddingRequest,
    Json,
    Message,
    ModelReply,
    ModelRequest,
    ReplyChunk,
    Thinking,
    ThinkingBlock,
    ToolSpec,
    Usage,
)
from harness.records.trace import AskedCall, CallError, LlmCall, LlmChunk, LlmResult, ThinkingDigest, Thought


class Fingerprints(Protocol):
    """The part of a fingerprinter that the client needs."""

    def ask(self, request: ModelRequest | EmbeddingRequest) -> str: ...
    def prefixes(self, messages: Sequence[Message]) -> tuple[str, ...]: ...
    @property
    def unmatched_volatile(self) -> tuple[str, ...]: ...


class Passing(Protocol):
    """The part of a clock that the client needs."""

    def ms(self) -> int: ...
    def advance_to(self, ms: int) -> None: ...


class _Open(msgspec.Struct, frozen=True):
    """A call that has begun and not ended."""

    request: ModelRequest
    info: CallInfo
    span: str
    turn: int
    round: int | None
    began_ms: int
    visible: bool


class TracedModels:
    """`harness.agents.protocol.Models` over a port."""

    def __init__(
        self,
        port: Port,
        *,
        default_model: str,
        writer: TraceWriter,
        clock: Passing,
        fingerprints: Fingerprints,
        limits: Limits,
        capability: Callable[[str], str],
        offered: dict[int, frozenset[str]],
        asked: dict[str, int],
        sampling: Mapping[str, Json] | None = None,
        calls_before: int = 0,
    ) -> None:
        self.default_model = default_model
        self.calls = 0
        self.usage = Usage()
        self._port = port
        self._writer = writer
        self._clock = clock
        self._fingerprints = fingerprints
        self._limits = limits
        self._capability = capability
        self._offered = offered
        self._asked = asked
        self._sampling = dict(sampling or {})
        self._number = calls_before

    @property
    def number(self) -> int:
        """Calls of the trial so far, embeddings and earlier legs included."""
        return self._number

    async def chat(self, messages: Sequence[Message], **options: Any) -> Reply:
        call = self._begin(messages, options)
        try:
            if not call.request.stream:
                return self._finished(call, await self._port.chat(call.request, call.info))
            answered: Answered | None = None
            async for piece in self._port.stream(call.request, call.info):
                answered = self._streamed(call, piece) or answered
        except ModelError as error:
            self._failed(call, error)
            raise
        return self._finished(call, _whole(answered))

    def chat_sync(self, messages: Sequence[Message], **options: Any) -> Reply:
        call = self._begin(messages, options)
        try:
            if not call.request.stream:
                return self._finished(call, self._port.chat_sync(call.request, call.info))
            answered: Answered | None = None
            for piece in self._port.stream_sync(call.request, call.info):
                answered = self._streamed(call, piece) or answered
        except ModelError as error:
            self._failed(call, error)
            raise
        return self._finished(call, _whole(answered))

    def stream(self, messages: Sequence[Message], **options: Any) -> TracedStream:
        return TracedStream(self, self._begin(messages, {**options, "stream": True}))

    async def embed(self, texts: Sequence[str], *, model: str | None = None, purpose: str = "embed") -> EmbeddingReply:
        request, info, span, began_ms = self._begin_embedding(texts, model, purpose)
        try:
            answered = await self._port.embed(request, info)
        except ModelError as error:
            self._clock.advance_to(began_ms + error.ms)
            self._writer.emit(_error_result(span, error), span=span)
            raise
        return self._embedded(span, began_ms, answered.reply, answered.ms, replayed=answered.replayed)

    def embed_sync(self, texts: Sequence[str], *, model: str | None = None, purpose: str = "embed") -> EmbeddingReply:
        request, info, span, began_ms = self._begin_embedding(texts, model, purpose)
        try:
            answered = self._port.embed_sync(request, info)
        except ModelError as error:
            self._clock.advance_to(began_ms + error.ms)
            self._writer.emit(_error_result(span, error), span=span)
            raise
        return self._embedded(span, began_ms, answered.reply, answered.ms, replayed=answered.replayed)

    def pieces(self, call: _Open) -> AsyncIterator[ReplyChunk | Answered]:
        """What the port streams for *call*."""
        return self._port.stream(call.request, call.info)

    def pieces_sync(self, call: _Open) -> Iterator[ReplyChunk | Answered]:
        """The sync twin of `pieces`."""
        return self._port.stream_sync(call.request, call.info)

    def _begin(self, messages: Sequence[Message], options: Mapping[str, Any]) -> _Open:
        request = self._request(tuple(messages), **options)
        slot, purpose = options.get("slot", ""), options.get("purpose", "agent")
        self.calls += 1
        self._number += 1
        turn = self._number
        info = CallInfo(number=turn, ask=self._fingerprints.ask(request), slot=slot, purpose=purpose)
        span = self._writer.span()
        offered = tuple([tool.name for tool in request.tools])
        self._offered[turn] = frozenset(offered)
        prefixes = self._fingerprints.prefixes(request.messages)
        system = request.messages[0] if request.messages and request.messages[0].role == "system" else None
        called = LlmCall(
            purpose=purpose, stage=options.get("stage", ""), slot=slot, model=request.model,
            capability=self._capability(request.model), messages_digest=digest_bytes("".join(prefixes).encode()),
            prefix_digests=prefixes, thinking_digests=_returned_thinking(request.messages),
            n_messages=len(request.messages), system_digest=prefixes[0] if system else "",
            system_sections=_sections(system.text) if system else (), tools=offered, tool_choice=request.tool_choice,
            params=_params(request), stream=request.stream, cassette_key=info.ask,
            said_digests=_said(request.messages), embeds=_embedded(options.get("embeds"), request.messages),
        )  # fmt: skip
        round_ = options.get("round")
        self._writer.emit(called, span=span, turn=turn, round_=round_)
        most = self._limits.llm_calls
        if most is not None and self._number > most:
            raise LimitExceededError("llm_calls", most)
        return _Open(request, info, span, turn, round_, self._clock.ms(), options.get("visible", False))

    def _request(
        self,
        messages: tuple[Message, ...],
        *,
        model: str | None = None,
        tools: Sequence[ToolSpec] = (),
        tool_choice: str | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        thinking: Thinking | None = None,
        effort: str | None = None,
        json_schema: dict[str, Json] | None = None,
        stream: bool = False,
        **_place: Any,
    ) -> ModelRequest:
        fill = self._sampling
        return ModelRequest(
            model=model or self.default_model, messages=messages, tools=tuple(tools), tool_choice=tool_choice,
            temperature=temperature if temperature is not None else fill.get("temperature"),
            top_p=top_p if top_p is not None else fill.get("top_p"),
            max_tokens=max_tokens if max_tokens is not None else fill.get("max_tokens"),
            seed=fill.get("seed"), stop=tuple(stop), thinking=thinking, effort=effort, json_schema=json_schema,
            stream=stream,
        )  # fmt: skip

    def _streamed(self, call: _Open, piece: ReplyChunk | Answered) -> Answered | None:
        if isinstance(piece, Answered):
            return piece
        shown = call.visible and piece.channel == "text"
        chunk = LlmChunk(call_span=call.span, index=piece.index, text=piece.text, channel=piece.channel, visible=shown)
        self._writer.emit(chunk, span=call.span, turn=call.turn, round_=call.round)
        return None

    def _finished(self, call: _Open, answered: Answered) -> Reply:
        self._clock.advance_to(call.began_ms + answered.ms)
        reply = answered.reply
        self.usage = self.usage + reply.usage
        result = LlmResult(
            call_span=call.span, text=reply.text,
            tool_calls=tuple([AskedCall(c.id, c.name, c.args_raw, c.args) for c in reply.tool_calls]),
            thinking_blocks=tuple([_block_digest(block) for block in reply.thinking]),
            finish_reason=reply.finish_reason, usage=reply.usage, model=reply.model, replayed=answered.replayed,
            answers_key=answered.ask, ms=answered.ms,
        )  # fmt: skip
        self._writer.emit(result, span=call.span, turn=call.turn, round_=call.round)
        for asked in reply.tool_calls:
            self._asked[asked.id] = call.turn
        for block in reply.thinking:
            thought = Thought(text=block.text or None, redacted=block.kind == "redacted", source="native")
            self._writer.emit(thought, span=call.span, turn=call.turn, round_=call.round)
        return Reply(reply=reply, turn=call.turn, span=call.span)

    def _failed(self, call: _Open, error: ModelError) -> None:
        self._clock.advance_to(call.began_ms + error.ms)
        self._writer.emit(_error_result(call.span, error), span=call.span, turn=call.turn, round_=call.round)

    def _begin_embedding(
        self, texts: Sequence[str], model: str | None, purpose: str
    ) -> tuple[EmbeddingRequest, CallInfo, str, int]:
        request = EmbeddingRequest(model or self.default_model, tuple(texts))
        self._number += 1
        info = CallInfo(number=self._number, ask=self._fingerprints.ask(request), purpose=purpose)
        span = self._writer.span()
        called = LlmCall(
            purpose=purpose, stage="embedding", model=request.model, messages_digest=digest(request.texts),
            n_messages=len(request.texts), cassette_key=info.ask,
        )  # fmt: skip
        self._writer.emit(called, span=span)
        return request, info, span, self._clock.ms()

    def _embedded(self, span: str, began_ms: int, reply: EmbeddingReply, ms: int, *, replayed: bool) -> EmbeddingReply:
        self._clock.advance_to(began_ms + ms)
        result = LlmResult(
            call_span=span, finish_reason="stop", usage=reply.usage, model=reply.model, replayed=replayed, ms=ms
        )
        self._writer.emit(result, span=span)
        return reply


class TracedStream:
    """`harness.agents.protocol.ReplyStream`: chunks as they come, by `async for` or `for`; the reply afterwards."""

    def __init__(self, models: TracedModels, call: _Open) -> None:
        self._models = models
        self._call = call
        self._reply: Reply | None = None

    async def __aiter__(self) -> AsyncIterator[ReplyChunk]:
        models, call = self._models, self._call
        answered: Answered | None = None
        try:
            async for piece in models.pieces(call):
                if isinstance(piece, Answered):
                    answered = piece
                    continue
                models._streamed(call, piece)  # noqa: SLF001  # the stream is the second half of the client
                yield piece
        except ModelError as error:
            models._failed(call, error)  # noqa: SLF001
            raise
        self._reply = models._finished(call, _whole(answered))  # noqa: SLF001

    def __iter__(self) -> Iterator[ReplyChunk]:
        models, call = self._models, self._call
        answered: Answered | None = None
        try:
            for piece in models.pieces_sync(call):
                if isinstance(piece, Answered):
                    answered = piece
                    continue
                models._streamed(call, piece)  # noqa: SLF001
                yield piece
        except ModelError as error:
            models._failed(call, error)  # noqa: SLF001
            raise
        self._reply = models._finished(call, _whole(answered))  # noqa: SLF001

    @property
    def reply(self) -> Reply:
        if self._reply is None:
            raise RuntimeError("the reply is there only after the last chunk")
        return self._reply


def _whole(answered: Answered | None) -> Answered:
    return answered if answered is not None else Answered(reply=ModelReply(text=""))


def _error_result(span: str, error: ModelError) -> LlmResult:
    failure = CallError(error.kind, error.message, error.status)
    return LlmResult(call_span=span, finish_reason="error", error=failure, ms=error.ms)


def _params(request: ModelRequest) -> dict[str, Json]:
    params: dict[str, Json] = {}
    for name in ("temperature", "top_p", "max_tokens", "seed", "effort"):
        value = getattr(request, name)
        if value is not None:
            params[name] = value
    if request.thinking is not None:
        params["thinking"] = msgspec.to_builtins(request.thinking)
    if request.stop:
        params["stop"] = list(request.stop)
    return params


def _block_digest(block: ThinkingBlock) -> ThinkingDigest:
    return ThinkingDigest(block.kind, digest(block), digest(block.signature) if block.signature else "")


def _returned_thinking(messages: tuple[Message, ...]) -> tuple[tuple[int, str], ...]:
    return tuple(
        [
            (place, digest(block))
            for place, message in enumerate(messages)
            if message.thinking
            for block in message.thinking
        ]
    )


def _said(messages: tuple[Message, ...]) -> tuple[tuple[int, str], ...]:
    return tuple(
        [
            (place, digest(text))
            for place, message in enumerate(messages)
            if message.tool_calls and message.role == "assistant" and (text := message.text).strip()
        ]
    )


def _embedded(texts: Mapping[str, str] | None, messages: tuple[Message, ...]) -> dict[str, str]:
    """Digests of those *texts* that the agent really put before the model; what a tool answered does not count."""
    if not texts:
        return {}
    told = [message.text for message in reversed(messages) if message.role in ("user", "system")]
    return {name: digest(text) for name, text in texts.items() if any(text in message for message in told)}


_sections_of: dict[str, tuple[str, ...]] = {}


def _sections(system: str) -> tuple[str, ...]:
    """Titles of the sections of a system prompt: lines in capitals that end with a colon. Remembered by text."""
    known = _sections_of.get(system)
    if known is None:
        lines = [line.strip() for line in system.splitlines()]
        known = tuple([line[:-1] for line in lines if line.endswith(":") and line.isupper()])
        if len(_sections_of) > 4096:
            _sections_of.clear()
        _sections_of[system] = known
    return known
