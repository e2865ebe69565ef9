"""Who is compared with whom."""

from __future__ import annotations

import pytest

from harness.compare.designs import designs_of
from harness.errors import UsageError
from harness.records.run import Lock

from .builders import local, outcomes, rivals, verdict


def test_designs_stand_in_the_order_of_their_names():
    """Agents that are asked for come first, in the order in which they are."""
    verdicts = [*outcomes("b", [True]), *local("b", [True]), *outcomes("a", [True]), *outcomes("c", [True])]

    assert ["a × scripted", "b × scripted", "b × small", "c × scripted"] == [one.name for one in designs_of(verdicts)]
    assert ["c × scripted", "b × scripted", "b × small", "a × scripted"] == [
        one.name for one in designs_of(verdicts, first=("c", "b"))
    ]


def test_a_design_that_was_answered_in_two_ways_is_refused():
    """Its trials are never put together, and the command that records them alike is named."""
    mixed = [verdict("a", "S1", model="m", provenance="live"), verdict("a", "S2", model="m", provenance="local")]

    with pytest.raises(UsageError) as caught:
        designs_of(mixed)
    assert "unlike-provenance" == caught.value.code
    assert "a × m was answered by live and local models: its trials are never put together" == caught.value.message
    assert "`harness record --agent a --model m --mode all` records them alike" == caught.value.hint


def test_trials_without_a_model_call_belong_to_their_design():
    """Whoever answers its other trials; where nobody does, a scripted cell is scripted."""
    (lean,) = designs_of([verdict("a", "S1", model="m"), verdict("a", "S2", model="m", provenance="none")])
    (idle,) = designs_of([verdict("a", "S1", provenance="none")])
    (unknown,) = designs_of([verdict("a", "S1", model="m", provenance="none")])

    assert ("local", 2, True) == (lean.provenance, len(lean.trials), lean.sampled)
    assert ("scripted", False) == (idle.provenance, idle.sampled)
    assert ("none", False) == (unknown.provenance, unknown.sampled)


def test_scripted_trials_are_all_counted():
    """They are no samples, so a recording that is replayed twice is counted twice."""
    (scripted,) = designs_of(outcomes("a", [[True, True]], cassette_digest="one"))
    (sampled,) = designs_of(local("a", [[True, True]], cassette_digest="one"))

    assert (2, 1) == (len(scripted.trials["shared", "S1"]), len(sampled.trials["shared", "S1"]))


def test_recordings_without_a_digest_are_not_taken_for_one():
    """Nothing proves that they are the same."""
    (sampled,) = designs_of(local("a", [[True, True]], cassette_digest=""))

    assert 2 == len(sampled.trials["shared", "S1"])


@pytest.mark.parametrize(
    ("other", "because"),
    [
        ({"lock": Lock(golden="other", world="weather")}, "not the same question for all of them"),
        ({"lock": Lock(golden="S1", world="other")}, "not the same recorded world for all of them"),
        ({"fault": "timeout"}, "not the same injected fault for all of them"),
    ],
)
def test_what_was_not_the_same_for_all_is_not_compared(other, because):
    """Question, world and fault of each case are those of every design."""
    (group,), _ = rivals(verdict("a", "S1"), verdict("b", "S1", **other), *outcomes("c", [True]))

    assert ((), (), [("unlike", because, ("a × scripted", "b × scripted", "c × scripted"))]) == (
        group.places, group.common, [(left.kind, left.because, left.designs) for left in group.left_out],
    )  # fmt: skip


def test_only_the_world_and_the_question_have_to_be_alike():
    """Prompts, tools, code and model are what designs differ in."""
    own = Lock(golden="S1", world="weather", prompt="p", tool_schema="t", code="c", model="m", contracts="k")
    (group,), left_out = rivals(verdict("a", "S1"), verdict("b", "S1", lock=own))

    assert ((("shared", "S1"),), []) == (group.common, left_out)


def test_a_case_of_one_design_is_no_case_of_its_group():
    """It is told, with the design."""
    (group,), _ = rivals(*outcomes("a", [True, True]), *outcomes("b", [True]))

    assert [("S2", "alone", "a × scripted alone ran it")] == [(o.case, o.kind, o.because) for o in group.left_out]


def test_a_set_of_one_design_is_no_group():
    """Each of its cases is told."""
    groups, left_out = rivals(*outcomes("a", [True]), *outcomes("b", [True]), verdict("a", "L1", set="own"))

    assert [("shared",)] == [group.sets for group in groups]
    assert [("own", "L1", "alone")] == [(left.set, left.case, left.kind) for left in left_out]
