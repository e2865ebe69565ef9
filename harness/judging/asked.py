"""Which questions the contracts of a case ask, where the answers lie, and what they are on replay; nothing here records."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from harness.agents.load import split_name
from harness.cassettes.file import Cassette
from harness.contracts.base import Contract
from harness.contracts.catalogue import Catalogue, contracts_for, load_modules
from harness.judge.asking import JudgeModel, subject_of
from harness.judge.replay import Answers, answered
from harness.matrix import PlannedCell
from harness.records.judgement import Judgement, Question
from harness.records.run import Cell, Trial
from harness.trials import Project

FOLDER = "_judge"
"""The name that stands in the place of the agent's in paths of cassettes and scripts."""


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
