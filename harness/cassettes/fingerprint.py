"""
Fingerprints: by which name a recorded answer is found again.

The *ask* fingerprint names a logical call: sha256 over canonical JSON lines, one a message, then one of the parameters
and tools. It survives a change of client library. The *wire* fingerprint names the JSON body that went out.

Nothing is dropped by its key. Ids that a client makes up (call ids, uuids) are renamed 1, 2, 3 by first appearance, so
that links between them stay; patterns that the case declares volatile become a placeholder; secrets are scrubbed as
they are in the file. Parameters that are None were not sent and do not count.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Literal

import msgspec

from harness.cassettes.redact import scrub_shapes
from harness.errors import UsageError
from harness.records.digest import DIGEST_CHARS, canonical_json, digest, digest_bytes
from harness.records.messages import (
    EmbeddingRequest,
    ImagePart,
    Json,
    Message,
    ModelRequest,
    TextPart,
    ToolSpec,
)

_ID_IN_TEXT = re.compile(
    rb"(?<![0-9A-Za-z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}"
    rb"|(?:call_|toolu_|chatcmpl-)[0-9A-Za-z-]{8,})(?![0-9A-Za-z])"
)
_MIDDLE_OF_UUID = re.compile(rb"-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-")
_PARAMETERS = tuple(name for name in ModelRequest.__struct_fields__ if name not in ("messages", "tools"))
_MESSAGE_FIELDS = ("role", "content", "tool_calls", "tool_call_id", "thinking")
_parameters_of = attrgetter(*_PARAMETERS)


_Heads = dict[Hashable, tuple[tuple[ToolSpec, ...], bytes]]
_MOST_HEADS = 1024
_plain_heads: _Heads = {}
"""Shared by the trials in which nothing is volatile: there a head depends on the request alone."""


class Canonical(msgspec.Struct, frozen=True):
    """A request as its fingerprint sees it, in parts that can be compared; ids are renamed within each message."""

    kind: Literal["chat", "embedding"]
    parameters: dict[str, Json]
    tools: dict[str, Json]
    messages: list[dict[str, Json]]
    links: tuple[str, ...] = ()
    """One digest a message that also says which call answers which."""


class _Node:
    """The state after one message of a conversation; conversations that begin alike share their first nodes."""

    __slots__ = ("digests", "hasher", "names", "next", "source")

    def __init__(self, parent: _Node | None, source: Message | None, line: bytes, names: dict[str, str]) -> None:
        self.source = source  # kept alive, so that its id() stays its own
        self.names = names
        self.next: dict[int, _Node] = {}
        self.digests: tuple[str, ...] = (*parent.digests, digest_bytes(line)) if parent else ()
        self.hasher: hashlib._Hash = parent.hasher.copy() if parent else hashlib.sha256()
        self.hasher.update(line)


class Fingerprinter:
    """
    Names the calls of one trial. What was seen once is not read again, so a growing conversation costs its new messages.

    Args:
        volatile: Regexes; what they match in messages, tool arguments and descriptions does not count.
        scrub: Removes secrets; by default those that are known by their shape.

    Raises:
        UsageError: A regex is invalid, or matches the empty text.
    """

    def __init__(self, volatile: Sequence[str] = (), *, scrub: Callable[[str], str] = scrub_shapes) -> None:
        self._volatile = [_compiled(pattern) for pattern in volatile]
        self._matched: set[int] = set()
        self._scrub = scrub
        self._root = _Node(None, None, b"", {})
        self._texts: dict[str, str] = {}
        plain = not self._volatile and scrub is scrub_shapes
        self._heads: _Heads = _plain_heads if plain else {}

    def ask(self, request: ModelRequest | EmbeddingRequest) -> str:
        """The fingerprint of a logical call."""
        if isinstance(request, EmbeddingRequest):
            return digest({"embed": request.model, "texts": [self._clean(text) for text in request.texts]})
        hasher = self._walk(request.messages).hasher.copy()
        hasher.update(self._head(request))
        return hasher.hexdigest()[:DIGEST_CHARS]

    def tool(self, name: str, args: Json) -> str:
        """The fingerprint of a call of an external tool."""
        names: dict[str, str] = {}
        return digest_bytes(self._renamed(canonical_json({"tool": name, "args": self._clean_json(args)}), names))

    def prefixes(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """One digest a message, in order; a conversation that goes on from another starts with the same ones."""
        return self._walk(messages).digests

    def wire(self, body: bytes) -> str:
        """The fingerprint of a body as it goes over the wire; bodies that are not JSON are taken byte for byte."""
        try:
            return digest_bytes(self._wire_line(body))
        except msgspec.DecodeError:
            return digest_bytes(body)

    def wire_document(self, body: bytes) -> Json:
        """The body as its wire fingerprint sees it; None where it is not JSON."""
        try:
            return msgspec.json.decode(self._wire_line(body))
        except msgspec.DecodeError:
            return None

    def canonical(self, request: ModelRequest | EmbeddingRequest) -> Canonical:
        """*request* in parts, to be compared with another one."""
        if isinstance(request, EmbeddingRequest):
            texts = [{"role": "text", "content": self._clean(text)} for text in request.texts]
            return Canonical("embedding", {"model": request.model}, {}, texts)
        messages = []
        for message in request.messages:
            names: dict[str, str] = {}
            line = self._renamed(canonical_json(self._message(message, names)), names)
            fields = zip(_MESSAGE_FIELDS, msgspec.json.decode(line), strict=False)
            messages.append({name: value for name, value in fields if value or name == "content"})
        tools = {
            tool.name: {
                "description": self._clean(tool.description),
                "parameters": self._clean_json(tool.parameters),
            }
            for tool in request.tools
        }
        parameters = msgspec.to_builtins(self._sent_parameters(_parameters_of(request)))
        return Canonical("chat", parameters, tools, messages, self.prefixes(request.messages))

    @property
    def unmatched_volatile(self) -> tuple[str, ...]:
        """The declared patterns that have matched nothing so far."""
        return tuple(pattern.pattern for n, pattern in enumerate(self._volatile) if n not in self._matched)

    def _walk(self, messages: Sequence[Message]) -> _Node:
        node = self._root
        for message in messages:
            following = node.next.get(id(message))
            if following is None:
                following = self._read(node, message)
            node = following
        return node

    def _read(self, node: _Node, message: Message) -> _Node:
        names = dict(node.names)
        line = self._renamed(canonical_json(self._message(message, names)) + b"\n", names)
        following = _Node(node, message, line, names)
        node.next[id(message)] = following
        return following

    def _message(self, message: Message, names: dict[str, str]) -> Json:
        content: Json = message.content
        content = self._clean(content) if isinstance(content, str) else [self._part(part) for part in content]
        if message.role in ("system", "user") and not message.tool_calls:
            return [message.role, content]
        calls = [
            {
                "id": _name(call.id, names),
                "name": call.name,
                "args": self._clean_json(call.args_raw if call.args is None else call.args),
            }
            for call in message.tool_calls
        ]
        answered = message.tool_call_id and _name(message.tool_call_id, names)
        return [message.role, content, calls, answered, message.thinking]

    def _part(self, part: TextPart | ImagePart) -> Json:
        return [self._clean(part.text)] if isinstance(part, TextPart) else part

    def _head(self, request: ModelRequest) -> bytes:
        """The canonical line of parameters and tools; trials send few different ones, and mostly the same."""
        parameters = _parameters_of(request)
        key = None if request.json_schema is not None else (parameters, *map(id, request.tools))
        known = self._heads.get(key) if key else None
        if known is None:
            head = self._sent_parameters(parameters)
            head["tools"] = [self._tool_digest(tool) for tool in request.tools]
            known = (request.tools, canonical_json(head))  # the tools are kept alive, so that their id() stays theirs
            if key:
                if len(self._heads) >= _MOST_HEADS:
                    self._heads.clear()
                self._heads[key] = known
        return known[1]

    def _sent_parameters(self, parameters: tuple[Json, ...]) -> dict[str, Json]:
        named = zip(_PARAMETERS, parameters, strict=True)
        return {name: _parameter(value) for name, value in named if _was_sent(value)}

    def _tool_digest(self, tool: ToolSpec) -> str:
        return digest([tool.name, self._clean(tool.description), self._clean_json(tool.parameters)])

    def _clean(self, text: str) -> str:
        """*text* without secrets, volatile parts replaced."""
        cleaned = self._texts.get(text)
        if cleaned is None:
            cleaned = self._scrub(text)
            for number, pattern in enumerate(self._volatile):
                cleaned, matches = pattern.subn(f"<volatile {number}>", cleaned)
                if matches:
                    self._matched.add(number)
            self._texts[text] = cleaned
        return cleaned

    def _clean_json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, dict):
            return {key: self._clean_json(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._clean_json(item) for item in value]
        return value

    def _clean_wire(self, value: Json) -> Json:
        """The wire form without nulls, tool arguments parsed."""
        if isinstance(value, dict):
            return {
                key: self._clean_wire(_parsed(item) if key == "arguments" else item)
                for key, item in value.items()
                if item is not None
            }
        if isinstance(value, list):
            return [self._clean_wire(item) for item in value]
        return self._clean(value) if isinstance(value, str) else value

    def _wire_line(self, body: bytes) -> bytes:
        document = msgspec.json.decode(body)
        names: dict[str, str] = {}
        if isinstance(document, dict):
            for holder, key in _wire_ids(document):
                holder[key] = _name(holder[key], names)
        return self._renamed(canonical_json(self._clean_wire(document)), names)

    def _renamed(self, line: bytes, names: dict[str, str]) -> bytes:
        """Rename the ids that stand inside texts."""
        if not (b"call_" in line or b"toolu_" in line or b"chatcmpl-" in line or _MIDDLE_OF_UUID.search(line)):
            return line
        return _ID_IN_TEXT.sub(lambda match: _name(match.group().decode(), names).encode(), line)


def wire_fingerprint(body: bytes) -> str:
    """The fingerprint of a body that nothing is declared volatile in."""
    return Fingerprinter().wire(body)


def _name(made_up: str, names: dict[str, str]) -> str:
    """The name that stands for an id: `id 1` for the first one seen, `id 2` for the next."""
    known = names.get(made_up)
    if known is None:
        known = names[made_up] = f"id {len(names) + 1}"
    return known


def _was_sent(value: Json) -> bool:
    return value is not None and value is not False and value != ()


def _parameter(value: Json) -> Json:
    """A temperature of 1 and one of 1.0 are the same."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wire_ids(document: dict[str, Json]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where call ids stand in the requests of OpenAI and Anthropic."""
    messages = document.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        content = message.get("content")
        holders = [
            (message, "tool_call_id"),
            *((call, "id") for call in message.get("tool_calls") or () if isinstance(call, dict)),
        ]
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                holders += [(block, "tool_use_id")] + ([(block, "id")] if block.get("type") == "tool_use" else [])
        yield from ((holder, key) for holder, key in holders if isinstance(holder.get(key), str))


def _parsed(value: Json) -> Json:
    if isinstance(value, str):
        try:
            decoded = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
        return decoded if isinstance(decoded, dict) else value
    return value


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError("bad-volatile", f"volatile pattern `{pattern}` is no regex: {error}") from None
    if compiled.fullmatch(""):
        raise UsageError("bad-volatile", f"volatile pattern `{pattern}` matches the empty text, so it says nothing")
    return compiled
