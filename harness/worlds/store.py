"""
A small store in memory: named tables with one key column each, on SQLite.

Rows are compared and digested by reading the store itself, so that nobody needs to be believed about what changed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from harness.records.digest import digest
from harness.records.messages import Json
from harness.records.trace import Effect

if TYPE_CHECKING:
    from harness.worlds.world_file import Table

Row = dict[str, Json]
Dump = dict[str, dict[Json, Row]]


class Store:
    """One SQLite database in memory."""

    def __init__(self, keys: Mapping[str, str], connection: sqlite3.Connection) -> None:
        self._keys = dict(keys)
        self._connection = connection
        self._lock = threading.Lock()
        self._dump: Dump | None = None
        self._dumped_at = 0
        connection.row_factory = sqlite3.Row

    @classmethod
    def filled(cls, tables: Mapping[str, Table]) -> Store:
        """A store that holds *tables* and refuses every write."""
        connection = _connect()
        for name, table in tables.items():
            columns = ", ".join(f'"{c}" PRIMARY KEY' if c == table.key else f'"{c}"' for c in table.columns)
            connection.execute(f'CREATE TABLE "{name}" ({columns}) WITHOUT ROWID')
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', table.rows)  # noqa: S608 -- checked names
        connection.execute("PRAGMA query_only = ON")
        return cls({name: table.key for name, table in tables.items()}, connection)

    def copy(self) -> Store:
        """A writable store with the same rows; neither sees the other's writes."""
        connection = _connect()
        with self._lock:
            connection.deserialize(self._bytes)
        return Store(self._keys, connection)

    @cached_property
    def _bytes(self) -> bytes:
        return self._connection.serialize()

    def rows(self, sql: str, *params: Json) -> list[Row]:
        """Run one SQL statement with `?` for *params* and return its rows."""
        with self._lock:
            return [dict(row) for row in self._connection.execute(sql, params)]

    def row(self, table: str, key: Json) -> Row | None:
        """The row *key* of *table*, or None."""
        found = self.rows(f'SELECT * FROM "{table}" WHERE "{self._keys[table]}" = ?', key)  # noqa: S608 -- checked name
        return found[0] if found else None

    def key_of(self, table: str) -> str:
        """The column that names the rows of *table*."""
        return self._keys[table]

    def dump(self) -> Dump:
        """Every row of every table, by table and key; read again only after a write."""
        if self._dump is None or self._dumped_at != self._connection.total_changes:
            self._dumped_at = self._connection.total_changes
            self._dump = self._read_all()
        return self._dump

    def _read_all(self) -> Dump:
        return {
            table: {row[key]: row for row in self.rows(f'SELECT * FROM "{table}" ORDER BY "{key}"')}  # noqa: S608
            for table, key in sorted(self._keys.items())
        }

    def digest(self) -> str:
        """Name the content; equal for stores with equal rows, however they came about."""
        return digest({table: list(rows.values()) for table, rows in self.dump().items()})

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()


def changes(before: Dump, after: Dump) -> tuple[Effect, ...]:
    """
    What turns *before* into *after*, sorted by table and key.

    A changed row gives its changed columns only; a new or removed row is given whole, with None on the other side.
    """
    effects = []
    for table in sorted(before.keys() | after.keys()):
        old_rows, new_rows = before.get(table, {}), after.get(table, {})
        for key in sorted(old_rows.keys() | new_rows.keys(), key=str):
            effect = change(table, key, old_rows.get(key), new_rows.get(key))
            if effect is not None:
                effects.append(effect)
    return tuple(effects)


def change(table: str, key: Json, before: Row | None, after: Row | None) -> Effect | None:
    """The effect that turns row *before* into *after*, or None where they are equal."""
    if before == after:
        return None
    if before is not None and after is not None:
        differing = [column for column in before if before[column] != after[column]]
        before = {column: before[column] for column in differing}
        after = {column: after[column] for column in differing}
    return Effect(table, str(key), before, after)


def _connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
