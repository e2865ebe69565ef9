"""How models are reached."""

from __future__ import annotations

import pytest

from harness.models.route import UNUSED_KEY, Route, is_loopback, route_of

_LOCAL = "http://127.0.0.1:8555/v1"


@pytest.mark.parametrize(
    ("model", "base_url", "expected"),
    [
        ("gpt-4.1-mini", None, Route(model="openai/gpt-4.1-mini", dialect="openai_chat")),
        ("claude-sonnet-4-5", None, Route(model="anthropic/claude-sonnet-4-5", dialect="anthropic")),
        ("anthropic/claude-opus-5", None, Route(model="anthropic/claude-opus-5", dialect="anthropic")),
        ("gemini/gemini-2.5-pro", None, Route(model="gemini/gemini-2.5-pro", dialect="openai_chat")),
        (
            "qwen2.5-coder",
            _LOCAL,
            Route(model="openai/qwen2.5-coder", dialect="openai_chat", api_base=_LOCAL, api_key=UNUSED_KEY),
        ),
        (
            "qwen/qwen2.5",
            _LOCAL,
            Route(model="openai/qwen/qwen2.5", dialect="openai_chat", api_base=_LOCAL, api_key=UNUSED_KEY),
        ),
        (
            "openai/claude-opus-5",
            _LOCAL,
            Route(model="openai/claude-opus-5", dialect="openai_chat", api_base=_LOCAL, api_key=UNUSED_KEY),
        ),
        (
            "claude-sonnet-4-5",
            f"{_LOCAL}/",
            Route(
                model="anthropic/claude-sonnet-4-5",
                dialect="anthropic",
                api_base="http://127.0.0.1:8555",
                api_key=UNUSED_KEY,
            ),
        ),
    ],
)
def test_the_way_to_a_model(model: str, base_url: str | None, expected: Route) -> None:
    """Claude names go to the messages API, all else to the one of OpenAI; a server needs no key, a provider its own."""
    assert route_of(model, base_url=base_url) == expected


def test_a_given_key_is_sent() -> None:
    """A key that the caller names goes to the server, whatever the environment says."""
    assert route_of("m", base_url=_LOCAL, api_key="k").api_key == "k"


@pytest.mark.parametrize(
    ("base_url", "loopback"),
    [
        (_LOCAL, True),
        ("http://localhost:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("https://127.0.0.1.example.com/v1", False),
        ("https://api.openai.com/v1", False),
        (None, False),
        ("", False),
    ],
)
def test_what_is_on_this_machine(base_url: str | None, loopback: bool) -> None:
    """Only addresses of the loopback are; a name that begins like one is not."""
    assert is_loopback(base_url) is loopback
