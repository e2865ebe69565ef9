"""Commands on a real terminal: a pseudo-terminal of a given size, and a small model of what is on its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from harness.testing.project import ScratchProject


class Screen:
    """What a terminal shows of what was written to it: lines, carriage returns and erasing to the end of a line."""

    def __init__(self, written: str) -> None:
        self.lines = [""]
        self.drawn: list[str] = []
        """Each line as it was when something erased it."""
        for part in re.split(r"(\r\n|\r\x1b\[K|\n)", re.sub(r"\x1b\[\d*m", "", written)):
            if part in {"\r\n", "\n"}:
                self.lines.append("")
            elif part == "\r\x1b[K":
                self.drawn += [self.lines[-1]] if self.lines[-1] else []
                self.lines[-1] = ""
            else:
                self.lines[-1] += part


def on_terminal(folder: Path, *words: str, columns: int = 100, lines: int = 30, **environ: str) -> tuple[int, str]:
    """Run `harness` with stdout and stderr on a terminal; its exit code, and all that was written."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    unset = {"COLUMNS", "LINES", "NO_COLOR", "CI", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS"}
    env = {name: value for name, value in os.environ.items() if name not in unset} | {"TERM": "xterm"} | environ
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    while chunk := _read(ours):
        written += chunk
    os.close(ours)
    return process.wait(), written.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.fixture
def slow(recorded: Path, tmp_path: Path) -> ScratchProject:
    """The recorded project, whose agent takes a second."""
    project = ScratchProject(shutil.copytree(recorded, tmp_path / "slow"), {})
    project.replace(
        "agents/example/agent.py",
        "        messages = [",
        "        import asyncio\n\n        await asyncio.sleep(1)\n        messages = [",
    )
    return project


def test_progress_is_drawn_and_gone_when_the_verdict_is_there(slow: ScratchProject) -> None:
    """One line that says what is under way while it is, and nothing of it on the screen at the end."""
    code, written = on_terminal(slow.folder, "run")
    screen = Screen(written)

    assert 0 == code
    assert "replaying 0/1 · example × scripted smoke/weather" in screen.drawn
    assert not [line for line in screen.lines if "replaying" in line]
    assert screen.lines[0].startswith("KEPT  1 of 1 trials kept; run ")


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"CLICOLOR": "0"}, False)],
)
def test_colour_is_for_terminals_that_want_it(
    recorded: Path, tmp_path: Path, environ: dict[str, str], coloured: bool
) -> None:
    """The words are the same with and without."""
    project = ScratchProject(shutil.copytree(recorded, tmp_path / "project"), {})
    _, written = on_terminal(project.folder, "run", **environ)

    assert coloured is ("\x1b[32mKEPT\x1b[0m  1 of 1" in written)
    assert coloured is ("\x1b" in written.replace("\r\x1b[K", ""))


def test_a_ci_job_with_a_terminal_is_calm(slow: ScratchProject) -> None:
    """Some systems give their jobs one; what it shows is a log all the same."""
    _, written = on_terminal(slow.folder, "run", CI="true")

    assert "replaying" not in written
    assert "\r\x1b[K" not in written


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (40, 20), (20, 12)])
def test_failures_fit_the_screen(recorded: Path, tmp_path: Path, columns: int, lines: int) -> None:
    """As many as there is room for and one in any case, the verdict above them, the next step below."""
    project = ScratchProject(shutil.copytree(recorded, tmp_path / "project"), {})
    project.replace("goldensets/smoke.yaml", "{all: [7]}", "{all: [8]}")
    code, written = on_terminal(project.folder, "run", columns=columns, lines=lines)
    shown = Screen(written).lines

    assert 1 == code
    assert shown[0].startswith("BROKEN")
    assert "facts: the answer does not say 8" in " ".join(" ".join(shown).split())
    assert [line for line in shown if line.startswith("hint: `harness report ")]
    assert columns < 80 or len(shown) <= lines


def test_a_document_on_a_terminal_steers_nothing(slow: ScratchProject) -> None:
    """With `--json` a person still sees how far it is; the document comes whole, after it."""
    code, written = on_terminal(slow.folder, "run", "--json", columns=120)

    assert 0 == code
    assert "replaying 0/1" in written
    assert written.rpartition("\r\x1b[K")[2].startswith('{"run":"')
