"""
The news desk's Estagiário: ReAct with JSON actions in a prompt, and a deterministic pipeline where that fails.

Each iteration asks the model once and reads one action: a tool, whose observation is appended, or `Final Answer`. There
are at most four. A reply that cannot be read, and an answer that cannot be shown, is told to the model once; twice in a
row ends the executor, as do a missing model, its errors, a tool that crashes and the last iteration. The pipeline then
answers from keywords, unless something was written already: then the answer says what was, so that nothing is written
twice. With the option `react` off the pipeline answers alone.

The conversation only grows: system prompt, history, question, then a reply and an observation for each iteration. The
profile `seed_literal` is this agent on the world `newsdesk_l2`, whose search orders by `<->` as the design's document
writes it: that is the Euclidean distance, where the document says cosine.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from harness.agents.protocol import AgentContext, Question, Reply, ToolOutcome
from harness.records.faults import ModelError
from harness.records.messages import Json, Message
from harness.records.trace import ConfigResolved, EventData, FallbackUsed, FinalAnswer, Progress, Thought, Warned

from . import prompts
from .actions import Action, MalformedReplyError, read_action
from .answers import ids_in, problem_of
from .observations import cut_by_items
from .pipeline import Pipeline, told_change, wording_for
from .writes import WriteGuard

ABOUT = "JSON actions in at most four messages, and a deterministic pipeline to fall back on"
PROFILES = ("reference", "seed_literal")
DEFAULT_MODEL = "gpt-4.1-mini"
OPTIONS: dict[str, tuple[Json, str]] = {
    "react": ("1", "`1`: the ReAct executor answers; anything else: the deterministic pipeline alone"),
    "max_iterations": (4, "most messages of the model, the answer included: 1 to 4"),
    "stream": (False, "stream replies; they are JSON, so their text is not shown as it comes"),
}

MOST_ITERATIONS = 4
MOST_FAILURES = 2
"""Replies in a row without a usable action that end the executor."""
OUT_OF_REACH = frozenset({"connection", "authentication", "permission", "not_found"})
"""Model errors that mean that there is no model to ask."""
SAID_CHARS = 200
"""Characters of a discarded text that the trace repeats."""


def build(ctx: AgentContext) -> NewsDesk:
    """Build the agent; *ctx* is its only way to models, tools and time."""
    return NewsDesk(ctx)


def draw() -> str:
    """The design as a picture in plain text."""
    return """\
