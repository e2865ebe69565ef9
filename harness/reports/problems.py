"""
What a run has to say to CI: one problem for each finding that is not kept, with where it stands in the golden set.

Every format of `harness report` is made of these, so none of them can leave out what another one shows. Where the gate
has decided, `harness.reports.decided` makes them: what blocks is then what the gate says, with its cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from harness.records.decision import Change
from harness.records.finding import Finding
from harness.records.run import CaseVerdict, RunRecord

Kind = Literal["could_not_check", "broken", "inconclusive", "quarantined", "known", "advisory"]
KINDS: tuple[Kind, ...] = ("could_not_check", "broken", "inconclusive", "quarantined", "known", "advisory")
"""From the gravest on; the first three fail a run, and the third and fourth come from the gate alone."""
FAILING: frozenset[Kind] = frozenset({"could_not_check", "broken", "inconclusive"})
WORDS: Mapping[Kind, str] = {
    "could_not_check": "COULD NOT CHECK",
    "broken": "BROKEN",
    "inconclusive": "INCONCLUSIVE",
    "quarantined": "QUARANTINED",
    "known": "KNOWN FAILURE",
    "advisory": "ADVISORY",
}


class Rule(msgspec.Struct, frozen=True):
    """What there is to know of a contract, or of an error code: in one sentence, and as help."""

    about: str
    help: str = ""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with one trial."""

    verdict: CaseVerdict
    kind: Kind
    rule: str
    """Id of the contract, or the error code of a trial that could not be checked."""
    because: str
    finding: Finding | None = None
    file: str = ""
    """Path of the golden set from the root of the repository, with `/`; empty where nothing is known."""
    line: int = 0
    """From 1; 0 where nothing is known."""
    change: Change | None = None
    """What the gate says of it, where it has decided."""

    @property
    def title(self) -> str:
        """What it is in a few words: the gate's word for it, where it has one."""
        if self.change is None or self.kind not in FAILING:
            return WORDS[self.kind]
        return self.change.change.replace("_", " ").upper()

    @property
    def where(self) -> str:
        """Which trial it is about; of what the gate says, as much of it as it is about."""
        change = self.change
        if change is None or (change.case and change.trial is not None):
            return trial_name(self.verdict)
        return " on ".join(
            part
            for part in (
                " × ".join(filter(None, (change.agent, change.model))),
                f"{change.set}/{change.case}".strip("/"),
            )
            if part
        )

    @property
    def at(self) -> str:
        """`file:line`, or what of it is known."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file

    @property
    def evidence(self) -> str:
        """Which turn, leg and events show it; empty where nothing does."""
        if self.finding is None:
            return ""
        found = [f"turn {self.finding.turn}"] if self.finding.turn is not None else []
        if self.finding.leg:
            found.append(f"leg {self.finding.leg}")
        for word, numbers in (("events", self.finding.witness), ("shortest", self.finding.shortest)):
            if numbers:
                shown = ", ".join(map(str, numbers[:12])) + (", …" if len(numbers) > 12 else "")
                found.append(f"{word} {shown}")
        return "; ".join(found)

    @property
    def text(self) -> str:
        """All of it in plain lines: what, of which trial, by whom it was answered, and the evidence."""
        verdict = self.verdict
        cause = f" (cause: {self.change.cause})" if self.change is not None else ""
        lines = [
            f"{self.title} {self.rule}: {self.because}{cause}",
            f"{self.where}, answered by: {verdict.provenance}",
        ]
        lines += [self.change.quarantined] if self.change is not None and self.change.quarantined else []
        lines += [f"evidence: {self.evidence}"] if self.evidence else []
        lines += [f"cassette: {verdict.cassette}"] if verdict.cassette else []
        lines += [f"at {self.at}"] if self.at else []
        return "\n".join(lines)


def trial_name(verdict: CaseVerdict) -> str:
    """Name the trial of *verdict* as people read it."""
    fault = f" with fault {verdict.fault}" if verdict.fault else ""
    return f"{verdict.agent} × {verdict.model} on {verdict.set}/{verdict.case}, trial {verdict.trial}{fault}"


def problems(record: RunRecord, *, prefix: str = "") -> tuple[Problem, ...]:
    """
    Everything that is wrong in *record*, the gravest first, else in the order of its trials.

    Args:
        record: The run.
        prefix: The project's folder from the root of the repository; empty where they are the same.
    """
    found = [problem for verdict in record.results for problem in problems_of(verdict, prefix=prefix)]
    return tuple(sorted(found, key=lambda problem: KINDS.index(problem.kind)))


def problems_of(verdict: CaseVerdict, *, prefix: str = "") -> tuple[Problem, ...]:
    """What is wrong with one trial: at least one problem of its own kind unless the trial was kept."""
    found = list(_of_findings(verdict, prefix))
    own: Kind = "known" if verdict.known and verdict.verdict == "broken" else _own_kind(verdict)
    if verdict.code or (verdict.verdict != "kept" and not any(problem.kind == own for problem in found)):
        file, line = place(verdict.at, prefix)
        found.insert(
            0,
            Problem(
                verdict=verdict,
                kind=own,
                rule=verdict.code or "no-finding",
                because=verdict.because or f"the verdict is `{verdict.verdict}`, and no finding says why",
                file=file,
                line=line,
            ),
        )
    return tuple(found)


def place(at: str, prefix: str = "") -> tuple[str, int]:
    """Take `file:line` apart, with *prefix* before the file; the line is 0 where *at* names none."""
    file, colon, line = at.rpartition(":")
    if not (colon and line.isascii() and line.isdigit()):
        file, line = at, "0"
    return (f"{prefix.rstrip('/')}/{file}" if prefix and file else file), int(line[:9])


def _own_kind(verdict: CaseVerdict) -> Kind:
    return "broken" if verdict.verdict == "broken" else "could_not_check"


def _of_findings(verdict: CaseVerdict, prefix: str) -> Iterator[Problem]:
    for finding in verdict.findings:
        if finding.state not in ("broken", "could_not_check"):
            continue
        kind: Kind = finding.state
        if finding.advisory:
            kind = "advisory"
        elif verdict.known and finding.state == "broken":
            kind = "known"
        file, line = place(finding.at or verdict.at, prefix)
        yield Problem(
            verdict=verdict,
            kind=kind,
            rule=finding.contract,
            because=finding.because,
            finding=finding,
            file=file,
            line=line,
        )
