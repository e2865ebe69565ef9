"""Connections to the news store, and what is said when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.errors import CouldNotCheckError

if TYPE_CHECKING:
    import psycopg

ENVIRONMENT = "NEWSDESK_DATABASE_URL"
"""Environment variable: the address of a PostgreSQL with pgvector, in place of the embedded one."""
CONNECT_SECONDS = 5
LOCK_MS = 5000
"""A lock that somebody else holds for longer is an error: nobody waits for ever."""


def connect(url: str, *, schema: str = "") -> psycopg.Connection[dict[str, Any]]:
    """
    Open a connection whose rows are dicts; a transaction begins with the first statement.

    Args:
        url: As libpq takes it: `postgresql://…` or `host=… dbname=…`.
        schema: Where the tables lie; empty for the server's default.

    Raises:
        CouldNotCheckError: psycopg is not installed, or nobody answers.
    """
    try:
        import psycopg
        from psycopg.rows import dict_row
    except ImportError:
        raise CouldNotCheckError(
            "no-postgres",
            "the news store needs psycopg, which is not installed",
            hint='pip install "tapegate[newsdesk]"',
        ) from None
    # strict_order: a search with a filter goes on through the index until it has its rows, nearest first
    options = f"-c hnsw.iterative_scan=strict_order -c datestyle=ISO -c lock_timeout={LOCK_MS}"
    if schema:
        options += f" -c search_path={schema},public"
    try:
        # never prepared: a plan made for the shared tables would go on reading them when a trial has its own
        return psycopg.connect(
            url, connect_timeout=CONNECT_SECONDS, options=options, row_factory=dict_row, prepare_threshold=None
        )  # fmt: skip
    except psycopg.Error as error:
        raise CouldNotCheckError(
            "news-store-unreachable",
            f"the news store does not answer at {_shown(url)}: {_first_line(error)}",
            hint=f"start the server, mend {ENVIRONMENT}, or unset it for the embedded PostgreSQL",
        ) from None


def lost(error: Exception) -> CouldNotCheckError:
    """What to raise where a server stops answering in the middle."""
    return CouldNotCheckError(
        "news-store-unreachable",
        f"the news store stopped answering: {_first_line(error)}",
        hint="look at the server's log, then run again",
    )


def _shown(url: str) -> str:
    """*url* without what is nobody's business: host, port and database."""
    import psycopg

    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "an address that cannot be read"
    place = str(parts.get("host", "localhost")) + (f":{parts['port']}" if "port" in parts else "")
    return f"{place}/{parts.get('dbname', '')}"


def _first_line(error: Exception) -> str:
    """The first thing that libpq says: the reason."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
