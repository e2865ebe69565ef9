"""
The lock of a trial: digests of everything that its verdict follows from, so that a change of it has a named cause.

A verdict follows from nothing else, so trials whose lock is the accepted one need not run again: `harness.affected`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

import msgspec

from harness import __version__
from harness.agents.load import LoadedAgent
from harness.cassettes.paths import cassette_name
from harness.config import Config, ModelConfig
from harness.reach import Reach
from harness.records.case import GoldenCase, ImageContent
from harness.records.digest import digest, digest_bytes
from harness.records.run import Cell, Lock, Trial
from harness.records.trace import OfferedTool
from harness.trials import SCRIPTED, Project
from harness.worlds.world import WorldTemplate

JUDGE = "_judge"
"""The agent under whose name the traffic of judges is recorded."""


class Locks:
    """Makes the locks of one run's trials; what trials share is read once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._reach = Reach(project.config)
        self._contracts = _contracts(project.config, self._reach)
        self._judges = _judges(project.config)
        self._cases: dict[tuple[str, str, str, str], Lock] = {}
        self._belts: dict[tuple[tuple[str, str, bool], ...], str] = {}
        self._code: dict[tuple[str, str], tuple[str, str]] = {}

    def of(self, trial: Trial, case: GoldenCase) -> Lock:
        """The lock of *trial*; the tools that it was offered are known once its agent began."""
        belt = self._belt(trial.traces[0].events[0].data.tools) if trial.traces else ""
        recording = self._judged(trial.cell, trial.recording)
        return msgspec.structs.replace(self._shared(trial.cell, case), cassette=recording, tool_schema=belt)

    def before(self, cell: Cell, case: GoldenCase) -> Lock:
        """The lock of *cell* before it ran: all but the tools that it is offered, which follow from the rest."""
        path = Path(self._project.cassette_path(cell))
        recording = digest_bytes(path.read_bytes()) if path.is_file() else ""
        return msgspec.structs.replace(self._shared(cell, case), cassette=self._judged(cell, recording))

    def _shared(self, cell: Cell, case: GoldenCase) -> Lock:
        """What the trials of a case share."""
        key = (cell.agent, cell.model, cell.set, case.id)
        if key not in self._cases:
            self._cases[key] = self._of_case(cell, case)
        return self._cases[key]

    def _of_case(self, cell: Cell, case: GoldenCase) -> Lock:
        project = self._project
        agent = project.agent(cell.agent)
        declared = project.model(cell.model)
        asked = (case.model or agent.default_model) if cell.model == SCRIPTED else cell.model
        world, code = self._world_and_code(case.world or project.golden_set(cell.set).world or "empty", agent)
        return Lock(
            golden=self._golden(case),
            prompt=agent.prompt_digest,
            model=digest([asked, declared]),
            world=world,
            code=code,
            contracts=self._contracts,
        )

    def _golden(self, case: GoldenCase) -> str:
        stated = [
            (key, value) for key, value in msgspec.to_builtins(case).items() if key not in {"at", "lines", "notes"}
        ]
        folder = self._project.config.goldensets
        images = [folder / part.image for part in case.content if isinstance(part, ImageContent)]
        return digest([stated, [digest_bytes(path.read_bytes()) if path.is_file() else "" for path in images]])

    def _world_and_code(self, name: str, agent: LoadedAgent) -> tuple[str, str]:
        """The digests of a world and of an agent. Code of the one that the other reaches too counts once, where it lies."""
        key = (name, agent.name)
        if key not in self._code:
            template = self._project.world_named(name)
            worlds = [template.folder] if template.folder else []
            agents = [Path(agent.folder), *agent.builds_on] if agent.folder else []
            prompts = [folder / "prompts.py" for folder in agents]
            reach = self._reach
            own = reach.under(agents)
            world = [_stated(template), reach.digest(worlds, leave_out=own)]
            code = [agent.logic_digest, reach.digest(agents, leave_out=[*prompts, *reach.under(worlds)])]
            self._code[key] = (digest(world), digest(code))
        return self._code[key]

    def _belt(self, tools: tuple[OfferedTool, ...]) -> str:
        """The digest of *tools*; trials of one design are offered the same ones."""
        key = tuple([(tool.name, tool.schema_digest, tool.writes) for tool in tools])
        if key not in self._belts:
            self._belts[key] = digest(tools)
        return self._belts[key]

    def _judged(self, cell: Cell, recording: str) -> str:
        """*recording*, and behind a `+` what judges said of the trial and what is declared of these judges."""
        if not self._judges:
            return recording
        asked = self._judges.get(cassette_name(cell).split("/", 2)[2], ())
        said = [(digest_bytes(path.read_bytes()), declared) for path, declared in asked]
        return f"{recording}+{digest(said)}" if said else recording


def _stated(world: WorldTemplate) -> list[object]:
    """What a world's file states, after its variant was applied."""
    return [world.now, world.user, world.settings, world.store_digest]


def _contracts(config: Config, reach: Reach) -> str:
    """The project's own contracts, and the version that brings the built-in ones."""
    files = [config.root / path for path in config.contract_modules]
    return digest([__version__, reach.digest(files)])


def _judges(config: Config) -> Mapping[str, Sequence[tuple[Path, ModelConfig | None]]]:
    """Files of what judges said, by `set/file` of the trials, each with what is declared of its model."""
    found: dict[str, list[tuple[Path, ModelConfig | None]]] = {}
    for path in sorted((config.cassettes / JUDGE).glob("*/*/*")):
        judge, set_name, name = path.parts[-3:]
        if path.is_file():
            found.setdefault(f"{set_name}/{name}", []).append((path, config.models.get(unquote(judge))))
    return found
