"""
Deep thinking: solve, verify, correct, until a solution has passed as often as required, and only then answer.

The steps stand in `workflow.yaml`, as nodes and edges; this module walks that graph. Each pass comes from a verifier
call of its own on the same text, and one failure sets the count back to none: the correction is verified anew. A run
that finds no such solution within its limits fails, and says that what it has is unverified.

The state is saved after every step, so that a stopped run goes on with the counters and the report that it had. The
profile `seed_literal` walks the graph as the design's document draws it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from harness.agents.protocol import AgentContext, Question
from harness.errors import BadFileError
from harness.records.faults import ModelError
from harness.records.trace import (
    ConfigResolved,
    ErrorRaised,
    EventData,
    FallbackUsed,
    FinalAnswer,
    Progress,
    Solution,
    Verification,
)

from . import composing, options, picture
from .asking import Asker
from .checking import Checker
from .difficulty import difficulty_of, rounds_for
from .graph import END, Node, Workflow
from .state import State, images_of, solution_digest
from .workflow import load_workflow

ABOUT = "solves, verifies and corrects in rounds; answers what passed several checks in a row"
PROFILES = ("reference", "seed_literal")
DEFAULT_MODEL = "gpt-4.1"
OPTIONS = options.OPTIONS

SAME_TEXT_TRIES = 3
"""Corrections that change nothing, after which the run ends."""
_WORKFLOW = Path(__file__).with_name("workflow.yaml")
_LITERAL = Path(__file__).with_name("workflow.seed_literal.yaml")


def build(ctx: AgentContext) -> DeepThink:
    """
    Build the agent; *ctx* is its only way to models, tools, time and state.

    Raises:
        BadFileError: The workflow file cannot be walked.
        UsageError: An option says what cannot be.
    """
    if ctx.profile == "seed_literal":
        from .literal import LiteralDeepThink

        return LiteralDeepThink(ctx, load_workflow(_LITERAL, faithful=False))
    return DeepThink(ctx, load_workflow(_WORKFLOW))


def draw() -> str:
    """The graph as a picture in plain text."""
    return picture.draw(load_workflow(_WORKFLOW))


class Step(NamedTuple):
    """What a node of the workflow does, under the name of its *phase*."""

    phase: str
    run: Callable[[State, Node], Awaitable[None]]


class DeepThink:
    """The agent of this folder."""

    def __init__(self, ctx: AgentContext, workflow: Workflow) -> None:
        self._ctx = ctx
        self._workflow = workflow
        self._options = given = options.Options.of(ctx.options)
        self._session_id = ""
        self._place = composing.Place(ctx.clock.today(), "")
        self._asker = Asker(
            ctx, self._save, models=given.model_stages, params=given.llm_params,
            max_tool_steps=given.max_tool_steps, cached=given.cache,
        )  # fmt: skip
        self._checker = Checker(ctx, self._asker, at_once=given.max_parallel, timeout_s=given.verify_timeout_s)
        self._steps = {
            "initialize_deep_think": Step("init", self._initialize),
            "generate_thinking_plan": Step("plan", self._plan),
            "deep_think_iteration": Step("solve", self._solve),
            "improve_solution": Step("improve", self._improve),
            "verify_solution": Step("verify", self._verify),
            "correct_solution": Step("correct", self._correct),
            "generate_final_summary": Step("summary", self._summarize),
        }
        if strange := workflow.reachable - self._steps.keys() - {END}:
            raise BadFileError("bad-workflow", f"no step is written for node `{min(strange)}`", at=workflow.shown)

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Walk the graph from where the session stands to its end."""
        state = self._open(question)
        if state is None:
            yield ErrorRaised(kind="no_session", message=f"nothing is saved for session {question.session_id}")
            return
        try:
            while state.node != END:
                await asyncio.sleep(0)  # a cancellation gets through here, between two steps
                await self._walk(state)
        except ModelError as error:
            yield ErrorRaised(kind="llm_errors", message=str(error), where=state.node, retryable=error.retryable)
            return
        except asyncio.CancelledError:
            self._save(state)
            self._ctx.emit(ErrorRaised(kind="cancelled", message="the run was cancelled; it can be resumed"))
            raise
        for event in self._ending(state):
            yield event

    def _open(self, question: Question) -> State | None:
        """The state of *question*: a new one, or the saved one. None: nothing is saved."""
        self._session_id = question.session_id
        self._place = composing.Place(self._ctx.clock.today(), question.user or "—")
        if question.resume and not question.text:
            with self._ctx.phase("init"):
                saved = self._ctx.state.load(question.session_id)
            return State.of(saved) if saved is not None else None
        given, images = self._options, images_of(question.message.content)
        state = State(
            problem_statement=composing.stated_problem(question.text, images), images=images, lang=question.lang,
            conversation_history=composing.rendered_history(question.history), knowledge_context=question.knowledge,
            max_iterations=given.max_iterations, required_verifications=given.required_verifications,
            max_errors=given.max_errors, enable_planning=given.enable_planning,
            enable_self_improvement=given.enable_self_improvement,
            enable_parallel_check=given.enable_parallel_check, node=self._workflow.entry_point,
        )  # fmt: skip
        if given.cache and not question.history:  # with other turns before it, every request is another one
            saved = self._ctx.state.load(question.session_id)
            state.cache = saved["cache"] if saved is not None else {}
        return state

    async def _walk(self, state: State) -> None:
        """Take the step that *state* stands at, and move it on to the next one."""
        step, node = self._steps[state.node], self._workflow.nodes[state.node]
        with self._ctx.phase(step.phase):
            await step.run(state, node)
        state.node = self._workflow.after(state.node, state)
        self._save(state)

    async def _initialize(self, state: State, node: Node) -> None:
        if self._options.adaptive:
            difficulty = difficulty_of(state.problem_statement, images=len(state.images))
            asked, least = state.max_iterations, state.required_verifications
            state.max_iterations = rounds_for(difficulty, asked, least=least)
            used = state.max_iterations
            self._ctx.emit(ConfigResolved(key="max_iterations", asked=asked, used=used, why=difficulty))
        self._tell(state, "initializing")

    async def _plan(self, state: State, node: Node) -> None:
        request = composing.plan_request(state)
        try:
            state.plan = await self._asker.text_once(state, node, request, purpose="plan", slot="plan")
        except ModelError as error:
            self._ctx.emit(FallbackUsed(origin="plan", to="no_plan", reason=str(error)))
        self._tell(state, "planning")

    async def _solve(self, state: State, node: Node) -> None:
        request = composing.solve_request(state, self._place)
        text = await self._asker.text_once(state, node, request, purpose="solve", slot="solve")
        self._take(state, text, "solve")

    async def _improve(self, state: State, node: Node) -> None:
        request = composing.improve_request(state, self._place)
        try:
            text = await self._asker.text_once(state, node, request, purpose="improve", slot="improve")
        except ModelError as error:
            self._ctx.emit(FallbackUsed(origin="improve", to="unimproved", reason=str(error)))
        else:
            self._take(state, text, "improve")

    async def _verify(self, state: State, node: Node) -> None:
        """One round: one check, or as many as are required at once, of which all must pass."""
        of = state.required_verifications if state.enable_parallel_check else 1
        checks = await self._checker.round(state, node, of, self._place)
        verified = solution_digest(state.current_solution)
        counts = state.count(checks)
        for index, (check, count) in enumerate(zip(checks, counts, strict=True)):
            verification = Verification(
                round=state.current_iteration, index=index, of=of, passed=check.passed, verdict=check.verdict,
                issues=check.issues, solution_digest=verified, count=count, required=state.required_verifications,
            )  # fmt: skip
            self._ctx.emit(verification, round=state.current_iteration)
        detail = f"{state.successful_verifications}/{state.required_verifications}"
        self._tell(state, "verifying", message="failed" if state.failed else "passed", detail=detail)

    async def _correct(self, state: State, node: Node) -> None:
        request = composing.correct_request(state, self._place)
        number = state.current_iteration
        for _ in range(SAME_TEXT_TRIES):
            slot = f"correct/{number}"
            text = await self._asker.text(state, node, request, purpose="correct", slot=slot, round=number)
            if text != state.current_solution:
                self._take(state, text, "correct")
                return
            request.messages.append(composing.unchanged_note())
        raise ModelError("bad_reply", f"{SAME_TEXT_TRIES} corrections did not change the solution")

    async def _summarize(self, state: State, node: Node) -> None:
        self._tell(state, "summarizing")
        request = composing.summary_request(state)
        state.answer = await self._asker.text(state, node, request, purpose="summary", slot="summary")
        state.error_message = self._shortfall(state)
        if state.error_message:
            state.answer = composing.as_unverified(state.answer, state.lang)
        self._tell(state, "failed" if state.error_message else "completed")

    def _shortfall(self, state: State) -> str:
        """The limit that the run ended at without a solution that passed often enough, or nothing."""
        if state.successful_verifications >= state.required_verifications:
            return ""
        return "max_errors" if state.consecutive_failures >= state.max_errors else "max_iterations"

    def _ending(self, state: State) -> Iterator[EventData]:
        """What the user is told at the end, also when a finished session is resumed."""
        if state.error_message == "max_errors":
            message = f"{state.max_errors} rounds of verification failed in a row"
            yield ErrorRaised(kind="max_errors", message=message, where="loop")
        elif state.error_message:
            message = f"no solution passed {state.required_verifications} times in {state.max_iterations} rounds"
            yield ErrorRaised(kind="max_iterations", message=message, where="loop")
        yield FinalAnswer(text=state.answer, complete=not state.error_message)

    def _take(self, state: State, text: str, origin: Literal["solve", "improve", "correct"]) -> None:
        """Go on with *text* as the solution."""
        state.take(text)
        shown = composing.preview(text)
        self._ctx.emit(
            Solution(version=state.version, digest=solution_digest(text), chars=len(text), origin=origin, preview=shown)
        )
        status = "correcting" if origin == "correct" else "thinking"
        self._tell(state, status, message=f"solution {state.version}", detail=shown)

    def _tell(self, state: State, status: str, *, message: str = "", detail: str = "") -> None:
        """Tell the user how far the run is; the value never falls, and is 1 only when it has completed."""
        state.status = status
        planned = int(state.enable_planning)
        done = state.successful_verifications + planned * (state.node != self._workflow.entry_point)
        share = 1.0 if status == "completed" else done / (planned + state.required_verifications + 1)
        state.progress = max(state.progress, share)
        self._ctx.emit(Progress(stage=status, value=state.progress, message=message, detail=detail))

    def _save(self, state: State) -> None:
        self._ctx.state.save(self._session_id, state.parts())
