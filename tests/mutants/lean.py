"""Mutants of the lean loop: one loop, every call run once, the answer word for word, and an end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from harness.agents.protocol import AgentContext, Question
from harness.records.messages import Message
from harness.records.trace import ErrorRaised, EventData, FinalAnswer
from harness.testing.fakes import call, calls, fails, says
from harness.testing.mutants import Mutant

from .ground import BERLIN, LEAN, NOTE, World, lean

RAINY = says("It rains in Berlin.")
BROKEN = calls(call("broken_tool"))


class Lean(lean.LeanReact):
    """The lean loop with a way to ask the model once more."""

    async def once_more(self, session: Any, purpose: str, text: str) -> Any:
        """Ask *text* after the conversation."""
        messages = [*session.messages, Message("user", text)]
        return await self._ctx.models.chat(messages, purpose=purpose, round=session.steps)


class PlansFirst(Lean):
    """Makes a model call of its own for a plan before the loop."""

    def _open(self, question: Question) -> Any:
        self._planned = False
        return super()._open(question)

    async def _ask(self, session: Any) -> Any:
        if not self._planned:
            self._planned = True
            await self.once_more(session, "plan", "How will you go about it?")
        return await super()._ask(session)


class ChangesReplies(Lean):
    """Works on another reply than the model gave."""

    async def _run_tools(self, session: Any, reply: Any) -> None:
        changed = msgspec.structs.replace(reply.reply, **self._changes(reply.reply))
        await super()._run_tools(session, msgspec.structs.replace(reply, reply=changed))

    def _changes(self, reply: Any) -> dict[str, Any]:
        return {}


class RunsTheFirstCall(ChangesReplies):
    """Runs the first of parallel calls."""

    def _changes(self, reply: Any) -> dict[str, Any]:
        return {"tool_calls": reply.tool_calls[:1]}


class DropsTheText(ChangesReplies):
    """Keeps the calls of a reply and not its text."""

    def _changes(self, reply: Any) -> dict[str, Any]:
        return {"text": ""}


class RunsOtherArguments(ChangesReplies):
    """Runs each call with the arguments of the first of its kind."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        self._first: dict[str, Any] = {}

    def _changes(self, reply: Any) -> dict[str, Any]:
        kept = [self._first.setdefault(asked.name, asked) for asked in reply.tool_calls]
        renamed = [msgspec.structs.replace(old, id=new.id) for old, new in zip(kept, reply.tool_calls, strict=True)]
        return {"tool_calls": tuple(renamed)}


class ForgetsAResult(Lean):
    """Leaves the result of the last call out of the conversation."""

    async def _run_tools(self, session: Any, reply: Any) -> None:
        await super()._run_tools(session, reply)
        del session.messages[-1]


class SumsUp(Lean):
    """Asks once more for a summary when the answer is there."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and answer with what the model makes of the answer."""
        async for event in super().run(question):
            if isinstance(event, FinalAnswer):
                reply = await self.once_more(self._open(question), "agent", f"Sum up: {event.text}")
                event = FinalAnswer(text=reply.text)  # noqa: PLW2901
            yield event


class Embellishes(Lean):
    """Adds a line of its own to the answer."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and answer with a little more."""
        async for event in super().run(question):
            yield FinalAnswer(text=f"{event.text}\n\nAsk me anything!") if isinstance(event, FinalAnswer) else event


class RaisesOnFailure(Lean):
    """Lets a failed tool end the run."""

    async def _run_tool(self, session: Any, turn: int, asked: Any, **how: Any) -> Any:
        outcome = await super()._run_tool(session, turn, asked, **how)
        if not outcome.ok:
            raise RuntimeError(outcome.text)
        return outcome


class EndsOnFailure(RaisesOnFailure):
    """Lets a failed tool end the run, and says so."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work until a tool fails."""
        try:
            async for event in super().run(question):
                yield event
        except RuntimeError as error:
            yield ErrorRaised(kind="tool_failed", message=str(error))


class ErrorsAreFree(Lean):
    """Counts no failed call."""

    def _gives_up(self, session: Any, error: Any) -> bool:
        session.errors += 1
        session.steps -= 1
        return False


