"""Server-sent events, both ways (WHATWG HTML, section 9.2), whatever the borders between the pieces that arrive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class SseEvent(NamedTuple):
    """One event: its name (empty where none was sent) and its data lines, joined by line feeds."""

    name: str
    data: bytes


class SseReader:
    """Cuts a stream of bytes into events; pieces may end anywhere, in the middle of a character too."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[SseEvent]:
        """Take the next bytes and return the events that they complete."""
        unfinished = self._pending[-1:] and self._pending[-1].endswith(b"\r")
        if b"\n" not in piece and b"\r" not in piece and not unfinished:
            self._pending.append(piece)
            return []
        content = b"".join((*self._pending, piece))
        # A carriage return at the very end may be the first half of a line break.
        end = len(content) - 1 if content.endswith(b"\r") else len(content)
        end = max(content.rfind(b"\n", 0, end), content.rfind(b"\r", 0, end)) + 1
        self._pending = [content[end:]]
        return self._lines(content[:end].splitlines())

    def close(self) -> list[SseEvent]:
        """Return what the stream's last lines hold: servers and recorders lose the closing blank line."""
        rest = b"".join(self._pending)
        self._pending = []
        return [*self._lines(rest.splitlines()), *self._lines([b""])]

    def _lines(self, lines: Iterable[bytes]) -> list[SseEvent]:
        events: list[SseEvent] = []
        for line in lines:
            if not line:
                self._end_event(events)
                self._name = b""
                continue
            field, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                if self._data and _starts_anew(self._data[-1], value):
                    self._end_event(events)
                self._data.append(value)
            elif field == b"event":
                self._name = value
        return events

    def _end_event(self, events: list[SseEvent]) -> None:
        if self._data:
            events.append(SseEvent(self._name.decode("utf-8", "replace"), b"\n".join(self._data)))
            self._data = []


def looks_like_sse(body: bytes) -> bool:
    """Whether *body* starts as an event stream does; comments and blank lines may come first."""
    start = body[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def encode_event(data: bytes, name: str = "") -> bytes:
    """Write one event; *data* is one line."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + data + b"\n\n"


def _starts_anew(before: bytes, line: bytes) -> bool:
    # Some recorders lose the blank lines; no JSON value goes on with a brace after a brace.
    return before.endswith(b"}") and (line.startswith(b"{") or line == b"[DONE]")
