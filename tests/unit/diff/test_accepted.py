"""Accepted ways beside what a trial did: which is the closest, and where they part."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.diff.accepted import as_trajectory, closest, did
from harness.records.accepted import Did, Step
from harness.records.trajectory import Call, Trajectory, Turn


def way(*turns: tuple[tuple[str, object], ...]) -> Did:
    """A way of these turns."""
    return Did(steps=tuple(Step(calls=calls) for calls in turns))


SEARCH, READ, WRITE = ("search", {"q": "a"}), ("read", {"id": 1}), ("write", {"id": 1})


def test_what_a_trial_did_is_its_calls_turn_by_turn() -> None:
    """What a model says on the way, and turns that call nothing, are left out; calls at once stay one turn."""
    turns = (
        Turn(turn=1, text="let me see", purpose="plan"),
        Turn(turn=2, calls=(Call(tool="search", args={"q": "a"}, ok=True, result="x"), Call(tool="read", args={"id": 1}))),
        Turn(turn=3, leg=1, calls=(Call(tool="write", args={"id": 1}),)),
    )  # fmt: skip

    assert Did(steps=(Step(calls=(SEARCH, READ)), Step(calls=(WRITE,), leg=1))) == did(
        Trajectory(turns=turns, answer="y")
    )


def test_the_closest_takes_the_fewest_edits() -> None:
    """A changed argument is closer than another tool; among equals the first."""
    now = way((SEARCH,), (("read", {"id": 2}),))
    accepted = [way((SEARCH,), (WRITE,)), way((SEARCH,), (READ,)), way((SEARCH,), (("read", {"id": 3}),))]

    found = closest(accepted, now)
    assert (1, "`read` with `id` 1, against 2") == (found.place, found.diff.divergence.because)
    assert 2 == found.diff.divergence.step


def test_calls_at_once_are_not_calls_one_after_the_other() -> None:
    """Two updates in one turn are another way than two turns with one each."""
    found = closest([way((READ,), (WRITE,))], way((READ, WRITE)))

    assert not found.diff.same


ways = st.lists(st.lists(st.sampled_from([SEARCH, READ, WRITE]), min_size=1, max_size=2).map(tuple), max_size=4).map(
    lambda turns: way(*turns)
)


@given(st.lists(ways, min_size=1, max_size=4), ways)
def test_an_accepted_way_is_its_own_closest(accepted: list[Did], now: Did) -> None:
    """Whatever else is accepted: what was accepted differs in nothing from itself."""
    found = closest([*accepted, now], now)

    assert found.diff.same
    assert now.steps == [*accepted, now][found.place].steps
    assert now == did(as_trajectory(now))
