"""Where a results store is: a file of SQLite, or a PostgreSQL server by URL. Its password is never shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from harness.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL

DEFAULT = "history.sqlite"
"""Name of the store in the folder reports/, where nobody names another."""
ENVIRONMENT = "HARNESS_HISTORY"
_DRIVERS = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_FORMS = "`history.sqlite`, `sqlite:///path/to/history.sqlite` or `postgresql://user@host/database`"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A store that can be opened."""

    url: object
    """What SQLAlchemy opens: a `sqlalchemy.URL`."""
    shown: str
    """The same for people: without user, password and options."""
    file: Path | None
    """The file of SQLite; None for a server."""


def address(told: str, *, root: Path) -> Address:
    """
    Understand *told*: a path, relative to *root*, or a URL.

    Raises:
        UsageError: SQLAlchemy is not installed, or *told* is neither, or names a database that is not supported. The message holds nothing of *told* but its scheme.
    """
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError:
        raise missing("sqlalchemy") from None
    if "://" not in told:
        return _of_file(root / told)
    scheme = told.partition("://")[0]
    try:
        url = make_url(told)
    except (ArgumentError, ValueError):
        raise UsageError("bad-history-store", "the address of the results store is no URL", hint=_hint()) from None
    if scheme == "sqlite":
        if not url.database or url.query or url.host:
            raise UsageError("bad-history-store", "the address of the results store names no file", hint=_hint())
        return _of_file(root / url.database)
    if scheme not in _DRIVERS:
        known = scheme if scheme.replace("+", "").isalnum() and len(scheme) < 30 else "…"
        raise UsageError("bad-history-store", f"a results store is SQLite or PostgreSQL, not `{known}`", hint=_hint())
    return Address(url=url.set(drivername=_DRIVERS[scheme]), shown=_shown(url), file=None)


def missing(package: str) -> UsageError:
    """The error for a package that a results store needs."""
    return UsageError(
        "no-reports",
        f"a results store needs {package}, which is not installed",
        hint='pip install "tapegate[reports]"; `harness history --no-store` reads the run folders alone',
    )


def has_password(told: str) -> bool:
    """Whether the URL *told* carries a password, in its place or among its options."""
    from urllib.parse import parse_qs, urlsplit

    try:
        parts = urlsplit(told)
        return bool(parts.password) or "password" in parse_qs(parts.query)
    except ValueError:
        return "password" in told or "@" in told


def _of_file(path: Path) -> Address:
    from sqlalchemy import URL

    return Address(url=URL.create("sqlite", database=str(path)), shown=str(path), file=path)


def _shown(url: URL) -> str:
    port = f":{url.port}" if url.port else ""
    sockets = url.query.get("host", "")
    host = url.host or (sockets if isinstance(sockets, str) else ",".join(sockets))
    return f"postgresql://{host}{port}/{url.database or ''}"


def _hint() -> str:
    return f"name it as {_FORMS}, by --store, {ENVIRONMENT} or `history` in [tool.harness]"
