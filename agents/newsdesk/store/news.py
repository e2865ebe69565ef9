"""Reading the store, and the one thing that it lets anybody change: the priority of one cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .connection import lost
from .vectors import E5_SMALL, as_literal

if TYPE_CHECKING:
    import psycopg

Row = dict[str, Any]
Priority = Literal["P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"]
Order = Literal["cosine", "l2"]
"""How nearness is measured. `l2` is what pgvector's `<->` means, and depends on how long the vectors are."""

_OPERATORS: dict[Order, str] = {"cosine": "<=>", "l2": "<->"}
_SUMMARY = "id, titulo, resumo, prioridade, tag"
_CLUSTER = "id, data::text AS data, titulo, resumo, prioridade, tag, texto"
_OF_THE_DAY = "data = CASE WHEN pg_input_is_valid(%s, 'date') THEN %s::text::date END"
"""A day that no calendar has is the day of no cluster."""
_DUMPED = {
    "articles": "SELECT id, cluster_id, titulo, jornal, texto FROM artigos_brutos ORDER BY id",
    "clusters": f"SELECT {_CLUSTER} FROM clusters_eventos ORDER BY id",  # noqa: S608
}


class NewsStore:
    """
    The store over one connection, whose transaction is the caller's to end.

    Args:
        connection: To a migrated store.
        dimension: Numbers of a vector.
        order: By which distance `nearest` orders.
    """

    def __init__(
        self,
        connection: psycopg.Connection[dict[str, Any]],
        *,
        dimension: int = E5_SMALL.dimension,
        order: Order = "cosine",
    ) -> None:
        self._connection = connection
        self._dimension = dimension
        self._operator = _OPERATORS[order]

    def clusters(self, day: str, *, priority: str | None, tag: str | None, page_size: int) -> Iterator[Row]:
        """
        The clusters of *day* (YYYY-MM-DD) that match, by id; IRRELEVANTE is what priority or tag calls so.

        Args:
            day: The clusters' day.
            priority: Only this one; None for all.
            tag: Only this one; None for all.
            page_size: Rows that are fetched at once, above 0; the same for every page.
        """
        where, params = _filter(day, priority, tag)
        sql = f"SELECT {_SUMMARY} FROM clusters_eventos WHERE {where} AND id > %s ORDER BY id LIMIT %s"  # noqa: S608
        last = -(2**31)
        while True:
            page = self._rows(sql, *params, last, page_size)
            yield from page
            if len(page) < page_size:
                return
            last = page[-1]["id"]

    def count(self, day: str, *, priority: str | None, tag: str | None) -> int:
        """How many clusters of *day* match."""
        where, params = _filter(day, priority, tag)
        return int(self._rows(f"SELECT count(*) AS n FROM clusters_eventos WHERE {where}", *params)[0]["n"])  # noqa: S608

    def cluster(self, cluster_id: int) -> Row | None:
        """Everything about one cluster, its articles' titles and papers included; None where there is none."""
        found = self._rows(f"SELECT {_CLUSTER} FROM clusters_eventos WHERE id = %s", cluster_id)  # noqa: S608
        if not found:
            return None
        articles = self._rows("SELECT titulo, jornal FROM artigos_brutos WHERE cluster_id = %s ORDER BY id", cluster_id)
        return {**found[0], "artigos": articles}

    def nearest(self, vector: Sequence[float], day: str, limit: int) -> list[Row]:
        """
        The clusters of *day* nearest to *vector*, ties by id; those without a vector are not among them.

        Exact where the planner reads the day's rows, as on small tables; by the index otherwise.

        Raises:
            CouldNotCheckError: *vector* is not of the store's dimension.
        """
        sql, params = self.nearest_query(vector, day, limit)
        return self._rows(sql, *params)

    def nearest_query(self, vector: Sequence[float], day: str, limit: int) -> tuple[str, list[Any]]:
        """The statement of `nearest` and its parameters; for a look at its plan."""
        sql = (
            f"SELECT {_SUMMARY} FROM clusters_eventos WHERE {_OF_THE_DAY} AND embedding_medio IS NOT NULL"  # noqa: S608
            f" ORDER BY embedding_medio {self._operator} %s::vector, id LIMIT %s"
        )
        return sql, [day, day, as_literal(vector, self._dimension), limit]

    def change_priority(self, cluster_id: int, priority: str, *, reason: str) -> str | None:
        """
        Set the priority of one cluster and note old value, new value and *reason*; the old value.

        None where there is no such cluster. A priority that is the same already is no change and is not noted.
        """
        before = self._rows("SELECT prioridade FROM clusters_eventos WHERE id = %s FOR UPDATE", cluster_id)
        if not before:
            return None
        old = str(before[0]["prioridade"])
        if old != priority:
            self._execute("UPDATE clusters_eventos SET prioridade = %s WHERE id = %s", priority, cluster_id)
            self._execute(
                "INSERT INTO mudancas_prioridade (cluster_id, de, para, motivo) VALUES (%s, %s, %s, %s)",
                cluster_id, old, priority, reason,
            )  # fmt: skip
        return old

    def changes(self, cluster_id: int) -> list[Row]:
        """What was noted of the changes of one cluster's priority, the oldest first."""
        return self._rows(
            "SELECT cluster_id, de, para, motivo FROM mudancas_prioridade WHERE cluster_id = %s ORDER BY id", cluster_id
        )

    def dump(self) -> dict[str, dict[Any, Row]]:
        """Every cluster and article by its id, vectors and notes left out: the one follows from them, the others tell."""
        return {table: {row["id"]: row for row in self._rows(sql)} for table, sql in _DUMPED.items()}

    def _rows(self, sql: str, *params: Any) -> list[Row]:
        return self._execute(sql, *params).fetchall()

    def _execute(self, sql: str, *params: Any) -> psycopg.Cursor[Row]:
        """
        Run one statement.

        Raises:
            CouldNotCheckError: The server is gone.
        """
        from psycopg import OperationalError

        try:
            return self._connection.execute(sql.encode(), params)
        except OperationalError as error:
            raise lost(error) from None


def _filter(day: str, priority: str | None, tag: str | None) -> tuple[str, list[Any]]:
    """The WHERE of a day with a priority and a tag."""
    where, params = _OF_THE_DAY, [day, day]
    if priority == "IRRELEVANTE":
        where += " AND (prioridade = 'IRRELEVANTE' OR tag = 'IRRELEVANTE')"
    elif priority:
        where += " AND prioridade = %s"
        params.append(priority)
    if tag and "\0" in tag:
        where += " AND false"  # PostgreSQL has no such text, so no cluster has the tag
    elif tag:
        where += " AND tag = %s"
        params.append(tag)
    return where, params
