"""What a case itself asks for, as contracts named after the key of the golden set that states it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import CONTROL_TOOLS, PLAN_PURPOSES, PLAN_TOOLS, ToolUse, TrialView
from harness.records.case import ToolRule
from harness.records.messages import Json

_MARKUP = r"^ {0,3}(?:#{1,6} |```|~~~)|^ {0,3}\|.*\|[ \t]*$|\*\*\S[^*\n]*\*\*|\[[^\[\]\n]+\]\([^()\n]+\)"


@contract("tools", kind="B", over="trial", shrinks=False)
def tools(view: TrialView) -> Iterator[Found]:
    """
    The tools that the case requires are called, with the arguments and as often as it says; no forbidden one is, and
    none outside of those allowed.

    Tools by which a model steers itself, such as a plan's, need not be allowed.
    """
    rules = view.case.tools
    if not rules.required and not rules.forbidden and rules.allowed is None:
        return
    yield TRIGGERED
    uses = [use for leg in view.legs for use in leg.uses]
    for rule in rules.required:
        yield from _required(view, rule, [use for use in uses if _fits(use, rule)])
    for use in uses:
        if any(fnmatchcase(use.tool, pattern) for pattern in rules.forbidden):
            yield broken(use.event, f"{use.tool} is called, which the case forbids")
        elif rules.allowed is not None and not _allowed(use.tool, rules.allowed):
            yield broken(use.event, f"{use.tool} is called, which is not among the allowed tools")


def _allowed(tool: str, patterns: Sequence[str]) -> bool:
    return tool in CONTROL_TOOLS or any(fnmatchcase(tool, pattern) for pattern in patterns)


def _fits(use: ToolUse, rule: ToolRule) -> bool:
    return fnmatchcase(use.tool, rule.tool) and (not rule.args or carries(use.args, rule.args))


def carries(args: dict[str, Json] | None, wanted: dict[str, Json]) -> bool:
    """Whether *args* has every value of *wanted*; texts are compared without regard to case."""
    if args is None:
        return False
    return all(name in args and same_value(args[name], value) for name, value in wanted.items())


def same_value(value: Json, wanted: Json) -> bool:
    """Whether two JSON values are equal; texts are compared without regard to case and to blanks at their ends."""
    if isinstance(value, str) and isinstance(wanted, str):
        return value.strip().casefold() == wanted.strip().casefold()
    return bool(value == wanted)


def _required(view: TrialView, rule: ToolRule, fitting: list[ToolUse]) -> Iterator[Found]:
    if rule.different:
        different: list[ToolUse] = []
        for use in fitting:
            if all(use.same_as != other.same_as for other in different):
                different.append(use)
        fitting = different
    with_args = f" with {msgspec.json.encode(rule.args).decode()}" if rule.args else ""
    times = f"{len(fitting)} {'different ' if rule.different else ''}times"
    if len(fitting) < rule.at_least:
        yield broken(
            [*(use.event for use in fitting), view.finished_event],
            f"{rule.tool}{with_args} is called {times}, expected at least {rule.at_least}",
        )
    elif rule.at_most is not None and len(fitting) > rule.at_most:
        yield broken(
            [use.event for use in fitting], f"{rule.tool}{with_args} is called {times}, expected at most {rule.at_most}"
        )


@contract("plan", kind="B", over="trial", shrinks=False)
def plan(view: TrialView) -> Iterator[Found]:
    """A plan is made where the case requires one, and none where it says none."""
    wanted = view.case.plan
    if wanted == "either":
        return
    yield TRIGGERED
    made = [event for leg in view.legs for event in leg.by_type.get("plan_updated", ()) if event.data.plan]
    asked = [call.event for leg in view.legs for call in leg.calls if call.data.purpose in PLAN_PURPOSES]
    called = [use.event for leg in view.legs for use in leg.uses if use.tool in PLAN_TOOLS and use.ok]
    if wanted == "required" and not (made or asked or called):
        yield broken(view.finished_event, "no plan is made, which the case requires")
    elif wanted == "none" and (made or asked or called):
        yield broken((made or asked or called)[0], "a plan is made, the case says none")


@contract("writes", kind="B", over="trial", shrinks=False)
def writes(view: TrialView) -> Iterator[Found]:
    """Exactly as many writing tool calls succeed as the case expects."""
    expected = view.case.writes
    if expected is None:
        return
    yield TRIGGERED
    done = [use.event for leg in view.legs for use in leg.uses if use.wrote]
    if len(done) != expected:
        yield broken(done or [view.finished_event], f"{len(done)} writes, expected {expected}")


@contract("ending", kind="B", over="trial", needs=("trial_finished",))
def ending(view: TrialView) -> Iterator[Found]:
    """The trial ends with the status, and where the case names one the reason, that the case expects."""
    finished, case = view.finished, view.case
    if finished is None:
        return
    yield TRIGGERED
    if finished.status != case.status:
        reason = f" ({finished.reason})" if finished.reason else ""
        yield broken(view.finished_event, f"status {finished.status}{reason}, expected {case.status}")
    elif case.reason and finished.reason != case.reason:
        yield broken(view.finished_event, f"reason `{finished.reason}`, expected `{case.reason}`")


@contract("format", kind="B", needs=("final_answer",))
def format_(view: TrialView) -> Iterator[Found]:
    """An answer that must be text has no markup, one that must be JSON is JSON. Markdown is held by CX15."""
    wanted = view.case.format
    if wanted == "markdown":
        return
    for final in view.finals:
        yield TRIGGERED
        text = final.data.text
        if wanted == "json":
            try:
                msgspec.json.decode(text)
            except (msgspec.DecodeError, RecursionError) as error:
                yield broken(final, f"the answer is no JSON: {error}")
        else:
            markup = re.search(_MARKUP, text, re.MULTILINE)
            if markup is not None:
                yield broken(final, f"the answer has markup: `{markup.group().strip()[:40]}`")


RULES: Sequence[str] = ("facts", "tools", "plan", "writes", "ending", "format")
"""The ids of the contracts that read the case."""
