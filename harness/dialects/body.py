"""From the bytes of a response or request to plain JSON values: charset, compression, and limits against hostile input."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping

import msgspec

from harness.records.messages import Json

MAX_BODY_BYTES = 64 * 1024 * 1024
"""A body larger than this, packed or unpacked, is refused: real answers stay below a few megabytes."""
MAX_DEPTH = 128
"""Values nested deeper than this are refused, so that nothing later recurses without end over them."""
MAX_COUNT = 2**53
"""No token count is larger; anything beyond is noise."""

_UNPACKED = {"", "identity", "gzip", "x-gzip"}
_STARTS_OF_TEXT = {b"", b"{", b"[", b'"', b"d", b"e", b":", b"<", b" ", b"\r", b"\n"}
_decoder = msgspec.json.Decoder()


class BodyError(ValueError):
    """The bytes are not what they say they are; the text names the reason without a full stop."""


def header(headers: Mapping[str, str], name: str) -> str:
    """Return the header *name* (given in lower case) however the recording spells it, or an empty string."""
    value = headers.get(name)
    if value is None:
        value = next((kept for key, kept in headers.items() if key.lower() == name), "")
    return value if isinstance(value, str) else ""


def plain(headers: Mapping[str, str], body: bytes) -> bytes:
    """
    Undo gzip and deflate, whether or not the recorder already did and left the header standing.

    Raises:
        BodyError: The body is packed in a way that this product does not read, broken, or too large.
    """
    if len(body) > MAX_BODY_BYTES:
        raise BodyError(f"the body is {len(body)} bytes long, more than {MAX_BODY_BYTES}")
    if body[:2] == b"\x1f\x8b":
        return _inflate(body, 31)
    if body[:1] in _STARTS_OF_TEXT:
        return body
    encoding = header(headers, "content-encoding").strip().lower()
    if encoding in _UNPACKED:
        return body
    if encoding == "deflate":
        return _inflate(body, 15 if body[:1] == b"\x78" else -15)
    raise BodyError(f"the body is packed as {encoding!r}, which is not supported")


def load_json(content: bytes | str, *, keep_halves: bool = False) -> Json:
    """
    Decode JSON as Python's own decoder does (NaN included), but bounded in depth.

    Halves of surrogate pairs, which no file could hold, are replaced, unless *keep_halves* says that the other half
    may come with the next piece of a stream.

    Raises:
        BodyError: *content* is not JSON, is not UTF-8, or is nested too deeply.
    """
    try:
        value = _decoder.decode(content)
    except RecursionError:
        raise BodyError("the JSON is nested too deeply") from None
    except (msgspec.MsgspecError, ValueError):
        value = _load_leniently(content)
        value = value if keep_halves else _without_halves(value)
    if len(content) > 2 * MAX_DEPTH and _brackets(content) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise BodyError("the JSON is nested too deeply")
    return value


def load_object(content: bytes | str, *, keep_halves: bool = False) -> dict[str, Json]:
    """
    Decode a JSON object.

    Raises:
        BodyError: As `load_json`, or the value is not an object.
    """
    value = load_json(content, keep_halves=keep_halves)
    if not isinstance(value, dict):
        raise BodyError("the JSON is not an object")
    return value


def tool_args(args_raw: str) -> dict[str, Json] | None:
    """Decode the arguments of a tool call: None where they are not a JSON object; blank text means no arguments."""
    if not args_raw or args_raw.isspace():
        return {}
    try:
        return load_object(args_raw)
    except BodyError:
        return None


def object_or_empty(value: Json) -> dict[str, Json]:
    """Return *value* if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_or_empty(value: Json) -> list[Json]:
    """Return *value* if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def text_or_empty(value: Json) -> str:
    """Return *value* if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def count_or_zero(value: Json) -> int:
    """Return *value* as a token count: 0 for anything that is not a finite number above 0."""
    if type(value) is int:
        return min(max(value, 0), MAX_COUNT)
    return int(min(max(value, 0), MAX_COUNT)) if type(value) is float and math.isfinite(value) else 0


def number_or_none(value: Json) -> float | None:
    """Return *value* if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def well_formed(text: str) -> str:
    """Join halves of surrogate pairs that stand side by side, and replace those that stand alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _inflate(body: bytes, window_bits: int) -> bytes:
    content = bytearray()
    try:
        while body:
            unpacker = zlib.decompressobj(window_bits)
            content += unpacker.decompress(body, MAX_BODY_BYTES + 1 - len(content))
            if len(content) > MAX_BODY_BYTES:
                raise BodyError(f"the unpacked body is more than {MAX_BODY_BYTES} bytes long")
            body = unpacker.unused_data
    except zlib.error as broken:
        raise BodyError(f"the packed body is broken ({broken})") from None
    return bytes(content)


def _load_leniently(content: bytes | str) -> Json:
    try:
        return json.loads(content.decode("utf-8-sig") if isinstance(content, bytes) else content)
    except UnicodeDecodeError:
        raise BodyError("the body is not UTF-8") from None
    except RecursionError:
        raise BodyError("the JSON is nested too deeply") from None
    except ValueError as broken:
        raise BodyError(f"the body is not JSON ({broken})") from None


def _without_halves(value: Json) -> Json:
    try:
        return json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
    except (RecursionError, ValueError):
        raise BodyError("the JSON is nested too deeply") from None


def _brackets(content: bytes | str) -> int:
    if isinstance(content, bytes):
        return content.count(b"{") + content.count(b"[")
    return content.count("{") + content.count("[")


def _depth(value: Json) -> int:
    depth = 0
    layer = [value] if isinstance(value, dict | list) else []
    while layer and depth <= MAX_DEPTH:
        depth += 1
        children = (child for outer in layer for child in (outer.values() if isinstance(outer, dict) else outer))
        layer = [child for child in children if isinstance(child, dict | list)]
    return depth
