"""Running planned cells: each with its agent, its world, its cassette and its port, loaded once and shared where they can be."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from harness.agents.load import LoadedAgent, load_agent, split_name
from harness.agents.run_trial import RanTrial, TrialSetup, WorldCopy, run_trial
from harness.agents.trace_writer import Listener
from harness.agents.traced_tools import External
from harness.cassettes import guard, tool_calls
from harness.cassettes.clock import VirtualClock, WallClock
from harness.cassettes.file import Cassette
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.pack import Pack
from harness.cassettes.paths import cassette_name
from harness.cassettes.player import Player
from harness.config import Config, ModelConfig
from harness.errors import BadFileError, CassetteError, HarnessError, UsageError
from harness.goldensets.families import family_of
from harness.goldensets.load import load_set
from harness.goldensets.scripts import find_script
from harness.matrix import PlannedCell
from harness.models import open_port
from harness.models.port import Port
from harness.records.case import GoldenSet
from harness.records.messages import Json
from harness.records.run import Cell, Provenance, Trial
from harness.worlds.world import WorldTemplate, find_world

ReplayPort = Literal["fast", "wire"]

CACHE = ".cache"
_TRANSPORT = "harness.cassettes.transport"
"""Loaded by the wire port alone; the fast port never imports it."""
SCRIPTED = "scripted"
LIVE_SECONDS = 1800.0
"""Wall-clock time that a leg gets at least on a live port."""


class Tape(Protocol):
    """What a trial asks of the recording when it ends."""

    def unused_count(self) -> int: ...
    def missed_keys(self) -> tuple[str, ...]: ...


class PlayerTape:
    """A player, as the trial asks it."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def unused_count(self) -> int:
        return len(self._player.unused())

    def missed_keys(self) -> tuple[str, ...]:
        return tuple([miss.key for miss in self._player.misses])


class Sampler(Protocol):
    """Decides while trials are recorded how many of a case are needed."""

    async def begin(self, kept: Iterable[PlannedCell], todo: Iterable[PlannedCell]) -> None:
        """Look at the recordings that are *kept*, before those *todo* are made."""
        ...

    async def goes_on(self, planned: PlannedCell) -> bool:
        """Whether *planned* is to be recorded; if not, no later trial of its case is."""
        ...

    async def recorded(self, planned: PlannedCell) -> None:
        """Look at the recording that was just made."""
        ...


class NoTape:
    """A live port has nothing to miss and nothing to leave."""

    def unused_count(self) -> int:
        return 0

    def missed_keys(self) -> tuple[str, ...]:
        return ()


