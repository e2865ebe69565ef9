"""
The common tool belt on the newsroom: weather, documents, arithmetic, the news store and the user's feeling.

Failures that a person at the keyboard would meet are `ToolError`s with a text for the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from harness.records.messages import Json
from harness.records.tool import ToolAnswer, ToolError, tool
from harness.worlds import World

Priority = Literal["P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"]
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r"\w+")
_SUMMARY = "id, titulo, resumo, prioridade, tag"


def build(world: World) -> Sequence[Callable[..., Any]]:
    """The tools of *world*, in the order in which they are offered."""
    belt = NewsroomTools(world)
    return (
        belt.get_weather,
        belt.search_docs,
        belt.read_doc,
        belt.calculate,
        belt.query_clusters,
        belt.count_clusters,
        belt.get_cluster_details,
        belt.semantic_search_clusters,
        belt.update_cluster_priority,
        belt.update_current_feeling,
    )


class NewsroomTools:
    """Tools as bound methods, so that their schemas are made once for all trials."""

    def __init__(self, world: World) -> None:
        self._world = world

    @tool(effect="read", ms=80)
    def get_weather(self, city: Annotated[str, "Name of a city, such as Berlin"]) -> Json:
        """Get the current weather of a city."""
        wanted = city.split(",")[0].strip()
        rows = self._world.rows(
            "SELECT w.* FROM weather w JOIN city_names n ON n.city = w.city WHERE n.name = ?", wanted.casefold()
        )
        if not rows:
            raise ToolError("not_found", f"no weather for {wanted}: the city is not known")
        return rows[0]

    @tool(effect="read", ms=150)
    def search_docs(
        self,
        query: Annotated[str, "A few words that the document should contain"],
        limit: Annotated[int, "Most documents to return, 1 to 20"] = 5,
    ) -> ToolAnswer:
        """Search the project documents and the company's policies. Returns ids and titles; read_doc gives the text."""
        if not 1 <= limit <= self._world.settings["search_limit_most"]:
            raise ToolError("invalid_args", "limit must be from 1 to 20")
        words = list(dict.fromkeys(_words(query)))
        if not words:
            raise ToolError("invalid_args", "query holds no word")
        if set(words) & set(_words(self._world.settings["search_timeouts"])):
            raise ToolError("timeout", f"the search for “{query}” timed out")
        found = self._matching(words)[:limit]
        return ToolAnswer(value={"query": query, "results": found}, hits=len(found))

    @tool(effect="read", ms=40)
    def read_doc(self, doc_id: Annotated[str, "The id of a document, as search_docs gives it"]) -> Json:
        """Read a document."""
        document = self._world.row("documents", doc_id.strip().casefold())
        if document is None:
            raise ToolError("not_found", f"no document has the id {doc_id}")
        return {"id": document["id"], "title": document["title"], "text": document["text"]}

    @tool(effect="none", ms=5)
    def calculate(
        self, expression: Annotated[str, "Arithmetic with + - * / ** and brackets, such as (120000 - 95000) / 2"]
    ) -> Json:
        """Compute an arithmetic expression exactly."""
        from harness.worlds.arithmetic import ArithmeticProblem, evaluate  # most trials compute nothing

        try:
            value = evaluate(expression)
        except ArithmeticProblem as problem:
            raise ToolError("invalid_args", str(problem)) from None
        whole = value.denominator == 1
        return {"expression": expression, "value": int(value) if whole else float(value)} | (
            {} if whole else {"exact": f"{value.numerator}/{value.denominator}"}
        )

    @tool(effect="read", ms=120)
    def query_clusters(
        self,
        data: Annotated[str | None, "Day as YYYY-MM-DD; today if left out"] = None,
        prioridade: Annotated[Priority | None, "Only this priority; IRRELEVANTE also takes that tag"] = None,
        tag: Annotated[str | None, "Only this tag, such as Internacional"] = None,
        palavras_chave: Annotated[list[str] | None, "Only clusters with at least one of these words"] = None,
        limite: Annotated[int, "Most clusters to return, 1 to 200"] = 50,
    ) -> ToolAnswer:
        """List the news clusters of one day, ordered by id."""
        if not 1 <= limite <= 200:
            raise ToolError("invalid_args", "limite must be from 1 to 200")
        day = self._day(data)
        clusters = []
        for cluster in self._feed(day, prioridade, tag):
            if palavras_chave and not _mentions(cluster, palavras_chave):
                continue
            clusters.append(cluster)
            if len(clusters) == limite:
                break
        return ToolAnswer(value={"data": day, "clusters": clusters}, hits=len(clusters))

    @tool(effect="read", ms=60)
    def count_clusters(
        self,
        data: Annotated[str | None, "Day as YYYY-MM-DD; today if left out"] = None,
        prioridade: Annotated[Priority | None, "Only this priority; IRRELEVANTE also takes that tag"] = None,
        tag: Annotated[str | None, "Only this tag, such as Internacional"] = None,
    ) -> Json:
        """Count the news clusters of one day."""
        day = self._day(data)
        where, params = _filter(day, prioridade, tag)
        count = self._world.rows(f"SELECT count(*) AS n FROM clusters WHERE {where}", *params)[0]["n"]  # noqa: S608
        return {"data": day, "prioridade": prioridade, "tag": tag, "count": count}

    @tool(effect="read", ms=60)
    def get_cluster_details(self, cluster_id: Annotated[int, "The id of a cluster"]) -> Json:
        """Get everything about one news cluster, its articles included."""
        cluster = self._cluster(cluster_id)
        articles = self._world.rows("SELECT titulo, jornal FROM articles WHERE cluster_id = ? ORDER BY id", cluster_id)
        return {**cluster, "artigos": articles}

    @tool(effect="read", ms=110)
    async def semantic_search_clusters(
        self,
        texto_busca: Annotated[str, "What the news should be about, in your own words"],
        data: Annotated[str | None, "Day as YYYY-MM-DD; today if left out"] = None,
        limite: Annotated[int, "Most clusters to return, 1 to 50"] = 5,
    ) -> ToolAnswer:
        """Find the news clusters of one day whose meaning is nearest to a text, the nearest first."""
        from harness.worlds.vectors import nearest  # most trials search by words

        if not 1 <= limite <= 50:
            raise ToolError("invalid_args", "limite must be from 1 to 50")
        if not _words(texto_busca):
            raise ToolError("invalid_args", "texto_busca holds no word")
        day = self._day(data)
        rows = self._world.rows(f"SELECT {_SUMMARY} FROM clusters WHERE data = ?", day)  # noqa: S608
        clusters = {row["id"]: row for row in rows}
        asked = await self._world.embed([f"query: {texto_busca}"], model=self._world.settings["corpus"]["model"])
        vectors = {key: vector for key, vector in self._cluster_vectors().items() if key in clusters}
        found = [clusters[key] for key in nearest(asked.vectors[0], vectors)[:limite]]
        return ToolAnswer(value={"resultados": found}, hits=len(found))

    @tool(effect="write", ms=90)
    def update_cluster_priority(
        self,
        cluster_id: Annotated[int, "The id of one cluster"],
        nova_prioridade: Annotated[Priority, "The new priority"],
    ) -> ToolAnswer:
        """Change the priority of one news cluster."""
        before = self._cluster(cluster_id)["prioridade"]
        effects = self._world.update("clusters", cluster_id, prioridade=nova_prioridade)
        return ToolAnswer(value={"id": cluster_id, "antes": before, "prioridade": nova_prioridade}, effects=effects)

    @tool(effect="write", ms=70)
    def update_current_feeling(
        self,
        username: Annotated[str, "The user of this session"],
        feeling: Annotated[str, "The feeling as one English word with a capital, such as Happy or Sad"],
        context: Annotated[str, "What it is about, in a few words"] = "",
    ) -> ToolAnswer:
        """Store how the user feels now."""
        if username != self._world.user:
            raise ToolError("denied", f"this session belongs to {self._world.user}, not to {username}")
        if not feeling.strip():
            raise ToolError("invalid_args", "feeling is empty")
        user = self._world.row("users", username)
        before = user["feeling"] if user else None
        number = self._world.rows("SELECT coalesce(max(id), 0) + 1 AS n FROM feelings")[0]["n"]
        entry = {"username": username, "date": self._world.today, "feeling": feeling, "context": context}
        effects = (
            self._world.insert("feelings", id=number, **entry),
            *self._world.update("users", username, feeling=feeling),
        )
        return ToolAnswer(value={"username": username, "before": before, "feeling": feeling}, effects=effects)

    def _day(self, data: str | None) -> str:
        day = data or self._world.today
        if not _DATE.fullmatch(day):
            raise ToolError("invalid_args", "data must be a day as YYYY-MM-DD")
        return day

    def _cluster(self, cluster_id: int) -> dict[str, Json]:
        cluster = self._world.row("clusters", cluster_id) if abs(cluster_id) < 2**63 else None  # SQLite's largest
        if cluster is None:
            raise ToolError("not_found", f"no cluster has the id {cluster_id}")
        return cluster

    def _cluster_vectors(self) -> dict[int, tuple[float, ...]]:
        """The plain mean of its articles' vectors for each cluster that has articles."""
        from harness.worlds.vectors import load_vectors, mean

        recorded = load_vectors(Path(__file__).parent).vectors
        articles: dict[int, list[tuple[float, ...]]] = {}
        for row in self._world.rows("SELECT id, cluster_id FROM articles ORDER BY id"):
            articles.setdefault(row["cluster_id"], []).append(recorded[str(row["id"])])
        return {cluster: mean(vectors) for cluster, vectors in articles.items()}

    def _feed(self, day: str, priority: str | None, tag: str | None) -> Iterator[dict[str, Json]]:
        """The clusters that match, page by page as the store hands them out; the page size never changes."""
        where, params = _filter(day, priority, tag)
        size = self._world.settings["feed_page"]
        start = 0
        while True:
            sql = f"SELECT {_SUMMARY} FROM clusters WHERE {where} ORDER BY id LIMIT ? OFFSET ?"  # noqa: S608
            page = self._world.rows(sql, *params, size, start)
            yield from page
            if len(page) < size:
                return
            start += size

    def _matching(self, words: list[str]) -> list[dict[str, Json]]:
        """
        Documents for *words* by id, title and keywords, best first.

        A word that more than half of the documents have tells nothing; such words count only where the query holds no
        others. So "Projekt Beta" finds Beta alone, and nothing where there is no Beta.
        """
        documents = self._world.rows("SELECT id, title, keywords FROM documents ORDER BY id")
        index = [(row, {word for text in row.values() for word in _words(text)}) for row in documents]
        spread = {word: sum(word in indexed for _, indexed in index) for word in words}
        telling = {word for word in words if spread[word] <= len(documents) / 2} or set(words)
        found = [(row, indexed) for row, indexed in index if telling & indexed]
        found.sort(key=lambda entry: -len(entry[1].intersection(words)))
        return [{"id": row["id"], "title": row["title"]} for row, _ in found]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _mentions(cluster: dict[str, Json], keywords: list[str]) -> bool:
    text = f"{cluster['titulo']} {cluster['resumo']}".casefold()
    return any(keyword.strip().casefold() in text for keyword in keywords)


def _filter(day: str, priority: str | None, tag: str | None) -> tuple[str, list[Json]]:
    """The WHERE of a day with a priority and a tag; irrelevant is what either column calls so."""
    where, params = "data = ?", [day]
    if priority == "IRRELEVANTE":
        where += " AND (prioridade = 'IRRELEVANTE' OR tag = 'IRRELEVANTE')"
    elif priority:
        where += " AND prioridade = ?"
        params.append(priority)
    if tag:
        where += " AND tag = ?"
        params.append(tag)
    return where, list(params)
