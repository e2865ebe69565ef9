"""Mutants of both designs that break what holds for every one: endings, limits, leaks, thinking, numbers, writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec

from harness.agents.protocol import AgentContext, Question
from harness.records.case import Limits
from harness.records.messages import ModelReply, ThinkingBlock
from harness.records.trace import ErrorRaised, EventData, FinalAnswer
from harness.testing.fakes import call, calls, says, says_json
from harness.testing.mutants import Mutant

from .ground import (
    BERLIN,
    COMPLEX,
    FULL,
    LEAN,
    LEGACY,
    LOOK,
    NOTE,
    SIMPLE,
    World,
    fast,
    finish,
    lean,
    legacy,
    plan,
)

RAINY = says("It rains in Berlin.")
THOUGHTS = (
    ThinkingBlock("thinking", "I look it up.", "signature-1"),
    ThinkingBlock("redacted", data="b3BhcXVl"),
    ThinkingBlock("thinking", "In Berlin, that is.", "signature-2"),
)
THOUGHT = (
    "The user wants the weather, I have a tool for the weather, and nothing else is asked of me, so one look will do."
)
THINKS = calls(BERLIN, thinking=THOUGHTS)
FENCED = "The forecast:\n\n```text\nBerlin rain\n```\n\nThat is all."
LIMITED = msgspec.structs.replace(COMPLEX, limits=Limits(llm_calls=2))


class GuessesArguments(lean.LeanReact):
    """Takes arguments that it cannot read for none."""

    async def _run_tool(self, session: Any, turn: int, asked: Any, **how: Any) -> Any:
        return await super()._run_tool(session, turn, msgspec.structs.replace(asked, args=asked.args or {}), **how)


class AnswersNothing(lean.LeanReact):
    """Takes an empty reply for the answer."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Ask once, and answer with whatever came."""
        reply = await self._ask(self._open(question))
        yield FinalAnswer(text=reply.text)


class FailsInSilence(lean.LeanReact):
    """Lets an empty reply through to the caller as an exception."""

    def _nudge(self, session: Any) -> bool:
        raise ValueError("no text and no tool calls")


class AnswersTwice(lean.LeanReact):
    """Answers, and answers again."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, and say the answer twice."""
        async for event in super().run(question):
            yield event
            if isinstance(event, FinalAnswer):
                yield event


class WorksOn(lean.LeanReact):
    """Goes on working when it has answered."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work, answer, and look at the notes."""
        async for event in super().run(question):
            yield event
        await self._ctx.tools.call("list_notes", {})


class FailsProudly(lean.LeanReact):
    """Passes its last words off as the answer when it failed."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work until the limit, and answer all the same."""
        async for event in super().run(question):
            yield event
            if isinstance(event, ErrorRaised):
                yield FinalAnswer(text="It rains.")


class OneStepMore(lean.LeanReact):
    """Asks once more after its last step."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        self._max_steps += 1


class FailsWithoutAReason(lean.LeanReact):
    """Ends at its limit, and does not say that it was one."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work until the limit, and end."""
        async for event in super().run(question):
            yield ErrorRaised(kind="", message="no answer") if isinstance(event, ErrorRaised) else event


def streams_everything(ctx: AgentContext) -> Any:
    """The user sees every model call as it is streamed."""
    ctx.models.chat = partial(ctx.models.chat, stream=True, visible=True)
    return legacy.PlanExecute(ctx)


class ShowsItsAction(legacy.PlanExecute):
    """Sends the tool's call to the user in place of what came of it."""

    async def _fill_in(self, reply: Any, turn: int) -> str:
        await super()._fill_in(reply, turn)
        return f"Action: {reply.action}\nAction Input: {reply.args}\nObservation: {reply.answer}"


class ThinksAloud(legacy.PlanExecute):
    """Puts the thought of its reply before the answer."""

    async def _fill_in(self, reply: Any, turn: int) -> str:
        return f"{reply.thought}\n\n{await super()._fill_in(reply, turn)}"


class ChangesThinking(lean.LeanReact):
    """Puts other thinking blocks into the conversation than it was given."""

    def _changed(self, blocks: tuple[ThinkingBlock, ...]) -> tuple[ThinkingBlock, ...]:
        return blocks

    async def _run_tools(self, session: Any, reply: Any) -> None:
        changed = msgspec.structs.replace(reply.reply, thinking=self._changed(reply.reply.thinking))
        await super()._run_tools(session, msgspec.structs.replace(reply, reply=changed))


