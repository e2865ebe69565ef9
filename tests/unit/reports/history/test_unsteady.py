"""Who flickers, and why: the luck of a model, or something that is not deterministic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.reports.history.unsteady import unsteady

from .made import local, run, trial


def test_another_verdict_on_the_same_recording_is_nondeterminism():
    """Recording and files are the same, so neither the model nor a change explains it."""
    runs = [run(1, trial("S1")), run(2, trial("S1", "broken")), run(3, trial("S1"))]
    (found,) = unsteady(runs)

    assert ("nondeterminism", "S1", 2, 3, None) == (found.kind, found.case, found.kept, found.of, found.score)
    assert (runs[1].run, runs[2].run) == found.runs
    assert (
        "the same recording and the same files, but the verdict changed 2 times, last from broken (CX13) to kept: "
        "the agent, a contract or tapegate itself differs from run to run" == found.because
    )


def test_another_contract_or_a_crash_is_nondeterminism_too():
    """Broken for another reason, or not checked, on the same recording."""
    other = run(2, trial("S1", "broken", broken=("CX9",)))
    crash = run(2, trial("S1", "could_not_check", code="agent-crash"))

    assert (
        "changed once, last from broken (CX13) to broken (CX9)"
        in unsteady([run(1, trial("S1", "broken")), other])[0].because
    )
    assert "from kept to `agent-crash`" in unsteady([run(1, trial("S1")), crash])[0].because


def test_a_verdict_that_a_change_explains_is_none():
    """Another prompt, other code, another recording, or a machine that was too slow."""
    for change in (
        {"lock": {"prompt": "new"}},
        {"cassette_digest": "other"},
        {"code": "timeout"},
        {"cassette_digest": ""},
        {"lock": {}},
        {"trial": 1},
    ):
        assert () == unsteady([run(1, trial("S1")), run(2, trial("S1", "broken", **change))])


def test_recordings_of_a_real_model_that_disagree_are_flaky():
    """Three recordings, one of them broken, and everything else the same: two of three pairs disagree."""
    runs = [
        run(1, local("S1"), local("S1", trial=1, cassette_digest="b")),
        run(
            2, local("S1"), local("S1", "broken", trial=1, cassette_digest="c", lock=local().lock | {"cassette": "new"})
        ),
    ]
    (found,) = unsteady(runs)

    assert ("recordings", "S1", 2, 3, 2 / 3) == (found.kind, found.case, found.kept, found.of, found.score)
    assert "kept in 2 of 3 recordings that differ in nothing but the model's answers" == found.because


def test_replaying_a_recording_again_is_no_second_sample():
    """Ten replays of two recordings that agree say no more than one."""
    runs = [run(number, local("S1"), local("S1", trial=1, cassette_digest="b")) for number in range(10)]

    assert () == unsteady(runs)


def test_recordings_from_other_prompts_are_not_held_against_each_other():
    """A case that the new prompt mended does not flicker."""
    runs = [run(1, local("S1", "broken")), run(2, local("S1", cassette_digest="b", lock={"prompt": "new"}))]

    assert () == unsteady(runs)


def test_a_scripted_model_has_no_luck():
    """Replies that people wrote are no samples of anything."""
    runs = [run(1, trial("S1"), trial("S1", "broken", trial=1, cassette_digest="b"))]

    assert () == unsteady(runs)


@given(st.lists(st.sampled_from(["kept", "broken"]), min_size=2, max_size=6), st.integers(1, 3))
def test_seeing_the_same_again_makes_nobody_flaky(states, times):
    """Each recording counts once, however often it is replayed."""
    trials = [local("S1", state, trial=place, cassette_digest=f"d{place}") for place, state in enumerate(states)]
    once, often = unsteady([run(0, *trials)]), unsteady([run(number, *trials) for number in range(times)])

    assert [(case.kept, case.of, case.score) for case in once] == [(case.kept, case.of, case.score) for case in often]
