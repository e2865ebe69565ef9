"""Holding a request against what its step expects; each complaint names what was expected and what came instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.models.scripted.script import Expect, ToolResultExpected, as_texts
from harness.records.messages import Message, ModelRequest, ToolCall

SHOWN_CHARS = 160
"""Text of a request is quoted in a complaint up to this many characters."""


def unmet(expect: Expect, request: ModelRequest) -> list[str]:
    """What *expect* asks for and *request* does not hold, one sentence each; empty when everything holds."""
    return [*_shape(expect, request), *_texts(expect, request.messages), *_tools(expect, request)]


def _shape(expect: Expect, request: ModelRequest) -> Iterator[str]:
    if expect.model is not None and request.model != expect.model:
        yield f"expected model `{expect.model}`, got `{request.model}`"
    if expect.n_messages is not None and len(request.messages) != expect.n_messages:
        yield f"expected {expect.n_messages} messages, got {len(request.messages)}"
    last = request.messages[-1].role if request.messages else "none"
    if expect.last_role is not None and last != expect.last_role:
        yield f"expected the last message from `{expect.last_role}`, got one from `{last}`"


def _texts(expect: Expect, messages: Sequence[Message]) -> Iterator[str]:
    system = "\n".join(message.text for message in messages if message.role == "system")
    for text in as_texts(expect.system_contains):
        if text not in system:
            yield f"expected {text!r} in the system messages, which are {_short(system)}"
    told = [message.text for message in messages if message.role != "assistant"]
    for text in as_texts(expect.contains):
        if not any(text in said for said in told):
            yield f"expected {text!r} in a message; the last one is {_short(told[-1] if told else '')}"
    for text in as_texts(expect.not_contains):
        found = next((said for said in told if text in said), None)
        if found is not None:
            yield f"expected no {text!r}, got it in {_short(found)}"


def _tools(expect: Expect, request: ModelRequest) -> Iterator[str]:
    offered = [spec.name for spec in request.tools]
    missing = [name for name in as_texts(expect.tools) if name not in offered]
    if missing:
        yield f"expected the tools {_names(missing)} to be offered, got {_names(offered)}"
    if not expect.tool_results:
        return
    results = _fresh_results(request.messages)
    taken: set[int] = set()
    for expected in expect.tool_results:
        yield from _result(expected, results, taken)


def _result(expected: ToolResultExpected, results: Sequence[tuple[ToolCall, str]], taken: set[int]) -> Iterator[str]:
    """Match one expected result; by name, each expectation takes a result of its own where it can."""
    if expected.nth is not None:
        fitting = [expected.nth - 1] if expected.nth <= len(results) else []
        which = f"result {expected.nth}"
    else:
        fitting = [index for index, (call, _) in enumerate(results) if call.name == expected.name]
        which = f"a result of `{expected.name}`"
    if not fitting:
        yield f"expected {which} of the last tool calls, got results of {_names([call.name for call, _ in results])}"
        return
    wanted = as_texts(expected.contains)
    holding = [index for index in fitting if all(text in results[index][1] for text in wanted)]
    free = [index for index in holding if index not in taken]
    if free:
        taken.add(free[0])
    elif not holding:
        said = results[fitting[0]][1]
        yield f"expected {which} with {', '.join(repr(text) for text in wanted)}, got {_short(said)}"
    else:
        yield f"expected one more {which.removeprefix('a ')} with {', '.join(repr(text) for text in wanted)}"


def _fresh_results(messages: Sequence[Message]) -> list[tuple[ToolCall, str]]:
    """The calls of the last assistant message, each with the text of its result, in the order of the calls."""
    last = next((index for index in reversed(range(len(messages))) if messages[index].role == "assistant"), None)
    if last is None:
        return []
    answers = {message.tool_call_id: message.text for message in messages[last + 1 :] if message.role == "tool"}
    return [(call, answers[call.id]) for call in messages[last].tool_calls if call.id in answers]


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…")
