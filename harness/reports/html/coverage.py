"""Which contracts a run really held its trials to: how often each was triggered, vacuous, kept and broken, by design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from harness.records.finding import FindingState
from harness.records.run import CaseVerdict
from harness.reports.problems import Rule

Design = tuple[str, str, str]
"""Agent, model, and who answered."""


class Count(msgspec.Struct):
    """How the findings of one contract ended."""

    kept: int = 0
    broken: int = 0
    vacuous: int = 0
    could_not_check: int = 0

    @property
    def triggered(self) -> int:
        """Trials in which there was something to hold."""
        return self.kept + self.broken

    @property
    def held(self) -> int:
        """Trials that were held to it at all."""
        return self.triggered + self.vacuous + self.could_not_check

    def add(self, state: FindingState, count: int) -> None:
        """Count so many findings more."""
        setattr(self, state, getattr(self, state) + count)


class ContractRow(msgspec.Struct, kw_only=True):
    """One contract over all designs."""

    contract: str
    about: str
    advisory: bool
    total: Count
    designs: dict[Design, Count]


def coverage(results: Iterable[CaseVerdict], rules: Mapping[str, Rule]) -> list[ContractRow]:
    """Count the findings of all *results*, in the order in which contracts first appear."""
    counts: dict[tuple[str, Design, FindingState], int] = {}
    blocking: dict[str, bool] = {}
    for verdict in results:
        design: Design = (verdict.agent, verdict.model, verdict.provenance)
        for finding in verdict.findings:
            key = (finding.contract, design, finding.state)
            counts[key] = counts.get(key, 0) + 1
            blocking[finding.contract] = blocking.get(finding.contract, False) or not finding.advisory
    rows = {
        name: ContractRow(
            contract=name, about=rules[name].about if name in rules else "", advisory=not blocks, total=Count(), designs={}
        )
        for name, blocks in blocking.items()
    }  # fmt: skip
    for (name, design, state), count in counts.items():
        rows[name].total.add(state, count)
        rows[name].designs.setdefault(design, Count()).add(state, count)
    return list(rows.values())
