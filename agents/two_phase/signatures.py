"""Tools as Python signatures, the form in which this design offers them to a model."""

from __future__ import annotations

import json
from collections.abc import Iterable

from harness.records.messages import Json, ToolSpec

_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
    "null": "None",
}  # fmt: skip


def parameters_of(specs: Iterable[ToolSpec]) -> dict[str, list[str]]:
    """Names of the parameters of each tool, in order."""
    return {spec.name: list(spec.parameters["properties"]) for spec in specs}


def signatures(specs: Iterable[ToolSpec]) -> str:
    """One line a tool, `name(parameter: type = default)  # what it does`, and one for each parameter's description."""
    return "\n".join(_signature(spec) for spec in specs)


def _signature(spec: ToolSpec) -> str:
    properties = spec.parameters["properties"]
    shown = ", ".join(f"{name}: {_type(part)}{_default(part)}" for name, part in properties.items())
    lines = [f"{spec.name}({shown})  # {_flat(spec.description)}"]
    lines += [
        f"    # {name}: {_flat(part['description'])}" for name, part in properties.items() if "description" in part
    ]
    return "\n".join(lines)


def _type(part: dict[str, Json]) -> str:
    if "enum" in part:
        return f"Literal[{', '.join(json.dumps(value, ensure_ascii=False) for value in part['enum'])}]"
    if "anyOf" in part:
        return " | ".join(_type(one) for one in part["anyOf"])
    return _TYPES.get(part.get("type", ""), "Any")


def _default(part: dict[str, Json]) -> str:
    return f" = {part['default']!r}" if "default" in part else ""


def _flat(text: str) -> str:
    return " ".join(text.split())
