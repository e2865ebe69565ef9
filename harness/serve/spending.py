"""What a run has taken so far: tokens of every reply, and dollars where somebody is paid."""

from __future__ import annotations

import msgspec

from harness.records.messages import Usage
from harness.records.trace import Event


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the model calls of a run. *cost_usd* is None where nobody is paid, or a price is not known."""

    llm_calls: int
    input: int
    output: int
    thinking: int
    cached: int
    cost_usd: float | None


class Spending:
    """
    Follows one run, event by event.

    Args:
        priced: A provider answers, whose prices the table of the installed litellm knows; loads that table.
    """

    def __init__(self, *, priced: bool) -> None:
        self._usage = Usage()
        self._calls = 0
        self._models: dict[str, str] = {}
        self._cost: float | None = 0.0 if priced else None

    def after(self, event: Event) -> Spent | None:
        """The sums after *event*; None where it is no reply of a model."""
        if event.type == "llm_call":
            self._models[event.span] = event.data.model
        if event.type != "llm_result":
            return None
        usage = event.data.usage
        self._calls += 1
        self._usage += usage
        self._pay(self._models.get(event.data.call_span, event.data.model), usage)
        total = self._usage
        return Spent(
            llm_calls=self._calls, input=total.input, output=total.output, thinking=total.thinking, cached=total.cached,
            cost_usd=self._cost,
        )  # fmt: skip

    def _pay(self, model: str, usage: Usage) -> None:
        if self._cost is None:
            return
        from harness.models.price import price_table

        cost = price_table().cost_usd(model, usage)
        self._cost = None if cost is None else self._cost + cost
