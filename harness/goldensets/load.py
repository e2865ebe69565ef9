"""
Golden sets as records: `load_set(path)`.

The first load of a file checks everything and keeps a compiled form in `.cache/`; later loads read that and import
neither yaml nor pydantic.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from harness.goldensets.compiled import load_compiled
from harness.records import case as case_records
from harness.records.case import (
    Fact,
    Facts,
    Fault,
    GoldenCase,
    GoldenSet,
    ImageContent,
    Leg,
    Limits,
    TextContent,
    ToolRule,
    ToolRules,
)
from harness.records.messages import Json

_CODE = (
    Path(__file__),
    Path(__file__).with_name("read.py"),
    Path(__file__).with_name("lint.py"),
    Path(__file__).with_name("yaml_tree.py"),
    Path(case_records.__file__),
)


class _Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """A golden set as it lies in the cache, its cases as plain values."""

    name: str
    path: str
    about: str
    world: str | None
    digest: str
    cases: list[dict[str, Any]]


def find_sets(folder: Path) -> dict[str, Path]:
    """The golden sets in *folder*: name to file, sorted by name."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load_set(path: Path, *, root: Path | None = None, cached: bool = True) -> GoldenSet:
    """
    Load the golden set in *path*.

    Args:
        path: The YAML file; its stem is the set's name.
        root: The project that positions are given relative to, and that holds `.cache`; the parent of the file's
            folder by default.
        cached: Whether to use and keep the compiled form.

    Raises:
        BadFileError: The file is missing, is no golden set, or states a case that cannot be held to anything; *at* is
            file:line.
    """
    root = root or path.parent.parent
    shown = _shown(path, root)

    def build(content: bytes) -> _Compiled:
        from harness.goldensets.read import read_set

        golden = read_set(content, name=path.stem, shown=shown)
        return _Compiled(
            name=golden.name,
            path=golden.path,
            about=golden.about,
            world=golden.world,
            digest=golden.digest,
            cases=[_plain(case) for case in golden.cases],
        )

    cache = root / ".cache" / "goldensets" if cached else None
    compiled = load_compiled(path, _Compiled, build, cache=cache, key=shown, code=_CODE)
    return GoldenSet(
        name=compiled.name,
        path=compiled.path,
        about=compiled.about,
        world=compiled.world,
        digest=compiled.digest,
        cases=tuple(_case(stated) for stated in compiled.cases),
    )


def _shown(path: Path, root: Path) -> str:
    """*path* as messages give it: relative to the project where it lies in it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _plain(case: GoldenCase) -> dict[str, Json]:
    """A case as plain values, without what it leaves at its default."""
    return {key: value for key, value in msgspec.to_builtins(case).items() if value != _DEFAULTS[key]}


def _case(stated: dict[str, Json]) -> GoldenCase:
    """A case from `_plain`, by hand: to let msgspec learn the records takes longer than reading them all."""
    for key, kind in _TUPLES.items():
        if key in stated:
            items = stated[key]
            stated[key] = tuple(items) if kind is None else tuple(kind(**item) for item in items)
    if facts := stated.get("facts"):
        stated["facts"] = Facts(**{kind: tuple(Fact(**fact) for fact in facts[kind]) for kind in facts})
    if tools := stated.get("tools"):
        required = tuple(ToolRule(**rule) for rule in tools["required"])
        allowed = None if tools["allowed"] is None else tuple(tools["allowed"])
        stated["tools"] = ToolRules(required=required, allowed=allowed, forbidden=tuple(tools["forbidden"]))
    if limits := stated.get("limits"):
        stated["limits"] = Limits(**limits)
    if advisory := stated.get("advisory"):
        stated["advisory"] = {design: tuple(names) for design, names in advisory.items()}
    return GoldenCase(**stated)


def _content(**part: str) -> TextContent | ImageContent:
    return ImageContent(**part) if "image" in part else TextContent(**part)


_DEFAULTS: dict[str, Json] = msgspec.to_builtins(GoldenCase(id=""))
_TUPLES: dict[str, Callable[..., Any] | None] = {
    "turns": None,
    "history": None,
    "tags": None,
    "designs": None,
    "volatile": None,
    "contracts": None,
    "content": _content,
    "legs": Leg,
    "faults": Fault,
}
"""Fields of a case that are tuples, with what their items are made by."""
