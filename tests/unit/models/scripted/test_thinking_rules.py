"""The rules of thinking, by model, and the memory of what was given out."""

import copy

import pytest

from harness.models.capability import capability_of
from harness.models.scripted.thinking_rules import IssuedThinking, broken_thinking_rules
from harness.records.messages import ModelReply, ThinkingBlock, ToolCall

TOOL = {"name": "get_weather", "input_schema": {"type": "object"}}
USER = {"role": "user", "content": "hi"}
ENABLED = {"type": "enabled", "budget_tokens": 2000}
ADAPTIVE = {"type": "adaptive"}
BLOCKS = [
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "b3Bh"},
]
REPLY = ModelReply(
    text="look",
    tool_calls=(ToolCall("a", "get_weather", "{}", {}),),
    thinking=(ThinkingBlock("thinking", "hm", "c2ln"), ThinkingBlock("redacted", data="b3Bh")),
)
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "7"}]}


def ask(model="claude-sonnet-4-5", *messages, **params):
    return {"model": model, "max_tokens": 4000, "messages": list(messages) or [USER], **params}


def broken(request, betas=()):
    return list(broken_thinking_rules(request, capability_of(request["model"]), betas))


@pytest.mark.parametrize(
    ("request_", "betas"),
    [
        (ask(), ()),
        (ask(thinking=ENABLED, temperature=1, top_p=0.97), ()),
        (ask(thinking={"type": "enabled", "budget_tokens": 1024}, tools=[TOOL], tool_choice={"type": "auto"}), ()),
        (
            ask(thinking={"type": "enabled", "budget_tokens": 9000}, tools=[TOOL]),
            ("x", "interleaved-thinking-2025-05-14"),
        ),
        (ask(temperature=0.2, top_k=5, tools=[TOOL], tool_choice={"type": "any"}), ()),
        (ask("claude-opus-5", thinking={"type": "disabled"}, tools=[TOOL], tool_choice={"type": "any"}), ()),
        (ask("claude-opus-4-6", thinking=ENABLED), ()),
        (ask("claude-opus-4-6", thinking=ADAPTIVE), ()),
        (ask("claude-opus-4-7", thinking=ADAPTIVE), ()),
        (ask("claude-sonnet-5", thinking={"type": "disabled"}, tools=[TOOL], tool_choice={"type": "any"}), ()),
        (ask("claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "high"}), ()),
        (ask("claude-sonnet-5-5", thinking={"type": "between_tools"}), ()),
        (ask("claude-haiku-5-5", thinking={"type": "disabled"}, tools=[TOOL], tool_choice={"type": "auto"}), ()),
        (ask("claude-3-5-haiku-latest", tools=[TOOL], tool_choice={"type": "any"}, temperature=0), ()),
    ],
)
def test_honest_requests_pass(request_, betas):
    """What a model takes is not refused."""
    assert [] == broken(request_, betas)


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (
            ask(thinking={"type": "enabled", "budget_tokens": 1023}),
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        ),
        (
            ask(thinking={"type": "enabled", "budget_tokens": 4000}),
            "`max_tokens` must be greater than `thinking.budget_tokens`. (4000 and 4000)",
        ),
        (
            ask("claude-3-7-sonnet", thinking={"type": "enabled", "budget_tokens": 9000}, tools=[TOOL]),
            "`max_tokens` must be greater than `thinking.budget_tokens`. (4000 and 9000)",
        ),
        (ask(thinking={"type": "enabled"}), "thinking.enabled.budget_tokens: Field required"),
        (
            ask(thinking={"type": "on"}),
            "thinking: Input tag 'on' does not match any of the expected tags: 'enabled', 'adaptive', 'disabled'",
        ),
        (
            ask("claude-3-5-haiku-latest", thinking=ENABLED),
            "thinking: claude-3-5-haiku-latest does not support thinking",
        ),
        (
            ask("claude-opus-4-7", thinking=ENABLED),
            (
                'thinking: "thinking.type.enabled" is not supported for claude-opus-4-7. Use "thinking.type.adaptive" '
                "instead."
            ),
        ),
        (ask(thinking=ADAPTIVE), "thinking: adaptive thinking is not supported on claude-sonnet-4-5"),
        (
            ask("claude-opus-5", thinking={"type": "between_tools"}),
            "thinking: type 'between_tools' is not supported on claude-opus-5",
        ),
        (
            ask("claude-opus-5-5", thinking={"type": "disabled"}),
            "thinking: thinking cannot be disabled on claude-opus-5-5",
        ),
        (
            ask("claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "max"}),
            "thinking: on claude-opus-5 thinking can be disabled only up to effort 'high'",
        ),
        (
            ask("claude-opus-5", thinking={"type": "adaptive", "budget_tokens": 2000}),
            "thinking.adaptive.budget_tokens: Extra inputs are not permitted",
        ),
        (
            ask(thinking=ENABLED, tools=[TOOL], tool_choice={"type": "any"}),
            ("tool_choice: Thinking may not be enabled when tool_choice forces tool use. (model claude-sonnet-4-5)"),
        ),
        (
            ask("claude-opus-5-5", tools=[TOOL], tool_choice={"type": "tool", "name": "get_weather"}),
            ("tool_choice: Thinking may not be enabled when tool_choice forces tool use. (model claude-opus-5-5)"),
        ),
        (
            ask("claude-opus-5", tools=[TOOL], tool_choice={"type": "any"}),
            "tool_choice: Thinking may not be enabled when tool_choice forces tool use. (model claude-opus-5)",
        ),
        (ask(thinking=ENABLED, temperature=0.2), "`temperature` may only be set to 1 when thinking is enabled."),
        (ask(thinking=ENABLED, top_k=5), "`top_k` must be unset when thinking is enabled."),
        (
            ask(thinking=ENABLED, top_p=0.5),
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        ),
        (
            ask("claude-sonnet-4-5", USER, {"role": "assistant", "content": "So"}, thinking=ENABLED),
            "messages: a final assistant message (prefill) is not allowed when thinking is enabled",
        ),
    ],
)
def test_mistakes_are_refused(request_, refusal):
    """Each model refuses what it does not take."""
    assert [refusal] == broken(request_)


class Turn:
    """A tool turn: the question was asked, `REPLY` was given, and the second request brings it back."""

    def __init__(self, model="claude-sonnet-4-5", **params):
        self.first = ask(model, system="Be kind.", tools=[TOOL], **params)
        self.issued = IssuedThinking()
        self.issued.remember(self.first, REPLY)
        call = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}}
        said = {"role": "assistant", "content": [*copy.deepcopy(BLOCKS), {"type": "text", "text": "look"}, call]}
        self.second = copy.deepcopy(self.first)
        self.second["messages"] += [said, copy.deepcopy(RESULT)]
        self.blocks = said["content"]

    def broken(self):
        return list(self.issued.broken(self.second, capability_of(self.second["model"])))


