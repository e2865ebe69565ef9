"""What changed since a verdict was accepted, told from digests alone."""

from __future__ import annotations

from harness.gate.baseline import BaselineCase, BaselineTrial
from harness.records.run import CaseVerdict

UNKNOWN = "unknown"
_ORDER = ("golden", "prompt", "tool_schema", "model", "cassette", "judge", "world", "code", "contracts")
"""From what a person states to what follows from it: a new prompt brings a new recording, and is the cause of both."""
_OF_CODE = {
    "cassette-missing": "cassette", "cassette-unreadable": "cassette", "cassette-format": "cassette",
    "cassette-unused": "code", "agent-crash": "code", "network-refused": "code", "agent-left-tasks": "code",
    "timeout": "machine", "contract-hung": "contracts", "fault-unused": "golden", "bad-option": "golden",
}  # fmt: skip
"""What a trial that could not be checked blames, where no digest differs."""
_SEEN = frozenset({"prompt", "message"})
"""What a miss sees in a request, wherever it came from: a tool's result, the question, a call that was not made before."""


def changed(verdict: CaseVerdict, accepted: BaselineCase | None, trial: BaselineTrial | None) -> tuple[str, ...]:
    """Names of what differs between *verdict* and what was accepted, likeliest cause first; what one side lacks is left out."""
    then = accepted.lock if accepted else None
    found = {
        name
        for name in verdict.lock.__struct_fields__
        if then and getattr(verdict.lock, name) and getattr(then, name) not in {"", getattr(verdict.lock, name)}
    }
    if trial and verdict.cassette_digest and trial.cassette_digest != verdict.cassette_digest:
        found.add("cassette")
    if trial and _differ(own_part(trial.recording), own_part(verdict.lock.cassette)):
        found.add("cassette")
    if trial and _differ(trial.judge, verdict.lock.judge):
        found.add("judge")
    return tuple(name for name in _ORDER if name in found)


def own_part(recording: str) -> str:
    """The digest of a trial's own cassette, without that of what judges said of it."""
    return recording.partition("+")[0]


def _differ(then: str, now: str) -> bool:
    """Whether two digests are known and differ."""
    return bool(then and now and then != now)


def cause_of(verdict: CaseVerdict, accepted: BaselineCase | None, trial: BaselineTrial | None) -> str:
    """The one name to tell: what the replay itself blames, else what differs, else what such an end usually means.

    A changed text in a request is blamed on the prompts only where these changed, or where no digest says better.
    """
    differs = changed(verdict, accepted, trial)
    if verdict.code == "cassette-miss" and verdict.cause:
        return differs[0] if verdict.cause in _SEEN and differs and verdict.cause not in differs else verdict.cause
    if verdict.code == "cassette-missing":
        return "cassette"
    if differs:
        return differs[0]
    return _OF_CODE.get(verdict.code, verdict.cause or UNKNOWN)
