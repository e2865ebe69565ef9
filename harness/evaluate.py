"""
The flow, in one file: plan → replay each trial → judge it → collect the verdicts → know what is known.

    GoldenSet ─plan─▶ RunPlan ─replay─▶ Trial ─judge─▶ CaseVerdict ─collect─▶ RunRecord

Each stage hands over a frozen record. Start reading here.
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness import __version__
from harness.agents.load import split_name
from harness.agents.watchdog import HungError, watched
from harness.cassettes import guard
from harness.cassettes.redact import Scrubber
from harness.config import Config
from harness.contracts.base import Contract
from harness.contracts.catalogue import contracts_for, load_modules
from harness.contracts.judge import judge, verdict_of
from harness.errors import CouldNotCheckError, ExitCode, UsageError
from harness.gate.baseline import load_baselines, mark_known
from harness.locks import Locks
from harness.matrix import Narrowing, PlannedCell, RunPlan, matrix_digest, plan_run
from harness.records.case import GoldenCase
from harness.records.digest import digest
from harness.records.messages import Usage
from harness.records.pace import pace_of
from harness.records.run import CaseVerdict, Cell, Lock, RunRecord, Totals, Trial, VerdictState
from harness.records.trace import Event
from harness.reports.runs import read_manifest
from harness.reports.store import RunStore
from harness.trials import Project, ReplayPort, replay

if TYPE_CHECKING:
    from harness.recording import RecordOutcome
    from harness.records.judgement import Question

Json = Any
JUDGE_SECONDS = 60.0
"""Wall-clock time that the contracts of one trial get: a pattern or a loop without end is no verdict."""
OnVerdict = Callable[[CaseVerdict, int, int], None]
"""Called with each verdict, how many are done, and how many there will be."""


def plan(config: Config, narrowing: Narrowing) -> tuple[Project, RunPlan]:
    """
    Open the project and list the trials that a command is to run.

    Raises:
        UsageError: A flag names something that is not there.
        BadFileError: A golden set, an agent or a world cannot be used.
    """
    project = Project(config)
    return project, plan_run(config, narrowing, project.golden_set)


def run(
    project: Project,
    chosen: RunPlan,
    *,
    port: ReplayPort = "fast",
    jobs: int = 1,
    resume: Path | None = None,
    out: Path | None = None,
    on_verdict: OnVerdict | None = None,
) -> RunRecord:
    """
    Replay the trials of *chosen*, judge each, and write the run folder as they end.

    Args:
        project: The project that `plan` opened.
        chosen: What `plan` listed.
        port: `fast`, or `wire` to go through litellm over a patched transport.
        jobs: Trials under way at once, at least 1.
        resume: Folder of an earlier run whose verdicts are kept.
        out: Folder for run folders, in place of the project's.
        on_verdict: Told of each verdict.

    Raises:
        BadFileError: A golden set, an agent or a world cannot be used.
        UsageError: *resume* was started for other trials.
    """
    runs = out or project.config.reports / "runs"
    loopback = any(cell.case.allow_loopback for cell in chosen.cells)
    gc.freeze()  # what is loaded by now stays: the collector need not look at it again for each trial
    for agent in {planned.cell.agent for planned in chosen.cells}:
        project.agent(agent)  # so that the manifest names the code that this run begins with
    with guard.closed_network(allow_loopback=loopback) as guards:
        about = manifest(project, port, guards) | {"planned": digest([planned.cell for planned in chosen.cells])}
        about["trials"] = len(chosen.cells)  # so that who watches the folder grow knows how far it will
        if chosen.affected:
            about["affected"] = msgspec.to_builtins(chosen.affected)
        if resume:
            _refuse_other_plan(resume, about)
        store = RunStore.reopen(resume) if resume else RunStore.create(runs, manifest=about)
        with store:
            return _run_into(store, project, chosen, port, jobs, about, on_verdict)


def record(project: Project, chosen: RunPlan, **how: Any) -> RecordOutcome:
    """Record the trials of *chosen*: see `harness.recording.record`, which loads litellm."""
    from harness.recording import record as recorded

    return recorded(project, chosen, **how)


def ask(
    config: Config,
    agent: str,
    text: str,
    model: str,
    *,
    base_url: str | None = None,
    options: Mapping[str, Json] | None = None,
    world: str = "",
    on_event: Callable[[Event], None] | None = None,
) -> Trial:
    """
    Put one live question to *agent*; nothing is recorded or judged. An empty *world* means that of the matrix's first set.

    Raises:
        UsageError: No such agent, option or world, or an option of the wrong kind.
    """
    from harness.asking import LiveQuestion, ask_live

    asked = LiveQuestion(agent=agent, text=text, model=model, base_url=base_url, options=options or {}, world=world)
    return ask_live(Project(config), asked, on_event)


class Judged:
    """Holds trials against their contracts, and against what the baseline knows of them."""

    def __init__(self, project: Project, sets: Iterable[str]) -> None:
        self._project = project
        modules = [project.config.root / path for path in project.config.contract_modules]
        self._catalogue = load_modules(modules)
        self._chosen: dict[tuple[str, str, str], Sequence[Contract]] = {}
        self._asked: dict[tuple[str, str, str], Sequence[Question]] = {}
        self._baselines = load_baselines(project.config.reports, sets)
        self._locks = Locks(project)

    def versions(self) -> dict[str, int]:
        """Version of each contract that a trial was held to."""
        return {one.id: one.version for contracts in self._chosen.values() for one in contracts}

    def verdict(self, trial: Trial, case: GoldenCase) -> CaseVerdict:
        """Judge one trial."""
        cell = trial.cell
        design, profile = split_name(cell.agent)
        key = (cell.set, case.id, design)
        if key not in self._chosen:
            self._chosen[key] = contracts_for(case, design, self._catalogue)
            self._asked[key] = _questions(self._chosen[key])
        if self._asked[key]:
            trial = self._answered(trial, self._asked[key])
        try:
            with watched(JUDGE_SECONDS):
                findings = judge(case, trial, self._chosen[key])
        except HungError:
            findings = ()
            trial = msgspec.structs.replace(
                trial, code="contract-hung", could_not_check=f"its contracts came to no end within {JUDGE_SECONDS:g} s"
            )
        state: VerdictState = verdict_of(findings, trial)
        ends = [trace.events[-1].data for trace in trial.traces]
        usage = sum((end.usage for end in ends), Usage())
        turns, steps = pace_of(trial.traces)
        verdict = CaseVerdict(
            agent=cell.agent, profile=profile, model=cell.model, provenance=trial.provenance, set=cell.set,
            case=cell.case, trial=cell.trial, verdict=state, findings=findings,
            llm_calls=sum(end.counts.llm for end in ends), tool_calls=sum(end.counts.tools for end in ends),
            turns=turns, steps=steps, tokens=usage, cost_usd=trial.cost_usd, recorded_ms=trial.recorded_ms,
            replay_ms=round(trial.replay_ms, 3), answer=trial.traces[-1].answer if trial.traces else "",
            code=trial.code, because=trial.could_not_check,
            cause=trial.cause, at=case.at, cassette=trial.cassette, cassette_digest=trial.cassette_digest,
            embedding_provenance=trial.embedding_provenance, status=ends[-1].status if ends else "",
            reason=ends[-1].reason if ends else "", drift=trial.drift, lock=self._lock(trial, case),
        )  # fmt: skip
        if state != "broken":
            return verdict
        return mark_known(verdict, self._baselines.get(cell.set))

    def _answered(self, trial: Trial, questions: Sequence[Question]) -> Trial:
        """*trial* with what was recorded in answer to its contracts' *questions*."""
        from harness.judging.asked import judgements  # most runs ask nobody

        return msgspec.structs.replace(trial, judgements=judgements(self._project, trial, questions))

    def _lock(self, trial: Trial, case: GoldenCase) -> Lock:
        lock = self._locks.of(trial, case)
        samples = [one.sample for one in trial.judgements if one.sample]
        return msgspec.structs.replace(lock, judge=digest(samples)) if samples else lock


