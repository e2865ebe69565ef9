"""Templates into pages: autoescaped, in the reader's language, under a policy that lets only their own scripts run."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from harness import __version__
from harness.serve.gatekeeper import cookie_name
from harness.serve.pages.assets import asset_folder
from harness.serve.pages.languages import COOKIE, LANGUAGES, chosen, words_of
from harness.serve.refusals import HEADERS, Scrub

TEMPLATES = Path(__file__).parent / "templates"
RENDERED = "rendered-answers"
"""The one kind of HTML that a script may put into a page (Trusted Types): what the server made of an answer."""


class PageLink(NamedTuple):
    """A page that the others lead to."""

    path: str
    title: str
    """A key of the words, or the title itself."""


OWN_PAGES = (PageLink("/", "playground"), PageLink("/runs", "runs"))


class Pages:
    """
    Makes pages.

    Args:
        scrub: Takes secrets out of what they say.
        more: Pages that agents bring along.
    """

    def __init__(self, scrub: Scrub, more: Iterable[PageLink] = ()) -> None:
        self.links = [*OWN_PAGES, *more]
        self._scrub = scrub

    def page(self, request: Request, template: str | Path, *, status: int = 200, **values: Any) -> Response:
        """
        Fill *template*: one of `TEMPLATES` by its name, or another file by its path.

        The page gets *values* and what every page has: words, links, the address of its assets, its nonce.
        """
        path = template if isinstance(template, Path) else TEMPLATES / template
        language = language_of(request)
        words = words_of(language)
        nonce = secrets.token_urlsafe(18)
        html = _environment(path.parent).get_template(path.name).render(
            t=words.__getitem__, words=words, lang=language, languages=LANGUAGES, nonce=nonce, assets=asset_folder(),
            version=__version__, here=request.url.path,
            links=[(link.path, words.get(link.title, link.title)) for link in self.links],
            signed_in=cookie_name(request.scope) in request.cookies, **values,
        )  # fmt: skip
        headers = {**HEADERS, "content-security-policy": policy(nonce), "vary": "accept-language, cookie"}
        clean = self._scrub(html).replace("<secret:", "&lt;secret:")  # the scrubber writes plain text
        return HTMLResponse(clean, status, headers=headers)


def language_of(request: Request) -> str:
    """The language that the sender of *request* reads."""
    return chosen(request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))


def policy(nonce: str) -> str:
    """The content security policy of the one page that carries *nonce*."""
    return "; ".join((
        "default-src 'none'",
        f"script-src 'nonce-{nonce}'",
        f"style-src 'nonce-{nonce}'",
        "img-src 'self'",  # the icon; answers hold no pictures
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        f"trusted-types {RENDERED}",
    ))  # fmt: skip


def _environment(folder: Path) -> Environment:
    """Templates of *folder*, and below `tapegate/` those that pages have in common."""
    made = _environments.get(folder)
    if made is None:
        loader = ChoiceLoader([PrefixLoader({"tapegate": FileSystemLoader(TEMPLATES)}), FileSystemLoader(folder)])
        made = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        _environments[folder] = made
    return made


_environments: dict[Path, Environment] = {}
