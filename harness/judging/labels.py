"""A judge and files of labelled answers: what it was recorded to say of them, and asking it what is missing."""

from __future__ import annotations

import asyncio

from harness.cassettes.file import Cassette
from harness.cassettes.paths import cassette_path
from harness.errors import HarnessError
from harness.judge.calibration import LabelledAnswer, Labels, Rated, question_of, rate
from harness.judge.replay import Answers
from harness.judging.asked import FOLDER, judge_model
from harness.matrix import PlannedCell
from harness.records.case import GoldenCase
from harness.records.judgement import Judgement, Question
from harness.records.run import Cell
from harness.trials import Project

LABELS = "labels"
"""The folder of labelled answers beside the golden sets."""
LABEL_FILES = (".yaml", ".yml", ".jsonl")


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
    from harness.judging.recorded import Group, add_calls, check_group, is_there, record_group
    from harness.models.scripted.server import ScriptedServer

    cell = labels_cell(model, name)
    group = Group(cell, PlannedCell(cell=cell, case=GoldenCase(id=name)), embeds_only=False)
    for item in labels.items:
        add_calls(group, question_of(item, model, labels.votes), item.subject, judge_model(project, model))
    if is_there(project, group):
        return 0
    check_group(project, group, base_url)

    asked: list[int] = []

    async def ask() -> None:
        from harness.models.litellm_client import close_clients

        try:
            await record_group(project, group, "missing", base_url, server, lambda calls, _cost: asked.append(calls))
        finally:
            await close_clients()

    with ScriptedServer() as server:
        asyncio.run(ask())
    return sum(asked)
