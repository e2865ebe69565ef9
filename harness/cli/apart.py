"""
Other people's code, kept apart from what a command says: its prints go to stderr, and it cannot end the process.

Agents, tools and contracts run inside the command's own process. What one of them prints, or a child of it, must not
get into the data on stdout, and a way out that skips the verdict must not leave an exit code that reads like one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from harness.errors import CouldNotCheckError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from harness.cli.output import Output

_ENDINGS = ("_exit", "execv", "execve")
"""Functions of `os` that end this program without a word; the other forms of exec call these two."""


@contextmanager
def apart(output: Output) -> Iterator[None]:
    """
    Give the real stdout to *output* alone for a while; nobody ends the process meanwhile.

    Raises:
        CouldNotCheckError: Something left by `sys.exit`, `os._exit` or `os.exec*`.
    """
    real, stream = sys.stdout, output.stream
    with _endings_refused(os.getpid()):
        try:
            with _stdout_for_one() as output.stream:
                yield
        except SystemExit as left:
            raise CouldNotCheckError(
                "process-left",
                f"an agent, a tool or a contract tried to end the process ({_shown(left.code)}), so nothing was decided",
                hint="look for sys.exit, os._exit or os.exec in the project's own code, and raise an error there instead",
            ) from left
        finally:
            sys.stdout, output.stream = real, stream


@contextmanager
def _stdout_for_one() -> Iterator[TextIO]:
    """The real stdout for the caller; `sys.stdout` and file descriptor 1 lead to stderr, for children too."""
    real, shown = sys.stdout, sys.stderr
    if real is None or shown is None:
        yield real
        return
    real.flush()
    if not _is_descriptor(real, 1) or not _is_descriptor(shown, 2):
        sys.stdout = shown
        yield real
        return
    kept = os.dup(1)
    os.dup2(2, 1)
    own, sys.stdout = _writer(kept, real), _writer(1, real)
    try:
        yield own
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def _endings_refused(process: int) -> Iterator[None]:
    """While open, what would end *process* raises SystemExit; its forked children may go as they like."""
    real = {name: getattr(os, name) for name in _ENDINGS}

    def refusing(name: str) -> Callable[..., Any]:
        def refused(*args: Any) -> Any:
            if os.getpid() == process:
                raise SystemExit(f"os.{name}")
            return real[name](*args)

        return refused

    for name in _ENDINGS:
        setattr(os, name, refusing(name))
    try:
        yield
    finally:
        for name, function in real.items():
            setattr(os, name, function)


def _writer(descriptor: int, like: TextIO) -> TextIO:
    return open(descriptor, "w", encoding=like.encoding, errors="backslashreplace", buffering=1, closefd=False)


def _is_descriptor(stream: TextIO, number: int) -> bool:
    try:
        return stream.fileno() == number
    except (OSError, ValueError, AttributeError):
        return False


def _shown(code: object) -> str:
    return code if isinstance(code, str) else f"sys.exit({'' if code is None else code})"
