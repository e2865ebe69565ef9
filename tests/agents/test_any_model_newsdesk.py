"""The news desk under models that say anything: every run ends with an answer, and keeps each structural contract."""

from __future__ import annotations

import asyncio
import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent, load_agent
from harness.agents.run_trial import TrialSetup, run_trial
from harness.cassettes.clock import VirtualClock
from harness.cassettes.fingerprint import Fingerprinter
from harness.contracts.judge import judge
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.records.case import Fault, GoldenCase
from harness.records.messages import EmbeddingReply, EmbeddingRequest, ModelRequest
from harness.records.run import Cell
from harness.testing.embeddings import hash_vector
from harness.testing.fakes import Ran, Said, fails, says
from harness.testing.mutants import held
from harness.testing.ports import ListPort
from harness.worlds import find_world

from .any_model import SHARES, many

ROOT = Path(__file__).parent.parent.parent
NEWSROOM = find_world(ROOT / "goldensets", "newsroom")
MOST = 4
CALLS: list[tuple[str, Any]] = [
    ("count_clusters", {"prioridade": "IRRELEVANTE"}),
    ("count_clusters", {"prioridade": "P1"}),
    ("query_clusters", {"prioridade": "P1_CRITICO"}),
    ("query_clusters", {"limite": 1}),
    ("query_clusters", {"limite": 200}),
    ("query_clusters", {"palavras_chave": ["energia"], "data": "2026-03-09"}),
    ("query_clusters", {"limite": 0}),
    ("query_clusters", ["P1"]),
    ("semantic_search_clusters", {"texto_busca": "fusões no setor de energia", "limite": 3}),
    ("semantic_search_clusters", {"texto_busca": "!"}),
    ("get_cluster_details", {"cluster_id": 103}),
    ("get_cluster_details", {"cluster_id": 999}),
    ("get_weather", {"city": "Berlin"}),
    ("calculate", {"expression": "1/0"}),
    ("apaga_tudo", {}),
    ("None", None),
]
WRITES: list[tuple[str, Any]] = [
    ("update_cluster_priority", {"cluster_id": 120, "nova_prioridade": "P2_ESTRATEGICO"}),
    ("update_cluster_priority", {"cluster_id": 121, "nova_prioridade": "P1_CRITICO"}),
    ("update_cluster_priority", {"cluster_id": [120, 121], "nova_prioridade": "P1_CRITICO"}),
    ("update_cluster_priority", {"cluster_id": "120", "nova_prioridade": "P1"}),
    ("update_cluster_priority", {"cluster_id": 999, "nova_prioridade": "IRRELEVANTE"}),
    ("update_cluster_priority", {"cluster_id": True, "nova_prioridade": "urgente"}),
    ("update_current_feeling", {"username": "vera", "feeling": "Happy"}),
]
ANSWERS = st.sampled_from(
    [
        "Hoje há **8** notícias irrelevantes.",
        "```sql\nSELECT 1\n```",
        "A Solaris compra a Ventus.\n\n### Fontes\n\n1. cluster 103",
        "O cluster 103 importa.",
        "Usei query_clusters para isso.",
        '{"resposta": 8}',
        "```sql\nSELECT 1",
        "Observation: 8",
        "",
        "   ",
        "x" * 4000,
        "Linha\u2028nova",
    ]
)
THOUGHTS = st.sampled_from(["Vou contar.", "", "Preciso ver { o banco.", "a\nb"])


def block(thought: str, action: str, given: Any) -> str:
    """An action as a model writes it."""
    return json.dumps({"thought": thought, "action": action, "action_input": given}, ensure_ascii=False)


