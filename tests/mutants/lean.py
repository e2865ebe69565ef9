"""Mutants of the lean loop: its one loop, its plan, its saved state and its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from harness.agents.protocol import AgentContext, Question
from harness.records.messages import Message
from harness.records.trace import ErrorRaised, EventData, FinalAnswer
from harness.testing.fakes import call, calls, fails, says
from harness.testing.mutants import Mutant

from .ground import ARCHIVE, BERLIN, CREATE, GAMMA, LEAN, NOTE, SIMPLE, STOPPED, World, done, lean

RAINY = says("It rains in Berlin.")
WORKED_OFF = (calls(CREATE), calls(BERLIN), calls(done(1)), calls(NOTE), calls(done(2)), says("Noted."))
PLANNED_AND_DONE = calls(CREATE, BERLIN, done(1), NOTE, done(2))


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


class ShowsAnOldPlan(Lean):
    """Renders the plan once, when there first is one."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        rendered, first = self._planner.render, []

        def render() -> str:
            first.extend([plan] if not first and (plan := rendered()) else [])
            return first[0] if first else ""

        self._planner.render = render


class HidesThePlan(Lean):
    """Says that it shows the plan, and never appends the note."""

    def _show_plan(self, session: Any) -> None:
        pass


class CountsFromZero(Lean):
    """Takes the numbers of steps for positions in a list."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        mark_done = self._planner._mark_done
        self._planner._mark_done = lambda number: mark_done(min(number + 1, len(self._planner.steps)))


class TellsOfReading(Lean):
    """Tells of a changed plan when the plan was only read."""

    async def _run_tool(self, session: Any, turn: int, asked: Any, **how: Any) -> Any:
        outcome = await super()._run_tool(session, turn, asked, **how)
        if (asked.args or {}).get("action") == "read_plan":
            self._tell_plan("read_plan", turn)
        return outcome


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


class SavesAtTheEnd(Lean):
    """Saves when it has answered."""

    def _save(self, session: Any) -> None:
        if session.messages[-1].role == "assistant":
            super()._save(session)


class SavesAnOldPlan(Lean):
    """Saves the plan as it was a round ago."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        current, last = self._planner.get_state, [[]]

        def before() -> Any:
            last.append(current())
            return last.pop(0)

        self._planner.get_state = before


class RestartsThePlan(Lean):
    """Opens every step again when a session is resumed."""

    def _open(self, question: Question) -> Any:
        session = super()._open(question)
        self._planner.set_state([{**step, "status": "PENDING"} for step in self._planner.get_state()])
        return session


class StartsOver(Lean):
    """Resumes with the question alone."""

    def _open(self, question: Question) -> Any:
        session = super()._open(question)
        if question.resume:
            session.messages = session.messages[:2]
        return session


class WritesAfterResume(Lean):
    """Does not remember what it wrote before the stop."""

    def _open(self, question: Question) -> Any:
        session = super()._open(question)
        session.writes_before = frozenset()
        return session


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


class PlansTheWeather(Lean):
    """Makes a plan of one step of every question."""

    def _open(self, question: Question) -> Any:
        session = super()._open(question)
        self._fresh = True
        return session

    async def _run_tools(self, session: Any, reply: Any) -> None:
        if self._fresh:
            self._fresh = False
            await self._ctx.tools.call("manage_plan", {"action": "create_plan", "tasks": ["look"]})
            self._tell_plan("create_plan", reply.turn)
        await super()._run_tools(session, reply)


class TicksEverythingOff(Lean):
    """Marks each step as done as soon as the plan is made."""

    async def _run_tools(self, session: Any, reply: Any) -> None:
        await super()._run_tools(session, reply)
        for step in self._planner.steps:
            if step.status != "DONE":
                await self._ctx.tools.call("manage_plan", {"action": "mark_done", "step_index": step.n})
                self._tell_plan("mark_done", reply.turn)
        self._show_plan(session)
        self._save(session)


class TriesAgain(Lean):
    """Repeats a failed call by itself until the limit."""

    async def _run_tool(self, session: Any, turn: int, asked: Any, **how: Any) -> Any:
        for _ in range(4):
            outcome = await super()._run_tool(session, turn, asked, **how)
            if outcome.ok:
                break
        return outcome


class ErrorsAreFree(Lean):
    """Counts no failed call."""

    def _gives_up(self, session: Any, error: Any) -> bool:
        session.errors += 1
        session.steps -= 1
        return False


class LimitIsAnAnswer(Lean):
    """Calls a run complete that came to its limit."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and end well whatever happens."""
        async for event in super().run(question):
            yield FinalAnswer(text="That is as far as I came.") if isinstance(event, ErrorRaised) else event


class AnswersBesideTheTick(Lean):
    """Takes the text beside the last mark for the answer."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work until every step is done."""
        session = self._open(question)
        while True:
            session.steps += 1
            reply = await self._ask(session)
            await self._run_tools(session, reply)
            if all(step.status == "DONE" for step in self._planner.steps):
                yield FinalAnswer(text=reply.text)
                return


class TicksAfterTheAnswer(Lean):
    """Keeps the books after the answer."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Answer, then mark the last step."""
        async for event in super().run(question):
            yield event
        await self._ctx.tools.call("manage_plan", {"action": "read_plan"})


