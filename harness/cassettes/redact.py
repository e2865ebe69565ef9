"""
Secrets: removed before anything is fingerprinted or written, refused where a file still holds one.

Writing removes the exact values of environment variables that look like keys, and whatever has the shape of a key.
Reading looks for shapes alone, so that a file loads alike on every machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

import msgspec

from harness.errors import SecretError

_KEY_NAME = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(_|$)", re.IGNORECASE)
_SHORTEST_VALUE = 8
_DELTA = re.compile(r'"(?:content|text|partial_json|arguments|thinking|reasoning_content)":\s*"((?:[^"\\]|\\.)*)"')
"""Pieces of a streamed reply; a secret may be cut between two of them."""


class _Shape(msgspec.Struct, frozen=True):
    name: str
    needles: tuple[str, ...]
    """Cheap texts one of which stands in every match: looked for before the regex is tried."""
    pattern: str

    def may_be_in(self, text: str) -> bool:
        return any(needle in text for needle in self.needles)


_SHAPES = (
    _Shape("private-key", ("PRIVATE KEY-----",),
           r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]{0,8000}?-----END [A-Z ]*PRIVATE KEY-----|[A-Za-z0-9+/=\s\\]*)"),
    _Shape("model-key", ("sk-",), r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}"),
    _Shape("google-key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    _Shape("google-token", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,}"),
    _Shape("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
           r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    _Shape("gitlab-token", ("glpat-",), r"glpat-[A-Za-z0-9_-]{20,}"),
    _Shape("aws-key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _Shape("slack-token", ("xox",), r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _Shape("hugging-face-token", ("hf_",), r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    _Shape("groq-key", ("gsk_",), r"(?<![A-Za-z0-9])gsk_[A-Za-z0-9]{30,}"),
    _Shape("xai-key", ("xai-",), r"(?<![A-Za-z0-9])xai-[A-Za-z0-9]{30,}"),
    _Shape("stripe-key", ("k_live_",), r"(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{16,}"),
    _Shape("npm-token", ("npm_",), r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}"),
    _Shape("jwt", ("eyJ",), r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    _Shape("bearer-token", ("earer ",), r"(?<=[Bb]earer )(?=[^\s]*[0-9])[A-Za-z0-9._~+/=-]{16,}"),
    _Shape("url-password", ("://",), r"(?<=://)[^\s/:@\"'<>\\]+:[^\s/:@\"'<>\\]+(?=@)"),
    _Shape("organisation", ("org-", "proj_"),
           r"(?<![A-Za-z0-9])(?:org-(?=[a-zA-Z]*[0-9])[A-Za-z0-9]{20,}|proj_[A-Za-z0-9]{20,})"),
)  # fmt: skip
_NEEDLES = tuple(needle for shape in _SHAPES for needle in shape.needles)
SHAPE_NAMES = tuple(shape.name for shape in _SHAPES)


class SecretFound(msgspec.Struct, frozen=True):
    """A secret in a text: *kind* names its shape or its environment variable, *line* counts from 1."""

    kind: str
    line: int


class Scrubber:
    """Removes secrets. *values* maps the name of each known secret to its exact value."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._names = {form: name for name, value in (values or {}).items() for form in _forms(value)}
        names = sorted({*SHAPE_NAMES, *(values or {})}, key=len, reverse=True)
        # A placeholder that stands already is matched first and kept: scrubbing twice changes nothing more.
        kept = "|".join(re.escape(f"<secret:{name}>") for name in names)
        known = "|".join(re.escape(form) for form in sorted(self._names, key=len, reverse=True))
        self._exact = re.compile(f"{kept}|{known}") if known else None

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Scrubber:
        """Know the values of all variables whose name looks like a key's; values below 8 characters are too short."""
        return cls(
            {
                name: value
                for name, value in environ.items()
                if _KEY_NAME.search(name) and len(value) >= _SHORTEST_VALUE and not value.startswith("/")
            }
        )

    def scrub(self, text: str) -> str:
        """Put `<secret:NAME>` in place of every secret; a second time changes nothing more."""
        if self._exact is not None:
            text = self._exact.sub(lambda match: self._placeholder(match.group()), text)
        return _without_shapes(text)

    def scan(self, text: str) -> list[SecretFound]:
        """The secrets that *text* holds, by their place."""
        found = scan(text)
        if self._exact is not None:
            for match in self._exact.finditer(text):
                if match.group() in self._names:
                    found.append(SecretFound(self._names[match.group()], _line(text, match.start())))
        return sorted(found, key=lambda secret: (secret.line, secret.kind))

    def refuse(self, text: str, *, what: str) -> None:
        """
        Refuse to let *text* be written.

        Raises:
            SecretError: *text* holds a secret, or a streamed reply in it spells one in pieces.
        """
        found = self.scan(text) or self.scan(_joined_deltas(text))
        if found:
            raise SecretError(
                "secret-refused",
                f"{what} holds a secret ({found[0].kind}) that could not be removed, so nothing was written",
                hint="keep the secret out of the prompt; a streamed reply that repeats it must be recorded unstreamed",
            )

    def _placeholder(self, text: str) -> str:
        name = self._names.get(text)
        return text if name is None else f"<secret:{name}>"


@lru_cache(maxsize=512)
def scrub_shapes(text: str) -> str:
    """
    Put `<secret:NAME>` in place of whatever has the shape of a secret.

    Trials of one agent share their long prompts, so the latest texts are remembered.
    """
    return _without_shapes(text)


def _without_shapes(text: str) -> str:
    for needle in _NEEDLES:
        if needle in text:
            break
    else:  # as for nearly every text
        return text
    for shape in _SHAPES:
        if shape.may_be_in(text):
            text = re.sub(shape.pattern, f"<secret:{shape.name}>", text)
    return text


def scan(text: str) -> list[SecretFound]:
    """What in *text* has the shape of a secret, by its place."""
    found: list[SecretFound] = []
    for shape in _SHAPES:
        if shape.may_be_in(text):
            found.extend(
                SecretFound(shape.name, _line(text, match.start())) for match in re.finditer(shape.pattern, text)
            )
    return sorted(found, key=lambda secret: (secret.line, secret.kind))


def _joined_deltas(text: str) -> str:
    if "data:" not in text:
        return ""
    return "".join(match.group(1) for match in _DELTA.finditer(text))


def _forms(value: str) -> set[str]:
    """The spellings that a value has in JSON and in a URL."""
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")}


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
