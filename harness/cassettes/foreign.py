"""
Reads cassettes that other tools recorded: vcrpy and its relatives, Ruby's VCR, as YAML or JSON, gzipped or not.

Nothing in such a file is trusted, and nothing is guessed: a file with an interaction that is no HTTP exchange with a
text for a response is refused with one sentence.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from harness.cassettes.file import MOST_BYTES, AnsweredBy, Interaction, read_bytes
from harness.cassettes.yaml_document import read_yaml, safe_loader
from harness.errors import CassetteError
from harness.records.messages import Json

_GZIP = b"\x1f\x8b"
_TRANSPORT_HEADERS = frozenset({"content-length", "content-encoding", "transfer-encoding"})
_TEXT_TAG = "tag:yaml.org,2002:python/"


def load_foreign(path: Path | str, *, answered_by: AnsweredBy = "live") -> tuple[Interaction, ...]:
    """
    Read the HTTP exchanges of a cassette that has none of our provenance.

    Args:
        path: A YAML or JSON file, which may be gzipped.
        answered_by: Who answered; the file does not say.

    Raises:
        CassetteError: `cassette-missing`, `cassette-unreadable`, or `cassette-format` for what is no such cassette.
    """
    name = str(path)
    text = _text_of(read_bytes(Path(path)), name)
    return tuple(
        _interaction(number, request, response, answered_by, name)
        for number, (request, response) in enumerate(_pairs(_document(text, name), name), start=1)
    )


def _text_of(content: bytes, name: str) -> str:
    if content[:2] == _GZIP:
        try:
            content = _unzipped(content)
        except (OSError, EOFError, zlib.error) as error:
            _refuse(name, f"not readable as gzip: {error}", code="cassette-unreadable")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse(name, "not UTF-8", code="cassette-unreadable")


def _unzipped(content: bytes) -> bytes:
    decompressor = zlib.decompressobj(32 + zlib.MAX_WBITS)
    whole = decompressor.decompress(content, MOST_BYTES)
    if decompressor.unconsumed_tail:
        raise OSError(f"more than {MOST_BYTES:,} bytes")
    return whole


def _document(text: str, name: str) -> Json:
    if text.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            pass  # a YAML file may begin like that as well
    return read_yaml(text, name, loader=_lenient_loader())


def _pairs(document: Json, name: str) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """Requests with their responses, whichever way the tool arranges them."""
    if isinstance(document, dict) and isinstance(document.get("requests"), list):
        responses = document.get("responses")
        if not isinstance(responses, list) or len(responses) != len(document["requests"]):
            _refuse(name, "it does not hold one response for each request")
        entries = [{"request": one, "response": two} for one, two in zip(document["requests"], responses, strict=True)]
    elif isinstance(document, dict) and "request" in document and "response" in document:
        entries = [document]
    elif isinstance(document, dict):
        entries = document.get("interactions", document.get("http_interactions")) or []
        if not ({"interactions", "http_interactions"} & document.keys()):
            _refuse(name, "it has no list of interactions")
    else:
        entries = document
    if not isinstance(entries, list):
        _refuse(name, "its interactions are not a list of requests and responses")
    for number, entry in enumerate(entries, start=1):
        request = entry.get("request") if isinstance(entry, dict) else None
        response = entry.get("response") if isinstance(entry, dict) else None
        if not isinstance(request, dict) or not isinstance(response, dict):
            _refuse(name, f"interaction {number} is no HTTP request with its response")
        yield request, response


def _interaction(
    number: int, request: dict[str, Json], response: dict[str, Json], answered_by: AnsweredBy, name: str
) -> Interaction:
    uri = _as_text(request.get("uri") or request.get("url"))
    if uri is None:
        _refuse(name, f"interaction {number} does not say where the request went")
    headers = _headers(response.get("headers"))
    body = _as_text(_body(response, headers))
    if body is None:
        kind = ", ".join(headers.get("content-type", ["no content-type"]))
        _refuse(name, f"the response of interaction {number} is no text ({kind})")
    status, message = _status(response)
    request_headers = _headers(request.get("headers"))
    sent = _body(request, request_headers)
    return Interaction(
        call=number,
        kind="embedding" if uri.partition("?")[0].endswith("/embeddings") else "chat",
        answered_by=answered_by,
        method=str(request.get("method") or "POST").upper(),
        uri=uri,
        request_headers=_without_transport(request_headers),
        request_body=_as_text(sent) or base64.b64encode(sent).decode(),
        status=status,
        status_message=message,
        response_headers=_without_transport(headers),
        response_body=body,
    )


def _body(holder: dict[str, Json], headers: dict[str, list[str]]) -> bytes:
    """The body as bytes, its content encoding undone where it is still on."""
    if "parsed_body" in holder:
        return msgspec.json.encode(holder["parsed_body"])
    body = holder.get("body", holder.get("content"))
    if isinstance(body, dict) and ({"string", "base64_string"} & body.keys()):
        body = _decoded_base64(body["base64_string"]) if "base64_string" in body else body["string"]
    if body is None:
        return b""
    content = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else msgspec.json.encode(body)
    encodings = {value.strip().lower() for value in headers.get("content-encoding", ())}
    if content[:2] == _GZIP or "deflate" in encodings:
        try:
            return _unzipped(content)
        except (OSError, zlib.error):
            return content  # the header tells of an encoding that the recorder has undone already
    return content


def _decoded_base64(text: Json) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, TypeError, ValueError):
        return b"\xff"


def _status(response: dict[str, Json]) -> tuple[int, str]:
    status: Json = response.get("status", response.get("status_code"))
    if isinstance(status, dict):
        code, message = status.get("code"), status.get("message")
    else:
        code, message = status, None
    return int(str(code)) if str(code).isdecimal() else 200, str(message or "OK")


def _headers(headers: Json) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers.items() if isinstance(headers, dict) else ():
        values = value if isinstance(value, (list, tuple)) else [value]
        texts = [text for text in map(_as_text, values) if text is not None]
        found.setdefault(str(_as_text(name)).lower(), []).extend(texts)
    return found


def _without_transport(headers: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: values for name, values in headers.items() if name not in _TRANSPORT_HEADERS}


def _as_text(value: Json) -> str | None:
    """*value* as text; None for bytes that are none, and for nothing at all."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return None if value is None else str(value)


def _lenient_loader() -> Any:
    """A safe loader that takes the text inside Python's own tags for what it is; nothing named by a tag is ever made."""
    loader: Any = type("_ForeignLoader", (safe_loader(),), {})
    loader.add_multi_constructor(_TEXT_TAG, _untagged)
    return loader


def _untagged(loader: Any, suffix: str, node: Any) -> Json:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        items = loader.construct_sequence(node, deep=True)
        if suffix == "tuple":
            return items
        if len(items) == 1:
            return items[0]
    elif isinstance(node, yaml.MappingNode):
        state = loader.construct_mapping(node, deep=True).get("state")
        if isinstance(state, list) and state:
            return state[0]
    raise yaml.constructor.ConstructorError(None, None, f"a Python object ({suffix}) is not read", node.start_mark)


def _refuse(name: str, because: str, *, code: str = "cassette-format") -> NoReturn:
    raise CassetteError(code, because, hint="only recorded HTTP exchanges can be taken over", at=name)
