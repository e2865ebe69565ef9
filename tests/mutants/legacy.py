"""Mutants of plan-and-execute: its fast path, its list of tasks, its retries and its replans."""

from __future__ import annotations

from typing import Any

from harness.records.messages import ModelReply
from harness.testing.fakes import says, says_json
from harness.testing.mutants import Mutant

from .ground import FULL, LEGACY, LOOK, World, fast, finish, give_up, legacy, plan

TWO = plan("look Rome up", "look Oslo up")
UNREADABLE = says("Let me think about that.")
DONE = (finish("rain"), finish("snow"))
COMPARED = says("Rome has rain, Oslo has snow.")
BERLIN = fast("It rains in Berlin.", city="Berlin")


class PlansOnTheFastPath(legacy.PlanExecute):
    """Asks for a plan before the one call of the fast path."""

    async def _answer_fast(self, session: Any) -> str:
        await self._ask_for(session, "plan", legacy.read_plan)
        return str(await super()._answer_fast(session))


class LooksTwice(legacy.PlanExecute):
    """Runs the tool of the fast path twice, to be sure."""

    async def _fill_in(self, reply: Any, turn: int) -> str:
        await super()._fill_in(reply, turn)
        return str(await super()._fill_in(reply, turn))


class NeverStarts(legacy.PlanExecute):
    """Marks items as done that never ran."""

    def _move(self, session: Any, item: Any, action: str, result: str = "") -> None:
        if action != "start":
            item.status, item.result = "done", result
            self._tell_plan(session, action)


class StartsAllAtOnce(legacy.PlanExecute):
    """Starts every item with the first."""

    def _move(self, session: Any, item: Any, action: str, result: str = "") -> None:
        if action != "start":
            super()._move(session, item, action, result)
            return
        for other in session.todo.items:
            other.status = "running" if other.open else other.status
        self._tell_plan(session, action)


class AsksForEver(legacy.PlanExecute):
    """Asks again until a reply can be read."""

    async def _ask_for(self, session: Any, purpose: str, read: Any) -> Any:
        found, turn = None, 0
        while found is None:
            found, turn = await super()._ask_for(session, purpose, read)
        return found, turn


class Guesses(legacy.PlanExecute):
    """Runs the first tool when a reply names none."""

    async def _ask_for(self, session: Any, purpose: str, read: Any) -> Any:
        def guess(text: str) -> Any:
            try:
                return read(text)
            except legacy.UnreadableError:
                return legacy.read_step(LOOK.text)

        return await super()._ask_for(session, purpose, guess if purpose == "step" else read)


class Repairs(legacy.PlanExecute):
    """Makes an action of a reply that names a tool and no arguments."""

    async def _ask_for(self, session: Any, purpose: str, read: Any) -> Any:
        def repaired(text: str) -> Any:
            try:
                return read(text)
            except legacy.UnreadableError:
                return legacy.read_step(LOOK.text)

        return await super()._ask_for(session, purpose, repaired if purpose == "step" else read)


class ReplansEachStep(legacy.PlanExecute):
    """Plans anew after every item, whatever became of it."""

    async def _work_off(self, session: Any, item: Any) -> None:
        await super()._work_off(session, item)
        with self._ctx.phase("replan"):
            await self._replan(session, item)


class RepeatsFinishedWork(legacy.PlanExecute):
    """Throws finished items away when it plans anew."""

    async def _replan(self, session: Any, failed: Any) -> None:
        for item in session.todo.with_status("done"):
            item.status = "dropped"
        await super()._replan(session, failed)


class ReplansForEver(legacy.PlanExecute):
    """Knows no limit of replans."""

    async def _execute(self, session: Any) -> None:
        todo = session.todo
        while item := todo.next_open():
            await self._work_off(session, item)
            if item.status == "failed":
                with self._ctx.phase("replan"):
                    await self._replan(session, item)


class AnswersEarly(legacy.PlanExecute):
    """Answers when the first item is done."""

    async def _execute(self, session: Any) -> None:
        await self._work_off(session, session.todo.next_open())


class HidesFailures(legacy.PlanExecute):
    """Leaves failed items out of the answer."""

    async def _answer(self, session: Any) -> str:
        whole = str(await super()._answer(session))
        return whole.partition("\n\n**Nicht erledigt")[0]


def none_left() -> ModelReply:
    """A replan that leaves nothing to do."""
    return says_json(steps=[])


