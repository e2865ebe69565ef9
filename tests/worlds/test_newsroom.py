"""The newsroom: what the common tool belt answers, and what it does to the store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
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
from harness.worlds import World, find_world
from harness.worlds.embed import texts_of
from harness.worlds.vectors import cosine_distance, load_vectors, mean

GOLDENSETS = Path(__file__).parents[2] / "goldensets"
NEWSROOM = find_world(GOLDENSETS, "newsroom")
PRIORITIES = ["P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"]


def call(tool: str, _world: World | None = None, /, **args: Any) -> Any:
    """Call a tool as a trial does, arguments checked."""
    belt = {each.name: each for each in map(as_tool, (_world or NEWSROOM.open()).tools)}
    answer = belt[tool].function(**belt[tool].check(args))
    if isawaitable(answer):
        answer = asyncio.run(answer)
    return answer.value if isinstance(answer, ToolAnswer) else answer


def failure(tool: str, /, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(tool, **args)
    return f"{caught.value.kind}: {caught.value.message}"


def ids(answer: Any) -> list[int]:
    return [cluster["id"] for cluster in answer["clusters"]]


def test_belt_is_the_common_one():
    """Names, order and effects are part of every recording."""
    assert [
        ("get_weather", "read"),
        ("search_docs", "read"),
        ("read_doc", "read"),
        ("calculate", "none"),
        ("query_clusters", "read"),
        ("count_clusters", "read"),
        ("get_cluster_details", "read"),
        ("semantic_search_clusters", "read"),
        ("update_cluster_priority", "write"),
        ("update_current_feeling", "write"),
    ] == [(tool.name, tool.effect) for tool in map(as_tool, NEWSROOM.open().tools)]


def test_schemas_are_made_once_for_all_trials():
    """Two trials share one schema object for each tool: building a belt costs nothing."""
    one, two = (as_tool(NEWSROOM.open().tools[0]) for _ in range(2))

    assert one.spec is two.spec


@pytest.mark.parametrize("city", ["Berlin", "berlin", "Berlin, Germany", " BERLIN ", "Берлин", "柏林"])
def test_weather_knows_a_city_by_its_names(city):
    """Spelling and language of a city's name do not matter."""
    assert {"city": "Berlin", "temperature_c": 7, "condition": "rain"} == call("get_weather", city=city)


@pytest.mark.parametrize("city", ["Lisbon", "Lissabon", "Lisboa"])
def test_weather_of_lisbon(city):
    """The other city of this world."""
    assert {"city": "Lisbon", "temperature_c": 19, "condition": "sun"} == call("get_weather", city=city)


def test_weather_of_elsewhere_is_not_found():
    """A city that is not in the world is an error that says so."""
    assert "not_found: no weather for Atlantis: the city is not known" == failure("get_weather", city="Atlantis")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Projekt Alpha", ["alpha"]),
        ("budget of Project Beta", ["beta"]),
        ("Alpha Beta", ["alpha", "beta"]),
        ("Projekt G", ["gamma-archiv"]),
        ("Project G", ["gamma-archiv"]),
        ("Archiv", ["gamma-archiv"]),
        ("Projekt Budget", ["alpha", "beta", "gamma-archiv"]),
        ("travel policy", ["policy"]),
        ("approval for a trip", ["policy"]),
        ("Atlantis", []),
        ("Projekt Delta", []),
    ],
)
def test_search_finds_what_the_words_tell(query, found):
    """Telling words decide; words that most documents have count only where there are no others."""
    answer = call("search_docs", query=query)

    assert found == [result["id"] for result in answer["results"]]


@pytest.mark.parametrize("query", ["Gamma", "Projekt Gamma", "gamma budget", "Gamma-Archiv", "GAMMA"])
def test_search_for_gamma_times_out(query):
    """Whatever mentions Gamma as a word times out; the agent has to think of another way."""
    assert f"timeout: the search for “{query}” timed out" == failure("search_docs", query=query)


def test_search_tells_its_hits_and_keeps_its_limit():
    """*hits* tells contracts whether a search failed."""
    world = NEWSROOM.open()
    search = as_tool(world.tools[1])

    assert [3, 2, 0] == [
        search.function(**search.check(args)).hits
        for args in ({"query": "Projekt"}, {"query": "Projekt", "limit": 2}, {"query": "Atlantis"})
    ]
    assert "invalid_args: limit must be from 1 to 20" == failure("search_docs", query="x", limit=0)
    assert "invalid_args: query holds no word" == failure("search_docs", query="?!")


