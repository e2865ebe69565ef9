"""
What the news store's rows say to a search, read whole and filtered one by one: no pages, no SQL filter, no index.

Contracts hold what the tools return against it. It shares no code with the tools, or it would share their mistakes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from harness.records.messages import Json
from harness.worlds import World

Row = Mapping[str, Json]
Vector = Sequence[float]


def oracles(world: World) -> Mapping[str, Callable[..., Json]]:
    """An oracle for each tool that searches the clusters of *world*."""
    return oracles_over(world, lambda table: world.rows(f"SELECT * FROM {table}"))  # noqa: S608


def oracles_over(world: World, rows: Callable[[str], Iterable[Row]]) -> Mapping[str, Callable[..., Json]]:
    """The same over *rows*, which hands out every row of a table, in any order."""
    truth = NewsOracles(world, rows)
    return {
        "query_clusters": truth.query_clusters,
        "count_clusters": truth.count_clusters,
        "semantic_search_clusters": truth.semantic_search_clusters,
    }


class NewsOracles:
    """Exact answers; each takes the arguments of the tool of its name, with the same defaults."""

    def __init__(self, world: World, rows: Callable[[str], Iterable[Row]]) -> None:
        self._world = world
        self._rows = rows

    def query_clusters(
        self,
        data: str | None = None,
        prioridade: str | None = None,
        tag: str | None = None,
        palavras_chave: Sequence[str] | None = None,
        limite: int = 50,
    ) -> Json:
        """The ids of the clusters that match, ascending, as many as asked for."""
        words = [word.strip().casefold() for word in palavras_chave or ()]
        found = [
            row["id"]
            for row in self._clusters(data, prioridade, tag)
            if not words or any(word in f"{row['titulo']} {row['resumo']}".casefold() for word in words)
        ]
        return {"ids": found[:limite], "matching": len(found)}

    def count_clusters(self, data: str | None = None, prioridade: str | None = None, tag: str | None = None) -> Json:
        """How many clusters match."""
        return {"count": len(self._clusters(data, prioridade, tag))}

    def semantic_search_clusters(self, texto_busca: str, data: str | None = None, limite: int = 5) -> Json:
        """
        The id and the exact cosine distance of every cluster of the day that has a vector, the nearest first, and of
        how many numbers the query's vector and those of the store are.
        """
        stored = _recorded_vectors()
        means: dict[int, Vector] = {}
        articles: dict[int, list[Vector]] = {}
        for row in self._rows("articles"):
            articles.setdefault(row["cluster_id"], []).append(stored[str(row["id"])])
        for row in self._clusters(data, None, None):
            if row["id"] in articles:
                of_cluster = articles[row["id"]]
                means[row["id"]] = [math.fsum(column) / len(of_cluster) for column in zip(*of_cluster, strict=True)]
        asked = self._world.embedded.get(f"query: {texto_busca}", ())
        lengths = {len(vector) for vector in means.values()}
        said: dict[str, Json] = {"asked_dimension": len(asked), "dimension": max(lengths, default=len(asked))}
        if lengths <= {len(asked)}:
            distances = sorted((_cosine_distance(asked, vector), id) for id, vector in means.items())
            said["nearest"] = [[id, round(distance, 12)] for distance, id in distances]
        return said | {"limite": limite}

    def _clusters(self, data: str | None, priority: str | None, tag: str | None) -> list[Row]:
        day = data or self._world.today
        found = [row for row in self._rows("clusters") if row["data"] == day and _has(row, priority, tag)]
        return sorted(found, key=lambda row: int(row["id"]))


def _has(row: Row, priority: str | None, tag: str | None) -> bool:
    """Irrelevant is what either column calls so."""
    if priority == "IRRELEVANTE" and "IRRELEVANTE" not in (row["prioridade"], row["tag"]):
        return False
    if priority not in (None, "", "IRRELEVANTE", row["prioridade"]):
        return False
    return not tag or row["tag"] == tag


def _cosine_distance(one: Vector, other: Vector) -> float:
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.hypot(*one) * math.hypot(*other)
    return 1.0 - product / lengths if lengths else 1.0


@cache
def _recorded_vectors() -> Mapping[str, Vector]:
    """The vector of each article, by its id."""
    content = (Path(__file__).parent / "embeddings.json").read_text(encoding="utf-8")
    vectors: Mapping[str, Vector] = json.loads(content)["vectors"]
    return vectors