def _questions(contracts: Sequence[Contract]) -> Sequence[Question]:
    """What *contracts* ask beyond a trace."""
    if not any(contract.questions for contract in contracts):
        return ()
    from harness.judging.asked import questions_of

    return questions_of(contracts)


def totals_of(verdicts: Iterable[CaseVerdict]) -> Totals:
    """Count how trials ended; known failures are among the broken ones."""
    states = [(verdict.verdict, verdict.known) for verdict in verdicts]
    return Totals(
        trials=len(states),
        kept=states.count(("kept", False)),
        broken=sum(state == "broken" for state, _ in states),
        known=sum(known for _, known in states),
        could_not_check=sum(state == "could_not_check" for state, _ in states),
    )


def exit_code_of(verdicts: Sequence[CaseVerdict]) -> ExitCode:
    """What a run exits with: what could not be checked before what is broken, and nothing at all is no pass."""
    if any(verdict.verdict == "could_not_check" for verdict in verdicts):
        return ExitCode.COULD_NOT_CHECK
    if any(verdict.verdict == "broken" and not verdict.known for verdict in verdicts):
        return ExitCode.REGRESSED
    return ExitCode.PASS if verdicts else ExitCode.NOTHING_COMPARED


def _ends_with(chosen: RunPlan, verdicts: Sequence[CaseVerdict]) -> ExitCode:
    """What a run of *chosen* exits with: that nothing is affected says that everything is as it was accepted."""
    if not verdicts and chosen.affected and chosen.affected.left_out:
        return ExitCode.PASS
    return exit_code_of(verdicts)


