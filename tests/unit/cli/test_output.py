"""Where output goes, how wide it is, and when it is coloured."""

from __future__ import annotations

import io
import os
import re
import sys

import pytest

from harness.cli.output import Output
from harness.errors import BadFileError
from harness.matrix import PlannedCell
from harness.records.run import Cell
from harness.reports.screen import ansi, plain


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Make both streams terminals, when it is called: pytest puts its own in before each test."""
    for name in ("NO_COLOR", "COLUMNS", "TERM", "CI", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
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


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")])
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


def test_what_is_printed_takes_the_line_of_progress_away(terminal):
    """The line is cleared before the next thing is printed, and does not come back once the work is over."""
    stdout, stderr = terminal()
    output = Output()
    with output.working("recording", 9) as progress:
        progress.done, progress.now = 1, "first\nline"
        progress.draw()
        output.note("careful")
        progress.draw()
    output.data("done")

    drawn = stderr.getvalue()
    assert re.fullmatch(
        r"(\r\x1b\[Krecording 1/9 · .* · first line){1,9}\r\x1b\[Kcareful\n(\r\x1b\[K[^\r]+)+\r\x1b\[K", drawn
    )
    assert "done\n" == stdout.getvalue()


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "true")])
def test_a_dumb_terminal_and_a_ci_job_get_whole_lines(terminal, monkeypatch, name, value):
    """No carriage return where it would be printed as such, or would fill a log with one line a second."""
    _, stderr = terminal()
    monkeypatch.setenv(name, value)
    with Output().working("recording", 9) as progress:
        progress.now = "first"
        progress.draw()

    assert "recording 0/9 · first\n" == stderr.getvalue()


def test_a_log_is_told_nothing_of_quick_work(capsys):
    """The first line comes after ten seconds."""
    with Output().working("replaying", 9) as progress:
        progress.done = 9

    assert "" == capsys.readouterr().err


def test_a_document_in_a_pipe_has_nobody_to_tell(capsys):
    """With `--json` and no terminal on stderr the work is not even asked how far it is."""
    with Output(as_json=True).working("replaying", 9) as progress:
        assert progress is None
    with Output(as_json=True).replaying([]) as tell:
        assert tell is None


def test_a_document_on_a_terminal_comes_with_progress(terminal):
    """A person who pipes stdout elsewhere still sees how far it is."""
    _, stderr = terminal()
    with Output(as_json=True).working("replaying", 9) as progress:
        progress.draw()

    assert "\r\x1b[Kreplaying 0/9\r\x1b[K" == stderr.getvalue()


def test_a_replay_names_the_trial_that_is_under_way(terminal):
    """With the trials that a resumed run has already, the next one of the plan is named, and their number counts."""
    _, stderr = terminal()
    cells = [Cell("lean_react", "scripted", "shared", f"S{number}") for number in range(3)]
    planned = [PlannedCell(cell=cell, case=None) for cell in cells]
    with Output().replaying(planned, done={cells[0]}) as tell:
        tell(None, 2, 3)
        tell.__closure__[0].cell_contents.draw()

    assert re.search(r"replaying 2/3 · \S+/\S+ · \d+ s left · lean_react × scripted shared/S2\r", stderr.getvalue())


def test_a_closed_stderr_is_no_crash(monkeypatch):
    """Progress is a courtesy."""
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    with Output().working("replaying", 9) as progress:
        assert progress is not None


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"FORCE_COLOR": "1"}, ansi),
        ({"CLICOLOR_FORCE": "1"}, ansi),
        ({"FORCE_COLOR": "0"}, plain),
        ({"FORCE_COLOR": ""}, plain),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, plain),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, ansi),
    ],
)
def test_colour_can_be_forced_into_a_pipe(monkeypatch, told, expected):
    """FORCE_COLOR and CLICOLOR_FORCE turn it on where no terminal reads; NO_COLOR wins over both."""
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    for name, value in told.items():
        monkeypatch.setenv(name, value)

    assert expected is Output().paint


def test_the_height_is_told_or_asked_or_unknown(monkeypatch):
    """`LINES`, else the terminal; a file has no height."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.delenv("LINES", raising=False)
    assert Output().height is None
    monkeypatch.setenv("LINES", "50")
    assert 50 == Output().height
    monkeypatch.setenv("LINES", "2")
    assert 10 == Output().height


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
