"""The port of `harness record --mode verify`: a recording held against the live model, call by call."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Iterator

from harness.models.port import Answered, AnsweredEmbedding, CallInfo, Port
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, ModelReply, ModelRequest, ReplyChunk


class VerifyingPort:
    """
    Answers from a cassette and asks the live model the same, to say where the two part.

    Nothing is written, and the agent sees the recorded answer, so that each call is compared on its own.

    Args:
        recorded: The port that answers, usually `FastPort`.
        live: The port that is asked as well.
    """

    name = "recording"

    def __init__(self, recorded: Port, live: Port) -> None:
        self.divergences: list[str] = []
        """One line a call whose live answer differs from the recorded one."""
        self._recorded = recorded
        self._live = live

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        now = await _outcome(self._live, request, call)
        try:
            answered = await self._recorded.chat(request, call)
        except ModelError as error:
            self._compare(call, error, now)
            raise
        self._compare(call, answered.reply, now)
        return answered

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        now = await _outcome(self._live, request, call)
        try:
            async for piece in self._recorded.stream(request, call):
                if isinstance(piece, Answered):
                    self._compare(call, piece.reply, now)
                yield piece
        except ModelError as error:
            self._compare(call, error, now)
            raise

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return await self._recorded.embed(request, call)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        try:
            now: ModelReply | ModelError = self._live.chat_sync(request, call).reply
        except ModelError as error:
            now = error
        try:
            answered = self._recorded.chat_sync(request, call)
        except ModelError as error:
            self._compare(call, error, now)
            raise
        self._compare(call, answered.reply, now)
        return answered

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        try:
            now: ModelReply | ModelError = self._live.chat_sync(request, call).reply
        except ModelError as error:
            now = error
        try:
            for piece in self._recorded.stream_sync(request, call):
                if isinstance(piece, Answered):
                    self._compare(call, piece.reply, now)
                yield piece
        except ModelError as error:
            self._compare(call, error, now)
            raise

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return self._recorded.embed_sync(request, call)

    def _compare(self, call: CallInfo, then: ModelReply | ModelError, now: ModelReply | ModelError) -> None:
        difference = divergence(then, now)
        if difference:
            self.divergences.append(f"call {call.number} ({call.purpose}): {difference}")


def divergence(then: ModelReply | ModelError, now: ModelReply | ModelError) -> str:
    """Say how the live answer *now* differs from the recorded one *then*; empty where text and tool calls are the same."""
    if isinstance(then, ModelError) or isinstance(now, ModelError):
        ends = [f"error {end.kind}" if isinstance(end, ModelError) else "a reply" for end in (then, now)]
        return "" if ends[0] == ends[1] else f"recorded {ends[0]}, now {ends[1]}"
    calls = [", ".join(f"{call.name}({call.args_raw})" for call in end.tool_calls) for end in (then, now)]
    if calls[0] != calls[1]:
        return f"recorded calls [{calls[0]}], now [{calls[1]}]"
    if then.text != now.text:
        same = difflib.SequenceMatcher(None, then.text.split(), now.text.split()).ratio()
        return f"another text, {same:.0%} of the words the same"
    return ""


async def _outcome(live: Port, request: ModelRequest, call: CallInfo) -> ModelReply | ModelError:
    try:
        if not request.stream:
            return (await live.chat(request, call)).reply
        async for piece in live.stream(request, call):
            if isinstance(piece, Answered):
                return piece.reply
    except ModelError as error:
        return error
    raise AssertionError("a stream ends with its reply")
