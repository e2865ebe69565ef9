"""
The store's tables, brought about step by step: each migration runs once, in order, all in one transaction.

Vectors stand in typed columns of pgvector, as long as the embedding model makes them. A store that kept them as BYTEA gets
a new column, filled here from the old one, which stays under another name; any other form is refused, never guessed at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import CouldNotCheckError

from .vectors import as_literal, from_bytes

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

PGVECTOR = (0, 8)
"""The first version whose HNSW scans go on behind a filter."""
_LOCK = 0x6E657773
"""Key of the advisory lock under which two processes migrate one after the other."""
_VECTORS = (("artigos_brutos", "embedding"), ("clusters_eventos", "embedding_medio"))

_TABLES = """
CREATE TABLE IF NOT EXISTS clusters_eventos (
  id integer PRIMARY KEY,
  data date NOT NULL,
  titulo text NOT NULL,
  resumo text NOT NULL,
  prioridade text NOT NULL
    CHECK (prioridade IN ('P1_CRITICO', 'P2_ESTRATEGICO', 'P3_MONITORAMENTO', 'IRRELEVANTE')),
  tag text,
  texto text NOT NULL
);
CREATE INDEX IF NOT EXISTS clusters_eventos_data ON clusters_eventos (data, id);
CREATE TABLE IF NOT EXISTS artigos_brutos (
  id integer PRIMARY KEY,
  cluster_id integer NOT NULL REFERENCES clusters_eventos (id),
  titulo text NOT NULL,
  jornal text NOT NULL,
  texto text NOT NULL
);
CREATE INDEX IF NOT EXISTS artigos_brutos_cluster ON artigos_brutos (cluster_id, id);
CREATE TABLE IF NOT EXISTS mudancas_prioridade (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cluster_id integer NOT NULL,
  de text NOT NULL,
  para text NOT NULL,
  motivo text NOT NULL,
  quando timestamptz NOT NULL DEFAULT now()
);
"""

# HNSW and not ivfflat: ivfflat sorts vectors into lists around centres that it learns from the rows that are there when
# it is built, so on an empty or small table most searches look into the wrong list and lose rows. HNSW learns nothing
# beforehand and stays good while rows come in. The operator class has to be the operator's: `<->` cannot use this index.
_COSINE_INDEX = """
CREATE INDEX IF NOT EXISTS clusters_eventos_cosine
ON clusters_eventos USING hnsw (embedding_medio vector_cosine_ops)
"""


class Migration(NamedTuple):
    """One step; *run* gets the connection and the vectors' dimension."""

    version: int
    about: str
    run: Callable[[Connection, int], None]


def migrate(connection: Connection, dimension: int) -> tuple[int, ...]:
    """
    Bring the store to the newest form and commit; the versions that were run now.

    Args:
        connection: Outside a transaction.
        dimension: Numbers of a vector of the embedding model.

    Raises:
        CouldNotCheckError: The store is newer than this program, has another shape, or has no pgvector.
    """
    with connection.transaction():
        connection.execute("SET LOCAL lock_timeout = 0")  # another process that migrates is worth waiting for
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migracoes"
            " (versao integer PRIMARY KEY, sobre text NOT NULL, quando timestamptz NOT NULL DEFAULT now())"
        )
        done = {row["versao"] for row in connection.execute("SELECT versao FROM migracoes")}
        if newer := done - {step.version for step in MIGRATIONS}:
            raise _shape(f"it is of version {max(newer)}, and this program knows {len(MIGRATIONS)}", "update tapegate")
        todo = [step for step in MIGRATIONS if step.version not in done]
        for step in todo:
            step.run(connection, dimension)
            connection.execute("INSERT INTO migracoes (versao, sobre) VALUES (%s, %s)", [step.version, step.about])
        for table, column in _VECTORS:
            _hold_to_shape(connection, table, column, dimension)
    return tuple(step.version for step in todo)


def _make_tables(connection: Connection, _dimension: int) -> None:
    import psycopg

    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    except psycopg.Error as error:
        because = str(error).partition("\n")[0]
        raise _shape(f"pgvector cannot be used: {because}", "install pgvector 0.8 or newer on the server") from None
    found = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    version = str(found["extversion"]) if found else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < PGVECTOR:
        raise _shape(f"its pgvector is {version}", "ALTER EXTENSION vector UPDATE, to 0.8 or newer")
    connection.execute(_TABLES)


def _type_vectors(connection: Connection, dimension: int) -> None:
    for table, column in _VECTORS:
        kind = _type_of(connection, table, column)
        if kind not in {None, "bytea", f"vector({dimension})"}:
            _hold_to_shape(connection, table, column, dimension)
        if kind == "bytea":
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO {column}_bytea")
        if kind in {None, "bytea"}:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} vector({dimension})")
        if kind == "bytea":
            _backfill(connection, table, column, dimension)


def _backfill(connection: Connection, table: str, column: str, dimension: int) -> None:
    # PostgreSQL has no cast from bytea to vector: the bytes are read here
    old = f"SELECT id, {column}_bytea AS bytes FROM {table} WHERE {column}_bytea IS NOT NULL ORDER BY id"  # noqa: S608
    for row in connection.execute(old).fetchall():
        vector = from_bytes(row["bytes"], dimension, f"{table}.{column} of row {row['id']}")
        connection.execute(
            f"UPDATE {table} SET {column} = %s::vector WHERE id = %s",  # noqa: S608
            [as_literal(vector, dimension), row["id"]],
        )


def _index_cosine(connection: Connection, _dimension: int) -> None:
    connection.execute(_COSINE_INDEX)


MIGRATIONS = (
    Migration(1, "tables for clusters, articles and changes of priority", _make_tables),
    Migration(2, "vectors in typed columns, filled from older ones", _type_vectors),
    Migration(3, "an index for the cosine distance of clusters", _index_cosine),
)


def _type_of(connection: Connection, table: str, column: str) -> str | None:
    """The type of a column as SQL writes it, such as `vector(384)`; None where there is no such column."""
    found = connection.execute(
        "SELECT format_type(atttypid, atttypmod) AS kind FROM pg_attribute"
        " WHERE attrelid = to_regclass(%s) AND attname = %s AND NOT attisdropped",
        [table, column],
    ).fetchone()
    return str(found["kind"]) if found else None


def _hold_to_shape(connection: Connection, table: str, column: str, dimension: int) -> None:
    kind = _type_of(connection, table, column)
    if kind != f"vector({dimension})":
        raise _shape(
            f"{table}.{column} is of type {kind or 'nothing'}, and the embedding model makes vector({dimension})",
            "use the model that filled the store, or rename the column; the pipeline fills a new one",
        )


def _shape(because: str, hint: str) -> CouldNotCheckError:
    return CouldNotCheckError("news-store-shape", f"the news store cannot be used: {because}", hint=hint)
