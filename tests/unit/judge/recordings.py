"""Trials to be judged, and recordings of judges that were never asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.cassettes.file import Cassette, Interaction, Provenance, make_cassette
from harness.cassettes.fingerprint import Fingerprinter
from harness.errors import CassetteError
from harness.judge.asking import JudgeModel, calls_for, subject_of
from harness.judge.prompt import Subject
from harness.judge.replay import Answers, answered
from harness.records.judgement import Judgement, Question
from harness.records.messages import EmbeddingRequest
from harness.records.run import Trial
from harness.testing.builders import answer, make_trace, make_trial, model_turn, tool_use

MODEL = JudgeModel("judge", "judge")
CRITERION = "The answer gives the temperature."
RUBRIC = Question(kind="rubric", text=CRITERION, model="judge", votes=3)
MEANING = Question(kind="meaning", text="Seven degrees.", model="e5")
TOLD = '{"city":"Berlin","temperature_c":7}'
PASS = '{"verdict": "pass", "evidence": [{"event": 1, "quote": "\\"temperature_c\\":7"}], "why": "It does."}'
FAIL = '{"verdict": "fail", "evidence": [], "why": "It does not."}'


def trial(text: str = "It is 7 °C in Berlin.", told: str = TOLD) -> Trial:
    """One look at the weather, and *text* as the answer."""
    return make_trial(
        make_trace(
            model_turn(calls=[("get_weather", {"city": "Berlin"})]),
            tool_use("get_weather", {"city": "Berlin"}, text=told),
            model_turn(text),
            answer(text),
        )
    )


def subject(text: str = "It is 7 °C in Berlin.", told: str = TOLD) -> Subject:
    """What a judge is shown of `trial`."""
    found = subject_of(trial(text, told))
    assert found is not None
    return found


def recording(question: Question, about: Subject, replies: Sequence[Any], *, by: str = "scripted") -> Cassette:
    """What a judge (or an embedding model: *replies* are then vectors) was recorded to say of *about*."""
    calls = calls_for(question, about, JudgeModel(question.model, question.model))
    said = [replies] if question.kind == "meaning" else list(replies)
    items = [
        Interaction(
            call=number, ask=Fingerprinter().ask(call.request), slot=call.slot, answered_by=by,
            kind="embedding" if isinstance(call.request, EmbeddingRequest) else "chat",
            uri=f"http://scripted.invalid/v1/{'embeddings' if question.kind == 'meaning' else 'chat/completions'}",
            response_headers={"content-type": ["application/json"]}, response_body=json.dumps(_body(question, reply)),
        )
        for number, (call, reply) in enumerate(zip(calls, said, strict=True), start=1)
    ]  # fmt: skip
    return make_cassette(Provenance(answered_by=by), items)


def judged(one: Trial, question: Question, replies: Sequence[Any], *, by: str = "scripted") -> Judgement:
    """What *replies* come to as the answer to *question* about *one*."""
    about = subject_of(one)
    assert about is not None
    tape = recording(question, about, replies, by=by)
    (found,) = answered(Answers(about, lambda _model: tape, _model, "`harness record`"), [question])
    return found


def nothing(_model: str) -> Cassette:
    """A judge that was never recorded."""
    raise CassetteError("cassette-missing", "there is no such cassette")


def _model(name: str) -> JudgeModel:
    return JudgeModel(name, name)


def _body(question: Question, reply: Any) -> dict[str, Any]:
    if question.kind == "meaning":
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(reply)]
        return {
            "object": "list",
            "data": data,
            "model": question.model,
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
    message = {"role": "assistant", "content": reply}
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": question.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
