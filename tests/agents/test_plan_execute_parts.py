"""The parts of plan and execute: reading replies, keeping the list, filling answers in."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.load import LoadedAgent

Part = Callable[[LoadedAgent, str], ModuleType]


@pytest.fixture(scope="session")
def replies(old: LoadedAgent, part: Part) -> ModuleType:
    """The module that reads replies."""
    return part(old, "replies")


@pytest.fixture(scope="session")
def todo(old: LoadedAgent, part: Part) -> ModuleType:
    """The module that keeps the list."""
    return part(old, "todo")


@pytest.fixture(scope="session")
def fill(old: LoadedAgent, part: Part) -> Callable[..., str]:
    """The function that fills answers in."""
    return part(old, "fill").fill


ACTION = {"thought": "t", "action": "read_doc", "args": {"doc_id": "alpha"}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ACTION),
        f"Ich denke nach.\n```json\n{json.dumps(ACTION, indent=2)}\n```\nFertig {{so}}.",
        f'Beispiel {{"a": 1}} und dann {json.dumps(ACTION)}',
        f"{{kaputt {json.dumps(ACTION)}",
        '{"thought": "t", "action": " read_doc\t", "args": {"doc_id": "alpha"}, "result": null}',
        f"{json.dumps(ACTION)}\n{json.dumps({**ACTION, 'action': 'zweite'})}",
    ],
)
def test_an_action_is_found(replies: ModuleType, text: str) -> None:
    """Text around it, fences, other objects and broken beginnings do no harm; the first action counts."""
    step = replies.read_step(text)

    assert ("read_doc", {"doc_id": "alpha"}) == (step.action, step.args)


def test_raw_newlines_and_fences_inside_strings(replies: ModuleType) -> None:
    """A result may hold what would end a regular expression early."""
    step = replies.read_step('{"action": "finish", "result": "```py\nprint({})\n``` }"}')

    assert "```py\nprint({})\n``` }" == step.result


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "kein JSON-Objekt"),
        ("Ich suche.", "kein JSON-Objekt"),
        ('{"action": "read_doc", "args": {"doc_id": ', "das JSON-Objekt ist fehlerhaft"),
        ('{"action": "read_doc",}', "das JSON-Objekt ist fehlerhaft"),
        ("{" * 30_000, "das JSON-Objekt ist fehlerhaft"),
        ('{"a": ' * 5_000, "das JSON-Objekt ist fehlerhaft"),
        ('{"tool": "read_doc"}', "das JSON-Objekt hat keinen Schlüssel action"),
        ('{"action": "x", "args": {"action": "y"},}', "das JSON-Objekt hat keinen Schlüssel action"),
        ('[{"tool": "x"}]', "das JSON-Objekt hat keinen Schlüssel action"),
        ('{"action": "x\\ud800"}', "das JSON-Objekt hat keinen Schlüssel action"),
        ('{"action": null}', "action ist kein Text"),
        ('{"action": ["a", "b"]}', "action ist kein Text"),
        ('{"action": "x", "args": "alpha"}', "args ist kein Objekt"),
        ('{"action": "x", "thought": {}}', "thought ist kein Text"),
        ('{"action": "finish", "result": " "}', "finish braucht einen Text result"),
        ('{"action": "fail"}', "fail braucht einen Text result"),
    ],
)
def test_what_cannot_be_read_is_said(replies: ModuleType, text: str, reason: str) -> None:
    """Nothing is repaired and nothing is guessed: the reason goes back to the model."""
    with pytest.raises(replies.UnreadableError) as caught:
        replies.read_step(text)

    assert reason == str(caught.value)


@pytest.mark.parametrize(
    ("steps", "reason"),
    [([], "steps ist leer"), ("a", "steps ist keine Liste von Texten"), (["a", 1], "steps ist keine Liste von Texten")],
)
def test_plans_that_cannot_be_read(replies: ModuleType, steps: Any, reason: str) -> None:
    """A plan is a list of texts, and has at least one."""
    with pytest.raises(replies.UnreadableError) as caught:
        replies.read_plan(json.dumps({"steps": steps}))

    assert reason == str(caught.value)


def test_a_replan_may_leave_nothing(replies: ModuleType) -> None:
    """An empty list is an answer to the question what is left to do."""
    assert () == replies.read_replan('{"steps": []}').steps
    assert ("a", "b") == replies.read_replan('{"steps": [{"task": "a"}, "b"]}').steps
    assert ("a b",) == replies.read_replan('{"steps": ["a\\n b"]}').steps


def test_fast_replies(replies: ModuleType) -> None:
    """A fast reply needs an answer; words that are no object are refused."""
    with pytest.raises(replies.UnreadableError, match="answer ist leer"):
        replies.read_fast('{"action": "none", "answer": ""}')
    with pytest.raises(replies.UnreadableError, match="words ist kein Objekt"):
        replies.read_fast('{"action": "none", "answer": "a", "words": "rain=Regen"}')

    assert "391" == replies.read_fast('{"action": "none", "answer": 391}').answer


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(replies: ModuleType, text: str) -> None:
    """Whatever a model writes is read or refused, and never anything else."""
    for read in (replies.read_step, replies.read_plan, replies.read_replan, replies.read_fast):
        with suppress(replies.UnreadableError):
            read(text)


@given(st.dictionaries(st.text(max_size=5), st.recursive(st.none() | st.integers() | st.text(max_size=9), st.lists)))
def test_every_action_is_read_from_any_prose(replies: ModuleType, args: dict[str, Any]) -> None:
    """Arguments come out of prose and fences as they went in."""
    text = f"Also:\n```json\n{json.dumps({'action': 'x', 'args': args}, indent=1)}\n```"

    assert args == replies.read_step(text).args


MOVES = {
    ("pending", "running"),
    ("pending", "dropped"),
    ("running", "done"),
    ("running", "failed"),
    ("running", "dropped"),
}


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["pending", "running", "done", "failed", "dropped"]))))
def test_items_move_forward_only(todo: ModuleType, moves: list[tuple[int, str]]) -> None:
    """Only the known moves are made, one item runs at a time, and a refused move changes nothing."""
    items = todo.TodoList()
    items.add(["a", "b", "c"])
    for place, status in moves:
        item = items.items[place]
        before, running = item.status, any(other.status == "running" for other in items.items)
        allowed = (before, status) in MOVES and not (status == "running" and running)
        try:
            items.move(item, status)
        except ValueError:
            assert (False, before) == (allowed, item.status)
        else:
            assert (True, status) == (allowed, item.status)


def test_the_list_as_the_model_sees_it(todo: ModuleType) -> None:
    """Each item with its box and how it ended."""
    items = todo.TodoList()
    items.add(["a", "b", "c", "d"])
    items.move(items.items[0], "running")
    items.move(items.items[0], "done", "eins")
    items.move(items.items[1], "running")
    items.move(items.items[1], "failed", "weg")
    items.move(items.items[2], "running")

    assert "[x] 1. a: eins\n[!] 2. b: weg\n[>] 3. c\n[ ] 4. d" == items.render()
    assert items.drop_open()
    assert not items.drop_open()
    assert "[x] 1. a: eins\n[!] 2. b: weg\n[-] 3. c\n[-] 4. d" == items.render()


@pytest.mark.parametrize(
    ("template", "value", "words", "filled"),
    [
        (
            "{temperature_c} °C, {condition}",
            {"temperature_c": 7.0, "condition": "rain"},
            {"rain": "Regen"},
            "7 °C, Regen",
        ),
        ("= {value}", {"value": 2.5}, {}, "= 2.5"),
        ("{result}", "ok", {}, "ok"),
        ("{result}", {"a": 1, "b": [1, True, None]}, {}, "a: 1, b: 1; true; null"),
        ("{count}", 8, {}, "8"),
        ("{missing}", {"a": "x"}, {}, "a: x"),
        ("{a.b} {} {{a}}", {"a": 1}, {}, "{a.b} {} {1}"),
        ("{__class__}", {"a": 1}, {}, "a: 1"),
        ("fertig", {"a": 1}, {}, "fertig"),
    ],
)
def test_filling_in(fill: Callable[..., str], template: str, value: Any, words: dict[str, str], filled: str) -> None:
    """Fields, the whole result, words in the answer's language; nothing else is looked up."""
    assert filled == fill(template, value, words)
