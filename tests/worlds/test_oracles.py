"""The oracles of the news store: they and the tools come to the same by different ways."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.tool import ToolAnswer, as_tool
from harness.testing.embeddings import hash_embed
from harness.worlds import World, find_world

GOLDENSETS = Path(__file__).parents[2] / "goldensets"
NEWSROOM = find_world(GOLDENSETS, "newsroom")
SEARCHING = ("query_clusters", "count_clusters", "semantic_search_clusters")
DAYS = st.sampled_from([None, "2026-03-09", "2026-03-10", "1999-01-01"])
PRIORITIES = st.sampled_from([None, "P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"])
TAGS = st.sampled_from([None, "Internacional", "IRRELEVANTE", "nenhuma"])
WORDS = st.none() | st.lists(st.sampled_from(["energia", "EUA", " rússia ", "xyz"]), max_size=2)


def both(world: World, name: str, **args: object) -> tuple[ToolAnswer, dict[str, object]]:
    """What the tool *name* answers, and what the oracle says to the same call."""
    tool = next(tool for tool in map(as_tool, world.tools) if tool.name == name)
    checked = tool.check(args)
    answer = tool.function(**checked)
    if asyncio.iscoroutine(answer):
        answer = asyncio.run(answer)
    answer = answer if isinstance(answer, ToolAnswer) else ToolAnswer(value=answer)
    return answer, world.oracles[name](**checked)


@given(day=DAYS, priority=PRIORITIES, tag=TAGS, words=WORDS, most=st.integers(1, 30))
def test_a_query_returns_what_the_rows_say(day, priority, tag, words, most):
    """Every filter and limit gives the ids that a plain reading of the rows gives."""
    args = {"data": day, "prioridade": priority, "tag": tag, "palavras_chave": words, "limite": most}
    answer, said = both(NEWSROOM.open(), "query_clusters", **args)

    assert said["ids"] == [row["id"] for row in answer.value["clusters"]]
    assert min(most, said["matching"]) == len(said["ids"])


@given(day=DAYS, priority=PRIORITIES, tag=TAGS)
def test_a_count_is_the_number_of_rows(day, priority, tag):
    """Counting in the store and counting the rows come to the same."""
    answer, said = both(NEWSROOM.open(), "count_clusters", data=day, prioridade=priority, tag=tag)

    assert {"count": answer.value["count"]} == said


@given(text=st.sampled_from(["energia", "guerra", "clima"]), day=DAYS, most=st.integers(1, 50))
def test_a_search_by_meaning_is_in_exact_order(text, day, most):
    """The order is that of the exact cosine distances, and both sides have vectors of one length."""
    world = NEWSROOM.open()
    world.embed = hash_embed
    answer, said = both(world, "semantic_search_clusters", texto_busca=text, data=day, limite=most)

    assert [id for id, _ in said["nearest"]][:most] == [row["id"] for row in answer.value["resultados"]]
    assert said["asked_dimension"] == said["dimension"]


def test_an_oracle_sees_what_a_trial_wrote():
    """The rows are those of the trial, not those of its start."""
    world = NEWSROOM.open()
    world.update("clusters", 120, prioridade="P1_CRITICO")

    assert 120 in world.oracles["query_clusters"](None, "P1_CRITICO", None, None, 50)["ids"]


def test_another_vector_than_the_stores_has_no_order():
    """A query's vector of another length is told, and not compared."""

    async def short(texts, *, model=None):
        reply = await hash_embed(texts, model=model)
        return type(reply)(tuple(vector[:3] for vector in reply.vectors))

    world = NEWSROOM.open()
    world.embed = short
    asyncio.run(world.embed(["query: energia"]))

    assert {"asked_dimension": 3, "dimension": 384, "limite": 5} == world.oracles["semantic_search_clusters"](
        "energia", None, 5
    )


@pytest.mark.parametrize("world", ["newsroom", "newsdesk", "newsdesk_l2"])
def test_no_searching_tool_goes_without(world):
    """Each tool that searches the clusters has an oracle, on each store."""
    assert set(SEARCHING) == set(find_world(GOLDENSETS, world).open().oracles)
