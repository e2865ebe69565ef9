"""The flags that choose among the declared matrix: the same for every command that runs trials."""

from __future__ import annotations

import argparse

from harness.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.cli.main import Parser
    from harness.config import Config
    from harness.matrix import Narrowing

LEAN = "lean_react"
ULTRATHINK = "ultrathink"
_AGENT_OPTION = "agent option "
"""Start of the names under which an agent's own flags are parsed; no declared argument can have a blank."""


def add_narrowing(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("sets", nargs="*", metavar="SET", help="golden sets; none means every set of the matrix")
    parser.add_argument(
        "--agent", action="append", default=[], metavar="A", help="only this agent, `design` or `design@profile`"
    )
    parser.add_argument("--lean", action="store_true", help=f"short for `--agent {LEAN}`")
    add_ultrathink(parser, whom=f"without --agent, with the agent {ULTRATHINK}")
    parser.add_argument("--model", metavar="M", help="only this model")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=_option,
        metavar="K=V",
        help="set an option that the agent declares",
    )
    parser.add_argument("--case", action="append", default=[], metavar="GLOB", help="only cases whose id matches")
    parser.add_argument("--tag", action="append", default=[], metavar="T", help="only cases with this tag")
    parser.add_argument(
        "--trials", type=positive, metavar="N", help="trials of each case, in place of what is declared"
    )


def add_ultrathink(parser: argparse.ArgumentParser, *, whom: str) -> None:
    """Declare the flags of extended thinking; *whom* says which agent they are for."""
    parser.add_argument("--ultrathink", action="store_true", help=f"think at length from the start; {whom}")
    parser.add_argument(
        "--ultrathink-budget",
        type=positive,
        metavar="N",
        help="tokens to think with, 1024 to 128000 (default 10000); goes with --ultrathink",
    )


def add_agent_arguments(parser: Parser, args: argparse.Namespace) -> None:
    """
    Declare a flag for each option of the chosen agents, so that `--max-steps 8` is short for `--option max_steps=8`.

    Raises:
        UsageError: An agent is not there.
    """
    from pathlib import Path

    from harness.agents.load import load_agent
    from harness.config import load_config

    config = load_config(Path.cwd())
    for agent in chosen_agents(args):
        loaded = load_agent(config.agents, agent)
        for name, default in loaded.options.items():
            flag = f"--{name.replace('_', '-')}"
            if flag in parser.options:
                continue
            about = f"{agent}: {loaded.flags.get(name) or name} (default {default!r})"
            if isinstance(default, bool):
                parser.add_argument(
                    flag, dest=_AGENT_OPTION + name, action="store_const", const=not default, help=about
                )
            else:
                parser.add_argument(flag, dest=_AGENT_OPTION + name, type=_value, metavar="V", help=about)


def chosen_agents(args: argparse.Namespace) -> list[str]:
    """Agents that the flags name."""
    named = [*args.agent, *([LEAN] if args.lean and LEAN not in args.agent else [])]
    return named or ([ULTRATHINK] if ultrathink_options(args) else [])


def ultrathink_options(args: argparse.Namespace) -> dict[str, Any]:
    """Options that the flags of extended thinking stand for."""
    chosen = {"ultrathink": args.ultrathink or None, "ultrathink_budget": args.ultrathink_budget}
    return {name: value for name, value in chosen.items() if value is not None}


def chosen_options(args: argparse.Namespace) -> dict[str, Any]:
    """Options that the flags set, an agent's own flags included."""
    own = {
        key.removeprefix(_AGENT_OPTION): value
        for key, value in vars(args).items()
        if key.startswith(_AGENT_OPTION) and value is not None
    }
    return {**own, **ultrathink_options(args), **dict(args.option)}


def narrowing_of(args: argparse.Namespace) -> Narrowing:
    """What the flags leave of the matrix."""
    from harness.matrix import Narrowing

    return Narrowing(
        sets=args.sets,
        agents=chosen_agents(args),
        models=[args.model] if args.model else [],
        options=chosen_options(args),
        cases=args.case,
        tags=args.tag,
        trials=args.trials,
    )


def project_config() -> Config:
    """
    Read the configuration of the project that the command runs in.

    Raises:
        UsageError: There is none.
        BadFileError: It cannot be used.
    """
    from pathlib import Path

    from harness.config import load_config

    return load_config(Path.cwd())


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number of at least 1")
    return int(text)


def positive_usd(text: str) -> float:
    """Read an amount of dollars above 0."""
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is no amount above 0")
    return amount


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form K=V")
    return name, _value(value)


def _value(text: str) -> Any:
    """Read a JSON value; anything else is a text."""
    import json

    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(name: str) -> None:
    raise UsageError("bad-arguments", f"`{name}` is no value of an option", hint="give a finite number or a text")
