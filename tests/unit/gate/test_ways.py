"""Accepted trajectories: how they are kept, merged and written, and what a trial that took another way is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import GateConfig
from harness.errors import BadFileError
from harness.gate.accepting import accept
from harness.gate.compare import gate
from harness.gate.policy_file import Policy
from harness.gate.ways import accept_ways, load_ways, same_way, ways_path
from harness.records.accepted import MOST_ARGUMENTS, Did, Step, Strayed, arguments
from harness.records.run import Cell

from .verdicts import TODAY, accepted, record, told, verdict

CELL = Cell("lean_react", "small", "shared", "S1", 0)


def way(*turns: str, leg: int = 0) -> Did:
    """A way that calls one tool a turn."""
    return Did(steps=tuple(Step(calls=((tool, {"city": "Bern"}),), leg=leg) for tool in turns))


def accepted_in(reports: Path, did: dict[int, Did], *, also: bool = False, reason: str = "why") -> int:
    """Accept what trials of one case did; how many ways are new."""
    cells = {Cell("lean_react", "small", "shared", "S1", n): one for n, one in did.items()}
    taken = accept_ways(reports, "shared", cells, reason=reason, also=also)
    taken.path.parent.mkdir(parents=True, exist_ok=True)
    taken.path.write_bytes(taken.content)
    return taken.new


def ways_in(reports: Path) -> list[tuple[str, tuple[int, ...], str]]:
    """First tools, trials and reason of each accepted way."""
    found = load_ways(reports, ["shared"])["shared"].of(CELL)
    return [(" ".join(step.calls[0][0] for step in one.steps), one.trials, one.reason) for one in found]


def test_a_new_way_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """By default the baseline says what is done now."""
    assert 1 == accepted_in(tmp_path, {0: way("search")})
    assert 1 == accepted_in(tmp_path, {0: way("search", "read")})

    assert [("search read", (0,), "")] == ways_in(tmp_path)


def test_also_keeps_the_earlier_way_beside_it(tmp_path: Path) -> None:
    """With the reason why there are two; which trials take which is kept."""
    accepted_in(tmp_path, {0: way("search")})
    accepted_in(tmp_path, {0: way("read")}, also=True, reason="both are right")

    assert [("read", (0,), "both are right"), ("search", (), "")] == ways_in(tmp_path)


def test_accepting_without_also_ends_the_choice(tmp_path: Path) -> None:
    """What no accepted trial does any more is gone."""
    accepted_in(tmp_path, {0: way("search")})
    accepted_in(tmp_path, {0: way("read")}, also=True)
    accepted_in(tmp_path, {0: way("read")})

    assert ["read"] == [tools for tools, _, _ in ways_in(tmp_path)]


def test_trials_that_do_the_same_share_a_line(tmp_path: Path) -> None:
    """A trial that is accepted anew leaves what the others did."""
    assert 1 == accepted_in(tmp_path, {0: way("search"), 1: way("search"), 2: way("search")})
    accepted_in(tmp_path, {1: way("read")})

    assert [("search", (0, 2), ""), ("read", (1,), "")] == ways_in(tmp_path)


def test_the_file_has_one_line_a_way(tmp_path: Path) -> None:
    """A changed way is one changed line."""
    accepted_in(tmp_path, {0: way("search", leg=1)})

    assert ways_path(tmp_path, "shared").read_text() == (
        '{\n  "format": 1,\n  "set": "shared",\n  "agents": {\n    "lean_react": {\n      "small": {\n        "S1": [\n'
        '          {"steps": [{"calls": [["search", {"city": "Bern"}]], "leg": 1}], "trials": [0]}\n'
        "        ]\n      }\n    }\n  }\n}\n"
    )


def test_long_arguments_are_kept_as_their_digest() -> None:
    """A file that a tool wrote is not copied into the baseline; another text has another digest."""
    long = {"text": "x" * MOST_ARGUMENTS}

    assert {"city": "Bern"} == arguments({"city": "Bern"})
    assert {"bytes", "digest"} == set(arguments(long))
    assert arguments(long) != arguments({"text": "y" * MOST_ARGUMENTS})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab"\\é', max_size=4),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text("ab", max_size=2), below, max_size=2),
    max_leaves=4,
)
ways = st.lists(
    st.builds(Step, calls=st.lists(st.tuples(st.sampled_from("xyz"), json_values), max_size=2).map(tuple), leg=st.integers(0, 1)),
    max_size=3,
).map(lambda steps: Did(steps=tuple(steps)))  # fmt: skip


@given(st.dictionaries(st.integers(0, 4), ways, min_size=1), st.dictionaries(st.integers(0, 4), ways), st.booleans())
def test_what_was_accepted_is_found_again(
    tmp_path_factory, first: dict[int, Did], second: dict[int, Did], also: bool
) -> None:
    """After writing and reading, each trial's way is there; with `also`, so is every earlier one."""
    reports = tmp_path_factory.mktemp("reports")
    accepted_in(reports, first)
    accepted_in(reports, second, also=also)
    found = load_ways(reports, ["shared"])["shared"].of(CELL)

    now = first | second
    assert all(any(same_way(one, way) and n in way.trials for way in found) for n, one in now.items())
    if also:
        assert all(any(same_way(one, way) for way in found) for one in first.values())
    else:
        assert sorted(n for way in found for n in way.trials) == sorted(now)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "bad-baseline"), (b'{"format": 2}', "unknown-format"), (b'{"format": 1}', "bad-baseline"),
        (b'{"format": 1, "set": "other", "agents": {}}', "bad-baseline"), (b"\xff", "bad-baseline"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    """Never read as if nothing were accepted."""
    path = ways_path(tmp_path, "shared")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    with pytest.raises(BadFileError) as refused:
        load_ways(tmp_path, ["shared"])
    assert code == refused.value.code


def strayed(cell: Cell = CELL, closest: int = 1, of: int = 1) -> Strayed:
    """A trial that took none of the accepted ways."""
    return Strayed(cell=cell, closest=closest, accepted=of, because="step 2: calls `a`, against calls `b`")


def judged(*found: Strayed, trajectories: str = "report"):
    """What the gate says where these trials strayed and nothing else changed."""
    policy = Policy(rules=GateConfig(trajectories=trajectories))
    return gate(record(verdict()), accepted(verdict()), policy, today=TODAY, strayed=found)


def test_another_way_is_told_and_blocks_where_the_policy_says_so() -> None:
    """It names the closest of the accepted ways, and where they part first."""
    reported, blocked = judged(strayed(of=3, closest=2)), judged(strayed(), trajectories="block")

    assert [("trajectory", "new", "unknown", 0)] == told(reported)
    assert "it did not do what was accepted; it parts from 2 of 3 accepted, the closest, at step 2: " in (
        reported.changes[0].because
    )
    assert (1, [("trajectory", "regression", "unknown", 1)]) == (blocked.exit_code, told(blocked))
    assert "it parts from the accepted one at step 2: " in blocked.changes[0].because


def test_a_trial_without_a_trace_is_no_pass_where_trajectories_block() -> None:
    """What nobody can compare could not be checked; where it is only told, there is nothing to tell."""
    untraced = Strayed(cell=CELL, closest=0, accepted=0, because="", traced=False)
    blocked = judged(untraced, trajectories="block")

    assert (3, [("trajectory", "error", "run", 3)]) == (blocked.exit_code, told(blocked))
    assert [] == told(judged(untraced))


def test_a_case_without_an_accepted_way_is_told_once() -> None:
    """A baseline from before ways were kept: nothing to compare with, so red where trajectories block."""
    reported, blocked = judged(strayed(of=0)), judged(strayed(of=0), trajectories="block")

    assert ([("trajectory", "new", "baseline", 0)], 0, 4) == (told(reported), reported.exit_code, blocked.exit_code)
    assert "no way is accepted for 1 trials; `harness accept` adds what they do" == reported.changes[0].because


def test_a_new_case_strays_from_nothing() -> None:
    """That it is new is told already."""
    now = record(verdict(), verdict("S2"))
    other = Cell("lean_react", "small", "shared", "S2", 0)
    decision = gate(now, accepted(verdict()), Policy(), today=TODAY, strayed=[strayed(other, 0, 0)])

    assert [("", "new", "golden", 0)] == told(decision)


def test_accept_writes_what_trials_did_and_leaves_the_rest(tmp_path: Path) -> None:
    """A trial whose trace is gone keeps the way that is accepted for it."""
    first = accept(tmp_path, record(verdict("S1"), verdict("S2")), reason="r", did={CELL: way("search")})
    second = accept(tmp_path, record(verdict("S1")), reason="r", did={})

    assert (1, 0, ()) == (first.trajectories, second.trajectories, second.written)
    assert ["search"] == [tools for tools, _, _ in ways_in(tmp_path)]
    assert {"S1"} == set(json.loads(ways_path(tmp_path, "shared").read_text())["agents"]["lean_react"]["small"])
