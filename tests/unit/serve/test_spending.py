"""What a run has taken so far."""

from __future__ import annotations

import pytest

from harness.models import price
from harness.models.price import Price, PriceTable
from harness.records.messages import Usage
from harness.records.trace import FinalAnswer, LlmCall, LlmResult
from harness.serve.spending import Spending, Spent
from harness.testing.builders import make_event


def call(span: str, model: str = "paid"):
    """A model call."""
    data = LlmCall(purpose="agent", model=model, messages_digest="0", n_messages=1, cassette_key="k")
    return make_event(data, span=span)


def reply(span: str, **usage: int):
    """Its reply."""
    return make_event(LlmResult(call_span=span, usage=Usage(**usage), model="paid-2026-01-01"))


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A price table with one model."""
    prices = PriceTable("sha256:0", {"paid": Price(input_cost_per_token=0.01, output_cost_per_token=0.1)})
    monkeypatch.setattr(price, "price_table", lambda: prices)


def test_tokens_add_up():
    """Call by call; what is no reply takes nothing."""
    spending = Spending(priced=False)
    told = [spending.after(event) for event in (call("a"), reply("a", input=3, output=2, thinking=1))]
    last = spending.after(reply("b", input=4, output=1, cached=2))

    assert [None, Spent(llm_calls=1, input=3, output=2, thinking=1, cached=0, cost_usd=None)] == told
    assert Spent(llm_calls=2, input=7, output=3, thinking=1, cached=2, cost_usd=None) == last
    assert spending.after(make_event(FinalAnswer(text="7"))) is None


def test_dollars_add_up_where_somebody_is_paid():
    """By the price of the model that was asked."""
    spending = Spending(priced=True)
    costs = []
    for span in ("a", "b"):
        spending.after(call(span))
        costs.append(spending.after(reply(span, input=3, output=2)).cost_usd)

    assert [pytest.approx(0.23), pytest.approx(0.46)] == costs


def test_a_price_that_is_not_known_makes_the_sum_unknown():
    """And it stays so: a sum that leaves something out would be wrong."""
    spending = Spending(priced=True)
    for span, model in (("a", "paid"), ("b", "unheard-of"), ("c", "paid")):
        spending.after(call(span, model))
        last = spending.after(reply(span, input=1))

    assert last.cost_usd is None
