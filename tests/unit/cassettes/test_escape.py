"""Every way out is tried in a child: open without a guard, so that the attempt is known to work; closed with it."""

import sys

import pytest

from harness.cassettes.escape import WAYS, Escape, attempt_escape, main, self_test

NATIVE = ("subprocess", "raw_syscall", "io_uring")
"""Ways that Python does not see."""
KERNEL_CLOSES = "stopped" if sys.platform == "linux" else "through"


def states(guards, ways=WAYS):
    return {escape.way: escape.state for escape in self_test(guards, ways)}


def test_without_a_guard_every_way_is_open():
    """The attempts do reach the listener; a kernel or a container without io_uring is told apart from a guard."""
    found = states("none")
    ring = found.pop("io_uring")

    assert {way: "through" for way in WAYS if way != "io_uring"} == found
    assert ring in ("through", "unavailable", "stopped")


def test_the_python_guard_closes_what_python_sees():
    """TCP, UDP and lookups are stopped; children and native code are not, which is why the kernel is asked."""
    found = states("python", ("tcp", "udp", "dns", "subprocess", "raw_syscall"))

    assert {
        "tcp": "stopped", "udp": "stopped", "dns": "stopped", "subprocess": "through", "raw_syscall": "through",
    } == found  # fmt: skip


def test_the_python_guard_explains_itself():
    """What the child says is the guard's own account of what was tried."""
    escape = attempt_escape("udp", "python")

    assert escape.because.startswith("refused: send to 127.0.0.1:")
    assert escape.because.endswith(" by UDP")


def test_with_loopback_allowed_names_are_still_closed():
    """Loopback is open, the name of another machine is not."""
    assert {"tcp": "through", "dns": "stopped"} == states("loopback", ("tcp", "dns"))


@pytest.mark.parametrize("guards", ["kernel", "all"])
def test_the_kernel_closes_every_way(guards):
    """With the kernel's guard nothing gets through, whoever tries; io_uring is refused even where it exists."""
    found = states(guards)

    assert dict.fromkeys(WAYS, KERNEL_CLOSES) == {way: found[way] for way in WAYS}


def test_an_attempt_that_cannot_be_made_is_no_success_of_the_guard():
    """An unknown way ends in an error of the child and is never counted as through."""
    escape = attempt_escape("carrier_pigeon")

    assert Escape("carrier_pigeon", "stopped", "exit code 1") == escape


def test_the_command_reports_and_fails_when_a_way_is_open(capsys):
    """`python -m harness.cassettes.guard` exits 0 with every guard and 1 with the Python guard alone."""
    codes = (main([]), main(["python"]))
    printed = capsys.readouterr().out.splitlines()

    assert (0, 1) == codes
    assert 2 * len(WAYS) == len(printed)
    assert "subprocess   through      no error" in printed[len(WAYS) :]
