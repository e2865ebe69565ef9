"""
A load cache: cassettes in compiled form, so that an unchanged file is not parsed as YAML again.

The file is the truth: an entry counts only for the very bytes that it was compiled from, and everything here may be
deleted at any time. A damaged or locked cache is left aside without a word.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec

from harness.cassettes.file import CASSETTE_FORMAT, LOAD_CHECKS, Cassette, Interaction, Provenance, parse, read_bytes
from harness.cassettes.readers import readers_version
from harness.cassettes.redact import SHAPE_NAMES
from harness.records.digest import DIGEST_CHARS, digest

_FIELDS = [str(kind.__struct_fields__) for kind in (Cassette, Provenance, Interaction)]
_SECONDS_TO_WAIT = 2.0
_WRITE_EVERY = 500
_PRAGMAS = ("PRAGMA page_size = 16384", "PRAGMA cache_size = -512", "PRAGMA synchronous = OFF")
"""Large pages for entries of some 20 KB, few kept, since each is read once; what a crash loses is compiled again."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Cassette)


class Pack:
    """
    Loads cassettes through the cache at *path* (`.cache/replay.sqlite`), for any number of threads.

    Args:
        path: The database; made when there is something to keep.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._new: list[tuple[str, bytes, bytes]] = []
        self._digests: dict[str, str] = {}
        self._database = _opened(path) if path.exists() else None

    def load(self, path: Path | str) -> Cassette:
        """
        Read the cassette at *path*.

        Raises:
            CassetteError: As `harness.cassettes.file.load` does.
        """
        content = read_bytes(path)
        name, key = str(path), hashlib.sha256(content).digest()
        with self._lock:
            self._digests[name] = key.hex()[:DIGEST_CHARS]
            compiled = self._compiled(name, key)
        if compiled is not None:
            return compiled
        cassette = parse(content, name)
        with self._lock:
            self._new.append((name, key, _encoder.encode(cassette)))
            if len(self._new) >= _WRITE_EVERY:
                self._write()
        return cassette

    def file_digest(self, path: Path | str) -> str:
        """The digest of the bytes that `load` read last at *path*; empty where it read none."""
        return self._digests.get(str(path), "")

    def close(self) -> None:
        """Keep what was compiled."""
        with self._lock:
            self._write()
            if self._database is not None:
                self._database.close()
                self._database = None

    def _compiled(self, name: str, key: bytes) -> Cassette | None:
        if self._database is None:
            return None
        try:
            row = self._database.execute("SELECT cassette FROM cassettes WHERE path = ? AND key = ?", (name, key))
            found = row.fetchone()
            return _decoder.decode(found[0]) if found else None
        except (sqlite3.Error, msgspec.MsgspecError, TypeError):
            return None

    def _write(self) -> None:
        if not self._new:
            return
        with suppress(sqlite3.Error, OSError):
            if self._database is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._database = _opened(self._path)
            if self._database is not None:
                with self._database:
                    self._database.executemany("INSERT OR REPLACE INTO cassettes VALUES (?, ?, ?)", self._new)
        self._new.clear()


def _compiled_by() -> str:
    """Changes when a field, a check of loading or a reader does: entries of another version are not read."""
    return digest([CASSETTE_FORMAT, LOAD_CHECKS, _FIELDS, SHAPE_NAMES, readers_version()])


def _opened(path: Path) -> sqlite3.Connection | None:
    """The database, emptied if another version filled it; None where it cannot be used."""
    try:
        database = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT, check_same_thread=False)
        for pragma in _PRAGMAS:
            database.execute(pragma)
        database.execute("CREATE TABLE IF NOT EXISTS version (compiled_by TEXT)")
        found, compiled_by = database.execute("SELECT compiled_by FROM version").fetchone(), _compiled_by()
        if found != (compiled_by,):
            with database:
                database.execute("DROP TABLE IF EXISTS cassettes")
                database.execute("CREATE TABLE cassettes (path TEXT PRIMARY KEY, key BLOB, cassette BLOB)")
                database.execute("DELETE FROM version")
                database.execute("INSERT INTO version VALUES (?)", (compiled_by,))
    except sqlite3.Error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    return database
