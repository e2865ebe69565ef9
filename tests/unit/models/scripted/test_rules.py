"""Each provider's rules are asked for its own requests."""

import pytest

from harness.models.scripted.rules import first_broken_rule
from harness.models.scripted.thinking_rules import IssuedThinking

USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("dialect", "request_", "headers", "refusal"),
    [
        ("openai_chat", {"model": "m", "messages": [USER]}, {}, None),
        ("openai_chat", {"model": "m", "messages": [USER], "top_k": 1}, {}, "Unknown parameter: 'top_k'."),
        ("openai_embeddings", {"model": "m", "input": "a"}, {}, None),
        ("openai_embeddings", {"input": "a"}, {}, "Missing required parameter: 'model'."),
        ("anthropic", {"model": "m", "max_tokens": 9, "messages": [USER]}, {"anthropic-version": "x"}, None),
        (
            "anthropic",
            {"model": "m", "max_tokens": 9, "messages": [USER]},
            {},
            "anthropic-version: header is required",
        ),
    ],
)
def test_each_dialect_has_its_rules(dialect, request_, headers, refusal):
    """The first broken rule is told, or none."""
    assert refusal == first_broken_rule(dialect, request_, headers, IssuedThinking())


def test_beta_headers_are_read():
    """Interleaved thinking lets a budget span the whole turn; the header lists several betas."""
    request = {
        "model": "claude-sonnet-4-5", "max_tokens": 2000, "messages": [USER],
        "thinking": {"type": "enabled", "budget_tokens": 9000}, "tools": [{"name": "a"}],
    }  # fmt: skip
    headers = {"anthropic-version": "x"}
    interleaved = headers | {"anthropic-beta": "other-2025, interleaved-thinking-2025-05-14"}

    assert first_broken_rule("anthropic", request, headers, IssuedThinking()).startswith("`max_tokens` must be greater")
    assert first_broken_rule("anthropic", request, interleaved, IssuedThinking()) is None
