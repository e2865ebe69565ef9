"""
What calls cost, by the price table that the installed litellm carries; read without importing it.

Costs are computed while recording and stored with the digest of the table, so that a report never depends on the day.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from harness.models.capability import short_name
from harness.records.digest import digest_bytes
from harness.records.messages import Usage

_FILE = "model_prices_and_context_window_backup.json"
_LONG_PROMPT_TOKENS = 200_000


class Price(msgspec.Struct, frozen=True):
    """US dollars per token of one model; prompts above 200,000 tokens can have prices of their own."""

    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    cache_read_input_token_cost: float | None = None
    input_cost_per_token_above_200k_tokens: float | None = None
    output_cost_per_token_above_200k_tokens: float | None = None
    cache_read_input_token_cost_above_200k_tokens: float | None = None

    def cost_usd(self, usage: Usage) -> float | None:
        """What *usage* costs in US dollars; None where the table has no price. Cache writes count as plain input."""
        long = usage.input > _LONG_PROMPT_TOKENS
        asked = (long and self.input_cost_per_token_above_200k_tokens) or self.input_cost_per_token
        made = (long and self.output_cost_per_token_above_200k_tokens) or self.output_cost_per_token
        reread = (long and self.cache_read_input_token_cost_above_200k_tokens) or self.cache_read_input_token_cost
        if asked is None:
            return None
        cached = min(usage.cached, usage.input)
        reread = asked if reread is None else reread
        return round((usage.input - cached) * asked + cached * reread + usage.output * (made or 0.0), 10)


class PriceTable(msgspec.Struct, frozen=True):
    """Prices by litellm's names of models, and the digest of the file they stand in."""

    digest: str
    """`sha256:…`, cut as all digests are; empty where no table is installed."""
    prices: Mapping[str, Price]

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """What *usage* of *model* costs in US dollars; None where the model or its price is unknown."""
        price = self.price_of(model)
        return None if price is None else price.cost_usd(usage)

    def price_of(self, model: str) -> Price | None:
        """The price of *model*, looked up by its full name, without its provider, and without its date."""
        for name in (model, model.partition("/")[2], short_name(model)):
            if name in self.prices:
                return self.prices[name]
        return None


@cache
def price_table() -> PriceTable:
    """Read the table of the installed litellm; an empty one where there is none."""
    spec = find_spec("litellm")
    path = Path(spec.origin).parent / _FILE if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        return PriceTable("", {})
    return read_price_table(path.read_bytes())


def read_price_table(content: bytes) -> PriceTable:
    """Read the bytes of a price table; rows that hold no numbers are left out."""
    rows = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    prices = {}
    for name, row in rows.items():
        try:
            prices[name] = msgspec.json.decode(row, type=Price)
        except msgspec.ValidationError:
            continue
    return PriceTable(f"sha256:{digest_bytes(content)}", prices)
