"""The filter's program, read as the kernel reads it; what it does is tried in `test_escape`."""

import errno
import socket
import struct

import pytest

from harness.cassettes.seccomp import _MACHINES, _program

ALLOW = 0x7FFF_0000
REFUSE = 0x0005_0000 | errno.EPERM


def verdict(machine, number, argument=0, *, audit=None):
    """Run the program on one system call."""
    call = struct.pack("=iIQ6Q", number, audit or machine.audit, 0, argument, 0, 0, 0, 0, 0)
    program = [struct.unpack_from("HBBI", _program(machine), at) for at in range(0, len(_program(machine)), 8)]
    at, loaded = 0, 0
    while True:
        code, yes, no, constant = program[at]
        if code == 0x06:
            return constant
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", call, constant)
            at += 1
        else:
            holds = loaded == constant if code == 0x15 else loaded >= constant
            at += 1 + (yes if holds else no)


@pytest.fixture(params=sorted(_MACHINES))
def machine(request):
    return _MACHINES[request.param]


def test_only_unix_sockets_are_allowed(machine):
    """`socket` and `socketpair` pass for AF_UNIX, and for no other family."""
    for number in machine.sockets:
        assert ALLOW == verdict(machine, number, socket.AF_UNIX)
        for family in (0, socket.AF_INET, socket.AF_INET6, 16, 17, 40):
            assert REFUSE == verdict(machine, number, family)


def test_only_the_low_half_of_the_family_counts(machine):
    """The kernel reads 32 bits of the family; garbage above them neither helps nor harms."""
    assert REFUSE == verdict(machine, machine.sockets[0], 0xFFFF_FFFF_0000_0000 | socket.AF_INET)
    assert ALLOW == verdict(machine, machine.sockets[0], 0xFFFF_FFFF_0000_0000 | socket.AF_UNIX)


def test_io_uring_is_refused(machine):
    """A ring would open sockets without a system call of their own."""
    assert [REFUSE] * 3 == [verdict(machine, number) for number in (425, 426, 427)]


def test_everything_else_is_allowed(machine):
    """Each other number of the table passes, whatever its arguments."""
    refused = {number for number in range(600) if verdict(machine, number, socket.AF_INET) == REFUSE}

    assert {*machine.sockets, 425, 426, 427} == refused


def test_other_tables_of_system_calls_are_refused():
    """A call of another architecture, or of x32, could be anything, and is refused."""
    machine = _MACHINES["x86_64"]

    assert REFUSE == verdict(machine, 0, audit=0x4000_0003)
    assert REFUSE == verdict(machine, 0x4000_0000 + 41, socket.AF_UNIX)
    assert ALLOW == verdict(_MACHINES["aarch64"], 63)
