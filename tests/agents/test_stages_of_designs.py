"""The four stages over every recorded trial of this project: no design speaks of progress in words that nobody maps."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from harness.records import stages as table
from harness.records.stages import STAGES, Stages
from harness.records.trace import Trace
from harness.reports.runs import read_results, read_traces
from harness.testing.project import ScratchProject

ROOT = Path(__file__).parent.parent.parent
SAYS_NOTHING = {"agent", "fast", "fallback"}
"""Phases that last for a whole run, or stand in for it."""
NO_STAGE = {"metrics", "failed"}
"""Progress that is none: figures, and the end of a run that failed."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Trace]]:
    """The traces of the whole matrix as it is replayed today, by design."""
    out = tmp_path_factory.mktemp("runs")
    ran = ScratchProject(ROOT, {}).harness("run", "--model", "scripted", "--out", str(out), "--json")
    folder = out / ran.document["run"]
    found: dict[str, list[Trace]] = defaultdict(list)
    for verdict in read_results(folder):
        found[verdict.agent] += read_traces(folder, verdict.cell)
    return found


def stages_of(trace: Trace) -> list[str]:
    """The stages that a reader of *trace* is shown."""
    stages = Stages()
    return [stage for stage in map(stages.after, trace) if stage is not None]


def test_every_word_is_mapped(traces):
    """Each phase and each progress of each design is in a table, or known to say nothing."""
    phases = {event.data.name for each in traces.values() for trace in each for event in trace.of("phase_started")}
    words = {event.data.stage for each in traces.values() for trace in each for event in trace.of("progress")}

    assert (set(), set()) == (phases - set(table._PHASES) - SAYS_NOTHING, words - set(table._PROGRESS) - NO_STAGE)


def test_every_answer_is_understood_first_and_put_together_last(traces):
    """Whatever lies between, a completed trial goes from the first stage to the last one."""
    odd = [
        (design, shown)
        for design, each in traces.items()
        for trace in each
        if trace.events[-1].data.status == "completed" and trace.final
        for shown in [stages_of(trace)]
        if (shown[0], shown[-1]) != ("understanding", "synthesising")
    ]

    assert [] == odd


def test_every_design_shows_all_four(traces):
    """Over its cases each design plans and queries too."""
    shown = {design: {stage for trace in each for stage in stages_of(trace)} for design, each in traces.items()}

    assert {design: set(STAGES) for design in traces} == shown
