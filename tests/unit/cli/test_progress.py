"""What is told of long work: done of all, how fast, how long still, and what is under way."""

from __future__ import annotations

import io
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import progress as module
from harness.cli.output import Output
from harness.cli.progress import Progress, duration
from harness.reports.columns import display_width


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def make(stream=None, **how) -> tuple[Progress, Clock]:
    """Progress of 40 recordings, before it begins."""
    clock = Clock()
    return Progress(stream or io.StringIO(), "recording", 40, clock=clock, **({"live": False} | how)), clock


def test_a_line_says_done_rate_rest_and_what_is_under_way():
    """Ten of forty in five seconds: two a second, fifteen seconds to go."""
    progress, clock = make()
    clock.now += 5
    progress.done, progress.now = 10, "lean_react shared/S1-de"

    assert "recording 10/40 · 2/s · 15 s left · lean_react shared/S1-de" == progress.line()


def test_slow_work_is_told_by_the_minute():
    """Three in six minutes is no rate of zero."""
    progress, clock = make()
    clock.now += 360
    progress.done = 3

    assert "recording 3/40 · 0.5/min · 1 h 14 min left" == progress.line()


def test_what_was_done_before_says_nothing_of_the_rate():
    """A resumed run is not faster for what it found."""
    progress, clock = make(done=20)
    clock.now += 10

    assert "recording 20/40" == progress.line()
    progress.done = 30
    assert "recording 30/40 · 1/s · 10 s left" == progress.line()


def test_what_is_under_way_may_follow_from_what_is_done():
    """Nobody has to say a name between two trials."""
    progress, _ = make(name=lambda done: f"case {done}")
    progress.done = 7

    assert "recording 7/40 · case 7" == progress.line()


def test_work_of_unknown_size_has_no_fraction():
    """Nothing of nothing says nothing."""
    progress, _ = make()
    progress.total, progress.now = 0, "looking"

    assert "recording · looking" == progress.line()


def test_a_recording_tells_what_begins(capsys):
    """The third of twenty begins once two are done; what is no such line is printed for people."""
    output = Output()
    with output.recording() as tell:
        tell("20 of 30 trials to record: about 40 model calls\x1b[2J")
        tell("3/20 cassettes/a/b.0.yaml")

        assert output.under_way.line().startswith("recording 2/20 · ")
        assert output.under_way.line().endswith(" · cassettes/a/b.0.yaml")
    assert "20 of 30 trials to record: about 40 model calls\\x1b[2J\n" == capsys.readouterr().err


def test_a_name_cannot_steer_the_terminal():
    """Names of cases come from files that people send."""
    progress, _ = make()
    progress.now = "a\r\x1b[2J\u202eb"

    assert "recording 0/40 · a \\x1b[2J\\u202eb" == progress.line()


@given(st.text(max_size=200), st.integers(5, 100))
def test_the_line_never_fills_the_last_column(name, width):
    """A full line would wrap, and the next carriage return would leave it there."""
    stream = io.StringIO()
    progress, _ = make(stream, live=True, width=width)
    progress.now = name
    progress.draw()

    (drawn,) = stream.getvalue().split("\r\x1b[K")[1:]
    assert display_width(drawn) <= width - 1


def test_a_terminal_is_told_while_the_work_goes_on(monkeypatch):
    """The thread draws; the work only says what it does."""
    monkeypatch.setattr(module, "_DRAWN_EVERY_S", 0.001)
    stream = _Awaited("recording 7/40 · hangs")
    with make(stream, live=True)[0] as progress:
        progress.done, progress.now = 7, "hangs"
        assert stream.seen.wait(10)

    assert stream.getvalue().endswith("\r\x1b[K")
    assert [] == [thread.name for thread in threading.enumerate() if thread.name == "harness-progress"]


def test_a_log_gets_whole_lines_ever_more_seldom(monkeypatch):
    """No carriage return, no escape sequence, and one line where there is one thing to say."""
    monkeypatch.setattr(module, "_LOGGED_EVERY_S", (0.001, 60.0))
    stream = _Awaited("recording 0/40\n")
    with make(stream)[0]:
        assert stream.seen.wait(10)

    assert "recording 0/40\n" == stream.getvalue()


def test_a_stream_that_is_gone_ends_the_telling(monkeypatch):
    """Work goes on when nobody can be told of it."""
    monkeypatch.setattr(module, "_DRAWN_EVERY_S", 0.001)
    stream = io.StringIO()
    stream.close()
    progress, _ = make(stream, live=True)
    with progress:
        progress._thread.join(10)

        assert not progress._thread.is_alive()


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (0.4, "0 s"), (59.6, "1 min"), (200, "3 min 20 s"), (3600, "1 h"), (7500, "2 h 5 min"), (-1, "0 s")],
)
def test_a_duration_reads_as_people_say_it(seconds, expected):
    """Two units at most."""
    assert expected == duration(seconds)


class _Awaited(io.StringIO):
    """A stream that says when a text was written to it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.seen = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if self.text in self.getvalue():
            self.seen.set()
        return written
