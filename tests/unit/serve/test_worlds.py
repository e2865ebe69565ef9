"""Worlds that conversations keep."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.records.messages import EmbeddingReply
from harness.serve.worlds import KeptWorlds
from harness.worlds.world import WorldTemplate, find_world

ROOT = Path(__file__).parents[3]


@pytest.fixture
def template(tmp_path: Path) -> WorldTemplate:
    """The newsroom, whose rows live in SQLite."""
    return find_world(ROOT / "goldensets", "newsroom", cache=tmp_path)


@pytest.fixture
def worlds() -> Iterator[KeptWorlds]:
    """Room for two."""
    kept = KeptWorlds(most=2)
    yield kept
    kept.close()


def priority(world) -> str:
    """What one cluster's priority is."""
    return world.world.row("clusters", 120)["prioridade"]


def test_the_next_question_finds_what_the_last_one_changed(worlds, template):
    """The end of a run does not close the world, and nobody else sees the change."""
    turn = worlds.take("a", template)
    turn.world.update("clusters", 120, prioridade="P1_CRITICO")
    turn.close()
    worlds.give_back("a", turn)

    assert ("P1_CRITICO", "P3_MONITORAMENTO") == (
        priority(worlds.take("a", template)), priority(worlds.take("b", template)),
    )  # fmt: skip


def test_changes_count_from_the_question(worlds, template):
    """What an earlier question changed stands in no later trace; what is changed again does."""
    turn = worlds.take("a", template)
    turn.world.update("clusters", 120, prioridade="P1_CRITICO")
    before = turn.store_digest()
    worlds.give_back("a", turn)
    later = worlds.take("a", template)
    nothing = later.diff()
    later.world.update("clusters", 120, prioridade="P2_ESTRATEGICO")
    (effect,) = later.diff()

    assert () == nothing
    assert ({"prioridade": "P1_CRITICO"}, {"prioridade": "P2_ESTRATEGICO"}) == (effect.before, effect.after)
    assert before != later.store_digest()


def test_a_run_sets_what_tools_embed_with(worlds, template):
    """Each run its own, in the world that the tools have."""

    async def embed(texts, *, model=None):
        return EmbeddingReply(tuple((1.0,) for _ in texts))

    turn = worlds.take("a", template)
    turn.embed = embed

    assert ((1.0,),) == asyncio.run(turn.world.embed(["text"])).vectors
    assert turn.embed == turn.world.embed
    assert {"get_weather", "update_cluster_priority"} <= {tool.__name__ for tool in turn.tools}


def test_the_world_that_waited_longest_makes_room(worlds, template):
    """A conversation whose world is gone begins with a fresh one."""
    for name in ("a", "b", "c"):
        turn = worlds.take(name, template)
        turn.world.update("clusters", 120, prioridade="P1_CRITICO")
        worlds.give_back(name, turn)

    assert ["P3_MONITORAMENTO", "P1_CRITICO", "P1_CRITICO"] == [
        priority(worlds.take(name, template)) for name in ("a", "b", "c")
    ]
