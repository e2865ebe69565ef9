"""
The Guardian's fifteen tools on spaces of their own: one SQLite file and one folder of files a user.

The rows that trials start with are made once a process, in a temporary folder; each trial that touches them works on a
copy of that folder. A dump reads everything below it, whether or not a tool may touch it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.modules import load_module
from harness.records.messages import Json
from harness.worlds import World, WorldTemplate

Dump = dict[str, dict[Json, dict[str, Json]]]
_MEMORY = Path("/dev/shm")  # noqa: S108 -- a folder of our own is made in it
"""A file system in memory, where there is one: folders on a disk cost milliseconds each."""
_TOOLS = Path(__file__).parents[3] / "agents" / "two_phase" / "tools.py"


def build(world: World) -> Sequence[Callable[..., Any]]:
    """The tools of *world*, in the order in which they are offered."""
    tools = _guardian().GuardianTools(
        lambda: world.store.spaces,
        world.user,
        today=lambda: world.today,
        may_delete=bool(world.settings["may_delete"]),
    )
    belt: Sequence[Callable[..., Any]] = tools.belt()
    return belt


def backend(template: WorldTemplate) -> SpacesBackend:
    """The spaces as every trial finds them."""
    return SpacesBackend(template.settings["spaces"], template.settings["beside"])


class SpacesBackend:
    """A folder of spaces, filled once; `harness.worlds.backend.Backend`."""

    def __init__(self, spaces: Mapping[str, Mapping[str, Json]], beside: Mapping[str, str]) -> None:
        import tempfile

        memory = str(_MEMORY) if os.access(_MEMORY, os.W_OK | os.X_OK) else None
        self._folder = tempfile.TemporaryDirectory(prefix="guardian-", dir=memory)
        self._start = Path(self._folder.name) / "start"
        filled = _guardian().Spaces(self._start, durable=False)
        for user, content in spaces.items():
            _fill(filled.space(user), content)
        for name, text in beside.items():
            (self._start / name).write_text(text, encoding="utf-8")
        self._dump: Dump = filled.dump()
        filled.close()

    def dump(self) -> Dump:
        return self._dump

    def open(self) -> TrialSpaces:
        """A copy for one trial."""
        import shutil
        import tempfile

        root = Path(tempfile.mkdtemp(prefix="trial-", dir=self._folder.name))
        shutil.copytree(self._start, root, symlinks=True, dirs_exist_ok=True)
        return TrialSpaces(root)

    def close(self) -> None:
        self._folder.cleanup()


class TrialSpaces:
    """The spaces of one trial; `harness.worlds.backend.TrialStore`."""

    def __init__(self, root: Path) -> None:
        self.spaces: Any = _guardian().Spaces(root, durable=False)

    def dump(self) -> Dump:
        rows: Dump = self.spaces.dump()
        return rows

    def close(self) -> None:
        import shutil

        self.spaces.close()
        shutil.rmtree(self.spaces.root)


def _guardian() -> ModuleType:
    """The design's own module of tools, which any program may use."""
    return load_module(_TOOLS, kind="design", code="bad-world", package=True)


def _fill(space: Any, content: Mapping[str, Json]) -> None:
    space.store.set_fields(content.get("profile", {}))
    for entry in content.get("feelings", ()):
        space.store.add_feeling(*entry)
    for entry in content.get("diary", ()):
        space.store.add_diary_entry(*entry)
    for path, text in content.get("files", {}).items():
        space.files.write(path, text if isinstance(text, str) else f"{text['line']}\n" * text["times"])