question ──▶ react = 1? ──no──────────────────────────▶ deterministic pipeline ──▶ answer
                │ yes                                              ▲
                ▼                                                  │ no model, model error, unreadable twice,
        ┌─▶ model: one JSON action (≤ 4) ──fails───────────────────┘ tool crash, 4 used up, if nothing was written
        │       │ tool          │ Final Answer
        │       ▼               ▼
        └─ observation     checked Markdown ──▶ answer"""


@dataclass(slots=True)
class _Run:
    """One question on its way through the executor."""

    question: Question
    messages: list[Message]
    guard: WriteGuard
    said: str
    """What the user wrote, history included."""
    ids: set[int] = field(default_factory=set)
    """Numbers of the clusters that the tools showed."""
    failures: int = 0
    """Replies in a row without a usable action."""
    stages: list[str] = field(default_factory=list)


class NewsDesk:
    """The agent of this folder."""

    def __init__(self, ctx: AgentContext) -> None:
        options = {name: default for name, (default, _) in OPTIONS.items()} | dict(ctx.options)
        self._ctx = ctx
        self._react = options["react"] is True or str(options["react"]).strip() == "1"
        self._stream = bool(options["stream"])
        self._most = max(1, min(int(options["max_iterations"]), MOST_ITERATIONS))
        if self._most != options["max_iterations"]:
            asked = options["max_iterations"]
            ctx.emit(ConfigResolved(key="max_iterations", asked=asked, used=self._most, why="a run has 1 to 4"))

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work on *question*; each step stands in the trace as it happens, and the last event is the answer."""
        yield _STAGES["entendendo"]
        with self._ctx.phase("agent"):
            text = await (self._executed(question) if self._react else Pipeline(self._ctx).answer(question))
            yield _STAGES["sintetizando"]
            yield FinalAnswer(text=text)

    async def _executed(self, question: Question) -> str:
        """The executor's answer, or that of what stands in for it."""
        run = self._open(question)
        for iteration in range(1, self._most + 1):
            try:
                reply = await self._ask(run, iteration)
            except ModelError as error:
                return await self._instead(run, "no_llm" if error.kind in OUT_OF_REACH else "llm_error")
            try:
                action = self._read(run, reply, iteration)
            except MalformedReplyError as error:
                if not self._asks_again(run, error, reply, iteration):
                    return await self._instead(run, "parse")
                continue
            if not action.tool:
                return action.answer
            outcome = await self._act(run, action, reply.turn, iteration)
            if outcome.error_kind == "crash":
                return await self._instead(run, "tool_crash")
        return await self._instead(run, "exhausted")

    def _open(self, question: Question) -> _Run:
        ctx = self._ctx
        tools = "\n".join(
            json.dumps(
                {"nome": spec.name, "descricao": spec.description, "argumentos": spec.parameters}, ensure_ascii=False
            )
            for spec in ctx.tools.specs()
        )
        system = prompts.SYSTEM.format(
            today=ctx.clock.today(), user=question.user or "desconhecido", tools=tools, iterations=self._most
        )
        if question.knowledge:
            system += prompts.KNOWLEDGE_SECTION.format(knowledge=question.knowledge)
        said = "\n".join(message.text for message in (*question.history, question.message) if message.role == "user")
        messages = [Message("system", system), *question.history, question.message]
        return _Run(question, messages, WriteGuard(question, ctx.clock.today()), said)

    async def _ask(self, run: _Run, iteration: int) -> Reply:
        free = self._ctx.models.capability().sampling != "refused"
        reply = await self._ctx.models.chat(
            run.messages,
            purpose="react",
            slot="react",
            round=iteration,
            temperature=0.2 if free else None,
            top_p=0.8 if free else None,
            max_tokens=2048,
            stop=("Observation:",),
            stream=self._stream,
        )
        if reply.text.strip():  # no provider takes an empty message back
            run.messages.append(Message("assistant", reply.text, (), None, reply.reply.thinking))
        return reply

    def _read(self, run: _Run, reply: Reply, iteration: int) -> Action:
        """
        The one action of *reply*, told to the trace; an answer is also held to what can be shown.

        Raises:
            MalformedReplyError: There is none that can be used.
        """
        action = read_action(reply.text, reply.reply.finish_reason)
        if action.thought:
            self._ctx.emit(Thought(text=action.thought, source="react_thought"), turn=reply.turn, round=iteration)
        self._reach(run, "planejando")
        if action.discarded:
            self._warn("discarded_text", action.discarded[:SAID_CHARS], reply, iteration)
        if not action.tool:
            names = [spec.name for spec in self._ctx.tools.specs()]
            if problem := problem_of(action.answer, tools=names, ids=run.ids, said=run.said):
                raise MalformedReplyError("bad_answer", problem)
        run.failures = 0
        return action

    def _asks_again(self, run: _Run, error: MalformedReplyError, reply: Reply, iteration: int) -> bool:
        """Tell the model what is wrong with its reply; False where it was told the last time already."""
        run.failures += 1
        if error.kind == "truncated":
            self._warn("truncated_output", error.reason, reply, iteration)
        self._warn("parse_failure", f"{error.kind}: {error.reason}", reply, iteration)
        if run.failures >= MOST_FAILURES:
            return False
        told = json.dumps({"error": "formato", "message": error.reason}, ensure_ascii=False)
        run.messages.append(Message("user", prompts.OBSERVATION.format(text=told) + prompts.REPAIR_REQUEST))
        return True

    async def _act(self, run: _Run, action: Action, turn: int, iteration: int) -> ToolOutcome:
        """Run the tool of *action*, or refuse it, and append what came of it."""
        self._reach(run, "consultando")
        tools, writing = self._ctx.tools, self._ctx.tools.is_write(action.tool)
        place: Json = {"turn": turn, "round": iteration, "source": "json_action"}
        if writing and (refusal := run.guard.refusal(action.args)):
            outcome = tools.refuse(action.tool, action.args, refusal, **place)
        else:
            outcome = await tools.call(action.tool, action.args, cut=cut_by_items, **place)
        if writing:
            run.guard.note(outcome, action.args)
        run.ids |= ids_in(outcome.value)
        run.messages.append(Message("user", prompts.OBSERVATION.format(text=outcome.text)))
        return outcome

    async def _instead(self, run: _Run, reason: str) -> str:
        """The answer where the executor has none: what was written, or the deterministic pipeline's."""
        if run.guard.done is not None:
            self._ctx.emit(Warned(code="answered_from_write", detail=reason))
            return told_change(*run.guard.done, wording_for(run.question))
        self._ctx.emit(FallbackUsed(origin="react", to="deterministic", reason=reason))
        with self._ctx.phase("fallback"):
            return await Pipeline(self._ctx).answer(run.question, may_write=not run.guard.uncertain)

    def _reach(self, run: _Run, stage: str) -> None:
        """Tell the user how far the run is, each stage once."""
        if stage not in run.stages:
            run.stages.append(stage)
            self._ctx.emit(_STAGES[stage])

    def _warn(self, code: str, detail: str, reply: Reply, iteration: int) -> None:
        self._ctx.emit(Warned(code=code, detail=detail), turn=reply.turn, round=iteration)


_STAGES = {
    stage: Progress(stage=stage, value=value)
    for stage, value in (("entendendo", 0.25), ("planejando", 0.5), ("consultando", 0.75), ("sintetizando", 1.0))
}
