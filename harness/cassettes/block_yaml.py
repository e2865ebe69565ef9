"""
YAML in the form that people review: nested mappings, and text with several lines as a `|` block.

The emitter is our own because PyYAML's C emitter writes a text with one emoji as a single escaped line. Whatever it
writes, every YAML 1.1 loader reads back as the same value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.records.messages import Json

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.@/+-]*(?::[A-Za-z0-9_.@/+-]+)*")
_AMBIGUOUS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that some YAML version takes for something other than text; compared in lower case."""
_HEX = re.compile(r"[0-9a-f]{16,}")
"""Digests are always quoted: one in a few hundred would read as a number otherwise."""
_NOT_IN_BLOCK = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_TO_ESCAPE = re.compile('["\\\\]|' + _NOT_IN_BLOCK.pattern + "|[\t\n]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def block_yaml(value: Mapping[str, Json]) -> str:
    """
    Write a mapping of JSON values as YAML, keys in their order.

    Raises:
        TypeError: *value* holds something that JSON has no form for.
    """
    lines: list[str] = []
    _mapping(value, 0, lines)
    return "\n".join(lines) + "\n"


def _mapping(value: Mapping[str, Json], depth: int, lines: list[str]) -> None:
    for key, item in value.items():
        start = " " * depth + f"{scalar(key)}:"
        if isinstance(item, Mapping) and item:
            lines.append(start)
            _mapping(item, depth + 2, lines)
        elif isinstance(item, (list, tuple)) and any(isinstance(entry, Mapping) for entry in item):
            lines.append(start)
            for entry in item:
                _entry(entry, depth, lines)
        elif isinstance(item, str) and "\n" in item and _fits_block(item):
            _block(start, item, depth + 2, lines)
        else:
            lines.append(f"{start} {_flow(item)}")


def _entry(entry: Json, depth: int, lines: list[str]) -> None:
    if not (isinstance(entry, Mapping) and entry):
        lines.append(" " * depth + f"- {_flow(entry)}")
        return
    first = len(lines)
    _mapping(entry, depth + 2, lines)
    lines[first] = " " * depth + "- " + lines[first][depth + 2 :]


def _fits_block(text: str) -> bool:
    """Whether a `|` block gives *text* back exactly: all printable, and a first line that tells the indentation."""
    return text[0] not in " \t\n" and not _NOT_IN_BLOCK.search(text)


def _block(start: str, text: str, depth: int, lines: list[str]) -> None:
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    lines.append(f"{start} |{'-' if ends == 0 else '' if ends == 1 else '+'}")
    indent = " " * depth
    lines.extend(indent + line if line else "" for line in body.split("\n"))
    lines.extend([""] * (ends - 1))


def _flow(value: Json) -> str:
    if isinstance(value, str):
        return scalar(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    raise TypeError(f"cannot write {type(value).__name__} as YAML")


def _float(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124
        raise TypeError(f"cannot write {value} as YAML")
    text = repr(value)
    # YAML 1.1 wants a dot in the mantissa and a sign in the exponent: 1e-07 would read as text.
    if "e" in text:
        mantissa, exponent = text.split("e")
        mantissa = mantissa if "." in mantissa else mantissa + ".0"
        return f"{mantissa}e{exponent if exponent[0] in '+-' else '+' + exponent}"
    return text


def scalar(text: str) -> str:
    """Write one text: plain where nothing can misread it, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _AMBIGUOUS and not _HEX.fullmatch(text):
        return text
    return '"' + _TO_ESCAPE.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    known = _ESCAPES.get(char)
    if known:
        return known
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
