"""Running one trial: what stands in the trace, and what becomes of crashes, limits, legs and turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from harness.agents.load import LoadedAgent
from harness.agents.protocol import AgentContext, Question
from harness.agents.run_trial import RanTrial, TrialSetup, run_trial
from harness.cassettes.clock import VirtualClock
from harness.cassettes.fingerprint import Fingerprinter
from harness.errors import CouldNotCheckError, ReplayMissError, UsageError
from harness.records.case import Fault, GoldenCase, Leg, Limits, TextContent
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.messages import Message, ModelReply, ToolCall, Usage
from harness.records.run import Cell
from harness.records.tool import ToolAnswer, ToolError, tool
from harness.records.trace import Effect, EventData, FinalAnswer, LlmCall, ToolResult, TrialFinished, Warned
from harness.testing.ports import ListPort

Run = Callable[[AgentContext, Question], AsyncIterator[EventData]]


class Shelf:
    """A world with one box that can be written."""

    now = "2026-03-10T09:00:00+00:00"
    user = "vera"

    def __init__(self) -> None:
        self.box = "empty"
        self.embed: Callable[..., Any] | None = None
        self.closed = 0
        self.tools: Sequence[Callable[..., Any]] = (self.look, self.put, self.stuck)
        self.oracles: dict[str, Callable[..., Any]] = {}

    @tool(effect="read", ms=80)
    def look(self) -> str:
        """Look into the box."""
        return self.box

    @tool(effect="write")
    def put(self, thing: str) -> ToolAnswer:
        """Put something into the box."""
        before, self.box = self.box, thing
        return ToolAnswer(value=thing, effects=(Effect("box", "1", before, thing),))

    @tool(effect="read")
    def stuck(self) -> str:
        """Fail."""
        raise ToolError("timeout", "stuck")

    def store_digest(self) -> str:
        return self.box

    def close(self) -> None:
        self.closed += 1

    def diff(self) -> tuple[Effect, ...]:
        return () if self.box == "empty" else (Effect("box", "1", "empty", self.box),)


class Plain:
    """An agent whose `run` is a function."""

    def __init__(self, ctx: AgentContext, run: Run) -> None:
        self._ctx = ctx
        self._run = run

    def run(self, question: Question) -> AsyncIterator[EventData]:
        return self._run(self._ctx, question)


def ran(
    run: Run,
    *replies: ModelReply | ModelError,
    case: GoldenCase | None = None,
    world: Shelf | None = None,
    ms: int = 10,
    judged: bool = True,
) -> RanTrial:
    """Run an agent whose `run` is *run* on a list of replies that take *ms* milliseconds each."""
    volatile = case.volatile if case else ()
    port = ListPort(replies, ms=ms)
    agent = LoadedAgent(name="plain", build=lambda ctx: Plain(ctx, run))
    setup = TrialSetup(
        cell=Cell("plain", "scripted", "set", "case", 0), case=case or GoldenCase(id="case", question="What is in it?"),
        agent=agent, world=world or Shelf(), port=port, clock=VirtualClock(Shelf.now), fingerprints=Fingerprinter(volatile), tape=port,
        default_model="m", judged=judged,
    )  # fmt: skip
    return asyncio.run(run_trial(setup))


def types(trial: RanTrial, leg: int = 0) -> list[str]:
    """Types of the events of a leg, in order."""
    return [event.type for event in trial.traces[leg]]


def end(trial: RanTrial, leg: int = -1) -> Any:
    """The `trial_finished` of a leg."""
    return trial.traces[leg].events[-1].data


async def looks(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Ask the model, run what it asks for, and answer with its next text."""
    messages = [question.message]
    reply = await ctx.models.chat(messages, tools=ctx.tools.specs())
    messages.append(reply.message)
    for call in reply.reply.tool_calls:
        outcome = await ctx.tools.call(call.name, call.args, call_id=call.id, turn=reply.turn, args_raw=call.args_raw)
        messages.append(outcome.message)
    ctx.state.save("session", {"messages": len(messages)})
    reply = await ctx.models.chat(messages, tools=ctx.tools.specs())
    yield FinalAnswer(text=reply.text)