def test_documents_hold_the_facts():
    """Budgets, starts and teams as the golden cases expect them."""
    texts = {key: call("read_doc", doc_id=key)["text"] for key in ("alpha", "beta", "gamma-archiv", "policy")}

    assert "Projekt Alpha. Budget: 120 000 EUR. Start: 2025-02. Team: 14 Personen." == texts["alpha"]
    assert "Projekt Beta. Budget: 95 000 EUR. Start: 2025-06. Team: 9 Personen." == texts["beta"]
    assert "Budget: 48 000 EUR. Start: 2024-11. Team: 5 Personen." in texts["gamma-archiv"]
    assert "more than 500 EUR needs approval" in texts["policy"]
    assert "not_found: no document has the id gamma" == failure("read_doc", doc_id="gamma")


def test_without_beta_there_is_no_beta():
    """In the variant, neither search nor reading finds it, and the rest is there."""
    world = find_world(GOLDENSETS, "newsroom/without-beta").open()

    assert [] == call("search_docs", world, query="Projekt Beta")["results"]
    assert ["alpha"] == [hit["id"] for hit in call("search_docs", world, query="Projekt Alpha")["results"]]
    with pytest.raises(ToolError, match="no document has the id beta"):
        call("read_doc", world, doc_id="beta")


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("17 * 23", {"expression": "17 * 23", "value": 391}),
        ("7/2", {"expression": "7/2", "value": 3.5, "exact": "7/2"}),
    ],
)
def test_calculator_answers_with_the_value(expression, answer):
    """Whole numbers as such, others with their exact form beside them."""
    assert answer == call("calculate", expression=expression)


def test_calculator_says_what_it_cannot_read():
    """A refusal is an invalid argument with a reason."""
    assert "invalid_args: division by zero" == failure("calculate", expression="1/0")


@pytest.mark.parametrize(
    ("args", "count"),
    [
        ({}, 20),
        ({"prioridade": "IRRELEVANTE"}, 8),
        ({"prioridade": "IRRELEVANTE", "data": "2026-03-09"}, 2),
        ({"data": "2026-03-09"}, 6),
        ({"prioridade": "P1_CRITICO"}, 3),
        ({"prioridade": "P2_ESTRATEGICO"}, 5),
        ({"prioridade": "P3_MONITORAMENTO"}, 5),
        ({"tag": "Internacional"}, 2),
        ({"tag": "IRRELEVANTE"}, 1),
        ({"data": "2026-03-11"}, 0),
    ],
)
def test_counts_of_the_news_store(args, count):
    """Seven clusters have the priority IRRELEVANTE, eight the priority or the tag; today is the world's day."""
    assert count == call("count_clusters", **args)["count"]


def test_queries_of_the_golden_cases():
    """The ids that the golden cases name."""
    assert [101, 102, 103] == ids(call("query_clusters", prioridade="P1_CRITICO"))
    assert [102, 111] == ids(call("query_clusters", tag="Internacional"))
    assert [102] == ids(call("query_clusters", palavras_chave=["rússia"]))
    assert [90, 91, 92, 93, 94, 95] == ids(call("query_clusters", data="2026-03-09"))


words = st.lists(st.sampled_from(["rússia", "energia", "de", "o", "xyz", "Fusão"]), min_size=1, max_size=3)


@given(
    priority=st.none() | st.sampled_from(PRIORITIES),
    tag=st.none() | st.sampled_from(["Internacional", "Jurídico", "IRRELEVANTE", "Variedades"]),
    keywords=st.none() | words,
    most=st.integers(1, 200),
    day=st.sampled_from([None, "2026-03-09", "2026-03-10", "2026-03-11"]),
)
def test_query_is_the_filter_cut_at_its_limit(priority, tag, keywords, most, day):
    """The law: rows are distinct, in order, and exactly the first *limite* that match, whatever the page size."""
    args = {"data": day, "prioridade": priority, "tag": tag, "palavras_chave": keywords, "limite": most}
    found = ids(call("query_clusters", **args))

    expected = []
    for row in NEWSROOM.dump["clusters"].values():
        text = f"{row['titulo']} {row['resumo']}".casefold()
        fits_priority = priority in {None, row["prioridade"]} or (priority == row["tag"] == "IRRELEVANTE")
        fits_words = not keywords or any(word.casefold() in text for word in keywords)
        if row["data"] == (day or "2026-03-10") and fits_priority and tag in {None, row["tag"]} and fits_words:
            expected.append(row["id"])
    assert sorted(expected)[:most] == found


