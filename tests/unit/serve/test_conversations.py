"""Conversations: who may go on with them, what is remembered, and what is forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.hosting import Turn
from harness.errors import UsageError
from harness.serve.conversations import IDLE_SECONDS, MOST_CHARACTERS, MOST_TURNS, Conversations


def say(conversations: Conversations, name: str, question: str, answer: str) -> None:
    """One question and its answer."""
    conversations.hold(name, "desk")
    conversations.release(name, question, answer)


def test_what_was_said_is_remembered():
    """In order, and for the next question."""
    conversations = Conversations()
    name = conversations.open("desk")
    say(conversations, name, "How many?", "Eight.")

    assert (Turn("user", "How many?"), Turn("assistant", "Eight.")) == conversations.hold(name, "desk")


def test_a_question_without_an_answer_is_not_remembered():
    """A run that was cancelled leaves the conversation as it was."""
    conversations = Conversations()
    name = conversations.open("desk")
    say(conversations, name, "How many?", "")

    assert () == conversations.turns(name, "desk")


def test_names_cannot_be_guessed():
    """Long, and never twice the same."""
    conversations = Conversations()
    names = {conversations.open("desk") for _ in range(50)}

    assert (50, True) == (len(names), all(len(name) >= 24 for name in names))


@pytest.mark.parametrize("owner", ["", "other"])
def test_only_the_owner_goes_on(owner):
    """Others are told that there is no such session, as for a name that never was."""
    conversations = Conversations()
    name = conversations.open("desk")
    with pytest.raises(UsageError, match="there is no such session") as refused:
        conversations.hold(name, owner)

    assert "no-such-session" == refused.value.code


def test_one_question_at_a_time():
    """The second is refused until the first is answered."""
    conversations = Conversations()
    name = conversations.open("desk")
    conversations.hold(name, "desk")
    with pytest.raises(UsageError, match="last question is not answered yet"):
        conversations.hold(name, "desk")
    conversations.release(name, "a", "b")
    conversations.hold(name, "desk")


def test_the_one_unused_longest_makes_room():
    """Not the oldest, and none that is waiting for an answer."""
    conversations = Conversations(most=3)
    waiting, used, unused = (conversations.open("desk") for _ in range(3))
    conversations.hold(waiting, "desk")
    conversations.turns(unused, "desk")
    conversations.turns(used, "desk")
    conversations.open("desk")

    assert () == conversations.turns(used, "desk")
    assert () == conversations.turns(waiting, "desk")
    with pytest.raises(UsageError):
        conversations.turns(unused, "desk")


def test_a_forgotten_conversation_takes_no_answer():
    """It was pushed out while its answer was on the way."""
    conversations = Conversations(most=1)
    name = conversations.open("desk")
    conversations.hold(name, "desk")
    conversations.open("desk")
    conversations.release(name, "a", "b")
    with pytest.raises(UsageError):
        conversations.turns(name, "desk")


def test_silence_ends_a_conversation():
    """After an hour it is gone; a look at it counts as use."""
    now = 0.0
    conversations = Conversations(clock=lambda: now)
    name = conversations.open("desk")
    now = IDLE_SECONDS - 1
    conversations.turns(name, "desk")
    now = 2 * IDLE_SECONDS - 2
    conversations.turns(name, "desk")
    now = 3 * IDLE_SECONDS
    with pytest.raises(UsageError):
        conversations.turns(name, "desk")


@given(st.lists(st.tuples(st.integers(1, 40_000), st.integers(1, 40_000)), max_size=30))
def test_what_is_remembered_is_bounded(sizes):
    """However long and however many: the last exchange is there, and no more than the bounds besides."""
    conversations = Conversations()
    name = conversations.open("desk")
    for asked, answered in sizes:
        say(conversations, name, "q" * asked, "a" * answered)
    turns = conversations.turns(name, "desk")

    assert len(turns) <= MOST_TURNS
    assert len(turns) <= 2 or sum(len(turn.text) for turn in turns) <= MOST_CHARACTERS
    assert [turn.role for turn in turns] == ["user", "assistant"] * (len(turns) // 2)
    if sizes:
        assert sizes[-1] == (len(turns[-2].text), len(turns[-1].text))
