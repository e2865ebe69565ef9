"""
Lean ReAct: one loop, native tool calls, and planning as a tool that the model may use or leave alone.

Each round asks the model once. Tool calls are run, in order, and the round is saved; a text without tool calls is the
answer. Every call of the model counts as a step, failed and empty ones included, so the loop ends whatever happens.

The plan is shown where the conversation ends, as a note that is appended when the plan changed: the system prompt and
every earlier message stay byte-equal, which prompt caches and bound thinking blocks need. The profile `seed_literal`
does what the design's document says to the letter: the plan stands in the system prompt, and only steps that bring
something count.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import msgspec

from harness.agents.protocol import AgentContext, Question, Reply, ToolOutcome
from harness.records.digest import canonical_json, digest
from harness.records.faults import ModelError
from harness.records.messages import Json, Message, ToolCall
from harness.records.trace import ErrorRaised, EventData, FinalAnswer, PlanUpdated, Warned

from . import prompts
from .planner import ALIAS, NAME, Planner

ABOUT = "one loop with native tool calls; the model plans with a tool when it wants to"
PROFILES = ("reference", "seed_literal")
DEFAULT_MODEL = "gpt-4.1-mini"
OPTIONS: dict[str, tuple[Json, str]] = {
    "max_steps": (20, "most model calls, failed and empty ones included"),
    "plan_injection": (
        "tail",
        "where the model sees its plan: `tail` (a note at the end) or `system` (the system prompt)",
    ),
    "company": ("die Nachrichtenredaktion", "for whom the agent works, as the system prompt says it"),
    "stream": (False, "stream replies and show their text as it comes"),
}

MAX_ERRORS = 3
"""Model errors in a row that end a run."""
REPEATS = 3
"""Equal tool calls after which the model is told so."""


def build(ctx: AgentContext) -> LeanReact:
    """Build the agent; *ctx* is its only way to models, tools, time and state."""
    return LeanReact(ctx)


@dataclass(slots=True)
class _Session:
    """What survives a stop: the whole conversation, and how many steps the current question took."""

    id: str
    messages: list[Message] = field(default_factory=list)
    asked_at: int = 0
    """Position in *messages* behind the current question."""
    steps: int = 0
    errors: int = 0
    """Model errors in a row."""
    empties: int = 0
    """Empty replies in a row."""
    writes: list[str] = field(default_factory=list)
    """Writing calls that were carried out for the current question."""
    writes_before: frozenset[str] = frozenset()
    """Those of them that were carried out before the session was resumed."""


class LeanReact:
    """The agent of this folder."""

    def __init__(self, ctx: AgentContext) -> None:
        options = {name: default for name, (default, _) in OPTIONS.items()} | dict(ctx.options)
        self._ctx = ctx
        self._planner = Planner()
        self._literal = ctx.profile == "seed_literal"
        self._plan_in_system = self._literal or options["plan_injection"] == "system"
        self._max_steps = int(options["max_steps"])
        self._company = str(options["company"])
        self._stream = bool(options["stream"])
        ctx.tools.add(self._planner.manage_plan)

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work on *question* until the model answers, or a limit ends the run."""
        session = self._open(question)
        if session is None:
            yield ErrorRaised(kind="no_session", message=f"nothing is saved for session {question.session_id}")
            return
        if session.messages[-1].role == "assistant":  # resumed after its end: the answer is there already
            yield FinalAnswer(text=session.messages[-1].text)
            return
        while session.steps < self._max_steps:
            session.steps += 1
            try:
                reply = await self._ask(session)
            except ModelError as error:
                if self._gives_up(session, error):
                    yield ErrorRaised(kind="llm_errors", message=str(error), where="model", retryable=error.retryable)
                    return
                await self._ctx.clock.sleep((error.retry_after_ms or 1000 * session.errors) / 1000)
                continue
            session.errors = 0
            if reply.reply.tool_calls:
                await self._run_tools(session, reply)
            elif reply.text.strip():
                session.messages.append(reply.message)
                self._save(session)
                yield FinalAnswer(text=reply.text)
                return
            elif not self._nudge(session):
                yield ErrorRaised(kind="empty_reply", message="the model said nothing, twice in a row", where="model")
                return
        yield ErrorRaised(kind="max_steps", message=f"no answer within {self._max_steps} steps", where="loop")
        if partial := _last_words(session.messages[session.asked_at :]):
            yield FinalAnswer(text=prompts.INCOMPLETE.format(text=partial), complete=False)

    def _open(self, question: Question) -> _Session | None:
        """The session of *question*: a new one, or the saved one with the new text, if any. None: nothing is saved."""
        if not question.resume:
            system = prompts.SYSTEM.format(
                company=self._company, today=self._ctx.clock.today(), user=question.user or "niemand"
            )
            if question.knowledge:
                system += prompts.KNOWLEDGE_SECTION.format(knowledge=question.knowledge)
            messages = [Message("system", system), *question.history, question.message]
            return _Session(question.session_id, messages, asked_at=len(messages))
        saved = self._ctx.state.load(question.session_id)
        if saved is None:
            return None
        session = _Session(question.session_id, _readable(msgspec.convert(saved["messages"], list[Message])))
        self._planner.set_state(saved.get("plan", saved.get(ALIAS)))
        if question.text:
            session.messages.append(question.message)
            session.asked_at = len(session.messages)
        else:
            session.steps, session.asked_at = saved["counters"]["steps"], saved["counters"]["asked_at"]
            session.writes = list(saved["counters"].get("writes", ()))
            session.writes_before = frozenset(session.writes)
        return session

    async def _ask(self, session: _Session) -> Reply:
        plan = self._planner.render()
        messages: Sequence[Message] = session.messages
        if plan and self._plan_in_system:
            system = Message("system", messages[0].text + prompts.PLAN_SECTION.format(plan=plan))
            messages = [system, *messages[1:]]
        return await self._ctx.models.chat(
            messages,
            purpose="agent",
            tools=self._ctx.tools.specs(),
            tool_choice="auto",
            embeds={"plan": plan} if plan else None,
            round=session.steps,
            stream=self._stream,
            visible=self._stream,
        )

    async def _run_tools(self, session: _Session, reply: Reply) -> None:
        """Run each call of *reply*, in order; what goes wrong in one is its result. Then save the round."""
        session.empties = 0
        session.messages.append(reply.message)
        wrote = False
        for call in reply.reply.tool_calls:
            before = self._planner.steps
            writing = self._ctx.tools.is_write(call.name)
            outcome = await self._run_tool(session, reply.turn, call, writing=writing, wrote=wrote)
            wrote = wrote or writing
            session.messages.append(outcome.message)
            if writing and outcome.ok:
                session.writes.append(_named(call))
            if self._planner.steps != before:
                self._tell_plan(str((call.args or {}).get("action")), reply.turn)
        self._warn_of_repeats(session, reply)
        self._show_plan(session)
        self._save(session)

    async def _run_tool(
        self, session: _Session, turn: int, call: ToolCall, *, writing: bool, wrote: bool
    ) -> ToolOutcome:
        """Run *call*, unless it writes and another one wrote in this turn, or this very one before the stop."""
        place: Json = {"call_id": call.id, "turn": turn, "args_raw": call.args_raw, "round": session.steps}
        refusal = ""
        if writing and wrote:
            refusal = prompts.ONE_WRITE
        elif writing and _named(call) in session.writes_before:
            refusal = prompts.WRITTEN_BEFORE
        if refusal:
            return self._ctx.tools.refuse(call.name, call.args, refusal.format(tool=call.name), **place)
        return await self._ctx.tools.call(call.name, call.args, **place)

    def _tell_plan(self, action: str, turn: int) -> None:
        plan = self._planner.steps
        self._ctx.emit(PlanUpdated(action=action, plan=plan, digest=digest(self._planner.render())), turn=turn)

    def _show_plan(self, session: _Session) -> None:
        """Append the plan as a note, unless the newest note already shows it as it is."""
        plan = self._planner.render()
        if not plan or self._plan_in_system:
            return
        step = next((step for step in self._planner.steps if step.status != "DONE"), None)
        tail = prompts.PLAN_NOTE_OPEN.format(n=step.n, text=step.text) if step else prompts.PLAN_NOTE_DONE
        note = f"{prompts.PLAN_NOTE_HEAD}\n{plan}\n\n{tail}"
        notes = (m.text for m in reversed(session.messages) if m.role == "user")
        if next((text for text in notes if text.startswith(prompts.PLAN_NOTE_HEAD)), "") != note:
            session.messages.append(Message("user", note))

    def _warn_of_repeats(self, session: _Session, reply: Reply) -> None:
        asked = [(call.name, call.args_raw) for message in session.messages for call in message.tool_calls]
        for call in reply.reply.tool_calls:
            if call.name != NAME and asked.count((call.name, call.args_raw)) == REPEATS:
                self._ctx.emit(Warned(code="repeated_call", detail=f"{call.name} {call.args_raw}"), turn=reply.turn)
                session.messages.append(Message("user", prompts.REPEATED_NOTE.format(tool=call.name)))

    def _gives_up(self, session: _Session, error: ModelError) -> bool:
        """Count *error*; whether it was one too many."""
        session.errors += 1
        if self._literal:
            session.steps -= 1
            return False
        return session.errors >= MAX_ERRORS

    def _nudge(self, session: _Session) -> bool:
        """Answer an empty reply with a nudge; False where one did not help."""
        session.empties += 1
        if self._literal:
            session.steps -= 1
            return True
        if session.empties > 1:
            return False
        session.messages.append(Message("user", prompts.EMPTY_NUDGE))
        self._save(session)
        return True

    def _save(self, session: _Session) -> None:
        parts: dict[str, Json] = {
            "messages": msgspec.to_builtins(session.messages),
            "plan": self._planner.get_state(),
            "counters": {"steps": session.steps, "asked_at": session.asked_at, "writes": session.writes},
        }
        self._ctx.state.save(session.id, parts)


def _readable(messages: Sequence[Message]) -> list[Message]:
    """Saved *messages* as a model takes them: no call without its result, and the plan tool under its one name."""
    answered = {message.tool_call_id for message in messages if message.role == "tool"}
    kept = []
    for message in messages:
        calls = tuple(_renamed(call) for call in message.tool_calls if call.id in answered)
        if calls == message.tool_calls:
            kept.append(message)
        elif calls or message.text.strip():
            kept.append(msgspec.structs.replace(message, tool_calls=calls))
    return kept


def _renamed(call: ToolCall) -> ToolCall:
    return msgspec.structs.replace(call, name=NAME) if call.name == ALIAS else call


def _named(call: ToolCall) -> str:
    """Tool and arguments as one text, however the model spelled them."""
    return f"{call.name} {canonical_json(call.args).decode()}"


def _last_words(messages: Sequence[Message]) -> str:
    """The last text that the model said in *messages*."""
    return next((m.text for m in reversed(messages) if m.role == "assistant" and m.text.strip()), "")
