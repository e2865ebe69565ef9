"""Anthropic's rules apart from thinking: an honest request passes, each mistake is refused for its own reason."""

import pytest

from harness.models.capability import capability_of
from harness.models.scripted.anthropic_rules import broken_message_rules

TOOL = {"name": "get_weather", "input_schema": {"type": "object"}}
USER = {"role": "user", "content": "hi"}
CALLED = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "look"},
        {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}},
        {"type": "tool_use", "id": "b", "name": "get_weather", "input": {}},
    ],
}


def results(*names, before=(), after=()):
    blocks = [{"type": "tool_result", "tool_use_id": name, "content": "1"} for name in names]
    return {"role": "user", "content": [*before, *blocks, *after]}


def text(words):
    return {"type": "text", "text": words}


def ask(*messages, **params):
    return {"model": "claude-sonnet-4-5", "max_tokens": 1000, "messages": list(messages) or [USER], **params}


def broken(request):
    return list(broken_message_rules(request, capability_of(str(request.get("model")))))


@pytest.mark.parametrize(
    "request_",
    [
        ask(),
        ask(USER, CALLED, results("b", "a"), tools=[TOOL]),
        ask(USER, CALLED, results("a", "b", after=[text("and now?")]), tools=[TOOL]),
        ask(tools=[TOOL], tool_choice={"type": "tool", "name": "get_weather"}, temperature=0.2, top_k=5),
        ask(USER, {"role": "assistant", "content": "The answer is"}),
        ask(model="claude-opus-4-5", output_config={"effort": "high"}),
        ask(USER, {"role": "system", "content": "Be brief."}, model="claude-opus-5-5"),
        ask(model="claude-3-5-haiku-20241022", temperature=1),
        ask(max_tokens=1),
        ask(max_tokens=64_000),
        ask(USER, {"role": "assistant", "content": []}),
    ],
)
def test_honest_requests_pass(request_):
    """Nothing that the provider takes is refused."""
    assert [] == broken(request_)


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (ask(frequency_penalty=1), "frequency_penalty: Extra inputs are not permitted"),
        ({"model": "m", "messages": [USER]}, "max_tokens: Field required"),
        ({"max_tokens": 1, "messages": [USER]}, "model: Field required"),
        ({"model": "m", "max_tokens": 1}, "messages: Field required"),
        (ask(max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
        (
            ask(max_tokens=70_000),
            ("max_tokens: 70000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"),
        ),
        (ask(temperature=1.5), "temperature: range: 0..1"),
        (
            ask(model="claude-opus-4-7", temperature=1),
            "temperature: sampling parameters are not supported on claude-opus-4-7",
        ),
        (
            ask(model="claude-sonnet-5", top_p=1),
            "top_p: sampling parameters are not supported on claude-sonnet-5",
        ),
        (
            ask(output_config={"effort": "low"}),
            "output_config.effort: 'low' is not supported on claude-sonnet-4-5; levels: none",
        ),
        (
            ask(model="claude-opus-4-5", output_config={"effort": "max"}),
            ("output_config.effort: 'max' is not supported on claude-opus-4-5; levels: 'low', 'medium', 'high'"),
        ),
        (
            ask(tools=[{"name": "get weather"}]),
            "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (ask(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
        (
            ask(tools=[TOOL], tool_choice={"type": "required"}),
            (
                "tool_choice: Input tag 'required' does not match any of the expected tags: 'auto', 'any', 'tool', "
                "'none'"
            ),
        ),
        (ask(tool_choice={"type": "auto"}), "tool_choice: may only be specified while providing tools"),
        (
            ask(tools=[TOOL], tool_choice={"type": "tool", "name": "x"}),
            "tool_choice: Tool 'x' not found in provided tools",
        ),
        (ask({"role": "assistant", "content": "hi"}, USER), 'messages: first message must use the "user" role'),
        (
            ask(USER, {"role": "system", "content": "s"}),
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter.',
        ),
        (
            ask(USER, {"role": "user", "content": []}),
            "messages.1: all messages must have non-empty content except for the optional final assistant message",
        ),
        (
            ask(USER, {"role": "assistant", "content": []}, USER),
            "messages.1: all messages must have non-empty content except for the optional final assistant message",
        ),
        (
            ask({"role": "user", "content": []}, USER),
            "messages.0: all messages must have non-empty content except for the optional final assistant message",
        ),
        (
            ask({"role": "user", "content": [text(" ")]}),
            "messages.0: text content blocks must contain non-whitespace text",
        ),
        (
            ask(USER, CALLED, results("a")),
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each "
                "`tool_use` block must have a corresponding `tool_result` block in the next message."
            ),
        ),
        (
            ask(USER, CALLED, results("a", "b", before=[text("so")])),
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. Each "
                "`tool_use` block must have a corresponding `tool_result` block in the next message."
            ),
        ),
        (
            ask(USER, CALLED),
            (
                "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. Each "
                "`tool_use` block must have a corresponding `tool_result` block in the next message."
            ),
        ),
        (
            ask(USER, CALLED, results("a", "b", "b")),
            (
                "messages.2.content.2: unexpected `tool_use_id` found in `tool_result` blocks: b. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            ),
        ),
        (
            ask(results("a")),
            (
                "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            ),
        ),
    ],
)
def test_mistakes_are_refused(request_, refusal):
    """The first thing that the provider says is about the mistake."""
    assert refusal == broken(request_)[0]


def test_no_messages_at_all():
    """An empty conversation is refused before anything is read from it."""
    assert ["messages: at least one message is required"] == broken(ask() | {"messages": []})
