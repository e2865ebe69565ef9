"""What the trials of a run did, held against the ways that are accepted for their cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.config import Config
    from harness.diff.accepted import Closest
    from harness.records.accepted import Did, Strayed
    from harness.records.run import CaseVerdict, Cell
    from harness.reports.documents import DiffDocument


def done(folder: Path, verdicts: Iterable[CaseVerdict]) -> dict[Cell, Did]:
    """
    What each trial of the run in *folder* did; a trial without a trace, or without a verdict, is left out.

    Raises:
        BadFileError: A trace cannot be read.
    """
    from harness.diff.accepted import did
    from harness.diff.turns import trajectory
    from harness.reports.runs import read_traces

    found = {}
    for verdict in verdicts:
        traces = read_traces(folder, verdict.cell) if verdict.verdict != "could_not_check" else ()
        if traces:
            found[verdict.cell] = did(trajectory(traces))
    return found


def strayed(config: Config, folder: Path, verdicts: Iterable[CaseVerdict]) -> Iterator[Strayed]:
    """Trials of the run in *folder* that took none of the accepted ways, with the closest of them, or that have no trace."""
    from harness.diff.accepted import closest
    from harness.gate.ways import load_ways, same_way
    from harness.records.accepted import Strayed

    judged = [verdict for verdict in verdicts if verdict.verdict != "could_not_check"]
    now = done(folder, judged)
    ways = load_ways(config.reports, {cell.set for cell in now})
    for cell in (verdict.cell for verdict in judged):
        if cell not in now:
            yield Strayed(cell=cell, closest=0, accepted=0, because="", traced=False)
            continue
        one = now[cell]
        accepted = ways[cell.set].of(cell)
        if any(same_way(way, one) for way in accepted):
            continue
        if not accepted:
            yield Strayed(cell=cell, closest=0, accepted=0, because="")
            continue
        nearest = closest(accepted, one)
        yield Strayed(cell=cell, closest=nearest.place + 1, accepted=len(accepted), because=_parting(nearest))


def against_accepted(config: Config, folder: Path, verdicts: Sequence[CaseVerdict]) -> DiffDocument:
    """
    Hold what the trials of *verdicts*, of the run in *folder*, did against the closest of the ways that are accepted.

    Raises:
        NothingComparedError: No way is accepted for any of their cases.
    """
    from harness.diff.accepted import closest
    from harness.errors import NothingComparedError
    from harness.gate.baseline import load_baselines
    from harness.gate.ways import load_ways
    from harness.reports.documents import DiffDocument, TrialDiff

    sets = {verdict.set for verdict in verdicts}
    ways, baselines, now = load_ways(config.reports, sets), load_baselines(config.reports, sets), done(folder, verdicts)
    trials, bare = [], []
    for verdict in verdicts:
        cell = verdict.cell
        accepted, baseline = ways[cell.set].of(cell), baselines.get(cell.set)
        if not accepted:
            bare.append(cell)
        elif cell in now:
            found = closest(accepted, now[cell])
            known = baseline.case(cell.agent, cell.model, cell.case) if baseline else None
            trials.append(
                TrialDiff(
                    a=cell, b=cell, provenance_a=known.provenance if known else "none", provenance_b=verdict.provenance,
                    same=found.diff.same, diff=found.diff, closest=found.place + 1, accepted=len(accepted),
                )
            )  # fmt: skip
    if len(bare) == len(verdicts):
        raise NothingComparedError(
            "nothing-to-diff",
            f"no trajectory is accepted for any of the {len(verdicts)} trials of {folder.name}",
            hint='name a second run, two agents of this one (`--agent A --agent B`), or `harness accept --reason "…"` first',
        )
    compared = {trial.b for trial in trials}
    return DiffDocument(
        a="accepted", b=folder.name, trials=tuple(trials), only_a=(), only_b=tuple(bare),
        untraced=tuple(v.cell for v in verdicts if v.cell not in compared and v.cell not in set(bare)),
    )  # fmt: skip


def _parting(nearest: Closest) -> str:
    """Where two ways part, in words."""
    parted = nearest.diff.divergence
    if parted is None:
        return "the same calls, in other legs of the trial"
    return f"step {parted.step}: {parted.because}"
