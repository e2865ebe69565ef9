"""What calls cost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.price import Price, PriceTable, price_table, read_price_table
from harness.records.messages import Usage

_TABLE = PriceTable(
    "sha256:0",
    {
        "gpt-x": Price(1e-6, 4e-6, 1e-7),
        "claude-x-5": Price(3e-6, 15e-6, 3e-7, 6e-6, 22.5e-6, 6e-7),
        "free/of-price": Price(),
    },
)


@pytest.mark.parametrize(
    ("model", "usage", "usd"),
    [
        ("gpt-x", Usage(1000, 100), 0.0014),
        ("openai/gpt-x", Usage(1000, 100, cached=1000), 0.0005),
        ("anthropic/claude-x-5-20260101", Usage(1000, 100), 0.0045),
        ("claude-x-5", Usage(300_000, 100), 1.80225),
        ("free/of-price", Usage(1000, 100), None),
        ("unheard-of", Usage(1000, 100), None),
    ],
)
def test_cost_of_one_call(model: str, usage: Usage, usd: float | None) -> None:
    """Cached tokens have their own price, long prompts theirs, and what is unknown costs None, never 0."""
    assert _TABLE.cost_usd(model, usage) == usd


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_no_call_costs_less_for_more_tokens(asked: int, made: int, cached: int) -> None:
    """A longer reply never costs less, and nothing costs less than nothing."""
    less, more = (_TABLE.cost_usd("gpt-x", Usage(asked, made + extra, cached=cached)) for extra in (0, 1))

    assert less is not None
    assert more is not None
    assert 0 <= less < more


def test_the_installed_table_is_read_whole() -> None:
    """The table of the installed litellm has prices, and a digest that names it."""
    table = price_table()

    assert table.digest.startswith("sha256:")
    assert table.cost_usd("gpt-4.1-mini", Usage(1_000_000, 0)) == pytest.approx(0.4)
    assert table.cost_usd("claude-sonnet-4-5-20250929", Usage(1000, 1000)) == pytest.approx(0.018)


def test_rows_without_numbers_are_left_out() -> None:
    """One strange row does not cost the whole table."""
    table = read_price_table(json.dumps({"a": {"input_cost_per_token": "0.1"}, "b": {"mode": "chat"}}).encode())

    assert list(table.prices) == ["b"]
