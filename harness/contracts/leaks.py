"""CX7: what only the agent may see, thoughts and tool syntax, never reaches the user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import TrialView
from harness.records.trace import Event

LONG_THOUGHT = 80
"""A thought of at least this many characters that stands whole in an answer is a leak; shorter ones may be said again."""


class Leak(NamedTuple):
    """*code* is `leaked-reasoning` or `leaked-tool-syntax`; *start* is an offset into the text."""

    code: str
    start: int
    words: str


_MARKS = re.compile(
    r"(?P<reasoning></?(?i:think|thinking|reasoning|scratchpad)>|<\|(?:channel|thought|analysis)[^>\n]{0,20}\|?>)"
    r"|(?P<tool>(?<!`)```+[ \t]*tool_(?:code|output|call)s?\b|^[ \t]*tool_(?:code|output)[ \t]*$"
    r"|</?(?:tool_call|tool_response|function_call|function_calls|invoke)\b[^>\n]{0,80}>|<function=\w|\[TOOL_CALLS\]"
    r"|<\|(?:tool|python_tag|im_start|im_end|eot)[^>\n]{0,20}\|?>|\bprint\(default_api\.\w|\bdefault_api\.\w+\()"
    r"|^[ \t>*_#]*(?P<label>Thought|Action|Action Input|Observation|Final Answer)[*_]*[ \t]*:[*_]*(?P<rest>[^\n]*)"
    r"|(?P<json>[{,]\s*\"(?:action|tool|tool_name|function|name)\"\s*:\s*\"(?P<named>[\w.\- ]{1,80})\")",
    re.MULTILINE,
)
_HINTS = ("<", "{", "```", "Thought", "Action", "Observation", "Final Answer", "tool_", "TOOL_", "default_api")
_CALL_LINE = re.compile(r"^[ \t]*(?P<name>[A-Za-z_]\w*)\((?P<args>[^\n]*)\)[ \t]*;?[ \t]*$", re.MULTILINE)
_ARGUMENT_KEY = re.compile(r"\"(?:action_input|input|args|arguments|parameters|tool_input)\"\s*:")


def leaks_in(text: str, tools: frozenset[str] = frozenset()) -> list[Leak]:
    """
    Find thinking marks, ReAct labels, JSON actions and calls of *tools* in *text*.

    One ReAct label alone is prose (“Action: send the form”); two different ones, or an action that names a tool, are
    not. A JSON object is an action only if it names one of *tools* or has arguments beside the name.
    """
    found: list[Leak] = []
    if any(hint in text for hint in _HINTS):
        found = _marked(text, tools)
    if tools and "(" in text:
        for match in _CALL_LINE.finditer(text):
            if match["name"] in tools:
                found.append(Leak("leaked-tool-syntax", match.start("name"), match.group().strip()[:60]))
    return sorted(found, key=lambda leak: leak.start)


def _marked(text: str, tools: frozenset[str]) -> list[Leak]:
    found: list[Leak] = []
    labels: dict[str, Leak] = {}
    certain = False
    for match in _MARKS.finditer(text):
        if match["reasoning"]:
            found.append(Leak("leaked-reasoning", match.start(), match["reasoning"]))
        elif match["tool"]:
            found.append(Leak("leaked-tool-syntax", match.start(), match["tool"].strip()))
        elif match["json"]:
            named = match["named"]
            if named in tools or (
                named == "Final Answer" or _ARGUMENT_KEY.search(text, match.end(), match.end() + 200)
            ):
                found.append(Leak("leaked-tool-syntax", match.start(), match["json"]))
        elif match["label"]:
            code = "leaked-reasoning" if match["label"] == "Thought" else "leaked-tool-syntax"
            labels.setdefault(match["label"], Leak(code, match.start("label"), f"{match['label']}:"))
            rest = match["rest"].strip(" `*_")
            certain |= match["label"] == "Action" and (rest.startswith("{") or rest.partition("(")[0] in tools)
    if certain or len(labels) > 1:
        found.extend(labels.values())
    return found


def thoughts_in(text: str, thoughts: Iterable[Event]) -> Event | None:
    """The first long thought of *thoughts* that stands whole in *text*, blanks apart."""
    flat = ""
    for event in thoughts:
        thought = event.data.text
        if thought is None or len(thought) < LONG_THOUGHT:
            continue
        flat = flat or " ".join(text.split())
        if " ".join(thought.split()) in flat:
            return event
    return None


def leaks_of(view: TrialView, final: Event) -> list[Leak]:
    """The leaks of an answer, looked for once for every rule that asks."""
    key = f"leaks {final.seq}"
    found: list[Leak] | None = view.memo.get(key)
    if found is None:
        found = view.memo[key] = leaks_in(final.data.text, view.offered)
    return found


@contract("CX7", needs=("final_answer", "llm_chunk"))
def nothing_leaks(view: TrialView) -> Iterator[Found]:
    """Neither the answer nor any text streamed to the user holds raw thinking or tool syntax."""
    thoughts = view.by_type.get("thinking", [])
    for final in view.finals:
        yield TRIGGERED
        yield from _leaks(final.data.text, leaks_of(view, final), [final], thoughts, "the answer")
    chunks = view.by_type.get("llm_chunk")
    if not chunks:
        return
    visible: dict[str, list[Event]] = {}
    for chunk in chunks:
        if chunk.data.visible:
            yield TRIGGERED
            if chunk.data.channel != "text":
                yield broken(chunk, f"a chunk of {chunk.data.channel} is streamed to the user")
            visible.setdefault(chunk.data.call_span, []).append(chunk)
    for streamed in visible.values():
        text = "".join(chunk.data.text for chunk in streamed)
        shown = [streamed[0], streamed[-1]]
        yield from _leaks(text, leaks_in(text, view.offered), shown, thoughts, "the stream")


def _leaks(text: str, leaks: list[Leak], shown: list[Event], thoughts: list[Event], where: str) -> Iterator[Found]:
    for leak in leaks[:1]:
        what = "thinking" if leak.code == "leaked-reasoning" else "tool syntax"
        yield broken(shown, f"{where} holds {what}: `{leak.words}` at character {leak.start + 1}")
    if thoughts:
        thought = thoughts_in(text, thoughts)
        if thought is not None:
            yield broken(
                [thought, *shown], f"{where} holds a raw thought: “{' '.join(thought.data.text.split())[:60]}…”"
            )
