"""Pieces of the news desk's traces, for tests: what a message of its executor leaves behind."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from harness.records.trace import Event, FallbackUsed, Thought, Warned
from harness.testing.builders import answer, make_event, make_trace, model_turn, tool_use

ANSWER = "Hoje há **8** notícias irrelevantes."
COUNT = {"prioridade": "IRRELEVANTE"}


def block(action: str, given: Any = None, thought: str = "Vou ver.") -> str:
    """A reply of the executor's model."""
    return json.dumps({"thought": thought, "action": action, "action_input": given}, ensure_ascii=False)


def message(text: str, number: int, **fields: Any) -> list[Event]:
    """One message of the executor's model."""
    call = {"purpose": "react", "slot": "react", "n_messages": 2 * number} | fields
    return [make_event(data, round=number) for data in model_turn(text, **call)]


def thought(text: str = "Vou ver.") -> Thought:
    """What the model says that it thinks."""
    return Thought(text=text, source="react_thought")


def acted(number: int, tool: str = "count_clusters", args: Any = None, **fields: Any) -> list[Any]:
    """A message that asks for a tool, and the tool's result."""
    args = COUNT if args is None else args
    given = {"text": '{"count": 8}', "expected": {"count": 8}} | fields
    return [message(block(tool, args), number), thought(), used(tool, args, **given)]


def used(tool: str, args: Any, *, source: Any = "json_action", **fields: Any) -> list[Any]:
    """A call of a tool with its result."""
    truth, ms, cut = fields.pop("expected", None), fields.pop("ms", 0), fields.pop("truncated", False)
    called, result = tool_use(tool, args, source=source, **fields)
    return [called, replace(result, expected=truth, ms=ms, truncated=cut)]


def said(number: int, text: str = ANSWER, final: str | None = None) -> list[Any]:
    """A message that answers, and the answer."""
    return [message(block("Final Answer", text), number), thought(), answer(text if final is None else final)]


def idle(number: int, text: str = "Não sei.") -> list[Any]:
    """A message without an action that can be read."""
    return [message(text, number), Warned(code="parse_failure", detail="no_json")]


def fallback(reason: str = "parse") -> FallbackUsed:
    """The deterministic pipeline takes over."""
    return FallbackUsed(origin="react", to="deterministic", reason=reason)


def desk(*steps: Any, **fields: Any) -> Any:
    """A whole trace."""
    return make_trace(*steps, **fields)


GOOD = [acted(1), said(2)]
