"""What a trace says of a model call: parameters, returned thinking, texts that stand in its messages, titles of sections."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.records.digest import digest
from harness.records.messages import Json, Message, ModelRequest, ThinkingBlock
from harness.records.trace import ThinkingDigest


def params_of(request: ModelRequest) -> dict[str, Json]:
    """The parameters of *request* that are sent, by name; `prefill` where the reply is to go on from a text of ours."""
    params: dict[str, Json] = {}
    for name in ("temperature", "top_p", "max_tokens", "seed", "effort"):
        value = getattr(request, name)
        if value is not None:
            params[name] = value
    if request.thinking is not None:
        params["thinking"] = msgspec.to_builtins(request.thinking)
    if request.stop:
        params["stop"] = list(request.stop)
    if request.betas:
        params["betas"] = list(request.betas)
    if request.messages and request.messages[-1].role == "assistant":
        params["prefill"] = True
    return params


def block_digest(block: ThinkingBlock) -> ThinkingDigest:
    """A thinking block by its digests."""
    return ThinkingDigest(block.kind, digest(block), digest(block.signature) if block.signature else "")


def returned_thinking(messages: tuple[Message, ...]) -> tuple[tuple[int, str], ...]:
    """(position of the message, digest of one block) for every thinking block that *messages* return, in order."""
    return tuple(
        [
            (place, digest(block))
            for place, message in enumerate(messages)
            if message.thinking
            for block in message.thinking
        ]
    )


def said_beside_calls(messages: tuple[Message, ...]) -> tuple[tuple[int, str], ...]:
    """(position of the message, digest of its text) for every assistant message with a text beside its tool calls."""
    return tuple(
        [
            (place, digest(text))
            for place, message in enumerate(messages)
            if message.tool_calls and message.role == "assistant" and (text := message.text).strip()
        ]
    )


def embedded_texts(texts: Mapping[str, str] | None, messages: tuple[Message, ...]) -> dict[str, str]:
    """Digests of those *texts* that the agent really put before the model; what a tool answered does not count."""
    if not texts:
        return {}
    told = [message.text for message in reversed(messages) if message.role in ("user", "system")]
    return {name: digest(text) for name, text in texts.items() if any(text in message for message in told)}


_sections_of: dict[str, tuple[str, ...]] = {}


def section_titles(system: str) -> tuple[str, ...]:
    """Titles of the sections of a system prompt: lines in capitals that end with a colon. Remembered by text."""
    known = _sections_of.get(system)
    if known is None:
        lines = [line.strip() for line in system.splitlines()]
        known = tuple([line[:-1] for line in lines if line.endswith(":") and line.isupper()])
        if len(_sections_of) > 4096:
            _sections_of.clear()
        _sections_of[system] = known
    return known