def call(name: str, args: dict[str, Any] | None) -> ModelReply:
    """A reply that asks for one tool call."""
    return ModelReply(text="", tool_calls=(ToolCall("c1", name, str(args), args),), usage=Usage(10, 2))


def test_trace_of_a_plain_trial() -> None:
    """Model and tool events are written for the agent, in order, and time is the recording's."""
    trial = ran(looks, call("look", {}), ModelReply(text="It is empty.", usage=Usage(20, 3)))

    assert [
        "trial_started", "llm_call", "llm_result", "tool_call", "tool_result", "state_saved", "llm_call", "llm_result",
        "final_answer", "trial_finished",
    ] == types(trial)  # fmt: skip
    assert list(range(10)) == [event.seq for event in trial.traces[0]]
    assert 10 + 80 + 10 == trial.traces[0].events[-1].ts
    assert Usage(30, 5) == end(trial).usage
    assert "completed" == end(trial).status


def test_a_tool_call_beyond_the_limit_is_refused_in_the_trace() -> None:
    """The call that goes past the limit is not run, has a result all the same, and ends the trial with that reason."""
    two = ModelReply(text="", tool_calls=(ToolCall("a", "look", "{}", {}), ToolCall("b", "look", "{}", {})))
    case = GoldenCase(id="case", question="What is in it?", limits=Limits(tool_calls=1))
    trial = ran(looks, two, case=case)
    results = [event.data for event in trial.traces[0] if event.type == "tool_result"]

    assert [("a", True, None), ("b", False, "denied")] == [(r.call_id, r.ok, r.error_kind) for r in results]
    assert ("failed", "tool_calls") == (end(trial).status, end(trial).reason)


