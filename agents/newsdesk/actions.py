"""
The one place where an action is read out of what the model wrote.

A reply holds one JSON object, fenced or bare: `{"thought": "…", "action": "<tool>", "action_input": {…}}`, or the action
`Final Answer` with Markdown as its input. JSON is decoded at each `{` in order until an object with the key `action` is
found, so that fences, braces and line breaks inside its strings do no harm. Nothing is repaired or guessed: what cannot
be read is a failure with a kind, counted by whoever asks, and a reason that the model is told.
"""

from __future__ import annotations

import json
import re
from typing import Literal, NamedTuple

from harness.records.digest import can_be_written
from harness.records.messages import Json

FINAL = "Final Answer"
LONGEST = 60_000
"""Characters of a reply that are looked at; many times what 2048 tokens can hold."""
MOST_TRIES = 100
"""Places in a reply where an object is looked for."""

Malformed = Literal[
    "empty",
    "truncated",
    "no_json",
    "broken_json",
    "list",
    "no_action",
    "bad_input",
    "ambiguous",
    "bad_answer",
]
"""How a reply is malformed; the kinds stand in the trace, so that they can be counted."""


class Action(NamedTuple):
    """A tool with its arguments, or the answer; *discarded* is what stood behind the first block and is not used."""

    thought: str
    tool: str
    """Empty where the action is the answer."""
    args: dict[str, Json]
    answer: str
    discarded: str


class MalformedReplyError(Exception):
    """A reply holds no action that can be run; the message says why, for the model to read."""

    def __init__(self, kind: Malformed, reason: str) -> None:
        super().__init__(reason)
        self.kind: Malformed = kind
        self.reason = reason


def read_action(text: str, finish_reason: str = "stop") -> Action:
    """
    Read the first action of a reply.

    Raises:
        MalformedReplyError: There is none, it is cut off, or it is not of the form.
    """
    if finish_reason == "length":
        raise MalformedReplyError("truncated", "a resposta foi cortada pelo limite de tamanho; responda mais curto")
    if not text.strip():
        raise MalformedReplyError("empty", "a resposta está vazia")
    found, start, end = _first_action(text[:LONGEST])
    if "final_answer" in found:
        raise MalformedReplyError("ambiguous", "há uma ação e uma resposta final no mesmo objeto; escolha uma")
    name = found["action"]
    if not isinstance(name, str) or not name.strip() or name.strip().casefold() in ("none", "null"):
        raise MalformedReplyError("no_action", f"`action` deve ser o nome de uma ferramenta ou `{FINAL}`")
    thought = found.get("thought")
    if not isinstance(thought, str) or not thought.strip():
        thought = _prose_before(text[:start])
    discarded = _FENCE_END.sub("", text[end:], count=1).strip()
    given = found.get("action_input")
    if " ".join(name.replace("_", " ").split()).casefold() == FINAL.casefold():
        if not isinstance(given, str) or not given.strip():
            raise MalformedReplyError("bad_input", f"com `{FINAL}`, `action_input` deve ser o texto em Markdown")
        return Action(thought.strip(), "", {}, given.strip(), discarded)
    if given is not None and not isinstance(given, dict):
        raise MalformedReplyError("bad_input", "`action_input` deve ser um objeto JSON com os argumentos da ferramenta")
    return Action(thought.strip(), name.strip(), given or {}, "", discarded)


_STARTS = re.compile(r"[\[{]")
_IN_LIST = re.compile(r"\[$|\}\s*,$")
_IN_OBJECT = re.compile(r"[\"']\s*:$")
_FENCE_END = re.compile(r"^\s*```+")
_PROSE_LABEL = re.compile(r"^\W*(?:thought|pensamento)\W*:", re.IGNORECASE)


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} não é JSON")


_decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def _first_action(text: str) -> tuple[dict[str, Json], int, int]:
    """The first object with the key `action`, and where it begins and ends; objects inside others are not looked at."""
    place, problem, seen_object = 0, "", False
    for _ in range(MOST_TRIES):
        match = _STARTS.search(text, place)
        if match is None:
            break
        start = match.start()
        try:
            value, place = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            problem = problem or str(error)
            place = start + 1
            continue
        if isinstance(value, list) and any(isinstance(entry, dict) and "action" in entry for entry in value):
            raise MalformedReplyError("list", _ONE_ONLY)
        if isinstance(value, dict) and "action" in value:
            _check_stands_alone(text[:start].rstrip(), problem)
            if not can_be_written(value):
                raise MalformedReplyError(
                    "broken_json", "o JSON da ação contém meio caractere (`\\ud800` e semelhantes)"
                )
            return value, start, place
        seen_object = seen_object or isinstance(value, dict)
    if problem and '"action"' in text:
        raise MalformedReplyError("broken_json", f"o JSON da ação não é válido: {problem}")
    if seen_object:
        raise MalformedReplyError("no_action", "o objeto JSON não tem a chave `action`")
    raise MalformedReplyError("no_json", "não há um objeto JSON com a chave `action`")


def _check_stands_alone(before: str, problem: str) -> None:
    """An object inside something that could not be read is not taken for the action."""
    if _IN_LIST.search(before):
        raise MalformedReplyError("list", _ONE_ONLY)
    if _IN_OBJECT.search(before):
        raise MalformedReplyError("broken_json", f"o JSON da ação não é válido: {problem}")


_ONE_ONLY = "há uma lista de ações; envie um único objeto JSON, com uma única ação"


def _prose_before(text: str) -> str:
    """What the model wrote before the block, without the label and the opening fence, as its thought."""
    return _PROSE_LABEL.sub("", re.sub(r"```+\w*\s*$", "", text.rstrip()).strip()).strip()
