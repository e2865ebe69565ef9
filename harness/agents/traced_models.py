"""The model client of a trial: it asks a port, and writes each call and its result into the trace itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from types import coroutine
from typing import Any, Protocol

import msgspec

from harness.agents.call_facts import (
    block_digest,
    embedded_texts,
    params_of,
    returned_thinking,
    said_beside_calls,
    section_titles,
)
from harness.agents.protocol import Reply
from harness.agents.trace_writer import TraceWriter
from harness.errors import LimitExceededError
from harness.models.port import Answered, CallInfo, Port
from harness.records.capability import Capability
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
    ToolSpec,
    Usage,
)
from harness.records.trace import AskedCall, CallError, LlmCall, LlmChunk, LlmResult, Thought


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
    timeout_ms: int | None = None


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
        capability: Callable[[str], Capability],
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
        self._last_span = ""
        self._last_turn: int | None = None

    def capability(self, model: str | None = None) -> Capability:
        """How *model*, by default the trial's own, thinks natively."""
        return self._capability(model or self.default_model)

    def show(self, text: str) -> None:
        """Write *text* into the trace as what the user sees of the last call."""
        chunk = LlmChunk(call_span=self._last_span, index=0, text=text, visible=True)
        self._writer.emit(chunk, span=self._last_span, turn=self._last_turn)

    @property
    def number(self) -> int:
        """Calls of the trial so far, embeddings and earlier legs included."""
        return self._number

    async def chat(self, messages: Sequence[Message], **options: Any) -> Reply:
        call = self._begin(messages, options)
        if call.info.slot:
            await let_others_begin()
        answered: Answered | None = None
        try:
            if not call.request.stream:
                answered = await self._port.chat(call.request, call.info)
            else:
                async for piece in self._port.stream(call.request, call.info):
                    answered = self._streamed(call, piece) or answered
            _hold_to_time(call, answered)
        except ModelError as error:
            self._failed(call, error)
            raise
        return self._finished(call, _whole(answered))

    def chat_sync(self, messages: Sequence[Message], **options: Any) -> Reply:
        call = self._begin(messages, options)
        answered: Answered | None = None
        try:
            if not call.request.stream:
                answered = self._port.chat_sync(call.request, call.info)
            else:
                for piece in self._port.stream_sync(call.request, call.info):
                    answered = self._streamed(call, piece) or answered
            _hold_to_time(call, answered)
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
        turn = self._last_turn = self._number
        ask, timeout_ms = self._fingerprints.ask(request), options.get("timeout_ms")
        info = CallInfo(number=turn, ask=ask, slot=slot, purpose=purpose, timeout_ms=timeout_ms)
        span = self._last_span = self._writer.span()
        offered = tuple([tool.name for tool in request.tools])
        self._offered[turn] = frozenset(offered)
        prefixes = self._fingerprints.prefixes(request.messages)
        system = request.messages[0] if request.messages and request.messages[0].role == "system" else None
        called = LlmCall(
            purpose=purpose, stage=options.get("stage", ""), slot=slot, model=request.model,
            capability=self.capability(request.model).kind, messages_digest=digest_bytes("".join(prefixes).encode()),
            prefix_digests=prefixes, thinking_digests=returned_thinking(request.messages),
            n_messages=len(request.messages), system_digest=prefixes[0] if system else "",
            system_sections=section_titles(system.text) if system else (), tools=offered, tool_choice=request.tool_choice,
            params=params_of(request), stream=request.stream, cassette_key=info.ask,
            said_digests=said_beside_calls(request.messages), embeds=embedded_texts(options.get("embeds"), request.messages),
        )  # fmt: skip
        round_ = options.get("round")
        self._writer.emit(called, span=span, turn=turn, round_=round_)
        most = self._limits.llm_calls
        if most is not None and self._number > most:
            raise LimitExceededError("llm_calls", most)
        visible = options.get("visible", False)
        return _Open(request, info, span, turn, round_, self._clock.ms(), visible, timeout_ms)

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
        betas: Sequence[str] = (),
        **_place: Any,
    ) -> ModelRequest:
        fill = self._sampling
        return ModelRequest(
            model=model or self.default_model, messages=messages, tools=tuple(tools), tool_choice=tool_choice,
            temperature=temperature if temperature is not None else fill.get("temperature"),
            top_p=top_p if top_p is not None else fill.get("top_p"),
            max_tokens=max_tokens if max_tokens is not None else fill.get("max_tokens"),
            seed=fill.get("seed"), stop=tuple(stop), thinking=thinking, effort=effort, json_schema=json_schema,
            stream=stream, betas=tuple(betas),
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
            thinking_blocks=tuple([block_digest(block) for block in reply.thinking]),
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
            _hold_to_time(call, answered)
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
            _hold_to_time(call, answered)
        except ModelError as error:
            models._failed(call, error)  # noqa: SLF001
            raise
        self._reply = models._finished(call, _whole(answered))  # noqa: SLF001

    @property
    def reply(self) -> Reply:
        if self._reply is None:
            raise RuntimeError("the reply is there only after the last chunk")
        return self._reply


@coroutine
def let_others_begin() -> Generator[None]:
    """One bare step of the event loop: calls that run at once begin before the first of them ends, on replay too."""
    yield


def _hold_to_time(call: _Open, answered: Answered | None) -> None:
    """
    Hold a reply against the time that its caller gives it: a recording may have taken longer.

    Raises:
        ModelError: It took longer.
    """
    if call.timeout_ms is not None and answered is not None and answered.ms > call.timeout_ms:
        raise ModelError("timeout", f"no reply within {call.timeout_ms} ms", ms=call.timeout_ms)


def _whole(answered: Answered | None) -> Answered:
    return answered if answered is not None else Answered(reply=ModelReply(text=""))


def _error_result(span: str, error: ModelError) -> LlmResult:
    failure = CallError(error.kind, error.message, error.status)
    return LlmResult(call_span=span, finish_reason="error", error=failure, ms=error.ms)
