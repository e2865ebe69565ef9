"""Verdicts of a local model, beside what was accepted of them."""

from __future__ import annotations

from datetime import date

from harness.config import GateConfig
from harness.evaluate import totals_of
from harness.gate.accepting import merge
from harness.gate.baseline import Baseline
from harness.gate.compare import gate
from harness.gate.policy_file import Policy
from harness.records.decision import Decision
from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Lock, RunRecord

TODAY = date(2026, 11, 22)
LOCK = Lock(golden="g1", prompt="p1", tool_schema="t1", model="m1", world="w1", code="c1", contracts="k1")


def verdict(case: str = "S1", *broken: str, kept: tuple[str, ...] = ("CX1",), **changes) -> CaseVerdict:
    """Make a verdict of a local model; *broken* and *kept* name contracts."""
    findings = [Finding(contract=name, state="kept") for name in kept if name not in broken]
    findings += [Finding(contract=name, state="broken", because="it did") for name in broken]
    fields = {
        "agent": "lean_react", "profile": "reference", "model": "small", "provenance": "local", "set": "shared",
        "case": case, "trial": 0, "verdict": "broken" if broken else "kept", "findings": tuple(findings), "llm_calls": 2,
        "tool_calls": 1, "tokens": Usage(90, 10), "cost_usd": 0.01, "recorded_ms": 100, "cassette_digest": "d1",
        "at": "goldensets/shared.yaml:14", "lock": LOCK,
    }  # fmt: skip
    return CaseVerdict(**(fields | changes))


def scripted(case: str = "S1", *broken: str, **changes) -> CaseVerdict:
    """Make a verdict of a scripted trial."""
    return verdict(case, *broken, **({"provenance": "scripted", "model": "scripted", "cost_usd": None} | changes))


def record(*verdicts: CaseVerdict, **fields) -> RunRecord:
    """Make a run of these verdicts."""
    return RunRecord(run="r1", results=verdicts, totals=totals_of(verdicts), exit_code=0, **fields)


def accepted(*verdicts: CaseVerdict) -> dict[str, Baseline]:
    """The baselines that accepting these verdicts gives."""
    return {"shared": merge(Baseline(set="shared"), verdicts, reason="first")}


def judged(now: RunRecord, then: dict[str, Baseline], **policy) -> Decision:
    """Hold a run against baselines."""
    return gate(now, then, Policy(rules=GateConfig(**policy)), today=TODAY)


def told(decision: Decision) -> list[tuple[str, str, str, int]]:
    """Contract, change, cause and exit code of each change."""
    return [(c.contract, c.change, c.cause, c.exit_code) for c in decision.changes]


def runs(outcomes: dict[str, tuple[str, str]], contract: str = "CX1") -> tuple[RunRecord, dict[str, Baseline]]:
    """
    A run beside a baseline: for each case what became of its recordings, then and now, `k` for kept and `b` for broken.
    No recording is on both sides.
    """
    then, now = [], []
    for case, sides in outcomes.items():
        for side, into, name in zip(sides, (then, now), "ab", strict=True):
            into += [
                verdict(case, *([contract] if one == "b" else []), trial=n, cassette_digest=f"{case}{name}{n}")
                for n, one in enumerate(side)
            ]
    return record(*now), accepted(*then)