def _refuse_lost(lost: Sequence[Cell]) -> None:
    """Each planned trial has a verdict, or there is no run: what nobody ran must not be missing without a word."""
    if lost:
        first = lost[0]
        raise CouldNotCheckError(
            "lost-trials",
            f"{len(lost)} planned trials have no verdict, from {first.set}/{first.case}.{first.trial} of {first.agent} on",
            hint="an agent that cancels the task that it runs in takes the run with it; run it alone with --case",
        )


def manifest(project: Project, port: ReplayPort, guards: Sequence[str]) -> dict[str, Json]:
    """How a run came about: versions, port, guards in force, and digests of what it ran on."""
    return {
        "versions": {"tapegate": __version__},
        "port": port,
        "guards": list(guards),
        "golden_sets": project.golden_digests(),
        "cases": project.golden_cases(),
        "families": project.golden_families(),
        "agents": project.agent_digests(),
        "matrix": matrix_digest(project.config),
    }


def _refuse_other_plan(folder: Path, about: dict[str, Json]) -> None:
    """
    Make sure that a resumed run is about the trials that it was started for.

    Raises:
        UsageError: It is not.
    """
    planned = read_manifest(folder).manifest.get("planned")
    if planned != about["planned"]:
        raise UsageError(
            "run-differs",
            f"run {folder.name} was started for other trials than these flags choose",
            hint="give the flags that it was started with, or start a new run",
        )


def _run_into(
    store: RunStore,
    project: Project,
    chosen: RunPlan,
    port: ReplayPort,
    jobs: int,
    about: dict[str, Json],
    on_verdict: OnVerdict | None,
) -> RunRecord:
    store.scrub = Scrubber.from_env(os.environ).scrub
    judged = Judged(project, {planned.cell.set for planned in chosen.cells})
    done = dict(store.done)
    left = [planned for planned in chosen.cells if planned.cell not in done]

    def collect(trial: Trial, case: GoldenCase) -> None:
        verdict = judged.verdict(trial, case)
        try:
            verdict = store.append(verdict, trial.traces)
        except UnicodeEncodeError as error:
            verdict = store.append(_unwritable(verdict, error))
        done[verdict.cell] = verdict
        if on_verdict is not None:
            on_verdict(verdict, len(done), len(chosen.cells))

    with suppress(asyncio.CancelledError):  # an agent cancelled the task that it ran in, and trials after it
        asyncio.run(_replay_all(project, left, port, jobs, collect))
    _refuse_lost([planned.cell for planned in chosen.cells if planned.cell not in done])
    ordered = [done[planned.cell] for planned in chosen.cells]
    record = RunRecord(
        run=store.run, results=tuple(ordered), totals=totals_of(ordered), exit_code=int(_ends_with(chosen, ordered)),
        partial=chosen.partial, manifest=about | {"contracts": judged.versions()},
    )  # fmt: skip
    store.finish(record)
    project.close()
    return record


def _unwritable(verdict: CaseVerdict, error: UnicodeEncodeError) -> CaseVerdict:
    """The verdict on a trial whose texts hold half a character, which no file takes."""
    return msgspec.structs.replace(
        verdict, verdict="could_not_check", known=False, findings=(), answer="", code="bad-text",
        because=f"a text of the trial is no valid Unicode: {error.reason}",
    )  # fmt: skip


async def _replay_all(
    project: Project,
    cells: Iterable[PlannedCell],
    port: ReplayPort,
    jobs: int,
    collect: Callable[[Trial, GoldenCase], None],
) -> None:
    """Run *cells*, at most *jobs* at once, handing over each trial as it ends."""
    if jobs <= 1:
        for planned in cells:
            collect(await replay(project, planned, port=port), planned.case)
        return
    queue = iter(cells)

    async def work() -> None:
        for planned in queue:
            collect(await replay(project, planned, port=port), planned.case)

    async with asyncio.TaskGroup() as group:
        for _ in range(jobs):
            group.create_task(work())
