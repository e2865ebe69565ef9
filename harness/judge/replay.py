"""What was answered to the questions about one trial, from the recordings of the judge and of embedding models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from operator import mul

from harness.cassettes.file import Cassette, Interaction
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import Player
from harness.errors import CassetteError, ReplayMissError
from harness.judge.asking import Call, JudgeModel, calls_for, refusal
from harness.judge.prompt import Subject
from harness.judge.votes import majority, vote_of
from harness.models.replayed import answer_chat, answer_embedding
from harness.records.digest import digest
from harness.records.faults import ModelError
from harness.records.judgement import Judgement, Question
from harness.records.messages import ModelRequest

OpenCassette = Callable[[str], Cassette]
"""The recording of a judge or embedding model, by the model's name; raises CassetteError."""


class Answers:
    """
    The recorded answers about one subject. Each model's recording is opened once, and played from its beginning.

    Args:
        subject: What is judged.
        open_cassette: Where the recordings are.
        model_of: How a model is asked.
        hint: What a person runs to have it recorded.
    """

    def __init__(
        self, subject: Subject, open_cassette: OpenCassette, model_of: Callable[[str], JudgeModel], hint: str
    ) -> None:
        self._subject = subject
        self._open = open_cassette
        self._model_of = model_of
        self._hint = hint
        self._players: dict[str, Player | str] = {}
        self._fingerprinter = Fingerprinter()

    def to(self, question: Question) -> Judgement:
        """The answer to *question*; its verdict is `none` where there is none."""
        if because := refusal(question, self._subject):
            return Judgement(question=question, verdict="fail", because=because)
        player = self._player(question.model)
        if isinstance(player, str):
            return self._none(question, player)
        calls = calls_for(question, self._subject, self._model_of(question.model))
        try:
            played = [self._play(player, call) for call in calls]
            return self._rubric(question, calls, played) if question.kind == "rubric" else _meaning(question, played[0])
        except ReplayMissError:
            return self._none(question, self._missed(player, question, calls))
        except ModelError as error:
            return self._none(question, f"`{question.model}` gave no answer while it was recorded: {error}")
        except CassetteError as error:
            return self._none(question, error.message)

    def _rubric(self, question: Question, calls: list[Call], played: list[Interaction]) -> Judgement:
        votes = []
        for call, item in zip(calls, played, strict=True):
            assert isinstance(call.request, ModelRequest)
            reply = answer_chat(item, call.request.model).reply
            votes.append(vote_of(reply.text, self._subject, question.cite))
        passed, because = majority(votes)
        return Judgement(
            question=question, verdict="pass" if passed else "fail", because=because, votes=tuple(votes),
            answered_by=played[0].answered_by, sample=_sample(played),
        )  # fmt: skip

    def _play(self, player: Player, call: Call) -> Interaction:
        return player.play(self._fingerprinter.ask(call.request), call.slot, call.request)

    def _player(self, model: str) -> Player | str:
        if model not in self._players:
            try:
                self._players[model] = Player(self._open(model), fingerprinter=self._fingerprinter)
            except CassetteError as error:
                missing = error.code == "cassette-missing"
                told = f"`{model}` was never asked about this case" if missing else error.message
                self._players[model] = told
        return self._players[model]

    def _missed(self, player: Player, question: Question, calls: list[Call]) -> str:
        name = calls[0].slot.partition("/")[0]
        if any(item.slot.startswith(f"{name}/") for item in player.cassette.interactions):
            return f"`{question.model}` was asked about this answer, but with another criterion, other evidence or another prompt"
        return f"`{question.model}` was asked about another answer than this one"

    def _none(self, question: Question, because: str) -> Judgement:
        return Judgement(question=question, verdict="none", because=because, hint=self._hint)


def answered(answers: Answers, questions: Iterable[Question]) -> tuple[Judgement, ...]:
    """The answers to *questions*, in their order."""
    return tuple([answers.to(question) for question in questions])


def _meaning(question: Question, item: Interaction) -> Judgement:
    vectors = answer_embedding(item, question.model).reply.vectors
    if len(vectors) != 2 or len(vectors[0]) != len(vectors[1]) or not vectors[0]:
        return Judgement(
            question=question,
            verdict="none",
            because=f"`{question.model}` did not answer with two vectors of one length",
        )
    return Judgement(
        question=question, verdict="pass", score=cosine(*vectors), answered_by=item.answered_by, sample=_sample([item])
    )


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The cosine of the angle between two vectors of one length, from -1 to 1; 0 for a null vector."""
    lengths = math.sqrt(sum(map(mul, one, one)) * sum(map(mul, other, other)))
    if not lengths or not math.isfinite(lengths):
        return 0.0
    return max(-1.0, min(1.0, float(sum(map(mul, one, other))) / lengths))


def _sample(played: Iterable[Interaction]) -> str:
    return digest([(item.status, item.response_body, item.error) for item in played])
