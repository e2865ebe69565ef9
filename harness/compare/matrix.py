"""Design × case: what each design came to on each case, and the first turn where two of them part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import msgspec

from harness.compare.designs import Design, Place, Rivals
from harness.compare.figures import mean_of, tally_of
from harness.records.comparison import MatrixCell, MatrixRow, Parting
from harness.records.run import CaseVerdict, VerdictState
from harness.records.trajectory import Call, Divergence, Turn

Differ = Callable[[CaseVerdict, CaseVerdict], Divergence | None]
"""Tells where the trajectories of two trials part, None where they do not; raises LookupError where one has no trace."""
MOST_TEXT = 160
"""Characters of a text of a turn that are kept: the trace has the whole."""
MOST_CALLS = 12


def rows_of(
    groups: Sequence[Rivals], designs: Sequence[Design], order: Mapping[Place, int], *, differ: Differ | None = None
) -> list[MatrixRow]:
    """
    One row for each case that at least two designs of a group answered, in the *order* of the run.

    Args:
        groups: The groups; designs of different groups stand in one row, and are never held against each other.
        designs: All designs, in the order of the columns.
        order: The place of each case in the run.
        differ: Tells why two designs differ; without it nothing does.
    """
    rows = []
    for place in sorted({place for group in groups for place in group.places}, key=order.__getitem__):
        here = [group for group in groups if place in group.places]
        names = {design.name for group in here for design in group.designs}
        present = [design for design in designs if design.name in names]
        cells = [cell for design in present if (cell := _cell(design, place)) is not None]
        why = [parting for group in here for parting in _partings(group, place, differ)] if differ else []
        at = next(trial.at for design in present for trial in design.trials.get(place, ()))
        rows.append(MatrixRow(set=place[0], case=place[1], at=at, cells=tuple(cells), why=tuple(why)))
    return rows


def _cell(design: Design, place: Place) -> MatrixCell | None:
    trials = design.trials.get(place, ())
    unchecked = [trial for trial in design.unchecked if (trial.set, trial.case) == place]
    if not trials and not unchecked:
        return None
    tally = tally_of(trials)
    worst: VerdictState = "could_not_check" if unchecked else "broken" if tally.passes < tally.trials else "kept"
    return MatrixCell(
        design=design.name, kept=tally.passes, trials=tally.trials, verdict=worst,
        broken=tuple(sorted({contract for trial in trials for contract in trial.broken})),
        llm_calls=mean_of([trials], lambda trial: trial.llm_calls) if trials else 0.0,
        tokens=mean_of([trials], lambda trial: trial.tokens.input + trial.tokens.output) if trials else 0.0,
    )  # fmt: skip


def _partings(group: Rivals, place: Place, differ: Differ) -> list[Parting]:
    """Where each two designs part in their first trials of a case; without a word of those that kept no trace."""
    partings = []
    for a, b in combinations([design for design in group.designs if place in design.trials], 2):
        try:
            found = differ(a.trials[place][0], b.trials[place][0])
        except LookupError:
            continue
        partings.append(Parting(a=a.name, b=b.name, divergence=_shortened(found)))
    return partings


def _shortened(divergence: Divergence | None) -> Divergence | None:
    if divergence is None:
        return None
    return msgspec.structs.replace(divergence, a=_short_turn(divergence.a), b=_short_turn(divergence.b))


def _short_turn(turn: Turn | None) -> Turn | None:
    if turn is None:
        return None
    return msgspec.structs.replace(
        turn, text=_short(turn.text), thinking=_short(turn.thinking),
        calls=tuple([_short_call(call) for call in turn.calls[:MOST_CALLS]]),
    )  # fmt: skip


def _short_call(call: Call) -> Call:
    args = call.args if len(str(call.args)) <= MOST_TEXT else _short(str(call.args))
    return msgspec.structs.replace(call, args=args, result=_short(call.result), error=_short(call.error))


def _short(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
