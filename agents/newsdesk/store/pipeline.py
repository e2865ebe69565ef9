"""
What keeps the store filled: clusters and articles come in, articles get their vectors, clusters the mean of theirs.

Running it again changes nothing that is there already; what came in or changed since is filled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .vectors import EmbeddingModel, as_literal

if TYPE_CHECKING:
    import psycopg

Row = Mapping[str, Any]
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
BATCH = 32
"""Texts of one call of the embedding model."""

_CLUSTER = """
INSERT INTO clusters_eventos (id, data, titulo, resumo, prioridade, tag, texto)
VALUES (%(id)s, %(data)s, %(titulo)s, %(resumo)s, %(prioridade)s, %(tag)s, %(texto)s)
ON CONFLICT (id) DO UPDATE SET data = excluded.data, titulo = excluded.titulo, resumo = excluded.resumo,
  prioridade = excluded.prioridade, tag = excluded.tag, texto = excluded.texto
"""

# an article whose text changed loses its vector, so that it gets another
_ARTICLE = """
INSERT INTO artigos_brutos AS old (id, cluster_id, titulo, jornal, texto)
VALUES (%(id)s, %(cluster_id)s, %(titulo)s, %(jornal)s, %(texto)s)
ON CONFLICT (id) DO UPDATE SET cluster_id = excluded.cluster_id, titulo = excluded.titulo, jornal = excluded.jornal,
  texto = excluded.texto,
  embedding = CASE WHEN (old.titulo, old.texto) = (excluded.titulo, excluded.texto) THEN old.embedding END
"""

# the plain mean, not brought back to length 1
_MEANS = """
UPDATE clusters_eventos c SET embedding_medio = m.medio
FROM (SELECT cluster_id, avg(embedding) AS medio FROM artigos_brutos WHERE embedding IS NOT NULL GROUP BY cluster_id) m
WHERE m.cluster_id = c.id AND c.embedding_medio IS DISTINCT FROM m.medio
"""


class Filled(NamedTuple):
    """How many rows got a new vector."""

    articles: int
    clusters: int


class Pipeline:
    """
    Fills the store over one connection; every method commits what it did, whole or not at all.

    Args:
        connection: To a migrated store, outside a transaction.
        model: The model that *embed* asks; its dimension is the store's.
        embed: Gives a vector for each text, in order; texts come with the model's prefix.
    """

    def __init__(self, connection: psycopg.Connection[dict[str, Any]], model: EmbeddingModel, embed: Embed) -> None:
        self._connection = connection
        self._model = model
        self._embed = embed

    def ingest(self, clusters: Iterable[Row], articles: Iterable[Row]) -> None:
        """Add rows, or bring those of the same id up to date; vectors are left to `fill`."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(_CLUSTER, list(clusters))
            cursor.executemany(_ARTICLE, list(articles))

    def fill(self) -> Filled:
        """
        Embed every article that has no vector, then bring the mean of each cluster up to date.

        Raises:
            CouldNotCheckError: The model makes vectors of another dimension than the store's; nothing is kept.
        """
        connection = self._connection
        with connection.transaction():
            lacking = connection.execute(
                "SELECT id, titulo, texto FROM artigos_brutos WHERE embedding IS NULL ORDER BY id"
            ).fetchall()
            for start in range(0, len(lacking), BATCH):
                self._fill(lacking[start : start + BATCH])
            means = connection.execute(_MEANS).rowcount
        return Filled(len(lacking), means)

    def _fill(self, rows: Sequence[Row]) -> None:
        vectors = self._embed([f"{self._model.passage}{row['titulo']}. {row['texto']}" for row in rows])
        given = [
            (as_literal(vector, self._model.dimension), row["id"]) for row, vector in zip(rows, vectors, strict=True)
        ]
        with self._connection.cursor() as cursor:
            cursor.executemany("UPDATE artigos_brutos SET embedding = %s::vector WHERE id = %s", given)
