"""Serve every design of the project over HTTP, on this machine: questions, streams, conversations, recordings."""

from __future__ import annotations

import argparse
import os

from harness.cli.narrowing import ULTRATHINK, add_ultrathink, positive, project_config, ultrathink_options
from harness.cli.output import Output
from harness.errors import ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.serve.gatekeeper import Rules

DEFAULT_PORT = 8420
TOKEN = "HARNESS_SERVE_TOKEN"  # noqa: S105 – the name of the variable
SHORTEST_TOKEN = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness serve` takes."""
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, metavar="N", help=f"default {DEFAULT_PORT}; 0: any")
    parser.add_argument("--model", metavar="M", help="who answers; without it only recordings can be played")
    parser.add_argument("--base-url", metavar="URL", help="the address of the model's server")
    parser.add_argument("--world", metavar="W", help="the world that agents work in; by default the first set's")
    parser.add_argument("--runs", type=positive, default=4, metavar="N", help="runs at once (default 4)")
    parser.add_argument(
        "--rate", type=positive, default=240, metavar="N", help="requests that a client may make a minute (default 240)"
    )
    parser.add_argument("--token-file", metavar="FILE", help=f"holds the token that clients must send; else ${TOKEN}")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a name under which the server is reached"
    )
    add_ultrathink(parser, whom=f"for the agent {ULTRATHINK}")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Listen until the process is told to stop."""
    _require_packages()
    from harness.reports.documents import ServeDocument
    from harness.serve.app import create_app
    from harness.serve.host import AgentHost, Live
    from harness.serve.server import listen, server_of, url_of

    rules = _rules(args)
    config = project_config()
    options = ultrathink_options(args)
    live = Live(
        model=args.model or "", base_url=_base_url(args), world=args.world or "",
        options={ULTRATHINK: options} if options else {},
    )  # fmt: skip
    with listen(args.host, args.port) as bound:
        host = AgentHost(config, live, most_runs=args.runs)
        server = server_of(create_app(host, rules))
        told = ServeDocument(url=url_of(bound), model=live.model, agents=tuple(sorted(host.agents)))
        if output.as_json:
            output.document(told)
        else:
            asked = f"live questions go to {told.model}" if told.model else "recordings only: no --model was given"
            output.data(f"serving {', '.join(told.agents)} on {told.url}\n{asked}")
        try:
            server.run(sockets=[bound])
        except KeyboardInterrupt:
            output.note("stopped")
    return ExitCode.PASS


def _rules(args: argparse.Namespace) -> Rules:
    from harness.models.route import is_loopback
    from harness.serve.gatekeeper import Rules

    loopback = is_loopback(f"http://[{args.host}]" if ":" in args.host else f"http://{args.host}")
    token = _token(args)
    if not loopback and not token:
        raise UsageError(
            "token-needed",
            f"{args.host} can be reached from other machines, so clients must show a token",
            hint=f"set {TOKEN} or give --token-file; `python3 -c 'import secrets; print(secrets.token_urlsafe())'` makes one",
        )
    names = frozenset(name.lower().rstrip(".") for name in (*args.allow_host, args.host))
    return Rules(loopback=loopback, names=names, token=token, per_minute=args.rate)


def _token(args: argparse.Namespace) -> str:
    from pathlib import Path

    token, where = os.environ.get(TOKEN, ""), TOKEN
    if args.token_file:
        where = args.token_file
        try:
            token = Path(where).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError("bad-token", f"{where} cannot be read: {type(error).__name__}") from None
    if (token or args.token_file) and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise UsageError(
            "bad-token",
            f"the token in {where} is shorter than {SHORTEST_TOKEN} characters, or cannot stand in a header",
            hint="`python3 -c 'import secrets; print(secrets.token_urlsafe())'` makes a good one",
        )
    return token


def _base_url(args: argparse.Namespace) -> str | None:
    if args.base_url and not args.model:
        raise UsageError("bad-arguments", "--base-url goes with --model", hint="name the model that the server has")
    if args.base_url and not args.base_url.startswith(("http://", "https://")):
        raise UsageError(
            "bad-arguments",
            f"`{args.base_url}` is no address of a server",
            hint="write it with http:// or https://, such as http://127.0.0.1:8000/v1",
        )
    return args.base_url or None


def _require_packages() -> None:
    """
    Make sure that what serving needs is installed.

    Raises:
        UsageError: It is not.
    """
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "uvicorn", "jinja2", "nh3") if find_spec(name) is None]
    if missing:
        raise UsageError(
            "no-fastapi",
            f"serving needs what is not installed: {', '.join(missing)}",
            hint='install it with `pip install "tapegate[serve]"`',
        )


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is no port: a whole number from 0 to 65535")
    return int(text)
