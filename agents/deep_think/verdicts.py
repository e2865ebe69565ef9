"""
Reading a verifier's verdict, strictly: what is no verdict is a failed one.

A verdict is a JSON object with a boolean `passed` that is the whole reply (or all of one code fence), or else a last line
that says `VERDICT: PASS` or `VERDICT: FAIL` and nothing more. A word somewhere in the text is no verdict: “No, I cannot
say yes” passes nothing.
"""

from __future__ import annotations

import json
import re
from typing import Literal

import msgspec

from harness.records.messages import Json
from harness.records.trace import Issue

from . import prompts

LONGEST = 20_000
"""Characters of a reply that is read at all."""
MOST_ISSUES = 20
LONGEST_FIELD = 1_000
"""Characters of an issue's field that are kept."""
SEVERITIES = ("critical", "gap", "minor")
FAILING = frozenset({"critical", "gap"})
"""A minor issue is noted; it fails nothing."""

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "passed": {"type": "boolean"},
        "issues": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "severity": {"type": "string", "enum": list(SEVERITIES)},
                    "where": {"type": "string"},
                    "what": {"type": "string"},
                },
                "required": ["severity", "where", "what"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["passed", "issues"],
    "additionalProperties": False,
}
"""The form that verifiers are asked for."""

_FENCED = re.compile(r"\A```\w*[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)
_LAST_LINE = re.compile(r"VERDICT:[ \t]*(PASS|FAIL)")


class Check(msgspec.Struct, frozen=True):
    """One verifier's judgement of one solution; a failed one always has an issue."""

    verdict: Literal["pass", "fail", "unparsable", "timeout"]
    issues: tuple[Issue, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the solution passed."""
        return self.verdict == "pass"


TIMED_OUT = Check("timeout", (Issue("gap", "", prompts.ISSUE_TIMEOUT),))


def read_verdict(text: str) -> Check:
    """Read a verifier's whole reply."""
    text = text.strip()
    if len(text) > LONGEST:
        return Check("unparsable", (Issue("critical", "", prompts.ISSUE_UNREADABLE.format(said=_cut(text))),))
    return _from_object(text) or _from_last_line(text)


def render_issues(checks: list[Check]) -> str:
    """The issues of the failed ones of *checks* as a numbered list, as the corrector gets them."""
    issues = [issue for check in checks if not check.passed for issue in check.issues]
    lines = [
        f"{n}. [{issue.severity}] {f'{issue.where}: ' if issue.where else ''}{issue.what}"
        for n, issue in enumerate(issues, start=1)
    ]
    return "\n".join(lines)


def _from_object(text: str) -> Check | None:
    fenced = _FENCED.match(text)
    try:
        found = json.loads(fenced.group(1) if fenced else text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("passed"), bool):
        return None
    listed = found.get("issues", [])
    if not isinstance(listed, list) or not all(isinstance(issue, dict) for issue in listed):
        return None
    issues = tuple(_issue(issue) for issue in listed[:MOST_ISSUES])
    if found["passed"] and not any(_severity(issue) in FAILING for issue in listed):
        return Check("pass", issues)
    return Check("fail", issues or (Issue("gap", "", prompts.ISSUE_UNSAID),))


def _from_last_line(text: str) -> Check:
    before, _, last = text.rpartition("\n")
    said = _LAST_LINE.fullmatch(last.strip(" \t*_`"))
    if said is None:
        return Check("unparsable", (Issue("critical", "", prompts.ISSUE_UNREADABLE.format(said=_cut(text))),))
    if said.group(1) == "PASS":
        return Check("pass")
    return Check("fail", (Issue("critical", "", _cut(before.strip()) or prompts.ISSUE_UNSAID),))


def _each_key_once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _issue(stated: dict[str, Json]) -> Issue:
    where, what = (_cut(str(stated.get(key, "")).strip()) for key in ("where", "what"))
    return Issue(_severity(stated), where, what or prompts.ISSUE_UNSAID)


def _severity(stated: dict[str, Json]) -> str:
    """The severity that is stated; one that nobody knows weighs as much as the worst."""
    return stated["severity"] if stated.get("severity") in SEVERITIES else "critical"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FIELD else f"{text[:LONGEST_FIELD]}…"
