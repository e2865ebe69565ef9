"""What a contract found in a trial."""

from __future__ import annotations

from typing import Literal

import msgspec

FindingState = Literal["kept", "broken", "could_not_check", "vacuous"]


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    One contract held against one trial.

    *kept*: it triggered and held. *vacuous*: nothing in the trial triggered it. *broken*: *because* says why and
    *witness* names the events. *could_not_check*: the contract itself failed or lacked what it needs.
    """

    contract: str
    state: FindingState
    because: str = ""
    witness: tuple[int, ...] = ()
    """*seq* of the events that show it, in order."""
    leg: int = 0
    turn: int | None = None
    shortest: tuple[int, ...] = ()
    """*seq* of the shortest sub-trace that still breaks the contract."""
    at: str = ""
    """`file:line` of the case or the contract in the golden set."""
    advisory: bool = False
    """Reported, never blocking."""
    judged_by: str = ""
    """Who answered the judge's or embedding model's calls that it rests on: `live`, `local` or `scripted`; else empty."""
