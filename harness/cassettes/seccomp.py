"""
The kernel's guard: a seccomp filter that refuses every new socket that is not a Unix one, and io_uring, with EPERM.

It holds for all threads, for native code and for every child process, and cannot be taken off again. It cannot see
sockets that were open before, so it goes on early. Linux on x86_64 and aarch64 only; needs no privilege.
Source: seccomp(2), linux/seccomp.h, linux/bpf_common.h and the kernel's system call tables.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from typing import NamedTuple


class _Machine(NamedTuple):
    """Numbers of one architecture: its audit name, the system calls that matter, the calls that may open a socket."""

    audit: int
    seccomp: int
    sockets: tuple[int, ...]
    highest: int | None
    """Numbers from here on are another table of the same architecture (x32), which nothing needs."""


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 317, (41, 53), 0x4000_0000),
    "aarch64": _Machine(0xC00000B7, 277, (198, 199), None),
}
_IO_URING = (425, 426, 427)
"""io_uring_setup, _enter and _register: the same number everywhere."""

_LOAD = 0x20
"""BPF_LD | BPF_W | BPF_ABS"""
_IF_EQUAL = 0x15
"""BPF_JMP | BPF_JEQ | BPF_K"""
_IF_AT_LEAST = 0x35
"""BPF_JMP | BPF_JGE | BPF_K"""
_RETURN = 0x06
_ALLOW = 0x7FFF_0000
_REFUSE = 0x0005_0000 | errno.EPERM
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
"""Offsets in `struct seccomp_data`; of the first argument, the low half, which is all that the kernel reads of it."""

_PR_SET_NO_NEW_PRIVS = 38
_SET_MODE_FILTER = 1
_ALL_THREADS = 1
"""SECCOMP_FILTER_FLAG_TSYNC"""

_on = False


def is_on() -> bool:
    """Whether the filter holds in this process because this process put it there."""
    return _on


def install() -> bool:
    """Put the filter on all threads of this process; False where the platform or the kernel has no way to."""
    global _on  # noqa: PLW0603 - a property of the process, and it never goes back
    if _on:
        return True
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return False
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    _on = _load_filter(_program(machine), machine)
    return _on


def _program(machine: _Machine) -> bytes:
    """The filter: jumps count instructions to skip; each line is (code, constant, skip if true, skip if false)."""
    numbers = [*((number, True) for number in machine.sockets), *((number, False) for number in _IO_URING)]
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, _ARCHITECTURE_AT, 0, 0),
        (_IF_EQUAL, machine.audit, 1, 0),
        (_RETURN, _REFUSE, 0, 0),
        (_LOAD, _NUMBER_AT, 0, 0),
    ]
    if machine.highest is not None:
        lines += [(_IF_AT_LEAST, machine.highest, 0, 1), (_RETURN, _REFUSE, 0, 0)]
    for number, takes_family in numbers:
        if takes_family:
            lines += [
                (_IF_EQUAL, number, 0, 4),
                (_LOAD, _FIRST_ARGUMENT_AT, 0, 0),
                (_IF_EQUAL, socket.AF_UNIX, 0, 1),
                (_RETURN, _ALLOW, 0, 0),
                (_RETURN, _REFUSE, 0, 0),
            ]
        else:
            lines += [(_IF_EQUAL, number, 0, 1), (_RETURN, _REFUSE, 0, 0)]
    lines.append((_RETURN, _ALLOW, 0, 0))
    return b"".join(struct.pack("HBBI", code, yes, no, constant) for code, constant, yes, no in lines)


def _load_filter(program: bytes, machine: _Machine) -> bool:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    instructions = ctypes.create_string_buffer(program, len(program))
    count, pointer = len(program) // 8, ctypes.addressof(instructions)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", count, pointer), 16)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, *(ctypes.c_ulong(value) for value in (1, 0, 0, 0))) != 0:
        return False
    arguments = (ctypes.c_long(machine.seccomp), ctypes.c_long(_SET_MODE_FILTER), ctypes.c_long(_ALL_THREADS))
    return int(libc.syscall(*arguments, header)) == 0
