"""CX9: what tools say they changed is what the store says was changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import TrialView
from harness.records.messages import Json
from harness.records.trace import Effect, Event

Change = tuple[Json, Json]
"""A row before and after."""


@contract("CX9", needs=("trial_finished",), shrinks=False)
def declared_effects(view: TrialView) -> Iterator[Found]:
    """The store changes by exactly what the good tool results of the trial say they changed."""
    finished = view.finished
    if finished is None:
        return
    declared: list[Effect] = []
    writers: dict[tuple[str, str], Event] = {}
    for use in view.uses:
        result = use.outcome
        if result is None or use.result is None or not result.effects:
            continue
        if not result.ok:
            yield broken([use.event, use.result], f"{use.tool} failed, yet says that it changed something")
            continue
        declared.extend(result.effects)
        for effect in result.effects:
            writers[effect.kind, effect.key] = use.result
    if not declared and not finished.store_diff:
        return
    yield TRIGGERED
    said, done = net_changes(declared), net_changes(finished.store_diff)
    if said == done:
        return
    for row in sorted(said.keys() | done.keys()):
        if said.get(row) != done.get(row):
            witness = [writers.get(row), view.finished_event]
            yield broken(witness, f"{row[0]} {row[1]}: {_difference(said.get(row), done.get(row))}")


def net_changes(effects: Iterable[Effect]) -> dict[tuple[str, str], Change]:
    """What *effects*, in their order, come to for each row; rows that end as they began are left out."""
    rows: dict[tuple[str, str], Change] = {}
    for effect in effects:
        row = (effect.kind, effect.key)
        before = rows[row][0] if row in rows else effect.before
        rows[row] = (before, effect.after)
    return {row: change for row, change in rows.items() if change[0] != change[1]}


def _difference(said: Change | None, done: Change | None) -> str:
    if done is None:
        return "a tool reports a change that is not in the store"
    if said is None:
        return "the store changed, and no tool result says so"
    return f"a tool reports {_short(said)}, the store has {_short(done)}"


def _short(change: Change) -> str:
    before, after = (text if len(text := repr(side)) <= 40 else text[:39] + "…" for side in change)
    return f"{before} → {after}"
