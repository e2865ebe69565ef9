"""The arena: a run's designs side by side, each beside those alone that answered the same questions, answered alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from harness.compare.asked import refuse_unlike
from harness.compare.designs import Design, Place, Rivals, designs_of, rivals_of
from harness.compare.figures import FamilyOf, figures_of
from harness.compare.matrix import Differ, rows_of
from harness.compare.pairs import pair_tests
from harness.compare.pareto import dominators, objectives_of
from harness.errors import BadFileError, ExitCode
from harness.records.comparison import Comparison, DesignFigures, Group, LeftOut, PairTest
from harness.records.run import CaseVerdict, RunRecord

Json = Any


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run is compared; empty means all of it. *cases* are globs."""

    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


def compare_run(record: RunRecord, *, divergence: Differ | None = None, chosen: Chosen | None = None) -> Comparison:
    """
    Compare the designs of a run.

    Args:
        record: The run.
        divergence: Tells where the trajectories of two trials part, None where they do not; raises LookupError where one
            of them has no trace. Without it no row says why designs differ.
        chosen: What is compared, in the order of its agents.

    Returns:
        The comparison; without any group where there is nothing to compare.

    Raises:
        UsageError: *chosen* asks to compare what is never compared: unlike provenance, or unlike sets.
        BadFileError: A figure of the run is beyond every number.
    """
    chosen = chosen or Chosen()
    verdicts = [verdict for verdict in record.results if _wanted(verdict, chosen)]
    designs = designs_of(verdicts, first=chosen.agents)
    refuse_unlike(designs, agents=chosen.agents, models=chosen.models)
    order: dict[Place, int] = {}
    for verdict in verdicts:
        order.setdefault((verdict.set, verdict.case), len(order))
    groups, left_out = rivals_of(designs, order)
    pairs = pair_tests(groups, family_of=_families(record.manifest))
    left_out += [left for group in groups for left in group.left_out] + _unchecked(designs)
    try:
        figures = [_figures(group, _families(record.manifest)) for group in groups]
        rows = rows_of(groups, designs, order, differ=divergence)
    except OverflowError:
        raise _beyond_numbers(record) from None
    code = _exit_code(pairs, left_out)
    return Comparison(
        run=record.run,
        sets=tuple(dict.fromkeys(set_name for group in groups for set_name in group.sets)),
        designs=tuple(one for _, each in figures for one in each),
        pairs=tuple(pairs),
        matrix=tuple(rows),
        groups=tuple(group for group, _ in figures),
        left_out=tuple(left_out),
        needs_trials=_needed(pairs) if code is ExitCode.INCONCLUSIVE else None,
        exit_code=int(code),
    )


def _beyond_numbers(record: RunRecord) -> BadFileError:
    because = f"a figure of run `{record.run}` is too large to be one"
    return BadFileError("bad-run", because, hint="`harness run` makes a new one")


def _wanted(verdict: CaseVerdict, chosen: Chosen) -> bool:
    return (
        (not chosen.agents or verdict.agent in chosen.agents)
        and (not chosen.models or verdict.model in chosen.models)
        and (not chosen.sets or verdict.set in chosen.sets)
        and (not chosen.cases or any(fnmatchcase(verdict.case, glob) for glob in chosen.cases))
    )


def _families(manifest: Mapping[str, Json]) -> FamilyOf:
    """The family of each case as the run's manifest tells it; a case that it does not name is one of its own."""
    told = manifest.get("families")
    families = told if isinstance(told, dict) else {}

    def family_of(place: Place) -> str:
        of_set = families.get(place[0])
        family = of_set.get(place[1], place[1]) if isinstance(of_set, dict) else place[1]
        return f"{place[0]}/{family}"

    return family_of


def _figures(group: Rivals, family_of: FamilyOf) -> tuple[Group, list[DesignFigures]]:
    figures = [figures_of(design, group.common, sets=group.sets, family_of=family_of) for design in group.designs]
    objectives = objectives_of(figures, group.provenance) if group.common else ()
    told = Group(
        provenance=group.provenance, sets=group.sets, designs=tuple(one.name for one in figures),
        cases=len(group.common), objectives=objectives,
    )  # fmt: skip
    if not objectives:
        return told, figures
    return told, [
        msgspec.structs.replace(one, pareto=not by, dominated_by=by)
        for one, by in zip(figures, dominators(figures, objectives), strict=True)
    ]


def _unchecked(designs: Sequence[Design]) -> list[LeftOut]:
    """One entry for each trial without a verdict."""
    return [
        LeftOut(
            set=trial.set, case=trial.case, kind="unchecked", designs=(design.name,),
            because=f"could not be checked: {trial.code or 'a contract could not'}",
        )
        for design in designs
        for trial in design.unchecked
    ]  # fmt: skip


def _exit_code(pairs: Sequence[PairTest], left_out: Sequence[LeftOut]) -> ExitCode:
    """
    Trials without a verdict, and cases that were not the same for all, come first; then that nothing was compared;
    then that every pair is left to chance, which scripted ones never are.
    """
    if any(left.kind in {"unchecked", "unlike"} for left in left_out):
        return ExitCode.COULD_NOT_CHECK
    if not any(pair.cases for pair in pairs):
        return ExitCode.NOTHING_COMPARED
    if not any(pair.told for pair in pairs):
        return ExitCode.INCONCLUSIVE
    return ExitCode.PASS


def _needed(pairs: Sequence[PairTest]) -> int | None:
    """The fewest trials of each case that would tell a pair apart."""
    return min((pair.needs_trials for pair in pairs if pair.needs_trials is not None), default=None)
