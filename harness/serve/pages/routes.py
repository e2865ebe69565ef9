"""Where the pages are found, how a reader signs in and out, and how an answer becomes HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from harness.errors import UsageError
from harness.reports.html.safe_markdown import safe_html
from harness.serve.gatekeeper import SIGN_IN, Rate, cookie_name
from harness.serve.pages.assets import asset, asset_folder
from harness.serve.pages.languages import COOKIE, LANGUAGES
from harness.serve.pages.rendering import Pages
from harness.serve.refusals import HEADERS
from harness.serve.sign_in import LIFETIME_SECONDS, SignIns

if TYPE_CHECKING:
    from harness.serve.host import AgentHost

ATTEMPTS_A_MINUTE = 10
"""Tokens that one client may try at the door."""
LANGUAGE_SECONDS = 365 * 24 * 3600


class Text(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer, as it stands in a trace."""

    text: str


def page_routes(host: AgentHost, pages: Pages, sign_ins: SignIns) -> APIRouter:
    """The pages of a server, and what they send back."""
    router = APIRouter()

    @router.get("/")
    async def playground(request: Request) -> Response:
        return pages.page(request, "playground.html")

    @router.get("/runs")
    async def runs(request: Request) -> Response:
        return pages.page(request, "runs.html")

    @router.get("/assets/{digest}/{name}")
    async def file(digest: str, name: str) -> Response:
        return asset(name, lasting=digest == asset_folder().rpartition("/")[2])

    @router.get("/favicon.ico")
    async def icon() -> Response:
        return asset("icon.svg", lasting=False)

    @router.post("/api/render")
    async def render(request: Request) -> Response:
        given = await host.body(request, Text)
        return host.json({"html": await asyncio.to_thread(safe_html, given.text)})

    @router.post("/language")
    async def language(request: Request) -> Response:
        form = await _form(request)
        answer = _go(pages, form("next"))
        if form("language") in LANGUAGES:
            answer.set_cookie(COOKIE, form("language"), max_age=LANGUAGE_SECONDS, httponly=True, samesite="strict")
        return answer

    _add_door(router, pages, sign_ins)
    return router


def _add_door(router: APIRouter, pages: Pages, sign_ins: SignIns) -> None:
    attempts = Rate(ATTEMPTS_A_MINUTE)

    @router.get(SIGN_IN)
    async def door(request: Request) -> Response:
        if not sign_ins.needed:
            return _go(pages, "/")
        return pages.page(request, "sign_in.html", next=request.query_params.get("next", "/"), error="")

    @router.post(SIGN_IN)
    async def sign_in(request: Request) -> Response:
        form = await _form(request)
        try:
            attempts.count(request.client.host if request.client else "")
            name = sign_ins.begin(form("token"))
        except UsageError as error:
            status, told = (401, "wrong_token") if error.code == "wrong-token" else (429, "too_many_tokens")
            return pages.page(request, "sign_in.html", status=status, next=form("next"), error=told)
        answer = _go(pages, form("next"))
        answer.set_cookie(
            cookie_name(request.scope), name, max_age=LIFETIME_SECONDS, httponly=True, samesite="strict",
            secure=_is_https(request),
        )  # fmt: skip
        return answer

    @router.post("/sign-out")
    async def sign_out(request: Request) -> Response:
        sign_ins.end(request.cookies.get(cookie_name(request.scope), ""))
        answer = RedirectResponse(SIGN_IN, status_code=303, headers=HEADERS)
        answer.delete_cookie(cookie_name(request.scope), httponly=True, samesite="strict", secure=_is_https(request))
        return answer


async def _form(request: Request) -> Callable[[str], str]:
    """
    The fields of a form of ours, by name; a missing one is empty.

    Raises:
        UsageError: The body is no form.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise UsageError("bad-request", "the body is not said to be a form", hint="send it from the page")
    try:
        fields = parse_qs((await request.body()).decode(), max_num_fields=10)
    except ValueError:
        raise UsageError("bad-request", "the body is no form", hint="send it from the page") from None
    return lambda name: fields.get(name, [""])[0]


def _go(pages: Pages, path: str) -> RedirectResponse:
    """On to the page at *path* if it is one of ours: an address from outside leads nowhere else."""
    known = {link.path for link in pages.links} | {SIGN_IN}
    return RedirectResponse(path if path in known else "/", status_code=303, headers=HEADERS)


def _is_https(request: Request) -> bool:
    """Whether the browser speaks TLS; where something before the server ends it, the origin of the form tells."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
