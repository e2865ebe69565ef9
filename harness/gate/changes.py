"""A change against the baseline, made of the verdict that it is about."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.records.decision import Change, ChangeKind
from harness.records.run import CaseVerdict


def change_of(
    verdict: CaseVerdict,
    change: ChangeKind,
    cause: str,
    because: str,
    *,
    contract: str = "",
    exit_code: int = 0,
    **fields: object,
) -> Change:
    """A change of the trial of *verdict*; *fields* stand in place of what the verdict says."""
    told = {"case": verdict.case, "trial": verdict.trial, "at": verdict.at} | fields
    return msgspec.convert(
        {
            "agent": verdict.agent, "model": verdict.model, "set": verdict.set, "contract": contract, "change": change,
            "cause": cause, "because": because, "exit_code": exit_code, **told,
        },
        Change,
    )  # fmt: skip


def broken_in(verdict: CaseVerdict) -> Iterator[tuple[str, str, str]]:
    """Contracts that broke and are not advisory, each once: its name, the first reason, and where it is stated."""
    seen = set()
    for finding in verdict.findings:
        if finding.state == "broken" and not finding.advisory and finding.contract not in seen:
            seen.add(finding.contract)
            yield finding.contract, finding.because, finding.at or verdict.at
