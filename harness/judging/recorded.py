"""Recording what judges and embedding models say of the answers that trials give."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from harness.cassettes.file import Provenance, UsageTotals
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.paths import cassette_path
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.errors import CouldNotCheckError, HarnessError, UsageError
from harness.judge.asking import PURPOSE, Call, JudgeModel, calls_for, subject_of
from harness.judge.prompt import PROMPT_FORMAT, Subject
from harness.judging.asked import Asking, judge_model
from harness.matrix import Narrowing, PlannedCell, plan_run
from harness.models.keys import check_key
from harness.models.port import CallInfo, Port
from harness.models.price import price_table
from harness.models.scripted.server import ScriptedServer
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.judgement import Question
from harness.records.messages import ModelRequest, Usage
from harness.records.run import Cell
from harness.sources import (
    Source,
    answered_by,
    check_server,
    check_source,
    old_player,
    open_source,
    provenance_for,
)
from harness.trials import SCRIPTED, Project, replay

Spend = Callable[[int, float | None], None]
"""Told how many calls were made and what they cost."""


@dataclass(slots=True)
class Group:
    """One recording that is to be made: what has to be asked for it, in order and each once."""

    cell: Cell
    planned: PlannedCell
    """A trial that it is about; its case is that of all of them."""
    calls: list[Call] = field(default_factory=list)
    whole: bool = True
    """Whether every trial that it is about could be replayed; else what is there already must be kept."""
    embeds_only: bool = True

    @property
    def source(self) -> PlannedCell:
        """The recording as a planned cell, so that its server or script is found as an agent's is."""
        return PlannedCell(cell=self.cell, case=self.planned.case)


async def wanted(project: Project, chosen: Sequence[PlannedCell], mode: str) -> list[Group]:
    """
    The recordings that *chosen* need and that are not there as they should be; with *mode* `all`, every one.

    Each is about all trials of its case in the matrix, also of designs that were not chosen: they share the file.
    """
    asking = Asking(project)
    needed = asking.cells(chosen)
    if not needed or mode == "verify":
        return []
    sets = list(dict.fromkeys(cell.set for cell in needed))
    matrix = asking.cells(plan_run(project.config, Narrowing(sets=sets), project.golden_set).cells)
    groups = []
    for cell, own in needed.items():
        members = {planned.cell: planned for planned in [*matrix.get(cell, []), *own]}
        group = await _group(asking, cell, list(members.values()))
        if mode == "all" or not is_there(project, group):
            groups.append(group)
    return groups


async def _group(asking: Asking, cell: Cell, members: Sequence[PlannedCell]) -> Group:
    project = asking.project
    group = Group(cell, members[0])
    model = judge_model(project, cell.model)
    for planned in members:
        trial = await replay(project, planned, port="fast")
        group.whole = group.whole and not trial.could_not_check
        subject = subject_of(trial)
        for question in asking.questions(planned):
            if question.model == cell.model:
                group.embeds_only = group.embeds_only and question.kind == "meaning"
                if subject is not None:
                    add_calls(group, question, subject, model)
    return group


def add_calls(group: Group, question: Question, subject: Subject, model: JudgeModel) -> None:
    """Put the calls of *question* into *group*, but for those that are there: same answer, same evidence."""
    group.calls += [call for call in calls_for(question, subject, model) if call not in group.calls]


def is_there(project: Project, group: Group) -> bool:
    """Whether the recording holds every call of *group*, and nothing that no trial asks for any more."""
    try:
        cassette = project.cassette(project.cassette_path(group.cell))
    except HarnessError:
        return False
    printer = Fingerprinter()
    asked = sorted((printer.ask(call.request), call.slot) for call in group.calls)
    there = sorted((item.ask, item.slot) for item in cassette.interactions)
    return asked == there if group.whole else set(asked) <= set(there)


