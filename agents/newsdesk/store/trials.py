"""
The store for trials: one server and one load of rows for a process, and for each trial a transaction that is rolled back.

A trial that writes gets a table of clusters of its own first, a temporary one that lies over the shared one: two trials
that change the same row neither wait for each other nor see each other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from .connection import connect
from .embedded import serve
from .news import NewsStore, Order
from .pipeline import Embed, Pipeline
from .schema import migrate
from .vectors import EmbeddingModel

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

Row = Mapping[str, Any]
_WRITTEN = "clusters_eventos"
_SCHEMA = "tapegate_trials_"
_LEFT_BEHIND = """
SELECT nspname FROM pg_namespace
WHERE nspname ~ %s
  AND substr(nspname, %s)::int NOT IN (SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid())
"""
"""Schemas of processes that ended without dropping theirs: the number in the name is of a connection that is gone."""


class NewsBackend:
    """
    The rows that every trial starts with, in a schema of their own that is dropped at the end.

    Args:
        clusters: Rows of the table of clusters.
        articles: Rows of the table of articles.
        model: The model that the articles' vectors come from.
        embed: Gives the vectors of the articles' texts.
        order: By which distance the trials' searches order.
        url: A server, in place of the one that the environment names, or of the embedded one.

    Raises:
        CouldNotCheckError: There is no server, or it cannot be used.
    """

    def __init__(
        self,
        clusters: Iterable[Row],
        articles: Iterable[Row],
        *,
        model: EmbeddingModel,
        embed: Embed,
        order: Order = "cosine",
        url: str | None = None,
    ) -> None:
        self._dimension = model.dimension
        self._order: Order = order
        self._lock = threading.Lock()
        self._opened: list[Connection] = []
        self._idle: list[Connection] = []
        with ExitStack() as stack:
            self._url = stack.enter_context(serve(url))
            self._admin = stack.enter_context(connect(self._url))
            self._schema = self._make_schema()
            stack.callback(self._drop_schema)
            with connect(self._url, schema=self._schema) as loading:
                migrate(loading, model.dimension)
                pipeline = Pipeline(loading, model, embed)
                pipeline.ingest(clusters, articles)
                pipeline.fill()
                loading.execute("ANALYZE clusters_eventos, artigos_brutos")
                self._start = NewsStore(loading).dump()
            self._open = stack.pop_all()

    def dump(self) -> dict[str, dict[Any, dict[str, Any]]]:
        """Every row that a trial starts with."""
        return self._start

    def open(self) -> TrialNews:
        """The store for one trial."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = connect(self._url, schema=self._schema)
            self._opened.append(connection)
        return TrialNews(connection, self)

    def close(self) -> None:
        """Drop the rows and end the server, if it is ours; idempotent."""
        with self._lock:
            opened, self._opened, self._idle = self._opened, [], []
        for connection in opened:  # a trial that was left open would keep the rows locked
            connection.close()
        self._open.close()

    def give_back(self, connection: Connection) -> None:
        """Take a trial's connection back, its transaction rolled back."""
        with self._lock:
            self._idle.append(connection)

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._dimension

    @property
    def order(self) -> Order:
        """By which distance searches order."""
        return self._order

    @property
    def schema(self) -> str:
        """Where the shared tables lie."""
        return self._schema

    def _make_schema(self) -> str:
        # the connection stays open, so no other process that lives has this number on this server
        schema = f"{_SCHEMA}{self._admin.info.backend_pid}"
        for left in self._admin.execute(_LEFT_BEHIND, [f"^{_SCHEMA}[0-9]+$", len(_SCHEMA) + 1]).fetchall():
            self._admin.execute(f"DROP SCHEMA IF EXISTS {left['nspname']} CASCADE".encode())
        self._admin.execute(f"CREATE SCHEMA {schema}".encode())
        self._admin.commit()
        return schema

    def _drop_schema(self) -> None:
        from psycopg import OperationalError

        with suppress(OperationalError):  # a server that is gone already took the rows along, or will be asked no more
            self._admin.rollback()
            self._admin.execute(f"DROP SCHEMA {self._schema} CASCADE".encode())
            self._admin.commit()


class TrialNews(NewsStore):
    """The store of one trial."""

    def __init__(self, connection: Connection, backend: NewsBackend) -> None:
        super().__init__(connection, dimension=backend.dimension, order=backend.order)
        self._backend: NewsBackend | None = backend
        self._schema = backend.schema
        self._own = False

    def change_priority(self, cluster_id: int, priority: str, *, reason: str) -> str | None:
        if not self._own:
            self._own_clusters()
            self._own = True
        return super().change_priority(cluster_id, priority, reason=reason)

    def close(self) -> None:
        """Roll back everything that the trial wrote; idempotent."""
        backend, self._backend = self._backend, None
        if backend is not None and not self._connection.closed and not self._connection.broken:
            self._connection.rollback()
            backend.give_back(self._connection)

    def _own_clusters(self) -> None:
        shared = f"{self._schema}.{_WRITTEN}"
        create = f"CREATE TEMPORARY TABLE {_WRITTEN} (LIKE {shared} INCLUDING ALL) ON COMMIT DROP"
        self._execute(create)
        self._execute(f"INSERT INTO {_WRITTEN} SELECT * FROM {shared}")  # noqa: S608
