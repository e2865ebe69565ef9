"""`world.yaml` and `tools.py` of a world folder, read and checked; the compiled form of the former."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import msgspec

from harness.errors import BadFileError
from harness.goldensets.compiled import load_compiled
from harness.modules import load_module
from harness.records.digest import digest
from harness.records.messages import Json

if TYPE_CHECKING:
    from harness.goldensets.yaml_tree import YamlTree

WORLD_FORMAT = 1
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")


class Table(msgspec.Struct, frozen=True):
    """A table of a world: the column that names a row, all columns, and the rows that a trial starts with."""

    key: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]


class WorldFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a `world.yaml` states, one variant applied."""

    name: str
    now: str
    user: str
    settings: dict[str, Json]
    tables: dict[str, Table]
    store_digest: str
    like: str = ""
    """The world whose clock, user, settings and rows these are; empty in all but the compiled form of such a world."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    key: str
    rows: tuple[dict[str, str | int | float | bool | None], ...]


class _Variant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: str
    remove: dict[str, tuple[str | int, ...]]


class _Written(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`world.yaml` as it is written."""

    format: int
    about: str
    now: str
    user: str
    settings: dict[str, Json] = {}
    tables: dict[str, _Table] = {}
    variants: dict[str, _Variant] = {}


class _Like(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `world.yaml` that takes everything but the tools from the world beside it."""

    format: int
    about: str
    like: str


W = TypeVar("W", _Written, _Like)


def empty_world_file(name: str) -> WorldFile:
    """A world without rows and tools, at the beginning of 2026."""
    return WorldFile(
        name=name, now="2026-01-01T00:00:00+00:00", user="", settings={}, tables={}, store_digest=digest({})
    )


def list_worlds(goldensets: Path) -> list[str]:
    """Names of the world folders beside the golden sets, sorted."""
    return sorted(file.parent.name for file in (goldensets / "worlds").glob("*/world.yaml"))


def load_world_file(folder: Path, *, variant: str, cache: Path | None) -> WorldFile:
    """
    Read `world.yaml` of *folder* with *variant* applied.

    Raises:
        BadFileError: It is missing, is no world, or has no such variant.
    """
    file = _load(folder, variant=variant, cache=cache)
    if not file.like:
        return file
    model = _load(folder.parent / file.like, variant=variant, cache=cache)
    if model.like:
        raise BadFileError(
            "bad-world",
            f"`{file.like}` is itself like another world, `{model.like}`",
            hint=f"write `like: {model.like}`",
            at=_shown(folder / "world.yaml"),
        )
    return msgspec.structs.replace(model, name=file.name)


def _load(folder: Path, *, variant: str, cache: Path | None) -> WorldFile:
    path = folder / "world.yaml"

    def build(content: bytes) -> WorldFile:
        return _build(content, path, variant)

    name = f"{folder.name}+{variant}" if variant else folder.name
    return load_compiled(path, WorldFile, build, cache=cache, name=name, key=variant, code=(Path(__file__),))


def _shown(path: Path) -> str:
    return "/".join(path.parts[-4:])


def load_tools(folder: Path) -> ModuleType:
    """
    Import `tools.py` of *folder* under a private name.

    Raises:
        BadFileError: There is none, or it has no `build`.
    """
    path = folder / "tools.py"
    if not path.is_file():
        raise BadFileError("bad-world", "has no tools.py", at=str(folder))
    module = load_module(path, kind=f"world_{folder.name}", code="bad-world")
    if not callable(getattr(module, "build", None)):
        raise BadFileError("bad-world", "has no function build(world)", at=str(path))
    return module


def load_oracles(folder: Path) -> ModuleType | None:
    """
    Import `oracles.py` of *folder* under a private name; None where there is none.

    Raises:
        BadFileError: It does not load, or it has no `oracles`.
    """
    path = folder / "oracles.py"
    if not path.is_file():
        return None
    module = load_module(path, kind=f"oracles_{folder.name}", code="bad-world")
    if not callable(getattr(module, "oracles", None)):
        raise BadFileError("bad-world", "has no function oracles(world)", at=str(path))
    return module


def _build(content: bytes, path: Path, variant: str) -> WorldFile:
    from harness.goldensets.yaml_tree import read_yaml
    from harness.worlds.store import Store

    tree = read_yaml(content, shown=_shown(path))
    name = f"{path.parent.name}/{variant}" if variant else path.parent.name
    if isinstance(tree.value, dict) and "like" in tree.value:
        like = _read(tree, _Like).like
        if not _NAME.fullmatch(like) or not (path.parent.parent / like / "world.yaml").is_file():
            known = ", ".join(sorted(file.parent.name for file in path.parent.parent.glob("*/world.yaml")))
            raise BadFileError(
                "unknown-world", f"no world named `{like}`", hint=f"there are: {known}", at=tree.at(("like",))
            )
        return msgspec.structs.replace(empty_world_file(name), like=like)
    written = _read(tree, _Written)
    removed: dict[str, tuple[str | int, ...]] = {}
    if variant:
        if variant not in written.variants:
            hint = f"there are: {', '.join(written.variants) or 'none'}"
            raise BadFileError("unknown-world", f"no variant `{variant}`", hint=hint, at=tree.at(("variants",)))
        removed = written.variants[variant].remove
    tables = {
        name: _table(name, table, removed.get(name, ()), at=tree.at(("tables", name)))
        for name, table in written.tables.items()
    }
    return WorldFile(
        name=name,
        now=written.now,
        user=written.user,
        settings=written.settings,
        tables=tables,
        store_digest=Store.filled(tables).digest(),
    )


def _read(tree: YamlTree, kind: type[W]) -> W:
    """The document as *kind*."""
    try:
        written = msgspec.convert(tree.value, kind)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at ")
        message = f"not a world: {reason[:1].lower()}{reason[1:]}"
        raise BadFileError("bad-world", message, at=tree.at(_path(place))) from None
    if written.format != WORLD_FORMAT:
        raise BadFileError(
            "unknown-format", f"world format {written.format}, this version reads 1", at=tree.at(("format",))
        )
    return written


def _path(place: str) -> tuple[str | int, ...]:
    """The path that msgspec writes as `` `$.a[0]` ``, as far as it names keys: `[...]` may be any of them."""
    known = place.strip("`$").partition("[...]")[0]
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"\w+", known))


def _table(name: str, written: _Table, removed: tuple[str | int, ...], *, at: str) -> Table:
    """Check a table and give every row the same columns; what a row leaves out is null."""
    columns = list(dict.fromkeys(column for row in written.rows for column in row))
    for identifier in (name, written.key, *columns):
        if not _NAME.fullmatch(identifier):
            raise BadFileError("bad-world", f"`{identifier}` is no name for a table or a column", at=at)
    keys = [row.get(written.key) for row in written.rows]
    if None in keys or len(set(keys)) != len(keys):
        raise BadFileError("bad-world", f"every row of `{name}` needs its own `{written.key}`", at=at)
    unknown = [key for key in removed if key not in keys]
    if unknown:
        raise BadFileError("bad-world", f"`{name}` has no row `{unknown[0]}` to remove", at=at)
    kept = [row for row in written.rows if row[written.key] not in removed]
    return Table(written.key, tuple(columns), tuple(tuple(row.get(c) for c in columns) for row in kept))
