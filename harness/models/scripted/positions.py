"""
YAML read with the line of every value kept, so that each complaint about a file names `file:line`.

Plain scalars follow the core schema of YAML 1.2: `no`, `on`, `12:30` and `2026-03-10` are text, never a bool, a number
or a date. Duplicate keys and tags of one's own are refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from harness.errors import BadFileError

Json = Any
Lines = dict[str, int]
"""Path of a value, such as `$.steps[2].reply`, → its line, from 1."""

MAX_BYTES = 1_000_000
MAX_VALUES = 100_000
"""Values in one file, aliases expanded: a bound on what a hostile file can make of itself."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in ["null", "bool", "int", "float", "str", "seq", "map", "timestamp", "merge", "value"]
}
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Json] = {"": None, "~": None, "null": None, "true": True, "false": False}


def read_text(path: Path, *, code: str) -> str:
    """
    Read a file that a person wrote.

    Raises:
        BadFileError: It is not there, is larger than 1 MB, or is not UTF-8; *code* is the error's code.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFileError(code, f"cannot read the file: {error.strerror}", at=str(path)) from None
    if len(content) > MAX_BYTES:
        raise BadFileError(code, f"the file has {len(content)} bytes, more than {MAX_BYTES}", at=str(path))
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise BadFileError(code, f"the file is not UTF-8: byte {error.start}", at=str(path)) from None


def parse_yaml(text: str, *, path: str, code: str) -> tuple[Json, Lines]:
    """
    Parse one YAML document into JSON values and the line of each of them.

    Raises:
        BadFileError: It is no YAML, has a duplicate key, a tag, a key that is no text, or grows too large.
    """
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadFileError(code, f"not YAML: {error.problem}", at=f"{path}:{line}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BadFileError(code, f"not YAML: {error}", at=path) from None
    builder = _Builder(path, code)
    return (None if node is None else builder.build(node, "$")), builder.lines


class _Builder:
    def __init__(self, path: str, code: str) -> None:
        self.lines: Lines = {}
        self._path = path
        self._code = code
        self._built = 0

    def build(self, node: Any, where: str) -> Json:
        self._built += 1
        if self._built > MAX_VALUES:
            raise self._refusal(node, f"more than {MAX_VALUES} values, aliases expanded")
        self.lines[where] = node.start_mark.line + 1
        if node.tag not in _TAGS:
            raise self._refusal(node, f"the tag {node.tag} is not allowed")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, where)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, f"{where}[{index}]") for index, item in enumerate(node.value)]
        return _scalar(node)

    def _mapping(self, node: Any, where: str) -> dict[str, Json]:
        built: dict[str, Json] = {}
        for key, value in node.value:
            name = key.value
            if not isinstance(name, str):
                raise self._refusal(key, "a key must be text")
            if name in built:
                raise self._refusal(key, f"the key `{name}` stands twice")
            inner = f"{where}.{name}"
            built[name] = self.build(value, inner)
            self.lines[inner] = key.start_mark.line + 1
        return built

    def _refusal(self, node: Any, message: str) -> BadFileError:
        return BadFileError(self._code, message, at=f"{self._path}:{node.start_mark.line + 1}")


def _scalar(node: Any) -> Json:
    text: str = node.value
    if node.style:  # quoted or a block; libyaml gives plain scalars an empty style, the Python parser None
        return text
    if text.lower() in _WORDS and text in (text.lower(), text.capitalize(), text.upper()):
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text) if len(text) < 300 else text
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
