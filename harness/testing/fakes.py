"""
Stand-ins for what an agent meets: replies written by hand, and a world of plain functions.

    ran = run_agent(agent, [calls(call("get_weather", city="Berlin")), says("7 °C")], tools=[get_weather])

The agent runs in the very runtime that trials run in, so its trace is a real one; only model and world are made up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec

from harness.agents.load import LoadedAgent
from harness.agents.run_trial import RanTrial, TrialSetup, run_trial
from harness.cassettes.clock import VirtualClock
from harness.cassettes.fingerprint import Fingerprinter
from harness.records.case import GoldenCase
from harness.records.digest import digest
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import Json, ModelReply, ModelRequest, ToolCall, Usage
from harness.records.run import Cell, Trial
from harness.records.trace import Effect, Event, Trace
from harness.testing.ports import ListPort

NOW = "2026-03-10T09:00:00+00:00"
Said = ModelReply | ModelError


def says(text: str, **fields: Any) -> ModelReply:
    """A reply that is text alone; *fields* are further fields of `ModelReply`."""
    return ModelReply(text=text, usage=Usage(10, 5), model="fake", **fields)


def says_json(**fields: Json) -> ModelReply:
    """A reply whose text is one JSON object."""
    return says(json.dumps(fields, ensure_ascii=False))


def calls(*asked: ToolCall, text: str = "", **fields: Any) -> ModelReply:
    """A reply that asks for tools, with *text* beside."""
    return ModelReply(
        text=text, tool_calls=asked, finish_reason="tool_calls", usage=Usage(10, 5), model="fake", **fields
    )


def call(name: str, raw: str | None = None, /, **args: Json) -> ToolCall:
    """One tool call: with *args*, or with *raw* as the very text that the model sent. `run_agent` gives it an id."""
    sent = json.dumps(args, ensure_ascii=False) if raw is None else raw
    try:
        decoded = msgspec.json.decode(sent)
    except msgspec.DecodeError:
        decoded = None
    return ToolCall("", name, sent, decoded if isinstance(decoded, dict) else None)


def fails(kind: ErrorKind = "server_error", message: str = "the provider is down") -> ModelError:
    """A model call that fails."""
    return ModelError(kind, message, status=500, ms=10)


class FakeWorld:
    """A world of functions marked with `@tool`; what they change in *store* is its diff."""

    def __init__(self, tools: Sequence[Callable[..., Any]] = (), store: dict[str, Json] | None = None) -> None:
        self.now = NOW
        self.user = "vera"
        self.embed: Callable[..., Any] | None = None
        self.tools = tuple(tools)
        self.oracles: Mapping[str, Callable[..., Json]] = {}
        self.store: dict[str, Json] = {} if store is None else store
        self._before = dict(self.store)

    def store_digest(self) -> str:
        return digest(self.store)

    def close(self) -> None:
        """Nothing is held open."""

    def diff(self) -> tuple[Effect, ...]:
        keys = sorted({*self._before, *self.store})
        rows = [(key, self._before.get(key), self.store.get(key)) for key in keys]
        return tuple(Effect("store", key, before, after) for key, before, after in rows if before != after)


@dataclass(frozen=True, slots=True)
class Ran:
    """What `run_agent` brought about."""

    trial: RanTrial
    requests: list[ModelRequest]
    """Every model call, in order."""
    cell: Cell

    @property
    def trace(self) -> Trace:
        """The trace of the last leg."""
        return self.trial.traces[-1]

    @property
    def ending(self) -> tuple[str, str]:
        """Status and reason of the last leg."""
        end = self.trace.events[-1].data
        return end.status, end.reason

    @property
    def answer(self) -> str:
        """What the user was told last; empty if nothing."""
        return self.trace.answer

    def events(self, type_: str) -> list[Event]:
        """Events of a type, over all legs."""
        return [event for trace in self.trial.traces for event in trace.events if event.type == type_]

    def judged(self) -> Trial:
        """The trial as contracts are held against it."""
        return Trial(cell=self.cell, traces=self.trial.traces, provenance="scripted")


def run_agent(
    agent: LoadedAgent,
    replies: Iterable[Said],
    *,
    tools: Sequence[Callable[..., Any]] = (),
    world: FakeWorld | None = None,
    case: GoldenCase | None = None,
    name: str = "",
    options: dict[str, Json] | None = None,
) -> Ran:
    """
    Run *agent* on *case* (by default a question about the weather) with made-up replies and world.

    Args:
        agent: The design, as `load_agent` gives it.
        replies: What the model says, call by call; a call beyond them is a miss.
        tools: The world's tools.
        world: A world in place of one made of *tools*.
        case: The case; its limits, legs, turns and options hold.
        name: The agent's name with its profile, such as `lean_react@seed_literal`.
        options: Options of the cell.
    """
    case = case or GoldenCase(id="case", question="What is the weather in Berlin?")
    numbers = count(1)
    port = ListPort(_with_ids(reply, numbers) for reply in replies)
    cell = Cell(name or agent.name, "scripted", "tests", case.id)
    setup = TrialSetup(
        cell=cell, case=case, agent=agent, world=world or FakeWorld(tools), port=port, clock=VirtualClock(NOW),
        fingerprints=Fingerprinter(), tape=port, default_model=agent.default_model, options=options or {},
    )  # fmt: skip
    return Ran(asyncio.run(run_trial(setup)), port.requests, cell)


def _with_ids(reply: Said, numbers: count[int]) -> Said:
    if isinstance(reply, ModelError) or not reply.tool_calls:
        return reply
    named = tuple(
        made if made.id else msgspec.structs.replace(made, id=f"call_{next(numbers)}") for made in reply.tool_calls
    )
    return msgspec.structs.replace(reply, tool_calls=named)
