"""
The messages of each stage, and what of the state stands in them word for word.

Whoever solves sees the images of the question; whoever judges or sums up gets a placeholder for each. History and
knowledge stand in every request.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.records.messages import Json, Message, TextPart

from . import prompts
from .state import Images, State
from .verdicts import render_issues

PREVIEW_CHARS = 200
LONGEST_FOUND = 6_000
"""Characters of tool results that later stages are shown; the oldest go first."""


class Composed(NamedTuple):
    """A request: its *messages*, and its *embeds* — texts by name that stand in them."""

    messages: list[Message]
    embeds: dict[str, str]


class Place(NamedTuple):
    """What system prompts say of the world."""

    today: str
    user: str


def plan_request(state: State) -> Composed:
    """Ask for a plan, not for a solution."""
    text = prompts.PLAN_REQUEST.format(
        context=_context(state), problem=state.problem_statement, instruction=prompts.PLAN_INSTRUCTION
    )
    return _composed(state, prompts.PLANNER, text, images=True, instruction=prompts.PLAN_INSTRUCTION)


def solve_request(state: State, place: Place) -> Composed:
    """Ask for a first solution."""
    text = prompts.SOLVE_REQUEST.format(
        version=state.version + 1, context=_context(state), problem=state.problem_statement, plan=_plan(state)
    )
    return _composed(state, _solver(place), text, images=True, plan=state.plan)


def improve_request(state: State, place: Place) -> Composed:
    """Ask for a better version of the first solution."""
    text = prompts.IMPROVE_REQUEST.format(
        version=state.version + 1, context=_context(state), problem=state.problem_statement, plan=_plan(state),
        found=_found(state), solution=state.current_solution,
    )  # fmt: skip
    return _composed(state, _solver(place), text, images=True, plan=state.plan, solution=state.current_solution)


def correct_request(state: State, place: Place) -> Composed:
    """Ask for a solution without the issues of the last round."""
    issues = render_issues(state.verification_results)
    text = prompts.CORRECT_REQUEST.format(
        version=state.version + 1, context=_context(state), problem=state.problem_statement, plan=_plan(state),
        found=_found(state), solution=state.current_solution, issues=issues,
    )  # fmt: skip
    return _composed(
        state, _solver(place), text, images=True, plan=state.plan, solution=state.current_solution, issues=issues
    )


def verify_request(state: State, place: Place) -> Composed:
    """Ask for a verdict on the whole current solution; nobody else's verdict stands in it."""
    text = prompts.VERIFY_REQUEST.format(
        context=_context(state), problem=_without_images(state), solution=state.current_solution
    )
    system = prompts.VERIFIER.format(today=place.today, user=place.user)
    return _composed(state, system, text, images=False, solution=state.current_solution)


def summary_request(state: State) -> Composed:
    """Ask for the answer that the user sees."""
    text = prompts.SUMMARY_REQUEST.format(
        context=_context(state), problem=_without_images(state), solution=state.current_solution
    )
    return _composed(state, prompts.SUMMARIZER, text, images=False, solution=state.current_solution)


def unchanged_note() -> Message:
    """Tell the corrector that it changed nothing."""
    return Message("user", prompts.UNCHANGED)


def preview(solution: str) -> str:
    """The beginning of *solution*: 200 characters and an ellipsis, or all of it."""
    return solution if len(solution) <= PREVIEW_CHARS else f"{solution[:PREVIEW_CHARS]}…"


def rendered_history(history: tuple[Message, ...]) -> str:
    """Earlier turns, a paragraph each; what the system said stands first."""
    forms = {"system": prompts.SYSTEM_TURN, "user": prompts.USER_TURN, "assistant": prompts.ASSISTANT_TURN}
    turns = sorted((turn for turn in history if turn.role in forms), key=lambda turn: turn.role != "system")
    return "\n".join(forms[turn.role].format(text=turn.text) for turn in turns)


def stated_problem(text: str, images: Images) -> str:
    """The problem in words: that of the question, or that it stands in a picture."""
    return text if text.strip() or not images else prompts.IMAGE_ONLY


def found_line(tool: str, args: str, text: str) -> str:
    """One tool result as later stages see it."""
    return f"- {tool}({args}) → {text}"


def as_unverified(answer: str, lang: str) -> str:
    """*answer* below a notice that nobody vouches for it."""
    notice = _NOTICES.get(lang.partition("-")[0], prompts.UNVERIFIED_EN)
    return f"{notice}\n\n{answer}"


_NOTICES = {
    "zh": prompts.UNVERIFIED_ZH,
    "de": prompts.UNVERIFIED_DE,
    "pt": prompts.UNVERIFIED_PT,
    "ru": prompts.UNVERIFIED_RU,
}


def _composed(state: State, system: str, text: str, *, images: bool, **embeds: str) -> Composed:
    content: Json = (TextPart(text), *state.images) if images and state.images else text
    told = {
        "problem": state.problem_statement,
        "history": state.conversation_history,
        "knowledge": state.knowledge_context,
        **embeds,
    }
    named = {name: words for name, words in told.items() if words}
    return Composed([Message("system", system), Message("user", content)], named)


def _solver(place: Place) -> str:
    return prompts.SOLVER.format(today=place.today, user=place.user)


def _context(state: State) -> str:
    history, knowledge = state.conversation_history, state.knowledge_context
    return (prompts.HISTORY_SECTION.format(history=history) if history else "") + (
        prompts.KNOWLEDGE_SECTION.format(knowledge=knowledge) if knowledge else ""
    )


def _plan(state: State) -> str:
    return prompts.PLAN_SECTION.format(plan=state.plan) if state.plan else ""


def _found(state: State) -> str:
    kept: list[str] = []
    left = LONGEST_FOUND
    for line in reversed(state.tool_results):
        left -= len(line)
        if left < 0:
            break
        kept.append(line)
    return prompts.FOUND_SECTION.format(found="\n".join(reversed(kept))) if kept else ""


def _without_images(state: State) -> str:
    if not state.images:
        return state.problem_statement
    marks = " ".join(prompts.IMAGE_MARK.format(n=n) for n in range(1, len(state.images) + 1))
    return prompts.IMAGES_NOTE.format(problem=state.problem_statement, n=len(state.images), marks=marks)
