"""The news desk's worlds on PostgreSQL: the newsroom's answers, trials that do not see each other, no network."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import CouldNotCheckError
from harness.records.digest import digest
from harness.records.messages import EmbeddingReply
from harness.records.tool import ToolAnswer, ToolError, as_tool
from harness.records.trace import Effect
from harness.worlds import World, WorldTemplate, find_world
from harness.worlds.vectors import cosine_distance, load_vectors, mean

ROOT = Path(__file__).parents[2]
GOLDENSETS = ROOT / "goldensets"
NEWSROOM = find_world(GOLDENSETS, "newsroom")
RECORDED = load_vectors(GOLDENSETS / "worlds" / "newsroom")
NEWS_TOOLS = (
    "query_clusters", "count_clusters", "get_cluster_details", "semantic_search_clusters", "update_cluster_priority",
)  # fmt: skip
PRIORITIES = ["P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"]
MOVED = Effect("clusters", "120", {"prioridade": "P3_MONITORAMENTO"}, {"prioridade": "P2_ESTRATEGICO"})


@pytest.fixture(scope="module")
def newsdesk() -> Iterator[WorldTemplate]:
    """The world on PostgreSQL; its server ends with the tests."""
    template = find_world(GOLDENSETS, "newsdesk")
    yield template
    template.close()


@pytest.fixture
def trial(newsdesk) -> Iterator[World]:
    """A trial's world."""
    world = newsdesk.open()
    yield world
    world.close()


def query_vector(parts: dict[str, float]) -> tuple[float, ...]:
    """A text's vector as the tests make it up: a weighted sum of the articles' vectors."""
    return tuple(sum(weight * RECORDED.vectors[key][at] for key, weight in parts.items()) for at in range(384))


