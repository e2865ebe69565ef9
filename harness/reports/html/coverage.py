"""Which contracts a run really held its trials to: how often each was triggered, vacuous, kept and broken, by design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from harness.records.finding import FindingState
from harness.records.run import CaseVerdict
from harness.reports.problems import Rule


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

    def add(self, state: FindingState) -> None:
        """Count one finding."""
        setattr(self, state, getattr(self, state) + 1)


class ContractRow(msgspec.Struct, kw_only=True):
    """One contract over all designs."""

    contract: str
    about: str
    advisory: bool
    total: Count
    designs: dict[tuple[str, str, str], Count]


def coverage(results: Iterable[CaseVerdict], rules: Mapping[str, Rule]) -> list[ContractRow]:
    """Count the findings of all *results*, in the order in which contracts first appear."""
    rows: dict[str, ContractRow] = {}
    for verdict in results:
        design = (verdict.agent, verdict.model, verdict.provenance)
        for finding in verdict.findings:
            row = rows.get(finding.contract)
            if row is None:
                about = rules[finding.contract].about if finding.contract in rules else ""
                row = rows[finding.contract] = ContractRow(
                    contract=finding.contract, about=about, advisory=finding.advisory, total=Count(), designs={}
                )
            row.advisory = row.advisory and finding.advisory
            row.total.add(finding.state)
            row.designs.setdefault(design, Count()).add(finding.state)
    return list(rows.values())
