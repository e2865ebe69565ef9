"""
What OpenAI's chat completions and embeddings refuse with a 400, as far as an agent can get it wrong.

Source: OpenAI's API reference and the texts of its errors as of November 2026. The texts are close to the provider's,
not equal to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.dialects.body import list_or_empty, object_or_empty

Json = Any

_CHAT_PARAMS = frozenset(
    [
        "model",
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "max_tokens",
        "max_completion_tokens",
        "n",
        "stop",
        "seed",
        "stream",
        "stream_options",
        "response_format",
        "reasoning_effort",
        "verbosity",
        "frequency_penalty",
        "presence_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
        "user",
        "metadata",
        "store",
        "service_tier",
        "modalities",
        "audio",
        "prediction",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "web_search_options",
        "functions",
        "function_call",
    ]
)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CHOICES = ("none", "auto", "required")
_RANGES = {"temperature": (0, 2), "top_p": (0, 1), "frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}


def broken_chat_rules(request: Mapping[str, Json]) -> Iterator[str]:
    """What is wrong with a chat completions request, in the order in which the provider looks."""
    for name in request:
        if name not in _CHAT_PARAMS:
            yield f"Unknown parameter: '{name}'."
    for name in ("model", "messages"):
        if not request.get(name):
            yield f"Missing required parameter: '{name}'."
    yield from _params(request)
    yield from _tools(request)
    yield from _conversation(list_or_empty(request.get("messages")))


def broken_embedding_rules(request: Mapping[str, Json]) -> Iterator[str]:
    """What is wrong with an embeddings request."""
    if not request.get("model"):
        yield "Missing required parameter: 'model'."
    given = request.get("input")
    texts = given if isinstance(given, list) else [given]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        yield "'input' must be a non-empty string or an array of non-empty strings."


def _params(request: Mapping[str, Json]) -> Iterator[str]:
    for name, (low, high) in _RANGES.items():
        value = request.get(name)
        if value is not None and not (isinstance(value, int | float) and low <= value <= high):
            yield f"Invalid '{name}': expected a number between {low} and {high}, got {value!r}."
    for name in ("max_tokens", "max_completion_tokens"):
        value = request.get(name)
        if value is not None and not (isinstance(value, int) and value >= 1):
            yield f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value!r} instead."
    if request.get("stream_options") is not None and not request.get("stream"):
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."


def _tools(request: Mapping[str, Json]) -> Iterator[str]:
    tools = request.get("tools")
    if tools == []:
        yield "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
    names = [object_or_empty(object_or_empty(tool).get("function")).get("name") for tool in list_or_empty(tools)]
    for index, name in enumerate(names):
        if not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
            yield f"Invalid 'tools[{index}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
    choice = request.get("tool_choice")
    if choice is None:
        return
    if not names:
        yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    elif isinstance(choice, str) and choice not in _CHOICES:
        yield f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
    elif isinstance(choice, dict) and object_or_empty(choice.get("function")).get("name") not in names:
        yield "Invalid value for 'tool_choice': no function of that name was specified in the 'tools' parameter."


def _conversation(messages: list[Json]) -> Iterator[str]:
    """Every tool call has its result right after it, and no result stands without its call."""
    open_ids: list[str] = []
    for index, message in enumerate(map(object_or_empty, messages)):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_ids:
                yield (
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    f"'tool_calls'. (messages.[{index}])"
                )
            else:
                open_ids.remove(message["tool_call_id"])
            continue
        yield from _unanswered(open_ids, index)
        open_ids = [str(object_or_empty(call).get("id")) for call in list_or_empty(message.get("tool_calls"))]
        if role not in ("system", "developer", "user", "assistant"):
            yield f"Invalid value: {role!r}. Supported values are: 'system', 'assistant', 'user', 'tool'. (messages[{index}])"
        if message.get("content") is None and not open_ids and not message.get("refusal"):
            yield f"Invalid value for 'content': expected a string, got null. (messages.[{index}].content)"
    yield from _unanswered(open_ids, len(messages))


def _unanswered(open_ids: list[str], index: int) -> Iterator[str]:
    if open_ids:
        yield (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_ids)} "
            f"(before messages.[{index}])"
        )
