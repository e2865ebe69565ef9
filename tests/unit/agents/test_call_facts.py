"""What a trace says of the parameters of a model call."""

from __future__ import annotations

from harness.agents.call_facts import params_of
from harness.records.messages import Message, ModelRequest, Thinking

USER = Message("user", "?")


def test_what_is_not_sent_is_not_stated() -> None:
    """A bare request has no parameters."""
    assert {} == params_of(ModelRequest(model="m", messages=(USER,)))


def test_what_is_sent_is_stated() -> None:
    """Sampling, thinking, stops and betas by their names, and that a reply goes on from a text of ours."""
    asked = ModelRequest(
        model="m", messages=(USER, Message("assistant", "It is")), temperature=0.0, max_tokens=9, effort="low",
        thinking=Thinking("enabled", 2048), stop=("END",), betas=("b",),
    )  # fmt: skip

    assert {
        "temperature": 0.0,
        "max_tokens": 9,
        "effort": "low",
        "thinking": {"type": "enabled", "budget_tokens": 2048},
        "stop": ["END"],
        "betas": ["b"],
        "prefill": True,
    } == params_of(asked)
