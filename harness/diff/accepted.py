"""What a trial did, held against the ways that are accepted for its case: the closest of them, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.diff.trajectories import diff
from harness.records.accepted import Did, Step, arguments
from harness.records.trajectory import Call, Diff, Edit, Trajectory, Turn

_PURPOSE = "tools"
"""What the turns of a way are called: why a model was asked is not kept."""


class Closest(NamedTuple):
    """The accepted way, by its position from 0, that takes the fewest edits to what a trial did."""

    place: int
    diff: Diff


def did(trajectory: Trajectory) -> Did:
    """The tool calls of *trajectory*, turn by turn; turns without any are left out."""
    return Did(
        steps=tuple(
            Step(calls=tuple((call.tool, arguments(call.args)) for call in turn.calls), leg=turn.leg)
            for turn in trajectory.turns
            if turn.calls
        )
    )


def closest(accepted: Sequence[Did], now: Did) -> Closest:
    """
    The closest of *accepted* ways, of which there is at least one, to what a trial did *now*: the one with the fewest turns
    that do not match, then the one that stands first.
    """
    found = [Closest(place, diff(as_trajectory(way), as_trajectory(now))) for place, way in enumerate(accepted)]
    return min(found, key=lambda one: (_edits(one.diff), one.place))


def as_trajectory(way: Did) -> Trajectory:
    """*way* as a trajectory of which nothing but the calls is known."""
    return Trajectory(
        turns=tuple(
            Turn(leg=step.leg, purpose=_PURPOSE, calls=tuple(Call(tool=tool, args=args) for tool, args in step.calls))
            for step in way.steps
        )
    )


def _edits(found: Diff) -> int:
    """How much differs: turns that do not match before calls that come or go, and these before arguments that change."""
    return sum(_weight(edit) for edit in found.edits if edit.kind != "match")


def _weight(edit: Edit) -> int:
    calls = [call for call in edit.calls if call.kind != "match"]
    return 1000 + sum(100 if call.kind in {"insert", "delete"} else 1 + len(call.changes) for call in calls)
