"""
Reading the JSON objects that prompts ask for out of what a model wrote.

A JSON value is decoded where a `{` stands, in order, until an object with the wanted key is found: text around it, a
code fence or an example before it do no harm. Nothing is repaired and nothing is guessed: what stands inside an object
that cannot be read is not taken for the whole.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from harness.records.digest import can_be_written
from harness.records.messages import Json

LONGEST = 20_000
"""Characters of a reply that are looked at."""
MOST_TRIES = 100
"""Places in a reply where an object is looked for."""
FINISH = "finish"
FAIL = "fail"
NO_TOOL = "none"

_OBJECT_KEY = re.compile(r'[{,]\s*"\w+"\s*:')
_decoder = json.JSONDecoder(strict=False)


class UnreadableError(Exception):
    """A reply does not hold the object that was asked for; the message says why, for the model to read."""


class FastReply(NamedTuple):
    """One tool at most, and the answer as a template over its result."""

    thought: str
    action: str
    args: dict[str, Json]
    answer: str
    words: dict[str, Json]
    """Values of the result in the words of the answer's language."""
    if_it_fails: str


class Steps(NamedTuple):
    """A plan, or what a replan leaves to do."""

    thought: str
    steps: tuple[str, ...]


class StepReply(NamedTuple):
    """The next action of an item: a tool with *args*, or `finish` or `fail` with *result*."""

    thought: str
    action: str
    args: dict[str, Json]
    result: str


def read_fast(text: str) -> FastReply:
    """
    Read a reply on the fast path.

    Raises:
        UnreadableError: It is not of the form.
    """
    found = _object_with("action", text)
    answer = _text(found, "answer")
    if not answer.strip():
        raise UnreadableError("answer ist leer")
    return FastReply(
        thought=_text(found, "thought"),
        action=_action(found),
        args=_object(found, "args"),
        answer=answer,
        words=_object(found, "words"),
        if_it_fails=_text(found, "if_it_fails"),
    )


def read_plan(text: str) -> Steps:
    """
    Read a plan: at least one step.

    Raises:
        UnreadableError: It is not of the form.
    """
    plan = read_replan(text)
    if not plan.steps:
        raise UnreadableError("steps ist leer")
    return plan


def read_replan(text: str) -> Steps:
    """
    Read what a replan leaves to do: nothing, if the list is empty.

    Raises:
        UnreadableError: It is not of the form.
    """
    found = _object_with("steps", text)
    steps = found["steps"]
    if isinstance(steps, list):
        steps = [_only_value(step) for step in steps]
    if not isinstance(steps, list) or not all(isinstance(step, str) and step.strip() for step in steps):
        raise UnreadableError("steps ist keine Liste von Texten")
    return Steps(_text(found, "thought"), tuple(" ".join(step.split()) for step in steps))


def read_step(text: str) -> StepReply:
    """
    Read the next action of an item.

    Raises:
        UnreadableError: It is not of the form.
    """
    found = _object_with("action", text)
    action, result = _action(found), _text(found, "result")
    if action in (FINISH, FAIL) and not result.strip():
        raise UnreadableError(f"{action} braucht einen Text result")
    return StepReply(_text(found, "thought"), action, _object(found, "args"), result)


def read_answer(text: str) -> str:
    """
    Read the answer: any text but none, and but an object of the kind that steps are asked for in.

    Raises:
        UnreadableError: There is no text, or it holds such an object.
    """
    if not text.strip():
        raise UnreadableError("sie war leer")
    if _OBJECT_KEY.search(text):
        raise UnreadableError("sie enthielt JSON")
    return text.strip()


def _only_value(step: Json) -> Json:
    """The text of a step that is written as `{"task": text}`."""
    return next(iter(step.values())) if isinstance(step, dict) and len(step) == 1 else step


def _object_with(key: str, text: str) -> dict[str, Json]:
    """The first JSON object in *text* that has *key*."""
    text = text[:LONGEST]
    start = text.find("{")
    if start < 0:
        raise UnreadableError("kein JSON-Objekt")
    decoded = False
    for _ in range(MOST_TRIES):
        try:
            value, end = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            decoded = True
            if isinstance(value, dict) and key in value and not _is_inside(text, start) and can_be_written(value):
                return value
        start = text.find("{", end)
        if start < 0:
            break
    raise UnreadableError(
        f"das JSON-Objekt hat keinen Schlüssel {key}" if decoded else "das JSON-Objekt ist fehlerhaft"
    )


def _is_inside(text: str, start: int) -> bool:
    """Whether what begins at *start* is a value of a larger object, which then could not be read."""
    before = text[:start].rstrip()
    return before.endswith(":") and before[:-1].rstrip().endswith('"')


def _action(found: dict[str, Json]) -> str:
    action = found["action"]
    if not isinstance(action, str) or not action.strip():
        raise UnreadableError("action ist kein Text")
    return action.strip()


def _object(found: dict[str, Json], key: str) -> dict[str, Json]:
    value = found.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnreadableError(f"{key} ist kein Objekt")
    return value


def _text(found: dict[str, Json], key: str) -> str:
    value = found.get(key)
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        raise UnreadableError(f"{key} ist kein Text")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
