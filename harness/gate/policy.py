"""What the policy lets block, and what a quarantine keeps from blocking until it expires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from fnmatch import fnmatchcase

import msgspec

from harness.config import GateConfig, Quarantine
from harness.gate.fresh import FreshCase
from harness.gate.policy_file import Policy
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
    names = (change.contract, change.case, change.set, change.agent, change.model)
    for entry in entries:
        if today < entry.expires and _covers(entry, names):
            told = f"{entry.owner}, until {entry.expires.isoformat()}: {entry.reason}"
            return msgspec.structs.replace(change, exit_code=0, quarantined=told)
    return change


def excuse(contract: str, case: FreshCase, entries: Iterable[Quarantine], today: date) -> bool:
    """Whether an entry that has not expired names *contract* of *case*."""
    names = (contract, case.case, *case.group)
    return any(today < entry.expires and _covers(entry, names) for entry in entries)


def expired(policy: Policy, today: date) -> Iterator[Change]:
    """Entries whose day has come: each blocks by itself, whether or not its contract is still broken."""
    for place, entry in enumerate(policy.rules.quarantine):
        if today >= entry.expires:
            yield Change(
                agent=entry.agent, model=entry.model, set=entry.set, case=entry.case, contract=entry.contract,
                change="regression", cause="quarantine", at=policy.place(place), exit_code=1,
                because=f"its quarantine expired on {entry.expires.isoformat()} (owner {entry.owner}: {entry.reason})",
            )  # fmt: skip


def _covers(entry: Quarantine, names: Sequence[str]) -> bool:
    """Whether *entry* names this contract, case, set, agent and model."""
    globs = (entry.contract, entry.case, entry.set, entry.agent, entry.model)
    return all(fnmatchcase(name, glob) for name, glob in zip(names, globs, strict=True))


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
