"""The index of the page: one short row a trial, from which lists, the matrix and filters are drawn before any trace is unpacked."""

from __future__ import annotations

from typing import Any

from harness.records.run import CaseVerdict
from harness.reports.screen import clip, one_line

Json = Any
_QUESTION = 240
_BECAUSE = 200
COLUMNS = (
    "design", "case", "trial", "verdict", "known", "broken", "because", "llm_calls", "tool_calls", "input", "output",
    "recorded_ms", "cost_usd", "fault", "chunk", "place",
)  # fmt: skip
"""What the columns of a row are; `design`, `case` and `broken` are positions in the lists of the index."""


class Index:
    """Gathers rows; names that many trials share are written once."""

    def __init__(self) -> None:
        self._designs: dict[tuple[str, str, str], int] = {}
        self._cases: dict[tuple[str, str], dict[str, Json]] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._contracts: dict[str, int] = {}
        self.rows: list[tuple[Json, ...]] = []

    def add(self, verdict: CaseVerdict, *, question: str, lang: str, at: tuple[int, int]) -> None:
        """Add the row of *verdict*, whose page is in the chunk and place *at*."""
        design = self.design(verdict.agent, verdict.model, verdict.provenance)
        case = self._case(verdict, question, lang)
        broken = [self._contracts.setdefault(name, len(self._contracts)) for name in verdict.broken]
        self.rows.append((
            design, case, verdict.trial, verdict.verdict, int(verdict.known), broken, _because(verdict),
            verdict.llm_calls, verdict.tool_calls, verdict.tokens.input, verdict.tokens.output, verdict.recorded_ms,
            verdict.cost_usd, verdict.fault or "", *at,
        ))  # fmt: skip

    def design(self, agent: str, model: str, provenance: str) -> int:
        """The position of a design with its model."""
        return self._designs.setdefault((agent, model, provenance), len(self._designs))

    def document(self) -> dict[str, Json]:
        """The index as the page reads it."""
        return {
            "columns": COLUMNS,
            "designs": [{"agent": a, "model": m, "provenance": p} for a, m, p in self._designs],
            "cases": list(self._cases.values()),
            "contracts": list(self._contracts),
            "trials": self.rows,
        }

    def _case(self, verdict: CaseVerdict, question: str, lang: str) -> int:
        key = (verdict.set, verdict.case)
        case = self._cases.setdefault(
            key, {"set": verdict.set, "case": verdict.case, "at": verdict.at, "question": "", "lang": lang}
        )
        if question and not case["question"]:
            case |= {"question": clip(one_line(question), _QUESTION), "lang": lang}
        return self._places.setdefault(key, len(self._places))


def _because(verdict: CaseVerdict) -> str:
    if verdict.verdict == "kept":
        return ""
    state = "broken" if verdict.verdict == "broken" else "could_not_check"
    failed = [f for f in verdict.findings if f.state == state and not f.advisory]
    return clip(one_line(verdict.because or (failed[0].because if failed else "")), _BECAUSE)
