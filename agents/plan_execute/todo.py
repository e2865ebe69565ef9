"""The list of tasks, kept by the code: what may become of an item, and the list as the model sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from harness.records.trace import PlanStep

Status = Literal["pending", "running", "done", "failed", "dropped"]

_NEXT: dict[Status, tuple[Status, ...]] = {
    "pending": ("running", "dropped"),
    "running": ("done", "failed", "dropped"),
    "done": (),
    "failed": (),
    "dropped": (),
}
_BOX = {"pending": "[ ]", "running": "[>]", "done": "[x]", "failed": "[!]", "dropped": "[-]"}


class Item(msgspec.Struct):
    """One task; *n* counts from 1 and never changes, *result* says how it ended."""

    n: int
    text: str
    status: Status = "pending"
    result: str = ""

    @property
    def open(self) -> bool:
        """Whether something is left to do."""
        return self.status in ("pending", "running")


class TodoList:
    """The items of a question, in order."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self.items = list(items)

    def add(self, texts: Iterable[str]) -> None:
        """Append new items behind all others."""
        for text in texts:
            self.items.append(Item(len(self.items) + 1, text))

    def move(self, item: Item, status: Status, result: str = "") -> None:
        """
        Move *item* on.

        Raises:
            ValueError: No item goes from its status to *status*, or another one is running.
        """
        if status not in _NEXT[item.status]:
            raise ValueError(f"item {item.n} cannot go from {item.status} to {status}")
        if status == "running" and any(other.status == "running" for other in self.items):
            raise ValueError(f"item {item.n} cannot start while another one is running")
        item.status, item.result = status, result

    def drop_open(self) -> bool:
        """Drop every item that is still open; whether there was one."""
        left = [item for item in self.items if item.open]
        for item in left:
            self.move(item, "dropped")
        return bool(left)

    def next_open(self) -> Item | None:
        """The first item with something left to do, or None."""
        return next((item for item in self.items if item.open), None)

    def with_status(self, status: Status) -> list[Item]:
        """The items that stand at *status*, in order."""
        return [item for item in self.items if item.status == status]

    def render(self) -> str:
        """One line an item: box, number, text, and how it ended."""
        lines = [f"{_BOX[item.status]} {item.n}. {item.text}" for item in self.items]
        ends = [f": {item.result}" if item.result else "" for item in self.items]
        return "\n".join(line + end for line, end in zip(lines, ends, strict=True))

    def as_steps(self) -> tuple[PlanStep, ...]:
        """The list as the trace states it."""
        return tuple(PlanStep(item.n, item.text, item.status) for item in self.items)
