"""
Selectors: which events of a trace an operator speaks of.

    {tool: "update_*", args: {cluster_id: 120}, ok: true}      good calls of a writing tool with this argument
    {type: final_answer, text: "(?i)sorry"}                    answers that match a regex
    search_docs                                                short for {tool: search_docs}
    final_answer                                               short for {type: final_answer}
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from harness.contracts.case_rules import same_value
from harness.contracts.view import ToolUse, TrialView
from harness.errors import BadFileError
from harness.records.messages import Json
from harness.records.trace import EVENT_TYPES, Event

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": same_value,
    "not": lambda value, wanted: not same_value(value, wanted),
    "matches": lambda value, wanted: re.search(wanted, str(value)) is not None,
    "contains": lambda value, wanted: wanted in value if isinstance(value, str | list | dict) else False,
    "in": lambda value, wanted: any(same_value(value, one) for one in wanted),
    "lt": lambda value, wanted: _is_number(value) and value < wanted,
    "le": lambda value, wanted: _is_number(value) and value <= wanted,
    "gt": lambda value, wanted: _is_number(value) and value > wanted,
    "ge": lambda value, wanted: _is_number(value) and value >= wanted,
}
_TEXT_FIELDS = ("text", "message", "detail", "reason", "preview")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """
    A choice of events; every field that is given must fit. Names may be globs.

    *ok* and *effect* of a tool call are those of its result and its tool; *purpose* of a result is that of its call.
    *args* maps an argument to its value, or to comparisons such as `{ge: 10}` or `{matches: regex}`; `exists` asks
    whether it is given. *where* is a predicate of one's own, in Python only.
    """

    type: str | None = None
    tool: str | None = None
    args: Mapping[str, Json] | None = None
    ok: bool | None = None
    error: str | None = None
    effect: str | None = None
    phase: str | None = None
    purpose: str | None = None
    status: str | None = None
    turn: int | None = None
    text: str | None = None
    where: Callable[[Event], bool] | None = None

    def __post_init__(self) -> None:
        if self.type is None:
            of_tool = self.tool is not None or self.args is not None or self.effect is not None
            implied = "tool_call" if of_tool else "llm_call" if self.purpose is not None else None
            object.__setattr__(self, "type", implied)

    def find(self, view: TrialView) -> list[Event]:
        """The events of *view* that fit, in order."""
        pool = view.by_type.get(self.type, []) if self.type is not None else view.events
        return [event for event in pool if self.fits(event, view)]

    def fits(self, event: Event, view: TrialView) -> bool:
        """Whether *event* of *view* is one of those chosen."""
        return (
            (self.type is None or event.type == self.type)
            and (self.turn is None or event.turn == self.turn)
            and (self.phase is None or fnmatchcase(event.phase, self.phase))
            and (self.tool is None or fnmatchcase(getattr(event.data, "tool", ""), self.tool))
            and (self.status is None or fnmatchcase(getattr(event.data, "status", ""), self.status))
            and (self.purpose is None or fnmatchcase(_purpose(event, view), self.purpose))
            and (self.text is None or re.search(self.text, _text(event)) is not None)
            and self._fits_use(event, view)
            and (self.where is None or self.where(event))
        )

    def _fits_use(self, event: Event, view: TrialView) -> bool:
        if self.ok is None and self.error is None and self.effect is None and self.args is None:
            return True
        use = _use_of(event, view)
        if use is None:
            return self.args is None and self.effect is None and self.error is None and _own_ok(event) is self.ok
        outcome = use.outcome
        return (
            (self.ok is None or (outcome is not None and outcome.ok is self.ok))
            and (self.error is None or (outcome is not None and fnmatchcase(outcome.error_kind or "", self.error)))
            and (self.effect is None or fnmatchcase(use.data.effect, self.effect))
            and (self.args is None or _args_fit(use.args, self.args))
        )

    def __str__(self) -> str:
        given = ((name, getattr(self, name)) for name in _KEYS)
        shown = [f"{name}: {value}" for name, value in given if value is not None]
        implied = (self.tool is not None, self.purpose is not None)
        if shown and any(implied) and shown[0] in ("type: tool_call", "type: llm_call"):
            shown = shown[1:]
        return ", ".join(shown) or "any event"


_KEYS = ("type", "tool", "args", "ok", "error", "effect", "phase", "purpose", "status", "turn", "text")
_KINDS: dict[str, type | tuple[type, ...]] = {"args": dict, "ok": bool, "turn": int}


def selector(stated: Json, *, at: str = "") -> Selector:
    """
    Read a selector as YAML states it: a mapping, or a text that names an event type or a tool.

    Raises:
        BadFileError: A key or an event type does not exist, or a value is of the wrong kind.
    """
    if isinstance(stated, Selector):
        return stated
    if isinstance(stated, str):
        return Selector(type=stated) if stated in EVENT_TYPES else Selector(tool=stated)
    if not isinstance(stated, dict) or not stated:
        raise _bad(f"a selector is a mapping such as `{{tool: search_docs}}`, not `{stated}`", at)
    for key, value in stated.items():
        if key not in _KEYS:
            raise _bad(f"a selector has no key `{key}`", at, _nearest(key, _KEYS))
        kind = _KINDS.get(key, str)
        if not isinstance(value, kind) or (key == "turn" and isinstance(value, bool)):
            raise _bad(f"`{key}` of a selector cannot be `{value}`", at)
    if "type" in stated and stated["type"] not in EVENT_TYPES:
        raise _bad(f"no event type `{stated['type']}`", at, _nearest(stated["type"], tuple(EVENT_TYPES)))
    if "text" in stated:
        _check_regex(stated["text"], at)
    for name, wanted in stated.get("args", {}).items():
        _check_comparison(name, wanted, at)
    return Selector(**stated)


def _check_comparison(name: str, wanted: Json, at: str) -> None:
    if not isinstance(wanted, dict):
        return
    for key, value in wanted.items():
        if key not in _COMPARISONS and key != "exists":
            raise _bad(f"argument `{name}`: no comparison `{key}`", at, _nearest(key, (*_COMPARISONS, "exists")))
        if key in ("lt", "le", "gt", "ge") and not _is_number(value):
            raise _bad(f"argument `{name}`: `{key}` needs a number, not `{value}`", at)
        if key == "in" and not isinstance(value, list):
            raise _bad(f"argument `{name}`: `in` needs a list, not `{value}`", at)
        if key == "matches":
            _check_regex(value, at)


def _check_regex(pattern: Json, at: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, TypeError) as error:
        raise _bad(f"not a regular expression: {pattern} ({error})", at) from None


def _args_fit(args: dict[str, Json] | None, wanted: Mapping[str, Json]) -> bool:
    if args is None:
        return False
    return all(_arg_fits(args, name, condition) for name, condition in wanted.items())


def _arg_fits(args: dict[str, Json], name: str, condition: Json) -> bool:
    if not isinstance(condition, dict):
        return name in args and same_value(args[name], condition)
    if "exists" in condition and (name in args) is not condition["exists"]:
        return False
    comparisons = {key: value for key, value in condition.items() if key != "exists"}
    if name not in args:
        return not comparisons
    return all(_COMPARISONS[key](args[name], value) for key, value in comparisons.items())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _use_of(event: Event, view: TrialView) -> ToolUse | None:
    if event.type not in ("tool_call", "tool_result"):
        return None
    uses = view.memo.get("uses by seq")
    if uses is None:
        uses = {use.event.seq: use for use in view.uses}
        uses |= {use.result.seq: use for use in view.uses if use.result is not None}
        view.memo["uses by seq"] = uses
    found: ToolUse | None = uses.get(event.seq)
    return found


def _own_ok(event: Event) -> bool | None:
    """Whether an event other than a tool's says of itself that it went well."""
    if event.type == "llm_result":
        return event.data.error is None
    own: bool | None = getattr(event.data, "ok", None)
    return own


def _purpose(event: Event, view: TrialView) -> str:
    if event.type == "llm_call":
        return str(event.data.purpose)
    call = view.by_turn.get(event.turn) if event.turn is not None else None
    return call.data.purpose if call is not None else ""


def _text(event: Event) -> str:
    return next((str(text) for name in _TEXT_FIELDS if (text := getattr(event.data, name, None))), "")


@lru_cache(maxsize=256)
def _nearest(name: str, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean `{close[0]}`?" if close else f"known: {', '.join(known)}"


def _bad(message: str, at: str, hint: str = "") -> BadFileError:
    return BadFileError("bad-contract", message, hint=hint, at=at)
