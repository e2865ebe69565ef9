"""Fingerprints: blind to what a client makes up, and to nothing else."""

from __future__ import annotations

import json
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.fingerprint import Fingerprinter, wire_fingerprint
from harness.errors import UsageError
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

replace = msgspec.structs.replace
UUIDS = ("11111111-2222-4333-8444-555555555555", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")
VOLATILE = (r"Today is \d{4}-\d{2}-\d{2}",)

ORDER = ToolSpec(
    "order", "Orders by id", {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}}
)
REFUND = ToolSpec("refund", "Pays back", {"type": "object", "properties": {"order": {"type": "integer"}}})


def conversation(ids=("call_a1b2c3d4e5", "call_f6g7h8i9j0"), uuid=UUIDS[0], today="2026-11-20", spaces=""):
    first, second = ids
    return (
        Message("system", f"Today is {today}. Never promise a date. Session {uuid}."),
        Message("user", "Where are orders 1182 and 1183?"),
        Message(
            "assistant",
            "",
            (
                ToolCall(first, "order", f'{{"id":{spaces}1182,"note":"x"}}', {"id": 1182, "note": "x"}),
                ToolCall(second, "order", f'{{"note":"x",{spaces}"id":1183}}', {"note": "x", "id": 1183}),
            ),
            None,
            (ThinkingBlock("thinking", "Look both up.", "c2lnbmF0dXJl"),),
        ),
        Message("tool", "on its way", (), first),
        Message("tool", f"lost, see {first} in session {uuid}", (), second),
    )


def request(messages=None, **changes):
    fields = {"model": "m", "tools": (ORDER, REFUND), "temperature": 0.2, "max_tokens": 500}
    return ModelRequest(messages=messages or conversation(), **{**fields, **changes})


def ask(asked):
    return Fingerprinter(VOLATILE).ask(asked)


def edited(position, **changes):
    messages = list(conversation())
    messages[position] = replace(messages[position], **changes)
    return request(tuple(messages))


def with_calls(*calls):
    return edited(2, tool_calls=calls)


CALLS = conversation()[2].tool_calls
PROPERTIES = {"id": {"type": "integer"}, "note": {"type": "string"}}


@pytest.mark.parametrize(
    "edit",
    [
        request(conversation(ids=("call_zzzzzzzz1", "call_zzzzzzzz2"))),
        request(conversation(ids=("call_zzzzzzzz1", "toolu_0123456789"))),
        request(conversation(uuid=UUIDS[1])),
        request(conversation(today="2027-01-02")),
        request(conversation(spaces="  ")),
        request(tools=(replace(ORDER, parameters={"properties": PROPERTIES, "type": "object"}), REFUND)),
        request(temperature=0.20, top_p=None, seed=None, tool_choice=None, stop=()),
    ],
    ids=["call ids", "ids of another provider", "uuids", "declared date", "blanks in arguments", "key order", "nulls"],
)
def test_volatile_edits_still_match(edit):
    """What a client makes up anew on every run does not count."""
    assert ask(request()) == ask(edit)


