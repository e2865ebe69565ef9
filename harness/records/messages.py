"""What passes between an agent and a model: messages, tool specs, requests and replies, free of any provider's form."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "refusal", "pause", "other"]
Json = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with str keys."""


class TextPart(msgspec.Struct, frozen=True, tag="text"):
    """A piece of text inside a message with several parts."""

    text: str


class ImagePart(msgspec.Struct, frozen=True, tag="image"):
    """An image inside a message; *data* is base64, *media_type* a MIME type such as `image/png`."""

    media_type: str
    data: str


class ToolCall(msgspec.Struct, frozen=True):
    """
    One call that a model asks for.

    *args_raw* is the text the model sent, byte for byte; *args* is the object it decodes to, or None where it is
    not a JSON object. Nothing may run a tool whose *args* is None.
    """

    id: str
    name: str
    args_raw: str
    args: dict[str, Json] | None = None


class ThinkingBlock(msgspec.Struct, frozen=True):
    """
    One block of native thinking, to be returned byte-exact with the tool results.

    *kind* `thinking` carries *text* and *signature*; *kind* `redacted` carries only *data*, which is opaque.
    """

    kind: Literal["thinking", "redacted"]
    text: str = ""
    signature: str = ""
    data: str = ""


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation. *tool_call_id* stands only on role `tool`, *tool_calls* only on `assistant`."""

    role: Role
    content: str | tuple[TextPart | ImagePart, ...] = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: tuple[ThinkingBlock, ...] = ()

    @property
    def text(self) -> str:
        """The text of the message; images are left out."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as it is offered to a model; *parameters* is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Json]


class Thinking(msgspec.Struct, frozen=True):
    """The `thinking` parameter: `enabled` needs *budget_tokens* (at least 1024); the other types take none."""

    type: Literal["enabled", "adaptive", "disabled", "between_tools"]
    budget_tokens: int | None = None


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One logical call of a chat model, before any provider's wire form. None means: not sent."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str | None = None
    """`auto`, `none`, `required`, or the name of one tool."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    thinking: Thinking | None = None
    effort: str | None = None
    json_schema: dict[str, Json] | None = None
    """Ask for an answer that is JSON of this schema."""
    stream: bool = False
    betas: tuple[str, ...] = ()
    """Features of Anthropic's API that are asked for by its `anthropic-beta` header; other providers are not told."""


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one call. *input* counts cached tokens too; *thinking* is the part of *output* spent on thinking."""

    input: int = 0
    output: int = 0
    thinking: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.thinking + other.thinking,
            self.cached + other.cached,
        )


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a chat model answered, whole."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: tuple[ThinkingBlock, ...] = ()
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    model: str = ""
    """The model that the provider says answered."""

    def as_message(self) -> Message:
        """The assistant message that goes back into the conversation, thinking blocks and all."""
        return Message("assistant", self.text, self.tool_calls, None, self.thinking)


class ReplyChunk(msgspec.Struct, frozen=True):
    """One piece of a streamed reply; *channel* says what the *text* belongs to."""

    channel: Literal["text", "thinking", "tool_args"]
    text: str
    index: int = 0
    """The ordinal of the tool call for `tool_args`, else 0."""


class EmbeddingRequest(msgspec.Struct, frozen=True):
    """One logical call of an embedding model."""

    model: str
    texts: tuple[str, ...]


class EmbeddingReply(msgspec.Struct, frozen=True):
    """One vector per text, in order; all of one length."""

    vectors: tuple[tuple[float, ...], ...]
    model: str = ""
    usage: Usage = Usage()
