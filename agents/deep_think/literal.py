"""
The profile `seed_literal`: the steps as the design's document has them, on the graph as it draws it.

One pass ends the run. A correction never sees the issues and is thrown away, for the next step solves the bare problem
again. The plan is used nowhere. A verdict passes if it has “yes” or “通过” anywhere, so “不通过” passes too, and the pass
counts twice. A run without any pass ends like one that passed.
"""

from __future__ import annotations

from harness.records.messages import Message
from harness.records.trace import Verification

from . import prompts
from .agent import DeepThink
from .composing import Composed
from .graph import Node
from .state import State, solution_digest
from .verdicts import Check

PASS_WORDS = ("yes", "通过")


class LiteralDeepThink(DeepThink):
    """Deep thinking to the letter; the tests show what it breaks."""

    async def _plan(self, state: State, node: Node) -> None:
        request = _request(prompts.LITERAL_PLANNER, state.problem_statement, problem=state.problem_statement)
        await self._asker.text(state, node, request, purpose="plan", slot="plan")
        self._tell(state, "planning")

    async def _solve(self, state: State, node: Node) -> None:
        state.current_iteration += 1
        problem = state.problem_statement
        text = prompts.LITERAL_SOLVE.format(iteration=state.current_iteration, problem=problem)
        request = _request(prompts.LITERAL_SOLVER, text, problem=problem)
        self._take(state, await self._asker.text(state, node, request, purpose="solve", slot="solve"), "solve")

    async def _verify(self, state: State, node: Node) -> None:
        problem, solution, number = state.problem_statement, state.current_solution, state.current_iteration
        text = prompts.LITERAL_VERIFY.format(problem=problem, solution=solution)
        request = _request(prompts.LITERAL_VERIFIER, text, problem=problem, solution=solution)
        reply = await self._asker.ask(node, request, purpose="verify", slot=f"verify/{number}/0", round=number)
        check = Check("pass" if any(word in reply.text.lower() for word in PASS_WORDS) else "fail")
        state.verification_results = [check]
        if check.passed:
            state.successful_verifications += 2
        verification = Verification(
            round=number, index=0, of=1, passed=check.passed, verdict=check.verdict,
            solution_digest=solution_digest(solution), count=state.successful_verifications, required=state.required_verifications,
        )  # fmt: skip
        self._ctx.emit(verification, round=number)
        self._tell(state, "verifying", message="passed" if check.passed else "failed")

    async def _correct(self, state: State, node: Node) -> None:
        problem, solution, number = state.problem_statement, state.current_solution, state.current_iteration
        text = prompts.LITERAL_CORRECT.format(problem=problem, solution=solution)
        request = _request(prompts.LITERAL_CORRECTOR, text, problem=problem, solution=solution)
        slot = f"correct/{number}"
        corrected = await self._asker.text(state, node, request, purpose="correct", slot=slot, round=number)
        self._take(state, corrected, "correct")

    def _shortfall(self, state: State) -> str:
        return ""


def _request(system: str, text: str, **embeds: str) -> Composed:
    return Composed([Message("system", system), Message("user", text)], embeds)
