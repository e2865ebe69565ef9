"""Reading the fields that requests of every dialect share."""

from __future__ import annotations

from typing import NoReturn

from harness.dialects.body import BodyError, load_object
from harness.errors import BadFileError
from harness.records.digest import canonical_json
from harness.records.messages import ImagePart, Json, TextPart, Thinking

REMOTE_IMAGE = "text/uri-list"
"""The media type of an image that is only named by its address; the address is the data."""


def request_object(body: bytes) -> dict[str, Json]:
    """
    Decode the body of a request.

    Raises:
        BadFileError: It is not a JSON object (code `bad-interaction`).
    """
    try:
        return load_object(body)
    except BodyError as broken:
        refuse(f"the request cannot be read: {broken}")


def refuse(because: str) -> NoReturn:
    """
    Refuse a request.

    Raises:
        BadFileError: Always, with code `bad-interaction`.
    """
    raise BadFileError("bad-interaction", because, hint="record the cassette again, or remove the interaction")


def whole(value: Json) -> int | None:
    """Return *value* if it is a whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def word(value: Json) -> str | None:
    """Return *value* if it is a string with something in it, else None."""
    return value if isinstance(value, str) and value else None


def texts(value: Json) -> tuple[str, ...]:
    """Return *value*, a string or a list of strings, as a tuple of strings."""
    if isinstance(value, str):
        return (value,)
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def thinking_param(value: Json) -> Thinking | None:
    """Read a `thinking` parameter; None where there is none or its type is not known."""
    if not isinstance(value, dict) or value.get("type") not in ("enabled", "adaptive", "disabled", "between_tools"):
        return None
    return Thinking(value["type"], whole(value.get("budget_tokens")))


def image_from_url(url: str) -> ImagePart:
    """Read an image from a data URL, or name it by its address."""
    head, comma, data = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return ImagePart(head.removeprefix("data:").removesuffix(";base64"), data)
    return ImagePart(REMOTE_IMAGE, url)


def part_as_text(part: Json) -> TextPart:
    """Keep a part that has no place in our messages (audio, a file, a search result) as its canonical JSON."""
    return TextPart(canonical_json(part).decode())
