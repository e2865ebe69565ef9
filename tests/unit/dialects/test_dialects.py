"""Which dialect a request speaks."""

from __future__ import annotations

import pytest

from harness.dialects import dialect_of


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai_chat"),
        ("https://api.groq.com/openai/v1/chat/completions?x=1", "openai_chat"),
        ("https://api.deepseek.com/chat/completions/", "openai_chat"),
        ("https://x.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=1", "openai_chat"),
        ("http://127.0.0.1:80/token/v1/chat/completions", "openai_chat"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic"),
        ("http://scripted.invalid/v1/embeddings", "openai_embeddings"),
    ],
)
def test_the_path_tells_the_dialect(uri: str, name: str) -> None:
    """The path's end decides, whatever the host and the query."""
    dialect = dialect_of(uri)

    assert dialect is not None
    assert name == dialect.name


@pytest.mark.parametrize(
    "uri",
    [
        "https://api.openai.com/v1/responses",
        "https://api.openai.com/v1/completions",
        "https://api.anthropic.com/v1/messages/count_tokens",
        "https://api.anthropic.com/v1/messages/batches",
        "https://x.googleapis.com/v1beta/models/m:generateContent",
        "tool://search",
        "http://[broken",
        "",
    ],
)
def test_other_interfaces_are_not_supported(uri: str) -> None:
    """What no dialect reads has none."""
    assert dialect_of(uri) is None
