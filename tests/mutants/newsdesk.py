"""Mutants of the news desk: its loop, its writes, its fallback, its stream, and the tools that it reads the store with."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import Any

from harness.agents.load import load_agent
from harness.agents.protocol import AgentContext, Question
from harness.records.case import GoldenCase
from harness.records.messages import EmbeddingReply, Json, ModelReply
from harness.records.tool import ToolAnswer, tool
from harness.records.trace import ErrorRaised, EventData, FinalAnswer, Thought
from harness.testing.embeddings import hash_embed, hash_vector
from harness.testing.fakes import says
from harness.testing.mutants import Mutant
from harness.worlds import World, find_world

from .ground import AGENTS

DESK = load_agent(AGENTS, "newsdesk")
desk: Any = importlib.import_module(DESK.build.__module__)
actions: Any = importlib.import_module(f"{DESK.build.__module__}.actions")
pipeline: Any = importlib.import_module(f"{DESK.build.__module__}.pipeline")
writes: Any = importlib.import_module(f"{DESK.build.__module__}.writes")
NEWSROOM = find_world(AGENTS.parent / "goldensets", "newsroom")
newsroom: Any = NEWSROOM.module

COUNTING = GoldenCase(id="case", question="Quantas notícias irrelevantes temos hoje?", lang="pt", class_="complex")
READING = GoldenCase(id="case", question="Quais notícias P3 de hoje importam?", lang="pt", class_="complex")
OPEN = GoldenCase(id="case", question="Que negócios de energia há hoje?", lang="pt", class_="complex")
EDITING = GoldenCase(
    id="case", question="Mude o cluster 120 para P2.", lang="pt", class_="complex", intent="edit"
)  # fmt: skip


def block(action: str, given: Json, thought: str = "Vou ver.") -> str:
    """An action as the model writes it."""
    return json.dumps({"thought": thought, "action": action, "action_input": given}, ensure_ascii=False)


def acts(name: str, /, **args: Json) -> ModelReply:
    """The model asks for a tool."""
    return says(block(name, args))


def final(text: str) -> ModelReply:
    """The model answers."""
    return says(block("Final Answer", text))


def change(cluster: Json, priority: str = "P2_ESTRATEGICO") -> ModelReply:
    """The model asks for a change of priority."""
    return acts("update_cluster_priority", cluster_id=cluster, nova_prioridade=priority)


COUNT = acts("count_clusters", prioridade="IRRELEVANTE")
LIST = acts("query_clusters", limite=200)
SEARCH = acts("semantic_search_clusters", texto_busca="fusões", limite=10)
IDLE = says("Não sei.")
EIGHT = final("Hoje há 8 notícias irrelevantes.")
SEEN = final("Há notícias de energia.")
CHANGED = final("O cluster 120 passou para P2.")
REFUSED = final("Não mudei nada.")


class Desk(World):
    """The newsroom with tools of *kind* and vectors made of a text's digest."""

    kind: Any = newsroom.NewsroomTools

    def __init__(self) -> None:
        super().__init__(NEWSROOM, 0)
        self._embed = hash_embed

    @property
    def embed(self) -> Any:
        """The trial's model client knows no vectors here."""
        return self._remembered

    @embed.setter
    def embed(self, embed: Any) -> None:
        pass

    @cached_property
    def tools(self) -> Sequence[Any]:
        """The tools of the belt, by the names that it has."""
        names = [function.__name__ for function in newsroom.build(self)]
        belt = self.kind(self)
        return tuple(getattr(belt, name) for name in names)


def world_of(kind: Any) -> Any:
    """A world with tools of *kind*."""
    return type("MutantDesk", (Desk,), {"kind": kind})


