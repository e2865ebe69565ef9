"""Pieces of deep-think traces, for tests: what a phase of the loop leaves behind."""

from __future__ import annotations

import json
from typing import Any

from harness.contracts.deep_run import rendered
from harness.contracts.deep_think_calls import NODES
from harness.records.digest import digest
from harness.records.trace import (
    ErrorRaised,
    Event,
    EventData,
    Issue,
    PhaseStarted,
    Progress,
    Solution,
    StateLoaded,
    Verification,
)
from harness.testing.builders import answer, make_event, make_trace, model_turn

QUESTION = "How many sheep are left?"
ONE, TWO = "Nine sheep are left.", "Nine: all but nine ran."
SUMMARY = "There are 9 sheep left."
FLAW = Issue("critical", "step 1", "the count is off")
STARTED = {"question": QUESTION}
STAGES = {
    "plan": "planning", "solve": "initial", "improve": "improvement", "verify": "verification",
    "correct": "correction", "summary": "summary",
}  # fmt: skip
PARALLEL = {"question": QUESTION, "config": {"enable_parallel_check": True}}
FAILED = {"status": "failed", "reason": "max_errors"}


def phase(*names: str) -> list[EventData]:
    """The starts of phases."""
    return [PhaseStarted(name=name) for name in names]


def ask(purpose: str, text: str = "", *, number: int | None = None, **fields: Any) -> list[Event]:
    """A model call of a stage with its reply; what is in *embeds* is given as text."""
    stage = STAGES[purpose]
    temperature, most = NODES[stage]
    embeds = {"problem": QUESTION} | fields.pop("embeds", {})
    call = {
        "stage": stage, "slot": purpose, "params": {"temperature": temperature, "max_tokens": most},
        "embeds": {name: digest(shown) for name, shown in embeds.items() if shown is not None},
    } | fields  # fmt: skip
    return [make_event(data, round=number) for data in model_turn(text, purpose=purpose, **call)]


def solution(text: str = ONE, origin: Any = "solve", **fields: Any) -> Solution:
    """What a solver said last."""
    preview = text if len(text) <= 200 else f"{text[:200]}…"
    known = {"version": 1, "digest": digest(text), "chars": len(text), "origin": origin, "preview": preview}
    return Solution(**(known | fields))


def solved(text: str = ONE, **call: Any) -> list[Any]:
    """The phase that solves."""
    return [*phase("solve"), *ask("solve", text, **call), solution(text)]


def said(passed: bool, *issues: Issue) -> str:
    """A verifier's reply."""
    listed = [{"severity": one.severity, "where": one.where, "what": one.what} for one in issues]
    return json.dumps({"passed": passed, "issues": listed})


def verdict(
    number: int, count: int, *, text: str = ONE, verdict: Any = None, index: int = 0, of: int = 1, **fields: Any
) -> Event:
    """A verification; it is a pass where *count* is not 0."""
    stated = verdict or ("pass" if count else "fail")
    known = {
        "round": number, "index": index, "of": of, "passed": stated == "pass", "verdict": stated,
        "issues": () if stated == "pass" else (FLAW,), "solution_digest": digest(text), "count": count, "required": 3,
    } | fields  # fmt: skip
    return make_event(Verification(**known), round=number)


def verifier(number: int, passed: bool = True, *, text: str = ONE, index: int = 0, **fields: Any) -> list[Event]:
    """A verifier's call and its reply."""
    reply = fields.pop("reply", None) or said(passed, *(() if passed else (FLAW,)))
    embeds = {"solution": text} | fields.pop("embeds", {})
    return ask("verify", reply, number=number, slot=f"verify/{number}/{index}", embeds=embeds, **fields)


def verified(number: int, count: int, *, text: str = ONE, **fields: Any) -> list[Any]:
    """A phase that verifies: a pass where *count* is not 0."""
    return [*phase("verify"), *verifier(number, bool(count), text=text), verdict(number, count, text=text, **fields)]


def corrected(number: int, text: str = TWO, *, old: str = ONE, issues: str | None = None, **fields: Any) -> list[Any]:
    """The phase that corrects."""
    told = rendered([FLAW]) if issues is None else issues
    embeds = {"solution": old, "issues": told} | fields.pop("embeds", {})
    asked = ask("correct", text, number=number, slot=f"correct/{number}", embeds=embeds, **fields)
    return [*phase("correct"), *asked, solution(text, "correct", version=2)]


def summed_up(text: str = ONE, *, summary: str = SUMMARY, final: str | None = None, complete: bool = True) -> list[Any]:
    """The phase that sums up, and the answer."""
    made = ask("summary", summary, embeds={"solution": text})
    return [*phase("summary"), *made, answer(summary if final is None else final, complete=complete)]


def passes(count: int = 3, *, first: int = 1, text: str = ONE) -> list[Any]:
    """Passes in a row, each in a round of its own."""
    return [verified(first + n, n + 1, text=text) for n in range(count)]


def run(*steps: Any, started: dict[str, Any] | None = None, finished: dict[str, Any] | None = None) -> Any:
    """A whole trace that begins with init."""
    return make_trace(*phase("init"), *steps, started=STARTED if started is None else started, finished=finished)


def resumed(*steps: Any, finished: dict[str, Any] | None = None, **config: Any) -> Any:
    """The trace of a leg that goes on from a saved state."""
    loaded = StateLoaded(session_id="session", digest="d", parts={})
    started = {"question": "", "leg": 1, "config": config}
    return make_trace(loaded, *phase("init"), *steps, started=started, finished=finished)


def error(kind: str, **fields: Any) -> ErrorRaised:
    """An error of the agent's own."""
    return ErrorRaised(kind=kind, message="no more", **fields)


def progress(*values: float) -> list[EventData]:
    """Progress as it is told."""
    return [Progress(stage="thinking", value=value) for value in values]


GOOD = [solved(), *passes(), summed_up()]
"""Solved, verified three times, summed up."""
FIXED = [solved(), verified(1, 0), corrected(1), *passes(first=2, text=TWO), summed_up(TWO)]
"""Failed once, corrected, verified three times, summed up."""