TOOLED = st.builds(lambda thought, asked: block(thought, *asked), THOUGHTS, st.sampled_from(CALLS + WRITES))
FINALS = st.builds(lambda thought, text: block(thought, "Final Answer", text), THOUGHTS, ANSWERS)
BLOCKS = st.integers(0, 4).flatmap(lambda kind: FINALS if kind == 4 else TOOLED)
TEXTS = st.integers(0, 11).flatmap(
    lambda kind: {
        0: BLOCKS.map(lambda one: f"```json\n{one}\n```"),
        1: BLOCKS.map(lambda one: f"Pensando…\n```JSON\n{one}\n```\nObservation: {{}}"),
        2: st.tuples(BLOCKS, BLOCKS).map("\n".join),
        3: st.tuples(BLOCKS, BLOCKS).map(lambda two: f"[{', '.join(two)}]"),
        4: BLOCKS.map(lambda one: one[:-4]),
        5: st.sampled_from(
            ["", "  ", "Não sei.", "{" * 3000, '{"action": 7}', '{"thought": "só isso"}', "[1, 2", "x" * 70_000]
        ),
        6: BLOCKS.map(lambda one: one.replace('"action_input"', '"final_answer": "8", "action_input"')),
    }.get(kind, BLOCKS)
)
REPLIES: st.SearchStrategy[Said] = st.integers(0, 9).flatmap(
    lambda kind: (
        st.builds(fails, st.sampled_from(["server_error", "timeout", "connection", "authentication", "broken_stream"]))
        if kind == 9
        else TEXTS.map(lambda text: says(text, finish_reason="length"))
        if kind == 8
        else TEXTS.map(says)
    )
)
QUESTIONS = st.sampled_from(
    [
        {"question": "Quantas notícias irrelevantes temos hoje?"},
        {"question": "O que há de relevante sobre fusões no setor de energia?"},
        {"question": "E ontem?", "history": ({"role": "user", "text": "Quantas notícias P1 temos hoje?"},)},
        {"question": "Which P1 items are about the US?", "lang": "en"},
        {"question": "Mude o cluster 120 para P2.", "intent": "edit"},
        {"question": "Mude o cluster 120 para P2.", "intent": "edit", "method": "GET"},
        {"question": "Mude os clusters 120, 121 e 122 para P1.", "intent": "edit"},
        {"question": "Estou feliz hoje!", "intent": "edit"},
    ]
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "react": st.sampled_from(["1", "1", True, "0", ""]),
        "max_iterations": st.integers(1, 6),
        "stream": st.booleans(),
    },
)
FAULTS = st.sampled_from(
    [
        (),
        (),
        (),
        (Fault(kind="crash", tool="count_clusters"),),
        (Fault(kind="timeout", tool="update_cluster_priority"),),
    ]
)
OF_THE_MODEL = frozenset({"CX8", "CX15"})
"""There is no recording, and an answer may be poor Markdown, as long as it is an answer."""


class RoundAndRound(ListPort):
    """Answers from a list over and over, and embeds by the text's digest."""

    def __init__(self, replies: list[Said]) -> None:
        super().__init__(())
        self._replies = cycle(replies)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        self._left.append(next(self._replies))
        return super().chat_sync(request, call)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        self.embedded.append(request)
        reply = EmbeddingReply(tuple(hash_vector(text) for text in request.texts), request.model)
        return AnsweredEmbedding(reply=reply, ms=5, replayed=True)


@pytest.fixture(scope="session")
def newsdesk() -> LoadedAgent:
    """The design of JSON actions."""
    return load_agent(ROOT / "agents", "newsdesk")


@many
@given(replies=st.lists(REPLIES, min_size=1, max_size=6), asked=QUESTIONS, options=OPTIONS, faults=FAULTS)
def test_newsdesk_under_any_model(
    newsdesk: LoadedAgent,
    replies: list[Said],
    asked: dict[str, Any],
    options: dict[str, Any],
    faults: tuple[Fault, ...],
) -> None:
    """Random actions, errors and nonsense, with tools that crash: at most four messages, one write, and an answer."""
    case = GoldenCase(**{"id": "case", "lang": "pt", "class_": "complex", "faults": faults, **asked})
    port = RoundAndRound(replies)
    setup = TrialSetup(
        cell=Cell(newsdesk.name, "scripted", "tests", "case"), case=case, agent=newsdesk, world=NEWSROOM.open(),
        port=port, clock=VirtualClock(NEWSROOM.now), fingerprints=Fingerprinter(), tape=port,
        default_model="gpt-4.1-mini", options=options,
    )  # fmt: skip
    ran = Ran(asyncio.run(run_trial(setup)), port.requests, setup.cell)
    SHARES.count(ran)
    structural = [one for one in held(newsdesk.name) if one.kind == "S" and one.id not in OF_THE_MODEL]
    broken = [
        f"{f.contract}: {f.because}"
        for f in judge(case, ran.judged(), structural)
        if f.state not in ("kept", "vacuous")
    ]

    assert [] == broken
    assert ran.trial.code in ("", "fault-unused"), ran.trial.because
    assert ("completed", "") == ran.ending
    assert len(ran.requests) <= MOST
