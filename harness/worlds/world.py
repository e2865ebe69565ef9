"""
Worlds: what tools read and write. A folder with `world.yaml` (clock, user, tables) and `tools.py` (`build(world)`).

    template = find_world(goldensets, "newsroom")
    world = template.open(trial_seed=0)
    world.tools, world.now, world.user          # what an agent gets
    world.store_digest(), world.diff()          # what contracts hold it to

Each trial has a copy of its own, made at its first write; a trial that only reads shares the template's rows. Rows that
live elsewhere than in SQLite come from the `backend(template)` of `tools.py`, and `world.store` is the trial's part of it.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from harness.errors import BadFileError, HarnessError, UsageError
from harness.records.digest import digest
from harness.records.messages import EmbeddingReply, Json
from harness.records.trace import Effect
from harness.worlds.backend import Backend, Embed, TrialStore, embed_outside_a_trial
from harness.worlds.world_file import (
    Table,
    WorldFile,
    empty_world_file,
    list_worlds,
    load_oracles,
    load_tools,
    load_world_file,
)

if TYPE_CHECKING:
    from harness.worlds.store import Dump, Row, Store

ToolFunction = Callable[..., Any]
Oracle = Callable[..., Json]
"""Says from a world's rows alone what a call of a tool must come to; takes the tool's arguments."""

EMPTY = "empty"
"""The name of the world without tools and rows, for cases that need none; a folder of that name comes first."""


class WorldTemplate:
    """A world as its folder states it, from which every trial gets its own."""

    def __init__(self, file: WorldFile, folder: Path | None) -> None:
        self.name = file.name
        self.now = file.now
        self.user = file.user
        self.settings: Mapping[str, Json] = file.settings
        self.store_digest = file.store_digest
        self.tables: Mapping[str, Table] = file.tables
        """The rows that `world.yaml` states."""
        self.folder = folder
        self._backend: Backend | None = None
        self._lock = threading.Lock()

    def open(self, trial_seed: int = 0) -> World:
        """A world for one trial."""
        return World(self, trial_seed)

    @cached_property
    def store(self) -> Store:
        """The rows that every trial starts with; read only."""
        from harness.worlds.store import Store  # sqlite3 costs milliseconds, and many trials never read

        return Store.filled(self.tables)

    @cached_property
    def dump(self) -> Dump:
        """The content of `store`."""
        return self.store.dump()

    @cached_property
    def module(self) -> ModuleType | None:
        """The world's `tools.py`; None for the empty world."""
        return load_tools(self.folder) if self.folder else None

    @cached_property
    def oracle_module(self) -> ModuleType | None:
        """The world's `oracles.py`, or None."""
        return load_oracles(self.folder) if self.folder else None

    @property
    def backend(self) -> Backend:
        """
        What `backend(template)` of `tools.py` gives: made at its first use, closed when the process ends.

        Raises:
            BadFileError: `tools.py` has no such function, or it gives no backend.
        """
        with self._lock:
            if self._backend is None:
                self._backend = self._made_backend()
                atexit.register(self.close)
            return self._backend

    def _made_backend(self) -> Backend:
        make = getattr(self.module, "backend", None)
        where = str(self.module.__file__) if self.module else ""
        if make is None:
            raise BadFileError("bad-world", f"`{self.name}` has no function backend(template), so no store", at=where)
        try:
            made = make(self)
        except HarnessError:
            raise
        except Exception as error:
            raise BadFileError(
                "bad-world", f"backend(template) fails: {type(error).__name__}: {error}", at=where
            ) from error
        if not isinstance(made, Backend):
            raise BadFileError("bad-world", f"backend(template) gives no backend but a {type(made).__name__}", at=where)
        return made

    def close(self) -> None:
        """Close the backend, if one was opened; the next use opens another."""
        with self._lock:
            backend, self._backend = self._backend, None
        if backend is not None:
            atexit.unregister(self.close)
            backend.close()


