"""Review: cassettes as people read, compare, clean and hand them on."""

from __future__ import annotations

import json

import msgspec
import yaml

from harness.cassettes.check import check
from harness.cassettes.file import Interaction, Provenance, dump, load, make_cassette
from harness.cassettes.redact import Scrubber
from harness.cassettes.review import ShownCall, diff, export, scrub_file, show

replace = msgspec.structs.replace
URI = "http://scripted.invalid/v1/chat/completions"


def request(*texts, prompt="Be brief."):
    messages = [{"role": "system", "content": prompt}, *({"role": "user", "content": text} for text in texts)]
    return json.dumps({"model": "m", "messages": messages})


def reply(text="", *calls):
    tools = [{"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": "{}"}} for n, name in enumerate(calls)]  # fmt: skip
    message = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {})}
    return json.dumps({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def cassette(*pairs, **provenance):
    items = [
        Interaction(call=n, answered_by="scripted", uri=URI, request_body=asked, response_body=answered, latency_ms=n,
                    response_headers={"content-type": ["application/json"]})
        for n, (asked, answered) in enumerate(pairs, start=1)
    ]  # fmt: skip
    return make_cassette(Provenance(answered_by="scripted", **provenance), items)


def test_calls_are_shown_by_what_was_asked_and_answered():
    """The last message, the text, the tools that are called; errors and unknown interfaces as they are."""
    made = cassette((request("Rome?"), reply("Looking.", "get_weather")), ("raw", "answer"))
    odd = replace(made.interactions[1], uri="tool://weather")
    lost = replace(made.interactions[1], status=599, error="ReadTimeout: too slow")
    first, second, third = show(make_cassette(made.provenance, [made.interactions[0], odd, lost]))

    assert ShownCall(1, "chat", "", URI, 200, 1, "user: Rome?", "Looking.; get_weather({})") == first
    assert ("raw", "answer") == (second.asked, second.answered)
    assert "ReadTimeout: too slow" == third.answered


def test_each_distinct_change_is_shown_once():
    """A prompt edit stands in every request of a case and is one line; changed answers and lengths follow."""
    old = cassette((request("a"), reply("one")), (request("b"), reply("two")), (request("c"), reply("three")))
    new = cassette((request("a", prompt="Be short."), reply("one")), (request("b", prompt="Be short."), reply("due")))

    assert [
        "message 0 (system).content: 'Be brief.' -> 'Be short.' (2 calls, first call 1)",
        "answer: 'two' -> 'due' (call 2)",
        "2 calls instead of 3",
    ] == diff(old, new)
    assert [] == diff(old, old)


def test_scrubbing_a_file_makes_it_loadable_again(tmp_path):
    """The secret goes, everything else stays, and the digest is that of the cleaned answers."""
    root = tmp_path / "cassettes"
    path = root / "a" / "scripted" / "s" / "c.0.yaml"
    path.parent.mkdir(parents=True)
    made = cassette((request("key sk-abcdefghijklmnopqrstuvwx"), reply("sk-abcdefghijklmnopqrstuvwx")), recorded="x")
    made = replace(made, provenance=replace(made.provenance, responses=made.digest))
    path.write_bytes(dump(made))

    assert ["cassette-secret"] == [problem.code for problem in check(root).problems]
    assert scrub_file(path, Scrubber())
    assert () == check(root).problems
    assert not scrub_file(path, Scrubber())
    assert "user: key <secret:model-key>" == show(load(path))[0].asked


def test_an_export_is_what_vcrpy_writes():
    """Requests and responses alone, for tools that take no other key."""
    exported = yaml.safe_load(export(cassette((request("a"), reply("b")))))

    assert {
        "version": 1,
        "interactions": [
            {
                "request": {"body": request("a"), "headers": {}, "method": "POST", "uri": URI},
                "response": {
                    "body": {"string": reply("b")},
                    "headers": {"content-type": ["application/json"]},
                    "status": {"code": 200, "message": "OK"},
                },
            }
        ],
    } == exported
