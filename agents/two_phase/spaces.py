"""The spaces of all users below one folder: for each user a store, a file area, and earlier versions of its files."""

from __future__ import annotations

import re
from pathlib import Path

from .files import FileArea, row_of
from .store import Dump, Store

_USER = re.compile(r"[a-z][a-z0-9_-]{0,39}")


class Space:
    """Everything that belongs to one user."""

    def __init__(self, root: Path, user: str, *, durable: bool = True) -> None:
        folder = root / user
        self.user = user
        self.files = FileArea(folder / "files", folder / "backups", user=user)
        self.store = Store(folder / "space.sqlite", user, durable=durable)

    def dump(self) -> Dump:
        """Every row and every file."""
        return {**self.store.dump(), **self.files.dump()}


class Spaces:
    """The spaces below the folder *root*, each opened at its first use."""

    def __init__(self, root: Path, *, durable: bool = True) -> None:
        self.root = root
        self._durable = durable
        self._open: dict[str, Space] = {}

    def space(self, user: str) -> Space:
        """
        The space of *user*.

        Raises:
            ValueError: *user* is no name: small letters, digits, `_` and `-`, at most 40.
        """
        if not _USER.fullmatch(user):
            raise ValueError(f"`{user}` is no name for a user")
        if user not in self._open:
            self._open[user] = Space(self.root, user, durable=self._durable)
        return self._open[user]

    def dump(self) -> Dump:
        """Every row and every file of every user, and each file that belongs to none of them."""
        entries = sorted(self.root.iterdir())
        tables: Dump = {"beside": {entry.name: row_of(entry) for entry in entries if not entry.is_dir()}}
        for entry in entries:
            if entry.is_dir():
                for table, rows in self.space(entry.name).dump().items():
                    tables.setdefault(table, {}).update(rows)
        return tables

    def close(self) -> None:
        """Close what was opened."""
        for space in self._open.values():
            space.store.close()
        self._open.clear()
