"""
The news desk's stream: a trace as NDJSON, one step a line.

    {"type":"thought","content":"…"}
    {"type":"action","tool":"query_clusters","input":{…}}
    {"type":"observation","content":{"ok":true,"result":…}}       or {"ok":false,"error":"…"}
    {"type":"final_answer","content":"markdown…"}
    {"type":"error","content":"…","code":"…"}

The lines are a projection: everything in them stands in the trace, so a finished trace gives the very lines that were
streamed while it came into being. Each line is one JSON object in UTF-8 without a line break inside; the last one is
`final_answer` or `error`, and nothing follows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from harness.records.messages import Json
from harness.records.trace import ErrorRaised, Event, FinalAnswer, Thought, ToolCalled, ToolResult, TrialFinished

NO_ANSWER = "no_answer"
"""The code of the error line of a run that ended without an answer and without saying why."""

_LINE_BREAKS = {mark: f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""Characters that JSON leaves as they are and that some readers take for the end of a line."""


def react_lines(events: Iterable[Event]) -> Iterator[str]:
    """
    The lines of a whole trace, without their line ends; lazy, so that *events* may still be coming.

    The first `final_answer` or fatal `error` is the last line; a trace that has neither ends with an error line.
    """
    reason = ""
    for event in events:
        line = react_line(event)
        if line is not None:
            yield line
        if ends_stream(event):
            return
        if isinstance(event.data, TrialFinished):
            reason = event.data.reason
    yield error_line("the run ended without an answer", reason or NO_ANSWER)


def react_line(event: Event) -> str | None:
    """The line of one event, without its line end; None for an event that the stream does not show."""
    match event.data:
        case Thought(text=str(text), source="react_thought"):
            return _line({"type": "thought", "content": text})
        case ToolCalled(tool=tool, args=args):
            return _line({"type": "action", "tool": tool, "input": args or {}})
        case ToolResult() as result:
            return _line({"type": "observation", "content": _observed(result)})
        case FinalAnswer(text=text):
            return _line({"type": "final_answer", "content": text})
        case ErrorRaised(kind=kind, message=message, fatal=True):
            return error_line(message, kind)
    return None


def error_line(message: str, code: str) -> str:
    """An `error` line for what goes wrong outside a trace, such as a server that stops."""
    return _line({"type": "error", "content": message, "code": code})


def ends_stream(event: Event) -> bool:
    """Whether the line of *event* is the last one."""
    return isinstance(event.data, FinalAnswer) or (isinstance(event.data, ErrorRaised) and event.data.fatal)


def one_line(encoded: str) -> str:
    """JSON as one line for every reader, whatever marks its texts hold."""
    for mark, escaped in _LINE_BREAKS.items():  # much faster than `translate` on lines that have none
        encoded = encoded.replace(mark, escaped)
    return encoded


def _observed(result: ToolResult) -> dict[str, Json]:
    value = _decoded(result.text)
    if result.ok:
        return {"ok": True, "result": value}
    message = value.get("message") if isinstance(value, dict) else None
    return {"ok": False, "error": message if isinstance(message, str) else result.text}


def _decoded(text: str) -> Json:
    """The value that a tool's *text* encodes, or the text itself where it is no JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def _line(fields: dict[str, Json]) -> str:
    try:
        encoded = msgspec.json.encode(fields)
    except UnicodeEncodeError:  # half a character, as a model that was cut off may leave it
        encoded = msgspec.json.encode(_whole_characters(fields))
    return one_line(encoded.decode())


def _whole_characters(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_whole_characters(key): _whole_characters(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_whole_characters(inner) for inner in value]
    return value
