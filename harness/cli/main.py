"""
The command line: names a command, loads the one file that is it, and turns what it raises into text and exit codes.

Nothing but argparse and the errors is imported before a command is named, so that `--help` costs next to nothing.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from harness import __version__
from harness.cli.output import Output
from harness.errors import ExitCode, HarnessError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMANDS = {
    "run": "replay golden cases offline and judge them (the default mode: no key, no network)",
    "record": "run golden cases against a real model and keep its traffic",
    "serve": "serve every design over HTTP: questions, streams, recordings",
    "report": "render a run as HTML, Markdown, JUnit, SARIF, OTLP, GitHub annotations or JSON",
    "compare": "compare designs on the same questions: matrix, statistics, Pareto front",
    "diff": "show how the trajectories of two runs differ, turn by turn",
    "history": "show trends over many runs: pass rate, cost, calls, tokens, cases that do not hold still",
    "gate": "compare with the committed baseline; the exit code is the decision",
    "accept": "make a run the committed baseline",
    "list": "list agents, sets, contracts or models",
    "cassettes": "check, show, explain, redact or export recordings",
    "judge": "hold a judge against answers that people have labelled",
    "doctor": "check the set-up of this machine and project",
    "explain": "explain an error code, an agent, or a JSON schema",
}
"""Each command is the module of the same name beside this one."""

INTERRUPTED = 130
"""128 + SIGINT, as shells expect it."""


class Parser(argparse.ArgumentParser):
    """A parser that raises what a person should read, instead of leaving the process; it knows its *options*."""

    def __init__(self, **settings: Any) -> None:
        self.options: list[str] = []
        super().__init__(**settings)

    def add_argument(self, *names: str, **settings: Any) -> argparse.Action:
        action = super().add_argument(*names, **settings)
        self.options += action.option_strings
        return action

    def error(self, message: str) -> None:  # type: ignore[override]  # argparse never returns from it either
        raise UsageError("bad-arguments", message, hint=f"`{self.prog} --help` lists what it takes")


def main(argv: list[str] | None = None) -> int:
    """
    Run one command and return its exit code.

    Args:
        argv: Words after `harness`; None takes those of the process.
    """
    words = sys.argv[1:] if argv is None else argv
    output = Output(as_json="--json" in words)
    try:
        return int(_dispatch(words, output))
    except HarnessError as error:
        return output.failure(error)
    except SystemExit as leaving:  # argparse, after --help and --version
        return leaving.code if isinstance(leaving.code, int) else 0
    except KeyboardInterrupt:
        output.note("interrupted; `harness run --resume RUN` goes on with a run")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has left: nothing was decided, and nobody is there to be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.COULD_NOT_CHECK
    except BaseException as error:  # noqa: BLE001 – no crash may look like a regression, whatever an agent raises
        return output.crash(error)


def _dispatch(words: list[str], output: Output) -> ExitCode:
    if not words or words[0].startswith("-"):
        return _without_command(words, output)
    name, rest = words[0], words[1:]
    if name not in COMMANDS:
        raise _no_such_command(name)
    command = importlib.import_module(f"harness.cli.{name}")
    parser = Parser(prog=f"harness {name}", description=command.__doc__, allow_abbrev=False)
    command.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document (`harness explain schema:NAME`)")
    args, unknown = parser.parse_known_intermixed_args(rest)
    if unknown and hasattr(command, "add_agent_arguments"):
        with output.apart():
            command.add_agent_arguments(parser, args)
        args, unknown = parser.parse_known_intermixed_args(rest)
    if unknown:
        raise unknown_argument(parser, unknown[0])
    with output.apart():
        code: ExitCode = command.run(args, output)
    return code


def unknown_argument(parser: Parser, word: str) -> UsageError:
    """The error for an argument that a command does not take, with the nearest that it does."""
    import difflib

    option = word.partition("=")[0]
    close = difflib.get_close_matches(option, parser.options, n=1)
    help_ = f"`{parser.prog} --help` lists what it takes"
    return UsageError(
        "bad-arguments",
        f"{parser.prog} takes no `{word}`",
        hint=f"did you mean `{close[0]}`? {help_}" if close else help_,
    )


def _without_command(words: list[str], output: Output) -> ExitCode:
    parser = Parser(
        prog="harness",
        description="Record an agent's model traffic once, replay today's agent against it offline, and hold every run to contracts.",
        epilog="Exit codes: 0 pass · 1 regressed · 2 usage · 3 could not check · 4 nothing compared · 5 inconclusive",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tapegate {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="harness")
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=about, add_help=False)
    words = [word for word in words if word != "--json"]
    if words:
        parser.parse_args(words)
    output.data(parser.format_help().rstrip())
    return ExitCode.PASS if words else ExitCode.USAGE


def _no_such_command(name: str) -> UsageError:
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, n=1)
    known = f"commands: {', '.join(COMMANDS)}"
    return UsageError(
        "no-such-command", f"no command named `{name}`", hint=f"did you mean `{close[0]}`? {known}" if close else known
    )
