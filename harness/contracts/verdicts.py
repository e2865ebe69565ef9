"""The strict rule by which a verifier's reply passes or fails a solution; whatever it does not understand is no pass."""

from __future__ import annotations

import json
import re
from typing import Literal

from harness.records.messages import Json

Read = Literal["pass", "fail", "unparsable"]
REMARK = "minor"
"""The one severity that fails nothing; one that nobody knows weighs as much as the worst."""
LONGEST = 20_000
"""Characters of a reply that may hold a verdict; a longer one is no verdict."""
_FENCE = re.compile(r"\A```\w*[ \t]*\n(?P<inside>.*)\n[ \t]*```\Z", re.DOTALL)
_LINE = re.compile(r"VERDICT:[ \t]*(?P<word>PASS|FAIL)")


MOST_ISSUES = 20
"""Issues of one verdict that are told at least."""


def read_verdict(text: str) -> Read:
    """
    Read a verifier's reply: a JSON object with a boolean `passed`, else a last line `VERDICT: PASS` or `VERDICT: FAIL`.

    A pass that names more than remarks contradicts itself and fails. The words of a text decide nothing.
    """
    whole = text.strip()
    if len(whole) > LONGEST:
        return "unparsable"
    stated = _object(whole)
    if stated is None:
        return _by_last_line(whole)
    passed, issues = stated
    return "pass" if passed and all(issue.get("severity") == REMARK for issue in issues) else "fail"


def stated_issues(text: str) -> list[str]:
    """What the issues of a verifier's reply say, where it is a JSON object; at most `MOST_ISSUES`."""
    whole = text.strip()
    stated = _object(whole) if len(whole) <= LONGEST else None
    said = [issue.get("what") for issue in stated[1][:MOST_ISSUES]] if stated is not None else []
    return [what.strip() for what in said if isinstance(what, str) and what.strip()]


def _object(whole: str) -> tuple[bool, list[dict[str, Json]]] | None:
    """The verdict and the issues of a JSON object that states both as it should, else None."""
    fenced = _FENCE.match(whole)
    try:
        stated = json.loads(fenced["inside"] if fenced else whole, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        return None
    passed = stated.get("passed") if isinstance(stated, dict) else None
    issues = stated.get("issues", []) if isinstance(stated, dict) else None
    if not isinstance(passed, bool) or not isinstance(issues, list) or not all(isinstance(i, dict) for i in issues):
        return None
    return passed, issues


def _once_each(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object whose keys stand once; two verdicts in one object are none."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _by_last_line(text: str) -> Read:
    said = _LINE.fullmatch(text.rpartition("\n")[2].strip(" \t*_`"))
    if said is None:
        return "unparsable"
    return "pass" if said["word"] == "PASS" else "fail"
