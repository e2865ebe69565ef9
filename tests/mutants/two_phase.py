"""Mutants of the two-phase design: what is asked for, what is run, what is told, and what is shown."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from harness.agents.protocol import AgentContext, Question
from harness.records.messages import Message
from harness.records.trace import ErrorRaised, EventData
from harness.testing.fakes import says
from harness.testing.mutants import Mutant

from .guardian import (
    GLAD,
    GREETING,
    HAPPY,
    NOTES,
    TALK,
    TWO_PHASE,
    Boasts,
    ReadsAnything,
    ReadsNeighbours,
    ServesAnybody,
    guardian,
    thinks,
    two_phase,
    with_tools,
)

BLOCK = re.compile(r"```tool_code\n(.*?)\n```", re.DOTALL)
FAILS = thinks('read_file("nowhere.txt")')


class ActsWhileAnswering(two_phase.TwoPhase):
    """Runs what was asked for when it answers."""

    async def _run_calls(self, reply: Any, number: int, thinking: Any) -> None:
        self._later = (reply, number)

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        await super()._run_calls(*self._later, thinking)
        return await super()._respond(question, known, thinking)


class ThinksAloud(two_phase.TwoPhase):
    """Shows the user what it thinks."""

    async def _think(self, question: Question, known: Any, thinking: Any) -> None:
        await super()._think(question, known, thinking)
        self._show("\n".join(thinking.thoughts) + "\n\n")


class ReadsBlocks(two_phase.TwoPhase):
    """Reads the blocks of a thought in its own way."""

    async def _run_calls(self, reply: Any, number: int, thinking: Any) -> None:
        text = BLOCK.sub(lambda block: f"```tool_code\n{self._read(block[1])}\n```", reply.text)
        other = msgspec.structs.replace(reply, reply=msgspec.structs.replace(reply.reply, text=text))
        await super()._run_calls(other, number, thinking)

    def _read(self, code: str) -> str:
        return code


class RunsTheFirstCall(ReadsBlocks):
    """Takes the first line of a block for all of it."""

    def _read(self, code: str) -> str:
        return code.splitlines()[0]


class EndsAtApostrophes(ReadsBlocks):
    """Takes an apostrophe for the end of a string."""

    def _read(self, code: str) -> str:
        return re.sub(r"(?<=\w)'\w[^\"]*", "", code)


class Evaluates(ReadsBlocks):
    """Lets Python evaluate the block."""

    def _read(self, code: str) -> str:
        called: list[str] = []

        def recorder(name: str) -> Any:
            return lambda *args: called.append(f"{name}({', '.join(map(repr, args))})")

        exec(code, {"__builtins__": {}, **{name: recorder(name) for name in self._parameters}})
        return "\n".join(called)


class LeavesFailuresOut(two_phase.TwoPhase):
    """Answers from the good results alone."""

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        thinking.lines = [line for line in thinking.lines if " failed: " not in line]
        return await super()._respond(question, known, thinking)


class CallsFailuresGood(two_phase.TwoPhase):
    """Tells every result as if it were a good one."""

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        thinking.lines = [line.replace(" failed: ", " returned: ") for line in thinking.lines]
        return await super()._respond(question, known, thinking)


class PassesBlocksOn(two_phase.TwoPhase):
    """Tells what was thought, tool_code and all."""

    async def _run_calls(self, reply: Any, number: int, thinking: Any) -> None:
        thinking.thoughts[-1] = reply.text
        await super()._run_calls(reply, number, thinking)


class EndsOnFailure(two_phase.TwoPhase):
    """Lets a failed tool end the run."""

    async def _run_call(self, *args: Any, **how: Any) -> Any:
        outcome, cached = await super()._run_call(*args, **how)
        if not outcome.ok:
            raise RuntimeError(outcome.text)
        return outcome, cached

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work until a tool fails."""
        try:
            async for event in super().run(question):
                yield event
        except RuntimeError as error:
            yield ErrorRaised(kind="tool_failed", message=str(error))


class Buffers(two_phase.TwoPhase):
    """Shows the answer when all of it is there."""

    def _show(self, text: str) -> None:
        self._pieces.append(text)

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        error = await super()._respond(question, known, thinking)
        self._pieces = ["".join(self._pieces)]
        self._ctx.show(self._pieces[0])
        return error


class _OtherFilter(two_phase.TwoPhase):
    """Shows the answer through another filter."""

    filter: type[Any] = two_phase.HoldBack

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        sound, two_phase.HoldBack = two_phase.HoldBack, self.filter
        try:
            return await super()._respond(question, known, thinking)
        finally:
            two_phase.HoldBack = sound


class PieceByPiece(two_phase.HoldBack):
    """Looks for blocks in each piece alone."""

    def feed(self, text: str) -> str:
        """What is left of *text*."""
        return re.sub(r"(?s)```tool_code.*?```", "", text)

    def finish(self) -> str:
        """Nothing was held back."""
        return ""