def said(world: World, name: str, /, _vector: Sequence[float] = (), **args: Any) -> tuple[Any, ...]:
    """All that a call of a tool comes to: value, hits and effects, or kind and message of its refusal."""

    async def embed(texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
        assert ["query: " + args["texto_busca"]] == texts
        assert "multilingual-e5-small" == model
        return EmbeddingReply((tuple(_vector),))

    world.embed = embed
    tool = next(tool for tool in map(as_tool, world.tools) if tool.name == name)
    try:
        answer = tool.function(**tool.check(args))
        if isawaitable(answer):
            answer = asyncio.run(answer)
    except ToolError as error:
        return ("refused", error.kind, error.message)
    if not isinstance(answer, ToolAnswer):
        answer = ToolAnswer(value=answer)
    return ("answered", answer.value, answer.hits, answer.effects)


def test_tools_are_those_of_the_common_belt(trial):
    """Names, parameters, descriptions, effects and declared time are the newsroom's, so that recordings compare."""
    common = {tool.name: tool for tool in map(as_tool, NEWSROOM.open().tools)}
    tools = [as_tool(function) for function in trial.tools]

    assert NEWS_TOOLS == tuple(tool.name for tool in tools)
    assert [(common[tool.name].spec, common[tool.name].effect, common[tool.name].ms) for tool in tools] == [
        (tool.spec, tool.effect, tool.ms) for tool in tools
    ]


def test_rows_are_those_of_the_newsroom(newsdesk, trial):
    """One file states the rows of both worlds; loaded into PostgreSQL and dumped they are the same."""
    assert {table: NEWSROOM.dump[table] for table in ("articles", "clusters")} == newsdesk.backend.dump()
    assert newsdesk.backend.dump() == trial.store.dump()
    assert NEWSROOM.store_digest == newsdesk.store_digest


days = st.sampled_from(
    [None, "2026-03-09", "2026-03-10", "2026-03-11", "2026-02-30", "hoje", "2026-3-9", "", "0000-00-00"]
)
priorities = st.none() | st.sampled_from([*PRIORITIES, "P1", "urgente"])
tags = (
    st.none() | st.sampled_from(["Internacional", "IRRELEVANTE", "Jurídico", "%", "x' OR '1'='1"]) | st.text(max_size=6)
)
words = st.none() | st.lists(
    st.sampled_from(["rússia", "ENERGIA", "de", " o ", "xyz", "%", ""]) | st.text(max_size=4), max_size=3
)
ids = st.sampled_from([101, 102, 120, 140, 90, 999, 0, -1, 2**40])
limits = st.integers(-1, 202)
parts = st.dictionaries(st.sampled_from(sorted(RECORDED.vectors)), st.floats(0.1, 1), min_size=1, max_size=3)
calls = st.one_of(
    st.tuples(
        st.just("query_clusters"),
        st.fixed_dictionaries(
            {},
            optional={"data": days, "prioridade": priorities, "tag": tags, "palavras_chave": words, "limite": limits},
        ),
    ),
    st.tuples(
        st.just("count_clusters"),
        st.fixed_dictionaries({}, optional={"data": days, "prioridade": priorities, "tag": tags}),
    ),
    st.tuples(st.just("get_cluster_details"), st.fixed_dictionaries({"cluster_id": ids | st.just("120")})),
    st.tuples(
        st.just("update_cluster_priority"),
        st.fixed_dictionaries(
            {"cluster_id": ids | st.just([120, 121]), "nova_prioridade": st.sampled_from([*PRIORITIES, "P1"])}
        ),
    ),
    st.tuples(
        st.just("semantic_search_clusters"),
        st.fixed_dictionaries(
            {"texto_busca": st.sampled_from(["energia", " ?", "", "1"])},
            optional={"data": days, "limite": st.integers(-1, 52)},
        ),
    ),
)


@given(st.lists(st.tuples(calls, parts), max_size=8))
def test_both_stores_answer_alike(newsdesk, steps):
    """The law: whatever is called in whatever order, SQLite and PostgreSQL say the same and end with the same changes."""
    ours, common = newsdesk.open(), NEWSROOM.open()
    try:
        for (name, args), weights in steps:
            vector = query_vector(weights)

            assert said(common, name, vector, **args) == said(ours, name, vector, **args)
        assert common.diff() == ours.diff()
        assert (ours.store_digest() == newsdesk.store_digest) == (common.store_digest() == NEWSROOM.store_digest)
    finally:
        ours.close()
        common.close()


def test_vector_of_another_model_is_refused(trial):
    """A query of three numbers is not compared with vectors of 384."""
    with pytest.raises(CouldNotCheckError, match="the query's vector has 3 numbers, those of the store have 384"):
        said(trial, "semantic_search_clusters", (1.0, 0.0, 0.0), texto_busca="energia")


def test_trials_at_once_do_not_see_each_other(newsdesk):
    """Two trials that change the same row neither wait nor meet; a third sees the rows of the beginning."""
    one, two, three = (newsdesk.open() for _ in range(3))
    said(one, "update_cluster_priority", cluster_id=120, nova_prioridade="P2_ESTRATEGICO")
    said(two, "update_cluster_priority", cluster_id=120, nova_prioridade="P1_CRITICO")
    seen = [world.store.cluster(120)["prioridade"] for world in (one, two, three)]
    diffs = [world.diff() for world in (one, two, three)]
    for world in (one, two, three):
        world.close()

    assert ["P2_ESTRATEGICO", "P1_CRITICO", "P3_MONITORAMENTO"] == seen
    assert [(MOVED,), (Effect("clusters", "120", MOVED.before, {"prioridade": "P1_CRITICO"}),), ()] == diffs


def test_closed_trial_leaves_nothing_to_the_next(newsdesk):
    """A connection is used again, and what the trial before wrote, its note included, is gone."""
    for _ in range(3):
        world = newsdesk.open()
        assert ((), []) == (world.diff(), world.store.changes(120))
        said(world, "update_cluster_priority", cluster_id=120, nova_prioridade="P2_ESTRATEGICO")
        assert (MOVED,) == world.diff()
        assert "asked for by vera" == world.store.changes(120)[0]["motivo"]
        world.close()


def test_trials_in_threads_keep_to_themselves(newsdesk):
    """Many trials at once, each in a thread, each with its own change."""

    def trial(number: int) -> tuple[Effect, ...]:
        world = newsdesk.open(number)
        said(world, "update_cluster_priority", cluster_id=101 + number % 3, nova_prioridade="IRRELEVANTE")
        try:
            return world.diff()
        finally:
            world.close()

    with ThreadPoolExecutor(6) as pool:
        diffs = list(pool.map(trial, range(24)))

    changed = ({"prioridade": "P1_CRITICO"}, {"prioridade": "IRRELEVANTE"})
    assert [(Effect("clusters", str(101 + number % 3), *changed),) for number in range(24)] == diffs


def test_other_world_orders_by_length_too(newsdesk):
    """The same rows and query: `<=>` and `<->` put two clusters in another order, each the one that it states."""
    day = [key for key, row in NEWSROOM.dump["clusters"].items() if row["data"] == "2026-03-10"]
    articles = NEWSROOM.dump["articles"].values()
    means = {
        key: mean([RECORDED.vectors[str(each["id"])] for each in articles if each["cluster_id"] == key]) for key in day
    }
    query = query_vector({"1121": 0.5, "1022": 0.3})
    cosine = sorted(day, key=lambda key: cosine_distance(query, means[key]))
    length = sorted(day, key=lambda key: sum((a - b) ** 2 for a, b in zip(query, means[key], strict=True)))
    literal = find_world(GOLDENSETS, "newsdesk_l2")
    found = []
    for template in (newsdesk, literal):
        world = template.open()
        answer = said(world, "semantic_search_clusters", query, texto_busca="impostos", limite=20)
        found.append([row["id"] for row in answer[1]["resultados"]])
        world.close()
    literal.close()

    assert cosine != length
    assert [cosine, length] == found


def test_building_the_tools_starts_nothing():
    """A trial that asks the store nothing brings neither psycopg nor pydantic nor a server."""
    ran = run("world.tools, world.store_digest(), world.diff()")

    assert "[]\n" == ran


def test_store_works_without_a_network():
    """Under both guards of a replay, the kernel's included, the server starts and answers by its Unix socket."""
    ran = run(
        "print(guard.engage(kernel=True), world.store.count('2026-03-10', priority='IRRELEVANTE', tag=None))",
        shown="world.close()",
    )

    assert "['python', 'seccomp'] 8\nNone\n" == ran


def test_unreachable_server_is_told(newsdesk):
    """A server that does not answer is a clear error before any tool runs, never an empty answer."""
    with pytest.raises(CouldNotCheckError) as caught:
        raise_from_environment("host=/nowhere dbname=news")

    assert "error[news-store-unreachable]: the news store does not answer at /nowhere/news: " in str(caught.value)


def raise_from_environment(url: str) -> None:
    """Open the store of a process whose environment names *url*."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSDESK_DATABASE_URL", url)
        _ = find_world(GOLDENSETS, "newsdesk").open().store


def test_rows_on_a_named_server_lie_apart(newsdesk):
    """
    On a server that others use, the trials' rows lie in a schema of their own, dropped at the end; one that a process
    left behind that was killed is dropped by the next.
    """
    backend = newsdesk.backend
    backend._admin.execute("CREATE SCHEMA tapegate_trials_999999999")
    backend._admin.execute("CREATE SCHEMA tapegate_trials_of_somebody")
    backend._admin.commit()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSDESK_DATABASE_URL", backend._url)
        guest = find_world(GOLDENSETS, "newsdesk")
        world = guest.open()
        schemas = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tapegate%%' ORDER BY 1"
        both = world.store._rows(schemas)
        count = world.store.count("2026-03-10", priority=None, tag=None)
        guest.close()
    own = newsdesk.open()
    left = own.store._rows(schemas)
    own.close()

    assert (3, 20) == (len(both), count)
    assert [backend.schema, "tapegate_trials_of_somebody"] == [row["nspname"] for row in left]


def test_recorded_vectors_are_found_by_their_texts(newsdesk):
    """The pipeline's text of each article is the one whose vector was recorded: none is embedded twice, none is missed."""
    texts = {digest(f"passage: {row['titulo']}. {row['texto']}") for row in NEWSROOM.dump["articles"].values()}

    assert texts == set(RECORDED.texts.values())


def run(statement: str, *, shown: str = "[m for m in ('psycopg', 'pydantic') if m in sys.modules]") -> str:
    """What a process of its own prints that opens the world, runs *statement* and prints *shown*."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom harness.cassettes import guard\nfrom harness.worlds import find_world\n"
        f"find_world(Path('goldensets').resolve(), 'newsdesk', cache=Path({str(ROOT / '.cache' / 'worlds')!r}))\n"
        f"world = find_world(Path('goldensets').resolve(), 'newsdesk', cache=Path({str(ROOT / '.cache' / 'worlds')!r}))"
        f".open()\n{statement}\nprint({shown})"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("NEWSDESK_DATABASE_URL", None)
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
