"""What a comparison says of a run."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import Chosen, compare_run
from harness.errors import BadFileError, ExitCode
from harness.records.comparison import Group, LeftOut
from harness.records.messages import Usage
from harness.records.trajectory import Divergence, Turn

from .builders import compared, local, outcomes, record, verdict


def test_designs_are_compared_with_those_of_their_provenance_only():
    """Two groups, each with a front and a pair of its own."""
    found = compared(
        *outcomes("lean", [True]), *outcomes("deep", [True]), *local("lean", [True]), *local("deep", [False])
    )

    assert [
        Group(
            provenance="scripted", sets=("shared",), designs=("deep × scripted", "lean × scripted"), cases=1,
            objectives=("kept_rate", "tokens", "llm_calls"),
        ),
        Group(
            provenance="local", sets=("shared",), designs=("deep × small", "lean × small"), cases=1,
            objectives=("kept_rate", "tokens", "llm_calls", "recorded_ms"),
        ),
    ] == list(found.groups)  # fmt: skip
    assert [("deep × scripted", "lean × scripted"), ("deep × small", "lean × small")] == [
        (pair.a, pair.b) for pair in found.pairs
    ]
    assert [(), (), ("lean × small",), ()] == [one.dominated_by for one in found.designs]
    assert [True, True, False, True] == [one.pareto for one in found.designs]


def test_cases_that_one_design_ran_are_told():
    """They are in no figure, no pair and no row."""
    found = compared(*outcomes("lean", [True, True]), *outcomes("deep", [True]))

    told = LeftOut(
        set="shared", case="S2", kind="alone", designs=("lean × scripted",), because="lean × scripted alone ran it"
    )
    assert (told,) == found.left_out
    assert [1, 1] == [one.cases for one in found.designs]
    assert ["S1"] == [row.case for row in found.matrix]


def test_figures_are_about_the_cases_that_all_answered():
    """A case that two of three answered counts in their pair alone."""
    found = compared(*outcomes("a", [True, True]), *outcomes("b", [True, False]), *outcomes("c", [True]))

    assert [1, 1, 1] == [one.cases for one in found.designs]
    assert [("a", "b", 2, 1), ("a", "c", 1, 0), ("b", "c", 1, 0)] == [
        (pair.a[0], pair.b[0], pair.cases, pair.wins) for pair in found.pairs
    ]
    assert [("partly", "not answered by c × scripted, so it counts in pairs only")] == [
        (left.kind, left.because) for left in found.left_out
    ]


def test_sets_that_the_same_designs_ran_are_compared_together():
    """A set that others ran as well is a group of its own."""
    both = [verdict(agent, "S1", set=name) for agent in ("a", "b") for name in ("one", "two", "three")]
    found = compared(*both, verdict("c", "S1", set="three"))

    assert [(("one", "two"), 2), (("three",), 1)] == [(group.sets, group.cases) for group in found.groups]
    assert ("one", "two", "three") == found.sets


def test_a_case_in_another_world_is_no_match():
    """Designs that saw different rows are not compared on that case, and the command says so by its exit code."""
    other = verdict("deep", "S2").lock
    found = compared(
        *outcomes("lean", [True, True]), verdict("deep", "S1"),
        verdict("deep", "S2", lock=type(other)(golden="S2", world="elsewhere")),
    )  # fmt: skip

    assert [("S2", "unlike", "not the same recorded world for all of them")] == [
        (left.case, left.kind, left.because) for left in found.left_out
    ]
    assert 1 == found.pairs[0].cases
    assert ExitCode.COULD_NOT_CHECK == found.exit_code


def test_trials_without_a_verdict_are_told():
    """They are in no figure, and nothing that was not checked maps to 0."""
    found = compared(*outcomes("lean", [True, True]), *outcomes("deep", [True, None], code="cassette-missing"))

    assert [("alone", "S2"), ("unchecked", "S2")] == [(left.kind, left.case) for left in found.left_out]
    assert "could not be checked: cassette-missing" == found.left_out[1].because
    assert ExitCode.COULD_NOT_CHECK == found.exit_code


def test_one_design_is_nothing_to_compare():
    """Nothing is compared with itself."""
    found = compared(*outcomes("lean", [True, False]))

    assert ((), (), (), ()) == (found.designs, found.pairs, found.matrix, found.groups)
    assert ExitCode.NOTHING_COMPARED == found.exit_code


def test_designs_without_a_common_case_are_nothing_to_compare():
    """They ran the same set, each its own part of it."""
    found = compared(verdict("a", "S1"), verdict("b", "S2"))

    assert (1, (), [0]) == (len(found.groups), found.matrix, [pair.cases for pair in found.pairs])
    assert ExitCode.NOTHING_COMPARED == found.exit_code


def test_samples_that_tell_nothing_are_inconclusive():
    """With the trials that would tell; a scripted comparison beside it is told, and then the command ends well."""
    samples = [*local("lean", [True, False]), *local("deep", [True, True])]
    found = compared(*samples)

    assert (ExitCode.INCONCLUSIVE, found.pairs[0].needs_trials) == (found.exit_code, found.needs_trials)
    assert ExitCode.PASS == compared(*samples, *outcomes("lean", [True]), *outcomes("deep", [True])).exit_code


def test_a_difference_that_is_told_ends_well():
    """Eight cases that one design keeps and the other does not."""
    found = compared(*local("lean", [True] * 8), *local("deep", [False] * 8))

    assert (ExitCode.PASS, None) == (found.exit_code, found.needs_trials)
    assert ("mcnemar_exact", 2 / 2**8, True) == (found.pairs[0].test, found.pairs[0].p_adjusted, found.pairs[0].told)


@pytest.mark.parametrize("fields", [{"llm_calls": 10**400}, {"cost_usd": 1e308}])
def test_figures_beyond_every_number_are_refused(fields):
    """A run folder may come from anywhere."""
    with pytest.raises(BadFileError) as caught:
        compared(*outcomes("a", [True, True], **fields), *outcomes("b", [True, True], **fields))
    assert ("bad-run", "a figure of run `r1` is too large to be one") == (caught.value.code, caught.value.message)


def test_only_what_is_chosen_is_compared():
    """By agent, model, set and glob of a case; agents stand in the order in which they are named."""
    every = [*outcomes("a", [True] * 12), *outcomes("b", [True] * 12), *outcomes("c", [True] * 12)]
    found = compared(
        *every, *local("a", [True]), chosen=Chosen(agents=("c", "a"), models=("scripted",), cases=("S1*",))
    )

    assert [("c × scripted", "a × scripted", 4)] == [(pair.a, pair.b, pair.cases) for pair in found.pairs]
    assert ["S1", "S10", "S11", "S12"] == [row.case for row in found.matrix]


def test_why_they_differ_is_asked_within_a_group():
    """Of the first trials; where a trace is missing nothing is said."""
    asked = []

    def differ(a, b):
        asked.append((a.agent, b.agent, a.case))
        if a.case == "S2":
            raise LookupError
        return Divergence(step=1, a=Turn(text="x" * 1000), b=None, because="they do")

    found = compared(
        *outcomes("lean", [[True, True], True]), *outcomes("deep", [True, True]), *local("lean", [True]),
        divergence=differ,
    )  # fmt: skip

    assert [("deep", "lean", "S1"), ("deep", "lean", "S2")] == asked
    assert [1, 0] == [len(row.why) for row in found.matrix]
    assert "they do" == found.matrix[0].why[0].divergence.because
    assert 160 == len(found.matrix[0].why[0].divergence.a.text)


@given(st.permutations(range(23)))
def test_the_order_of_verdicts_changes_nothing(order):
    """But the rows, which stand as the run has them."""
    verdicts = [
        *local("a", [True, False, True, True]), *local("b", [False, False, [True, False], True]),
        *local("c", [[True, True], True, False]), *outcomes("a", [True] * 5), *outcomes("b", [False] * 5),
    ]  # fmt: skip
    plain, shuffled = compared(*verdicts), compared(*[verdicts[place % len(verdicts)] for place in order])

    assert plain.designs == shuffled.designs
    assert plain.pairs == shuffled.pairs
    assert sorted(row.case for row in plain.matrix) == sorted(row.case for row in shuffled.matrix)


@given(st.permutations(["a", "b", "c"]))
def test_the_order_of_designs_changes_signs_only(agents):
    """Asked for in another order, a pair may stand the other way round."""
    verdicts = [*local("a", [True] * 6), *local("b", [False, True] * 3), *local("c", [False] * 6)]
    plain, asked = compared(*verdicts), compared(*verdicts, chosen=Chosen(agents=tuple(agents)))

    assert {one.name: one for one in plain.designs} == {
        one.name: msgspec.structs.replace(one, dominated_by=tuple(sorted(one.dominated_by))) for one in asked.designs
    }
    assert {frozenset((p.a, p.b)): (p.p_value, p.p_adjusted, p.ties, abs(p.effect)) for p in plain.pairs} == {
        frozenset((p.a, p.b)): (p.p_value, p.p_adjusted, p.ties, abs(p.effect)) for p in asked.pairs
    }
    assert [agents[0], agents[0], agents[1]] == [pair.a[0] for pair in asked.pairs]


def test_a_beaten_design_changes_no_other_mark():
    """It ran the same cases, kept as many, and called more often."""
    three = [
        *outcomes("a", [True]),
        *outcomes("b", [True], llm_calls=1),
        *outcomes("c", [True], llm_calls=0, tokens=Usage(900, 0)),
    ]
    before = compared(*three)
    after = compared(*three, *outcomes("d", [True], llm_calls=9))

    marks = {one.name: one.pareto for one in before.designs}
    assert marks == {one.name: one.pareto for one in after.designs if one.agent != "d"}
    assert ("a × scripted", "b × scripted") == after.designs[3].dominated_by


def test_families_come_from_the_manifest_of_the_run():
    """Variants of one question hang together; a manifest without them, or with nonsense, leaves each case alone."""
    verdicts = [*local("a", [True] * 4), *local("b", [False, False, True, True])]
    told = {"shared": {"S1": "one", "S2": "one", "S3": "two", "S4": "three"}}
    with_families = compare_run(record(*verdicts, families=told)).pairs[0].interval
    without = compare_run(record(*verdicts)).pairs[0].interval

    assert with_families != without
    assert without == compare_run(record(*verdicts, families=[1])).pairs[0].interval
    assert without == compare_run(record(*verdicts, families={"shared": "x"})).pairs[0].interval
