"""The provider's rules for a request as it came over the wire, whichever provider it speaks to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.models.capability import capability_of
from harness.models.scripted.anthropic_rules import broken_message_rules
from harness.models.scripted.openai_rules import broken_chat_rules, broken_embedding_rules
from harness.models.scripted.thinking_rules import IssuedThinking, broken_thinking_rules
from harness.records.messages import Json


def first_broken_rule(
    dialect: str, request: Mapping[str, Json], headers: Mapping[str, str], issued: IssuedThinking
) -> str | None:
    """
    What the provider says when it refuses *request*, or None.

    Args:
        dialect: `openai_chat`, `openai_embeddings` or `anthropic`.
        request: The body as JSON.
        headers: Names in lower case.
        issued: The thinking blocks that this session has given out.
    """
    return next(_broken_rules(dialect, request, headers, issued), None)


def _broken_rules(
    dialect: str, request: Mapping[str, Json], headers: Mapping[str, str], issued: IssuedThinking
) -> Iterator[str]:
    if dialect == "openai_embeddings":
        yield from broken_embedding_rules(request)
    elif dialect == "openai_chat":
        yield from broken_chat_rules(request)
    else:
        if "anthropic-version" not in headers:
            yield "anthropic-version: header is required"
        capability = capability_of(str(request.get("model")))
        betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",")]
        yield from broken_message_rules(request, capability)
        yield from broken_thinking_rules(request, capability, betas)
        yield from issued.broken(request, capability)