@pytest.mark.parametrize(
    "edit",
    [
        edited(0, content="Today is 2026-11-20. Never promise a refund date. Session " + UUIDS[0] + "."),
        edited(1, content="Where are orders 1128 and 1183?"),
        edited(1, content="Today it is 2026-11-20. Where are orders 1182 and 1183?"),
        edited(3, content="lost, see call_a1b2c3d4e5 in session " + UUIDS[0]),
        request((*conversation()[:3], *[replace(m, tool_call_id=o.tool_call_id) for m, o in zip(conversation()[3:], conversation()[:2:-1], strict=True)])),
        edited(4, content="lost, see call_f6g7h8i9j0 in session " + UUIDS[0]),
        edited(4, content="lost, see call_a1b2c3d4e5 in session " + UUIDS[1]),
        with_calls(replace(CALLS[0], args={"id": "1182", "note": "x"}), CALLS[1]),
        with_calls(replace(CALLS[0], args={"id": 1182}), CALLS[1]),
        with_calls(replace(CALLS[0], name="refund"), CALLS[1]),
        with_calls(replace(CALLS[0], args=None, args_raw='{"id": 1182'), CALLS[1]),
        edited(2, thinking=(ThinkingBlock("thinking", "Look both up.", "YW5vdGhlcg=="),)),
        edited(2, thinking=()),
        request(conversation()[:-1]),
        request(tools=(replace(ORDER, parameters={"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}), REFUND)),
        request(tools=(replace(ORDER, parameters={"type": "object", "properties": {"note": {"type": "string"}}}), REFUND)),
        request(tools=(ORDER, replace(REFUND, description="Pays back at once"))),
        request(tools=(REFUND, ORDER)),
        request(tools=(ORDER,)),
        request(model="m2"),
        request(max_tokens=501),
        request(temperature=0.3),
        request(tool_choice="required"),
        request(thinking=Thinking("adaptive")),
        request(stream=True),
        request(json_schema={"type": "object"}),
        request(json_schema={}),
    ],
    ids=[
        "word in the prompt", "number in the question", "date that is not declared", "tool result", "swapped results", "link to another call",
        "link to another session", "argument type", "argument gone", "another tool called", "arguments damaged", "signature", "thinking gone", "message gone",
        "parameter named id retyped", "parameter named id gone", "description", "order of tools", "tool gone", "model",
        "max_tokens", "temperature", "tool_choice", "thinking asked", "streaming", "schema of the answer", "empty schema",
    ],
)  # fmt: skip
def test_meaningful_edits_do_not_match(edit):
    """Whatever can change what a model answers counts."""
    assert ask(request()) != ask(edit)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 2**32))
def test_remembering_changes_nothing(lengths, seed):
    """A fingerprinter that has seen other conversations names a call as a new one does."""
    chooser = random.Random(seed)
    seen = Fingerprinter(VOLATILE)
    pool = [*conversation(), *conversation(uuid=UUIDS[1])]
    for length in lengths:
        asked = request(
            tuple(chooser.choice(pool) for _ in range(length)), temperature=chooser.choice([0, 0.0, 1.0, 1])
        )

        assert Fingerprinter(VOLATILE).ask(asked) == seen.ask(asked)
        assert Fingerprinter(VOLATILE).prefixes(asked.messages) == seen.prefixes(asked.messages)


def test_what_was_read_is_not_read_again():
    """A growing conversation costs its new messages: the others are recognised as the same objects."""
    printer = Fingerprinter()
    messages = conversation()
    printer.ask(request(messages[:3]))
    known = printer._walk(messages[:3])
    last = printer._walk(messages)

    assert known.next[id(messages[3])].next[id(messages[4])] is last


def test_a_conversation_that_goes_on_starts_with_the_same_prefixes():
    """One digest a message; a later call of the same conversation has them all, and one that was edited has not."""
    printer = Fingerprinter()
    whole = printer.prefixes(conversation())

    assert 5 == len(whole) == len(set(whole))
    assert whole[:3] == printer.prefixes(conversation()[:3])
    assert whole[:1] + whole[2:] != printer.prefixes(edited(1, content="Other").messages)[:1] + whole[1:4]


def test_parts_of_a_message_count():
    """Text and images of a message with several parts are told apart."""
    image = Message("user", (TextPart("What is this?"), ImagePart("image/png", "aGVsbG8=")))
    other = Message("user", (TextPart("What is this?"), ImagePart("image/png", "d29ybGQ=")))

    assert ask(request((image,))) != ask(request((other,)))


def test_a_key_in_a_prompt_does_not_count():
    """The recorder writes a placeholder for it, and the fingerprint sees the same on both sides."""
    one, two = (Message("user", f"key sk-{letter * 24}") for letter in "ab")

    assert ask(request((one,))) == ask(request((two,)))


def test_embeddings_and_tools_have_fingerprints_of_their_own():
    """Texts and their order, the model, a tool's name and arguments all count."""
    printer = Fingerprinter()
    prints = {
        printer.ask(EmbeddingRequest("e", ("a", "b"))),
        printer.ask(EmbeddingRequest("e", ("b", "a"))),
        printer.ask(EmbeddingRequest("f", ("a", "b"))),
        printer.tool("a", {"b": 1}),
        printer.tool("a", {"b": 2}),
        printer.tool("b", {"b": 1}),
    }

    assert 6 == len(prints)


def test_patterns_that_match_nothing_are_reported():
    """A volatile pattern that is never needed hides nothing today, and may hide a bug tomorrow."""
    printer = Fingerprinter((*VOLATILE, r"Ticket \d+"))
    printer.ask(request())

    assert (r"Ticket \d+",) == printer.unmatched_volatile


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(", "volatile pattern `(` is no regex: missing ), unterminated subpattern at position 0"),
        (r"\d*", r"volatile pattern `\d*` matches the empty text, so it says nothing"),
    ],
)
def test_useless_patterns_are_refused(pattern, text):
    """The message quotes the pattern."""
    with pytest.raises(UsageError) as refused:
        Fingerprinter((pattern,))

    assert text == refused.value.message


