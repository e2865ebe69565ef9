"""
GitHub's workflow commands: `::error file=…,line=…,title=…::message`, one line each, at the golden case's own line.

The form is that of `@actions/core`; GitHub shows ten errors and ten warnings a step, so the last of more says how many.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.records.decision import Decision
from harness.records.run import RunRecord
from harness.reports.decided import decided_problems
from harness.reports.escaping import command_message, command_property
from harness.reports.problems import FAILING, Problem, problems
from harness.reports.screen import clip

MOST_SHOWN = 10
"""Annotations of one level that GitHub takes from one step."""
_LEVELS = {
    "could_not_check": "error", "broken": "error", "inconclusive": "error", "quarantined": "warning", "known": "warning",
    "advisory": "notice",
}  # fmt: skip
_MOST_COLUMNS = 1_000


def workflow_commands(record: RunRecord, *, prefix: str = "", decision: Decision | None = None) -> str:
    """
    Render *record* as workflow commands, the gravest first; the empty text where nothing is wrong.

    Args:
        record: The run.
        prefix: The project's folder from the root of the repository; empty where they are the same.
        decision: What the gate says of the run: then only what blocks is annotated, with its cause.
    """
    levels: dict[str, list[Problem]] = {}
    if decision is None:
        found = problems(record, prefix=prefix)
    else:
        found = tuple(one for one in decided_problems(record, decision, prefix=prefix) if one.kind in FAILING)
    for problem in found:
        levels.setdefault(_LEVELS[problem.kind], []).append(problem)
    return "\n".join(line for level, found in levels.items() for line in _of_level(level, found))


def _of_level(level: str, found: Sequence[Problem]) -> list[str]:
    if len(found) <= MOST_SHOWN:
        return [_command(level, problem) for problem in found]
    shown = [_command(level, problem) for problem in found[: MOST_SHOWN - 1]]
    more = len(found) - len(shown)
    return [*shown, f"::{level} title=tapegate::and {more} more of this level; the summary of the job names them"]


def _command(level: str, problem: Problem) -> str:
    properties = [f"file={command_property(problem.file)}"] if problem.file else []
    properties += [f"line={problem.line}"] if problem.file and problem.line else []
    cause = f" (cause {clip(problem.change.cause, 40)})" if problem.change is not None else ""
    properties.append(f"title={command_property(f'{problem.title} {clip(problem.rule, 80)}{cause}')}")
    return f"::{level} {','.join(properties)}::{command_message(clip(problem.text, _MOST_COLUMNS))}"
