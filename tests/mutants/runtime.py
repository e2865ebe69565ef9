"""Mutants of the runtime under the lean loop: trace, tools, world and replay, each wrong in one way."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from harness.agents.protocol import AgentContext, ToolOutcome
from harness.errors import ReplayMissError
from harness.models.port import Answered, CallInfo
from harness.records.messages import ModelRequest
from harness.records.tool import Tool
from harness.testing.fakes import call, calls, run_agent, says
from harness.testing.mutants import WEATHER, Mutant

from .ground import BERLIN, COMPLEX, LEAN, NOTE, Boastful, Secretive, World, lean

WROTE = says("Noted.")
LOOKED = (calls(BERLIN), says("It rains in Berlin."))


def loses_an_event(ctx: AgentContext) -> Any:
    """The save before the answer falls out of the trace."""
    writer = ctx._writer
    emit = writer.emit

    def lossy(data: Any, **place: Any) -> None:
        emit(data, **place)
        if data.type == "final_answer":
            del writer.events[-2]

    writer.emit = lossy
    return lean.LeanReact(ctx)


def keeps_crashes_quiet(ctx: AgentContext) -> Any:
    """The exception path of a tool writes no result."""
    tools: Any = ctx.tools
    writer, resulted = tools._writer, tools._resulted

    def quiet(name: str, call_id: str, done_: Any, **place: Any) -> Any:
        if done_.error_kind != "crash":
            return resulted(name, call_id, done_, **place)
        tools._writer = Nowhere()
        try:
            return resulted(name, call_id, done_, **place)
        finally:
            tools._writer = writer

    tools._resulted = quiet
    return lean.LeanReact(ctx)


def finishes_twice(ctx: AgentContext) -> Any:
    """The fallback that ends a trial ends one that has ended already."""
    writer = ctx._writer
    emit = writer.emit

    def twice(data: Any, **place: Any) -> None:
        emit(data, **place)
        if data.type == "trial_finished":
            emit(data, **place)

    writer.emit = twice
    return lean.LeanReact(ctx)


class RunsInTheBackground(lean.LeanReact):
    """Asks the model on while a tool is still running."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        self._running: list[Any] = []

    async def _run_tool(self, session: Any, turn: int, asked: Any, **how: Any) -> ToolOutcome:
        self._running.append(asyncio.create_task(super()._run_tool(session, turn, asked, **how)))
        await asyncio.sleep(0)
        return ToolOutcome(call_id=asked.id, tool=asked.name, ok=True, text="running")

    async def _ask(self, session: Any) -> Any:
        reply = await super()._ask(session)
        await asyncio.gather(*self._running)
        return reply


class Nowhere:
    """A trace that keeps nothing."""

    def emit(self, *_data: Any, **_place: Any) -> None:
        """Forget the event."""


def answers_twice(ctx: AgentContext) -> Any:
    """Each result of a tool stands in the trace twice."""
    tools: Any = ctx.tools
    resulted = tools._resulted

    def twice(*what: Any, **place: Any) -> Any:
        resulted(*what, **place)
        return resulted(*what, **place)

    tools._resulted = twice
    return lean.LeanReact(ctx)


class Reading(lean.LeanReact):
    """A lean loop that offers nothing that writes."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        everything = ctx.tools.specs
        ctx.tools.specs = lambda *names: tuple(spec for spec in everything(*names) if not ctx.tools.is_write(spec.name))


class ForgetsItsTurns(Reading):
    """Does not say which reply asked for a call, and so would run what no reply was offered."""

    async def _run_tool(self, session: Any, turn: Any, asked: Any, **how: Any) -> Any:
        return await super()._run_tool(session, None, asked, **how)


def runs_unchecked(ctx: AgentContext) -> Any:
    """Arguments are passed to tools as they come."""
    tools: Any = ctx.tools
    for name, tool in tools._tools.items():
        tools._tools[name] = Lenient(*[getattr(tool, field) for field in tool.__struct_fields__])
    return lean.LeanReact(ctx)


class Lenient(Tool, frozen=True):
    """A tool that takes anything."""

    def check(self, args: Any) -> dict[str, Any]:
        """Take *args* as they are."""
        return dict(args)


def runs_what_is_hidden(ctx: AgentContext) -> Any:
    """What a turn offered is forgotten, so that every tool of the registry runs."""
    ctx.tools.offered = {}
    return ForgetsItsTurns(ctx)


def writes_again(ctx: AgentContext) -> Any:
    """A fallback carries each write out once more."""
    tools: Any = ctx.tools
    invoke = tools._invoke

    async def again(tool: Any, args: Any) -> Any:
        if tool.effect == "write":
            await invoke(tool, args)
        return await invoke(tool, args)

    tools._invoke = again
    return lean.LeanReact(ctx)


def fails_and_writes(ctx: AgentContext) -> Any:
    """A write that was carried out is reported as timed out, its effects beside."""
    tools: Any = ctx.tools
    resulted = tools._resulted

    def failed(name: str, call_id: str, done_: Any, **place: Any) -> Any:
        if done_.effects:
            done_ = msgspec.structs.replace(done_, ok=False, error_kind="timeout")
        return resulted(name, call_id, done_, **place)

    tools._resulted = failed
    return lean.LeanReact(ctx)


class FallsThrough:
    """A port that asks a real model when the recording has no answer."""

    def __init__(self, port: Any) -> None:
        self._port = port

    async def chat(self, request: ModelRequest, info: CallInfo) -> Answered:
        """Answer from the recording, or live."""
        try:
            return await self._port.chat(request, info)
        except ReplayMissError:
            self._port._missed.clear()
            return Answered(reply=says("It rains in Berlin."), ms=10, replayed=False)


def falls_through(ctx: AgentContext) -> Any:
    """A miss becomes a live call, silently."""
    models: Any = ctx.models
    models._port = FallsThrough(models._port)
    return lean.LeanReact(ctx)


def recorded_keys() -> list[str]:
    """The keys under which the calls of a run are recorded."""
    ran = run_agent(LEAN, LOOKED, world=World(), case=WEATHER)
    return [event.data.cassette_key for event in ran.events("llm_call")]


class AnswersInOrder:
    """A port that gives the k-th recorded answer, whatever is asked."""

    def __init__(self, port: Any, keys: list[str]) -> None:
        self._port = port
        self._keys = keys

    async def chat(self, request: ModelRequest, info: CallInfo) -> Answered:
        """Answer from the recording of the call that stood here when it was made."""
        answered = await self._port.chat(request, info)
        return msgspec.structs.replace(answered, ask=self._keys[info.number - 1])


class Reworded(lean.LeanReact):
    """Another prompt than the one that was recorded."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        self._company = "someone else"


