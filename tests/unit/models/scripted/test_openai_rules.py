"""OpenAI's rules: an honest request passes, each mistake is refused for its own reason."""

import pytest

from harness.models.scripted.openai_rules import broken_chat_rules, broken_embedding_rules

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


def call(name):
    return {"id": name, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}


USER = {"role": "user", "content": "hi"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]}
RESULT_A, RESULT_B = ({"role": "tool", "tool_call_id": name, "content": "1"} for name in "ab")


def chat(*messages, **params):
    return {"model": "gpt-4.1-mini", "messages": list(messages) or [USER], **params}


@pytest.mark.parametrize(
    "request_",
    [
        chat(),
        chat({"role": "system", "content": "s"}, USER, CALLED, RESULT_B, RESULT_A, USER, tools=[TOOL]),
        chat(tools=[TOOL], tool_choice="required", temperature=0, top_p=1, max_tokens=5, seed=1, stop=["x"]),
        chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "get_weather"}}),
        chat(stream=True, stream_options={"include_usage": True}),
        chat(USER, {"role": "assistant", "content": None, "refusal": "no"}, USER),
    ],
)
def test_honest_requests_pass(request_):
    """Nothing that the provider takes is refused."""
    assert [] == list(broken_chat_rules(request_))


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (chat(thinking={"type": "enabled", "budget_tokens": 2000}), "Unknown parameter: 'thinking'."),
        (chat(top_k=3), "Unknown parameter: 'top_k'."),
        ({"messages": [USER]}, "Missing required parameter: 'model'."),
        ({"model": "m", "messages": []}, "Missing required parameter: 'messages'."),
        (chat(temperature=3), "Invalid 'temperature': expected a number between 0 and 2, got 3."),
        (chat(top_p="x"), "Invalid 'top_p': expected a number between 0 and 1, got 'x'."),
        (
            chat(max_tokens=0),
            "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
        ),
        (
            chat(stream_options={"include_usage": True}),
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        ),
        (
            chat(tools=[]),
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        ),
        (
            chat(tools=[{"type": "function", "function": {"name": "get weather"}}]),
            "Invalid 'tools[0].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.",
        ),
        (
            chat(tool_choice="auto"),
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        ),
        (
            chat(tools=[TOOL], tool_choice="any"),
            "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
        ),
        (
            chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "other"}}),
            "Invalid value for 'tool_choice': no function of that name was specified in the 'tools' parameter.",
        ),
        (
            chat(USER, CALLED, RESULT_A, USER),
            (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: b (before messages.[3])"
            ),
        ),
        (
            chat(USER, CALLED),
            (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: a, b (before messages.[2])"
            ),
        ),
        (
            chat(USER, RESULT_A),
            (
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                "'tool_calls'. (messages.[1])"
            ),
        ),
        (
            chat(USER, CALLED, RESULT_A, RESULT_A, RESULT_B),
            (
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                "'tool_calls'. (messages.[3])"
            ),
        ),
        (
            chat({"role": "robot", "content": "hi"}),
            ("Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'tool'. (messages[0])"),
        ),
        (
            chat({"role": "user", "content": None}),
            "Invalid value for 'content': expected a string, got null. (messages.[0].content)",
        ),
    ],
)
def test_mistakes_are_refused(request_, refusal):
    """The first thing that the provider says is about the mistake."""
    assert refusal == next(broken_chat_rules(request_))


@pytest.mark.parametrize("given", [[], "", ["a", ""], None, [1]])
def test_embeddings_need_texts(given):
    """Empty input is refused, as the provider does."""
    assert ["'input' must be a non-empty string or an array of non-empty strings."] == list(
        broken_embedding_rules({"model": "m", "input": given})
    )


def test_honest_embedding_requests_pass():
    """One text or several."""
    assert [] == list(broken_embedding_rules({"model": "m", "input": "a"}))
    assert [] == list(broken_embedding_rules({"model": "m", "input": ["a", "b"]}))
    assert ["Missing required parameter: 'model'."] == list(broken_embedding_rules({"input": "a"}))
