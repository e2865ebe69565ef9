"""
The network guard of a replay: nothing gets out, and whoever tries is told what was tried, where, and what to do.

Two layers. The Python one is an audit hook: it sees every connect, datagram and name lookup that goes through Python,
on all platforms, and explains itself. The kernel's one (`seccomp`, Linux) sees everything else: native code, children,
raw system calls. `python -m harness.cassettes.guard` tries each way out and says which are closed.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from harness.cassettes import seccomp
from harness.errors import ReplayMissError

ENVIRONMENT = "HARNESS_GUARD"
"""Environment variable: `kernel` lets `engage` ask the kernel as well."""
MAX_REMEMBERED = 1000
"""Once so much was refused, nothing more is kept, and every later trial of the run counts as one that tried."""
_LOOKUPS = ("socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
_SENDS = {"socket.connect": "connect to", "socket.sendto": "send to", "socket.sendmsg": "send to"}
_HINT = (
    'model calls go through `ctx.models`; a tool that needs the network is marked `@tool(effect="external")` and '
    "recorded; a case that needs a local server says `allow_loopback: true`"
)


class NetworkRefusedError(ReplayMissError):
    """
    Something tried to reach the network while replaying. A BaseException, so that no `except Exception` hides it and
    no client retries it; `refused()` remembers it as well.
    """

    code = "network-refused"

    def __init__(self, tried: str, where: str) -> None:
        by = f" ({where})" if where else ""
        message = f"tried to {tried}{by}, but a replay has no network"
        super().__init__(f"network: {tried}", f"error[network-refused]: {message}\n\nhint: {_HINT}")
        self.tried = tried
        self.where = where


class _State(threading.local):
    asking = False
    """Set while the guard itself runs, so that it never sees itself."""


_engaged = False
_loopback = False
_hooked = False
_refused: list[str] = []
_state = _State()


def engage(*, allow_loopback: bool = False, kernel: bool | None = None) -> list[str]:
    """
    Close the network for this process and return the guards that are on now, as `guards_on` does.

    May be called again at any time: the last call decides about loopback. The kernel's guard cannot tell loopback from
    the rest and is left out with *allow_loopback*; once on it stays on.

    Args:
        allow_loopback: Let connections to 127.0.0.0/8 and ::1 through.
        kernel: Ask the kernel too, where it can: irreversible for this process and its children. By default the
            environment decides: `HARNESS_GUARD=kernel` asks for it, as the command line does; else it stays off.
    """
    global _engaged, _loopback, _hooked  # noqa: PLW0603 - an audit hook belongs to the process and cannot be removed
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True
    _loopback = allow_loopback
    _engaged = True
    asked = os.environ.get(ENVIRONMENT) == "kernel" if kernel is None else kernel
    if asked and not allow_loopback:
        seccomp.install()
    return guards_on()


def disengage() -> list[str]:
    """Let Python reach the network again and return the guards that stay on: the kernel's, if it was."""
    global _engaged, _loopback  # noqa: PLW0603
    _engaged = _loopback = False
    return guards_on()


@contextmanager
def closed_network(*, allow_loopback: bool = False, kernel: bool | None = None) -> Iterator[list[str]]:
    """`engage` for a while; afterwards the Python guard is as it was before. Gives the guards that are on."""
    global _engaged, _loopback
    before = (_engaged, _loopback)
    try:
        yield engage(allow_loopback=allow_loopback, kernel=kernel)
    finally:
        _engaged, _loopback = before


def guards_on() -> list[str]:
    """The guards that hold in this process: `python` or `python, loopback allowed`, and `seccomp`."""
    python = ["python, loopback allowed" if _loopback else "python"] if _engaged else []
    return python + (["seccomp"] if seccomp.is_on() else [])


def refused() -> tuple[str, ...]:
    """What was tried and refused by the Python guard so far, the first hundred; an agent may have swallowed it."""
    return tuple(_refused)


def forget_refused() -> None:
    """Start `refused` anew, for the next trial."""
    _refused.clear()


def _hook(event: str, args: tuple[Any, ...]) -> None:
    """Runs on every audit event of the interpreter: the common way out is one comparison."""
    if not _engaged or not event.startswith("socket.") or _state.asking:
        return
    _state.asking = True
    try:
        tried = _what_is_tried(event, args)
        if tried is None:
            return
        error = NetworkRefusedError(tried, _who_asks())
        if len(_refused) < MAX_REMEMBERED:
            _refused.append(f"{tried} ({error.where})" if error.where else tried)
    finally:
        _state.asking = False
    raise error


def _what_is_tried(event: str, args: tuple[Any, ...]) -> str | None:
    """What an audit event is about to do, in words, or None where it stays on this machine."""
    if event == "socket.getaddrinfo":
        return _resolving(_text(args[0]), args[1])
    if event in _LOOKUPS:
        host = _text(args[0][0] if isinstance(args[0], tuple) else args[0])
        return None if _is_loopback(host) or host == _own_name() else f"look up {host}"
    if event == "socket.__new__":
        # The kernel refuses this socket in a moment, without a word; IPv6 is left to it, because libraries probe for it.
        return "open an IPv4 socket" if seccomp.is_on() and args[1] == socket.AF_INET else None
    if event in _SENDS:
        return _sending(_SENDS[event], args[0], args[1])
    return None


def _resolving(host: str, port: object) -> str | None:
    if host in ("", _own_name()) or (_loopback and _is_loopback(host)):
        return None
    return f"reach {host}" if port in (None, 0, "") else f"reach {host}:{_text(port)}"


def _sending(verb: str, sender: socket.socket, address: Any) -> str | None:
    if address is None or sender.family == getattr(socket, "AF_UNIX", None):
        return None
    if not isinstance(address, tuple) or len(address) < 2:
        return f"{verb} {address!r}"
    host = _text(address[0])
    if _loopback and _is_loopback(host):
        return None
    return f"{verb} {host}:{address[1]} by {'UDP' if sender.type == socket.SOCK_DGRAM else 'TCP'}"


def _own_name() -> str:
    import platform  # names are looked up in a replay only by mistake

    return platform.node()


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.decode("ascii", "replace") if isinstance(value, bytes | bytearray) else str(value)


def _who_asks() -> str:
    """`file:line` of the nearest caller outside the standard library, installed packages and this product."""
    import sysconfig  # only where somebody is refused

    paths = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    outside = (*paths, "<frozen", __file__.rpartition("cassettes")[0])
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - names the caller without building a traceback
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(outside):
            return f"{name.removeprefix(os.getcwd() + os.sep)}:{frame.f_lineno}"  # noqa: PTH109 - a prefix of text
        frame = frame.f_back
    return ""


if __name__ == "__main__":
    from harness.cassettes.escape import main

    sys.exit(main())
