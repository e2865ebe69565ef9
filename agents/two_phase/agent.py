"""
Two-phase: the model thinks and acts where nobody sees it, and then answers in a call of its own.

Think: the model is shown the user's profile, feelings, conversation and tools, and asks for tools in fenced tool_code
blocks. Blocks are data: parsed, never evaluated; calls run in order, and a failing one does not stop the next. With
`max_think_rounds` above 1 it sees the results and may ask for more; a round that asks for nothing ends the phase.

Respond: a second call is shown what was thought and one line for each call, good or failed, and its answer is streamed
to the user through a filter that lets no tool syntax pass. A block in the answer is never run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from harness.agents.protocol import AgentContext, Question, Reply, ToolOutcome
from harness.records.digest import canonical_json
from harness.records.faults import ModelError
from harness.records.messages import Json, Message
from harness.records.trace import ErrorRaised, EventData, FinalAnswer, Progress, Thought, Warned

from . import prompts
from .holdback import HoldBack
from .literal import literal_calls_in
from .notes import Known, Thinking, conversation, last_feelings, last_turns, shortened
from .signatures import parameters_of, signatures
from .tool_code import Asked, calls_in, without_blocks

ABOUT = "thinks and runs tool_code blocks first, then streams the answer in a call of its own"
PROFILES = ("reference", "seed_literal")
DEFAULT_MODEL = "gemini/gemini-2.5-flash"
OPTIONS: dict[str, tuple[Json, str]] = {
    "max_think_rounds": (1, "most model calls of the phase that thinks; each sees the results of those before"),
    "allow_delete": (False, "offer and run delete_file"),
    "max_result_chars": (4000, "longer tool results are cut, and say so"),
    "default_api": (False, "read default_api.name(…) in a block as name(…), as some models write it"),
}

LAST_FEELINGS = 5
"""Entries of the emotional history that both prompts hold."""
PROFILE_TOOL, FEELINGS_TOOL = "read_user_profile", "read_emotional_history"
"""Tools that tell what both prompts hold about the user, where the world has them."""
NOBODY = "—"
NOT_RUN = frozenset({"unknown_tool", "invalid_args", "denied"})


def build(ctx: AgentContext) -> TwoPhase:
    """Build the agent; *ctx* is its only way to models, tools, time and state."""
    return TwoPhase(ctx)


def draw() -> str:
    """The design, drawn."""
    return """\
