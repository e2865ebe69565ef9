"""
The letter of the news desk's document, run beside the reference: what it breaks, and nothing more.

The document orders a search by meaning with `<->` and calls it cosine. In pgvector that is the Euclidean distance: the
profile runs on a world whose PostgreSQL searches by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from harness.agents.load import load_agent
from harness.records.case import GoldenCase
from harness.records.messages import EmbeddingReply
from harness.testing.fakes import Ran, Said, run_agent
from harness.testing.mutants import broken_in, findings
from harness.worlds import World, WorldTemplate, find_world
from harness.worlds.vectors import load_vectors

from .ground import AGENTS
from .newsdesk import CHANGED, COUNT, COUNTING, EDITING, EIGHT, IDLE, LIST, OPEN, SEARCH, SEEN, change

GOLDENSETS = AGENTS.parent / "goldensets"
RECORDED = load_vectors(GOLDENSETS / "worlds" / "newsroom").vectors
BROKEN_BY_THE_LETTER = {"CE12": "`<->` is the Euclidean distance, and vectors that are means are not of one length"}


class Asked(World):
    """A trial's world on *template* in which each text has one and the same vector."""

    def __init__(self, template: WorldTemplate) -> None:
        super().__init__(template, 0)
        self._embed = self._answered

    @property
    def embed(self) -> Any:
        """The trial's model client knows no vectors here."""
        return self._remembered

    @embed.setter
    def embed(self, embed: Any) -> None:
        pass

    async def _answered(self, texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
        vector = tuple(0.5 * one + 0.3 * other for one, other in zip(RECORDED["1121"], RECORDED["1022"], strict=True))
        return EmbeddingReply((vector,) * len(texts), model or "")


@pytest.fixture(scope="module")
def cosine() -> Iterator[WorldTemplate]:
    """The news desk's store as the reference has it."""
    template = find_world(GOLDENSETS, "newsdesk")
    yield template
    template.close()


@pytest.fixture(scope="module")
def euclidean() -> Iterator[WorldTemplate]:
    """The store as the letter has it."""
    template = find_world(GOLDENSETS, "newsdesk_l2")
    yield template
    template.close()


def answered(profile: str, template: WorldTemplate, replies: Sequence[Said], case: GoldenCase) -> Ran:
    """A run of the *profile* on a store."""
    world: Any = Asked(template)
    agent = load_agent(AGENTS, f"newsdesk@{profile}")
    try:
        return run_agent(agent, replies, world=world, case=case, name=f"newsdesk@{profile}")
    finally:
        world.close()


@pytest.mark.parametrize(
    ("replies", "case", "expected"),
    [
        pytest.param((SEARCH, SEEN), OPEN, {"CE12"}, id="a search by meaning"),
        pytest.param((COUNT, EIGHT), COUNTING, set(), id="a count"),
        pytest.param((LIST, SEEN), OPEN, set(), id="a list"),
        pytest.param((change(120), CHANGED), EDITING, set(), id="a change"),
        pytest.param((IDLE, IDLE), COUNTING, set(), id="the fallback"),
    ],
)
def test_what_the_letter_breaks(
    cosine: WorldTemplate, euclidean: WorldTemplate, replies: Sequence[Said], case: GoldenCase, expected: set[str]
) -> None:
    """The reference keeps every contract on the same replies; the letter breaks the order of a search, and nothing else."""
    reference = answered("reference", cosine, replies, case)
    letter = answered("seed_literal", euclidean, replies, case)

    assert ("", "") == (reference.trial.code, letter.trial.code)
    assert set() == broken_in(findings(case, reference))
    assert expected == broken_in(findings(case, letter))
    assert expected <= set(BROKEN_BY_THE_LETTER)


def test_the_finding_says_why(euclidean: WorldTemplate) -> None:
    """The finding names two neighbours that stand the wrong way round, with their distances."""
    letter = answered("seed_literal", euclidean, (SEARCH, SEEN), OPEN)
    found = [finding for finding in findings(OPEN, letter) if finding.contract == "CE12"]

    assert [True] == ["stands behind" in finding.because and "which is farther" in finding.because for finding in found]
    assert all(finding.witness for finding in found)
