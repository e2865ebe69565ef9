"""Filling an answer template with a tool's result, by code alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from harness.records.messages import Json

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")


def fill(template: str, value: Json, words: Mapping[str, Json]) -> str:
    """
    Put *value* into *template*: `{result}` is all of it, `{name}` a field of it, or all where it has no such field.

    *words* says what texts of *value* are called in the language of the template.
    """
    fields = value if isinstance(value, Mapping) else {}
    return _PLACEHOLDER.sub(lambda found: _as_text(fields.get(found.group(1), value), words), template)


def _as_text(value: Json, words: Mapping[str, Json]) -> str:
    """*value* for people: no JSON, whole numbers without a point, one line for lists and objects."""
    match value:
        case str():
            return str(words.get(value, value))
        case float() if value.is_integer():
            return str(int(value))
        case Mapping():
            return ", ".join(f"{key}: {_as_text(part, words)}" for key, part in value.items())
        case list() | tuple():
            return "; ".join(_as_text(part, words) for part in value)
        case _:
            return json.dumps(value, ensure_ascii=False)
