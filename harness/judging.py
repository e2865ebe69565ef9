"""
What the contracts of a trial ask beyond its trace: told from the case, recorded beside it, and answered on replay.

The traffic of judges and of embedding models lies in `cassettes/_judge/<model>/<set>/<case>.<trial>.yaml`, one file for
all designs that answer the case, and is found by the answer that it is about.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from harness.agents.load import split_name
from harness.cassettes.file import Cassette, Provenance, UsageTotals
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.paths import cassette_path
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.contracts.base import Contract
from harness.contracts.catalogue import Catalogue, contracts_for, load_modules
from harness.errors import CouldNotCheckError, HarnessError, UsageError
from harness.judge.asking import PURPOSE, Call, JudgeModel, calls_for, subject_of
from harness.judge.calibration import LabelledAnswer, Labels, Rated, question_of, rate
from harness.judge.prompt import PROMPT_FORMAT, Subject
from harness.judge.replay import Answers, answered
from harness.matrix import Narrowing, PlannedCell, plan_run
from harness.models.port import CallInfo, Port
from harness.models.price import price_table
from harness.models.scripted.server import ScriptedServer
from harness.records.case import GoldenCase
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.judgement import Judgement, Question
from harness.records.messages import ModelRequest, Usage
from harness.records.run import Cell, Trial
from harness.sources import Source, check_server, check_source, open_source, provenance_for
from harness.trials import SCRIPTED, Project, replay

FOLDER = "_judge"
"""The name that stands in the place of the agent's in paths of cassettes and scripts."""
LABELS = "labels"
"""The folder of labelled answers beside the golden sets."""
LABEL_FILES = (".yaml", ".yml", ".jsonl")


def questions_of(contracts: Iterable[Contract]) -> tuple[Question, ...]:
    """
    What *contracts* ask beyond a trace, each question once.

    Raises:
        BadFileError: An option of a contract is out of range.
    """
    asked = (question for one in contracts if one.questions for question in one.questions(one.options))
    return tuple(dict.fromkeys(asked))


def judge_model(project: Project, name: str) -> JudgeModel:
    """How pyproject.toml has the model *name* asked."""
    declared = project.model(name)
    if declared is None:
        return JudgeModel(name, name)
    return JudgeModel(name, declared.ask_for or name, declared.sampling)


def judge_cell(model: str, cell: Cell) -> Cell:
    """The place of what *model* answered about trials of the case of *cell*."""
    return Cell(FOLDER, model, cell.set, cell.case, cell.trial)


def judgements(project: Project, trial: Trial, questions: Sequence[Question]) -> tuple[Judgement, ...]:
    """What was recorded in answer to *questions* about *trial*; nothing for a trial without an answer."""
    subject = subject_of(trial)
    if subject is None:
        return ()
    cell = trial.cell

    def opened(model: str) -> Cassette:
        return project.cassette(project.cassette_path(judge_cell(model, cell)))

    words = (cell.set, "--agent", cell.agent, "--model", cell.model, "--case", cell.case, "--judge-only")
    hint = "`harness record " + " ".join(shlex.quote(word) for word in words) + "`"
    return answered(Answers(subject, opened, lambda name: judge_model(project, name), hint), questions)


class Asking:
    """Which questions the cases of a project ask."""

    def __init__(self, project: Project) -> None:
        self.project = project
        modules = [project.config.root / path for path in project.config.contract_modules]
        self._catalogue: Catalogue = load_modules(modules)
        self._known: dict[tuple[str, str, str], tuple[Question, ...]] = {}

    def questions(self, planned: PlannedCell) -> tuple[Question, ...]:
        """The questions about a trial of *planned*."""
        design = split_name(planned.cell.agent)[0]
        key = (planned.cell.set, planned.case.id, design)
        if key not in self._known:
            self._known[key] = questions_of(contracts_for(planned.case, design, self._catalogue))
        return self._known[key]

    def cells(self, chosen: Iterable[PlannedCell]) -> dict[Cell, list[PlannedCell]]:
        """The recordings of judges and embedding models that *chosen* need, each with the trials that it is about."""
        found: dict[Cell, list[PlannedCell]] = {}
        for planned in chosen:
            for model in dict.fromkeys(question.model for question in self.questions(planned)):
                found.setdefault(judge_cell(model, planned.cell), []).append(planned)
        return found


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
        if mode == "all" or not _is_there(project, group):
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
                    _add(group, question, subject, model)
    return group


def _add(group: Group, question: Question, subject: Subject, model: JudgeModel) -> None:
    """Put the calls of *question* into *group*, but for those that are there: same answer, same evidence."""
    group.calls += [call for call in calls_for(question, subject, model) if call not in group.calls]


def _is_there(project: Project, group: Group) -> bool:
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
    elif declared is None or not (declared.base_url and declared.sha256 and declared.server):
        raise UsageError(
            "unproven-model",
            f"nothing would prove that vectors came from `{name}`",
            hint=f'declare it in pyproject.toml: [tool.harness.models."{name}"] with base_url, sha256 and server',
        )
    else:
        check_server(base_url or declared.base_url)


