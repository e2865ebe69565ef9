"""The news desk's case on distances: the recorded question's vector orders the stores as the case says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.records.messages import EmbeddingReply
from harness.worlds import find_world

ROOT = Path(__file__).parents[2]
CASSETTE = ROOT / "cassettes" / "newsdesk" / "scripted" / "newsdesk" / "E-N1.0.yaml"


@pytest.mark.parametrize(
    ("world", "order"),
    [
        ("newsroom", [113, 111, 110, 103, 101]),
        ("newsdesk", [113, 111, 110, 103, 101]),
        ("newsdesk_l2", [113, 110, 111, 103, 101]),
    ],
)
def test_one_case_tells_the_two_distances_apart(world: str, order: list[int]) -> None:
    """By the cosine both stores agree; by the Euclidean distance the second and the third result change places."""
    interactions = yaml.safe_load(CASSETTE.read_text(encoding="utf-8"))["interactions"]
    [said] = [one["response"]["body"] for one in interactions if one["request"]["uri"].endswith("/embeddings")]
    vector = tuple(json.loads(said["string"])["data"][0]["embedding"])

    async def embed(texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
        return EmbeddingReply((vector,) * len(texts), model or "")

    template = find_world(ROOT / "goldensets", world)
    trial = template.open()
    trial.embed = embed
    search: Any = next(tool for tool in trial.tools if tool.__name__ == "semantic_search_clusters")
    found = asyncio.run(search(texto_busca="compra e venda de empresas")).value["resultados"]
    trial.close()
    template.close()

    assert order == [cluster["id"] for cluster in found]