def openai_body(**changes):
    body = {
        "model": "m",
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"id": 1, "a": 2}'}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        ],
        **changes,
    }  # fmt: skip
    return json.dumps(body).encode()


def anthropic_body(call_id="toolu_1", order=7):
    blocks = [{"type": "tool_use", "id": call_id, "name": "f", "input": {"id": order}}]
    result = [{"type": "tool_result", "tool_use_id": call_id, "content": "ok"}]
    messages = [{"role": "assistant", "content": blocks}, {"role": "user", "content": result}]
    return json.dumps({"messages": messages}).encode()


def test_the_wire_fingerprint_ignores_spelling():
    """Key order, blanks, nulls and the blanks inside tool arguments are how a client writes, not what it says."""
    plain = json.loads(openai_body())
    call = plain["messages"][0]["tool_calls"][0]["function"]
    call["arguments"] = '{"a":2,"id":1}'
    plain["user"] = None

    assert wire_fingerprint(openai_body()) == wire_fingerprint(json.dumps(plain, indent=3, sort_keys=True).encode())


def test_the_wire_fingerprint_renames_call_ids_and_nothing_else():
    """Ids of calls are made up; an argument that is called `id` is not."""
    assert wire_fingerprint(anthropic_body("toolu_1")) == wire_fingerprint(anthropic_body("toolu_2"))
    assert wire_fingerprint(anthropic_body(order=7)) != wire_fingerprint(anthropic_body(order=8))
    assert wire_fingerprint(openai_body()) == wire_fingerprint(openai_body().replace(b"call_1", b"call_x"))
    assert wire_fingerprint(openai_body()) != wire_fingerprint(openai_body(model="n"))


def test_a_body_that_is_no_json_counts_to_the_byte():
    """Forms and broken bodies have a fingerprint as well."""
    assert wire_fingerprint(b"a=1") != wire_fingerprint(b"a=2")
    assert wire_fingerprint(b"[1]") == wire_fingerprint(b"[ 1 ]")


def test_fingerprints_never_change_by_accident():
    """Committed cassettes hold these values: another algorithm needs another `CASSETTE_FORMAT`, and a migration."""
    assert ("5061ebede3bac830", "073abbe3736468e4", "6f77d03d70e72a8d") == (
        ask(request()),
        wire_fingerprint(openai_body()),
        Fingerprinter().ask(EmbeddingRequest("e", ("a", "ä"))),
    )


def test_a_request_without_betas_is_named_as_ever() -> None:
    """What is not asked for does not count; what is asked for does."""
    plain = request()

    assert Fingerprinter().ask(plain) == Fingerprinter().ask(msgspec.structs.replace(plain, betas=()))
    assert Fingerprinter().ask(plain) != Fingerprinter().ask(msgspec.structs.replace(plain, betas=("b",)))
