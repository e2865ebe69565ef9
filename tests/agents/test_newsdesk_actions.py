"""The central reader of JSON actions: what models really write is read, and what is not an action is never run."""

from __future__ import annotations

import json
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent

ACTION = {"thought": "t", "action": "count_clusters", "action_input": {"prioridade": "IRRELEVANTE"}}
SENT = json.dumps(ACTION)
SQL = "Assim:\n\n```sql\nSELECT count(*) FROM clusters WHERE tag = '}';\n```\n\nFim {x}."


@pytest.fixture(scope="module")
def actions(desk: LoadedAgent, part: Any) -> ModuleType:
    """The module that reads actions."""
    module: ModuleType = part(desk, "actions")
    return module


def refused(actions: ModuleType, text: str, finish_reason: str = "stop") -> str:
    """The kind of what is wrong with *text*."""
    with pytest.raises(actions.MalformedReplyError) as caught:
        actions.read_action(text, finish_reason)
    assert caught.value.reason
    return str(caught.value.kind)


@pytest.mark.parametrize(
    "text",
    [
        SENT,
        f"```json\n{SENT}\n```",
        f"```JSON\n{json.dumps(ACTION, indent=2)}\n```\n",
        f"``` \n{SENT}\n```",
        f"Thought: vou contar [1].\nAction:\n{SENT}",
        f"Primeiro {{conto}} e {{depois}}. {SENT}",
        f'Exemplo {{"a": 1}} e então {SENT}',
        f"{{quebrado {SENT}",
        f"\ufeff{SENT}",
        SENT.replace("count_clusters", " count_clusters\\n"),
    ],
)
def test_an_action_is_found(actions: ModuleType, text: str) -> None:
    """Fences of any kind, prose, braces and other objects before the action do no harm."""
    action = actions.read_action(text)

    assert ("count_clusters", {"prioridade": "IRRELEVANTE"}) == (action.tool, action.args)
    assert "" == action.discarded


@pytest.mark.parametrize("escaped", [True, False])
def test_an_answer_with_a_fence_and_line_breaks_survives(actions: ModuleType, escaped: bool) -> None:
    """A code fence, braces and raw line breaks inside the answer are part of it."""
    text = json.dumps({"thought": "t", "action": "Final Answer", "action_input": SQL})
    action = actions.read_action(f"```json\n{text if escaped else text.replace(chr(92) + 'n', chr(10))}\n```")

    assert ("", SQL, "") == (action.tool, action.answer, action.discarded)


@pytest.mark.parametrize("name", ["Final Answer", "final answer", "FINAL_ANSWER", " Final  Answer "])
def test_the_answer_is_known_in_any_spelling(actions: ModuleType, name: str) -> None:
    """Case, blanks and underscores make no difference."""
    assert "Oi." == actions.read_action(json.dumps({"action": name, "action_input": "Oi."})).answer


def test_only_the_first_block_counts(actions: ModuleType) -> None:
    """An observation that the model invented, and a second action, are handed back as discarded text."""
    invented = (
        f'Observation: {{"count": 99}}\n```json\n{SENT.replace("count_clusters", "update_cluster_priority")}\n```'
    )
    action = actions.read_action(f"```json\n{SENT}\n```\n{invented}")

    assert "count_clusters" == action.tool
    assert invented == action.discarded


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ('{"action": "t"}', ""),
        ('Preciso contar.\n```json\n{"action": "t"}\n```', "Preciso contar."),
        ('Thought: Preciso contar.\n{"action": "t", "thought": 3}', "Preciso contar."),
        ('Prosa. {"action": "t", "thought": " No objeto. "}', "No objeto."),
    ],
)
def test_a_thought_stands_in_the_object_or_before_it(actions: ModuleType, text: str, thought: str) -> None:
    """The object's own thought wins; without one the prose before it is the thought."""
    assert thought == actions.read_action(text).thought


@pytest.mark.parametrize("given_input", ["", ', "action_input": null', ', "action_input": {}'])
def test_no_arguments_may_be_left_out(actions: ModuleType, given_input: str) -> None:
    """Null, nothing and an empty object all mean a call without arguments."""
    assert {} == actions.read_action(f'{{"action": "count_clusters"{given_input}}}').args


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("Não sei.", "no_json"),
        ("{quase} [isso]", "no_json"),
        ('{"tool": "count_clusters", "input": {}}', "no_action"),
        ('{"calls": [{"action": "count_clusters"}]}', "no_action"),
        ('{"action": null}', "no_action"),
        ('{"action": "None"}', "no_action"),
        ('{"action": ["count_clusters"]}', "no_action"),
        ('{"action": "count_clusters", "action_input": "hoje"}', "bad_input"),
        ('{"action": "count_clusters", "action_input": [120]}', "bad_input"),
        ('{"action": "Final Answer", "action_input": {"texto": "Oi."}}', "bad_input"),
        ('{"action": "Final Answer", "action_input": " "}', "bad_input"),
        ('{"action": "Final Answer"}', "bad_input"),
        ('{"action": "count_clusters", "final_answer": "8"}', "ambiguous"),
        (f"[{SENT}]", "list"),
        (f"```json\n[{SENT}, {SENT}]\n```", "list"),
        (f"[ {SENT}, ", "list"),
        (f'[{{"action": quebrado}}, {SENT}]', "list"),
        ('{"action": "count_clusters", "action_input": {},}', "broken_json"),
        ('{"action": "count_clusters", "action_input": {"tag": "\\ud800"}}', "broken_json"),
        ('{"action": "count_clusters", "action_input": {"limite": NaN}}', "broken_json"),
        ('{"action": "update", "action_input": {"action": "drop"},}', "broken_json"),
        ("{'action': 'update', 'action_input': {\"action\": \"drop\"}}", "broken_json"),
        ('{"action": "count_clusters", "action_in', "broken_json"),
        ('{"a":' * 20_000, "no_json"),
        ("[" * 20_000 + SENT, "broken_json"),
    ],
)
def test_what_is_no_action_is_told_apart(actions: ModuleType, text: str, kind: str) -> None:
    """Every malformation has a kind of its own; nothing is repaired, and nothing inside it is run instead."""
    assert kind == refused(actions, text)


def test_a_reply_cut_by_its_length_is_never_read(actions: ModuleType) -> None:
    """An object that happens to be whole may still not be the whole reply."""
    assert "truncated" == refused(actions, SENT, "length")


def test_an_endless_reply_is_read_quickly(actions: ModuleType) -> None:
    """Neither length nor a string that never ends makes reading slow."""
    assert "no_json" == refused(actions, '{"\\"' * 100_000)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_is_an_action_or_a_known_malformation(actions: ModuleType, text: str) -> None:
    """Nothing that a model writes raises anything else."""
    with suppress(actions.MalformedReplyError):
        action = actions.read_action(text)
        assert action.tool or action.answer


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    args=st.dictionaries(st.text(max_size=8), values, max_size=3),
    before=st.sampled_from(["", "Prosa.\n", "```json\n", "Action:\n", "{x} "]),
    after=st.sampled_from(["", "\n```", "\n```\nObservation: {}", "\nmais"]),
    ascii_only=st.booleans(),
)
def test_what_was_encoded_is_what_is_read(
    actions: ModuleType, args: dict[str, Any], before: str, after: str, ascii_only: bool
) -> None:
    """Arguments come out as they went in, whatever stands around the block."""
    sent = json.dumps({"thought": "t", "action": "busca", "action_input": args}, ensure_ascii=ascii_only)

    assert args == actions.read_action(f"{before}{sent}{after}").args
