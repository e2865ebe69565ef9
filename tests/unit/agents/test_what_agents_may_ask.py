"""What a trial's context offers beside plain calls: time-outs, calls at once, shortened and repeated results."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from harness.agents.protocol import AgentContext, Question
from harness.records.faults import ModelError
from harness.records.messages import ModelReply
from harness.records.trace import ErrorRaised, EventData, FinalAnswer, PhaseFinished, PhaseStarted

_spec = importlib.util.spec_from_file_location("run_trial_ground", Path(__file__).with_name("test_run_trial.py"))
assert _spec is not None
assert _spec.loader is not None
ground = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(ground)


STOPPED = ErrorRaised(kind="tool_calls", message="no more", where="harness")


async def three_at_once(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Ask three times at once."""
    asked = (ctx.models.chat([question.message], slot=f"check/{i}", purpose="check") for i in range(3))
    replies = await asyncio.gather(*asked)
    yield FinalAnswer(text=" ".join(reply.text for reply in replies))


async def impatient(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Give the model half a second."""
    try:
        reply = await ctx.models.chat([question.message], timeout_ms=500)
    except ModelError as error:
        yield FinalAnswer(text=f"{error.kind}: {error.message}")
    else:
        yield FinalAnswer(text=reply.text)


async def impatient_reader(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Give the model half a second for a stream."""
    stream = ctx.models.stream([question.message], timeout_ms=500)
    try:
        async for _chunk in stream:
            pass
    except ModelError as error:
        yield FinalAnswer(text=error.kind)


async def shortens(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Look into the box and keep two letters of it, then keep all."""
    first = await ctx.tools.call("look", {}, cut=lambda value, text: text[:2])
    second = await ctx.tools.call("look", {}, cut=lambda value, text: text)
    failed = await ctx.tools.call("stuck", {}, cut=lambda value, text: "")
    yield FinalAnswer(text=f"{first.text} {second.text} {failed.error_kind}")


async def repeats(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Put something into the box, and answer the same call again from memory."""
    outcome = await ctx.tools.call("put", {"thing": "cat"})
    again = ctx.tools.reuse(outcome, {"thing": "cat"}, source="tool_code", block_index=1)
    yield FinalAnswer(text=f"{outcome.text} {again.text} {again.call_id}")


async def invents(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Answer calls with results that no tool gave: made up, of other arguments, and of a call that was refused."""
    outcome = await ctx.tools.call("put", {"thing": "cat"})
    refused = ctx.tools.refuse("put", {"thing": "dog"}, "no")
    made_up = msgspec.structs.replace(outcome, text="put a dog")
    told = []
    for result, thing in ((made_up, "cat"), (outcome, "dog"), (outcome, True), (refused, "dog")):
        try:
            ctx.tools.reuse(result, {"thing": thing})
        except ValueError as error:
            told.append(str(error))
    yield FinalAnswer(text="; ".join(told))


async def speaks_for_the_harness(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Say what only the runtime may say."""
    told = []
    for event in (PhaseStarted(name="respond"), PhaseFinished(name="respond", ok=True), STOPPED):
        try:
            ctx.emit(event)
        except (TypeError, ValueError) as error:
            told.append(str(error))
    yield FinalAnswer(text="; ".join(told))


async def shows(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Stream unseen and show a part of it."""
    stream = ctx.models.stream([question.message])
    async for _chunk in stream:
        pass
    ctx.show("It is ")
    ctx.show("empty.")
    yield FinalAnswer(text="It is empty.", chunks=2)


async def embeds(ctx: AgentContext, question: Question) -> AsyncIterator[EventData]:
    """Let the world embed."""
    yield FinalAnswer(text="done")


def events(trial: Any, type_: str) -> list[Any]:
    """Data of the events of a type."""
    return [event.data for event in trial.traces[0] if event.type == type_]


def test_calls_with_a_slot_overlap_in_the_trace() -> None:
    """Calls that are made at once begin before the first of them ends, and the clock moves by the longest."""
    trial = ground.ran(three_at_once, *[ModelReply(text=text) for text in ("one", "two", "three")])

    assert [
        "trial_started", "llm_call", "llm_call", "llm_call", "llm_result", "llm_result", "llm_result", "final_answer",
        "trial_finished",
    ] == ground.types(trial)  # fmt: skip
    assert "one two three" == trial.traces[0].answer
    assert 10 == trial.traces[0].events[-1].ts


def test_a_reply_that_took_too_long_is_a_timeout() -> None:
    """The recorded time counts: the caller gets an error, the trace an error result, the clock what was given."""
    trial = ground.ran(impatient, ModelReply(text="late"), ms=501)

    assert "timeout: no reply within 500 ms" == trial.traces[0].answer
    assert ["timeout"] == [result.error.kind for result in events(trial, "llm_result")]
    assert 500 == trial.traces[0].events[-1].ts


def test_a_reply_in_time_is_a_reply() -> None:
    """The bound itself is in time."""
    assert "in time" == ground.ran(impatient, ModelReply(text="in time"), ms=500).traces[0].answer


def test_a_stream_that_took_too_long_is_a_timeout() -> None:
    """A stream is held to its time at its end."""
    assert "timeout" == ground.ran(impatient_reader, ModelReply(text="late"), ms=501).traces[0].answer


def test_a_cut_result_says_so() -> None:
    """The model gets the shortened text and the trace says that it is one; failures are left as they are."""
    trial = ground.ran(shortens)

    assert "em empty timeout" == trial.traces[0].answer
    assert [("em", True), ("empty", False)] == [(r.text, r.truncated) for r in events(trial, "tool_result") if r.ok]


def test_a_reused_result_runs_nothing() -> None:
    """The same call again has the earlier text, no effects, and is marked as cached; the store changed once."""
    trial = ground.ran(repeats)

    assert "cat cat call-2" == trial.traces[0].answer
    assert [(False, 1), (True, 0)] == [(r.cached, len(r.effects)) for r in events(trial, "tool_result")]
    assert [("native", None), ("tool_code", 1)] == [(c.source, c.block_index) for c in events(trial, "tool_call")]
    assert 1 == len(ground.end(trial).store_diff)


def test_what_an_agent_shows_of_a_stream() -> None:
    """Shown texts are visible chunks in the turn of the last call; the stream's own are not."""
    trial = ground.ran(shows, ModelReply(text="It is <hidden> empty."))
    visible = [event for event in trial.traces[0] if event.type == "llm_chunk" and event.data.visible]

    assert ["It is ", "empty."] == [event.data.text for event in visible]
    assert [1, 1] == [event.turn for event in visible]


def test_the_world_embeds_by_the_trials_client_and_is_closed() -> None:
    """The runtime hands the world the trial's own client, and closes the world once at the end."""
    shelf = ground.Shelf()
    ground.ran(embeds, world=shelf)

    assert shelf.embed is not None
    assert 1 == shelf.closed


def test_only_what_a_tool_said_can_be_said_again() -> None:
    """A result that no tool gave to the same call stands in no trace as one that was remembered."""
    trial = ground.ran(invents)

    assert (
        "; ".join(["only what `call` gave to the same tool and arguments can be reused"] * 4) == trial.traces[0].answer
    )
    assert [False, False] == [result.cached for result in events(trial, "tool_result")]


def test_agents_do_not_speak_for_the_harness() -> None:
    """Phases begin by `ctx.phase` alone, and an error of the harness is its own to raise: contracts rely on both."""
    trial = ground.ran(speaks_for_the_harness)

    told = (
        "an agent cannot write phase_started itself; ctx does; an agent cannot write phase_finished itself; ctx does; "
        "an agent cannot raise an error of the harness"
    )
    assert told == trial.traces[0].answer
    assert "completed" == trial.traces[0].events[-1].data.status
