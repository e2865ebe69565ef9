"""
Golden lint: what a golden set must not say although its form is right.

A case that can never fail proves nothing, and a name or a pattern that does not exist is never met.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import get_args

from harness.errors import BadFileError
from harness.records.case import Fact, GoldenCase, GoldenSet, ImageContent
from harness.records.faults import ErrorKind
from harness.records.trace import EVENT_TYPES

MAX_ID_CHARS = 100
MODEL_FAULTS: tuple[str, ...] = get_args(ErrorKind)
"""What can go wrong on purpose at a model call."""
TOOL_FAULTS = ("timeout", "not_found", "denied", "crash")
"""What can go wrong on purpose in each call of a tool."""


def lint(
    golden: GoldenSet, *, contracts: Collection[str] | None = None, worlds: Collection[str] | None = None
) -> Iterator[BadFileError]:
    """
    Find everything in *golden* that must not be there; the errors are yielded, not raised.

    Args:
        golden: A set as the loader gives it.
        contracts: Names of all contracts that exist, or None to leave names unchecked; a case's own count as well.
        worlds: Names of all worlds that exist, or None to leave them unchecked.
    """
    seen: dict[str, GoldenCase] = {}
    for case in golden.cases:
        if case.id in seen:
            first = seen[case.id].at.rpartition(":")[2]
            yield _error("duplicate-case", case, f"stands twice, first in line {first}", key="id")
        elif case.id.casefold() in {known.casefold() for known in seen}:
            yield _error("duplicate-case", case, "differs from another id in upper and lower case only", key="id")
        seen.setdefault(case.id, case)
        yield from _question(case)
        yield from _course(case)
        yield from _patterns(case)
        yield from _rules(case)
        if contracts is not None:
            yield from _names(case, contracts)
        if worlds is not None and case.world and case.world.partition("/")[0] not in worlds:
            known = ", ".join(sorted(worlds)) or "none"
            yield _error(
                "unknown-world", case, f"no world named `{case.world}`", key="world", hint=f"there are: {known}"
            )
        if not can_fail(case):
            hint = "state `facts`, `tools`, `writes`, `plan`, `status` or `contracts`"
            yield _error("case-never-fails", case, "can never fail: it expects nothing of its own", hint=hint)


def can_fail(case: GoldenCase) -> bool:
    """Whether *case* expects anything that a well-formed run could miss."""
    facts, tools = case.facts, case.tools
    return bool(
        facts.all
        or facts.any
        or facts.none
        or any(rule.at_least > 0 or rule.at_most is not None for rule in tools.required)
        or tools.allowed is not None
        or tools.forbidden
        or case.contracts
        or case.plan != "either"
        or case.writes is not None
        or case.status != "completed"
        or case.reason
        or case.format == "json"
    )


def _question(case: GoldenCase) -> Iterator[BadFileError]:
    if not case.id.strip() or len(case.id) > MAX_ID_CHARS or not case.id.isprintable():
        yield _error("bad-golden", case, f"an id is 1 to {MAX_ID_CHARS} printable characters", key="id")
    given = [name for name in ("question", "turns", "content") if getattr(case, name)]
    if len(given) != 1:
        told = f"has {' and '.join(f'`{name}`' for name in given)}" if given else "has no question"
        yield _error("bad-golden", case, f"{told}; give exactly one of `question`, `turns`, `content`")
    for turn in case.history:
        if turn.keys() != {"role", "text"} or turn["role"] not in ("user", "assistant"):
            yield _error("bad-golden", case, "a turn of `history` is {role: user or assistant, text: …}", key="history")
    for part in case.content:
        if isinstance(part, ImageContent) and not _stays_inside(part.image):
            yield _error("bad-golden", case, f"image `{part.image}` must lie beside the golden set", key="content")


def _course(case: GoldenCase) -> Iterator[BadFileError]:
    """How a trial of *case* goes: how often, with which stops, limits and faults."""
    if case.trials < 1:
        yield _error("bad-golden", case, "`trials` must be at least 1", key="trials")
    if case.legs and case.turns:
        yield _error("bad-golden", case, "`legs` and `turns` do not go together", key="legs")
    if case.legs and (case.legs[0].resume or case.legs[-1].stop_after):
        yield _error("bad-golden", case, "the first leg cannot resume, and the last cannot stop", key="legs")
    for event, count in [stop for leg in case.legs for stop in leg.stop_after.items()]:
        if event not in EVENT_TYPES or count < 1:
            hint = _nearest(event, EVENT_TYPES) if event not in EVENT_TYPES else "count from 1"
            yield _error("bad-golden", case, f"no leg stops after {count} `{event}`", key="legs", hint=hint)
    for fault in case.faults:
        kinds = TOOL_FAULTS if fault.tool is not None else MODEL_FAULTS
        if (fault.tool is None) == (fault.call is None):
            yield _error("bad-golden", case, "a fault has exactly one of `call` and `tool`", key="faults")
        elif fault.kind not in kinds:
            message = f"no fault `{fault.kind}` of a {'tool' if fault.tool is not None else 'model call'}"
            yield _error("bad-golden", case, message, key="faults", hint=f"there are: {', '.join(kinds)}")
    for name in ("llm_calls", "rounds", "tool_calls", "writes", "seconds"):
        most = getattr(case.limits, name)
        if most is not None and most < 0:
            yield _error("bad-golden", case, f"limit `{name}` is below 0", key="limits")


def _patterns(case: GoldenCase) -> Iterator[BadFileError]:
    for kind in ("all", "any", "none"):
        for fact in getattr(case.facts, kind):
            yield from _fact(case, fact, kind)
    for pattern in case.volatile:
        if (reason := _regex_problem(pattern)) is not None:
            yield _error("bad-regex", case, f"volatile pattern `{pattern}`: {reason}", key="volatile")


def _fact(case: GoldenCase, fact: Fact, kind: str) -> Iterator[BadFileError]:
    if sum(value is not None for value in (fact.text, fact.number, fact.regex)) != 1:
        yield _error("bad-golden", case, "a fact has exactly one of `text`, `number`, `regex`", key="facts")
        return
    if fact.tolerance < 0 or (fact.tolerance and fact.number is None):
        yield _error("bad-golden", case, "`tolerance` is at least 0, and only for a `number`", key="facts")
    if fact.text is not None and not fact.text.strip():
        yield _error("case-never-fails", case, f"an empty text in `facts.{kind}` stands in every answer", key="facts")
    if fact.regex is None:
        return
    if (reason := _regex_problem(fact.regex)) is not None:
        yield _error("bad-regex", case, f"fact `{fact.regex}`: {reason}", key="facts")
    elif re.search(fact.regex, ""):
        yield _error("case-never-fails", case, f"fact `{fact.regex}` matches every answer", key="facts")


def _rules(case: GoldenCase) -> Iterator[BadFileError]:
    for rule in case.tools.required:
        if rule.at_least < 0 or (rule.at_most is not None and rule.at_most < rule.at_least):
            yield _error("bad-golden", case, f"no number of calls of `{rule.tool}` fits", key="tools")
        if rule.tool in case.tools.forbidden:
            yield _error("bad-golden", case, f"`{rule.tool}` is required and forbidden", key="tools")
    if case.writes and case.intent == "read":
        hint = "set `intent: edit`"
        yield _error("bad-golden", case, "expects writes, but its intent is `read`", key="writes", hint=hint)


def _names(case: GoldenCase, contracts: Collection[str]) -> Iterator[BadFileError]:
    own = {str(stated["name"]) for stated in case.contracts if isinstance(stated, dict) and "name" in stated}
    advisory = [name for names in case.advisory.values() for name in names]
    stated = [(name, f"contracts.{place}") for place, name in enumerate(case.contracts) if isinstance(name, str)]
    for name, key in [*stated, *((name, "advisory") for name in advisory)]:
        if name not in contracts and name not in own:
            hint = _nearest(name, [*contracts, *own]) or "`harness list contracts` names every one"
            yield _error("unknown-contract", case, f"no contract named `{name}`", key=key, hint=hint)


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean `{close[0]}`?" if close else ""


def _stays_inside(path: str) -> bool:
    """Whether *path* leads to nothing outside of the folder that it is relative to."""
    return not (PurePosixPath(path).is_absolute() or PureWindowsPath(path).anchor or ".." in re.split(r"[/\\]", path))


def _regex_problem(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


def _error(code: str, case: GoldenCase, message: str, *, key: str = "", hint: str = "") -> BadFileError:
    file = case.at.rpartition(":")[0]
    line = case.lines.get(key)
    return BadFileError(code, f"case `{case.id}`: {message}", hint=hint, at=f"{file}:{line}" if line else case.at)
