"""The lock of a trial: digests of everything that its verdict follows from, so that a change of it has a named cause."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from harness import __version__
from harness.config import Config
from harness.records.case import GoldenCase
from harness.records.digest import digest, digest_bytes
from harness.records.run import Cell, Lock, Trial
from harness.records.trace import OfferedTool
from harness.trials import SCRIPTED, Project


class Locks:
    """Makes the locks of one run's trials; what trials share is read once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._contracts = _contracts(project.config)
        self._cases: dict[tuple[str, str, str, str], Lock] = {}
        self._belts: dict[tuple[tuple[str, str, bool], ...], str] = {}
        self._worlds: dict[str, str] = {}

    def of(self, trial: Trial, case: GoldenCase) -> Lock:
        """The lock of *trial*; the tools that it was offered are known once its agent began."""
        lock = self.before(trial.cell, case)
        if not trial.traces:
            return lock
        return msgspec.structs.replace(lock, tool_schema=self._belt(trial.traces[0].events[0].data.tools))

    def before(self, cell: Cell, case: GoldenCase) -> Lock:
        """The lock of *cell* before it ran: all but the tools that it is offered."""
        key = (cell.agent, cell.model, cell.set, case.id)
        if key not in self._cases:
            self._cases[key] = self._of_case(cell, case)
        return self._cases[key]

    def _of_case(self, cell: Cell, case: GoldenCase) -> Lock:
        project = self._project
        agent = project.agent(cell.agent)
        declared = project.model(cell.model)
        asked = (case.model or agent.default_model) if cell.model == SCRIPTED else cell.model
        stated = {key: value for key, value in msgspec.to_builtins(case).items() if key not in {"at", "lines", "notes"}}
        return Lock(
            golden=digest(stated),
            prompt=agent.prompt_digest,
            model=digest([asked, declared]),
            world=self._world(case.world or project.golden_set(cell.set).world or "empty"),
            code=agent.logic_digest,
            contracts=self._contracts,
        )

    def _world(self, name: str) -> str:
        if name not in self._worlds:
            world = self._project.world_named(name)
            self._worlds[name] = digest([world.store_digest, _code(world.folder) if world.folder else ""])
        return self._worlds[name]

    def _belt(self, tools: tuple[OfferedTool, ...]) -> str:
        """The digest of *tools*; trials of one design are offered the same ones."""
        key = tuple([(tool.name, tool.schema_digest, tool.writes) for tool in tools])
        if key not in self._belts:
            self._belts[key] = digest(tools)
        return self._belts[key]


def _contracts(config: Config) -> str:
    """The project's own contracts, and the version that brings the built-in ones."""
    files = [digest_bytes((config.root / path).read_bytes()) for path in config.contract_modules]
    return digest([__version__, files])


@cache
def _code(folder: Path) -> str:
    """The Python files of a world."""
    return digest([(path.name, digest_bytes(path.read_bytes())) for path in sorted(folder.glob("*.py"))])
