"""
The news desk's tools on its store. One cluster a call, one day a search; what they take and give stands in `contracts`.

Names, parameters and answers are those of the common tool belt, so that a design can be compared on either store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from harness.records.messages import EmbeddingReply, Json
from harness.records.tool import ToolAnswer, ToolError, tool
from harness.records.trace import Effect

from .news import NewsStore, Priority, Row
from .vectors import E5_SMALL, EmbeddingModel

# contracts bring pydantic, which a trial that asks the store nothing does without: they are imported where they are used


class Desk(Protocol):
    """Where the tools work; a trial's world is one."""

    user: str
    settings: Mapping[str, Json]
    """`feed_page`: rows that the store hands out at once."""

    @property
    def today(self) -> str: ...
    @property
    def store(self) -> NewsStore: ...
    @property
    def embed(self) -> Callable[..., Awaitable[EmbeddingReply]]: ...


class NewsTools:
    """Tools as bound methods, so that their schemas are made once for all trials."""

    def __init__(self, desk: Desk, model: EmbeddingModel = E5_SMALL) -> None:
        self._desk = desk
        self._model = model

    def belt(self) -> Sequence[Callable[..., Any]]:
        """The tools, in the order in which they are offered."""
        return (
            self.query_clusters,
            self.count_clusters,
            self.get_cluster_details,
            self.semantic_search_clusters,
            self.update_cluster_priority,
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
        from .contracts import Clusters, QueryClusters, asked, given

        args = asked(
            QueryClusters, data=data or self._desk.today, prioridade=prioridade, tag=tag,
            palavras_chave=palavras_chave, limite=limite,
        )  # fmt: skip
        clusters: list[Row] = []
        # filtered first and cut afterwards: the page size stays the same, so no page overlaps another or skips a row
        for cluster in self._desk.store.clusters(
            args.data, priority=args.prioridade, tag=args.tag, page_size=self._desk.settings["feed_page"]
        ):
            if args.palavras_chave and not _mentions(cluster, args.palavras_chave):
                continue
            clusters.append(cluster)
            if len(clusters) == args.limite:
                break
        return ToolAnswer(value=given(Clusters, {"data": args.data, "clusters": clusters}), hits=len(clusters))

    @tool(effect="read", ms=60)
    def count_clusters(
        self,
        data: Annotated[str | None, "Day as YYYY-MM-DD; today if left out"] = None,
        prioridade: Annotated[Priority | None, "Only this priority; IRRELEVANTE also takes that tag"] = None,
        tag: Annotated[str | None, "Only this tag, such as Internacional"] = None,
    ) -> Json:
        """Count the news clusters of one day."""
        from .contracts import CountClusters, Counted, asked, given

        args = asked(CountClusters, data=data or self._desk.today, prioridade=prioridade, tag=tag)
        count = self._desk.store.count(args.data, priority=args.prioridade, tag=args.tag)
        return given(Counted, {"data": args.data, "prioridade": args.prioridade, "tag": args.tag, "count": count})

    @tool(effect="read", ms=60)
    def get_cluster_details(self, cluster_id: Annotated[int, "The id of a cluster"]) -> Json:
        """Get everything about one news cluster, its articles included."""
        from .contracts import Details, given

        cluster = self._desk.store.cluster(cluster_id)
        if cluster is None:
            raise _unknown(cluster_id)
        return given(Details, cluster)

    @tool(effect="read", ms=110)
    async def semantic_search_clusters(
        self,
        texto_busca: Annotated[str, "What the news should be about, in your own words"],
        data: Annotated[str | None, "Day as YYYY-MM-DD; today if left out"] = None,
        limite: Annotated[int, "Most clusters to return, 1 to 50"] = 5,
    ) -> ToolAnswer:
        """Find the news clusters of one day whose meaning is nearest to a text, the nearest first."""
        from .contracts import Found, SemanticSearch, asked, given

        args = asked(SemanticSearch, texto_busca=texto_busca, data=data or self._desk.today, limite=limite)
        reply = await self._desk.embed([f"{self._model.query}{args.texto_busca}"], model=self._model.name)
        found = self._desk.store.nearest(reply.vectors[0], args.data, args.limite)
        return ToolAnswer(value=given(Found, {"resultados": found}), hits=len(found))

    @tool(effect="write", ms=90)
    def update_cluster_priority(
        self,
        cluster_id: Annotated[int, "The id of one cluster"],
        nova_prioridade: Annotated[Priority, "The new priority"],
    ) -> ToolAnswer:
        """Change the priority of one news cluster."""
        from .contracts import Changed, UpdatePriority, asked, given

        args = asked(UpdatePriority, cluster_id=cluster_id, nova_prioridade=nova_prioridade)
        new, reason = args.nova_prioridade, f"asked for by {self._desk.user or 'an unknown user'}"
        old = self._desk.store.change_priority(args.cluster_id, new, reason=reason)
        if old is None:
            raise _unknown(args.cluster_id)
        effect = Effect("clusters", str(args.cluster_id), {"prioridade": old}, {"prioridade": new})
        return ToolAnswer(
            value=given(Changed, {"id": args.cluster_id, "antes": old, "prioridade": new}),
            effects=(effect,) if old != new else (),
        )


def _unknown(cluster_id: int) -> ToolError:
    return ToolError("not_found", f"no cluster has the id {cluster_id}")


def _mentions(cluster: Row, keywords: Sequence[str]) -> bool:
    text = f"{cluster['titulo']} {cluster['resumo']}".casefold()
    return any(keyword.strip().casefold() in text for keyword in keywords)
