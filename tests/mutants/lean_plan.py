"""Mutants of the lean loop: its plan, its saved state, and its good sense."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from harness.agents.protocol import AgentContext, Question
from harness.records.messages import Message
from harness.records.trace import EventData, FinalAnswer
from harness.testing.fakes import call, calls, says
from harness.testing.mutants import Mutant

from .ground import ARCHIVE, BERLIN, CREATE, GAMMA, LEAN, NOTE, SIMPLE, STOPPED, World, done
from .lean import RAINY, Lean, RunsOtherArguments

WORKED_OFF = (calls(CREATE), calls(BERLIN), calls(done(1)), calls(NOTE), calls(done(2)), says("Noted."))
PLANNED_AND_DONE = calls(CREATE, BERLIN, done(1), NOTE, done(2))
SEARCHED = (calls(GAMMA), calls(ARCHIVE), says("There is an archive entry on it."))


class ShowsAnOldPlan(Lean):
    """Renders the plan once, when there first is one."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        rendered, first = self._planner.render, []

        def render() -> str:
            first.extend([plan] if not first and (plan := rendered()) else [])
            return first[0] if first else ""

        self._planner.render = render


class ShowsAnEmptyPlan(Lean):
    """Shows the plan before there is one."""

    async def _ask(self, session: Any) -> Any:
        shown = self._planner.render
        if not self._planner.steps:
            session.messages.append(Message("user", "no steps yet"))
            self._planner.render = lambda: "no steps yet"
        try:
            return await super()._ask(session)
        finally:
            self._planner.render = shown


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


class SavesAtTheEnd(Lean):
    """Saves when it has answered."""

    def _save(self, session: Any) -> None:
        if session.messages[-1].role == "assistant":
            super()._save(session)


class SavesTheQuestion(Lean):
    """Saves the conversation as it began."""

    def _save(self, session: Any) -> None:
        messages, session.messages = session.messages, session.messages[:2]
        super()._save(session)
        session.messages = messages


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


MUTANTS = (
    Mutant(
        id="lean-shows-an-old-plan", contract="CL2", about="renders the plan once, at the start", agent=LEAN,
        because="shown another plan than the one in force", build=ShowsAnOldPlan, world=World, replies=WORKED_OFF,
    ),
    Mutant(
        id="lean-shows-an-empty-plan", contract="CL2", about="shows a plan where there is none", agent=LEAN,
        because="the model is shown a plan, and there is none", build=ShowsAnEmptyPlan, world=World,
        replies=WORKED_OFF,
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
        id="lean-saves-at-the-end", contract="CL6", about="saves when it has answered", agent=LEAN,
        because="a round of tools is not saved", build=SavesAtTheEnd, world=World, replies=(calls(BERLIN), RAINY),
    ),
    Mutant(
        id="lean-saves-the-question", contract="CL6", about="saves the conversation as it began", agent=LEAN,
        because="the saved messages are those of the round before", build=SavesTheQuestion, world=World,
        replies=(calls(BERLIN), calls(call("list_notes")), RAINY),
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
