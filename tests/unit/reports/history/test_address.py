"""Where a store is, as people write it, and what of it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reports.history.address import address, has_password

ROOT = Path("/project")


@pytest.mark.parametrize(
    ("told", "file"),
    [
        ("history.sqlite", "/project/history.sqlite"),
        ("/var/h.sqlite", "/var/h.sqlite"),
        ("sqlite:///h.sqlite", "/project/h.sqlite"),
        ("sqlite:////var/h.sqlite", "/var/h.sqlite"),
    ],
)
def test_a_path_is_a_file_of_sqlite(told, file):
    """Relative to the project, as a URL too."""
    found = address(told, root=ROOT)

    assert (Path(file), file, "sqlite") == (found.file, found.shown, found.url.drivername)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("postgresql://ada:s3cret@db.example:5433/runs", "postgresql://db.example:5433/runs"),
        ("postgres://db.example/runs?password=s3cret&sslmode=require", "postgresql://db.example/runs"),
        ("postgresql+psycopg://db.example/runs", "postgresql://db.example/runs"),
        ("postgresql://ada@/runs?host=/run/pg", "postgresql:///run/pg/runs"),
    ],
)
def test_a_server_is_shown_without_user_password_and_options(told, shown):
    """psycopg talks to it, whatever the scheme is called."""
    found = address(told, root=ROOT)

    assert (None, shown, "postgresql+psycopg") == (found.file, shown, found.url.drivername)
    assert shown == found.shown


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("mysql://ada:s3cret@db/runs", "a results store is SQLite or PostgreSQL, not `mysql`"),
        ("://s3cret", "the address of the results store is no URL"),
        ("postgresql://ada:s3cret@db:port/runs", "the address of the results store is no URL"),
        ("sqlite://", "the address of the results store names no file"),
        ("sqlite:///h.sqlite?uri=true", "the address of the results store names no file"),
        ("a s3cret\x1b[2J://x/y", "the address of the results store is no URL"),
    ],
)
def test_what_is_no_store_is_refused_without_repeating_it(told, message):
    """A password may stand anywhere in what is no URL."""
    with pytest.raises(UsageError) as caught:
        address(told, root=ROOT)

    assert ("bad-history-store", message) == (caught.value.code, caught.value.message)
    assert "s3cret" not in str(caught.value)
    assert "HARNESS_HISTORY" in caught.value.hint


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("postgresql://ada:s3cret@db/runs", True),
        ("postgresql://db/runs?password=s3cret", True),
        ("postgresql://[ada:s3cret@db/runs", True),
        ("postgresql://ada@db/runs", False),
        ("history.sqlite", False),
    ],
)
def test_a_password_is_found_wherever_it_stands(told, expected):
    """It must not be committed with pyproject.toml."""
    assert expected is has_password(told)
