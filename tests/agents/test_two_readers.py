"""Agents and contracts read verdicts and actions by rules of their own, and come to the same."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import load_agent
from harness.contracts.react_actions import first_block
from harness.contracts.verdicts import read_verdict

from .any_model import many

AGENTS = Path(__file__).parent.parent.parent / "agents"


def module(agent: str, name: str) -> Any:
    """A module of an agent's folder."""
    return importlib.import_module(f"{load_agent(AGENTS, agent).build.__module__}.{name}")


VERDICTS = module("deep_think", "verdicts")
ACTIONS = module("newsdesk", "actions")
PIECES = [
    "{", "}", "[", "]", '"', "\\", ": ", ",", "\n", "```", "```json\n", "true", "false", "null", "NaN", '"issues":[]',
    '"passed":true', '"passed":false', '{"severity":"minor"}', '"critical"', "VERDICT: PASS", "VERDICT: FAIL\n", "**", "yes",
    '"action":"b"', '{"action":"c"}', "Observation:", '"final_answer":1', '{"x":', "[1,", "\u2028", "\x00",
]  # fmt: skip
WHOLE = [
    '{"passed": true, "issues": []}', '{"passed": false, "issues": [{"severity": "gap", "where": "", "what": "x"}]}',
    '```json\n{"passed": true}\n```', "It holds.\nVERDICT: PASS", '{"passed": true, "issues": [{"severity": "minor"}]}',
    '{"thought": "t", "action": "count", "action_input": {"n": 1}}', '[{"action": "a"}]',
    '```json\n{"action": "Final Answer", "action_input": "8"}\n```', 'Thought: t\n{"action": "a"}\nObservation: {}',
]  # fmt: skip


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """A reply as it should be, with pieces put in and taken out at random places."""
    text = draw(st.sampled_from(WHOLE))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from([*PIECES, *WHOLE, ""])) + text[at + draw(st.integers(0, 5)) :]
    return text


@many
@given(spoiled())
def test_both_read_the_same_verdict(text: str) -> None:
    """Whatever a verifier writes, the loop books what the contract reads."""
    assert read_verdict(text) == VERDICTS.read_verdict(text).verdict


@many
@given(spoiled())
def test_both_read_the_same_action(text: str) -> None:
    """Where the executor finds an action, it is the one that the contract finds, with the same text behind it."""
    try:
        read = ACTIONS.read_action(text)
    except ACTIONS.MalformedReplyError:
        return
    block = first_block(text)

    assert block is not None
    assert bool(read.discarded) == bool(block.rest)
    if read.tool:
        assert (read.tool, read.args) == (block.action.strip(), block.given or {})
    else:
        assert block.is_final
        assert read.answer == block.given.strip()
