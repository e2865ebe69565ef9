"""
Trying to get out, to prove that the guard holds: each way alone, in a child process of its own, against a listener on
loopback. A way is open when the listener was reached (for a name lookup: when the resolver was asked).

    python -m harness.cassettes.guard        # with every guard; exit code 1 if a way out is open
    python -m harness.cassettes.guard python # with the Python guard alone
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from harness.cassettes import guard
from harness.cassettes.ring import connect_by_ring

Way = Literal["tcp", "udp", "dns", "subprocess", "raw_syscall", "io_uring"]
Guards = Literal["none", "python", "loopback", "kernel", "all"]
State = Literal["through", "stopped", "unavailable"]

WAYS: tuple[Way, ...] = ("tcp", "udp", "dns", "subprocess", "raw_syscall", "io_uring")
SECONDS = 10.0
"""A way that takes longer counts as stopped."""
_KNOCK = b"tapegate-knock"
_SYS_SOCKET = {"x86_64": 41, "aarch64": 198}


class Escape(NamedTuple):
    """What became of one way out; *because* is the child's own account."""

    way: Way
    state: State
    because: str


def self_test(guards: Guards = "all", ways: Sequence[Way] = WAYS) -> tuple[Escape, ...]:
    """Try each way out under *guards*, one after the other. Needs a process that may still listen on loopback."""
    return tuple(attempt_escape(way, guards) for way in ways)


def attempt_escape(way: Way, guards: Guards = "all") -> Escape:
    """Try one way out in a child process that puts *guards* on first."""
    kind = socket.SOCK_DGRAM if way in ("udp", "dns") else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as listener:
        listener.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            listener.listen()
        command = [sys.executable, "-m", "harness.cassettes.escape", way, guards, str(listener.getsockname()[1])]
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child = subprocess.run(  # noqa: S603 - this interpreter, this module
                command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=SECONDS, check=False
            )
            said = (child.stdout.decode(errors="replace").strip().splitlines() or [f"exit code {child.returncode}"])[-1]
            return Escape(way, "through" if _was_reached(listener) else _state(said), said)
        return Escape(way, "through" if _was_reached(listener) else "stopped", f"no end within {SECONDS:g} s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what became of each way out; exit code 1 when one is open."""
    chosen = list(sys.argv[1:] if arguments is None else arguments)
    guards: Guards = "python" if chosen == ["python"] else "all"
    escapes = self_test(guards)
    for escape in escapes:
        print(f"{escape.way:12} {escape.state:12} {escape.because}")  # noqa: T201 - a command
    return 1 if any(escape.state == "through" for escape in escapes) else 0


def _was_reached(listener: socket.socket) -> bool:
    """Whether something arrived; the child is gone, so that whatever it sent is here already."""
    listener.settimeout(0.05)
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recvfrom(512)
    except OSError:
        return False
    return True


def _state(said: str) -> State:
    return "unavailable" if said.startswith("unavailable") else "stopped"


def _attempt(way: str, guards: str, port: int) -> str:
    """Runs in the child: put the guards on, try, and say how it ended."""
    if guards in ("python", "loopback", "all"):
        guard.engage(allow_loopback=guards == "loopback", kernel=guards == "all")
    if guards == "kernel":
        guard.engage(kernel=True)
        guard.disengage()
    try:
        _TRIES[way](port)
    except guard.NetworkRefusedError as refused:
        return f"refused: {refused.tried}"
    except NotImplementedError as error:
        return f"unavailable: {error}"
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def _by_tcp(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(_KNOCK)


def _by_udp(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(_KNOCK, ("127.0.0.1", port))


def _by_name(port: int) -> None:
    """Look a name up with the C library's resolver pointed at the listener; its state begins with fixed fields."""
    if platform.libc_ver()[0] != "glibc":
        raise NotImplementedError("only glibc's resolver can be pointed at a listener")
    libc = ctypes.CDLL(None)
    state_of = libc["__res_state"]
    state_of.restype = ctypes.c_void_p
    libc["__res_init"]()
    seconds, tries, one_server = 1, 1, 1
    options = struct.pack("=iiQi", seconds, tries, 0x2C1, one_server)
    server = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton("127.0.0.1"))
    ctypes.memmove(state_of(), options + server, len(options + server))
    socket.getaddrinfo("knock.tapegate.example.", 80)


def _by_child(port: int) -> None:
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5).sendall({_KNOCK!r})"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)  # noqa: S603
    if child.returncode:
        raise OSError(child.stderr.decode(errors="replace").strip().splitlines()[-1])


def _by_raw_syscall(port: int) -> None:
    """Ask the kernel for a socket behind Python's back, as native code does."""
    number = _SYS_SOCKET.get(platform.machine())
    if sys.platform != "linux" or number is None:
        raise NotImplementedError("the number of the system call is not known here")
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.syscall(ctypes.c_long(number), int(socket.AF_INET), int(socket.SOCK_STREAM), 0)
    if handle < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    address = loopback_address(port)
    if libc.connect(handle, address, len(address)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.write(handle, _KNOCK)


def _by_io_uring(port: int) -> None:
    """Let the kernel's own threads open and connect a socket: no socket system call is made."""
    connect_by_ring(loopback_address(port))


def loopback_address(port: int) -> bytes:
    """`struct sockaddr_in` of 127.0.0.1:*port*."""
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton("127.0.0.1"))


_TRIES: dict[str, Callable[[int], None]] = {
    "tcp": _by_tcp,
    "udp": _by_udp,
    "dns": _by_name,
    "subprocess": _by_child,
    "raw_syscall": _by_raw_syscall,
    "io_uring": _by_io_uring,
}

if __name__ == "__main__":
    print(_attempt(sys.argv[1], sys.argv[2], int(sys.argv[3])))  # noqa: T201 - the parent reads it