class DropsRedacted(ChangesThinking):
    """Returns only the thinking that it can read."""

    def _changed(self, blocks: tuple[ThinkingBlock, ...]) -> tuple[ThinkingBlock, ...]:
        return tuple(block for block in blocks if block.kind != "redacted")


class DropsThinking(ChangesThinking):
    """Returns no thinking at all."""

    def _changed(self, blocks: tuple[ThinkingBlock, ...]) -> tuple[ThinkingBlock, ...]:
        return ()


class ReordersThinking(ChangesThinking):
    """Returns redacted thinking last."""

    def _changed(self, blocks: tuple[ThinkingBlock, ...]) -> tuple[ThinkingBlock, ...]:
        return tuple(sorted(blocks, key=lambda block: block.kind == "redacted"))


class TrimsThinking(ChangesThinking):
    """Returns thinking without its final stop."""

    def _changed(self, blocks: tuple[ThinkingBlock, ...]) -> tuple[ThinkingBlock, ...]:
        return tuple(msgspec.structs.replace(block, text=block.text.rstrip(".")) for block in blocks)


class CountsInTheSystemPrompt(lean.LeanReact):
    """Writes the number of the step into the system prompt."""

    async def _ask(self, session: Any) -> Any:
        system = session.messages[0]
        session.messages[0] = msgspec.structs.replace(system, content=f"{system.text}\nStep {session.steps}")
        return await super()._ask(session)


class Remembers(legacy.PlanExecute):
    """Answers with the temperature of yesterday, whatever the tool says."""

    async def _fill_in(self, reply: Any, turn: int) -> str:
        await super()._fill_in(reply, turn)
        return str(reply.answer.replace("{temperature_c}", "23"))


class WritesInBatches(lean.LeanReact):
    """Runs every write of a turn."""

    async def _run_tool(self, session: Any, turn: int, asked: Any, *, writing: bool, wrote: bool) -> Any:
        return await super()._run_tool(session, turn, asked, writing=writing, wrote=False)


class PlansAnyway(legacy.PlanExecute):
    """Has no fast path."""

    async def _work(self, session: Any) -> str:
        await self._plan(session)
        return str(await super()._work(session))


class GivesUpQuietly(legacy.PlanExecute):
    """Takes an item for done when its tool failed."""

    async def _work_off(self, session: Any, item: Any) -> None:
        asked = self._ctx.tools.call

        async def ended(*what: Any, **place: Any) -> Any:
            outcome = await asked(*what, **place)
            if not outcome.ok:
                self._move(session, item, "finish", "looked")
            return outcome

        self._ctx.tools.call = ended
        await super()._work_off(session, item)


class CutsTheAnswer(legacy.PlanExecute):
    """Answers with the first characters only."""

    async def _answer_fast(self, session: Any) -> str:
        return str(await super()._answer_fast(session))[:30]


def searches(query: str) -> ModelReply:
    """The reply of the older design that searches the archive."""
    return says_json(action="search", args={"query": query})


