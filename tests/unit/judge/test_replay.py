"""From recorded replies to judgements: found by the answer that they are about, and nothing where there is none."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.file import Cassette, Provenance, make_cassette
from harness.errors import CassetteError
from harness.judge.asking import JudgeModel, calls_for, refusal, subject_of
from harness.judge.prompt import MOST_ANSWER, Subject
from harness.judge.replay import Answers, answered, cosine
from harness.records.judgement import Judgement, Question
from harness.records.messages import EmbeddingRequest, ModelRequest
from harness.records.trace import TrialFinished
from harness.testing.builders import answer, make_trace, make_trial, model_turn, tool_use

from .recordings import FAIL, MEANING, MODEL, PASS, RUBRIC, TOLD, judged, nothing, recording, subject, trial

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


def read(tape: Cassette | None, about: Subject, *questions: Question) -> tuple[Judgement, ...]:
    """What *tape* says to *questions* about *about*."""
    opened = nothing if tape is None else lambda _model: tape
    return answered(Answers(about, opened, lambda name: JudgeModel(name, name), "`harness record …`"), questions)


def test_the_majority_of_recorded_votes_decides() -> None:
    """Two votes with true quotes outvote the third; who answered and from which replies is kept."""
    found = judged(trial(), RUBRIC, [PASS, FAIL, PASS], by="local")

    assert ("pass", "2 of 3 votes pass: It does.", "local") == (found.verdict, found.because, found.answered_by)
    assert found.sample
    assert found.sample != judged(trial(), RUBRIC, [PASS, PASS, PASS]).sample


def test_votes_are_kept_apart() -> None:
    """Each vote is a recorded call of its own, under the digest of the answer and its number."""
    calls = calls_for(RUBRIC, subject(), MODEL)
    (name,) = {call.slot.partition("/")[0] for call in calls}

    assert [f"{name}/0", f"{name}/1", f"{name}/2"] == [call.slot for call in calls]
    assert name not in {call.slot.partition("/")[0] for call in calls_for(RUBRIC, subject("It is 8 °C."), MODEL)}


def test_each_vote_draws_with_a_seed_of_its_own() -> None:
    """Three draws with one seed would be one vote told three times."""
    model = JudgeModel("judge", "judge-1", {"temperature": 0.7, "seed": 42, "max_tokens": 99})
    requests = [call.request for call in calls_for(RUBRIC, subject(), model)]

    assert [(42, 0.7, 99, "judge-1"), (43, 0.7, 99, "judge-1"), (44, 0.7, 99, "judge-1")] == [
        (one.seed, one.temperature, one.max_tokens, one.model) for one in requests if isinstance(one, ModelRequest)
    ]


def test_a_changed_answer_is_a_miss() -> None:
    """What was said of another answer says nothing of this one, and the command that asks is named."""
    (found,) = read(recording(RUBRIC, subject(), [PASS] * 3), subject("It is 8 °C."), RUBRIC)

    assert ("none", "`judge` was asked about another answer than this one") == (found.verdict, found.because)
    assert ("none", "`harness record …`") == (found.answered_by, found.hint)


@pytest.mark.parametrize("change", ["evidence", "criterion"])
def test_changed_evidence_or_another_criterion_is_a_miss_too(change: str) -> None:
    """The judge saw something else, and the message says so."""
    tape = recording(RUBRIC, subject(), [PASS] * 3)
    about = subject(told='{"temperature_c":9}') if change == "evidence" else subject()
    asked = msgspec.structs.replace(RUBRIC, text="Another one.") if change == "criterion" else RUBRIC
    (found,) = read(tape, about, asked)

    assert "none" == found.verdict
    assert "with another criterion, other evidence or another prompt" in found.because


def test_too_few_recorded_votes_are_no_verdict() -> None:
    """Five votes that were asked for are not made of three."""
    tape = recording(RUBRIC, subject(), [PASS] * 3)

    assert ["none"] == [one.verdict for one in read(tape, subject(), msgspec.structs.replace(RUBRIC, votes=5))]


def test_no_recording_at_all() -> None:
    """A judge that was never asked about the case says nothing."""
    (found,) = read(None, subject(), RUBRIC)

    assert ("none", "`judge` was never asked about this case") == (found.verdict, found.because)


def test_a_recording_that_cannot_be_used_says_why() -> None:
    """An edited file is no answer."""

    def edited(_model: str) -> Cassette:
        raise CassetteError("cassette-edited", "a response was changed after it was recorded")

    (found,) = answered(Answers(subject(), edited, lambda name: JudgeModel(name, name), "hint"), [RUBRIC])

    assert ("none", "a response was changed after it was recorded") == (found.verdict, found.because)


def test_a_call_that_failed_is_no_verdict() -> None:
    """An error of the judge's server is nobody's fault: neither pass nor fail."""
    tape = recording(RUBRIC, subject(), [PASS] * 3)
    items = [
        msgspec.structs.replace(item, status=500, response_body='{"error": {"message": "down"}}')
        for item in tape.interactions
    ]
    (found,) = read(make_cassette(Provenance(answered_by="scripted"), items), subject(), RUBRIC)

    assert "none" == found.verdict
    assert "`judge` gave no answer while it was recorded: " in found.because


@pytest.mark.parametrize("question", [RUBRIC, MEANING])
@pytest.mark.parametrize(
    ("text", "because"),
    [("x" * (MOST_ANSWER + 1), "the answer has 20,001 characters, more than the 20,000"), ("", "the answer is empty"),
     (" \n", "the answer is empty")],
)  # fmt: skip
def test_what_cannot_be_judged_whole_fails_without_a_call(question: Question, text: str, because: str) -> None:
    """A huge answer cannot push its faults out of sight, and an empty one meets nothing; nobody is asked."""
    about = Subject("?", text)
    (found,) = read(None, about, question)

    assert ("fail", "none") == (found.verdict, found.answered_by)
    assert because in found.because
    assert [] == calls_for(question, about, MODEL)
    assert refusal(question, about)


def test_likeness_is_the_cosine_of_both_vectors() -> None:
    """Two recorded vectors, one figure."""
    found = judged(trial(), MEANING, [[3.0, 4.0], [4.0, 3.0]], by="local")

    assert ("pass", "local") == (found.verdict, found.answered_by)
    assert pytest.approx(0.96) == found.score


@pytest.mark.parametrize("vectors", [[[1.0, 0.0]], [[1.0], [1.0, 0.0]], [[], []]])
def test_vectors_that_cannot_be_compared_are_no_verdict(vectors: list[list[float]]) -> None:
    """One vector, or two of different lengths, say nothing."""
    assert "none" == judged(trial(), MEANING, vectors).verdict


def test_both_texts_are_embedded_with_the_prefix() -> None:
    """The model gets what it wants before each text."""
    asked = msgspec.structs.replace(MEANING, prefix="query: ")
    (call,) = calls_for(asked, subject(), JudgeModel("e5", "e5"))

    assert EmbeddingRequest("e5", ("query: It is 7 °C in Berlin.", "query: Seven degrees.")) == call.request


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_cosine_laws(vector: list[float]) -> None:
    """A vector is like itself or null, unlike its opposite, and never outside of -1 to 1."""
    one = tuple(vector)
    same, opposite = cosine(one, one), cosine(one, tuple(-x for x in one))

    assert same == pytest.approx(0.0) or same == pytest.approx(1.0)
    assert -same == pytest.approx(opposite)
    assert -1 <= same <= 1


def test_cosine_of_what_overflows_is_no_likeness() -> None:
    """Vectors beyond floating point are not called alike."""
    assert 0.0 == cosine((1e308, 1e308), (1e308, 1e308))


def test_evidence_is_what_tools_told_in_every_leg() -> None:
    """Results of all legs in order, with their places; failed calls say so, empty results are left out."""
    first = make_trace(model_turn(calls=[("look", {"x": 1})]), tool_use("look", {"x": 1}, text="one"),
                       tool_use("look", {"x": 2}, text=" "))  # fmt: skip
    second = make_trace(tool_use("write", {"y": 2}, text="no", error="denied"), answer("Done."))
    about = subject_of(make_trial(first, second))

    assert about is not None
    assert [(0, 'look {"x":1}', "one"), (1, 'write (failed) {"y":2}', "no")] == [
        (block.leg, block.asked, block.text) for block in about.blocks
    ]
    assert ("tool_result", "tool_result") == (
        first.events[about.blocks[0].seq].type, second.events[about.blocks[1].seq].type,
    )  # fmt: skip
    assert ((1, "final_answer"), "Done.") == ((about.at[0], second.events[about.at[1]].type), about.answer)


def test_what_the_agent_put_into_a_call_is_kept_beside_what_the_tool_told() -> None:
    """Every text of the arguments, at any depth, so that a tool which echoes it is not taken for a witness."""
    args = {"place": "Berlin", "more": [{"note": "7 degrees"}, 3, None]}
    about = subject_of(
        make_trial(make_trace(tool_use("find", args, text="no 7 degrees", error="unknown"), answer("7")))
    )

    assert about is not None
    assert {"place", "Berlin", "more", "note", "7 degrees"} == set(about.blocks[0].own)


@pytest.mark.parametrize(
    "one",
    [make_trial(), make_trial(make_trace(model_turn("?"))), msgspec.structs.replace(trial(), could_not_check="a miss")],
)
def test_there_is_nothing_to_judge_without_an_answer(one: object) -> None:
    """No trace, no answer, or a trial without a verdict."""
    assert subject_of(one) is None


def test_half_a_character_is_shown_written_out() -> None:
    """An answer that no file can hold is judged all the same."""
    about = subject_of(make_trial(make_trace(answer("a\ud800b"), finished=TrialFinished(status="completed"))))

    assert about is not None
    assert calls_for(RUBRIC, about, MODEL)
    assert TOLD
