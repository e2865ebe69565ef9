"""How two trajectories differ, and where they part."""

from __future__ import annotations

import time

import msgspec
from hypothesis import given

from harness.diff.trajectories import applied, diff, diff_traces, first_divergence
from harness.diff.turns import content, trajectory
from harness.records.digest import canonical_json
from harness.records.messages import Usage
from harness.records.trajectory import Call, EditCounts, Trajectory, Turn, Words
from harness.testing.builders import answer, make_trace, model_turn, tool_use

from .strategies import trajectories


@given(trajectories, trajectories)
def test_the_edits_lead_from_one_to_the_other(a, b):
    """All that is compared of the second trajectory is made of the first and the edits."""
    assert canonical_json([content(turn) for turn in b.turns]) == canonical_json(applied(a.turns, diff(a, b).edits))


@given(trajectories)
def test_a_trajectory_matches_itself(trajectory):
    """Turn by turn, and nowhere do the two part."""
    found = diff(trajectory, trajectory)

    assert found.same
    assert found.counts == EditCounts(match=len(trajectory.turns))
    assert found.divergence is None


@given(trajectories, trajectories)
def test_the_other_way_round_what_came_is_gone(a, b):
    """Every other count is the same."""
    there, back = diff(a, b).counts, diff(b, a).counts

    assert msgspec.structs.replace(there, insert=there.delete, delete=there.insert) == back


@given(trajectories, trajectories)
def test_every_turn_stands_in_one_edit(a, b):
    """Those of the second in their order, and the deltas add up."""
    found = diff(a, b)

    assert list(range(len(a.turns))) == sorted(place for edit in found.edits for place in edit.a)
    assert list(range(len(b.turns))) == [place for edit in found.edits for place in edit.b]
    assert found.tokens == sum((edit.tokens for edit in found.edits), Usage())


@given(trajectories, trajectories)
def test_what_moved_crosses_another_turn(a, b):
    """A turn that merely changed in its place is replaced."""
    pairs = [(edit.a[0], edit.b[0]) for edit in diff(a, b).edits if edit.a and edit.b]
    moved = [(edit.a[0], edit.b[0]) for edit in diff(a, b).edits if edit.kind == "reorder"]

    assert [] == [(i, j) for i, j in moved if not any((i - p) * (j - q) < 0 for p, q in pairs)]


def kinds(a, b):
    """The kind of each edit between two lists of turns."""
    return [(edit.kind, edit.a, edit.b) for edit in diff(Trajectory(turns=tuple(a)), Trajectory(turns=tuple(b))).edits]


def called(*names, **fields):
    """A turn that calls these tools."""
    calls = tuple(Call(tool=name, args={"of": name}, ok=True, result="done") for name in names)
    return Turn(purpose="agent", calls=calls, **fields)


X, Y = called("x"), called("y")
SAID = Turn(purpose="agent", text="It is done.")


def test_a_turn_more_and_a_turn_less():
    """The turns around it match."""
    assert [("match", (0,), (0,)), ("insert", (), (1,)), ("match", (1,), (2,))] == kinds([X, SAID], [X, Y, SAID])
    assert [("match", (0,), (0,)), ("delete", (1,), ()), ("match", (2,), (1,))] == kinds([X, Y, SAID], [X, SAID])


def test_two_turns_that_changed_places():
    """One of the two stays, the other moved."""
    first, second, third = kinds([X, Y, SAID], [Y, X, SAID])

    assert ["match", "reorder"] == sorted([first[0], second[0]])
    assert {((1,), (0,)), ((0,), (1,))} == {first[1:], second[1:]}
    assert third == ("match", (2,), (2,))


def test_a_turn_that_does_the_same_in_its_place_has_not_moved():
    """Whatever it says, and whatever the design calls it."""
    planned = called("x", text="a plan")

    assert [("replace", (0,), (0,))] == kinds([X], [msgspec.structs.replace(planned, purpose="plan")])


def test_turns_in_another_order_are_not_regrouped():
    """Each still has its own calls; and words alone do not make a turn that moved."""
    other = Turn(purpose="agent", text="No.")

    assert "regroup" not in [kind for kind, _, _ in kinds([X, Y, called("z")], [called("z"), Y, X])]
    assert ["delete", "match", "insert"] == [kind for kind, _, _ in kinds([SAID, X], [X, other])]


def test_a_turn_is_replaced_by_one_of_its_purpose():
    """Where another purpose has no more than a few words the more in common."""
    one = Turn(purpose="agent", text="one two")
    plan, own = Turn(purpose="plan", text="one two x"), Turn(purpose="agent", text="one two y z")

    assert [("insert", (), (0,)), ("replace", (0,), (1,))] == kinds([one], [plan, own])


def test_ways_that_cost_the_same_are_chosen_alike_from_both_sides():
    """These two can be aligned in two ways, which count differently."""
    a = Trajectory(turns=(called("x", "y", text="p"), called("y", text="p"), called("x", text="p")))
    b = Trajectory(turns=(called("y", "y", text="p"), called("x", text="p"), called("y")))
    there, back = diff(a, b).counts, diff(b, a).counts

    assert msgspec.structs.replace(there, insert=there.delete, delete=there.insert) == back


