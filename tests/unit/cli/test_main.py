"""The command line itself: help, names that are wrong, errors as text and as JSON, and what a crash comes to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys

import pytest

from harness import __version__
from harness.cli import main as entry
from harness.cli.main import COMMANDS
from harness.errors import ExitCode, ReplayMissError


def test_help_lists_every_command_and_the_exit_codes(harness):
    """One screen, on stdout, exit 0."""
    ended = harness("--help")

    assert ended.code == 0
    assert all(f"\n    {name}" in ended.out for name in COMMANDS)
    assert "Exit codes: 0 pass · 1 regressed · 2 usage · 3 could not check" in ended.out


def test_no_command_shows_the_help_and_is_a_mistake(harness):
    """`harness` alone did nothing, so it is no pass."""
    ended = harness()

    assert ended.code == ExitCode.USAGE
    assert ended.out.startswith("usage: harness [-h] [--version] COMMAND ...")


def test_the_version_is_printed(harness):
    """On stdout, exit 0."""
    ended = harness("--version")

    assert (ended.code, ended.out) == (0, f"tapegate {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_help(harness, name):
    """Every command says what it takes, `--json` included."""
    ended = harness(name, "--help")

    assert ended.code == 0
    assert ended.out.startswith(f"usage: harness {name} ")
    assert "--json" in ended.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_no_flag_of_another_command(harness, name):
    """Whoever follows a flag's help finds the flags that it speaks of."""
    usage, _, rest = harness(name, "--help").out.partition("\n\n")
    flags = re.compile(r"--[a-z][a-z-]*")

    assert set() == set(flags.findall(rest)) - {"--help"} - set(flags.findall(usage))


def test_an_unknown_command_suggests_the_nearest(harness):
    """Error on stderr, nothing on stdout, exit 2."""
    ended = harness("rnu")

    assert (ended.code, ended.out) == (ExitCode.USAGE, "")
    assert ended.err == (
        f"error[no-such-command]: no command named `rnu`\n\nhint: did you mean `run`? commands: {', '.join(COMMANDS)}\n"
    )


def test_an_unknown_option_suggests_the_nearest(harness):
    """A misspelt option is refused, never taken for another."""
    ended = harness("accept", "--reasn", "x", "--reason", "y")

    assert ended.code == ExitCode.USAGE
    assert ended.err == (
        "error[bad-arguments]: harness accept takes no `--reasn`\n\n"
        "hint: did you mean `--reason`? `harness accept --help` lists what it takes\n"
    )


def test_options_are_not_abbreviated(harness):
    """`--all` must not mean `--allow-ci-write` one day and something else the next."""
    assert harness("accept", "--reason", "x", "--all").code == ExitCode.USAGE


def test_a_missing_argument_names_the_help(harness):
    """argparse's own words, in our form."""
    ended = harness("accept")

    assert ended.err == (
        "error[bad-arguments]: the following arguments are required: --reason\n\n"
        "hint: `harness accept --help` lists what it takes\n"
    )


def test_an_error_with_json_is_one_document_on_stdout(harness, tmp_path, monkeypatch):
    """Scripts read one place, whatever happens."""
    monkeypatch.chdir(tmp_path)

    ended = harness("list", "agents", "--json")
    assert (ended.code, ended.err) == (ExitCode.USAGE, "")
    assert ended.document == {
        "error": {
            "code": "no-project",
            "message": f"no pyproject.toml with [tool.harness] at or above {tmp_path}",
            "hint": "add an empty [tool.harness] table to the pyproject.toml of your project",
            "at": "",
        },
        "exit_code": 2,
    }


def test_wrong_arguments_with_json_are_a_document_too(harness):
    """Even where the arguments could not be read."""
    ended = harness("run", "--jobs", "none", "--json")

    assert ended.document["error"]["message"] == "argument --jobs: `none` is no whole number of at least 1"


class Boom:
    """A command that fails in its own way."""

    __doc__ = "Fails."

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def add_arguments(self, parser) -> None:
        """Take nothing."""

    def run(self, args, output):
        """Fail."""
        raise self.error


