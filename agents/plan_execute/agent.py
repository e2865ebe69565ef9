"""
Plan and execute: the code routes, plans, works a list of tasks off, and asks for the answer last.

A router sends a question it deems simple down the fast path: one reply, at most one tool, the answer filled in by code.
Every other question takes the full path: a plan becomes a `TodoList`, each item is worked off step by step, a failed
item may change what is left, and a last call writes the answer. Models answer in JSON by prompt, read by hand.

The whole run is one conversation that only grows, so that a stop at any saved point can be resumed. This is the older
design, and what lean ReAct is measured against.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from harness.agents.protocol import AgentContext, Question, Reply
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.messages import Json, Message, ToolSpec
from harness.records.trace import ConfigResolved, ErrorRaised, EventData, FinalAnswer, PlanUpdated, Thought, Warned

from . import prompts
from .fill import fill
from .replies import (
    FAIL,
    FINISH,
    NO_TOOL,
    FastReply,
    UnreadableError,
    read_answer,
    read_fast,
    read_plan,
    read_replan,
    read_step,
)
from .router import route
from .todo import Item, TodoList

ABOUT = "code routes, plans and works a to-do list off; JSON actions by prompt (the older design)"
PROFILES = ("reference",)
DEFAULT_MODEL = "gpt-4.1-mini"
OPTIONS: dict[str, tuple[Json, str]] = {
    "max_calls": (20, "most model calls, failed ones included"),
    "company": ("die Nachrichtenredaktion", "for whom the agent works, as the system prompt says it"),
}

MAX_ERRORS = 3
"""Model errors in a row that end a run."""
MAX_RETRIES = 3
"""Times that one reply is asked for again because it cannot be read."""
MAX_REPLANS = 2

T = TypeVar("T")


def build(ctx: AgentContext) -> PlanExecute:
    """Build the agent; *ctx* is its only way to models, tools, time and state."""
    return PlanExecute(ctx)


@dataclass(slots=True)
class _Session:
    """What survives a stop: conversation, list, counters, and the answer once there is one."""

    id: str
    question: str
    messages: list[Message]
    todo: TodoList = field(default_factory=TodoList)
    calls: int = 0
    replans: int = 0
    errors: int = 0
    """Model errors in a row."""
    answer: str = ""

    def say(self, text: str) -> None:
        """Append a user message: what the code asks for next."""
        self.messages.append(Message("user", text))


class _GivenUpError(Exception):
    """The run cannot go on; *kind* names why."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class PlanExecute:
    """The agent of this folder."""

    def __init__(self, ctx: AgentContext) -> None:
        options = {name: default for name, (default, _) in OPTIONS.items()} | dict(ctx.options)
        self._ctx = ctx
        self._max_calls = int(options["max_calls"])
        self._company = str(options["company"])

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work on *question* until it is answered, or a limit ends the run."""
        session = self._open(question)
        if session is None:
            yield ErrorRaised(kind="no_session", message=f"nothing is saved for session {question.session_id}")
            return
        try:
            session.answer = session.answer or await self._work(session)
        except _GivenUpError as end:
            if end.kind == "max_steps" and session.todo.drop_open():
                self._tell_plan(session, "drop")
            self._save(session)
            yield ErrorRaised(kind=end.kind, message=str(end), where="model", retryable=end.kind == "llm_errors")
            if end.kind == "max_steps" and (items := _results(session.todo)):
                yield FinalAnswer(text=prompts.INCOMPLETE.format(items=items), complete=False)
            return
        self._save(session)
        yield FinalAnswer(text=session.answer)

    def _open(self, question: Question) -> _Session | None:
        """The session of *question*: a new one, or the saved one with the new text, if any. None: nothing is saved."""
        if not question.resume:
            system = Message("system", self._system(question))
            return _Session(question.session_id, question.text, [system, *question.history])
        saved = self._ctx.state.load(question.session_id)
        if saved is None:
            return None
        messages = msgspec.convert(saved["messages"], list[Message])
        if question.text:
            return _Session(question.session_id, question.text, messages)
        todo = TodoList(msgspec.convert(saved["plan"], list[Item]))
        return _Session(question.session_id, messages=messages, todo=todo, **saved["counters"])

    def _system(self, question: Question) -> str:
        system = prompts.SYSTEM.format(
            company=self._company,
            today=self._ctx.clock.today(),
            user=question.user or "niemand",
            tools="\n".join(_signature(spec) for spec in self._ctx.tools.specs()),
        )
        if question.knowledge:
            system += prompts.KNOWLEDGE_SECTION.format(knowledge=question.knowledge)
        return system

    async def _work(self, session: _Session) -> str:
        """Find the answer, from wherever the session stands."""
        if not session.todo.items:
            with self._ctx.phase("route"):
                path, why = route(session.question)
                self._ctx.emit(ConfigResolved(key="path", used=path, why=why))
            if path == "fast":
                with self._ctx.phase("fast"):
                    return await self._answer_fast(session)
            with self._ctx.phase("plan"):
                await self._plan(session)
        await self._execute(session)
        with self._ctx.phase("answer"):
            return await self._answer(session)

    async def _answer_fast(self, session: _Session) -> str:
        session.say(prompts.FAST_REQUEST.format(question=session.question))
        fast, turn = await self._ask_for(session, "fast", read_fast)
        if fast is None:
            raise _GivenUpError("unreadable", "no readable reply on the fast path")
        if fast.action == NO_TOOL:
            return fast.answer
        return await self._fill_in(fast, turn)

    async def _fill_in(self, fast: FastReply, turn: int) -> str:
        outcome = await self._ctx.tools.call(
            fast.action, fast.args, call_id=self._ctx.ids.next("action"), turn=turn, source="json_action"
        )
        if outcome.ok:
            return fill(fast.answer, outcome.value, fast.words)
        reason = outcome.error_kind or "failed"
        return fast.if_it_fails.strip() or prompts.FAILED_TOOL.format(tool=fast.action, reason=reason)

    async def _plan(self, session: _Session) -> None:
        session.say(prompts.PLAN_REQUEST.format(question=session.question))
        plan, _ = await self._ask_for(session, "plan", read_plan)
        if plan is None:
            self._ctx.emit(Warned(code="unreadable_plan", detail="the question itself is the only task"))
        session.todo.add(plan.steps if plan else [session.question])
        self._tell_plan(session, "create")
        self._save(session)

    async def _execute(self, session: _Session) -> None:
        """Work the list off; after a failed item, ask what is left to do."""
        todo = session.todo
        while True:
            failed = todo.with_status("failed")
            if len(failed) > session.replans and session.replans < MAX_REPLANS:
                with self._ctx.phase("replan"):
                    await self._replan(session, failed[-1])
            item = todo.next_open()
            if item is None:
                return
            with self._ctx.phase("execute"):
                await self._work_off(session, item)

    async def _work_off(self, session: _Session, item: Item) -> None:
        """Take *item* to its end, action by action; one that was running goes on where its session was saved."""
        if item.status == "pending":
            self._move(session, item, "start")
            session.say(prompts.STEP_REQUEST.format(todo=session.todo.render(), n=item.n, text=item.text))
        while item.open:
            step, turn = await self._ask_for(session, "step", read_step)
            if step is None:
                self._move(session, item, "fail", "unlesbare Antworten")
            elif step.action in (FINISH, FAIL):
                self._move(session, item, step.action, step.result)
            else:
                outcome = await self._ctx.tools.call(
                    step.action, step.args, call_id=self._ctx.ids.next("action"), turn=turn, source="json_action"
                )
                session.say(prompts.OBSERVATION.format(tool=step.action, result=outcome.text, n=item.n))
            self._save(session)

    async def _replan(self, session: _Session, failed: Item) -> None:
        session.replans += 1
        session.say(prompts.REPLAN_REQUEST.format(todo=session.todo.render(), n=failed.n, reason=failed.result))
        plan, _ = await self._ask_for(session, "replan", read_replan)
        if plan is not None:
            session.todo.drop_open()
            session.todo.add(plan.steps)
            self._tell_plan(session, "replan")
        self._save(session)

    async def _answer(self, session: _Session) -> str:
        session.say(prompts.ANSWER_REQUEST.format(todo=session.todo.render(), question=session.question))
        for _ in range(1 + MAX_RETRIES):
            reply = await self._chat(session, "answer")
            if reply.text:
                session.messages.append(Message("assistant", reply.text))
            try:
                return _with_failures(read_answer(reply.text), session.todo)
            except UnreadableError as error:
                session.say(prompts.NO_ANSWER.format(reason=error))
        raise _GivenUpError("no_answer", "no answer was written")

    async def _ask_for(self, session: _Session, purpose: str, read: Callable[[str], T]) -> tuple[T | None, int]:
        """Ask until *read* can read the reply, and again at most `MAX_RETRIES` times; None where it never could."""
        turn = 0
        for _ in range(1 + MAX_RETRIES):
            reply = await self._chat(session, purpose)
            turn = reply.turn
            if reply.text:
                session.messages.append(Message("assistant", reply.text))
            try:
                found = _read_whole(reply, read)
            except UnreadableError as error:
                session.say(prompts.UNREADABLE.format(reason=error))
                continue
            if thought := getattr(found, "thought", ""):
                self._ctx.emit(Thought(text=thought, source="react_thought"), turn=turn)
            return found, turn
        return None, turn

    async def _chat(self, session: _Session, purpose: str) -> Reply:
        """One counted model call; a failed one is repeated until three in a row have failed."""
        while session.calls < self._max_calls:
            session.calls += 1
            plan = session.todo.render()
            embeds = {"plan": plan} if plan else None
            try:
                reply = await self._ctx.models.chat(
                    session.messages, purpose=purpose, embeds=embeds, round=session.calls
                )
            except ModelError as error:
                session.errors += 1
                if session.errors >= MAX_ERRORS:
                    raise _GivenUpError("llm_errors", str(error)) from error
                await self._ctx.clock.sleep((error.retry_after_ms or 1000 * session.errors) / 1000)
                continue
            session.errors = 0
            return reply
        raise _GivenUpError("max_steps", f"no answer within {self._max_calls} model calls")

    def _move(self, session: _Session, item: Item, action: str, result: str = "") -> None:
        match action:
            case "start":
                session.todo.move(item, "running")
            case "finish":
                session.todo.move(item, "done", " ".join(result.split()))
            case _:
                session.todo.move(item, "failed", " ".join(result.split()))
        self._tell_plan(session, action)

    def _tell_plan(self, session: _Session, action: str) -> None:
        todo = session.todo
        self._ctx.emit(PlanUpdated(action=action, plan=todo.as_steps(), digest=digest(todo.render())))

    def _save(self, session: _Session) -> None:
        parts: dict[str, Json] = {
            "messages": msgspec.to_builtins(session.messages),
            "plan": msgspec.to_builtins(session.todo.items),
            "counters": {
                "question": session.question,
                "calls": session.calls,
                "replans": session.replans,
                "answer": session.answer,
            },
        }
        self._ctx.state.save(session.id, parts)


def _read_whole(reply: Reply, read: Callable[[str], T]) -> T:
    """What *read* finds in *reply*; a reply that was cut is not read, however much of it could be."""
    if reply.reply.finish_reason == "length":
        raise UnreadableError("abgeschnitten")
    return read(reply.text)


def _signature(spec: ToolSpec) -> str:
    """A tool on one line: its parameters (a question mark where one may be left out), and what it does."""
    required = spec.parameters.get("required", [])
    listed = []
    for name, schema in spec.parameters.get("properties", {}).items():
        choices = next((part["enum"] for part in (schema, *schema.get("anyOf", ())) if "enum" in part), ())
        hint = "|".join(choices) or (schema.get("description", "") if name in required else "")
        listed.append(f"{name}{'' if name in required else '?'}{f': {hint}' if hint else ''}")
    return f"- {spec.name}({', '.join(listed)}): {' '.join(spec.description.split())}"


def _with_failures(answer: str, todo: TodoList) -> str:
    """*answer*, with every failed item that it does not name itself."""
    missing = [item for item in todo.with_status("failed") if item.text.casefold() not in answer.casefold()]
    if not missing:
        return answer
    return prompts.NOT_DONE.format(answer=answer, items="\n".join(f"- {item.text}: {item.result}" for item in missing))


def _results(todo: TodoList) -> str:
    return "\n".join(f"- {item.text}: {item.result}" for item in todo.with_status("done"))