class DiesSilently(Lean):
    """Stops without a word when the model fails three times."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and swallow what went wrong."""
        async for event in super().run(question):
            if not isinstance(event, ErrorRaised):
                yield event


class LimitIsAnAnswer(Lean):
    """Calls a run complete that came to its limit."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and end well whatever happens."""
        async for event in super().run(question):
            yield FinalAnswer(text="That is as far as I came.") if isinstance(event, ErrorRaised) else event


MUTANTS = (
    Mutant(
        id="lean-plans-first", contract="CL1", about="makes a planning call before the loop", agent=LEAN,
        because="a model call with purpose plan beside the loop", build=PlansFirst, world=World,
        replies=(says("I look it up."), calls(BERLIN), RAINY), sound_replies=(calls(BERLIN), RAINY),
        also={
            "CL5": "what the planning call says is a text without tool calls, and not the answer",
            "CL12": "the planning call does not count as a step",
        },
    ),
    Mutant(
        id="lean-runs-the-first-call", contract="CL4", about="runs the first of parallel calls", agent=LEAN,
        because="asked for get_weather, list_notes, ran get_weather", build=RunsTheFirstCall, world=World,
        replies=(calls(BERLIN, call("list_notes")), RAINY),
    ),
    Mutant(
        id="lean-drops-the-text", contract="CL4", about="drops the text beside tool calls", agent=LEAN,
        because="the text beside the tool calls is not in the next call's messages", build=DropsTheText, world=World,
        replies=(calls(BERLIN, text="I look it up."), RAINY),
    ),
    Mutant(
        id="lean-runs-other-arguments", contract="CL4", about="runs a call with other arguments than were asked for",
        because="write_note ran with other arguments than were asked for", agent=LEAN, build=RunsOtherArguments,
        world=World, replies=(calls(NOTE), calls(call("write_note", text="rain")), says("Noted.")),
    ),
    Mutant(
        id="lean-forgets-a-result", contract="CL4", about="keeps the result of a call from the model", agent=LEAN,
        because="the next call's messages do not hold all results", build=ForgetsAResult, world=World,
        replies=(calls(BERLIN, call("list_notes")), RAINY),
    ),
    Mutant(
        id="lean-sums-up", contract="CL5", about="asks the model once more for a summary", agent=LEAN, build=SumsUp,
        because="a model call follows the reply that answers", replies=(RAINY, says("Rain.")), sound_replies=(RAINY,),
        also={"CL12": "the summary does not count as a step"},
    ),
    Mutant(
        id="lean-embellishes", contract="CL5", about="adds to the answer", agent=LEAN, build=Embellishes,
        because="the answer is not the model's reply word for word", replies=(RAINY,),
    ),
    Mutant(
        id="lean-raises-on-failure", contract="CL8", about="raises to the caller when a tool fails", agent=LEAN,
        because="the run ends after broken_tool failed", build=RaisesOnFailure, world=World, replies=(BROKEN,),
        sound_replies=(BROKEN, RAINY), also={"CX5": "the exception is no error event"},
    ),
    Mutant(
        id="lean-ends-on-failure", contract="CL8", about="ends the run when a tool fails", agent=LEAN,
        because="the run ends after broken_tool failed", build=EndsOnFailure, world=World, replies=(BROKEN,),
        sound_replies=(BROKEN, RAINY),
    ),
    Mutant(
        id="lean-errors-are-free", contract="CL12", about="counts no failed call", agent=LEAN, build=ErrorsAreFree,
        because="a model call did not count", replies=(*[fails()] * 4, RAINY),
    ),
    Mutant(
        id="lean-dies-silently", contract="CL12", about="three errors end as if nothing were wrong", agent=LEAN,
        because="three errors in a row end as completed", build=DiesSilently, replies=(fails(), fails(), fails()),
        also={"CX5": "a completed run without an answer"},
    ),
    Mutant(
        id="lean-limit-is-an-answer", contract="CL12", about="calls a run complete that came to its limit",
        because="2 steps end as completed", agent=LEAN, build=LimitIsAnAnswer, world=World, options={"max_steps": 2},
        replies=(calls(BERLIN), calls(call("list_notes"))),
        also={"CL4": "the last calls asked for an answer that the loop made up"},
    ),
)  # fmt: skip
