"""What the page is made of beside its words: style and scripts from the files beside this one, and the policy that pins them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent
STYLES = ("base.css", "lists.css", "compared.css", "timeline.css", "report.css")
SCRIPTS = (
    "dom.js", "store.js", "route.js", "filters.js", "rows.js", "lists.js", "timeline.js", "case.js", "diff.js", "keys.js",
    "main.js",
)  # fmt: skip
"""In the order in which they are put together: one script, in which a later file may use what an earlier one defines."""


def style() -> str:
    """All rules of the page."""
    return "\n".join(_read(name) for name in STYLES)


def early_script() -> str:
    """What runs before the first paint: the colours that the reader chose before."""
    return _read("js/theme.js")


def script() -> str:
    """Everything else that runs, in one scope of its own."""
    parts = "\n".join(_read(f"js/{name}") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """
    The Content-Security-Policy of a page with exactly these inline *scripts* and *styles*: nothing else runs, nothing is
    loaded, and HTML comes into the page through one named policy only (Trusted Types).
    """
    return "; ".join((
        "default-src 'none'",
        f"script-src {_sources(scripts)}",
        f"style-src {_sources(styles)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types safe-html",
    ))  # fmt: skip


def source_hash(text: str) -> str:
    """The hash by which a policy names the inline script or style *text* (CSP Level 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _sources(texts: Iterable[str]) -> str:
    return " ".join(map(source_hash, texts))


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