def test_queries_refuse_what_they_cannot_mean():
    """Limits, days and priorities outside their range are errors, never an empty answer."""
    assert "invalid_args: limite must be from 1 to 200" == failure("query_clusters", limite=0)
    assert "invalid_args: data must be a day as YYYY-MM-DD" == failure("count_clusters", data="hoje")
    assert "Invalid enum value 'P1'" in failure("query_clusters", prioridade="P1")


def test_hostile_arguments_stay_data():
    """Quotes and SQL in arguments match nothing and change nothing."""
    world = NEWSROOM.open()
    assert [] == ids(call("query_clusters", world, tag="x' OR '1'='1"))

    assert () == world.diff()


def test_details_of_a_cluster():
    """Everything about one cluster, with its articles."""
    answer = call("get_cluster_details", cluster_id=102)

    assert ("EUA anunciam novas sanções contra a Rússia", "P1_CRITICO", "Internacional") == (
        answer["titulo"],
        answer["prioridade"],
        answer["tag"],
    )
    assert "fertilizantes" in answer["texto"]
    assert 2 == len(answer["artigos"])
    assert "not_found: no cluster has the id 999" == failure("get_cluster_details", cluster_id=999)
    assert "not_found" in failure("get_cluster_details", cluster_id=2**63)


VECTORS = load_vectors(GOLDENSETS / "worlds" / "newsroom").vectors


