"""What an agent did in a trial, as far as it is accepted: its tool calls with their arguments, turn by turn."""

from __future__ import annotations

import msgspec

from harness.records.digest import canonical_json, digest_bytes
from harness.records.messages import Json
from harness.records.run import Cell

MOST_ARGUMENTS = 1_000
"""Bytes of the arguments of a call that are kept as they are; longer ones are kept as their digest."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The calls of one turn, in their order. Turns that call no tool are left out: what a model says is not done."""

    calls: tuple[tuple[str, Json], ...]
    """Tool and arguments of each call."""
    leg: int = 0


class Did(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One accepted way through a case, the trials that last took it, and why it was accepted."""

    steps: tuple[Step, ...] = ()
    trials: tuple[int, ...] = ()
    """Empty where no accepted trial takes it now, and `harness accept --also` kept it."""
    reason: str = ""


class Strayed(msgspec.Struct, frozen=True, kw_only=True):
    """
    A trial that did what no accepted one did: the *closest* of the accepted ways, from 1, and where they part; or one of
    which nobody knows what it did, because it is not *traced*.
    """

    cell: Cell
    closest: int
    accepted: int
    """How many ways are accepted; 0: none is, and there is no closest."""
    because: str
    traced: bool = True


def arguments(args: Json) -> Json:
    """*args* as they are kept: as they are, or their size and digest where they are long."""
    content = canonical_json(args)
    if len(content) <= MOST_ARGUMENTS:
        return args
    return {"bytes": len(content), "digest": digest_bytes(content)}