class SevenMessages(desk.NewsDesk):
    """Counts the messages that it can read, so that there may be seven."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        self._most = 7


class RunsEveryBlock(desk.NewsDesk):
    """Runs what stands behind the first block as well."""

    async def _act(self, run: Any, action: Any, turn: int, iteration: int) -> Any:
        outcome = await super()._act(run, action, turn, iteration)
        if action.discarded:
            await super()._act(run, actions.read_action(action.discarded), turn, iteration)
        return outcome


class BelievesTheModel(desk.NewsDesk):
    """Takes the observation that the model made up."""

    async def _act(self, run: Any, action: Any, turn: int, iteration: int) -> Any:
        if not action.discarded:
            return await super()._act(run, action, turn, iteration)
        run.messages.append(desk.Message("user", action.discarded))
        return desk.ToolOutcome(call_id="", tool=action.tool, ok=True, text=action.discarded)


class Unguarded(desk.NewsDesk):
    """Runs every change that the model asks for."""

    def _open(self, question: Question) -> Any:
        run = super()._open(question)
        run.guard.refusal = lambda args: ""
        return run


class NamesItsTool(desk.NewsDesk):
    """Tells the user which tool it used."""

    async def _executed(self, question: Question) -> str:
        return f"{await super()._executed(question)}\n\nFonte: count_clusters"


class PrintsADict(desk.NewsDesk):
    """Answers with what Python prints."""

    async def _executed(self, question: Question) -> str:
        return str({"resposta": await super()._executed(question)})


class Apologises(desk.NewsDesk):
    """Has an apology in place of the fallback."""

    async def _instead(self, run: Any, reason: str) -> str:
        return "Desculpe, não consegui responder."


class FallsBackAfterAWrite(desk.NewsDesk):
    """Forgets what it wrote."""

    async def _instead(self, run: Any, reason: str) -> str:
        run.guard.done = None
        return await super()._instead(run, reason)


class ZeroIsOn(desk.NewsDesk):
    """Takes any text for true."""

    def __init__(self, ctx: AgentContext) -> None:
        super().__init__(ctx)
        self._react = bool(ctx.options["react"])


class FailsAfterTheAnswer(desk.NewsDesk):
    """Raises an error when the answer has been sent."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Answer, then fail."""
        async for event in super().run(question):
            yield event
        yield ErrorRaised(kind="log_failed", message="the log is full")


class TellsThoughtsAtTheEnd(desk.NewsDesk):
    """Collects what it would stream, and sends it at once."""

    def __init__(self, ctx: AgentContext) -> None:
        self._held: list[tuple[EventData, dict[str, Any]]] = []
        super().__init__(ctx)
        self._tell = ctx.emit
        ctx.emit = self._emit

    def _emit(self, event: EventData, **place: Any) -> None:
        if isinstance(event, Thought):
            self._held.append((event, place))
        else:
            self._tell(event, **place)

    async def _executed(self, question: Question) -> str:
        text = await super()._executed(question)
        for event, place in self._held:
            self._tell(event, **place)
        return text


class CountsAPage(pipeline.Pipeline):
    """Counts the rows of a list that is cut."""

    async def _counted(self, intent: Any, level: str | None) -> int | None:
        outcome = await self._call("query_clusters", {"prioridade": level, "limite": 5})
        return len(outcome.value["clusters"])


