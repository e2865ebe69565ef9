"""Requests as litellm takes them."""

from __future__ import annotations

from harness.models.litellm_map import chat_arguments, embedding_arguments
from harness.models.route import Route
from harness.records.messages import (
    EmbeddingRequest,
    ImagePart,
    Message,
    ModelRequest,
    TextPart,
    Thinking,
    ThinkingBlock,
    ToolCall,
    ToolSpec,
)

_OPENAI = Route(model="openai/m", dialect="openai_chat", api_base="http://127.0.0.1:1/v1", api_key="k")
_ANTHROPIC = Route(model="anthropic/m", dialect="anthropic")
_CALL = ToolCall("c1", "find", '{"q": "a"}', {"q": "a"})


def test_a_bare_request_holds_nothing_that_was_not_asked_for() -> None:
    """What is None is not sent, and retries are never litellm's."""
    request = ModelRequest(model="m", messages=(Message("user", "?"),))

    assert chat_arguments(request, _OPENAI) == {
        "model": "openai/m",
        "max_retries": 0,
        "api_base": "http://127.0.0.1:1/v1",
        "api_key": "k",
        "messages": [{"role": "user", "content": "?"}],
    }


def test_every_parameter_has_its_place() -> None:
    """Each field of a request becomes the argument of its name in litellm."""
    request = ModelRequest(
        model="m",
        messages=(),
        tools=(ToolSpec("find", "Finds.", {"type": "object"}),),
        tool_choice="find",
        temperature=0.0,
        top_p=0.5,
        max_tokens=9,
        stop=("END",),
        seed=0,
        thinking=Thinking("enabled", 2000),
        effort="low",
        json_schema={"type": "object"},
        stream=True,
    )
    arguments = chat_arguments(request, _OPENAI)

    assert {
        name: arguments[name] for name in arguments if name not in ("model", "max_retries", "api_base", "api_key")
    } == {
        "messages": [],
        "tools": [
            {
                "type": "function",
                "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object"}},
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "find"}},
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 9,
        "stop": ["END"],
        "seed": 0,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_thinking_goes_back_byte_for_byte_and_only_to_its_provider() -> None:
    """Blocks return in order with signature or data; a server of another format is not sent any."""
    blocks = (ThinkingBlock("thinking", "Hm.", "c2ln"), ThinkingBlock("redacted", data="b3A="))
    request = ModelRequest(model="m", messages=(Message("assistant", "", (_CALL,), None, blocks),))
    sent = chat_arguments(request, _ANTHROPIC)["messages"][0]

    assert sent["thinking_blocks"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3A="},
    ]
    assert "thinking_blocks" not in chat_arguments(request, _OPENAI)["messages"][0]


def test_calls_and_results_keep_their_ids_and_their_text() -> None:
    """Arguments go back as the model wrote them; a message of calls alone has no content, in the way each format says it."""
    request = ModelRequest(
        model="m", messages=(Message("assistant", "", (_CALL,)), Message("tool", "found", tool_call_id="c1"))
    )

    assert chat_arguments(request, _OPENAI)["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "a"}'}}],
        },
        {"role": "tool", "content": "found", "tool_call_id": "c1"},
    ]
    assert chat_arguments(request, _ANTHROPIC)["messages"][0]["content"] is None


def test_images_travel_as_data_addresses() -> None:
    """Parts keep their order."""
    content = (TextPart("What is it?"), ImagePart("image/png", "aGk="))
    request = ModelRequest(model="m", messages=(Message("user", content),))

    assert chat_arguments(request, _OPENAI)["messages"][0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]


def test_effort_is_no_budget_on_anthropic() -> None:
    """litellm would turn `reasoning_effort` into a thinking budget on older models."""
    request = ModelRequest(model="claude-opus-4-5", messages=(), effort="low")

    assert chat_arguments(request, _ANTHROPIC)["output_config"] == {"effort": "low"}


def test_embeddings_are_asked_for_as_numbers() -> None:
    """Vectors that can be read in a cassette, not base64."""
    arguments = embedding_arguments(EmbeddingRequest("m", ("a", "b")), _OPENAI)

    assert (arguments["input"], arguments["encoding_format"]) == (["a", "b"], "float")


def test_betas_go_to_anthropic_alone() -> None:
    """What is asked for by a header of Anthropic's API travels there, and to no other provider."""
    request = ModelRequest(model="m", messages=(), betas=("interleaved-thinking-2025-05-14", "other"))

    assert {"anthropic-beta": "interleaved-thinking-2025-05-14,other"} == (
        chat_arguments(request, _ANTHROPIC)["extra_headers"]
    )
    assert "extra_headers" not in chat_arguments(request, _OPENAI)