SEARCHED = (calls(GAMMA), calls(ARCHIVE), says("There is an archive entry on it."))
BROKEN = calls(call("broken_tool"))
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
        id="lean-shows-an-old-plan", contract="CL2", about="renders the plan once, at the start", agent=LEAN,
        because="shown another plan than the one in force", build=ShowsAnOldPlan, world=World, replies=WORKED_OFF,
    ),
    Mutant(
        id="lean-hides-the-plan", contract="CL2", about="claims to show the plan, and does not", agent=LEAN,
        because="there is a plan, and the model is not shown it", build=HidesThePlan, world=World,
        replies=WORKED_OFF,
    ),
    Mutant(
        id="lean-counts-from-zero", contract="CL3", about="marks the step after the one that was named", agent=LEAN,
        because="after mark_done the plan is 1 2✓, expected 1✓ 2", build=CountsFromZero, world=World,
        replies=WORKED_OFF, also={"CL10": "the first step is never marked"},
    ),
    Mutant(
        id="lean-tells-of-reading", contract="CL3", about="tells of a change when the plan was read", agent=LEAN,
        because="read_plan changed nothing, yet plan_updated says so", build=TellsOfReading, world=World,
        replies=(calls(CREATE, BERLIN, done(1)), calls(call("manage_plan", action="read_plan")), *WORKED_OFF[3:]),
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
        id="lean-saves-at-the-end", contract="CL6", about="saves when it has answered", agent=LEAN,
        because="a round of tools is not saved", build=SavesAtTheEnd, world=World, replies=(calls(BERLIN), RAINY),
    ),
    Mutant(
        id="lean-saves-an-old-plan", contract="CL6", about="saves the plan of the round before", agent=LEAN,
        because="the saved plan is not the plan in force", build=SavesAnOldPlan, world=World, replies=WORKED_OFF,
    ),
    Mutant(
        id="lean-restarts-the-plan", contract="CL7", about="opens every step again when it resumes", agent=LEAN,
        because="the first model call does not show the saved plan", build=RestartsThePlan, world=World, case=STOPPED,
        options={"plan_injection": "tail"}, replies=(calls(BERLIN), PLANNED_AND_DONE, says("Noted.")),
        also={"CL2": "the plan that is shown is not the one in force, in any leg"},
    ),
    Mutant(
        id="lean-starts-over", contract="CL7", about="resumes with the question alone", agent=LEAN, build=StartsOver,
        because="does not go on with the saved messages", world=World, case=STOPPED,
        replies=(calls(BERLIN), calls(call("list_notes")), RAINY),
    ),
    Mutant(
        id="lean-writes-after-resume", contract="CL7", about="repeats a write that was done before the stop",
        because="write_note repeats a write of an earlier leg", agent=LEAN, build=WritesAfterResume, world=World,
        case=STOPPED, replies=(calls(BERLIN), calls(NOTE), calls(NOTE), says("Noted.")),
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
        id="lean-plans-the-weather", contract="CL9", about="plans what the weather is", case=SIMPLE, agent=LEAN,
        because="a simple question is planned", build=PlansTheWeather, world=World, replies=(calls(BERLIN), RAINY),
        also={"CX13": "the same rule, for every design"},
    ),
    Mutant(
        id="lean-ticks-everything-off", contract="CL10", about="marks every step done in one burst", agent=LEAN,
        because="step 1 is marked done without any work of its own", build=TicksEverythingOff, world=World,
        replies=(calls(CREATE), calls(BERLIN), says("Noted.")), sound_replies=WORKED_OFF,
    ),
    Mutant(
        id="lean-tries-again", contract="CL11", about="repeats a failed search until a limit", agent=LEAN,
        because="is repeated", build=TriesAgain, world=World, replies=SEARCHED,
        also={"CL4": "each call runs once"},
    ),
    Mutant(
        id="lean-keeps-its-query", contract="CL11", about="searches with the first query for ever", agent=LEAN,
        because="search is repeated with the same arguments", build=RunsOtherArguments, world=World,
        replies=SEARCHED,
        also={"CL4": "the query that was asked for is not run", "CX14": "the same rule, for every design"},
    ),
    Mutant(
        id="lean-errors-are-free", contract="CL12", about="counts no failed call", agent=LEAN, build=ErrorsAreFree,
        because="a model call did not count", replies=(*[fails()] * 4, RAINY),
    ),
    Mutant(
        id="lean-limit-is-an-answer", contract="CL12", about="calls a run complete that came to its limit",
        because="2 steps end as completed", agent=LEAN, build=LimitIsAnAnswer, world=World, options={"max_steps": 2},
        replies=(calls(BERLIN), calls(call("list_notes"))),
        also={"CL4": "the last calls asked for an answer that the loop made up"},
    ),
    Mutant(
        id="lean-answers-beside-the-tick", contract="CL13", about="the text beside the last mark is the answer",
        because="the answer stands beside a call of the plan tool", agent=LEAN, build=AnswersBesideTheTick,
        world=World, replies=(calls(CREATE), calls(BERLIN, done(1)), calls(NOTE, done(2), text="Noted.")),
        sound_replies=WORKED_OFF, also={"CL4": "the loop does not go on after the marks"},
    ),
    Mutant(
        id="lean-ticks-after-the-answer", contract="CL13", about="keeps the books after the answer",
        because="the plan tool is called after the answer", agent=LEAN, build=TicksAfterTheAnswer, world=World,
        replies=WORKED_OFF, also={"CX5": "nothing but bookkeeping of the run follows an answer"},
    ),
)  # fmt: skip