FOUND = says("There is an archive entry on it.")
MUTANTS = (
    Mutant(
        id="lean-guesses-arguments", contract="CX4", about="takes arguments that cannot be read for none",
        because="list_notes ran with guessed arguments", agent=LEAN, build=GuessesArguments, world=World,
        replies=(calls(call("list_notes", '{"most": 5')), says("There are no notes.")),
    ),
    Mutant(
        id="lean-answers-nothing", contract="CX5", about="completes with an empty answer",
        because="status completed with a blank answer", agent=LEAN, build=AnswersNothing,
        replies=(says(""),), sound_replies=(says(""), RAINY),
    ),
    Mutant(
        id="lean-fails-in-silence", contract="CX5", about="lets an exception through to the caller",
        because="without an error event: the agent raised ValueError", agent=LEAN, build=FailsInSilence,
        replies=(says(""),), sound_replies=(says(""), RAINY),
    ),
    Mutant(
        id="lean-answers-twice", contract="CX5", about="gives two answers", agent=LEAN, build=AnswersTwice,
        because="status completed with 2 answers", replies=(RAINY,),
    ),
    Mutant(
        id="lean-works-on", contract="CX5", about="calls a tool after the answer", agent=LEAN, build=WorksOn,
        because="after the answer", world=World, replies=(RAINY,),
    ),
    Mutant(
        id="lean-fails-proudly", contract="CX5", about="fails with an answer that looks whole", agent=LEAN,
        because="status failed, yet the answer is marked as complete", build=FailsProudly, world=World,
        options={"max_steps": 1}, replies=(calls(BERLIN),),
    ),
    Mutant(
        id="lean-one-step-more", contract="CX6", about="makes one model call after the limit",
        because="3 model calls, the limit is 2", agent=LEAN, build=OneStepMore, world=World, case=LIMITED,
        options={"max_steps": 2}, replies=(calls(BERLIN), calls(call("list_notes"))),
        also={"CL1": "the limit of the case is the loop's own, max_steps, and CL1 counts against that"},
    ),
    Mutant(
        id="lean-fails-without-a-reason", contract="CX6", about="ends at a limit without naming it", agent=LEAN,
        because="failed at 2 model calls without a reason", build=FailsWithoutAReason, world=World, case=LIMITED,
        options={"max_steps": 2}, replies=(calls(BERLIN), calls(call("list_notes"))),
        also={"CL12": "the same rule for the limit of the loop"},
    ),
    Mutant(
        id="legacy-streams-everything", contract="CX7", about="streams what is not for the user",
        because="the stream holds tool syntax", agent=LEGACY, build=streams_everything, world=World, case=FULL,
        replies=(plan("look Rome up"), LOOK, finish("rain"), says("It rains.")),
    ),
    Mutant(
        id="legacy-shows-its-action", contract="CX7", about="sends the call of a tool to the user",
        because="the answer holds tool syntax", agent=LEGACY, build=ShowsItsAction, world=World,
        replies=(fast("It rains.", city="Berlin"),),
        also={"CX15": "leaked tool syntax is a fault of the answer's form as well"},
    ),
    Mutant(
        id="legacy-thinks-aloud", contract="CX7", about="shows the user its thought", agent=LEGACY, build=ThinksAloud,
        because="the answer holds a raw thought", world=World,
        replies=(says_json(thought=THOUGHT, action="get_weather", args={"city": "Berlin"}, answer="It rains."),),
    ),
    Mutant(
        id="lean-drops-redacted-thinking", contract="CX10", about="returns no redacted thinking",
        because="1 of 3 thinking blocks were not returned", agent=LEAN, build=DropsRedacted, world=World,
        replies=(THINKS, RAINY),
    ),
    Mutant(
        id="lean-drops-thinking", contract="CX10", about="returns no thinking", agent=LEAN, build=DropsThinking,
        because="3 thinking blocks were not returned with the tool results", world=World, replies=(THINKS, RAINY),
    ),
    Mutant(
        id="lean-reorders-thinking", contract="CX10", about="returns thinking in another order",
        because="in another order", agent=LEAN, build=ReordersThinking, world=World, replies=(THINKS, RAINY),
    ),
    Mutant(
        id="lean-trims-thinking", contract="CX10", about="returns thinking changed by a character",
        because="thinking blocks were returned changed", agent=LEAN, build=TrimsThinking, world=World,
        replies=(THINKS, RAINY),
    ),
    Mutant(
        id="lean-counts-in-the-system-prompt", contract="CX10", about="edits the system prompt in a tool loop",
        because="the system prompt changed inside a tool loop", agent=LEAN, build=CountsInTheSystemPrompt,
        world=World, replies=(calls(BERLIN), RAINY),
    ),
    Mutant(
        id="legacy-remembers", contract="CX11", about="answers from memory with a plausible number",
        because="the answer cites 23", agent=LEGACY, build=Remembers, world=World,
        replies=(fast("In Berlin it is {temperature_c} °C.", city="Berlin"),),
    ),
    Mutant(
        id="lean-writes-in-batches", contract="CX12", about="runs two updates of one reply",
        because="write_note and append_note both write in one turn", agent=LEAN, build=WritesInBatches, world=World,
        replies=(calls(NOTE, call("append_note", text="rain")), says("Noted.")),
    ),
    Mutant(
        id="legacy-plans-anyway", contract="CX13", about="plans what the weather is", case=SIMPLE,
        because="a model call with purpose plan for a simple question", agent=LEGACY, build=PlansAnyway, world=World,
        replies=(plan("look"), LOOK, finish("rain"), RAINY), sound_replies=(fast("It rains.", city="Berlin"),),
    ),
    Mutant(
        id="legacy-gives-up-quietly", contract="CX14", about="a failed search is the end of it",
        because="search failed, and the answer does not say so", agent=LEGACY, build=GivesUpQuietly, world=World,
        case=FULL, replies=(plan("search"), searches("gamma"), FOUND),
        sound_replies=(plan("search"), searches("gamma"), searches("archive"), finish("found"), FOUND),
    ),
    Mutant(
        id="legacy-cuts-the-answer", contract="CX15", about="cuts the answer inside a code fence",
        because="unclosed-fence", agent=LEGACY, build=CutsTheAnswer, world=World,
        replies=(fast(FENCED, action="none"),),
    ),
)  # fmt: skip
