"""CX7: thoughts and tool syntax before the user."""

from __future__ import annotations

import pytest

from harness.contracts.leaks import leaks_in, nothing_leaks
from harness.records.trace import LlmChunk, Thought
from harness.testing.builders import answer, check, make_trace, model_turn, reasons

TOOLS = frozenset({"get_weather", "search_docs"})
LEAKS = [
    "<think>the user wants</think> 7 °C",
    "Thought: I know it now.\nFinal Answer: 7 °C",
    "Thought: look it up\nAction: get_weather",
    'Action: {"city": "Berlin"}',
    "**Action:** get_weather(city='Berlin')",
    '{"action": "get_weather", "action_input": {"city": "Berlin"}}',
    'Here: {"name": "other_tool", "arguments": {}}',
    "```tool_code\nget_weather(city='Berlin')\n```",
    "I look.\nget_weather(city='Berlin')",
    "print(default_api.get_weather(city='Berlin'))",
    "<tool_call>x</tool_call>",
    "<THINK>the user wants</THINK> 7 °C",
    "```tool_outputs\n7 °C\n```",
    "[TOOL_CALLS] get_weather",
    "<|im_start|>assistant",
]
PROSE = [
    "Action: send the form by Friday.",
    "Food for thought: it may rain. Observation is the key to a good diary.",
    "Thought: a poem in three lines",
    'The config is {"name": "alpha", "size": 3}.',
    "I used `get_weather(city='Berlin')` to find out.",
    "```python\nprint(f(x))\n```",
    "If a < b then {b} wins, and <3 is a heart.",
    "search_docs is a tool that I could use.",
    "Ich denke, dass es regnet. Final answers come later.",
    "The function f(x)\nis steep.",
    '{"action": "buy", "price": 3}',
]


@pytest.mark.parametrize("text", LEAKS)
def test_cx7_leaks(text):
    """Every spelling of thinking or tool syntax is found in the answer."""
    findings = check(nothing_leaks, make_trace(model_turn(tools=sorted(TOOLS)), answer(text)))

    assert "broken" == findings[0].state
    assert findings[0].because.startswith("the answer holds t")


@pytest.mark.parametrize("text", PROSE)
def test_cx7_prose(text):
    """Ordinary prose with the same words is not taken for a leak."""
    assert [] == leaks_in(text, TOOLS)


def test_cx7_names_the_words():
    """The finding shows the words and where they stand."""
    trace = make_trace(answer("It rains. <think>really?</think>"))

    assert ["the answer holds thinking: `<think>` at character 11"] == reasons(check(nothing_leaks, trace))


def test_cx7_long_thought_in_the_answer():
    """A long thought that stands whole in the answer is a leak; a short one may be said again."""
    thought = "The user asks for the weather in Berlin, so I first call the weather tool and then I answer in German."
    leaked = make_trace(Thought(text=thought), answer(f"{thought}\n\nEs sind 7 °C."))
    said = make_trace(Thought(text="Es sind 7 °C."), answer("Es sind 7 °C."))

    assert [
        "the answer holds a raw thought: “The user asks for the weather in Berlin, so I first call the…”"
    ] == reasons(check(nothing_leaks, leaked))
    assert ["kept"] == reasons(check(nothing_leaks, said))


def test_cx7_visible_chunks():
    """Text that is streamed to the user is held as the answer is, put together; what is not visible is free."""

    def streamed(*texts, visible=True, channel="text"):
        chunks = [LlmChunk(call_span="s", index=0, text=t, visible=visible, channel=channel) for t in texts]
        return make_trace(chunks, answer("7 °C"))

    assert ["kept"] == reasons(check(nothing_leaks, streamed("7 ", "°C")))
    assert ["the stream holds thinking: `<think>` at character 1"] == reasons(
        check(nothing_leaks, streamed("<thi", "nk> hm"))
    )
    assert ["kept"] == reasons(check(nothing_leaks, streamed("<think> hm", visible=False)))
    assert ["a chunk of thinking is streamed to the user"] == reasons(
        check(nothing_leaks, streamed("hm", channel="thinking"))
    )