user ──▶ think ──▶ tool_code blocks ──▶ tools, in order ──▶ result lines ──▶ respond ──▶ hold-back filter ──▶ user
           ▲                                                    │
           └───── while a round asks for tools, at most max_think_rounds"""


class TwoPhase:
    """The agent of this folder."""

    def __init__(self, ctx: AgentContext) -> None:
        options = {name: default for name, (default, _) in OPTIONS.items()} | dict(ctx.options)
        self._ctx = ctx
        self._literal = ctx.profile == "seed_literal"
        self._rounds = max(int(options["max_think_rounds"]), 1)
        self._may_delete = bool(options["allow_delete"])
        self._most_chars = max(int(options["max_result_chars"]), 1)
        self._default_api = bool(options["default_api"])
        self._specs = tuple(spec for spec in ctx.tools.specs() if self._may_delete or spec.name != "delete_file")
        self._parameters = parameters_of(ctx.tools.specs())
        self._pieces: list[str] = []
        """What the user was shown."""
        self._complete = False

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work on *question*: think, run tools, answer."""
        history = question.history
        if question.resume:
            saved = self._ctx.state.load(question.session_id)
            if saved is None:
                yield ErrorRaised(kind="no_session", message=f"nothing is saved for session {question.session_id}")
                return
            history = tuple(Message(role, text) for role, text in saved["conversation"])
            if not question.text:  # resumed after its end: the answer is there already
                yield FinalAnswer(text=history[-1].text)
                return
        thinking = Thinking()
        with self._ctx.phase("think"):
            known = await self._about(question, history, thinking)
            await self._think(question, known, thinking)
        with self._ctx.phase("respond"):
            error = await self._respond(question, known, thinking)
        if metrics := thinking.metrics():
            yield Progress(stage="metrics", value=1.0, detail=metrics)
        if error is not None:
            yield ErrorRaised(kind="llm_errors", message=str(error), where="respond", retryable=error.retryable)
        answer = "".join(self._pieces)
        said = [*history, Message("user", question.text), Message("assistant", answer)]
        self._ctx.state.save(question.session_id, {"conversation": [[one.role, one.text] for one in said]})
        # what a broken stream leaves open cannot be taken back, so it is no Markdown to be held to
        form = "markdown" if error is None else "text"
        yield FinalAnswer(text=answer, format=form, complete=self._complete, chunks=len(self._pieces))

    async def _about(self, question: Question, history: Sequence[Message], thinking: Thinking) -> Known:
        """What is known about the user, read with the world's own tools where it has them."""
        user, told = question.user, []
        for name, missing in ((PROFILE_TOOL, prompts.NO_PROFILE), (FEELINGS_TOOL, prompts.NO_FEELINGS)):
            if not user or name not in self._parameters:
                told.append(missing.format(user=user or NOBODY))
                continue
            source, args = f'{name}("{user}")', {"username": user}
            outcome = await self._ctx.tools.call(name, args, args_raw=source, source="internal", cut=self._newest)
            told.append(thinking.tell(source, outcome))
        knowledge = prompts.KNOWLEDGE.format(knowledge=question.knowledge) if question.knowledge else ""
        return Known(
            told[0], told[1], conversation(history), knowledge, lines=len(thinking.lines), turns=last_turns(history)
        )

    async def _think(self, question: Question, known: Known, thinking: Thinking) -> None:
        """Ask what to do and do it, round after round, until a round asks for nothing."""
        phase = prompts.THINK.format(tools=signatures(self._specs), user=question.user or NOBODY)
        messages = [self._system(known, question, phase), question.message]
        for number in range(1, self._rounds + 1):
            try:
                reply = await self._ctx.models.chat(
                    messages,
                    purpose="think",
                    slot=f"think/{number}",
                    round=number,
                    embeds={**known.embeds(), **thinking.embeds()},
                )
            except ModelError as error:
                self._ctx.emit(Warned(code="analysis_unavailable", detail=str(error)), round=number)
                thinking.thoughts.append(prompts.UNAVAILABLE)
                return
            if thought := without_blocks(reply.text).strip():
                thinking.thoughts.append(thought)
                self._ctx.emit(Thought(text=thought, source="phase1"), turn=reply.turn, round=number)
            before = len(thinking.lines)
            await self._run_calls(reply, number, thinking)
            if len(thinking.lines) == before:
                return
            results = "\n".join(thinking.lines[before:])
            told = prompts.ROUND.format(round=number, rounds=self._rounds, results=results)
            messages += [reply.message, Message("user", told)]

    async def _run_calls(self, reply: Reply, number: int, thinking: Thinking) -> None:
        """Run what *reply* asks for, in order; what goes wrong with one call is its result."""
        if self._literal:
            asked = literal_calls_in(reply.text, self._parameters)
        else:
            asked = calls_in(reply.text, self._parameters, default_api=self._default_api)
        thinking.outcomes = {key: outcome for key, outcome in thinking.outcomes.items() if outcome.ok}
        wrote = False
        for one in asked:
            began = self._ctx.clock.ms()
            outcome, cached = await self._run_call(one, reply.turn, number, thinking, wrote=wrote)
            wrote = wrote or (self._ctx.tools.is_write(one.name) and outcome.error_kind not in NOT_RUN and not cached)
            thinking.tell(one.source, outcome)
            thinking.count(one.name, ok=outcome.ok, cached=cached, ms=self._ctx.clock.ms() - began)

    async def _run_call(
        self, asked: Asked, turn: int, number: int, thinking: Thinking, *, wrote: bool
    ) -> tuple[ToolOutcome, bool]:
        """Run, reuse or refuse one call; its outcome, and whether that is an earlier one."""
        tools = self._ctx.tools
        place: Json = {
            "turn": turn, "args_raw": asked.source, "source": "tool_code", "block_index": asked.block, "round": number,
        }  # fmt: skip
        key = canonical_json([asked.name, asked.args])
        if not asked.problem and asked.args is not None and key in thinking.outcomes:
            return tools.reuse(thinking.outcomes[key], asked.args, **place), True
        writes = tools.is_write(asked.name)
        problem = asked.problem
        if asked.name == "delete_file" and not self._may_delete:
            problem = problem or prompts.NO_DELETING
        if writes and wrote:
            problem = problem or prompts.ONE_WRITE.format(tool=asked.name)
        if problem:
            return tools.refuse(asked.name, asked.args, problem, **place), False
        outcome = await tools.call(asked.name, asked.args, cut=self._cut, **place)
        if writes and outcome.error_kind not in NOT_RUN:  # what was read before may no longer be so
            thinking.outcomes = {key: done for key, done in thinking.outcomes.items() if tools.is_write(done.tool)}
        thinking.outcomes[key] = outcome
        return outcome, False

    async def _respond(self, question: Question, known: Known, thinking: Thinking) -> ModelError | None:
        """Stream the answer to the user; the error that broke it off, if one did."""
        thought = "\n\n".join(thinking.thoughts) or prompts.NO_THINKING
        results = "\n".join(thinking.lines[known.lines :]) or prompts.NO_RESULTS
        system = self._system(known, question, prompts.RESPOND.format(thinking=thought, results=results))
        hold = HoldBack(self._parameters)
        error = None
        try:
            async for chunk in self._ctx.models.stream(
                [system, question.message],
                purpose="respond",
                slot="respond",
                embeds={**known.embeds(), **thinking.embeds(), "thinking": thought},
            ):
                if chunk.channel == "text":
                    self._show(hold.feed(chunk.text))
        except ModelError as failure:
            error = failure
        self._show(hold.finish())
        self._complete = bool(self._pieces) and error is None
        if not self._pieces:
            self._ctx.emit(Warned(code="no_answer", detail="the model gave no text that may be shown"))
            self._show(getattr(prompts, f"CANNED_{question.lang[:2].upper()}", prompts.CANNED_EN))
        return error

    def _system(self, known: Known, question: Question, phase: str) -> Message:
        return Message(
            "system",
            prompts.SYSTEM.format(
                today=self._ctx.clock.today(),
                user=question.user or NOBODY,
                profile=known.profile,
                feelings=known.feelings,
                conversation=known.conversation or prompts.NO_CONVERSATION,
                knowledge=known.knowledge,
                phase=phase,
            ),
        )

    def _show(self, text: str) -> None:
        if text:
            self._ctx.show(text)
            self._pieces.append(text)

    def _cut(self, value: Json, text: str) -> str:
        return shortened(text, self._most_chars)

    def _newest(self, value: Json, text: str) -> str:
        """The result of a tool about the user, of a list of feelings the last ones only."""
        newest = last_feelings(value, LAST_FEELINGS)
        return self._cut(value, text if newest is None else canonical_json(newest).decode())
