"""
From what a judge replied to what it counts for.

A reply is strict JSON of one shape, or the vote is a fail. A vote to pass counts only if it quotes, and if every quote
really stands in the event that it names; blanks apart, and whether the judge copied characters escaped or not. Words
that the agent itself put into a call are no evidence, even where the tool says them again.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Literal, NoReturn

import msgspec

from harness.judge.prompt import Subject, unescape
from harness.records.judgement import Citation, Cite, Vote
from harness.records.messages import Json

MOST_REPLY = 16_000
"""Characters of a reply that is read at all."""
MOST_QUOTES = 20
LEAST_QUOTE = 4
"""Characters that a quote has at least, unless it is all that the event says."""
MOST_WHY = 400
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class _Quote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    event: int
    quote: str


class _Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    verdict: Literal["pass", "fail"]
    evidence: list[_Quote] = []
    why: str = ""


class _UnreadableError(ValueError):
    pass


def vote_of(text: str, subject: Subject, cite: Cite) -> Vote:
    """The vote that the reply *text* is on *subject*; never raises for what a model may say."""
    try:
        reply = _read(text)
    except _UnreadableError as error:
        return Vote(passed=False, why=f"the judge's reply cannot be read: {error}")
    found = [_citation(quote, subject, cite) for quote in reply.evidence]
    true = tuple(one for one in found if isinstance(one, Citation))
    why = _flat(reply.why)
    if reply.verdict == "fail":
        return Vote(passed=False, why=why or "the judge gives no reason", citations=true)
    wrong = [one for one in found if isinstance(one, str)]
    if wrong:
        return Vote(passed=False, why=f"a pass with a false quote: {wrong[0]}", citations=true)
    if not true:
        return Vote(passed=False, why="a pass without a quote from the evidence")
    return Vote(passed=True, why=why, citations=true)


def majority(votes: Sequence[Vote]) -> tuple[bool, str]:
    """
    Whether more than half of *votes* pass, and why in one clause; the order of the votes does not matter.

    A tie is a fail.
    """
    passes = sum(vote.passed for vote in votes)
    passed = 2 * passes > len(votes)
    reasons = sorted({vote.why for vote in votes if vote.passed == passed and vote.why})
    counted = f"{passes} of {len(votes)} votes pass"
    if not passed and 2 * passes == len(votes):
        counted += ", a tie"
    return passed, f"{counted}: {reasons[0]}" if reasons else counted


def normalised(text: str) -> str:
    """*text* with every run of blanks as one blank."""
    return " ".join(text.split())


def _read(text: str) -> _Reply:
    if len(text) > MOST_REPLY:
        raise _UnreadableError(f"{len(text):,} characters, more than {MOST_REPLY:,}")
    stripped = text.strip()
    fenced = _FENCED.fullmatch(stripped)
    try:
        value = json.loads(fenced[1] if fenced else stripped, object_pairs_hook=_object, parse_constant=_constant)
        reply = msgspec.convert(value, _Reply)
    except (ValueError, RecursionError) as error:
        raise _UnreadableError(_flat(str(error))[:200]) from None
    if len(reply.evidence) > MOST_QUOTES:
        raise _UnreadableError(f"{len(reply.evidence)} quotes, more than {MOST_QUOTES}")
    return reply


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object without a key twice: which of both would count?"""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _UnreadableError("an object has a key twice")
    return made


def _constant(name: str) -> NoReturn:
    raise _UnreadableError(f"{name} is no JSON")


def _citation(quote: _Quote, subject: Subject, cite: Cite) -> Citation | str:
    """The citation, or why it is none."""
    shown = _flat(quote.quote)[:80]
    own: tuple[str, ...] = ()
    if quote.event == 0:
        if cite != "answer":
            return f"“{shown}” is quoted from the answer, which proves nothing about itself"
        (leg, seq), text = subject.at, subject.answer
    elif 1 <= quote.event <= len(subject.blocks):
        block = subject.blocks[quote.event - 1]
        leg, seq, text = block.leg, block.seq, block.text
        own = block.own if cite == "trace" else ()
    else:
        return f"there is no block {quote.event}"
    told = normalised(text)
    for form in (quote.quote, unescape(quote.quote), html.unescape(quote.quote)):
        said = normalised(form)
        if said and said in told and (len(said) >= LEAST_QUOTE or said == told):
            if any(said in normalised(one) for one in own):
                return f"“{shown}” is what the agent itself put into the call, which proves nothing"
            return Citation(leg, seq, said)
    return f"“{shown}” does not stand in block {quote.event}"


def _flat(text: str) -> str:
    return normalised(text)[:MOST_WHY]
