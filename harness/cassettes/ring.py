"""
A TCP connection by io_uring alone: the kernel opens and connects the socket, and no socket system call is made.

Only for the self-test of the guard. Source: io_uring(7), io_uring_setup(2), linux/io_uring.h.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import socket
import struct
import sys
import time

_SETUP, _ENTER = 425, 426
_OP_CONNECT, _OP_SOCKET = 16, 45
_RING_AT, _ENTRIES_AT = 0, 0x1000_0000
_GET_EVENTS = 1
_SECONDS = 5.0


def connect_by_ring(address: bytes) -> None:
    """
    Open a TCP socket and connect it to *address*, a `struct sockaddr`.

    Raises:
        OSError: The kernel refuses the ring, the socket or the connection.
        NotImplementedError: This kernel has no io_uring, or too old a one.
    """
    if sys.platform != "linux":
        raise NotImplementedError("io_uring is Linux's")
    ring = _Ring()
    family, kind = int(socket.AF_INET), int(socket.SOCK_STREAM)
    handle = ring.run(opcode=_OP_SOCKET, fd=family, offset=kind, address=0, length=0)
    place = ctypes.create_string_buffer(address, len(address))
    ring.run(opcode=_OP_CONNECT, fd=handle, offset=len(address), address=ctypes.addressof(place), length=0)


class _Ring:
    """One ring with room for four requests, run one at a time."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        params = ctypes.create_string_buffer(120)
        self._fd = self._checked(self._libc.syscall(ctypes.c_long(_SETUP), 4, params))
        fields = struct.unpack("=30I", params.raw)
        entries, completions = fields[0], fields[1]
        head, tail, mask, _, _, _, array = fields[10:17]
        cq_head, cq_tail, cq_mask, _, _, cqes = fields[20:26]
        size = max(array + 4 * entries, cqes + 16 * completions)
        shared = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        both = mmap.PROT_READ | mmap.PROT_WRITE
        self._rings = mmap.mmap(self._fd, size, shared, both, offset=_RING_AT)
        self._entries = mmap.mmap(self._fd, entries * 64, shared, both, offset=_ENTRIES_AT)
        self._at = (head, tail, mask, array, cq_head, cq_tail, cq_mask, cqes)

    def run(self, *, opcode: int, fd: int, offset: int, address: int, length: int) -> int:
        """Submit one request, wait for it, and return its result."""
        _, tail, mask, array, cq_head, _, cq_mask, cqes = self._at
        place = self._number(tail) & self._number(mask)
        self._entries[place * 64 : place * 64 + 64] = struct.pack(
            "=BBHiQQII", opcode, 0, 0, fd, offset, address, length, 0
        ).ljust(64, b"\0")
        self._set(array + 4 * place, place)
        self._set(tail, self._number(tail) + 1)
        self._checked(self._libc.syscall(ctypes.c_long(_ENTER), self._fd, 1, 1, _GET_EVENTS, None, ctypes.c_long(0)))
        self._wait()
        done = cqes + 16 * (self._number(cq_head) & self._number(cq_mask))
        _, result, _ = struct.unpack_from("=QiI", self._rings, done)
        self._set(cq_head, self._number(cq_head) + 1)
        if result < 0:
            if -result == errno.EINVAL and opcode == _OP_SOCKET:
                raise NotImplementedError("this kernel's io_uring opens no sockets")
            raise OSError(-result, os.strerror(-result))
        return int(result)

    def _wait(self) -> None:
        cq_head, cq_tail = self._at[4], self._at[5]
        end = time.monotonic() + _SECONDS
        while self._number(cq_head) == self._number(cq_tail):
            if time.monotonic() > end:
                raise TimeoutError("io_uring did not answer")
            time.sleep(0.001)

    def _number(self, at: int) -> int:
        return int(struct.unpack_from("=I", self._rings, at)[0])

    def _set(self, at: int, value: int) -> None:
        struct.pack_into("=I", self._rings, at, value)

    def _checked(self, result: int) -> int:
        if result >= 0:
            return result
        number = ctypes.get_errno()
        if number == errno.ENOSYS:
            raise NotImplementedError("this kernel has no io_uring")
        raise OSError(number, os.strerror(number))
