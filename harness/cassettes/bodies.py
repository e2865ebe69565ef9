"""Bodies as text: decoded, and JSON indented so that a changed word is a changed line."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec

from harness.errors import CassetteError

RECORDED_HEADERS = frozenset(
    {
        "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "retry-after",
        "retry-after-ms", "x-should-retry",
    }
)  # fmt: skip
"""Everything else that travels in a header is left out of a cassette."""
SECRET_PARAMETERS = frozenset(
    {"key", "api_key", "api-key", "apikey", "token", "access_token", "sig", "signature", "x-amz-signature"}
)

_NUMBERS = re.compile(r"\[\n\s+(-?\d[^\"\[\]{}]*?)\n\s+\]")
_ESCAPE = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|.)", re.IGNORECASE | re.DOTALL)


class Decoder(Protocol):
    """Undoes a content encoding piece by piece."""

    def __call__(self, piece: bytes, /) -> bytes: ...


def decoder_of(encoding: str) -> Decoder:
    """
    What undoes *encoding*, the value of a content-encoding header.

    Raises:
        CassetteError: It is neither identity, gzip nor deflate.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return bytes
    if name in ("gzip", "x-gzip", "deflate"):
        # 32 more than the window size: take gzip and zlib headers alike.
        return zlib.decompressobj(32 + zlib.MAX_WBITS).decompress
    raise CassetteError("cassette-encoding", f"the server answered in content-encoding `{encoding}`, which is not read")


def readable(body: bytes, content_type: str) -> str:
    """*body* as the text that a cassette holds: JSON indented, anything else as it came (bytes that are no UTF-8 lost)."""
    if "json" in content_type or (not content_type and body[:1] in (b"{", b"[")):
        return indented(body)
    return body.decode("utf-8", "replace")


def indented(body: bytes) -> str:
    """JSON with one member a line, numbers and key order untouched; what is no JSON stays as it came."""
    try:
        msgspec.json.decode(body)
        text = msgspec.json.format(body, indent=2).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace")
    if "\\u" in text:
        text = _ESCAPE.sub(_unescaped, text)
    return _NUMBERS.sub(lambda match: "[" + " ".join(match.group(1).split()) + "]", text) + "\n"


def recorded_headers(headers: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """The headers that a cassette keeps, by lower-case name in alphabetical order."""
    kept: dict[str, list[str]] = {}
    for name, value in sorted(((name.lower(), value) for name, value in headers), key=lambda header: header[0]):
        if name in RECORDED_HEADERS:
            kept.setdefault(name, []).append(value)
    return kept


def recorded_uri(uri: str, rewrite: Mapping[str, str]) -> str:
    """*uri* under the address that it is recorded by, without secrets in its query or a user in its host."""
    for real, recorded in rewrite.items():
        if uri.startswith(real):
            uri = recorded + uri[len(real) :]
            break
    parts = urlsplit(uri)
    query = urlencode(
        [
            (name, "<secret:query>" if name.lower() in SECRET_PARAMETERS else value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        ],
        safe="<>:",
    )
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, ""))


def _unescaped(match: re.Match[str]) -> str:
    """Write out what was escaped without need; quotes, control characters and lone surrogates stay."""
    high, low, single = match.groups()
    if high:
        return (bytes.fromhex(high) + bytes.fromhex(low)).decode("utf-16-be")
    if single is None:
        return match.group()
    code = int(single, 16)
    printable = 0xA0 <= code < 0xD800 or 0xE000 <= code < 0xFEFF or 0xFF00 <= code < 0xFFFE
    return chr(code) if printable and code not in (0x2028, 0x2029) else match.group()