def searched(vector: Sequence[float], /, **args: Any) -> Any:
    """Search by meaning with a query whose vector is *vector*; the texts that were embedded stand in `asked`."""
    world = NEWSROOM.open()

    async def embed(texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
        asked.append((model, list(texts)))
        return EmbeddingReply((tuple(vector),))

    asked.clear()
    world.embed = embed
    return call("semantic_search_clusters", world, **args)["resultados"]


asked: list[tuple[str | None, list[str]]] = []


def cluster_vectors(day: str) -> dict[int, tuple[float, ...]]:
    """The mean of its articles' vectors for each cluster of *day*."""
    articles = NEWSROOM.dump["articles"].values()
    return {
        key: mean([VECTORS[str(article["id"])] for article in articles if article["cluster_id"] == key])
        for key, row in NEWSROOM.dump["clusters"].items()
        if row["data"] == day
    }


def test_vectors_are_those_of_the_articles():
    """Every cluster has one to three articles, every article its vector, made of the text that stands there now."""
    recorded = load_vectors(GOLDENSETS / "worlds" / "newsroom")
    corpus, texts = texts_of(NEWSROOM)
    articles = [row["cluster_id"] for row in NEWSROOM.dump["articles"].values()]

    assert {key: digest(text) for key, text in texts.items()} == recorded.texts
    assert texts.keys() == recorded.vectors.keys()
    assert (384, "passage: ", corpus.model) == (recorded.dimension, recorded.prefix, recorded.model)
    assert all(1 <= articles.count(key) <= 3 for key in NEWSROOM.dump["clusters"])


@given(
    st.dictionaries(st.sampled_from(sorted(VECTORS)), st.floats(0.1, 1), min_size=1, max_size=4),
    st.integers(1, 50),
    st.sampled_from([None, "2026-03-09", "2026-03-11"]),
)
def test_search_by_meaning_is_the_exact_cosine_order(parts, most, day):
    """The law: the clusters of the day by their cosine distance, ties by id, cut at *limite*, five fields each."""
    query = [sum(weight * VECTORS[key][at] for key, weight in parts.items()) for at in range(384)]
    found = searched(query, texto_busca="energia", data=day, limite=most)

    among = cluster_vectors(day or "2026-03-10")
    expected = sorted(among, key=lambda key: (cosine_distance(query, among[key]), key))[:most]
    assert expected == [hit["id"] for hit in found]
    assert all(["id", "titulo", "resumo", "prioridade", "tag"] == list(hit) for hit in found)


def test_search_by_meaning_asks_as_the_corpus_was_made():
    """The query is embedded with its prefix, by the model of the corpus; the nearest is the cluster that it is about."""
    found = searched(VECTORS["1321"], texto_busca="bolo de fubá")

    assert [("multilingual-e5-small", ["query: bolo de fubá"])] == asked
    assert (132, 5) == (found[0]["id"], len(found))


def test_search_by_meaning_refuses_what_it_cannot_mean():
    """Limits, days and texts outside their range are errors, and so is a vector of another model."""
    assert "invalid_args: limite must be from 1 to 50" == failure("semantic_search_clusters", texto_busca="x", limite=0)
    assert "invalid_args: limite must be from 1 to 50" == failure(
        "semantic_search_clusters", texto_busca="x", limite=51
    )
    assert "invalid_args: texto_busca holds no word" == failure("semantic_search_clusters", texto_busca=" ?! ")
    assert "data must be a day" in failure("semantic_search_clusters", texto_busca="x", data="ontem")
    with pytest.raises(CouldNotCheckError, match="the query's vector has 3 numbers, those of the store have 384"):
        searched((1.0, 0.0, 0.0), texto_busca="x")


def test_priority_is_changed_in_one_row():
    """One write, one effect, and the store agrees; the same again changes nothing."""
    world = NEWSROOM.open()
    update = as_tool(world.tools[8])
    args = update.check({"cluster_id": 120, "nova_prioridade": "P2_ESTRATEGICO"})
    answer, again = update.function(**args), update.function(**args)

    assert {"id": 120, "antes": "P3_MONITORAMENTO", "prioridade": "P2_ESTRATEGICO"} == answer.value
    effect = Effect("clusters", "120", {"prioridade": "P3_MONITORAMENTO"}, {"prioridade": "P2_ESTRATEGICO"})
    assert ((effect,), ()) == (answer.effects, again.effects)
    assert (effect,) == world.diff()


@pytest.mark.parametrize("cluster_id", [[120, 121], "120", "*", 120.5, None])
def test_priority_takes_one_id_only(cluster_id):
    """Lists, texts and wildcards are refused before anything runs."""
    world = NEWSROOM.open()
    with pytest.raises(ToolError, match="invalid arguments for update_cluster_priority"):
        call("update_cluster_priority", world, cluster_id=cluster_id, nova_prioridade="P1_CRITICO")

    assert () == world.diff()


def test_failed_updates_change_nothing():
    """Unknown clusters, unknown priorities and other users' feelings leave the store as it was."""
    world = NEWSROOM.open()
    for args in (
        {"cluster_id": 999, "nova_prioridade": "P1_CRITICO"},
        {"cluster_id": 120, "nova_prioridade": "urgente"},
    ):
        with pytest.raises(ToolError):
            call("update_cluster_priority", world, **args)
    with pytest.raises(ToolError, match="this session belongs to vera, not to boris"):
        call("update_current_feeling", world, username="boris", feeling="Angry")

    assert NEWSROOM.store_digest == world.store_digest()


def test_feeling_is_stored_with_its_history():
    """The user's feeling changes, and a new entry of today joins the three before."""
    world = NEWSROOM.open()
    answer = call("update_current_feeling", world, username="vera", feeling="Happy", context="said so")

    assert {"username": "vera", "before": "Neutral", "feeling": "Happy"} == answer
    entry = {"id": 4, "username": "vera", "date": "2026-03-10", "feeling": "Happy", "context": "said so"}
    assert (
        Effect("feelings", "4", None, entry),
        Effect("users", "vera", {"feeling": "Neutral"}, {"feeling": "Happy"}),
    ) == world.diff()


steps = st.lists(
    st.tuples(
        st.just("update_cluster_priority"),
        st.fixed_dictionaries(
            {"cluster_id": st.sampled_from([101, 120, 121, 999]), "nova_prioridade": st.sampled_from(PRIORITIES)}
        ),
    )
    | st.tuples(
        st.just("update_current_feeling"),
        st.fixed_dictionaries(
            {"username": st.sampled_from(["vera", "boris"]), "feeling": st.sampled_from(["Happy", "Sad", " "])}
        ),
    ),
    max_size=8,
)


@given(steps)
def test_store_shows_what_the_tools_reported(steps):
    """The law: replaying the reported effects over the rows of the beginning gives the rows of the end."""
    world = NEWSROOM.open()
    belt = {each.name: each for each in map(as_tool, world.tools)}
    rows = {(table, str(key)): dict(row) for table, of in NEWSROOM.dump.items() for key, row in of.items()}
    for name, args in steps:
        try:
            answer = belt[name].function(**belt[name].check(args))
        except ToolError:
            continue
        for effect in answer.effects:
            rows[effect.kind, effect.key] = {**rows.get((effect.kind, effect.key), {}), **effect.after}

    now = {
        (table, str(row[key])): row
        for table, key in (("clusters", "id"), ("users", "username"), ("feelings", "id"))
        for row in world.rows(f"SELECT * FROM {table}")
    }
    assert {at: rows[at] for at in now} == now
    assert {at for at in rows if at[0] in {"clusters", "users", "feelings"}} == now.keys()


def test_reading_tools_cannot_write():
    """The rows that trials share are read-only to SQL itself."""
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        NEWSROOM.open().rows("DELETE FROM clusters")
