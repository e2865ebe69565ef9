"""
What a user tells of themselves: profile, feelings, diary and insights, in one SQLite file that is theirs alone.

    store = Store(folder / "vera.sqlite", "vera")
    store.add_feeling("2026-03-10", "Happy", "said so")     # the changes, or () where nothing was stored

Every write answers with what it changed, row by row and in the form of a trace; an empty answer means that nothing was
stored. No clock is read: dates come from the caller.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.records.messages import Json
from harness.records.trace import Effect

if TYPE_CHECKING:
    import sqlite3

Row = dict[str, Json]
Dump = dict[str, dict[Json, Row]]

MOST_ENTRIES = 10_000
"""Rows of each table that a space holds; nothing is stored beyond them."""
FEELING, RELATIONSHIP = "feeling", "relationship_status"
"""Fields of the profile that have a tool of their own."""

_TABLES = {
    "feelings": ("date", "feeling", "context"),
    "diary": ("date", "content", "mood"),
    "insights": ("date", "insight"),
}


class Store:
    """The file of one user, made where it is missing. Not *durable*: a power failure may cost the last changes."""

    def __init__(self, path: Path, user: str, *, durable: bool = True) -> None:
        import sqlite3  # most runs of the harness never open a store

        self.user = user
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        if not durable:
            self._connection.execute("PRAGMA synchronous = OFF")
        with self._together():
            self._connection.execute("CREATE TABLE IF NOT EXISTS profile (field TEXT PRIMARY KEY, value TEXT NOT NULL)")
            for table, columns in _TABLES.items():
                named = ", ".join(f"{column} TEXT NOT NULL" for column in columns)
                self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, {named})")

    def profile(self) -> dict[str, Json]:
        """Every field of the profile, by name."""
        rows = self._connection.execute("SELECT field, value FROM profile ORDER BY field")
        return {row["field"]: json.loads(row["value"]) for row in rows}

    def set_fields(self, fields: Mapping[str, Json]) -> tuple[Effect, ...]:
        """Set *fields* of the profile, all or none; those that already are so change nothing."""
        with self._together():
            changed = [self._set(name, value) for name, value in fields.items()]
        return tuple(effect for effect in changed if effect is not None)

    def feelings(self, most: int = MOST_ENTRIES) -> list[Row]:
        """The newest feelings, oldest of them first."""
        return self._newest("feelings", most)

    def add_feeling(self, date: str, feeling: str, context: str = "") -> tuple[Effect, ...]:
        """Make *feeling* the current one and put it into the history, both or neither."""
        with self._together():
            added = self._add("feelings", date=date, feeling=feeling, context=context)
            current = self._set(FEELING, feeling) if added else None
        return tuple(effect for effect in (added, current) if effect is not None)

    def diary(self, most: int = MOST_ENTRIES) -> list[Row]:
        """The newest diary entries, oldest of them first."""
        return self._newest("diary", most)

    def add_diary_entry(self, date: str, content: str, mood: str = "") -> tuple[Effect, ...]:
        """Add an entry to the diary."""
        added = self._add("diary", date=date, content=content, mood=mood)
        return (added,) if added else ()

    def insights(self, most: int = MOST_ENTRIES) -> list[Row]:
        """The newest insights, oldest of them first."""
        return self._newest("insights", most)

    def add_insight(self, date: str, insight: str) -> tuple[Effect, ...]:
        """Add an insight into the user's relationships."""
        added = self._add("insights", date=date, insight=insight)
        return (added,) if added else ()

    def summary(self) -> dict[str, Json]:
        """The profile, and how much there is of everything else."""
        counts = {table: self._count(table) for table in _TABLES}
        return {"username": self.user, "profile": self.profile(), **counts}

    def search(self, query: str) -> list[Row]:
        """Everything that holds all words of *query*, whatever their case: where it stands, and the row."""
        words = query.casefold().split()
        fields = [{"field": field, "value": value} for field, value in self.profile().items()]
        places = {"profile": fields, **{table: self._newest(table, MOST_ENTRIES) for table in _TABLES}}
        return [
            {"where": place, **row}
            for place, rows in places.items()
            for row in rows
            if words and all(word in _text(row) for word in words)
        ]

    def dump(self) -> Dump:
        """Every row, by table and key; keys name the user, so that stores of several users can stand side by side."""
        profile: dict[Json, Row] = {f"{self.user}/{name}": {"value": value} for name, value in self.profile().items()}
        lists = {table: {self._key(row): row for row in self._newest(table, MOST_ENTRIES)} for table in _TABLES}
        return {"profile": profile, **lists}

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _together(self) -> Iterator[None]:
        """All that is written inside, or nothing of it."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _set(self, field: str, value: Json) -> Effect | None:
        rows: sqlite3.Cursor = self._connection.execute("SELECT value FROM profile WHERE field = ?", (field,))
        found = rows.fetchone()
        before = {"value": json.loads(found["value"])} if found else None
        if before is None and len(self.profile()) >= MOST_ENTRIES:
            return None
        written = json.dumps(value, ensure_ascii=False)
        self._connection.execute(
            "INSERT INTO profile VALUES (?, ?) ON CONFLICT (field) DO UPDATE SET value = excluded.value",
            (field, written),
        )
        return changed("profile", f"{self.user}/{field}", before, {"value": value})

    def _add(self, table: str, **columns: str) -> Effect | None:
        if self._count(table) >= MOST_ENTRIES:
            return None
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 -- names of this module
        row = {"id": self._connection.execute(sql, tuple(columns.values())).lastrowid, **columns}
        return Effect(table, self._key(row), None, row)

    def _count(self, table: str) -> int:
        counted = self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
        return int(counted[0])

    def _newest(self, table: str, most: int) -> list[Row]:
        rows = self._connection.execute(f"SELECT * FROM {table} ORDER BY id DESC LIMIT ?", (most,))  # noqa: S608
        return [dict(row) for row in rows][::-1]

    def _key(self, row: Row) -> str:
        return f"{self.user}/{row['id']}"


def changed(kind: str, key: str, before: Row | None, after: Row | None) -> Effect | None:
    """What turns row *before* into *after*: changed columns only, a new or removed row whole; None where nothing does."""
    if before == after:
        return None
    if before is not None and after is not None:
        differing = [column for column in before if before[column] != after[column]]
        before, after = ({column: row[column] for column in differing} for row in (before, after))
    return Effect(kind, key, before, after)


def _text(row: Row) -> str:
    values: Sequence[Json] = [value for name, value in row.items() if name != "id"]
    return " ".join(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values
    ).casefold()
