"""Conversations in memory: what was said before, for follow-up questions. Bounded in every direction; nothing is kept."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.agents.hosting import Turn
from harness.errors import UsageError

MOST_SESSIONS = 256
MOST_TURNS = 40
"""Messages of a conversation that are remembered, questions and answers both."""
MOST_CHARACTERS = 60_000
"""Characters of a conversation that are remembered."""
IDLE_SECONDS = 3600.0
"""A conversation in which nothing was said for so long is forgotten."""


@dataclass(slots=True)
class _Conversation:
    owner: str
    touched: float
    turns: list[Turn] = field(default_factory=list)
    busy: bool = False


class Conversations:
    """
    Conversations by name, the one that was used last kept longest.

    Args:
        most: Conversations at once, at least 1.
        clock: Seconds that only grow.
    """

    def __init__(self, most: int = MOST_SESSIONS, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._by_name: dict[str, _Conversation] = {}

    def open(self, owner: str) -> str:
        """Begin a conversation of *owner*, in place of the one unused longest where there are too many."""
        self._forget_idle()
        while len(self._by_name) >= self._most:
            idle = [name for name, each in self._by_name.items() if not each.busy]
            del self._by_name[(idle or list(self._by_name))[0]]
        name = secrets.token_urlsafe(18)
        self._by_name[name] = _Conversation(owner, self._clock())
        return name

    def turns(self, name: str, owner: str) -> tuple[Turn, ...]:
        """
        What was said, oldest first.

        Raises:
            UsageError: *owner* has no such conversation.
        """
        return tuple(self._find(name, owner).turns)

    def hold(self, name: str, owner: str) -> tuple[Turn, ...]:
        """
        Begin a question in a conversation; what was said before. `release` ends it.

        Raises:
            UsageError: *owner* has no such conversation, or another question in it is not answered yet.
        """
        conversation = self._find(name, owner)
        if conversation.busy:
            raise UsageError(
                "session-busy",
                "the session's last question is not answered yet",
                hint="wait for the answer, or open another session",
            )
        conversation.busy = True
        return tuple(conversation.turns)

    def release(self, name: str, question: str, answer: str) -> None:
        """End a question; both sides are remembered where there was an *answer*."""
        conversation = self._by_name.get(name)
        if conversation is None:
            return
        conversation.busy = False
        if not answer:
            return
        turns = conversation.turns
        turns += [Turn("user", question), Turn("assistant", answer)]
        while len(turns) > MOST_TURNS or (len(turns) > 2 and sum(len(turn.text) for turn in turns) > MOST_CHARACTERS):
            del turns[:2]

    def _find(self, name: str, owner: str) -> _Conversation:
        self._forget_idle()
        found = self._by_name.get(name)
        if found is None or found.owner != owner:
            raise UsageError(
                "no-such-session",
                "there is no such session, or it was forgotten",
                hint="open a session and go on there",
            )
        found.touched = self._clock()
        self._by_name[name] = self._by_name.pop(name)
        return found

    def _forget_idle(self) -> None:
        before = self._clock() - IDLE_SECONDS
        for name in [name for name, each in self._by_name.items() if each.touched < before and not each.busy]:
            del self._by_name[name]