def check_group(project: Project, group: Group, base_url: str | None) -> None:
    """
    Find mistakes before anything is asked.

    Raises:
        UsageError: The model is not declared as it must be, nobody answers there, or a script is missing or wrong.
    """
    name = group.cell.model
    declared = project.model(name)
    if name == SCRIPTED or not group.embeds_only:
        check_source(project, group.source, base_url)
        if answered_by(project, name) == "live" and not (base_url or (declared and declared.base_url)):
            check_key(judge_model(project, name).ask_for)
    elif declared is None or not (declared.base_url and declared.sha256 and declared.server):
        raise UsageError(
            "unproven-model",
            f"nothing would prove that vectors came from `{name}`",
            hint=f'declare it in pyproject.toml: [tool.harness.models."{name}"] with base_url, sha256 and server',
        )
    else:
        check_server(base_url or declared.base_url)


async def record_group(
    project: Project, group: Group, mode: str, base_url: str | None, server: ScriptedServer, spend: Spend
) -> None:
    """
    Ask what *group* needs and write its recording; *spend* is told of the calls and their cost, also where it fails.

    What the old recording holds is kept unless *mode* is `all`; a script is always followed to its end.

    Raises:
        CouldNotCheckError: A call was not answered; nothing was written.
        HarnessError: The script was not followed, or a secret could not be removed.
    """
    from harness.models.recording import RecordingPort  # brings litellm

    path = cassette_path(project.config.cassettes, group.cell)
    with open_source(project, group.source, base_url, server) as source:
        recorder = Recorder(path, _provenance(project, group, source), scrub=Scrubber.from_env(os.environ))
        fingerprinter = Fingerprinter(scrub=recorder.scrubber.scrub)
        old = None if mode == "all" else old_player(project, source, recorder)
        port = RecordingPort(
            recorder, answered_by=source.answered_by, base_url=source.base_url, old=old, rewrite=source.rewrite,
            fingerprinter=fingerprinter, embedders=source.embedders,
        )  # fmt: skip
        bill = _Bill(judge_model(project, group.cell.model).ask_for, priced=source.answered_by == "live")
        try:
            await _ask_all(port, group.calls, fingerprinter, bill)
            source.close()
        except BaseException:
            recorder.discard()
            raise
        finally:
            spend(port.asked, bill.cost_usd)
    if old is not None and not group.whole:
        for number, item in enumerate(old.unused(), start=len(group.calls) + 1):
            recorder.add(msgspec.structs.replace(item, call=number))
    recorder.finish(usage=bill.totals)


@dataclass(slots=True)
class _Bill:
    """What the calls of one recording took; only live models have a price."""

    model: str
    priced: bool
    usage: Usage = field(default_factory=Usage)

    @property
    def cost_usd(self) -> float | None:
        return price_table().cost_usd(self.model, self.usage) if self.priced else None

    @property
    def totals(self) -> UsageTotals:
        cost, usage = self.cost_usd, self.usage
        return UsageTotals(
            input=usage.input, output=usage.output, cached=usage.cached, thinking=usage.thinking, cost_usd=cost,
            price_table=price_table().digest if cost is not None else "",
        )  # fmt: skip


def _provenance(project: Project, group: Group, source: Source) -> Provenance:
    sampling = dict(judge_model(project, group.cell.model).sampling)
    return provenance_for(project, source, code=digest(["judge", PROMPT_FORMAT]), sampling=sampling)


async def _ask_all(port: Port, calls: Sequence[Call], fingerprinter: Fingerprinter, bill: _Bill) -> None:
    """Put *calls* to *port*, one after the other."""
    for number, call in enumerate(calls, start=1):
        info = CallInfo(number=number, ask=fingerprinter.ask(call.request), slot=call.slot, purpose=PURPOSE)
        try:
            if isinstance(call.request, ModelRequest):
                bill.usage += (await port.chat(call.request, info)).reply.usage
            else:
                bill.usage += (await port.embed(call.request, info)).reply.usage
        except ModelError as error:
            raise CouldNotCheckError(
                "no-answer", f"`{call.request.model}` did not answer: {error}", hint="mend the model's server"
            ) from None