@pytest.mark.parametrize(
    "error", [ValueError("boom"), RecursionError(), MemoryError(), ReplayMissError("key", "missed")]
)
def test_a_crash_of_the_harness_never_looks_like_a_regression(harness, monkeypatch, error):
    """Python's own exit code for a crash is 1, which CI would read as a regression; ours is 3."""
    monkeypatch.setitem(sys.modules, "harness.cli.doctor", Boom(error))

    ended = harness("doctor")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert f"error[internal]: the harness itself failed: {type(error).__name__}" in ended.err
    assert "Traceback" in ended.err


def test_a_crash_with_json_is_a_document(harness, monkeypatch):
    """The traceback goes to stderr, the document to stdout."""
    monkeypatch.setitem(sys.modules, "harness.cli.doctor", Boom(ValueError("boom")))

    ended = harness("doctor", "--json")
    assert (ended.document["error"]["code"], ended.document["exit_code"]) == ("internal", 3)


def test_an_interrupt_says_how_to_go_on(harness, monkeypatch):
    """Ctrl-C is no verdict and no crash."""
    monkeypatch.setitem(sys.modules, "harness.cli.doctor", Boom(KeyboardInterrupt()))

    ended = harness("doctor")
    assert (ended.code, ended.err) == (
        entry.INTERRUPTED,
        "interrupted; `harness run --resume RUN` goes on with a run\n",
    )


def test_a_closed_pipe_is_quiet():
    """`harness explain schema:run | head -1` ends without a traceback."""
    command = f"{sys.executable} -m harness explain schema:run | head -1"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    assert (ended.stdout, ended.stderr) == ("{\n", "")


def test_an_error_cannot_steer_the_terminal(harness):
    """A name with control characters is shown as text."""
    ended = harness("\x1b[2Jrun")

    assert "\x1b" not in ended.err
    assert "no command named `\\x1b[2Jrun`" in ended.err


def test_errors_are_json_in_any_script(harness):
    """Text of other scripts stays readable in the document."""
    assert "нет" in harness("нет", "--json").out
    assert json.loads(harness("нет", "--json").out)["error"]["code"] == "no-such-command"


class Leaver(Boom):
    """A command that does what an agent inside it might."""

    def __init__(self, leave) -> None:
        self.leave = leave

    def run(self, args, output):
        """Do it, then pass."""
        self.leave()
        output.data("{}")
        return ExitCode.PASS


@pytest.mark.parametrize(
    ("leave", "told"),
    [
        (lambda: sys.exit(0), "sys.exit(0)"),
        (sys.exit, "sys.exit()"),
        (lambda: os._exit(0), "os._exit"),
        (lambda: os.execv("/bin/true", ["true"]), "os.execv"),
        (lambda: os.execlp("true", "true"), "os.execv"),
    ],
)
def test_nobody_but_the_command_ends_the_process(harness, monkeypatch, leave, told):
    """An agent that leaves with 0 has decided nothing: exit 3, whichever way it took."""
    monkeypatch.setitem(sys.modules, "harness.cli.doctor", Leaver(leave))

    ended = harness("doctor", "--json")
    assert (ended.code, ended.document["error"]["code"]) == (ExitCode.COULD_NOT_CHECK, "process-left")
    assert f"tried to end the process ({told})" in ended.document["error"]["message"]


@pytest.mark.parametrize("error", [GeneratorExit(), asyncio.CancelledError(), BaseExceptionGroup("g", [SystemExit(0)])])
def test_no_exception_of_any_kind_reaches_the_interpreter(harness, monkeypatch, error):
    """What Python itself would end with 1 for is a crash like any other."""
    monkeypatch.setitem(sys.modules, "harness.cli.doctor", Boom(error))

    assert harness("doctor").code == ExitCode.COULD_NOT_CHECK


def test_a_crash_cannot_steer_the_terminal(harness, monkeypatch):
    """The text of an exception may come from a model."""
    monkeypatch.setitem(sys.modules, "harness.cli.doctor", Boom(ValueError("\x1b[2J")))

    assert "\x1b" not in harness("doctor").err