class FiltersEachPiece(_OtherFilter):
    """Leaves out the blocks that come in one piece."""

    filter = PieceByPiece


class Listening(two_phase.HoldBack):
    """The filter, with what went into it."""

    said = ""

    def feed(self, text: str) -> str:
        """What may be shown now."""
        type(self).said += text
        return str(super().feed(text))


class RunsTheAnswer(_OtherFilter):
    """Runs the blocks of the answer as well."""

    filter = Listening

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        Listening.said = ""
        error = await super()._respond(question, known, thinking)
        for one in two_phase.calls_in(Listening.said, self._parameters):
            await self._ctx.tools.call(one.name, one.args, source="tool_code", block_index=one.block)
        return error


class NotesEveryMessage(two_phase.TwoPhase):
    """Notes a feeling whatever the user says."""

    async def _think(self, question: Question, known: Any, thinking: Any) -> None:
        await super()._think(question, known, thinking)
        source, args = 'update_current_feeling("vera", "Neutral")', {"username": "vera", "feeling": "Neutral"}
        outcome = await self._ctx.tools.call("update_current_feeling", args, args_raw=source, source="internal")
        thinking.tell(source, outcome)


class AnyLanguage(two_phase.TwoPhase):
    """Does not ask for the language of the question."""

    def _system(self, known: Any, question: Question, phase: str) -> Message:
        return super()._system(known, question, phase.replace("Отвечай на языке вопроса.", ""))


class Forgets(two_phase.TwoPhase):
    """Takes every message for the first one."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Answer without what was said before."""
        async for event in super().run(msgspec.structs.replace(question, history=())):
            yield event


class RemembersAnswers(two_phase.TwoPhase):
    """Remembers of each turn what it said itself."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Answer without what the user said before."""
        own = tuple(message for message in question.history if message.role == "assistant")
        async for event in super().run(msgspec.structs.replace(question, history=own)):
            yield event


class AnswersAStranger(two_phase.TwoPhase):
    """Answers without what is known about the user."""

    async def _respond(self, question: Question, known: Any, thinking: Any) -> Any:
        known.profile = known.feelings = ""
        return await super()._respond(question, known, thinking)


def world_of(ctx: AgentContext) -> Any:
    """The design as it stands; the world is what is wrong."""
    return two_phase.TwoPhase(ctx)