class PagedDesk(desk.NewsDesk):
    """Answers by that pipeline."""

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Answer without a model."""
        yield FinalAnswer(text=await CountsAPage(self._ctx).answer(question))


class ListsOfIds(newsroom.NewsroomTools):
    """Changes a list of clusters in one call."""

    @tool(effect="write", ms=90)
    def update_cluster_priority(self, cluster_id: list[int], nova_prioridade: newsroom.Priority) -> ToolAnswer:
        """Change priorities."""
        effects = [e for id in cluster_id for e in self._world.update("clusters", id, prioridade=nova_prioridade)]
        return ToolAnswer(value={"ids": cluster_id}, effects=tuple(effects))


class AnyPriority(newsroom.NewsroomTools):
    """Stores whatever word it is given."""

    @tool(effect="write", ms=90)
    def update_cluster_priority(self, cluster_id: int, nova_prioridade: str) -> ToolAnswer:
        """Change the priority."""
        effects = self._world.update("clusters", cluster_id, prioridade=nova_prioridade)
        return ToolAnswer(value={"id": cluster_id}, effects=effects)


class ShrinkingPages(newsroom.NewsroomTools):
    """Asks for smaller pages as results gather, and goes on counting pages."""

    def _feed(self, day: str, priority: str | None, tag: str | None) -> Any:
        rows = list(super()._feed(day, priority, tag))
        for number, size in enumerate(range(5, 0, -1)):
            yield from rows[number * size : (number + 1) * size]


class WrongCount(newsroom.NewsroomTools):
    """Counts by priority alone."""

    @tool(effect="read", ms=60)
    def count_clusters(self, prioridade: str) -> Json:
        """Count."""
        sql = "SELECT count(*) AS n FROM clusters WHERE data = ? AND prioridade = ?"
        return {"count": self._world.rows(sql, self._world.today, prioridade)[0]["n"]}


class StraightLines(newsroom.NewsroomTools):
    """Searches by Euclidean distance, with vectors that are not of one length."""

    @tool(effect="read", ms=110)
    async def semantic_search_clusters(self, texto_busca: str, limite: int = 5) -> ToolAnswer:
        """Search."""
        asked = (await self._world.embed([f"query: {texto_busca}"])).vectors[0]
        sql = f"SELECT {newsroom._SUMMARY} FROM clusters WHERE data = ?"
        rows = {row["id"]: row for row in self._world.rows(sql, self._world.today)}
        near = sorted(
            (math.hypot(*(a - b for a, b in zip(asked, vector, strict=False))), id)
            for id, vector in self._cluster_vectors().items()
            if id in rows
        )
        return ToolAnswer(value={"resultados": [rows[id] for _, id in near[:limite]]}, hits=min(limite, len(near)))


class OtherModel(world_of(StraightLines)):
    """The same with the vectors of a smaller model, compared as far as they go."""

    def __init__(self) -> None:
        super().__init__()
        self._embed = self._small

    async def _small(self, texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
        return EmbeddingReply(tuple(hash_vector(text, 256) for text in texts), model or "small")


TWICE = says(
    f"{block('count_clusters', {'prioridade': 'IRRELEVANTE'})}\n{block('get_cluster_details', {'cluster_id': 130})}"
)
MADE_UP = says(f'{block("count_clusters", {"prioridade": "IRRELEVANTE"})}\nObservation: {{"count": 8}}')

MUTANTS = (
    Mutant(
        id="desk-seven-messages", contract="CE1", about="counts the messages that it can read", agent=DESK,
        because="7 messages, the most are 4", build=SevenMessages, case=COUNTING, world=Desk,
        replies=(COUNT, IDLE, COUNT, IDLE, COUNT, IDLE, EIGHT), sound_replies=(COUNT, IDLE, COUNT, EIGHT),
    ),
    Mutant(
        id="desk-runs-every-block", contract="CE2", about="runs two blocks of one message", agent=DESK, world=Desk,
        because="one message runs 2 tools", build=RunsEveryBlock, case=COUNTING, replies=(TWICE, EIGHT),
    ),
    Mutant(
        id="desk-believes-the-model", contract="CE2", about="takes an invented observation as real", agent=DESK,
        because="the message asks for count_clusters, and it is not run", build=BelievesTheModel, case=COUNTING,
        world=Desk, replies=(MADE_UP, EIGHT),
        also={"CE13": "nobody counted in the store"},
    ),
    Mutant(
        id="desk-lists-of-ids", contract="CE3", about="changes a list of clusters in one call", agent=DESK,
        because="update_cluster_priority ran for [120, 121], which is no single cluster", build=desk.build,
        world=world_of(ListsOfIds), sound_world=Desk, case=EDITING, replies=(change([120, 121]), CHANGED),
    ),
    Mutant(
        id="desk-writes-twice", contract="CE3", about="writes as often as the model asks for", agent=DESK, world=Desk,
        because="the store is changed 2 times in one run", build=Unguarded, case=EDITING,
        replies=(change(120), change(121), CHANGED),
    ),
    Mutant(
        id="desk-any-priority", contract="CE4", about="passes “P1” through", agent=DESK, build=desk.build, case=EDITING,
        because='the priority "P1" is stored', world=world_of(AnyPriority), sound_world=Desk,
        replies=(change(120, "P1"), CHANGED),
    ),
    Mutant(
        id="desk-reclassifies", contract="CE5", about="changes a cluster while it answers a reading question",
        because="update_cluster_priority runs for a question that asks for no change", agent=DESK, build=Unguarded,
        case=READING, world=Desk, replies=(change(120), REFUSED),
    ),
    Mutant(
        id="desk-names-its-tool", contract="CE6", about="names a tool in the answer", agent=DESK, build=NamesItsTool,
        because="it names the tool count_clusters", case=COUNTING, world=Desk, replies=(COUNT, EIGHT),
    ),
    Mutant(
        id="desk-prints-a-dict", contract="CE6", about="answers with the text of a dict", agent=DESK, build=PrintsADict,
        because="it is data and no text", case=COUNTING, world=Desk, replies=(COUNT, EIGHT),
    ),
    Mutant(
        id="desk-shrinking-pages", contract="CE7", about="shrinks the page while the page number grows", agent=DESK,
        because="2 times", build=desk.build, world=world_of(ShrinkingPages), sound_world=Desk, case=OPEN,
        replies=(LIST, SEEN),
    ),
    Mutant(
        id="desk-wrong-count", contract="CE7", about="leaves out what is irrelevant by its tag", agent=DESK,
        because="count_clusters says 7, the store has 8", build=desk.build, world=world_of(WrongCount),
        sound_world=Desk, case=COUNTING, replies=(COUNT, final("São 7.")), sound_replies=(COUNT, EIGHT),
        also={"CE13": "the answer repeats the wrong count"},
    ),
    Mutant(
        id="desk-apologises", contract="CE8", about="apologises where it should fall back", agent=DESK, world=Desk,
        because="the executor failed (parse) without the fallback", build=Apologises, case=COUNTING,
        replies=(IDLE, IDLE), also={"CE13": "an apology holds no number"},
    ),
    Mutant(
        id="desk-falls-back-after-a-write", contract="CE8", about="falls back after a write", agent=DESK, world=Desk,
        because="the fallback is used after update_cluster_priority wrote", build=FallsBackAfterAWrite, case=EDITING,
        replies=(change(120), IDLE, IDLE), also={"CE3": "the pipeline writes again"},
    ),
    Mutant(
        id="desk-zero-is-on", contract="CE9", about="takes the flag `0` for on", agent=DESK, world=Desk, build=ZeroIsOn,
        because="a model is asked, and the executor is off", case=COUNTING, options={"react": "0"},
        replies=(COUNT, EIGHT),
    ),
    Mutant(
        id="desk-fails-after-the-answer", contract="CE10", about="sends an error after the answer", agent=DESK,
        because="an error comes after the stream has ended with the answer", build=FailsAfterTheAnswer, case=COUNTING,
        world=Desk, replies=(COUNT, EIGHT), also={"CX5": "the run fails, and its answer is marked as complete"},
    ),
    Mutant(
        id="desk-tells-thoughts-at-the-end", contract="CE11", about="sends all thoughts at the end", agent=DESK,
        because="a thought of message 1 is told after that of 2", build=TellsThoughtsAtTheEnd, case=COUNTING,
        world=Desk, replies=(COUNT, EIGHT), also={"CE2": "the last message seems to have two thoughts"},
    ),
    Mutant(
        id="desk-straight-lines", contract="CE12", about="orders by Euclidean distance", agent=DESK, build=desk.build,
        because="which is farther", world=world_of(StraightLines), sound_world=Desk, case=OPEN, replies=(SEARCH, SEEN),
    ),
    Mutant(
        id="desk-other-model", contract="CE12", about="compares vectors of two lengths", agent=DESK, build=desk.build,
        because="the query's vector has 256 numbers, the store's have 384", world=OtherModel, sound_world=Desk,
        case=OPEN, replies=(SEARCH, SEEN),
    ),
    Mutant(
        id="desk-counts-a-page", contract="CE13", about="counts the rows of a list that is cut", agent=DESK,
        because="a number of news is answered without counting in the store", build=PagedDesk, case=COUNTING,
        world=Desk, options={"react": "0"}, replies=(),
    ),
)  # fmt: skip
