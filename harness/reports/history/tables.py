"""The tables of the results store. The only module that imports SQLAlchemy at its top; `store` imports it on use."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    delete,
    insert,
    select,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

__all__ = ["IntegrityError", "SQLAlchemyError", "delete", "engine", "insert", "prepare", "runs", "select", "trials"]

_about = MetaData()

history = Table("tapegate_history", _about, Column("format", Integer, primary_key=True))
"""One row: the format of the other tables."""

runs = Table(
    "tapegate_runs",
    _about,
    Column("run", Text, primary_key=True),
    Column("began", Text, nullable=False, index=True),
    Column("state", Text, nullable=False),
    Column("exit_code", Integer),
    Column("version", Text, nullable=False),
    Column("trials", Integer, nullable=False),
)

trials = Table(
    "tapegate_trials",
    _about,
    Column("run", Text, ForeignKey("tapegate_runs.run"), primary_key=True),
    Column("agent", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("golden_set", Text, primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("trial", BigInteger, primary_key=True),
    Column("provenance", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("known", Boolean, nullable=False),
    Column("llm_calls", BigInteger, nullable=False),
    Column("tool_calls", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("thinking_tokens", BigInteger, nullable=False),
    Column("cost_usd", Float(53)),
    Column("recorded_ms", BigInteger, nullable=False),
    Column("cassette_digest", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("broken", Text, nullable=False),
    Column("lock", Text, nullable=False),
)
"""*broken* is a JSON array of names, *lock* a JSON object of digests: what a lock names may grow."""


def engine(url: Any, *, connect_seconds: int, busy_seconds: int) -> Engine:
    """An engine for *url*, a `sqlalchemy.URL`; it connects on use."""
    arguments = (
        {"timeout": busy_seconds} if url.get_backend_name() == "sqlite" else {"connect_timeout": connect_seconds}
    )
    return create_engine(url, connect_args=arguments, hide_parameters=True)


def prepare(connection: Connection, format: int) -> int:
    """Make the tables where there are none, of *format*; the format that the store has then."""
    _about.create_all(connection)
    found: list[int] = list(connection.execute(select(history.c.format)).scalars())
    if not found:
        connection.execute(insert(history).values(format=format))
        return format
    return max(found)