def test_blocks_that_come_back_unchanged_pass():
    """Byte for byte and in order; marks for caching do not count."""
    turn = Turn(thinking=ENABLED)
    turn.blocks[0]["cache_control"] = {"type": "ephemeral"}

    assert [] == turn.broken()


@pytest.mark.parametrize("change", ["first", "second", "both", "order"])
def test_blocks_left_out_or_reordered_are_refused(change):
    """Each block of an open tool turn is needed, in order; so also when thinking was switched off meanwhile."""
    turn = Turn(thinking=ENABLED)
    dropped = {"first": BLOCKS[1:], "second": BLOCKS[:1], "both": [], "order": BLOCKS[::-1]}[change]
    turn.blocks[:2] = dropped
    del turn.second["thinking"]

    assert turn.broken()[0].startswith(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `"
        + (dropped[0]["type"] if dropped else "text")
    )


@pytest.mark.parametrize("text", ["hm.", "", "Hm"])
def test_a_changed_text_is_refused(text):
    """One character of the thinking changed is enough."""
    turn = Turn(thinking=ENABLED)
    turn.blocks[0]["thinking"] = text

    assert turn.broken()[0].startswith(
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be"
    )


def test_made_up_seals_are_refused():
    """A signature or redacted data that this model never gave is invalid."""
    turn = Turn(thinking=ENABLED)
    turn.blocks[0]["signature"] = "bWFkZQ"
    turn.blocks[1]["data"] = "dXA"

    assert [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.1: Invalid `data` in `redacted_thinking` block",
    ] == turn.broken()[:2]


def test_blocks_of_an_earlier_turn_may_be_left_out():
    """Once the user has spoken again, the turn is closed and its blocks may go, but not change."""
    turn = Turn(thinking=ENABLED)
    turn.second["messages"] += [{"role": "assistant", "content": "7 °C"}, USER]
    del turn.blocks[:2]

    assert [] == turn.broken()


def test_a_text_after_the_results_leaves_the_turn_open():
    """A block of text beside tool results is no new turn."""
    turn = Turn(thinking=ENABLED)
    turn.second["messages"][-1]["content"].append({"type": "text", "text": "PLAN: 1"})
    del turn.blocks[:2]

    assert turn.broken()


def test_a_call_given_without_thinking_needs_none():
    """A model that thinks on and off gives replies without blocks; nothing is due for them."""
    turn = Turn("claude-opus-4-7", thinking=ADAPTIVE)
    turn.issued = IssuedThinking()
    turn.issued.remember(turn.first, ModelReply(text="look", tool_calls=REPLY.tool_calls))
    del turn.blocks[:2]

    assert [] == turn.broken()


def test_a_history_from_elsewhere_must_start_with_thinking():
    """With a budget, an open tool turn that this model did not begin needs a thinking block first: no toggling."""
    turn = Turn(thinking=ENABLED)
    turn.issued = IssuedThinking()
    del turn.blocks[:2]

    assert turn.broken()[0].startswith(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found"
    )


@pytest.mark.parametrize("change", ["system", "tools", "earlier message"])
def test_preserved_blocks_are_bound_to_what_stood_before(change):
    """On a model with preserved thinking a changed system prompt, tool list or earlier message is refused."""
    bound, free = Turn("claude-opus-5-5"), Turn("claude-sonnet-5")
    for turn in (bound, free):
        if change == "system":
            turn.second["system"] = "Be brief."
        elif change == "tools":
            turn.second["tools"].append({"name": "other"})
        else:
            turn.second["messages"][0] = {"role": "user", "content": "hi!"}

    assert [] == free.broken()
    assert (
        "messages.1.content.0: `thinking` block does not match the prefix that it was created with" == bound.broken()[0]
    )


def test_preserved_blocks_bear_what_comes_after_them():
    """Notes at the end, marks for caching, and a text written as one block leave the prefix as it was."""
    turn = Turn("claude-opus-5-5")
    turn.second["system"] = [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]
    turn.second["messages"][0] = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    turn.second["messages"].append({"role": "system", "content": "PLAN: 1"})

    assert [] == turn.broken()


def test_a_mismatch_can_be_asked_to_drop_the_block():
    """`prefix_mismatch_behavior: drop_block` is the caller's own choice and no mistake."""
    turn = Turn("claude-opus-5-5")
    turn.second |= {"system": "Be brief.", "prefix_mismatch_behavior": "drop_block"}

    assert [] == turn.broken()


def test_one_signature_may_stand_for_two_blocks():
    """A script that signs every block alike is still held to each block's own text."""
    turn = Turn(thinking=ENABLED)
    turn.issued.remember(turn.second, ModelReply(text="x", thinking=(ThinkingBlock("thinking", "more", "c2ln"),)))

    assert [] == turn.broken()
