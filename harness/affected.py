"""
Which trials a change can reach: those whose lock is no longer the one that their accepted verdict followed from.

A lock is compared before anything runs, so it lacks the tools that an agent is offered. They follow from the agent, its
world and tapegate, which the lock has. What nothing was accepted for, and what was accepted without a lock, is reached
by any change: too much runs rather than too little.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from harness import __version__
from harness.agents.load import REFERENCE, split_name
from harness.checkout import own_source
from harness.gate.baseline import Baseline, BaselineCase, BaselineTrial, load_baselines
from harness.gate.cause import own_part
from harness.locks import Locks
from harness.matrix import Affected, PlannedCell, RunPlan
from harness.records.run import Cell
from harness.trials import SCRIPTED, Project

BASELINE = "baseline"
TAPEGATE = "tapegate"
_COMPARED = ("golden", "prompt", "model", "world", "code", "contracts")
"""What the trials of a case share and what is known before they run."""


def only_affected(project: Project, chosen: RunPlan) -> RunPlan:
    """
    Leave out the trials of *chosen* that would come to what was accepted for them, and say why the others are in.

    Raises:
        BadFileError: A baseline, an agent or a world cannot be read.
    """
    baselines = load_baselines(project.config.reports, {planned.cell.set for planned in chosen.cells})
    locks = Locks(project)
    causes: Counter[str] = Counter()
    cells: list[PlannedCell] = []
    known = 0
    for planned in chosen.cells:
        baseline = baselines.get(planned.cell.set, Baseline(set=planned.cell.set))
        accepted = _accepted(planned.cell, baseline)
        found = _causes(planned, accepted, locks, baseline.source)
        causes.update(found)
        if found or accepted is None:
            cells.append(planned)
        else:
            known += accepted[1].verdict == "broken"
    told = Affected(left_out=len(chosen.cells) - len(cells), known=known, causes=dict(sorted(causes.items())))
    return msgspec.structs.replace(chosen, cells=tuple(cells), partial=True, affected=told)


def _accepted(cell: Cell, baseline: Baseline) -> tuple[BaselineCase, BaselineTrial] | None:
    """What was accepted for *cell*: its case, and the trial itself."""
    case = baseline.case(cell.agent, cell.model, cell.case)
    trial = next((trial for trial in case.trials if trial.n == cell.trial), None) if case else None
    return (case, trial) if case and trial else None


def _causes(
    planned: PlannedCell, accepted: tuple[BaselineCase, BaselineTrial] | None, locks: Locks, source: str
) -> set[str]:
    """What of *planned* is not as it was accepted; empty where everything is."""
    if accepted is None or accepted[0].lock is None or not accepted[1].recording:
        return {BASELINE}
    case, trial = accepted
    now = locks.before(planned.cell, planned.case)
    found = {name for name in _COMPARED if getattr(now, name) != getattr(case.lock, name)}
    if now.cassette != trial.recording:
        found.add("cassette" if own_part(now.cassette) != own_part(trial.recording) else "judge")
    if case.versions.get(TAPEGATE) != __version__ or source != own_source():
        found = (found - {"contracts"}) | {TAPEGATE}
    if _is_owed(planned.cell, case, trial):
        found.add(BASELINE)
    return found


def _is_owed(cell: Cell, case: BaselineCase, trial: BaselineTrial) -> bool:
    """Whether the accepted verdict is one that `harness accept` would have refused, so that it is not to be relied on."""
    must_be_kept = case.provenance == SCRIPTED and split_name(cell.agent)[1] == REFERENCE
    return trial.verdict == "could_not_check" or (trial.verdict == "broken" and must_be_kept)