def test_a_resumed_leg_is_not_asked_again_what_it_was_asked_in_parts() -> None:
    """A question with parts is put once: the leg that goes on gets no text and no image."""

    async def repeats_the_question(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        ctx.state.save("session", {"asked": True})
        yield FinalAnswer(text=f"resumed: {question.text!r}" if question.resume else question.text)

    legs = (Leg(stop_after={"state_saved": 1}), Leg(resume=True))
    case = GoldenCase(id="case", content=(TextContent(text="What is in it?"),), legs=legs)

    assert "resumed: ''" == ran(repeats_the_question, case=case).traces[1].answer


def test_effects_and_store_diff_stand_side_by_side() -> None:
    """What a tool says it changed and what the store says changed are written apart."""
    trial = ran(looks, call("put", {"thing": "pen"}), ModelReply(text="Done."))

    result = trial.traces[0].of("tool_result")[0].data
    assert (Effect("box", "1", "empty", "pen"),) == result.effects
    assert (Effect("box", "1", "empty", "pen"),) == end(trial).store_diff


@pytest.mark.parametrize(
    ("name", "args", "kind", "text"),
    [
        ("lokk", {}, "unknown_tool", "no tool named lokk; available: look, put, stuck"),
        ("put", None, "invalid_args", "arguments for put are not a JSON object"),
        ("put", {"thing": 3}, "invalid_args", "invalid arguments for put: Expected `str`, got `int` - at `$.thing`"),
        ("stuck", {}, "timeout", "stuck"),
    ],
)
def test_what_a_model_gets_wrong_is_a_result(name: str, args: dict[str, Any] | None, kind: str, text: str) -> None:
    """An unknown tool, bad arguments and a failing tool are results that the model reads, and nothing runs."""
    trial = ran(looks, call(name, args), ModelReply(text="Sorry."))

    result = trial.traces[0].of("tool_result")[0].data
    assert (False, kind) == (result.ok, result.error_kind)
    assert text in result.text.replace("\\", "")
    assert () == end(trial).store_diff


def test_a_fault_of_the_case_hits_its_tool() -> None:
    """A fault that the case declares comes instead of the tool's answer."""
    case = GoldenCase(id="case", question="?", faults=(Fault(kind="timeout", tool="look"),))
    trial = ran(looks, call("look", {}), ModelReply(text="Sorry."), case=case)

    assert "timeout" == trial.traces[0].of("tool_result")[0].data.error_kind


def test_a_tool_that_was_not_offered_does_not_run() -> None:
    """A native call of a tool that its model call did not offer is an unknown tool, even where it exists."""

    async def offers_one(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        reply = await ctx.models.chat([question.message], tools=ctx.tools.specs("look"))
        outcome = await ctx.tools.call("put", {"thing": "pen"}, turn=reply.turn)
        yield FinalAnswer(text=outcome.text)

    trial = ran(offers_one, call("put", {"thing": "pen"}))

    assert "unknown_tool" == trial.traces[0].of("tool_result")[0].data.error_kind
    assert () == end(trial).store_diff


def test_a_crash_after_the_last_recorded_call_is_the_agents_own() -> None:
    """An agent that raises when the recording was served to its end fails, and can be judged."""

    async def crashes(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        reply = await ctx.models.chat([question.message])
        yield FinalAnswer(text=reply.text[99])

    trial = ran(crashes, ModelReply(text="short"))

    assert ("", "failed", "crash: IndexError") == (trial.code, end(trial).status, end(trial).reason)
    assert "agent_crash" == trial.traces[0].of("warning")[0].data.code


def test_options_that_an_agent_refuses_are_no_crash_of_it() -> None:
    """What `build` is given was somebody else's choice: it comes through as it is, and the world is given back."""

    def build(ctx: AgentContext) -> Plain:
        raise UsageError("bad-option", "`depth` is 1 to 5, not 9", hint="give it less")

    shelf, port = Shelf(), ListPort([])
    setup = TrialSetup(
        cell=Cell("plain", "scripted", "set", "case", 0), case=GoldenCase(id="case", question="?"),
        agent=LoadedAgent(name="plain", build=build), world=shelf, port=port, clock=VirtualClock(Shelf.now),
        fingerprints=Fingerprinter(()), tape=port, default_model="m",
    )  # fmt: skip

    with pytest.raises(UsageError) as caught:
        asyncio.run(run_trial(setup))
    assert ("`depth` is 1 to 5, not 9", "give it less", 1) == (caught.value.message, caught.value.hint, shelf.closed)


def test_a_usage_error_of_a_running_agent_is_its_own() -> None:
    """Once it runs, an agent that raises has crashed, whatever it raises."""

    async def crashes(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        raise UsageError("bad-option", "too late")
        yield FinalAnswer(text="")

    assert "crash: UsageError" == end(ran(crashes)).reason


def test_a_tool_without_its_means_leaves_nothing_to_judge() -> None:
    """A database that does not answer is nobody's regression: the trial has no verdict, whatever the agent says then."""

    class Unplugged(Shelf):
        @tool(effect="read")
        def look(self) -> str:
            """Look into the box."""
            raise CouldNotCheckError("no-shelf", "the shelf does not answer", hint="plug it in")

    unplugged = Unplugged()
    unplugged.tools = (unplugged.look,)
    trial = ran(looks, call("look", {}), ModelReply(text="It is empty."), world=unplugged)
    result = trial.traces[0].of("tool_result")[0].data

    assert ("no-shelf", "the shelf does not answer") == (trial.code, trial.because)
    assert ("crash", '{"error":"crash","message":"look failed: the shelf does not answer"}') == (
        result.error_kind,
        result.text,
    )


def test_a_crash_before_that_could_not_be_checked() -> None:
    """An agent that raises while recorded calls are left gives no verdict."""

    async def crashes(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        raise KeyError("plan")
        yield

    trial = ran(crashes, ModelReply(text="never asked"))

    assert "agent-crash" == trial.code
    assert trial.because.startswith("KeyError: 'plan' (test_run_trial.py:")
    assert ["trial_started", "warning", "trial_finished"] == types(trial)


def test_an_agent_that_swallows_a_miss_is_caught_all_the_same() -> None:
    """A miss that the agent survives is remembered by the tape."""

    async def survives(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        try:
            await ctx.models.chat([question.message])
        except ReplayMissError:
            yield FinalAnswer(text="All is well.")

    trial = ran(survives)

    assert "cassette-miss" == trial.code
    assert 1 == len(end(trial).cassette_missed)


def test_a_limit_ends_the_trial_and_is_its_reason() -> None:
    """The call beyond the limit is seen in the trace, is not made, and ends the trial."""
    case = GoldenCase(id="case", question="?", limits=Limits(llm_calls=1))
    trial = ran(looks, call("look", {}), ModelReply(text="never"), case=case)

    assert ("failed", "llm_calls") == (end(trial).status, end(trial).reason)
    assert 2 == len(trial.traces[0].of("llm_call"))
    assert 1 == len(trial.traces[0].of("llm_result"))


def test_wall_time_running_out_is_no_verdict() -> None:
    """An agent that hangs is cut off, and the trial could not be checked."""

    async def hangs(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        await asyncio.sleep(30)
        yield FinalAnswer(text="late")

    trial = ran(hangs, case=GoldenCase(id="case", question="?", limits=Limits(seconds=0.02)))

    assert ("timeout", "no end after 0.02 s of wall time") == (trial.code, trial.because)


def test_legs_share_state_and_world_and_have_a_trace_each() -> None:
    """A leg that is cut off leaves its state; the next one loads it and goes on."""

    async def resumes(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        if question.resume:
            saved = ctx.state.load("session")
            yield FinalAnswer(text=f"{saved['messages']} messages")
            return
        async for event in looks(ctx, question):
            yield event

    case = GoldenCase(id="case", question="?", legs=(Leg(stop_after={"state_saved": 1}), Leg(resume=True)))
    trial = ran(resumes, call("put", {"thing": "pen"}), case=case)

    assert ["cancelled", "completed"] == [end(trial, 0).status, end(trial, 1).status]
    assert ["state_saved", "error", "trial_finished"] == types(trial, 0)[-3:]
    assert ["trial_started", "state_loaded", "final_answer", "trial_finished"] == types(trial, 1)
    assert ["put"] == [event.data.tool for event in trial.traces[0].of("tool_call")]
    assert () == end(trial, 1).store_diff


def test_an_agent_cannot_outlive_being_cut_off() -> None:
    """An agent that catches everything is cut off again at its next event."""

    async def stubborn(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        for _ in range(3):
            try:
                ctx.state.save("session", {})
            except BaseException:  # noqa: BLE001
                continue
        yield FinalAnswer(text="still here")

    case = GoldenCase(id="case", question="?", legs=(Leg(stop_after={"state_saved": 1}),))
    trial = ran(stubborn, case=case)

    assert ["trial_started", "state_saved", "error", "trial_finished"] == types(trial)


def test_turns_hand_their_answers_on() -> None:
    """Each turn is asked with the earlier turns as history."""

    async def counts(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        yield FinalAnswer(text=f"{len(question.history)} before")

    trial = ran(counts, case=GoldenCase(id="case", turns=("one", "two")))

    assert ["0 before", "2 before"] == [trace.answer for trace in trial.traces]


def test_what_an_agent_says_while_it_is_built_comes_after_the_start() -> None:
    """`trial_started` is event 0 whatever the agent emits in `build`."""

    def build(ctx: AgentContext) -> Plain:
        ctx.emit(Warned(code="early"))
        return Plain(ctx, looks)

    port = ListPort([call("look", {}), ModelReply(text="ok")])
    setup = TrialSetup(
        cell=Cell("plain", "scripted", "set", "case", 0), case=GoldenCase(id="case", question="?"),
        agent=LoadedAgent(name="plain", build=build), world=Shelf(), port=port, clock=VirtualClock(Shelf.now),
        fingerprints=Fingerprinter(), tape=port, default_model="m",
    )  # fmt: skip

    assert ["trial_started", "warning", "llm_call"] == types(asyncio.run(run_trial(setup)))[:3]


def test_streams_stand_in_the_trace_chunk_by_chunk() -> None:
    """Visible chunks of a streamed reply are events, and the whole reply follows them."""

    async def streams(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        stream = ctx.models.stream([question.message], visible=True)
        texts = [chunk.text async for chunk in stream]
        yield FinalAnswer(text="".join(texts), chunks=len(texts))

    trial = ran(streams, ModelReply(text="It is empty."))

    assert "It is empty." == trial.traces[0].answer
    assert ["It ", "is ", "empty."] == [event.data.text for event in trial.traces[0].of("llm_chunk")]
    assert [True] * 3 == [event.data.visible for event in trial.traces[0].of("llm_chunk")]


def test_embeddings_are_calls_of_the_trace() -> None:
    """An embedding is a model call like any other, marked as one."""

    async def embeds(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        reply = await ctx.models.embed(["abc"], model="e5")
        yield FinalAnswer(text=str(reply.vectors[0][0]))

    trial = ran(embeds)

    assert "3.0" == trial.traces[0].answer
    assert "embedding" == trial.traces[0].of("llm_call")[0].data.stage


def test_a_model_error_is_in_the_trace_and_reaches_the_agent() -> None:
    """A failed call is one `llm_call` and one `llm_result` that names the error's class."""

    async def gives_up(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        try:
            await ctx.models.chat([question.message])
        except ModelError as error:
            yield FinalAnswer(text=error.kind)

    trial = ran(gives_up, ModelError("rate_limit", "slow down", status=429, ms=5))

    result = trial.traces[0].of("llm_result")[0]
    assert ("rate_limit", 429, 5) == (result.data.error.kind, result.data.error.status, result.ts)
    assert "rate_limit" == trial.traces[0].answer


def test_a_call_states_what_it_really_shows() -> None:
    """Of the texts that an agent says it embeds, those count that stand in a system or user message."""
    asked = ToolCall("1", "look", "{}", {})
    messages = [
        Message("system", "Be kind."),
        Message("user", "PLAN:\n[ ] 1. look"),
        Message("assistant", "I look.", (asked,)),
        Message("tool", "[x] 1. look", (), "1"),
    ]
    embeds = {"plan": "[ ] 1. look", "later": "[x] 1. look", "never": "[ ] 2. write"}

    async def shows(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        reply = await ctx.models.chat(messages, embeds=embeds)
        yield FinalAnswer(text=reply.text)

    called = ran(shows, ModelReply(text="ok")).traces[0].of("llm_call")[0].data

    assert {"plan": digest("[ ] 1. look")} == called.embeds
    assert ((2, digest("I look.")),) == called.said_digests


@pytest.mark.parametrize(
    "forged",
    [
        ToolResult(call_id="1", tool="look", ok=True, text="7"),
        LlmCall(purpose="agent", model="m", messages_digest="d", n_messages=1, cassette_key="k"),
        TrialFinished(status="completed"),
    ],
)
def test_an_agent_cannot_write_what_the_runtime_writes(forged: EventData) -> None:
    """Calls, results and the ends of a trial are not an agent's to tell, by `emit` or by `yield`."""

    async def emits(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        ctx.emit(forged)
        yield FinalAnswer(text="7")

    async def yields(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        yield forged

    for run in (emits, yields):
        events = ran(run).traces[0].events

        assert ["trial_started", "warning", "trial_finished"] == [event.type for event in events]
        assert f"an agent cannot write {forged.type} itself; ctx does" in events[1].data.detail


def test_a_call_finds_its_turn() -> None:
    """A call whose agent does not say its turn gets that of the reply that asked for it under the same id."""

    async def forgetful(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        await ctx.models.chat([question.message], tools=ctx.tools.specs("look"))
        await ctx.tools.call("look", {}, call_id="x")
        ctx.tools.refuse("look", {}, "no", call_id="x")
        await ctx.tools.call("look", {}, call_id="own")
        yield FinalAnswer(text="ok")

    trace = ran(forgetful, ModelReply(text="", tool_calls=(ToolCall("x", "look", "{}", {}),))).traces[0]

    assert [1, 1, None] == [event.turn for event in trace.of("tool_call")]


def test_a_volatile_pattern_that_matched_nothing_is_told() -> None:
    """A pattern that no message holds is a warning of the last leg; one that matched is not."""
    case = GoldenCase(id="case", question="At 12:34?", volatile=("[0-9]{2}:[0-9]{2}", "order [0-9]+"))
    trial = ran(looks, call("look", {}), ModelReply(text="Empty."), case=case)

    warnings = [(event.data.code, event.data.detail) for event in trial.traces[0].of("warning")]
    assert [("unmatched_volatile", "the case declares order [0-9]+ volatile, and nothing matched it")] == warnings


@pytest.mark.parametrize("leaving", [SystemExit(0), asyncio.CancelledError(), TimeoutError("its own")])
def test_an_agent_that_leaves_is_a_crash_and_never_the_end_of_the_run(leaving: BaseException) -> None:
    """`sys.exit(0)`, a cancellation or a time-out of the agent's own making gives no verdict while calls are left."""

    async def leaves(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        raise leaving
        yield

    trial = ran(leaves, ModelReply(text="never asked"))

    assert "agent-crash" == trial.code
    assert trial.because.startswith(f"{type(leaving).__name__}: ")


def test_an_endless_loop_is_ended() -> None:
    """An agent that never awaits is cut off too, however much it catches."""

    async def spins(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        while True:
            try:
                while True:
                    pass
            except Exception:  # noqa: BLE001
                pass
        yield

    trial = ran(spins, case=GoldenCase(id="case", question="?", limits=Limits(seconds=0.01)))

    assert ("timeout", "no end after 0.01 s of wall time; the agent does not give control back") == (
        trial.code, trial.because,
    )  # fmt: skip


@pytest.mark.parametrize("reply", [ModelReply(text="It is empty."), ModelError("overloaded", "later", ms=7)])
def test_the_sync_client_writes_the_same_trace(reply: ModelReply | ModelError) -> None:
    """Streaming and asking without an event loop give, event for event, what the async client gives."""

    async def awaits(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        with suppress(ModelError):
            stream = ctx.models.stream([question.message], visible=True)
            yield FinalAnswer(text="".join([chunk.text async for chunk in stream]))
        with suppress(ModelError):
            await ctx.models.chat([question.message], stream=True)

    async def waits(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        with suppress(ModelError):
            stream = ctx.models.stream([question.message], visible=True)
            yield FinalAnswer(text="".join([chunk.text for chunk in stream]))
        with suppress(ModelError):
            ctx.models.chat_sync([question.message], stream=True)

    assert ran(awaits, reply, reply).traces[0].events == ran(waits, reply, reply).traces[0].events


def test_a_task_that_the_agent_left_running_gives_no_verdict() -> None:
    """What an agent starts and does not wait for could still call a model: it is cancelled, and the trial not judged."""
    ended = []

    async def lingers(ctx: AgentContext, question: Question) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("cancelled")

    async def leaves(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
        ctx.left = asyncio.create_task(lingers(ctx, question))
        await asyncio.sleep(0)
        yield FinalAnswer(text="Done.")

    trial = ran(leaves)

    assert ("agent-left-tasks", "1 of the agent's tasks were still running when it ended") == (
        trial.code,
        trial.because,
    )
    assert ["cancelled"] == ended


def test_a_fault_that_never_comes_gives_no_verdict() -> None:
    """A fault on a tool that is not called, by a misspelt name for one, is told instead of passed over."""
    case = GoldenCase(id="case", question="?", faults=(Fault(kind="timeout", tool="lokk"),))
    trial = ran(looks, call("look", {}), ModelReply(text="Empty."), case=case)

    assert ("fault-unused", "the fault on lokk never came: no call") == (trial.code, trial.because)


def test_an_oracle_speaks_to_contracts_alone() -> None:
    """What the world's rows say to a good call stands beside its result, and not in what the model gets."""
    world = Shelf()
    world.oracles = {"look": lambda: {"box": world.box}, "stuck": lambda: 1}
    trial = ran(looks, call("look", {}), ModelReply(text="."), world=world)
    failed = ran(looks, call("stuck", {}), ModelReply(text="."), world=world)
    served = ran(looks, call("look", {}), ModelReply(text="."), world=world, judged=False)

    assert [("empty", {"box": "empty"})] == [(r.data.text, r.data.expected) for r in trial.traces[0].of("tool_result")]
    assert [None] == [result.data.expected for result in failed.traces[0].of("tool_result")]
    assert [None] == [result.data.expected for result in served.traces[0].of("tool_result")]


def test_an_oracle_that_fails_does_not_fail_the_tool() -> None:
    """A mistake in an oracle is told to the contract that wanted to compare, and changes nothing in the run."""
    world = Shelf()
    world.oracles = {"look": lambda: {}["box"]}
    trial = ran(looks, call("look", {}), ModelReply(text="."), world=world)
    result = trial.traces[0].of("tool_result")[0].data

    assert (True, "empty", {"oracle_failed": "KeyError: 'box'"}) == (result.ok, result.text, result.expected)
