"""Where output goes, how wide it is, and when it is coloured."""

from __future__ import annotations

import io
import os
import sys

import pytest

from harness.cli.output import Output
from harness.errors import BadFileError
from harness.reports.screen import ansi, plain


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Make both streams terminals, when it is called: pytest puts its own in before each test."""
    for name in ("NO_COLOR", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)

    def turn_on():
        streams = Terminal(), Terminal()
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        return streams

    return turn_on


def test_a_terminal_is_painted(terminal):
    """Colour is for people."""
    terminal()

    assert Output().paint is ansi


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_is_obeyed(terminal, monkeypatch, name, value):
    """https://no-color.org: set and not empty."""
    terminal()
    monkeypatch.setenv(name, value)

    assert Output().paint is plain


def test_a_pipe_is_not_painted(monkeypatch):
    """No escape sequence in a file."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    assert Output().paint is plain


def test_the_width_is_told_or_asked_or_wide(monkeypatch):
    """`COLUMNS`, else the terminal, else that of a CI log; never less than 20."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", "66")
    assert Output().width == 66
    monkeypatch.setenv("COLUMNS", "3")
    assert Output().width == 20
    monkeypatch.setenv("COLUMNS", "wide")
    assert Output().width == 120


def test_progress_is_one_line_that_goes_away(terminal):
    """It is cleared before the next thing is printed."""
    stdout, stderr = terminal()
    output = Output()
    output.progress("1/9 first\nline")
    output.data("done")

    assert stderr.getvalue() == "\r\x1b[K1/9 first line\r\x1b[K"
    assert stdout.getvalue() == "done\n"


def test_progress_does_not_flood(terminal):
    """Ten times a second is enough."""
    _, stderr = terminal()
    output = Output()
    for number in range(1000):
        output.progress(f"{number}/1000")

    assert stderr.getvalue().count("\r") in range(1, 20)


def test_no_progress_in_a_log(capsys):
    """A file keeps what it is given."""
    Output().progress("1/9")

    assert capsys.readouterr().err == ""


def test_an_error_is_printed_as_it_is_written(capsys):
    """Code, place, message, blank line, hint."""
    error = BadFileError("unknown-key", "no key `idd`", hint="did you mean `id`?", at="goldensets/x.yaml:4")

    assert Output().failure(error) == 2
    assert capsys.readouterr().err == (
        "error[unknown-key]: goldensets/x.yaml:4: no key `idd`\n\nhint: did you mean `id`?\n"
    )


def test_text_that_the_terminal_cannot_encode_is_written_out(monkeypatch):
    """A Chinese answer on a Latin-1 terminal is no crash."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)

    Output().data("北京")
    stream.seek(0)
    assert stream.buffer.getvalue() == rb"\u5317\u4eac" + os.linesep.encode()