class Project:
    """The files of a project, each read once."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.cache = config.root / CACHE
        self._root = f"{config.root}{os.sep}"
        self._cassettes = f"{config.cassettes}{os.sep}"
        self._sets: dict[str, GoldenSet] = {}
        self._agents: dict[str, LoadedAgent] = {}
        self._worlds: dict[str, WorldTemplate] = {}
        self._pack: Pack | None = None

    def golden_set(self, name: str) -> GoldenSet:
        """The golden set *name*."""
        if name not in self._sets:
            self._sets[name] = load_set(self.config.goldensets / f"{name}.yaml", root=self.config.root)
        return self._sets[name]

    def agent(self, name: str) -> LoadedAgent:
        """The design that *name* names; profile and options do not matter."""
        key = name.partition("+")[0]
        if key not in self._agents:
            self._agents[key] = load_agent(self.config.agents, key)
        return self._agents[key]

    def world(self, planned: PlannedCell) -> WorldTemplate:
        """The world of a case, else of its set."""
        name = planned.case.world or self.golden_set(planned.cell.set).world or "empty"
        return self.world_named(name)

    def world_named(self, name: str) -> WorldTemplate:
        """The world *name*."""
        if name not in self._worlds:
            self._worlds[name] = find_world(self.config.goldensets, name, cache=self.cache / "worlds")
        return self._worlds[name]

    def cassette_path(self, cell: Cell) -> str:
        """Where the cassette of *cell* lies; a text, because it is asked for once a trial."""
        return self._cassettes + cassette_name(cell)

    def cassette(self, path: Path | str) -> Cassette:
        """The cassette at *path*, in its compiled form where that is current."""
        if self._pack is None:
            self._pack = Pack(self.cache / "replay.sqlite")
        return self._pack.load(path)

    def recording(self, path: Path | str) -> str:
        """The digest of the file that `cassette` read at *path*."""
        return self._pack.file_digest(path) if self._pack else ""

    def relative(self, path: Path | str) -> str:
        """*path* as people read it: relative to the project where it lies in it."""
        return str(path).removeprefix(self._root).replace(os.sep, "/")

    def model(self, name: str) -> ModelConfig | None:
        """What pyproject.toml says of a model."""
        return self.config.models.get(name)

    def asked_model(self, planned: PlannedCell) -> str:
        """The model name that requests carry: `scripted` names who answers, not what is asked for."""
        if planned.cell.model == SCRIPTED:
            return planned.case.model or self.agent(planned.cell.agent).default_model
        declared = self.model(planned.cell.model)
        return (declared.ask_for if declared else None) or planned.cell.model

    def sampling(self, planned: PlannedCell) -> dict[str, Json]:
        """Parameters that the model's table fills in where an agent leaves them open."""
        declared = self.model(planned.cell.model)
        return declared.sampling if declared else {}

    def golden_digests(self) -> dict[str, str]:
        """Digest of each golden set that was read."""
        return {name: golden.digest for name, golden in sorted(self._sets.items())}

    def golden_cases(self) -> dict[str, list[str]]:
        """Ids of the cases of each golden set that was read."""
        return {name: [case.id for case in golden.cases] for name, golden in sorted(self._sets.items())}

    def golden_families(self) -> dict[str, dict[str, str]]:
        """
        Families of cases that hang together, by set and id; a case that is not in it is a family of its own.

        A tag `family:NAME` says so; else the id without the suffix of the case's own language (`S1-de` is of `S1`).
        """
        found = {
            name: {case.id: family for case in golden.cases if (family := family_of(case)) != case.id}
            for name, golden in sorted(self._sets.items())
        }
        return {name: families for name, families in found.items() if families}

    def agent_digests(self) -> dict[str, dict[str, str]]:
        """Digests of the code and of the prompts of each agent that was loaded."""
        return {name: {"code": a.digest, "prompts": a.prompt_digest} for name, a in sorted(self._agents.items())}

    def close(self) -> None:
        """Write what the cache has learnt, and end what worlds have started: the command leaves without exit hooks."""
        if self._pack is not None:
            self._pack.close()
        for template in self._worlds.values():
            template.close()


async def replay(
    project: Project, planned: PlannedCell, *, port: ReplayPort, listener: Listener | None = None
) -> Trial:
    """Run *planned* against its cassette on the port `fast` or `wire`; *listener* is told of each event."""
    cell = planned.cell
    path = project.cassette_path(cell)
    relative = project.relative(path)
    try:
        cassette = project.cassette(path)
    except CassetteError as error:
        return _unchecked(cell, error, "cassette", relative)
    fingerprinter = Fingerprinter(planned.case.volatile)
    player = Player(cassette, order=planned.case.order, fingerprinter=fingerprinter)
    seen = len(_refused())
    began = time.perf_counter()
    world = project.world(planned)
    setup = _setup(
        project, planned, world, open_port(port, player=player), PlayerTape(player), fingerprinter,
        external=tool_calls.played(player, fingerprinter), listener=listener,
    )  # fmt: skip
    try:
        ran = await run_trial(setup)
    except BadFileError:
        raise  # a wrong file stops the run; a wrong option of a case, only its trial
    except UsageError as error:
        return _unchecked(cell, error, "golden")
    replay_ms = (time.perf_counter() - began) * 1000
    # of trials that run at once each bears what any of them tried: better one verdict too few than one too many
    refused = _refused()[min(seen, guard.MAX_REMEMBERED - 1) :]
    return _as_trial(cell, ran, player, relative, replay_ms, refused, project.recording(path))