MUTANTS = (
    Mutant(
        id="two-phase-acts-while-answering", contract="CG1", about="runs tools in the phase that answers",
        because="update_current_feeling is run outside of the phase think", agent=TWO_PHASE, world=guardian,
        build=ActsWhileAnswering, case=HAPPY, replies=(NOTES, GLAD),
    ),
    Mutant(
        id="two-phase-thinks-aloud", contract="CG1", about="streams what it thinks", agent=TWO_PHASE, world=guardian,
        because="the user is shown text of the phase think", build=ThinksAloud, case=HAPPY, replies=(NOTES, GLAD),
        also={"CG7": "what it thinks is no answer"},
    ),
    Mutant(
        id="two-phase-runs-the-first-call", contract="CG2", about="runs the first call of a block", agent=TWO_PHASE,
        because="block 1 asks for read_user_profile, list_files, run are read_user_profile", build=RunsTheFirstCall,
        world=guardian, case=HAPPY, replies=(thinks('read_user_profile("vera")\nlist_files()'), GLAD),
    ),
    Mutant(
        id="two-phase-ends-at-apostrophes", contract="CG2", about="ends a string at an apostrophe", agent=TWO_PHASE,
        because="block 1 gives add_diary_entry other arguments than it ran with", build=EndsAtApostrophes,
        world=guardian, case=HAPPY, replies=(thinks('add_diary_entry("vera", "It\'s Anna\'s birthday")'), GLAD),
    ),
    Mutant(
        id="two-phase-evaluates", contract="CG3", about="lets Python evaluate a block", agent=TWO_PHASE,
        because="update_current_feeling is run, and no block calls it plainly with literals", build=Evaluates,
        world=guardian, case=HAPPY, replies=(thinks('update_current_feeling("vera", "Hap" + "py")'), GLAD),
        also={"CG2": "what is no plain call is to be refused"},
    ),
    Mutant(
        id="two-phase-serves-anybody", contract="CG4", about="writes into another user's profile", agent=TWO_PHASE,
        because="update_current_feeling worked for boris, the user is vera", build=world_of, case=HAPPY,
        world=with_tools(ServesAnybody), sound_world=guardian,
        replies=(thinks('update_current_feeling("boris", "Angry")'), GLAD),
    ),
    Mutant(
        id="two-phase-leaves-failures-out", contract="CG5", about="keeps failed results from the answer",
        because="the failed result of read_file is not told", agent=TWO_PHASE, build=LeavesFailuresOut,
        world=guardian, case=HAPPY, replies=(FAILS, GLAD),
    ),
    Mutant(
        id="two-phase-calls-failures-good", contract="CG5", about="tells failed results as good ones",
        because="the failed result of read_file is not told", agent=TWO_PHASE, build=CallsFailuresGood,
        world=guardian, case=HAPPY, replies=(FAILS, GLAD),
    ),
    Mutant(
        id="two-phase-passes-blocks-on", contract="CG5", about="tells what was thought with its blocks",
        because="what was thought is told in other words, or with its tool_code blocks", agent=TWO_PHASE,
        build=PassesBlocksOn, world=guardian, case=HAPPY, replies=(NOTES, GLAD),
    ),
    Mutant(
        id="two-phase-ends-on-failure", contract="CG6", about="ends the run when a tool fails", agent=TWO_PHASE,
        because="no answer is asked for after read_file failed", build=EndsOnFailure, world=guardian, case=HAPPY,
        replies=(FAILS,), sound_replies=(FAILS, GLAD), also={"CG1": "the phase that answers never comes"},
    ),
    Mutant(
        id="two-phase-buffers", contract="CG7", about="shows the answer in one piece", agent=TWO_PHASE, build=Buffers,
        because="pieces came, and the answer is shown in one", world=guardian, case=HAPPY, replies=(NOTES, GLAD),
    ),
    Mutant(
        id="two-phase-filters-each-piece", contract="CG7", about="lets through blocks that come in several pieces",
        because="the answer holds tool syntax", agent=TWO_PHASE, build=FiltersEachPiece, world=guardian, case=HAPPY,
        replies=(NOTES, thinks("list_files()", text=GLAD.text)),
        also={
            "CX7": "the same rule, for every design",
            "CX15": "tool syntax is no part of an answer's Markdown either",
            "CG10": "it is a block of the answer that is shown",
        },
    ),
    Mutant(
        id="two-phase-boasts", contract="CG8", about="says that it updated though the store did not", build=world_of,
        because="update_current_feeling says “Updated feeling to 'Happy' for vera”, and nothing was changed",
        agent=TWO_PHASE, world=with_tools(Boasts), sound_world=guardian, case=HAPPY, replies=(NOTES, GLAD),
    ),
    Mutant(
        id="two-phase-reads-anything", contract="CG9", about="follows .. out of the file area", agent=TWO_PHASE,
        because="read_file worked on ../../secret.txt", build=world_of, case=HAPPY, sound_world=guardian,
        world=with_tools(ReadsAnything), replies=(thinks('read_file("../../secret.txt")'), GLAD),
    ),
    Mutant(
        id="two-phase-reads-neighbours", contract="CG9", about="holds paths by how they begin", agent=TWO_PHASE,
        because="read_file worked on ../files-old/diary.txt", build=world_of, case=HAPPY, sound_world=guardian,
        world=with_tools(ReadsNeighbours), replies=(thinks('read_file("../files-old/diary.txt")'), GLAD),
    ),
    Mutant(
        id="two-phase-runs-the-answer", contract="CG10", about="runs the blocks of the answer", agent=TWO_PHASE,
        because="list_files is run from the answer", build=RunsTheAnswer, world=guardian, case=HAPPY,
        replies=(NOTES, thinks("list_files()", text=GLAD.text)),
        also={"CG1": "it is run in the phase that answers", "CG3": "no thought asked for it"},
    ),
    Mutant(
        id="two-phase-notes-every-message", contract="CG11", about="notes a feeling on a greeting", agent=TWO_PHASE,
        because="update_current_feeling writes, and the message gives no reason to", build=NotesEveryMessage,
        world=guardian, case=GREETING, replies=(thinks(text="Просто приветствие."), GLAD),
        also={"CG3": "no block asks for it"},
    ),
    Mutant(
        id="two-phase-any-language", contract="CG12", about="does not ask for the language of the question",
        because="the message is in ru, the answer in en", agent=TWO_PHASE, build=AnyLanguage, world=guardian,
        case=HAPPY, replies=(NOTES, says("I am so glad for you!")), sound_replies=(NOTES, GLAD),
    ),
    Mutant(
        id="two-phase-forgets", contract="CG13", about="forgets the first turn in the second", agent=TWO_PHASE,
        because="the call to think is not shown that “Я сегодня счастлива!” was said before", build=Forgets, world=guardian, case=TALK,
        replies=(NOTES, GLAD, thinks(text="Она спрашивает о прошлом."), GLAD),
    ),
    Mutant(
        id="two-phase-remembers-answers", contract="CG13", about="remembers only what it said itself",
        because="the call to respond is not shown that “Я сегодня счастлива!” was said before", agent=TWO_PHASE,
        build=RemembersAnswers, world=guardian, case=TALK,
        replies=(NOTES, GLAD, thinks(text="Она спрашивает о прошлом."), GLAD),
    ),
    Mutant(
        id="two-phase-answers-a-stranger", contract="CG13", about="answers without profile and feelings",
        because="the call to respond is not shown the profile", agent=TWO_PHASE, build=AnswersAStranger,
        world=guardian, case=HAPPY, replies=(NOTES, GLAD),
        also={"CG5": "what was read of them are results as well"},
    ),
)  # fmt: skip
