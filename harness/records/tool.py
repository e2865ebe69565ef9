"""
Tools: plain Python functions marked with `@tool`, their JSON Schema, and the check of what a model passes to them.

    @tool(effect="read", ms=120)
    def get_weather(city: Annotated[str, "Name of the city"]) -> Json:
        '''Current weather of a city.'''

A tool returns a JSON value, or a `ToolAnswer` when it has more to say; it raises `ToolError` for what goes wrong in the
world (not found, denied, timed out). Anything else that it raises is a crash.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from harness.records.digest import digest
from harness.records.messages import Json, ToolSpec
from harness.records.trace import Effect, EffectClass

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "_harness_tool"


class ToolError(Exception):
    """A tool could not do what it was asked; *kind* is `not_found`, `denied`, `timeout` or `invalid_args`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool returns when a bare value does not say it all."""

    value: Json
    hits: int | None = None
    """For a search: how many results there are."""
    effects: tuple[Effect, ...] = ()
    """What the tool changed in the store; the store itself is asked as well."""


class Tool(msgspec.Struct, frozen=True):
    """A tool ready to be offered and called."""

    spec: ToolSpec
    effect: EffectClass
    ms: int
    """Milliseconds that a call takes on the virtual clock."""
    function: Callable[..., Any]
    arguments: type[msgspec.Struct]
    schema_digest: str

    @property
    def name(self) -> str:
        return self.spec.name

    def check(self, args: Mapping[str, Json]) -> dict[str, Json]:
        """
        Hold *args* against the tool's schema and fill in defaults.

        Raises:
            ToolError: *kind* `invalid_args`, with the field and the reason.
        """
        try:
            checked = msgspec.convert(dict(args), self.arguments, strict=True)
        except msgspec.ValidationError as error:
            raise ToolError("invalid_args", f"invalid arguments for {self.name}: {error}") from None
        return {name: getattr(checked, name) for name in self.arguments.__struct_fields__}


def tool(*, effect: EffectClass, ms: int = 0, name: str | None = None) -> Callable[[F], F]:
    """
    Mark a function as a tool. Its docstring is the description, its annotations are the schema.

    Args:
        effect: What a call does to the world: `read`, `write`, `external` (recorded, never run on replay) or `none`.
        ms: Milliseconds that a call takes on the virtual clock, at least 0.
        name: The name that models see; the function's own by default.
    """

    def mark(function: F) -> F:
        setattr(function, _MARK, (effect, ms, name or function.__name__))
        return function

    return mark


def is_tool(candidate: object) -> bool:
    """Whether *candidate* is a function or bound method marked with `@tool`."""
    return hasattr(candidate, _MARK)


def as_tool(function: Callable[..., Any]) -> Tool:
    """
    Read a marked function, or bound method, into a `Tool`.

    Raises:
        TypeError: It is not marked, or a parameter has no annotation.
    """
    plain = getattr(function, "__func__", function)
    mark = getattr(plain, _MARK, None)
    if mark is None:
        raise TypeError(f"{function!r} is not marked with @tool")
    # worlds often define tools inside `build`: a new function each trial, but the same code and the same schema
    key = (plain.__code__, mark, plain.__defaults__)
    try:
        known = _known.get(key)
    except TypeError:  # a default that cannot be hashed
        known, key = None, (plain, mark, None)
    if known is None:
        known = _known[key] = _described(plain, mark)
    return Tool(known[0], mark[0], mark[1], function, known[1], known[2])


_known: dict[Any, tuple[ToolSpec, type[msgspec.Struct], str]] = {}


def _described(function: Callable[..., Any], mark: Any) -> tuple[ToolSpec, type[msgspec.Struct], str]:
    _effect, _ms, name = mark
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: parameter {parameter.name} has no annotation")
        kind = _described_type(hints[parameter.name])
        if parameter.default is inspect.Parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, parameter.default))
    arguments = msgspec.defstruct(f"{name}_arguments", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
    parameters = _flat_schema(arguments)
    spec = ToolSpec(name, inspect.getdoc(function) or "", parameters)
    return spec, arguments, digest([name, spec.description, parameters])


def _described_type(hint: Any) -> Any:
    """Turn `Annotated[T, "text"]` into the form that msgspec reads descriptions from."""
    if get_origin(hint) is Annotated:
        base, *notes = get_args(hint)
        text = next((note for note in notes if isinstance(note, str)), "")
        kept = [note for note in notes if not isinstance(note, str)]
        return Annotated[(base, *kept, msgspec.Meta(description=text))]
    return hint


def _flat_schema(arguments: type[msgspec.Struct]) -> dict[str, Json]:
    """The JSON Schema of *arguments* with its one definition in place, in the form that providers take."""
    schema = msgspec.json.schema(arguments)
    definition = dict(next(iter(schema["$defs"].values())))
    definition.pop("title", None)
    definition.setdefault("properties", {})
    return json.loads(json.dumps(definition))  # type: ignore[no-any-return]
