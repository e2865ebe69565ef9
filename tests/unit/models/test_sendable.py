"""Requests that no port takes."""

from __future__ import annotations

from typing import Any

import pytest

from harness.models.sendable import check_sendable
from harness.records.faults import ModelError
from harness.records.messages import Message, ModelRequest, Thinking

_BUDGET = Thinking("enabled", 2000)


def _request(model: str, **params: Any) -> ModelRequest:
    return ModelRequest(model=model, messages=(Message("user", "?"),), **params)


@pytest.mark.parametrize(
    ("model", "params", "because"),
    [
        ("gpt-5", {"thinking": _BUDGET}, "gpt-5 takes no `thinking` parameter"),
        ("claude-opus-4-7", {"thinking": _BUDGET}, "claude-opus-4-7 takes no thinking budget; ask for `adaptive`"),
        (
            "claude-sonnet-4-5",
            {"thinking": Thinking("enabled")},
            "claude-sonnet-4-5 needs `budget_tokens` beside thinking `enabled`",
        ),
        (
            "claude-opus-5",
            {"thinking": Thinking("adaptive", 2000)},
            "claude-opus-5 takes no `budget_tokens` beside thinking `adaptive`",
        ),
        (
            "claude-sonnet-4-5",
            {"thinking": Thinking("adaptive")},
            "claude-sonnet-4-5 knows no `adaptive` thinking; ask for a budget",
        ),
        ("claude-fable-5", {"thinking": Thinking("disabled")}, "claude-fable-5 cannot stop thinking"),
        (
            "claude-opus-5",
            {"thinking": Thinking("between_tools")},
            "claude-opus-5 knows no thinking `between_tools`",
        ),
        ("claude-sonnet-4-5", {"effort": "high"}, "claude-sonnet-4-5 knows no effort `high`"),
        ("claude-opus-4-6", {"effort": "xhigh"}, "claude-opus-4-6 knows no effort `xhigh`"),
        ("claude-sonnet-4-5", {"seed": 1}, "claude-sonnet-4-5 takes no `seed`"),
        ("claude-3-5-haiku", {"seed": 1}, "claude-3-5-haiku takes no `seed`"),
        ("claude-opus-5", {"temperature": 0.2}, "claude-opus-5 takes no `temperature` or `top_p`"),
        ("claude-opus-5", {"top_p": 0.9}, "claude-opus-5 takes no `temperature` or `top_p`"),
        ("claude-opus-5-5", {"tool_choice": "required"}, "claude-opus-5-5 cannot be forced to use a tool"),
    ],
)
def test_what_would_be_rewritten_is_refused(model: str, params: dict[str, Any], because: str) -> None:
    """Each request that litellm would change, drop a part of, or refuse before sending fails as a bad request."""
    with pytest.raises(ModelError) as refused:
        check_sendable(_request(model, **params))

    assert (refused.value.kind, refused.value.status, refused.value.message) == ("bad_request", None, because)


@pytest.mark.parametrize(
    ("model", "params"),
    [
        ("gpt-4.1-mini", {"seed": 7, "temperature": 0.2, "tool_choice": "required"}),
        ("gpt-5", {"effort": "low"}),
        ("claude-sonnet-4-5", {"thinking": _BUDGET, "max_tokens": 1000}),
        ("claude-sonnet-4-5", {"thinking": Thinking("enabled", 5)}),
        ("claude-opus-4-6", {"thinking": _BUDGET, "effort": "max"}),
        ("claude-opus-5", {"thinking": Thinking("disabled"), "effort": "xhigh", "temperature": 1}),
        ("claude-sonnet-5-5", {"thinking": Thinking("between_tools"), "effort": "high", "tool_choice": "auto"}),
    ],
)
def test_what_arrives_as_it_was_asked_is_the_providers_to_judge(model: str, params: dict[str, Any]) -> None:
    """A request that reaches the provider unchanged is let through, legal or not."""
    check_sendable(_request(model, **params))