def answers_in_order(build: Any) -> Any:
    """The agent of *build*, its port answering in order."""
    keys = recorded_keys()

    def built(ctx: AgentContext) -> Any:
        models: Any = ctx.models
        models._port = AnswersInOrder(models._port, keys)
        return build(ctx)

    return built


class StopsHalfway(lean.LeanReact):
    """Leaves recorded answers unasked for: yesterday's loop went on here."""

    async def _ask(self, session: Any) -> Any:
        reply = await super()._ask(session)
        return msgspec.structs.replace(reply, reply=msgspec.structs.replace(reply.reply, tool_calls=()))


MUTANTS = (
    Mutant(
        id="trial-finishes-twice", contract="CX1", about="ends a trial that has ended", agent=LEAN,
        because="2 events trial_finished, expected one", build=finishes_twice, replies=(says("It rains."),),
    ),
    Mutant(
        id="lean-runs-in-the-background", contract="CX2", about="asks the model on while a tool is running",
        because="the result of slow_look comes after the next model call", agent=LEAN, build=RunsInTheBackground,
        world=World, replies=(calls(call("slow_look")), says("It rains.")),
        also={"CL6": "what was saved before the model call is not the whole round"},
    ),
    Mutant(
        id="trace-loses-an-event", contract="CX1", about="an event falls out of the trace", because="has seq",
        agent=LEAN, build=loses_an_event, replies=(says("It rains."),),
    ),
    Mutant(
        id="tools-keep-crashes-quiet", contract="CX2", about="the exception path of a tool writes no result",
        because="has no result", agent=LEAN, build=keeps_crashes_quiet, world=World,
        replies=(calls(call("broken_tool")), says("That did not work.")),
    ),
    Mutant(
        id="tools-answer-twice", contract="CX2", about="each result stands in the trace twice",
        because="that no call waits for", agent=LEAN, build=answers_twice, world=World,
        replies=(calls(BERLIN), says("7 °C")),
    ),
    Mutant(
        id="tools-run-unchecked", contract="CX4", about="arguments are not held against the schema", agent=LEAN,
        because="write_note ran with arguments that do not fit: text is no string", build=runs_unchecked, world=World,
        replies=(calls(call("write_note", text=7)), WROTE),
    ),
    Mutant(
        id="tools-run-what-is-hidden", contract="CX3", about="a tool that was not offered is run",
        because="write_note was not offered in its turn, yet it was run", agent=LEAN, build=runs_what_is_hidden,
        sound_build=ForgetsItsTurns, world=World, replies=(calls(NOTE), WROTE),
    ),
    Mutant(
        id="port-falls-through", contract="CX8", about="a miss becomes a live call",
        because="answered live in a replay", agent=LEAN, build=falls_through, world=World,
        replies=(calls(BERLIN),), sound_replies=(calls(BERLIN), says("It rains in Berlin.")),
    ),
    Mutant(
        id="port-answers-in-order", contract="CX8", about="plays the recording of another request", agent=LEAN,
        because="answered by the recording of another request", build=answers_in_order(Reworded),
        sound_build=answers_in_order(lean.LeanReact), world=World, replies=LOOKED, case=WEATHER,
    ),
    Mutant(
        id="loop-leaves-a-recorded-answer", contract="CX8", about="stops before the recording ends",
        because="recorded answers were not asked for", agent=LEAN, build=StopsHalfway, world=World,
        replies=(calls(BERLIN, text="It rains."), says("It rains in Berlin.")),
        also={"CL4": "the calls of the reply are what it drops to stop early"},
    ),
    Mutant(
        id="tools-write-again", contract="CX9", about="a fallback re-applies the write",
        because="a tool reports", agent=LEAN, build=writes_again, world=World,
        replies=(calls(call("append_note", text="rain")), WROTE),
    ),
    Mutant(
        id="tool-says-it-wrote", contract="CX9", about="a tool reports success without writing",
        because="a tool reports a change that is not in the store", agent=LEAN, build=LEAN.build,
        world=Boastful, sound_world=World, replies=(calls(NOTE), WROTE),
    ),
    Mutant(
        id="tool-writes-in-secret", contract="CX9", about="the store changes without an effect",
        because="the store changed, and no tool result says so", agent=LEAN, build=LEAN.build,
        world=Secretive, sound_world=World, replies=(calls(NOTE), WROTE), case=COMPLEX,
    ),
    Mutant(
        id="tools-fail-and-write", contract="CX9", about="a call that failed has written",
        because="write_note failed, yet says that it changed something", agent=LEAN, build=fails_and_writes,
        world=World, replies=(calls(NOTE), WROTE),
    ),
)  # fmt: skip
