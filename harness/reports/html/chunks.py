"""
Traces in the page: compressed, in chunks of many, each in an element of its own that a browser skips until it is asked.

A chunk is a JSON array, deflated (RFC 1950), in base64: no text in it can end the element that holds it.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from typing import IO, Any

import msgspec

from harness.reports.escaping import json_text

MOST_BYTES = 512 * 1024
"""Bytes of JSON after which a chunk is full; one that is larger holds one item."""
LONGEST_TEXT = 200_000
"""Characters of one text that go into the page."""
Scrub = Callable[[str], str]
_encoder = msgspec.json.Encoder()


class ChunkWriter:
    """Writes chunks to *file* as they fill, so that no more than one is in memory."""

    def __init__(self, file: IO[bytes], *, most_bytes: int = MOST_BYTES) -> None:
        self._file = file
        self._most = most_bytes
        self._items: list[bytes] = []
        self._size = 0
        self.written = 0
        """Chunks that are in the file."""

    def add(self, item: bytes) -> tuple[int, int]:
        """Add one JSON value; tells its chunk and its place in it, both from 0."""
        if self._items and self._size + len(item) > self._most:
            self.flush()
        self._items.append(item)
        self._size += len(item)
        return self.written, len(self._items) - 1

    def flush(self) -> None:
        """Write what is left; the next item begins a chunk."""
        if not self._items:
            return
        packed = base64.b64encode(zlib.compress(b"[" + b",".join(self._items) + b"]", 6))
        self._file.write(b'<script type="text/plain" id="chunk-%d">' % self.written + packed + b"</script>\n")
        self.written += 1
        self._items, self._size = [], 0


def packed_json(value: Any, scrub: Scrub) -> bytes:
    """
    Encode *value* as JSON without secrets and with no text above `LONGEST_TEXT` characters.

    Half a character, which UTF-8 does not know, becomes a JSON escape.
    """
    plain = msgspec.to_builtins(value)
    content = _encoded(plain)
    if len(content) > LONGEST_TEXT:
        content = _encoded(_each_text(plain, shortened))
    text = content.decode()
    # A secret is looked for in all of it at once, and taken out text by text: a match across texts would break the JSON.
    return content if scrub(text) == text else _encoded(_each_text(json.loads(text), scrub))


def inline_json(value: Any, scrub: Scrub) -> str:
    """
    The same for a script element that is read where it stands: nothing in it closes the element or opens a comment, and
    nothing steers a reader of the file.
    """
    return json_text(packed_json(value, scrub).decode()).replace("<", "\\u003c")


def shortened(text: str) -> str:
    """*text*, cut to `LONGEST_TEXT` characters, with how many there were."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n… {len(text) - LONGEST_TEXT:,} of {len(text):,} characters are left out here"


def _encoded(value: Any) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _each_text(item, change) for key, item in value.items()}
    return value
