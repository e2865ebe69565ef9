"""
What only a model can say of an answer: whether it meets a criterion, and whether it means the same as another text.

Both contracts read what was answered before they are asked (`Trial.judgements`); they ask nobody themselves.

    contracts:
      - rubric: {criterion: The answer names the day that the figure is of., model: judge-model, votes: 3}
      - similar_meaning: {text: Eight irrelevant items today., at_least: 0.9, model: multilingual-e5-small}
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.contracts.base import Broken, Found, Triggered, Unchecked, contract
from harness.contracts.view import TrialView
from harness.errors import BadFileError
from harness.records.messages import Json

if TYPE_CHECKING:
    from harness.records.judgement import Judgement, Question

MOST_TEXT = 4000
"""Characters of a criterion or a reference."""


def _rubric_questions(options: Mapping[str, Json]) -> tuple[Question, ...]:
    from harness.records.judgement import MOST_VOTES, Question

    stated = options["criterion"]
    criteria = list(stated) if isinstance(stated, list | tuple) else [stated]
    votes, evidence = options.get("votes", 3), options.get("evidence", "trace")
    if isinstance(votes, bool) or not isinstance(votes, int) or not 1 <= votes <= MOST_VOTES or votes % 2 == 0:
        raise _bad("rubric", f"`votes` is an odd number from 1 to {MOST_VOTES}, so that there is no tie, not `{votes}`")
    if evidence not in ("trace", "answer"):
        raise _bad("rubric", f"`evidence` is `trace` or `answer`, not `{evidence}`")
    if not criteria or len(set(map(str, criteria))) != len(criteria):
        raise _bad("rubric", "`criterion` is a text, or a list of different ones")
    return tuple(
        Question(
            kind="rubric", text=_text("rubric", "criterion", criterion), model=_model("rubric", options),
            votes=votes, cite=evidence,
        )
        for criterion in criteria
    )  # fmt: skip


def _meaning_questions(options: Mapping[str, Json]) -> tuple[Question, ...]:
    from harness.records.judgement import Question

    _at_least(options.get("at_least", 0.0))
    prefix = options.get("prefix", "")
    if not isinstance(prefix, str):
        raise _bad("similar_meaning", f"`prefix` is a text, not `{prefix}`")
    text = _text("similar_meaning", "text", options["text"])
    return (Question(kind="meaning", text=text, model=_model("similar_meaning", options), prefix=prefix),)


@contract(
    "rubric", kind="B", over="trial", needs=("final_answer",), shrinks=False, on_request=True,
    questions=_rubric_questions,
)  # fmt: skip
def rubric(
    view: TrialView, *, criterion: str | Sequence[str], model: str, votes: int = 3, evidence: str = "trace"
) -> Iterator[Found]:
    """
    A judge, asked through a recorded model call, finds that the answer meets each *criterion*.

    The majority of *votes* (odd) of the judge *model* decides, criterion by criterion. A vote to pass counts only with
    a quote that really stands where it says: in a tool's result (*evidence* `trace`), or in the answer (`answer`).
    """
    if not view.finals:
        return
    asked = _rubric_questions({"criterion": criterion, "model": model, "votes": votes, "evidence": evidence})
    notes = []
    for question in asked:
        found = _answer_to(view, question)
        if found is None or found.verdict == "none":
            yield _unanswered(view, question, found)
        elif found.verdict == "pass":
            notes.append((f"“{_short(question.text)}”: {found.because} ({_who(found)})", found.answered_by))
        else:
            yield _broken(view, found, f"“{_short(question.text)}”: {found.because} ({_who(found)})")
    if notes:
        yield Triggered("; ".join(note for note, _ in notes), notes[0][1])


@contract(
    "similar_meaning", kind="B", over="trial", needs=("final_answer",), shrinks=False, on_request=True,
    questions=_meaning_questions,
)  # fmt: skip
def similar_meaning(view: TrialView, *, text: str, at_least: float, model: str, prefix: str = "") -> Iterator[Found]:
    """
    The answer means about the same as the option *text*: the cosine of their recorded embeddings is at least *at_least*.

    *at_least* lies between 0 and 1; what is near depends on *model*. *prefix* stands before both texts.
    """
    if not view.finals:
        return
    (question,) = _meaning_questions({"text": text, "model": model, "prefix": prefix})
    found = _answer_to(view, question)
    if found is None or found.verdict == "none" or (found.score is None and found.verdict != "fail"):
        yield _unanswered(view, question, found)
        return
    least = _at_least(at_least)
    if found.score is None:
        yield _broken(view, found, found.because)
    elif found.score < least:
        said = f"the answer's likeness to “{_short(text)}” is {found.score:.3f}, expected at least {least:.3f}"
        yield _broken(view, found, f"{said} ({_who(found)})")
    else:
        yield Triggered(f"likeness {found.score:.3f}, at least {least:.3f} ({_who(found)})", found.answered_by)


def _answer_to(view: TrialView, question: Question) -> Judgement | None:
    return next((one for one in view.trial.judgements if one.question == question), None)


def _unanswered(view: TrialView, question: Question, found: Judgement | None) -> Unchecked:
    because = found.because if found and found.because else f"`{question.model}` was not asked about this answer"
    return Unchecked(f"{because}\nhint: {found.hint if found and found.hint else _command(view)}")


def _command(view: TrialView) -> str:
    cell = view.trial.cell
    words = (cell.set, "--agent", cell.agent, "--model", cell.model, "--case", cell.case, "--judge-only")
    return "`harness record " + " ".join(shlex.quote(word) for word in words) + "`"


def _broken(view: TrialView, found: Judgement, because: str) -> Found:
    final = view.finals[-1]
    cited = {(quote.leg, quote.seq) for vote in found.votes for quote in vote.citations}
    shown = {event.seq for event in view.events if (view.leg, event.seq) in cited} | {final.seq}
    by = "" if found.answered_by == "none" else found.answered_by
    return Broken(tuple(sorted(shown)), because, final.turn, judged_by=by)


def _who(found: Judgement) -> str:
    return f"{found.question.model}, {found.answered_by}" if found.answered_by != "none" else "no model was needed"


def _at_least(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _bad("similar_meaning", f"`at_least` is a number from 0 to 1, not `{value}`")
    return float(value)


def _text(name: str, option: str, value: Json) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MOST_TEXT:
        raise _bad(name, f"`{option}` is a text of 1 to {MOST_TEXT:,} characters, not `{_short(str(value))}`")
    return value


def _model(name: str, options: Mapping[str, Json]) -> str:
    model = options["model"]
    if not isinstance(model, str) or not model.strip():
        raise _bad(name, f"`model` names a model of pyproject.toml, or `scripted`, not `{model}`")
    return model


def _bad(name: str, because: str) -> BadFileError:
    return BadFileError("bad-contract", f"contract `{name}`: {because}", hint=f"`harness explain {name}`")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:79] + "…"