MUTANTS = (
    Mutant(
        id="legacy-plans-on-the-fast-path", contract="CP1", about="plans on the fast path", agent=LEGACY,
        because="a plan is made on the fast path", build=PlansOnTheFastPath, world=World,
        replies=(plan("look"), BERLIN), sound_replies=(BERLIN,),
    ),
    Mutant(
        id="legacy-looks-twice", contract="CP1", about="makes two tool calls on the fast path", agent=LEGACY,
        because="2 tool calls on the fast path", build=LooksTwice, world=World, replies=(BERLIN,),
    ),
    Mutant(
        id="legacy-never-starts", contract="CP2", about="marks items done without running them", agent=LEGACY,
        because="item 1 goes from pending to done", build=NeverStarts, world=World, case=FULL,
        replies=(TWO, *DONE, COMPARED),
    ),
    Mutant(
        id="legacy-starts-all-at-once", contract="CP2", about="runs two items at a time", agent=LEGACY,
        because="items 1, 2 are running at once", build=StartsAllAtOnce, world=World, case=FULL,
        replies=(TWO, *DONE, COMPARED),
    ),
    Mutant(
        id="legacy-asks-for-ever", contract="CP3", about="asks again until a reply can be read", agent=LEGACY,
        because="5 step calls in a row without a readable action", build=AsksForEver, world=World, case=FULL,
        replies=(plan("look"), *[UNREADABLE] * 5, finish("rain"), COMPARED),
        sound_replies=(plan("look"), *[UNREADABLE] * 3, finish("rain"), COMPARED),
    ),
    Mutant(
        id="legacy-guesses", contract="CP3", about="runs an action that the reply does not name", agent=LEGACY,
        because="get_weather is run, which the reply does not name", build=Guesses, world=World, case=FULL,
        replies=(plan("look"), UNREADABLE, finish("rain"), COMPARED),
    ),
    Mutant(
        id="legacy-repairs", contract="CP3", about="guesses the arguments of an action", agent=LEGACY,
        because="get_weather is run with arguments that the reply does not give", build=Repairs, world=World,
        case=FULL,
        replies=(plan("look"), says('{"action": "get_weather", "args": "Rome"}'), finish("rain"), COMPARED),
    ),
    Mutant(
        id="legacy-replans-each-step", contract="CP4", about="plans anew after each item", agent=LEGACY,
        because="the plan is made anew though no further item failed", build=ReplansEachStep, world=World, case=FULL,
        replies=(plan("look"), finish("rain"), none_left(), COMPARED),
        sound_replies=(plan("look"), give_up("rain"), none_left(), says("I could not look.")),
    ),
    Mutant(
        id="legacy-repeats-finished-work", contract="CP4", about="throws finished items away in a replan",
        because="the finished item “look Rome up” is lost in the new plan", agent=LEGACY, build=RepeatsFinishedWork,
        world=World, case=FULL,
        replies=(TWO, finish("rain"), give_up("no Oslo"), plan("look Rome up"), finish("rain"), COMPARED),
        also={"CP2": "an item that is done goes nowhere from there"},
    ),
    Mutant(
        id="legacy-replans-for-ever", contract="CP4", about="plans anew as often as items fail", agent=LEGACY,
        because="the plan is made anew 3 times, at most 2", build=ReplansForEver, world=World, case=FULL,
        replies=(plan("a"), *[reply for step in "bcd" for reply in (give_up("no"), plan(step))], finish("x"), COMPARED),
        sound_replies=(plan("a"), give_up("no"), plan("b"), give_up("no"), plan("c"), give_up("no"), COMPARED),
    ),
    Mutant(
        id="legacy-answers-early", contract="CP5", about="answers with open items", agent=LEGACY, build=AnswersEarly,
        because="answered with open items: 2", world=World, case=FULL,
        replies=(TWO, finish("rain"), COMPARED), sound_replies=(TWO, *DONE, COMPARED),
    ),
    Mutant(
        id="legacy-hides-failures", contract="CP5", about="leaves a failed item out of the answer", agent=LEGACY,
        because="the failed item “look Oslo up” is not named in the answer", build=HidesFailures, world=World,
        case=FULL, replies=(TWO, finish("rain"), give_up("no Oslo"), none_left(), says("In Rome it rains.")),
    ),
)  # fmt: skip
