"""What a page of ours must never do, noticed while a browser shows it: the checks behind the fixture `page`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

CANARY = "pwned"
"""The function that every hostile text tries to call; the browser offers it, and a call of it is a problem."""
VIOLATIONS = """
addEventListener('securitypolicyviolation', event => {
  reportedViolation(`${event.effectiveDirective} blocked ${event.blockedURI} (${event.sample})`);
}, true);
"""
INLINE = ("data", "blob", "about")
"""Schemes whose content a page brings along."""


@dataclass
class Watch:
    """A browser context, and the problems that were seen in it."""

    context: Any
    problems: list[str] = field(default_factory=list)
    own: str = ""
    """The origin of the first page, or the file that it was."""

    def __post_init__(self) -> None:
        self.context.expose_binding(CANARY, lambda source, *told: self._see(f"a script of the data ran: {told}"))
        self.context.expose_binding("reportedViolation", lambda source, told: self._see(f"policy: {told}"))
        self.context.add_init_script(VIOLATIONS)
        self.context.on("console", self._heard)
        self.context.on("weberror", lambda error: self._see(f"page error: {error.error}"))
        self.context.on("request", self._requested)
        self.context.on("dialog", self._asked)

    def expect(self, pattern: str) -> list[str]:
        """
        Take out the problems that match *pattern*: what a test wanted to happen.

        Raises:
            AssertionError: There is none.
        """
        found = [problem for problem in self.problems if re.search(pattern, problem)]
        assert found, f"nothing matches {pattern!r} in {self.problems}"
        self.problems[:] = [problem for problem in self.problems if problem not in found]
        return found

    def _see(self, problem: str) -> None:
        self.problems.append(problem)

    def _heard(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self._see(f"console {message.type}: {message.text}")

    def _asked(self, dialog: Any) -> None:
        self._see(f"dialog {dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Any) -> None:
        place = place_of(request.url)
        if not self.own and request.is_navigation_request() and place:
            self.own = place
        if place and place != self.own:
            self._see(f"request outside {self.own or 'any page'}: {request.method} {request.url[:200]}")


def place_of(url: str) -> str:
    """The origin of an address, the file that it names, or nothing where it carries its content itself."""
    parts = urlsplit(url)
    if parts.scheme in INLINE:
        return ""
    return f"file://{parts.path}" if parts.scheme == "file" else f"{parts.scheme}://{parts.netloc}"
