"""Observations that fit into a prompt: cut by whole items, still valid JSON, and marked as cut."""

from __future__ import annotations

import json
from collections.abc import Iterator

from harness.records.messages import Json

LONGEST = 3000
"""Characters of an observation; a page of about fifteen news items."""
_STRINGS = (LONGEST, 800, 200, 50)
"""How long texts inside may be, tried in this order until at least one item fits."""


def cut_by_items(value: Json, text: str) -> str:
    """
    Shorten a tool's *value*, whose *text* is what would be sent, to `LONGEST` characters.

    A text that fits is returned as it is. Else lists lose items at their ends, and only where not even one item fits do
    texts lose characters; the result is a JSON object with `"truncado": true`.
    """
    if len(text) <= LONGEST:
        return text
    whole = value if isinstance(value, dict) else {"itens": value} if isinstance(value, list) else {"texto": text}
    longest = max(_list_lengths(whole), default=0)
    for characters in _STRINGS:
        fewest = 1 if longest else 0
        if len(_encoded(whole, fewest, characters)) > LONGEST:
            continue
        kept, too_many = fewest, longest + 1
        while too_many - kept > 1:
            middle = (kept + too_many) // 2
            if len(_encoded(whole, middle, characters)) <= LONGEST:
                kept = middle
            else:
                too_many = middle
        return _encoded(whole, kept, characters)
    return _encoded({}, 0, 0)


def _encoded(whole: dict[str, Json], items: int, characters: int) -> str:
    return json.dumps({**_limited(whole, items, characters), "truncado": True}, ensure_ascii=False)


def _limited(value: Json, items: int, characters: int) -> Json:
    match value:
        case str():
            return value if len(value) <= characters else value[:characters] + "…"
        case list():
            return [_limited(entry, items, characters) for entry in value[:items]]
        case dict():
            return {key: _limited(entry, items, characters) for key, entry in value.items()}
    return value


def _list_lengths(value: Json) -> Iterator[int]:
    if isinstance(value, list):
        yield len(value)
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_lengths(entry)
