"""What the tests under random models share: how many runs there are, and what happened in them."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings

from harness.testing.fakes import Ran

RUNS = max(200, settings().max_examples)
"""Random runs of each design: those of the profile in force, and never fewer than 200."""
many = settings(max_examples=RUNS)
LIMITS = frozenset({"llm_calls", "tool_calls", "rounds", "writes", "llm_errors"})
"""Reasons of the runtime, and of the designs that give up after so many errors; those of the designs begin with `max_`."""


class Shares:
    """How many of a design's runs used tools that the model asked for, met an error, and came to a limit."""

    def __init__(self) -> None:
        self._of: dict[str, Counter[str]] = {}

    def count(self, ran: Ran, *, limited: bool = False) -> None:
        """Add a run; *limited* says that it came to a limit which did not end it."""
        seen = self._of.setdefault(ran.cell.agent, Counter())
        seen["runs"] += 1
        seen["tools"] += any(event.data.source != "internal" for event in ran.events("tool_call"))
        seen["errors"] += _met_errors(ran)
        seen["limits"] += limited or ran.ending[1] in LIMITS or ran.ending[1].startswith("max_")

    def told(self) -> list[str]:
        """A line for each design that was counted since this was last asked."""
        counted, self._of = self._of, {}
        return [
            f"{design}: {seen['runs']} random runs, {_share(seen, 'tools')} with tools, {_share(seen, 'errors')} with"
            f" errors, {_share(seen, 'limits')} at a limit"
            for design, seen in sorted(counted.items())
        ]


SHARES = Shares()


def _met_errors(ran: Ran) -> bool:
    failed_calls = any(event.data.error is not None for event in ran.events("llm_result"))
    return failed_calls or any(not event.data.ok for event in ran.events("tool_result"))


def _share(seen: Counter[str], what: str) -> str:
    return f"{seen[what] / seen['runs']:.0%}"
