"""
Pydantic over the records of golden sets: strict, unknown keys refused, the place of each mistake known, a JSON Schema.

The records themselves are msgspec structs, which cost little to define and to read. Their twins for pydantic are made
here, where YAML is read; a compiled set needs none of it.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from pydantic import ConfigDict, TypeAdapter

from harness.records.messages import Json

T = TypeVar("T", bound=msgspec.Struct)


class Validation(Generic[T]):
    """What holds JSON against the struct type *record*."""

    def __init__(self, record: type[T]) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(_twin(record))

    def read(self, content: bytes) -> T:
        """
        Read one record from JSON.

        Raises:
            pydantic.ValidationError: A key is unknown or missing, or a value is of the wrong type.
        """
        record: T = _record(self._adapter.validate_json(content, strict=True))
        return record

    def json_schema(self) -> dict[str, Json]:
        """The JSON Schema of the record, with those that it holds under `$defs`."""
        return self._adapter.json_schema()


_RECORD_OF: dict[type, type] = {}
"""The record of each twin."""


def _record(value: Any) -> Any:
    """*value* with records in place of the twins in it."""
    if isinstance(value, tuple):
        return tuple(map(_record, value))
    record = _RECORD_OF.get(type(value))
    return record(**{name: _record(each) for name, each in vars(value).items()}) if record else value


@cache
def _twin(record: Any) -> Any:
    """A dataclass with the name, text, fields and defaults of *record*, and twins in place of the records in it."""
    hints = get_type_hints(record)
    made = []
    for each in msgspec.structs.fields(record):
        how: dict[str, Any] = {}
        if each.default is not msgspec.NODEFAULT:
            how["default"] = each.default
        elif each.default_factory is not msgspec.NODEFAULT:
            how["default_factory"] = each.default_factory
        if isinstance(how.get("default"), msgspec.Struct):
            how = {"default_factory": _twin(how["default"].__class__)}
        made.append((each.name, _with_twins(hints[each.name]), field(**how)))
    namespace = {"__doc__": record.__doc__, "__pydantic_config__": ConfigDict(extra="forbid")}
    twin = make_dataclass(record.__name__, made, frozen=True, kw_only=True, namespace=namespace)
    _RECORD_OF[twin] = record
    return twin


def _with_twins(hint: Any) -> Any:
    if hasattr(hint, "__struct_fields__"):
        return _twin(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return reduce(or_, map(_with_twins, args))
    return origin[tuple(map(_with_twins, args))] if origin in (tuple, dict) else hint
