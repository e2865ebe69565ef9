"""
Stand-ins for what an agent meets: a model that says what it is told to, and a world of plain functions.

    ran = run_agent(agent, replies=[calls(call("get_weather", city="Berlin")), says("7 °C")], tools=[get_weather])

The agent runs in the very runtime that trials run in, so its trace is a real one; only model and world are made up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from harness.agents.load import LoadedAgent
from harness.agents.run_trial import RanTrial, TrialSetup, run_trial
from harness.cassettes.clock import VirtualClock
from harness.cassettes.fingerprint import Fingerprinter
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.records.case import GoldenCase
from harness.records.digest import digest
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import (
    EmbeddingRequest,
    Json,
    ModelReply,
    ModelRequest,
    ReplyChunk,
    ToolCall,
    Usage,
)
from harness.records.run import Cell
from harness.records.trace import Effect

NOW = "2026-03-10T09:00:00+00:00"

Said = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


def says(text: str) -> ModelReply:
    """A reply that is text alone."""
    return ModelReply(text=text, usage=Usage(10, 5), model="fake")


def calls(*asked: ToolCall, text: str = "") -> ModelReply:
    """A reply that asks for tools, with *text* beside."""
    return ModelReply(text=text, tool_calls=asked, finish_reason="tool_calls", usage=Usage(10, 5), model="fake")


def call(name: str, raw: str | None = None, /, **args: Json) -> ToolCall:
    """One tool call: with *args*, or with *raw* as the text that the model sent. Ids are made by the port."""
    sent = json.dumps(args, ensure_ascii=False) if raw is None else raw
    try:
        decoded = json.loads(sent)
    except ValueError:
        decoded = None
    return ToolCall("", name, sent, decoded if isinstance(decoded, dict) else None)


def fails(kind: ErrorKind = "server_error", message: str = "the provider is down") -> ModelError:
    """A failed model call."""
    return ModelError(kind, message, status=500, ms=10)


class FakePort:
    """
    A `Port` that gives *replies* in order, and the last one for ever where *forever* is set.

    What it was asked stands in *requests*. A call too many raises AssertionError: the agent's fault, seen by the test.
    """

    name = "fake"

    def __init__(self, replies: Iterable[Said], *, forever: bool = False) -> None:
        self.requests: list[ModelRequest] = []
        self._replies = list(replies)
        self._forever = forever
        self._ids = 0

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        return self.chat_sync(request, call)

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        answered = self.chat_sync(request, call)
        words = answered.reply.text.split(" ")
        for number, word in enumerate(words):
            yield ReplyChunk("text", word if number == 0 else f" {word}")
        yield answered

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        place = len(self.requests)
        self.requests.append(request)
        if place >= len(self._replies):
            if not self._forever:
                raise AssertionError(f"model call {place + 1} ({call.purpose}), only {place} replies")
            place = len(self._replies) - 1
        said = self._replies[place]
        if isinstance(said, ModelError):
            raise said
        reply = said if isinstance(said, ModelReply) else said(request)
        return Answered(reply=self._with_ids(reply), ms=10)

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        raise ModelError("bad_request", "the fake port embeds nothing")

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        raise ModelError("bad_request", "the fake port embeds nothing")

    def _with_ids(self, reply: ModelReply) -> ModelReply:
        asked = []
        for made in reply.tool_calls:
            self._ids += 1
            asked.append(ToolCall(made.id or f"call_{self._ids}", made.name, made.args_raw, made.args))
        return ModelReply(
            text=reply.text, tool_calls=tuple(asked), thinking=reply.thinking, finish_reason=reply.finish_reason,
            usage=reply.usage, model=reply.model,
        )  # fmt: skip


class FakeTape:
    """A tape on which nothing is missed and nothing is left."""

    def unused_count(self) -> int:
        return 0

    def missed_keys(self) -> tuple[str, ...]:
        return ()


class FakeWorld:
    """A world of plain functions marked with `@tool`; what they change in *store* is its diff."""

    def __init__(self, tools: Sequence[Callable[..., Any]] = (), store: dict[str, Json] | None = None) -> None:
        self.now = NOW
        self.user = "vera"
        self.tools = tuple(tools)
        self.store: dict[str, Json] = {} if store is None else store
        self._before = dict(self.store)

    def store_digest(self) -> str:
        return digest(self.store)

    def diff(self) -> tuple[Effect, ...]:
        keys = sorted({*self._before, *self.store})
        pairs = [(key, self._before.get(key), self.store.get(key)) for key in keys]
        return tuple(Effect("store", key, before, after) for key, before, after in pairs if before != after)


def run_agent(
    agent: LoadedAgent,
    *,
    replies: Iterable[Said] = (),
    port: FakePort | None = None,
    tools: Sequence[Callable[..., Any]] = (),
    world: FakeWorld | None = None,
    case: GoldenCase | None = None,
    profile: str = "reference",
    options: dict[str, Json] | None = None,
) -> RanTrial:
    """Run *agent* on *case* (by default a plain question) with made-up model and world; its traces are real ones."""
    case = case or GoldenCase(id="case", question="What is the weather in Berlin?")
    name = agent.name if profile == "reference" else f"{agent.name}@{profile}"
    setup = TrialSetup(
        cell=Cell(name, "fake", "tests", case.id), case=case, agent=agent, world=world or FakeWorld(tools),
        port=port or FakePort(replies), clock=VirtualClock(NOW), fingerprints=Fingerprinter(), tape=FakeTape(),
        default_model=agent.default_model, options=options or {},
    )  # fmt: skip
    return asyncio.run(run_trial(setup))