async def record_group(
    project: Project, group: Group, mode: str, base_url: str | None, server: ScriptedServer
) -> tuple[int, float | None]:
    """
    Ask what *group* needs and write its recording; how many calls were made, and what they cost.

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
        old = None if source.session is not None or mode == "all" else _old_player(project, path, recorder)
        port = RecordingPort(
            recorder, answered_by=source.answered_by, base_url=source.base_url, old=old, rewrite=source.rewrite,
            fingerprinter=fingerprinter, embedders=source.embedders,
        )  # fmt: skip
        try:
            usage = await _ask_all(port, group.calls, fingerprinter)
            source.close()
        except BaseException:
            recorder.discard()
            raise
    if old is not None and not group.whole:
        for number, item in enumerate(old.unused(), start=len(group.calls) + 1):
            recorder.add(msgspec.structs.replace(item, call=number))
    cost = None if source.answered_by != "live" else price_table().cost_usd(group.cell.model, usage)
    totals = UsageTotals(
        input=usage.input, output=usage.output, cached=usage.cached, thinking=usage.thinking, cost_usd=cost,
        price_table=price_table().digest if cost is not None else "",
    )  # fmt: skip
    recorder.finish(usage=totals)
    return port.asked, cost


def _provenance(project: Project, group: Group, source: Source) -> Provenance:
    sampling = dict(judge_model(project, group.cell.model).sampling)
    return provenance_for(project, source, code=digest(["judge", PROMPT_FORMAT]), sampling=sampling)


async def _ask_all(port: Port, calls: Sequence[Call], fingerprinter: Fingerprinter) -> Usage:
    """Put *calls* to *port*, one after the other."""
    usage = Usage()
    for number, call in enumerate(calls, start=1):
        info = CallInfo(number=number, ask=fingerprinter.ask(call.request), slot=call.slot, purpose=PURPOSE)
        try:
            if isinstance(call.request, ModelRequest):
                usage += (await port.chat(call.request, info)).reply.usage
            else:
                usage += (await port.embed(call.request, info)).reply.usage
        except ModelError as error:
            raise CouldNotCheckError(
                "no-answer", f"`{call.request.model}` did not answer: {error}", hint="mend the model's server"
            ) from None
    return usage


def _old_player(project: Project, path: Path, recorder: Recorder) -> Player | None:
    with suppress(HarnessError):
        cassette = project.cassette(path)
        same_embedders = cassette.provenance.embedders.items() <= recorder.provenance.embedders.items()
        if cassette.provenance.answered_by == recorder.provenance.answered_by and same_embedders:
            return Player(cassette)
    return None


def labelled_cells(project: Project) -> set[Cell]:
    """The recordings that belong to the files of labelled answers in `goldensets/labels/`, by any judge."""
    folder = project.config.cassettes / FOLDER
    names = {path.stem for path in (project.config.goldensets / LABELS).glob("*") if path.suffix in LABEL_FILES}
    models = [path.name for path in folder.glob("*") if path.is_dir()]
    cells = (labels_cell(model, name) for model in models for name in names)
    return {cell for cell in cells if cassette_path(project.config.cassettes, cell).is_file()}


def labels_cell(model: str, name: str) -> Cell:
    """The place of what *model* answered about the labelled answers of the file *name*."""
    return Cell(FOLDER, model, "_labels", name)


def rate_labels(project: Project, labels: Labels, name: str, model: str) -> list[Rated]:
    """Each of *labels*, which are those of the file *name*, with what the judge *model* was recorded to say of it."""
    path = project.cassette_path(labels_cell(model, name))
    try:
        cassette: Cassette | HarnessError = project.cassette(path)
    except HarnessError as error:
        cassette = error

    def opened(_model: str) -> Cassette:
        if isinstance(cassette, HarnessError):
            raise cassette
        return cassette

    def answer(item: LabelledAnswer, question: Question) -> Judgement:
        answers = Answers(item.subject, opened, lambda asked: judge_model(project, asked), "`--record` asks it")
        return answers.to(question)

    return rate(labels, model, answer)


def record_labels(project: Project, labels: Labels, name: str, model: str, base_url: str | None) -> int:
    """
    Ask the judge *model* about *labels* what is not recorded yet; how many calls were made.

    Raises:
        UsageError: The model is not declared as it must be, nobody answers there, or a script is missing.
        CouldNotCheckError: A call was not answered.
    """
    cell = labels_cell(model, name)
    group = Group(cell, PlannedCell(cell=cell, case=GoldenCase(id=name)), embeds_only=False)
    for item in labels.items:
        _add(group, question_of(item, model, labels.votes), item.subject, judge_model(project, model))
    if _is_there(project, group):
        return 0
    check_group(project, group, base_url)

    async def ask() -> int:
        from harness.models.litellm_client import close_clients

        try:
            return (await record_group(project, group, "missing", base_url, server))[0]
        finally:
            await close_clients()

    with ScriptedServer() as server:
        return asyncio.run(ask())
