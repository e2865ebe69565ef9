"""CX10: thinking blocks come back, earlier messages stay."""

from __future__ import annotations

from harness.contracts.conversation import preserved_thinking
from harness.records.trace import ThinkingDigest
from harness.testing.builders import answer, check, make_trace, model_turn, reasons, tool_use

BLOCKS = (ThinkingDigest("thinking", "t1", "s1"), ThinkingDigest("redacted", "t2"))
RETURNED = ((2, "t1"), (2, "t2"))


def loop(returned=RETURNED, prefix=("sys", "user", "asst", "tool"), n=4, **options):
    """A model call with thinking and a tool call, and the call that carries it on."""
    return make_trace(
        model_turn(
            calls=[("get_weather", {})], prefix_digests=("sys", "user"), n_messages=2, system_digest="sys",
            result={"thinking_blocks": BLOCKS},
        ),
        tool_use("get_weather"),
        model_turn("7", prefix_digests=prefix, n_messages=n, thinking_digests=returned),
        answer("7"),
        **options,
    )  # fmt: skip


def test_cx10_blocks_returned_in_order():
    """Blocks that come back unchanged and in order keep CX10."""
    assert ["kept"] == reasons(check(preserved_thinking, loop()))


def test_cx10_lost_reordered_and_changed_blocks():
    """Each way of mistreating the blocks breaks CX10 with its own words."""
    assert ["2 thinking blocks were not returned with the tool results"] == reasons(check(preserved_thinking, loop(())))
    assert ["1 of 2 thinking blocks were not returned"] == reasons(check(preserved_thinking, loop(((2, "t1"),))))
    assert ["thinking blocks were returned in another order"] == reasons(
        check(preserved_thinking, loop(((2, "t2"), (2, "t1"))))
    )
    assert ["thinking blocks were returned changed"] == reasons(
        check(preserved_thinking, loop(((2, "t1"), (2, "other"))))
    )


def test_cx10_changed_prefix():
    """An edited system prompt or message inside a tool loop breaks CX10, unless the configuration allows it."""
    system = loop(prefix=("edited", "user", "asst", "tool"))
    message = loop(prefix=("sys", "edited", "asst", "tool"))
    allowed = loop(prefix=("edited", "user", "asst", "tool"), started={"config": {"allows_prefix_change": True}})

    assert ["the system prompt changed inside a tool loop"] == reasons(check(preserved_thinking, system))
    assert ["message 1 changed inside a tool loop"] == reasons(check(preserved_thinking, message))
    assert ["kept"] == reasons(check(preserved_thinking, allowed))


def test_cx10_new_conversations_are_free():
    """A call that does not grow the conversation, or is of another purpose, is not held to it."""
    fresh = make_trace(
        model_turn(calls=[("verdict", {})], prefix_digests=("a", "b")),
        tool_use("verdict"),
        model_turn("x", prefix_digests=("c", "d"), n_messages=2),
    )

    assert ["vacuous"] == reasons(check(preserved_thinking, fresh))


def test_cx10_calls_that_are_not_run_begin_no_loop():
    """Where a model calls tools that it was not offered, and nothing runs, there are no results to return blocks with."""
    trace = make_trace(
        model_turn("7", calls=[("get_weather", {})], result={"thinking_blocks": BLOCKS}),
        model_turn("8", n_messages=4),
        answer("8"),
    )

    assert ["vacuous"] == reasons(check(preserved_thinking, trace))
