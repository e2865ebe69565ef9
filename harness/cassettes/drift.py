"""
Why a call is not in its cassette: the nearest recording, and what differs from it.

Requests are compared in parts (parameters, each tool by its name, each message), as the fingerprint sees them: ids
renamed, volatile parts and secrets replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

from harness.cassettes.difference import differences, shown
from harness.cassettes.file import Cassette, Interaction
from harness.cassettes.fingerprint import Canonical, Fingerprinter
from harness.cassettes.player import MissCause, recorded_request
from harness.records.digest import canonical_json
from harness.records.messages import EmbeddingRequest, Json, ModelRequest

MOST_LINES = 8
"""Differences shown of one call."""
_WORD = re.compile(rb"[^\s\"{}\[\]:,]+")
_CAUSES: tuple[MissCause, ...] = ("model", "prompt", "tool_schema", "params", "message")
"""The first of these that differs is the cause; what follows from it differs as well."""


class Drift(msgspec.Struct, frozen=True):
    """What differs between a request and the *nearest* recorded one (its call number; None: nothing is comparable)."""

    cause: MissCause
    text: str
    nearest: int | None = None


def explain(
    request: ModelRequest | EmbeddingRequest,
    cassette: Cassette,
    *,
    fingerprinter: Fingerprinter | None = None,
    unplayed: Sequence[bool] | None = None,
) -> Drift:
    """
    Say what differs between *request* and the nearest recording, preferring those that *unplayed* marks.

    Args:
        request: The call that was not found.
        cassette: Where it was looked for.
        fingerprinter: Knows the volatile patterns of the trial.
        unplayed: One mark an interaction.
    """
    printer = fingerprinter or Fingerprinter()
    wanted = printer.canonical(request)
    parts = _parts(wanted)
    best: tuple[tuple[float, bool, int], Interaction, Canonical] | None = None
    for position, item in enumerate(cassette.interactions):
        recorded = _recorded(item, printer)
        if recorded is None or recorded.kind != wanted.kind:
            continue
        free = unplayed is None or unplayed[position]
        score = (_likeness(parts, _parts(recorded)), free, -position)
        if best is None or score > best[0]:
            best = (score, item, recorded)
    if best is None:
        return Drift("unknown", "no recorded call can be compared with it")
    _, item, recorded = best
    found = _compared(recorded, wanted)
    cause: MissCause = next((cause for cause in _CAUSES if found.get(cause)), "unknown")
    lines = _in_order(found) or ["nothing that the recorded body shows"]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more"]
    head = (
        f"nearest recording: call {item.call} of {len(cassette.interactions)},"
        f" {_same_words(recorded, wanted)}% of the request is the same"
    )
    return Drift(cause, "\n".join([head, *(f"  {line}" for line in lines)]), item.call)


def compare(old: Canonical, new: Canonical) -> list[str]:
    """One line for each thing that differs between two requests, causes before what follows from them."""
    return _in_order(_compared(old, new))


def wire_drift(recorded: Interaction, method: str, path: str, body: bytes, printer: Fingerprinter) -> list[str]:
    """What differs on the wire though the logical call is the same, free of anything that differs between cases."""
    old, new = printer.wire_document(recorded.request_body.encode()), printer.wire_document(body)
    lines = list(differences(old, new, "")) or ["the bodies differ in a way that JSON does not show"]
    shown_lines = lines[:MOST_LINES] + ([f"… and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else [])
    return [f"{method} {path}: {line}" for line in shown_lines]


def _recorded(item: Interaction, printer: Fingerprinter) -> Canonical | None:
    request = recorded_request(item)
    return None if request is None else printer.canonical(request)


def _parts(request: Canonical) -> Counter[bytes]:
    parts = Counter(canonical_json([name, value]) for name, value in request.parameters.items())
    parts.update(canonical_json([name, tool]) for name, tool in request.tools.items())
    parts.update(canonical_json(message) for message in request.messages)
    return parts


def _likeness(one: Counter[bytes], other: Counter[bytes]) -> float:
    """The share of the two requests, in bytes, that stands in both: 0 to 1."""
    both = sum(len(part) * count for part, count in (one & other).items())
    whole = sum(len(part) * count for part, count in (*one.items(), *other.items()))
    return 2 * both / whole if whole else 1.0


def _same_words(one: Canonical, other: Canonical) -> int:
    """How much of two requests is the same word by word, in percent."""
    words = [Counter(_WORD.findall(msgspec.json.encode((r.parameters, r.tools, r.messages)))) for r in (one, other)]
    return int(200 * (words[0] & words[1]).total() / max(1, words[0].total() + words[1].total()))


def _compared(old: Canonical, new: Canonical) -> dict[MissCause, list[str]]:
    found: dict[MissCause, list[str]] = {
        "model": list(differences(old.parameters.get("model"), new.parameters.get("model"), "model")),
        "tool_schema": list(_tool_lines(old.tools, new.tools)),
        "prompt": [],
        "message": [],
    }
    for system, line in _message_lines(old.messages, new.messages):
        found["prompt" if system else "message"].append(line)
    if old.links != new.links and not (found["prompt"] or found["message"]):
        found["message"].append("results answer other calls than they did")
    # What a client library fills in for a parameter that was left open says nothing beside a real difference.
    certain = any(found.values())
    found["params"] = [
        line
        for name in [*old.parameters, *(name for name in new.parameters if name not in old.parameters)]
        if name != "model" and (name in new.parameters or not certain)
        for line in differences(old.parameters.get(name), new.parameters.get(name), name)
    ]
    return found


def _in_order(found: dict[MissCause, list[str]]) -> list[str]:
    return [line for cause in _CAUSES for line in found.get(cause, ())]


def _tool_lines(old: dict[str, Json], new: dict[str, Json]) -> Iterator[str]:
    for name in old:
        if name not in new:
            yield f"tool {name}: no longer offered"
    for name, tool in new.items():
        if name not in old:
            yield f"tool {name}: newly offered"
        else:
            yield from differences(old[name], tool, f"tool {name}")
    if old == new and list(old) != list(new):
        yield "tools: offered in another order"


def _message_lines(old: Sequence[Json], new: Sequence[Json]) -> Iterator[tuple[bool, str]]:
    """Lines with whether they concern the system prompt; messages are aligned before they are compared."""
    before, after = [canonical_json(message) for message in old], [canonical_json(message) for message in new]
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for position in range(max(b - a, d - c)):
            left = old[a + position] if a + position < b else None
            right = new[c + position] if c + position < d else None
            present: Json = right or left
            system = present["role"] == "system"
            name = f"message {c + position} ({present['role']})"
            if left is None or right is None:
                word = "new" if left is None else "no longer there"
                yield system, f"{name}: {word}: {shown(_gist(present))}"
            else:
                yield from ((system, line) for line in differences(left, right, name))


def _gist(message: Json) -> str:
    content = message["content"]
    if isinstance(content, str) and content:
        return content
    calls = message.get("tool_calls") or ()
    return ", ".join(f"calls {call['name']}" for call in calls) or canonical_json(content).decode()
