"""What the policy of `[tool.harness.gate]` lets block, and what a quarantine keeps from blocking until it expires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fnmatch import fnmatchcase

import msgspec

from harness.config import GateConfig, Quarantine
from harness.records.decision import Change


def blocks(contract: str, policy: GateConfig) -> bool:
    """Whether *policy* lets a broken *contract* block."""
    return _matches(contract, policy.blocking) and not _matches(contract, policy.advisory)


def quarantined(change: Change, entries: Sequence[Quarantine], today: date) -> Change:
    """
    Let *change* pass where an entry that has not expired names its contract. Only a broken contract can be quarantined:
    nothing that is missing, and nothing that could not be checked.
    """
    if not change.contract or change.exit_code not in {1, 5} or change.change == "missing":
        return change
    for entry in entries:
        pairs = (
            (change.contract, entry.contract), (change.case, entry.case), (change.set, entry.set),
            (change.agent, entry.agent), (change.model, entry.model),
        )  # fmt: skip
        if today < entry.expires and all(fnmatchcase(name, glob) for name, glob in pairs):
            told = f"{entry.owner}, until {entry.expires.isoformat()}: {entry.reason}"
            return msgspec.structs.replace(change, exit_code=0, quarantined=told)
    return change


def expired(entries: Iterable[Quarantine], today: date) -> Iterator[Change]:
    """Entries whose day has come: each blocks by itself, whether or not its contract is still broken."""
    for entry in entries:
        if today >= entry.expires:
            yield Change(
                agent=entry.agent, model=entry.model, set=entry.set, case=entry.case, contract=entry.contract,
                change="regression", cause="quarantine", at="pyproject.toml", exit_code=1,
                because=f"its quarantine expired on {entry.expires.isoformat()} (owner {entry.owner}: {entry.reason})",
            )  # fmt: skip


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
