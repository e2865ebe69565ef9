"""Worlds that conversations keep: what one question changed, the next one in the same conversation finds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.agents.run_trial import diff_since
from harness.records.messages import Json
from harness.records.trace import Effect
from harness.worlds.world import World, WorldTemplate

MOST_KEPT = 16
"""Worlds that are kept while nobody asks; each may hold a connection to a database."""


class TurnWorld:
    """*world* for one question: its changes count from here, and the end of the run does not close it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now = world.now
        self.user = world.user
        self._before = world.diff()

    @property
    def embed(self) -> Any:
        """What tools that search by meaning embed with; each run sets its own."""
        return self.world.embed

    @embed.setter
    def embed(self, embed: Any) -> None:
        self.world.embed = embed

    @property
    def tools(self) -> Sequence[Callable[..., Any]]:
        return self.world.tools

    @property
    def oracles(self) -> Mapping[str, Callable[..., Json]]:
        return self.world.oracles

    def store_digest(self) -> str:
        return self.world.store_digest()

    def diff(self) -> tuple[Effect, ...]:
        return diff_since(self._before, self.world.diff())

    def close(self) -> None:
        """Do nothing: the conversation goes on."""


class KeptWorlds:
    """The worlds of conversations, by conversation and name; at most *most* while they are not in use."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], World] = OrderedDict()

    def take(self, session: str, template: WorldTemplate) -> TurnWorld:
        """The conversation's world, for one question; a fresh one where there is none, or none any more."""
        kept = self._kept.pop((session, template.name), None)
        return TurnWorld(kept or template.open())

    def give_back(self, session: str, turn: TurnWorld) -> None:
        """Keep the world for the next question; the one that waited longest makes room."""
        self._kept[session, turn.world.name] = turn.world
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)[1].close()

    def close(self) -> None:
        """Close every world that is not in use."""
        while self._kept:
            self._kept.popitem()[1].close()
