"""The news desk under models that say anything: it always answers, writes at most once, and keeps its contracts."""

from __future__ import annotations

import json
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent
from harness.contracts.catalogue import builtin
from harness.contracts.judge import judge
from harness.records.case import GoldenCase, Limits
from harness.records.faults import ErrorKind
from harness.records.react_lines import react_lines
from harness.testing.fakes import Said, fails, run_agent, says
from harness.worlds import find_world

GOLDENSETS = Path(__file__).parents[2] / "goldensets"

FAILURES: list[ErrorKind] = ["connection", "server_error", "bad_request"]
TOOLS = [
    "update_cluster_priority",
    "update_current_feeling",
    "query_clusters",
    "count_clusters",
    "search_docs",
    "get_cluster_details",
    "delete_everything",
    "none",
    "Final Answer",
]
ACTIONS = st.one_of(
    st.fixed_dictionaries(
        {
            "action": st.sampled_from(
                TOOLS,
            ),
            "action_input": st.sampled_from(
                [
                    {"cluster_id": 120, "nova_prioridade": "P2_ESTRATEGICO"},
                    {"cluster_id": 121, "nova_prioridade": "P1_CRITICO"},
                    {"cluster_id": [120, 121], "nova_prioridade": "P1_CRITICO"},
                    {"cluster_id": 120, "nova_prioridade": "urgente"},
                    {"cluster_id": 102},
                    {"username": "vera", "feeling": "Happy"},
                    {"prioridade": "P1_CRITICO"},
                    {"query": "Gamma"},
                    {},
                    None,
                    "Pronto.",
                    "Não encontrei nada.",
                    "Ver o cluster 102.",
                    "```\naberto",
                    '{"a": 1}',
                ]
            ),
        },
        optional={"thought": st.sampled_from(["", "hm", 3])},
    ),
    st.fixed_dictionaries({"tool": st.just("count_clusters")}),
)
REPLIES: st.SearchStrategy[Said] = st.one_of(
    ACTIONS.map(lambda found: says(json.dumps(found))),
    ACTIONS.map(lambda found: says(f"Thought: vejamos\n```json\n{json.dumps(found)}\n```\nObservation: 8")),
    ACTIONS.map(lambda found: says(json.dumps([found]))),
    ACTIONS.map(lambda found: says(json.dumps(found)[:-4])),
    ACTIONS.map(lambda found: says(json.dumps(found), finish_reason="length")),
    st.sampled_from(["", "Não sei.", "{}", "["]).map(says),
    st.sampled_from(FAILURES).map(fails),
)
QUESTIONS = (
    "Quantas notícias irrelevantes temos hoje?",
    "Mude a prioridade do cluster 120 para P2.",
    "Mude os clusters 120 e 121 para P1.",
    "I feel happy today!",
    "Wie ist das Wetter?",
)


@pytest.mark.parametrize("method", ["POST", "GET"])
@given(question=st.sampled_from(QUESTIONS), replies=st.lists(REPLIES, min_size=1, max_size=5))
def test_any_model(desk: LoadedAgent, method: Any, question: str, replies: list[Said]) -> None:
    """Every run completes with one answer in at most four messages, and no structural contract is broken."""
    intent: Any = "edit" if "Mude" in question or "feel" in question else "read"
    limits = Limits(llm_calls=4, writes=1)
    case = GoldenCase(id="case", question=question, method=method, intent=intent, class_="complex", limits=limits)
    world: Any = find_world(GOLDENSETS, "newsroom").open()
    ran = run_agent(desk, islice(cycle(replies), 5), world=world, case=case)
    held = [
        contract
        for contract in builtin().values()
        if contract.kind == "S"
        and contract.applies_to(desk.name)
        and contract.id != "CX8"
        and not contract.needs_options
    ]
    broken = [
        f"{f.contract}: {f.because}" for f in judge(case, ran.judged(), held) if f.state not in ("kept", "vacuous")
    ]
    changed = ran.trace.events[-1].data.store_diff
    lines = [json.loads(line)["type"] for line in react_lines(ran.trace)]

    assert [] == broken
    assert ("completed", "", "") == (*ran.ending, ran.trial.code)
    assert len(ran.requests) <= 4
    assert "final_answer" == lines[-1]
    if method == "GET" or "clusters" in question or "?" in question:
        assert () == changed
    elif "120" in question:
        assert {"120"} >= {change.key for change in changed}
