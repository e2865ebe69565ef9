"""What the mutants of the two-phase design stand on: the design, its world, and worlds whose tools are wrong."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from harness.agents.load import load_agent
from harness.records.case import GoldenCase
from harness.records.messages import ModelReply
from harness.records.tool import ToolAnswer, tool
from harness.testing.fakes import says
from harness.worlds import find_world

from .ground import AGENTS

TWO_PHASE = load_agent(AGENTS, "two_phase")
LITERAL = load_agent(AGENTS, "two_phase@seed_literal")
two_phase: Any = sys.modules[TWO_PHASE.build.__module__]
tools: Any = importlib.import_module(f"{TWO_PHASE.build.__module__}.tools")
files: Any = importlib.import_module(f"{TWO_PHASE.build.__module__}.files")
_WORLD = find_world(AGENTS.parent / "goldensets", "guardian")

HAPPY = GoldenCase(id="case", question="Я сегодня счастлива!", lang="ru")
GREETING = GoldenCase(id="case", question="Привет, как дела?", lang="ru", writes=0)
TALK = GoldenCase(id="case", turns=("Я сегодня счастлива!", "А что я сказала до этого?"), lang="ru")
GLAD = says("Как я рада за тебя! Пусть так и будет.")


def thinks(*code: str, text: str = "Она говорит о себе.") -> ModelReply:
    """A thought with a block for each piece of *code*."""
    return says("\n\n".join([text, *(f"```tool_code\n{one}\n```" for one in code)]))


NOTES = thinks('update_current_feeling("vera", "Happy")')


def guardian() -> Any:
    """The Guardian's world for one trial."""
    return _WORLD.open()


def with_tools(belt: type[Any]) -> Callable[[], Any]:
    """The Guardian's world with the tools of *belt* in place of its own."""

    def opened() -> Any:
        world = guardian()
        made = belt(lambda: world.store.spaces, world.user, today=lambda: world.today)
        world.tools = made.belt()
        return world

    return opened


class ServesAnybody(tools.GuardianTools):
    """Works for whatever user a call names."""

    def _store_of(self, username: str) -> Any:
        return self._spaces().space(username).store


class Boasts(tools.GuardianTools):
    """Says that it updated, whatever the store did."""

    @tool(effect="write", ms=70)
    def update_current_feeling(self, username: str, feeling: str, context: str = "") -> ToolAnswer:
        """Store how the user feels now."""
        return ToolAnswer(value=f"Updated feeling to '{feeling}' for {username}")


class Trusting(files.FileArea):
    """Believes every path."""

    def _inside(self, path: str) -> Any:
        return (self._root / path).resolve()


class ByPrefix(files.FileArea):
    """Takes whatever begins like its folder for inside."""

    def _inside(self, path: str) -> Any:
        resolved = (self._root / path).resolve()
        if not str(resolved).startswith(str(self._root)):
            raise tools.ToolError("denied", f"{path} is outside of the file area")
        return resolved


class _OtherArea(tools.GuardianTools):
    """The tools over another kind of file area."""

    area: type[Any] = files.FileArea

    @property
    def _files(self) -> Any:
        folder = self._spaces().root / self._user
        return self.area(folder / "files", folder / "backups", user=self._user)


class ReadsAnything(_OtherArea):
    """Reads whatever a path leads to."""

    area = Trusting


class ReadsNeighbours(_OtherArea):
    """Reads folders whose names begin like its own."""

    area = ByPrefix

    @property
    def _files(self) -> Any:
        beside = self._spaces().root / self._user / "files-old" / "diary.txt"
        beside.parent.mkdir(exist_ok=True)
        beside.write_text("Nobody is to read this.\n", encoding="utf-8")
        return super()._files
