"""A project that tests replay trials of: planned once, judged as `harness run` does, with the evidence in words."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from harness.cassettes import guard
from harness.cassettes.redact import Scrubber
from harness.config import Config
from harness.errors import CouldNotCheckError
from harness.evaluate import Judged
from harness.gate.baseline import Baseline, baseline_path, load_baseline
from harness.matrix import Narrowing, PlannedCell, RunPlan, plan_run
from harness.records.finding import Finding
from harness.records.run import CaseVerdict, Cell, Trial
from harness.records.trace import Event, Trace
from harness.reports.screen import clip, one_line
from harness.reports.terminal import render_verdict
from harness.trials import Project, ReplayPort, replay

_WIDTH = 100
_MOST_EVENTS = 6
_EVENT_CHARS = 240


@dataclass(frozen=True, slots=True)
class Replayed:
    """A trial that was replayed and judged."""

    trial: Trial
    verdict: CaseVerdict

    @property
    def kept(self) -> bool:
        """Whether every blocking contract was kept."""
        return self.verdict.verdict == "kept"

    @property
    def known(self) -> bool:
        """Whether what broke is what the baseline accepts, for the same recording."""
        return self.verdict.known

    @property
    def answer(self) -> str:
        """What the user sees at the end."""
        return self.verdict.answer

    @property
    def traces(self) -> tuple[Trace, ...]:
        """A trace for each leg."""
        return self.trial.traces

    @property
    def evidence(self) -> str:
        """What is wrong, with the events that show it, without secrets; empty where nothing is."""
        if self.kept:
            return ""
        lines = [render_verdict(self.verdict, width=_WIDTH), *_witnesses(self.trial, self.verdict.findings)]
        return Scrubber.from_env(os.environ).scrub("\n".join(lines))

    def check(self) -> None:
        """
        Make sure that every blocking contract was kept, or that the baseline knows of each that was not.

        Raises:
            AssertionError: Another broke, or the trial could not be checked; the message is the evidence.
        """
        __tracebackhide__ = True
        if not (self.kept or self.known):
            raise AssertionError(self.evidence)


class Opened:
    """
    A project with its plan; one for a whole pytest session.

    Args:
        config: The project.
        port: What trials are replayed on.
        baselines: Whether baselines are read. Without them no failure is known.
    """

    def __init__(self, config: Config, *, port: ReplayPort = "fast", baselines: bool = True) -> None:
        self.config = config
        self.project = Project(config)
        self._port: ReplayPort = port
        self._reads_baselines = baselines
        self._judged: dict[str, Judged] = {}
        self._baselines: dict[str, Baseline | None] = {}

    def plan(self, narrowing: Narrowing) -> RunPlan:
        """
        List the trials that *narrowing* leaves of the matrix.

        Raises:
            UsageError: It names something that is not there.
            BadFileError: A file of the project cannot be used.
        """
        return plan_run(self.config, narrowing, self.project.golden_set)

    def replay(self, planned: PlannedCell) -> Replayed:
        """
        Replay one trial without network and judge it. Call it outside of any event loop.

        Raises:
            BadFileError: An agent, a world or a baseline cannot be used.
            CouldNotCheckError: The agent cancelled the task that it ran in.
        """
        name = planned.cell.set
        if name not in self._judged:
            self._judged[name] = Judged(self.project, [name] if self._reads_baselines else [])
        # never the kernel's guard: it could not be taken off again, and the other tests of this process may need sockets
        with (
            guard.closed_network(allow_loopback=planned.case.allow_loopback, kernel=False),
            suppress(asyncio.CancelledError),
        ):
            trial = asyncio.run(replay(self.project, planned, port=self._port))
            return Replayed(trial, self._judged[name].verdict(trial, planned.case))
        raise CouldNotCheckError(
            "lost-trials",
            f"{name}/{planned.cell.case}.{planned.cell.trial} has no verdict: the agent cancelled the task that it ran in",
            hint="let the agent cancel only tasks that it started itself",
        )

    def lacks_baseline(self, set_name: str) -> str:
        """Why trials of a set cannot pass for want of a baseline; empty where there is one, or none has to be."""
        if not self._reads_baselines or self._baseline(set_name) is not None:
            return ""
        path = self.project.relative(baseline_path(self.config.reports, set_name))
        return (
            f"NO BASELINE  {path} is not there, so nothing says what is accepted of `{set_name}`\n\n"
            f'hint: `harness run {set_name}`, then `harness accept --reason "…"`; --harness-no-baseline judges without one'
        )

    def gone(self, set_name: str, planned: Sequence[PlannedCell]) -> Iterator[Cell]:
        """Trials that the baseline of a set has accepted and nothing declares any more."""
        baseline = self._baseline(set_name) if self._reads_baselines else None
        declared = {one.cell for one in planned}
        for agent, models in baseline.agents.items() if baseline else ():
            for model, accepted in models.items():
                for case, found in accepted.cases.items():
                    cells = [Cell(agent, model, set_name, case, trial.n) for trial in found.trials]
                    yield from (cell for cell in cells if cell not in declared)

    def close(self) -> None:
        """Write what the cache has learnt, and end what worlds have started."""
        self.project.close()

    def _baseline(self, set_name: str) -> Baseline | None:
        if set_name not in self._baselines:
            self._baselines[set_name] = load_baseline(baseline_path(self.config.reports, set_name))
        return self._baselines[set_name]


def _witnesses(trial: Trial, findings: Sequence[Finding]) -> Iterator[str]:
    """The events that show what broke, one a line, each once."""
    seen: dict[tuple[int, int], None] = {}
    for finding in findings:
        if finding.state == "broken" and not finding.advisory:
            seen.update(dict.fromkeys((finding.leg, seq) for seq in finding.witness[:_MOST_EVENTS]))
    if seen:
        yield "  witness"
    for leg, seq in seen:
        events = trial.traces[leg].events if leg < len(trial.traces) else ()
        for event in (event for event in events if event.seq == seq):
            yield _event_line(event)


def _event_line(event: Event) -> str:
    said = msgspec.json.encode(event.data).decode()
    return f"    {event.seq} {event.type} {clip(one_line(said), _EVENT_CHARS)}"
