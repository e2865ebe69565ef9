"""
Questions about one trial as model calls, each with the slot under which it is recorded, and as judgements once answered.

The slot of a call is the digest of the answer and the number of the vote, so that an answer that changed is found to be
one that nobody was asked about, and votes are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.judge.prompt import MOST_ANSWER, Block, Subject, brings_a_verdict, messages
from harness.records.digest import canonical_json, digest
from harness.records.judgement import Question
from harness.records.messages import EmbeddingRequest, Json, ModelRequest
from harness.records.run import Trial

PURPOSE = "judge"
MOST_TOKENS = 600
"""Tokens of a vote where the model's table states no bound."""


class JudgeModel(NamedTuple):
    """A model that judges or embeds: its name, the name that requests carry, and how it draws."""

    name: str
    ask_for: str
    sampling: Mapping[str, Json] = {}


class Call(NamedTuple):
    """One model call about an answer."""

    request: ModelRequest | EmbeddingRequest
    slot: str


def subject_of(trial: Trial) -> Subject | None:
    """What there is to judge in *trial*: its last leg's answer and what its tools told; None where there is no answer."""
    if trial.could_not_check or not trial.traces:
        return None
    final = trial.traces[-1].final
    if final is None:
        return None
    started = trial.traces[0].events[0].data
    return Subject(
        question=getattr(started, "question", ""), answer=final.data.text, blocks=tuple(_blocks(trial)),
        at=(len(trial.traces) - 1, final.seq),
    )  # fmt: skip


def refusal(question: Question, subject: Subject) -> str:
    """
    Why *subject* is failed without asking anybody; empty where it is not.

    An answer that brings along a verdict in the judge's own form is never passed: judges are known to repeat such a one,
    true quotes and all.
    """
    if not subject.answer.strip():
        return "the answer is empty"
    if len(subject.answer) > MOST_ANSWER:
        return (
            f"the answer has {len(subject.answer):,} characters, more than the {MOST_ANSWER:,} that can be judged whole"
        )
    if question.kind == "rubric" and brings_a_verdict(subject.answer):
        return "the answer brings along a verdict in the judge's own form"
    return ""


def calls_for(question: Question, subject: Subject, model: JudgeModel) -> list[Call]:
    """The model calls that *question* about *subject* takes, in order; none for a subject that is refused."""
    if refusal(question, subject):
        return []
    name = digest(_writable(subject.answer))
    if question.kind == "meaning":
        texts = tuple(question.prefix + _writable(text) for text in (subject.answer, question.text))
        return [Call(EmbeddingRequest(model.name, texts), f"{name}/meaning")]
    asked = messages(question, subject)
    return [
        Call(
            ModelRequest(
                model=model.ask_for, messages=asked, temperature=model.sampling.get("temperature"),
                top_p=model.sampling.get("top_p"), max_tokens=model.sampling.get("max_tokens", MOST_TOKENS),
                seed=_seed(model.sampling, vote),
            ),
            f"{name}/{vote}",
        )
        for vote in range(question.votes)
    ]  # fmt: skip


def _seed(sampling: Mapping[str, Json], vote: int) -> int | None:
    """Each vote draws with a seed of its own: the same one would only repeat itself."""
    seed = sampling.get("seed")
    return seed + vote if isinstance(seed, int) else None


def _blocks(trial: Trial) -> Iterator[Block]:
    """Every tool result of *trial*, with the call that asked for it."""
    for leg, trace in enumerate(trial.traces):
        asked: dict[str, Sequence[Json]] = {}
        for event in trace.events:
            if event.type == "tool_call":
                asked[event.data.call_id] = (event.data.tool, event.data.args)
            elif event.type == "tool_result":
                tool, args = asked.get(event.data.call_id, (event.data.tool, None))
                text = _writable(event.data.text)
                if text.strip():
                    failed = "" if event.data.ok else " (failed)"
                    own = tuple(map(_writable, _texts(args)))
                    yield Block(leg, event.seq, f"{tool}{failed} {_json(args)}".strip(), text, own)


def _texts(value: Json) -> Iterator[str]:
    """Every text in *value*, names of keys included, at any depth."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one


def _json(args: Json) -> str:
    if args is None:
        return ""
    try:
        return canonical_json(args).decode()
    except (TypeError, UnicodeEncodeError):
        return ""


def _writable(text: str) -> str:
    """*text* without halves of characters, which no request can carry."""
    return text.encode("utf-8", "backslashreplace").decode()
