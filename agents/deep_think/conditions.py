"""What a workflow's conditional edges ask: each condition is a name for a small function over the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .state import State

YES_OR_NO = ("true", "false")


class Condition(NamedTuple):
    """*decide* comes to one of *outcomes*, from nothing but the fields that it *reads*."""

    decide: Callable[[State], str]
    outcomes: tuple[str, ...]
    reads: tuple[str, ...]


def _needs_planning(state: State) -> str:
    return _told(state.enable_planning and not state.plan)


def _needs_improvement(state: State) -> str:
    return _told(state.enable_self_improvement)


def _verification_outcome(state: State) -> str:
    """`enough`, `again`, `failed` (and worth a correction), or `exhausted`: no round is left, or too many failed."""
    if state.successful_verifications >= state.required_verifications:
        return "enough"
    if state.current_iteration >= state.max_iterations or state.consecutive_failures >= state.max_errors:
        return "exhausted"
    return "failed" if state.failed else "again"


def _verification_failed(state: State) -> str:
    return _told(not state.verification_results[-1].passed)


def _can_continue_iteration(state: State) -> str:
    return _told(state.current_iteration < state.max_iterations)


def _told(answer: bool) -> str:  # noqa: FBT001  # the answer is the argument
    return YES_OR_NO[0] if answer else YES_OR_NO[1]


CONDITIONS: dict[str, Condition] = {
    "needs_planning": Condition(_needs_planning, YES_OR_NO, ("enable_planning", "plan")),
    "needs_improvement": Condition(_needs_improvement, YES_OR_NO, ("enable_self_improvement",)),
    "verification_outcome": Condition(
        _verification_outcome,
        ("again", "failed", "enough", "exhausted"),
        (
            "successful_verifications", "required_verifications", "current_iteration", "max_iterations",
            "consecutive_failures", "max_errors",
        ),
    ),
    "verification_failed": Condition(_verification_failed, YES_OR_NO, ("verification_results",)),
    "can_continue_iteration": Condition(
        _can_continue_iteration, YES_OR_NO, ("current_iteration", "max_iterations")
    ),
}  # fmt: skip
