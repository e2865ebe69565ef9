"""Recording planned cells: the same trials, asked of a real server, with everything that passes kept as cassettes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.agents.run_trial import RanTrial
from harness.cassettes import tool_calls
from harness.cassettes.file import UsageTotals
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.paths import cassette_path, check_collisions
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.errors import CouldNotCheckError, HarnessError
from harness.judging.recorded import Group, check_group, record_group, wanted
from harness.matrix import PlannedCell, RunPlan
from harness.models.price import price_table
from harness.models.scripted.script import load_script
from harness.models.scripted.server import ScriptedServer
from harness.records.messages import Usage
from harness.records.trace import Warned
from harness.sources import Source, answered_by, check_source, old_player, open_source, provenance_of
from harness.trials import SCRIPTED, PlayerTape, Project, Sampler, replay, run_live, script_path

if TYPE_CHECKING:
    from harness.models.recording import RecordingPort


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOutcome:
    """What a recording came to. *cost_usd* is None where nothing has a price; *refused* gives a reason each."""

    calls: int = 0
    cost_usd: float | None = None
    cassettes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    cost_usd: float | None = None
    cassettes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def spend(self, calls: int, cost_usd: float | None) -> None:
        self.calls += calls
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd

    def outcome(self) -> RecordOutcome:
        return RecordOutcome(
            calls=self.calls, cost_usd=self.cost_usd, cassettes=tuple(self.cassettes), refused=tuple(self.refused)
        )


def record(
    project: Project,
    chosen: RunPlan,
    *,
    mode: str = "missing",
    base_url: str | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
    judge_only: bool = False,
    sampler: Sampler | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> RecordOutcome:
    """
    Record the trials of *chosen*, and what judges and embedding models say of their answers where contracts ask for it.

    Args:
        project: The project that `plan` opened.
        chosen: What `plan` listed.
        mode: `missing` (no cassette yet), `stale` (does not replay any more; what still matches is kept), `all`, or
            `verify` (ask the model again, say where it differs, write nothing).
        base_url: The model's server, in place of the declared one.
        budget_usd: Stop before a trial once this much is spent, above 0; None: no bound.
        dry_run: Only say what would be recorded and what it would cost, by what the old cassettes cost.
        judge_only: Leave the trials as they are recorded; *base_url* is then the judge's server.
        sampler: Trials of a case are recorded one after the other, and as many as it says.
        on_progress: Told of each trial before it is recorded.

    Raises:
        UsageError: The model is not declared, or a script is missing or wrong.
    """
    tell = on_progress or (lambda _text: None)
    check_collisions(project.config.cassettes, [planned.cell for planned in chosen.cells])
    todo = [] if judge_only else asyncio.run(_wanted(project, chosen.cells, mode))
    for planned in todo:
        check_source(project, planned, base_url, asks=not dry_run)
    bill = _bill(project, todo)
    if dry_run:
        return _with_judges(bill, asyncio.run(wanted(project, chosen.cells, mode)), project)
    _check_keys(project, todo, base_url)
    cost = f", about {bill.cost_usd:.2f} USD" if bill.cost_usd is not None else ""
    if not judge_only:
        tell(f"{len(todo)} of {len(chosen.cells)} trials to record: about {bill.calls} model calls{cost}")
    tally = _Tally()
    judge_url = base_url if judge_only else None
    with ScriptedServer() as server:
        kept = [planned for planned in chosen.cells if planned not in todo] if sampler else []
        asyncio.run(_record_all(project, kept, todo, mode, base_url, budget_usd, server, tally, tell, sampler))
        there = [cell for cell in chosen.cells if not sampler or Path(project.cassette_path(cell.cell)).is_file()]
        asyncio.run(_record_judges(project, there, mode, judge_url, budget_usd, server, tally, tell))
    project.close()
    return tally.outcome()


def _check_keys(project: Project, todo: Sequence[PlannedCell], base_url: str | None) -> None:
    """
    Make sure that every provider of *todo* can be asked.

    Raises:
        UsageError: A key is not set.
    """
    from harness.models.keys import check_key

    for planned in {planned.cell.model: planned for planned in todo}.values():
        declared = project.model(planned.cell.model)
        if answered_by(project, planned.cell.model) == "live" and not (base_url or (declared and declared.base_url)):
            check_key(project.asked_model(planned))


async def _wanted(project: Project, cells: Sequence[PlannedCell], mode: str) -> list[PlannedCell]:
    """The cells that *mode* is about."""
    if mode == "all":
        return list(cells)
    if mode in {"missing", "verify"}:
        there = mode == "verify"
        return [cell for cell in cells if cassette_path(project.config.cassettes, cell.cell).is_file() == there]
    return [cell for cell in cells if (await replay(project, cell, port="fast")).code]


def _bill(project: Project, todo: Sequence[PlannedCell]) -> RecordOutcome:
    """What *todo* takes, by the old cassettes or the scripts; a trial without either counts as the average of the rest."""
    tally = _Tally()
    unknown = 0
    for planned in todo:
        path = cassette_path(project.config.cassettes, planned.cell)
        tally.cassettes.append(project.relative(path))
        try:
            old = project.cassette(path)
        except HarnessError:
            if planned.cell.model == SCRIPTED:
                tally.spend(len(load_script(script_path(project, planned.cell)).steps), None)
            else:
                unknown += 1
            continue
        tally.spend(len(old.interactions), old.provenance.usage.cost_usd if old.provenance.usage else None)
    known = len(todo) - unknown
    if known and unknown:
        share = unknown / known
        tally.spend(round(tally.calls * share), tally.cost_usd * share if tally.cost_usd is not None else None)
    return tally.outcome()


async def _record_all(
    project: Project,
    kept: Sequence[PlannedCell],
    todo: Sequence[PlannedCell],
    mode: str,
    base_url: str | None,
    budget_usd: float | None,
    server: ScriptedServer,
    tally: _Tally,
    tell: Callable[[str], None],
    sampler: Sampler | None,
) -> None:
    """Record *todo*, at most `concurrency` trials at once; a trial that is refused does not stop the others."""
    numbers = {planned.cell: number for number, planned in enumerate(todo, start=1)}
    queue = iter(_by_case(todo) if sampler else [[planned] for planned in todo])

    async def one(planned: PlannedCell) -> None:
        name = project.relative(cassette_path(project.config.cassettes, planned.cell))
        if budget_usd is not None and (tally.cost_usd or 0.0) >= budget_usd:
            tally.refused.append(f"{name}: the budget of {budget_usd:g} USD is spent")
            return
        tell(f"{numbers[planned.cell]}/{len(todo)} {name}")
        try:
            await _record_one(project, planned, mode, base_url, server, tally)
        except HarnessError as error:
            where = f"{error.at.removeprefix(f'{project.config.root}/')}: " if error.at else ""
            tally.refused.append(f"{name}: {where}{error.message}")
        else:
            tally.cassettes.append(name)
            if sampler:
                await sampler.recorded(planned)

    async def work() -> None:
        for trials in queue:
            for planned in trials:
                if sampler and not await sampler.goes_on(planned):
                    break
                await one(planned)

    if sampler:
        await sampler.begin(kept, todo)

    # a server on this machine has one slot, whose prompt cache trials at once would take from each other
    hosted = all(answered_by(project, planned.cell.model) == "live" for planned in todo)
    workers = project.config.concurrency if hosted else 1
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, workers)):
                group.create_task(work())
    finally:
        if todo:
            from harness.models.litellm_client import close_clients

            await close_clients()


def _by_case(todo: Sequence[PlannedCell]) -> list[list[PlannedCell]]:
    """The trials of *todo*, those of one case together."""
    cases: dict[tuple[str, str, str, str], list[PlannedCell]] = {}
    for planned in todo:
        cell = planned.cell
        cases.setdefault((cell.agent, cell.model, cell.set, cell.case), []).append(planned)
    return list(cases.values())


async def _record_judges(
    project: Project,
    cells: Sequence[PlannedCell],
    mode: str,
    base_url: str | None,
    budget_usd: float | None,
    server: ScriptedServer,
    tally: _Tally,
    tell: Callable[[str], None],
) -> None:
    """Record what judges and embedding models say of the answers that *cells* now give."""
    groups = await wanted(project, cells, mode)
    try:
        for number, group in enumerate(groups, start=1):
            name = project.relative(cassette_path(project.config.cassettes, group.cell))
            if budget_usd is not None and (tally.cost_usd or 0.0) >= budget_usd:
                tally.refused.append(f"{name}: the budget of {budget_usd:g} USD is spent")
                continue
            tell(f"judge {number}/{len(groups)} {name}")
            try:
                check_group(project, group, base_url)
                await record_group(project, group, mode, base_url, server, tally.spend)
            except HarnessError as error:
                where = f"{error.at.removeprefix(f'{project.config.root}/')}: " if error.at else ""
                tally.refused.append(f"{name}: {where}{error.message}")
            else:
                tally.cassettes.append(name)
    finally:
        if groups:
            from harness.models.litellm_client import close_clients

            await close_clients()


def _with_judges(bill: RecordOutcome, groups: Sequence[Group], project: Project) -> RecordOutcome:
    """*bill* with the recordings of judges that are missing today; new answers may need others."""
    names = [project.relative(cassette_path(project.config.cassettes, group.cell)) for group in groups]
    calls = bill.calls + sum(len(group.calls) for group in groups)
    return replace(bill, calls=calls, cassettes=(*bill.cassettes, *names))


async def _record_one(
    project: Project,
    planned: PlannedCell,
    mode: str,
    base_url: str | None,
    server: ScriptedServer,
    tally: _Tally,
) -> None:
    """
    Record one trial, or hold its recording against the model.

    Raises:
        CouldNotCheckError: The trial was cut off, so that its recording is not complete, the server answered nothing,
            or the model now differs.
        HarnessError: The run did not follow its script, or a secret could not be removed.
    """
    path = cassette_path(project.config.cassettes, planned.cell)
    with open_source(project, planned, base_url, server) as source:
        if mode == "verify":
            await _verify(project, planned, source, path, tally)
            return
        recorder = Recorder(path, provenance_of(project, planned, source), scrub=Scrubber.from_env(os.environ))
        fingerprinter = Fingerprinter(planned.case.volatile, scrub=recorder.scrubber.scrub)
        old = old_player(project, source, recorder) if mode == "stale" else None
        port = _recording_port(source, recorder, fingerprinter, old)
        external = tool_calls.recorded(recorder, fingerprinter, answered_by=source.answered_by, old=old)
        try:
            ran = await run_live(project, planned, port, fingerprinter, external=external)
            _hold_to_script(source, ran)
        except BaseException:
            recorder.abandon()
            raise
    usage = _usage(ran)
    cost = None if source.answered_by != "live" else price_table().cost_usd(project.asked_model(planned), usage)
    tally.spend(port.asked, cost)
    if ran.code:
        recorder.abandon()
        raise CouldNotCheckError(ran.code, ran.because)
    if source.answered_by != "scripted" and (because := recorder.unanswered()):
        recorder.discard()
        raise CouldNotCheckError(
            "no-answer",
            f"no call was answered ({because}), so there is nothing to keep",
            hint="mend the model's server",
        )
    if because := recorder.unreached():
        recorder.discard()
        raise CouldNotCheckError(
            "no-answer", f"an embedding call found no server ({because})", hint="start the embedding model's server"
        )
    recorder.finish(usage=_totals(usage, cost))


def _hold_to_script(source: Source, ran: RanTrial) -> None:
    """
    Close *source*; where the agent crashed, what its script misses follows from that.

    Raises:
        HarnessError: The run did not follow its script.
    """
    try:
        source.close()
    except HarnessError as error:
        events = (event.data for trace in ran.traces for event in trace.events)
        crash = next((data.detail for data in events if isinstance(data, Warned) and data.code == "agent_crash"), "")
        if crash:
            error.message, error.at = f"the agent crashed: {crash}; so {error.message}", ""
        raise


def _recording_port(
    source: Source, recorder: Recorder, fingerprinter: Fingerprinter, old: Player | None
) -> RecordingPort:
    from harness.models.recording import RecordingPort  # brings litellm

    return RecordingPort(
        recorder, answered_by=source.answered_by, base_url=source.base_url, old=old, rewrite=source.rewrite,
        fingerprinter=fingerprinter, embedders=source.embedders,
    )  # fmt: skip


async def _verify(project: Project, planned: PlannedCell, source: Source, path: Path, tally: _Tally) -> None:
    from harness.models.fast import FastPort
    from harness.models.live import LivePort
    from harness.models.verifying import VerifyingPort

    fingerprinter = Fingerprinter(planned.case.volatile)
    player = Player(project.cassette(path), order=planned.case.order, fingerprinter=fingerprinter)
    port = VerifyingPort(FastPort(player), LivePort(source.base_url))
    played = tool_calls.played(player, fingerprinter)
    ran = await run_live(project, planned, port, fingerprinter, external=played, tape=PlayerTape(player))
    source.close()
    tally.spend(sum(trace.events[-1].data.counts.llm for trace in ran.traces), None)
    if ran.code:
        raise CouldNotCheckError(ran.code, ran.because)
    if port.divergences:
        raise CouldNotCheckError("model-diverged", "; ".join(port.divergences), hint="record with `--mode all`")


def _usage(ran: RanTrial) -> Usage:
    return sum((trace.events[-1].data.usage for trace in ran.traces), Usage())


def _totals(usage: Usage, cost_usd: float | None) -> UsageTotals:
    return UsageTotals(
        input=usage.input, output=usage.output, cached=usage.cached, thinking=usage.thinking, cost_usd=cost_usd,
        price_table=price_table().digest if cost_usd is not None else "",
    )  # fmt: skip
