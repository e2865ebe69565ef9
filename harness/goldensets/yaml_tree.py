"""
YAML that people write, read into plain values with the line of each, within limits.

Only what JSON can say is read, by the rules of YAML 1.2's core schema: `no` and `2026-03-10` are texts. Anchors, aliases
and tags are refused, so that a small file can neither grow in memory nor make objects.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from harness.errors import BadFileError
from harness.records.messages import Json

MAX_BYTES = 1_000_000
MAX_DEPTH = 24
MAX_NODES = 100_000

Path = tuple[str | int, ...]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}


class YamlTree(msgspec.Struct, frozen=True, kw_only=True):
    """A YAML document: its value, and the line (from 1) of every mapping key and list item by its path."""

    value: Json
    lines: dict[Path, int]
    shown: str
    """The file's name as messages give it."""

    def at(self, path: Path) -> str:
        """`file:line` of *path*, or of the nearest thing around it."""
        for end in range(len(path), -1, -1):
            line = self.lines.get(path[:end])
            if line is not None:
                return f"{self.shown}:{line}"
        return self.shown


def read_yaml(content: bytes, *, shown: str) -> YamlTree:
    """
    Read one YAML document.

    Args:
        content: The file's bytes, UTF-8, at most 1 MB.
        shown: The file's name for messages.

    Raises:
        BadFileError: It is no YAML, goes past a limit, or uses anchors, tags or a key twice; *at* names file:line.
    """
    if len(content) > MAX_BYTES:
        raise BadFileError(
            "file-too-large", f"{len(content)} bytes, the limit is {MAX_BYTES}", hint="split the file", at=shown
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadFileError("bad-yaml", "not UTF-8", at=f"{shown}:{line}") from None
    try:
        return _Reader(yaml.parse(text, Loader=_Loader), shown).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = error.problem or error.context or "not YAML"
        raise BadFileError("bad-yaml", f"not YAML: {problem}", at=f"{shown}:{line}") from None
    except yaml.YAMLError as error:
        raise BadFileError("bad-yaml", f"not YAML: {str(error).splitlines()[0]}", at=shown) from None


class _Reader:
    """Builds values from parser events, so that limits hold before anything is built."""

    def __init__(self, events: Iterator[Any], shown: str) -> None:
        self._events = events
        self._shown = shown
        self._lines: dict[Path, int] = {}
        self._nodes = 0

    def document(self) -> YamlTree:
        value: Json = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error("bad-yaml", "more than one document in the file", event)
                value = self._node(next(self._events), ())
        return YamlTree(value=value, lines=self._lines, shown=self._shown)

    def _node(self, event: Any, path: Path) -> Json:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > MAX_DEPTH:
            limit = f"{MAX_NODES} values" if self._nodes > MAX_NODES else f"{MAX_DEPTH} levels"
            raise self._error("file-too-large", f"more than {limit}", event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self._error("bad-yaml", "anchors and aliases are not read here", event, hint="write the value out")
        if getattr(event, "tag", None):
            raise self._error("bad-yaml", f"tags such as `{event.tag}` are not read here", event)
        self._lines.setdefault(path, _line(event))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return event.value if event.style else _plain(event.value)

    def _mapping(self, path: Path) -> dict[str, Json]:
        mapping: dict[str, Json] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error("bad-yaml", "a key must be a plain text", event)
            key = event.value
            if key in mapping:
                raise self._error("bad-yaml", f"key `{key}` stands twice", event)
            self._lines[(*path, key)] = _line(event)
            mapping[key] = self._node(next(self._events), (*path, key))
        return mapping

    def _sequence(self, path: Path) -> list[Json]:
        items: list[Json] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return items

    def _error(self, code: str, message: str, event: Any, *, hint: str = "") -> BadFileError:
        return BadFileError(code, message, hint=hint, at=f"{self._shown}:{_line(event)}")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _plain(text: str) -> Json:
    """The value of an unquoted scalar by YAML 1.2's core schema, without octal, hexadecimal, infinity and NaN."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text