class World:
    """The world of one trial."""

    def __init__(self, template: WorldTemplate, seed: int) -> None:
        self.name = template.name
        self.now = template.now
        """The date and time at which the trial starts, ISO 8601."""
        self.user = template.user
        self.settings = template.settings
        self.seed = seed
        self.embedded: dict[str, tuple[float, ...]] = {}
        """The vector that `embed` gave for each text in this trial, so that an oracle need not ask again."""
        self._embed: Embed = embed_outside_a_trial
        self._template = template
        self._own: Store | None = None
        self._store: TrialStore | None = None

    @cached_property
    def tools(self) -> Sequence[ToolFunction]:
        """The functions marked with `@tool` that `tools.py` builds on this world."""
        module = self._template.module
        if module is None:
            return ()
        try:
            return tuple(module.build(self))
        except Exception as error:
            raise BadFileError(
                "bad-world",
                f"build(world) does not give its tools: {type(error).__name__}: {error}",
                at=str(module.__file__),
            ) from error

    @cached_property
    def oracles(self) -> Mapping[str, Oracle]:
        """What `oracles(world)` of `oracles.py` gives, by the tool's name; empty where there is no such file."""
        module = self._template.oracle_module
        oracles: Mapping[str, Oracle] = module.oracles(self) if module is not None else {}
        return oracles

    @property
    def embed(self) -> Embed:
        """Turns texts into vectors by the trial's model client; the runtime sets it before an agent is built."""
        return self._remembered

    @embed.setter
    def embed(self, embed: Embed) -> None:
        self._embed = embed

    async def _remembered(self, texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
        reply = await self._embed(texts, model=model)
        self.embedded.update(zip(texts, reply.vectors, strict=False))
        return reply

    @property
    def store(self) -> Any:
        """
        The trial's own part of the world's backend, opened at its first use; a `TrialStore` with what the tools need.

        Raises:
            BadFileError: The world has no backend.
        """
        if self._store is None:
            self._store = self._template.backend.open()
        return self._store

    @property
    def today(self) -> str:
        """The date at which the trial starts, `YYYY-MM-DD`."""
        return self.now[:10]

    def rows(self, sql: str, *params: Json) -> list[Row]:
        """Read with one SQL statement; *params* stand for its `?`."""
        return self._current.rows(sql, *params)

    def row(self, table: str, key: Json) -> Row | None:
        """The row *key* of *table*, or None."""
        return self._current.row(table, key)

    def execute(self, sql: str, *params: Json) -> None:
        """Write with one SQL statement, in this trial's own copy."""
        if self._own is None:
            self._own = self._template.store.copy()
        self._own.rows(sql, *params)

    def insert(self, table: str, **columns: Json) -> Effect:
        """Add a row and tell what changed."""
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        self.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', *columns.values())  # noqa: S608
        key = columns[self._current.key_of(table)]
        return Effect(table, str(key), None, self._current.row(table, key))

    def update(self, table: str, key: Json, **columns: Json) -> tuple[Effect, ...]:
        """Change columns of the row *key* and tell what changed: one effect, or none where they already were so."""
        from harness.worlds.store import change

        before = self._current.row(table, key)
        names = ", ".join(f'"{name}" = ?' for name in columns)
        column = self._current.key_of(table)
        self.execute(f'UPDATE "{table}" SET {names} WHERE "{column}" = ?', *columns.values(), key)  # noqa: S608
        effect = change(table, key, before, self._current.row(table, key))
        return (effect,) if effect else ()

    def delete(self, table: str, key: Json) -> tuple[Effect, ...]:
        """Remove the row *key* and tell what changed: one effect, or none where there was no such row."""
        before = self._current.row(table, key)
        if before is None:
            return ()
        self.execute(f'DELETE FROM "{table}" WHERE "{self._current.key_of(table)}" = ?', key)  # noqa: S608
        return (Effect(table, str(key), before, None),)

    def store_digest(self) -> str:
        """Name what the world holds now; costs nothing as long as nothing was written and no store opened."""
        if self._store is None:
            return self._template.store_digest if self._own is None else self._own.digest()
        changed = self.diff()
        return digest([self._template.store_digest, changed]) if changed else self._template.store_digest

    def diff(self) -> tuple[Effect, ...]:
        """What differs from the start of the trial, read from the store itself: one effect a row, sorted."""
        if self._own is None and self._store is None:
            return ()
        from harness.worlds.store import changes

        own = changes(self._template.dump, self._own.dump()) if self._own else ()
        if self._store is None:
            return own
        there = changes(self._template.backend.dump(), self._store.dump())
        return tuple(sorted((*own, *there), key=lambda effect: (effect.kind, effect.key)))

    def close(self) -> None:
        """Give the trial's copy and its store back; the world reads as at its start afterwards."""
        if self._own is not None:
            self._own.close()
            self._own = None
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def _current(self) -> Store:
        return self._own or self._template.store


def load_world(folder: Path, *, variant: str = "", cache: Path | None = None) -> WorldTemplate:
    """
    Load the world in *folder*, or its *variant*.

    Args:
        folder: Holds `world.yaml` and `tools.py`.
        variant: A name under `variants` of `world.yaml`; empty for the world itself.
        cache: Folder of compiled files, or None to read the YAML each time.

    Raises:
        BadFileError: `world.yaml` cannot be used, or has no such variant.
    """
    return WorldTemplate(load_world_file(folder, variant=variant, cache=cache), folder)


def find_world(goldensets: Path, name: str, *, cache: Path | None = None) -> WorldTemplate:
    """
    Load the world that a golden set calls *name*: a folder in `worlds/`, `folder/variant`, or `empty`.

    Raises:
        UsageError: There is no such world.
        BadFileError: Its `world.yaml` cannot be used.
    """
    folder, _, variant = name.partition("/")
    known = list_worlds(goldensets)
    if name == EMPTY and EMPTY not in known:
        return WorldTemplate(empty_world_file(EMPTY), None)
    if folder not in known:
        raise UsageError("unknown-world", f"no world named `{folder}`", hint=f"there are: {', '.join(known) or 'none'}")
    return load_world(goldensets / "worlds" / folder, variant=variant, cache=cache)
