"""What the tests of deep thinking share: the design, what its models say, and what they were sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.agents.load import load_agent
from harness.records.case import GoldenCase
from harness.records.messages import ModelRequest
from harness.testing.fakes import FakeWorld, Ran, Said, run_agent, says, says_json

DEEP = load_agent(Path(__file__).parent.parent.parent / "agents", "deep_think")
QUESTION = "17 sheep, all but 9 run away. How many are left?"
FIRST, BETTER = says("9 did not run away."), says("9 are left, for 9 did not run away.")
MENDED = says("9 are left: “all but 9” stay.")
PASS = says_json(passed=True, issues=[])
SUMMARY = says("**9** sheep are left.")
PURPOSES = {
    "你是深度推理的规划者": "plan",
    "你是深度推理的解答者": "solver",
    "你是严格的评审员": "verify",
    "你把一份解答写成": "summary",
}


def fail(what: str = "no reason is given", severity: str = "gap", where: str = "end") -> Said:
    """A verdict that fails a solution with one issue."""
    return says_json(passed=False, issues=[{"severity": severity, "where": where, "what": what}])


def case(**fields: Any) -> GoldenCase:
    """The question about the sheep, of no kind in particular."""
    return GoldenCase(**({"id": "case", "question": QUESTION, "class_": "any"} | fields))


def deep(*replies: Said, world: FakeWorld | None = None, asked: GoldenCase | None = None, **options: Any) -> Ran:
    """Run the design on *replies*."""
    return run_agent(DEEP, replies, world=world or FakeWorld(), case=asked or case(), options=options)


def who(request: ModelRequest) -> str:
    """Who is asked by a request: plan, solver (which solves, improves and corrects), verify or summary."""
    system = request.messages[0].text
    return next(name for beginning, name in PURPOSES.items() if system.startswith(beginning))


def sent(ran: Ran, purpose: str) -> list[str]:
    """The text of the user message of each call for *purpose*, as the trace names it."""
    calls = [event for event in ran.events("llm_call") if event.data.stage != "embedding"]
    return [
        request.messages[1].text
        for call, request in zip(calls, ran.requests, strict=True)
        if call.data.purpose == purpose
    ]


def course(ran: Ran) -> list[str]:
    """The purposes of all model calls, in order."""
    return [event.data.purpose for event in ran.events("llm_call")]


def phases(ran: Ran) -> list[str]:
    """The phases of all legs, in order."""
    return [event.data.name for event in ran.events("phase_started")]


def verdicts(ran: Ran) -> list[tuple[int, int, str, int]]:
    """Round, index, verdict and count of each verification."""
    found = [event.data for event in ran.events("verification")]
    return [(data.round, data.index, data.verdict, data.count) for data in found]
