"""What a reply of the news desk's executor asks for, read apart from the agent that ran it: its first JSON action."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from harness.contracts.view import ModelCall, TrialView
from harness.records.messages import Json
from harness.records.trace import Event

FINAL = "final answer"
MOST_TRIES = 100
LONGEST = 60_000
"""Characters of a reply that are looked at."""


class Block(NamedTuple):
    """The first action of a reply, and what stands behind it."""

    action: str
    given: Json
    rest: str

    @property
    def is_final(self) -> bool:
        """Whether it is the answer and no tool."""
        return " ".join(self.action.replace("_", " ").split()).casefold() == FINAL


def first_block(text: str) -> Block | None:
    """The first JSON object of *text* that has an `action` and stands in no list; None where there is none."""
    text = text[:LONGEST]
    for value, end in _values(text):
        if isinstance(value, list) and any(isinstance(entry, dict) and "action" in entry for entry in value):
            return None
        if isinstance(value, dict) and "action" in value:
            action = value["action"]
            rest = re.sub(r"\A\s*`{3,}", "", text[end:]).strip()
            return Block(action if isinstance(action, str) else "", value.get("action_input"), rest)
    return None


def _values(text: str) -> Iterator[tuple[Json, int]]:
    """Every JSON object and list of *text* that can be read, in order and not inside each other, with where it ends."""
    decoder = json.JSONDecoder(strict=False)
    place = 0
    for _ in range(MOST_TRIES):
        opening = re.search(r"[\[{]", text[place:])
        if opening is None:
            return
        start = place + opening.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = start + 1
            continue
        yield value, place


def decoded(text: str) -> Json:
    """The value that *text* encodes as JSON, or None where it is no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


class Iteration(NamedTuple):
    """One message of the executor's model with what came of it, up to the next one."""

    call: ModelCall
    events: list[Event]
    """What stands between its reply and the next call of the executor, or the end."""

    def of(self, *types: str) -> list[Event]:
        """Its events of these types."""
        return [event for event in self.events if event.type in types]

    @property
    def actions(self) -> list[Event]:
        """The tool calls that its reply asked for."""
        return [event for event in self.of("tool_call") if event.data.source == "json_action"]


def iterations(view: TrialView) -> list[Iteration]:
    """The executor's messages in order."""
    found: list[Iteration] | None = view.memo.get("iterations")
    if found is None:
        found = view.memo["iterations"] = []
        calls = view.calls_for("react")
        for call, after in zip(calls, [*calls[1:], None], strict=False):
            start = (call.result or call.event).seq
            end = after.event.seq if after is not None else len(view.events) + start
            found.append(Iteration(call, [event for event in view.events if start < event.seq < end]))
    return found
