"""The HTTP application: the API, the routes that agents bring along, and what every request and every error goes through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from harness.agents.hosting import Host
from harness.errors import BadFileError, CouldNotCheckError, HarnessError, UsageError
from harness.modules import load_module
from harness.serve.api import routes
from harness.serve.gatekeeper import Gatekeeper, Rules
from harness.serve.host import AgentHost
from harness.serve.pages.rendering import PageLink, Pages
from harness.serve.pages.routes import page_routes
from harness.serve.refusals import refusal
from harness.serve.sign_in import SignIns


def create_app(host: AgentHost, rules: Rules) -> FastAPI:
    """
    Put the application together; it closes *host* when it shuts down.

    Raises:
        BadFileError: An agent's `app.py` does not load, or gives no routes.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await host.close()

    # the interactive pages of FastAPI load scripts from elsewhere
    app = FastAPI(lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    paths = {name: Path(agent.folder) / "app.py" for name, agent in host.agents.items()}
    own = {name: _own_routes(path, host) for name, path in paths.items() if path.is_file()}
    sign_ins = SignIns(rules.token)
    host.pages = Pages(host.scrub, [link for name in sorted(own) for link in _pages_of(own[name])])
    for router in (page_routes(host, host.pages, sign_ins), routes(host, own), *own.values()):
        app.include_router(router)
    _tell_errors(app, host)
    app.add_middleware(Gatekeeper, rules=rules, scrub=host.scrub, sign_ins=sign_ins)
    return app


def _pages_of(router: APIRouter) -> list[PageLink]:
    """The pages among an agent's routes: those that are read by GET and stand outside of `/api/`, by their summary."""
    return [
        PageLink(route.path, route.summary or route.path)
        for route in router.routes
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()) and not route.path.startswith("/api/")
        and route.summary
    ]  # fmt: skip


def _own_routes(path: Path, host: Host) -> APIRouter:
    make = getattr(load_module(path, kind="agent_app", code="bad-agent", package=True), "routes", None)
    made = make(host) if callable(make) else None
    if not isinstance(made, APIRouter):
        raise BadFileError("bad-agent", "no `routes(host) -> fastapi.APIRouter`", at=str(path))
    return made


def _tell_errors(app: FastAPI, host: AgentHost) -> None:
    @app.exception_handler(HarnessError)
    async def refused(_request: Request, error: HarnessError) -> Response:
        return refusal(error, host.scrub)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Response:
        names = ", ".join(f"`{each['loc'][-1]}`" for each in error.errors())
        return refusal(UsageError("bad-request", f"missing, or of the wrong kind: {names}"), host.scrub)

    @app.exception_handler(HTTPException)
    async def unknown(_request: Request, error: HTTPException) -> Response:
        missing = UsageError("no-such-route", f"{error.detail}", hint="GET /api names what there is")
        return refusal(missing, host.scrub, status=error.status_code)

    @app.exception_handler(Exception)
    async def failed(_request: Request, error: Exception) -> Response:
        crash = CouldNotCheckError("internal", f"the server failed: {type(error).__name__}", hint="its log says more")
        return refusal(crash, host.scrub)
