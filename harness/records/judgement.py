"""What a contract asks beyond the trace, and what was answered: data of a trial before its contracts are asked."""

from __future__ import annotations

from typing import Literal

import msgspec

QuestionKind = Literal["rubric", "meaning"]
Cite = Literal["trace", "answer"]
"""Where a judge's quotes must stand: in what tools told, or in the answer itself."""
MOST_VOTES = 15


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """
    One thing that a contract wants to know of an answer.

    *kind* `rubric`: whether the answer meets *text*, a criterion, as the majority of *votes* of the chat model *model*
    sees it. *kind* `meaning`: how near the answer is to *text*, a reference, by vectors of the embedding model *model*.
    """

    kind: QuestionKind
    text: str
    model: str
    votes: int = 1
    """Odd, 1 to `MOST_VOTES`; 1 for a `meaning`."""
    cite: Cite = "trace"
    prefix: str = ""
    """What an embedding model wants before each text."""


class Citation(msgspec.Struct, frozen=True):
    """A quote that stands in the event *seq* of the leg *leg*, blanks apart."""

    leg: int
    seq: int
    quote: str


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """One reply of a judge, as it counts: a pass without a true quote is a fail, and *why* says so."""

    passed: bool
    why: str = ""
    citations: tuple[Citation, ...] = ()


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """
    The answer to one question about one trial.

    *verdict* is `none` where nobody answered; *because* then says why and *hint* what to run. *score* stands for a
    `meaning` only: the cosine of the angle between both vectors, from -1 to 1.
    """

    question: Question
    verdict: Literal["pass", "fail", "none"]
    because: str = ""
    votes: tuple[Vote, ...] = ()
    score: float | None = None
    answered_by: Literal["live", "local", "scripted", "none"] = "none"
    """Who answered; `none` where no model was needed or none answered."""
    sample: str = ""
    """Digest of the recorded replies that it follows from."""
    hint: str = ""