def _setup(
    project: Project,
    planned: PlannedCell,
    template: WorldTemplate,
    port: Port,
    tape: Tape,
    fingerprinter: Fingerprinter,
    *,
    external: External | None,
    clock: VirtualClock | None = None,
    listener: Listener | None = None,
    least_seconds: float = 0.0,
    world: WorldCopy | None = None,
) -> TrialSetup:
    return TrialSetup(
        cell=planned.cell, case=planned.case, agent=project.agent(planned.cell.agent), world=world or template.open(),
        port=port, clock=clock or VirtualClock(template.now), fingerprints=fingerprinter, external=external,
        tape=tape, default_model=project.asked_model(planned), options=planned.options,
        sampling=project.sampling(planned), folder=project.config.goldensets, listener=listener, least_seconds=least_seconds,
        judged=clock is None,
    )  # fmt: skip


async def run_live(
    project: Project,
    planned: PlannedCell,
    port: Port,
    fingerprinter: Fingerprinter,
    *,
    external: External | None = None,
    tape: Tape | None = None,
    listener: Listener | None = None,
    world: WorldCopy | None = None,
) -> RanTrial:
    """
    Run *planned* on a port that asks a real server; external tools are run unless *external* answers them.

    Tools read and write *world*, by default a fresh copy of the case's own.
    """
    template = project.world(planned)
    setup = _setup(
        project, planned, template, port, tape or NoTape(), fingerprinter, external=external, clock=WallClock(template.now), listener=listener,
        least_seconds=LIVE_SECONDS, world=world,
    )  # fmt: skip
    return await run_trial(setup)


def script_path(project: Project, cell: Cell) -> Path:
    """
    The script that answers *cell* when its model is `scripted`: the profile's own, else the design's.

    Raises:
        UsageError: There is none.
    """
    return find_script(project.config.goldensets, cell.set, cell.case, (cell.agent, split_name(cell.agent)[0]))


def _refused() -> list[str]:
    """What the trial tried to send past its cassette, whatever it did with the error: sockets, and requests by HTTP."""
    transport = sys.modules.get(_TRANSPORT)
    sent = [f"send {refusal}" for refusal in transport.refusals] if transport else []
    return [f"something tried to {what}, but a replay has no network" for what in [*guard.refused(), *sent]]


def _as_trial(
    cell: Cell, ran: RanTrial, player: Player, path: str, replay_ms: float, refused: Sequence[str], recording: str
) -> Trial:
    provenance = player.cassette.provenance
    unused = player.unused()
    code, because, cause = ran.code, ran.because, ""
    if refused:
        code, because, cause = "network-refused", refused[0], "code"
    elif player.misses:
        first = player.misses[0]
        code, because, cause = "cassette-miss", first.explanation, first.cause
    elif unused and not code:
        code = "cassette-unused"
        because = f"{len(unused)} of {len(player.cassette.interactions)} recorded calls were not asked for, from call {unused[0].call} on"
        cause = "code"
    embedded: Provenance = provenance.embeddings_by or "none"
    usage = provenance.usage
    return Trial(
        cell=cell, traces=ran.traces, provenance=provenance.answered_by, embedding_provenance=embedded, cassette=path,
        cassette_digest=player.cassette.digest, could_not_check=because, code=code, cause=cause,
        drift="\n".join(player.drifts), recorded_ms=_recorded_ms(player.cassette.interactions), replay_ms=replay_ms,
        cost_usd=usage.cost_usd if usage else None, recording=recording,
    )  # fmt: skip


def _recorded_ms(interactions: Iterable[Any]) -> int:
    return sum(interaction.latency_ms for interaction in interactions)


def _unchecked(cell: Cell, error: HarnessError, cause: str, path: str = "") -> Trial:
    return Trial(cell=cell, traces=(), cassette=path, code=error.code, could_not_check=str(error.message), cause=cause)