def test_two_calls_in_one_turn_are_regrouped():
    """Two updates in one turn, where there was one in each."""
    assert [("regroup", (0, 1), (0,)), ("match", (2,), (1,))] == kinds([X, Y, SAID], [called("x", "y"), SAID])
    assert [("match", (0,), (0,)), ("regroup", (1,), (1, 2))] == kinds([SAID, called("x", "y")], [SAID, X, Y])


def test_a_changed_argument_replaces_the_turn():
    """The edit names the call and the path of the argument."""
    before = Turn(calls=(Call(tool="get", args={"city": "Berlin"}, ok=True),))
    after = Turn(calls=(Call(tool="get", args={"city": "Bern"}, ok=True),))

    (edit,) = diff(Trajectory(turns=(before,)), Trajectory(turns=(after,))).edits
    (call,) = edit.calls
    assert (edit.kind, call.kind) == ("replace", "replace")
    assert [(change.path, change.before, change.after) for change in call.changes] == [
        (("args", "city"), "Berlin", "Bern")
    ]


def test_calls_of_one_turn_in_another_order():
    """The turn is replaced, one of its calls moved."""
    (edit,) = diff(Trajectory(turns=(called("x", "y"),)), Trajectory(turns=(called("y", "x"),))).edits

    assert edit.kind == "replace"
    assert ["match", "reorder"] == sorted(call.kind for call in edit.calls)


def test_cost_is_told_per_step_where_it_is_known():
    """One unknown price makes the difference unknown, and nothing else."""
    cheap = called("x", usage=Usage(10, 2), cost_usd=0.5)
    dear = called("x", usage=Usage(15, 1), cost_usd=0.75)
    unknown = called("x", usage=Usage(15, 1))

    known = diff(Trajectory(turns=(cheap,)), Trajectory(turns=(dear,))).edits[0]
    assert (known.kind, known.tokens, known.cost_usd) == ("match", Usage(5, -1), 0.25)
    assert diff(Trajectory(turns=(cheap,)), Trajectory(turns=(unknown,))).edits[0].cost_usd is None


def test_long_trajectories_are_compared_in_time():
    """Beyond what is weighed pair by pair, equal turns are still found."""
    a = [called(f"t{n}") for n in range(600)]
    b = [SAID, *a[:300], X, *a[300:], Y]
    began = time.perf_counter()

    found = diff(Trajectory(turns=tuple(a)), Trajectory(turns=tuple(b)))
    assert found.counts == EditCounts(match=600, insert=3)
    assert time.perf_counter() - began < 5


GET = ("get", {"city": "Berlin"})
TRACE = make_trace(model_turn(calls=[GET]), tool_use(*GET), model_turn("7 degrees"), answer("7 degrees"))


def test_traces_of_one_doing_do_not_part():
    """The same trace, as one leg or as a list of legs."""
    assert first_divergence(trajectory(TRACE), trajectory([TRACE])) is None
    assert diff_traces(TRACE, [TRACE]).same


def test_words_on_the_way_are_no_parting():
    """Designs talk differently and may still do the same."""
    chatty = make_trace(
        model_turn("Let me see.", calls=[GET], purpose="step"), tool_use(*GET), model_turn("7"), answer("7 degrees")
    )

    assert first_divergence(trajectory(TRACE), trajectory(chatty)) is None


def test_the_first_turn_where_they_part_is_named():
    """Another argument, another tool, another outcome, an earlier end, another answer."""
    bern = make_trace(model_turn(calls=[("get", {"city": "Bern"})]), tool_use("get", {"city": "Bern"}), answer("5"))
    failed = make_trace(model_turn(calls=[GET]), tool_use(*GET, text="no such city", error="not_found"))
    short = make_trace(model_turn(calls=[GET]), tool_use(*GET), answer("7 degrees"))
    other = make_trace(model_turn(calls=[GET]), tool_use(*GET), model_turn("8"), answer("8 degrees"))
    silent = make_trace(model_turn("7 degrees"), answer("7 degrees"))

    assert [
        (1, '`get` with `city` "Berlin", against "Bern"'),
        (1, "`get` returns {}, against fails (not_found: no such city)"),
        (2, "calls no tool (agent), against is at its end"),
        (2, "the same tool calls, but another answer"),
        (1, 'calls `get({"city":"Berlin"})`, against calls no tool (agent)'),
    ] == [
        (parted.step, parted.because)
        for parted in (
            first_divergence(trajectory(TRACE), trajectory(trace)) for trace in (bern, failed, short, other, silent)
        )
    ]


def test_the_answer_is_compared_by_words():
    """Apart from the turns, for what the user sees may be no reply of a model."""
    other = make_trace(model_turn(calls=[GET]), tool_use(*GET), model_turn("7 degrees"), answer("8 degrees"))

    found = diff_traces(TRACE, other)
    assert found.counts == EditCounts(match=2)
    assert found.answer == (Words("gone", "7 "), Words("come", "8 "), Words("same", "degrees"))
    assert not found.same
