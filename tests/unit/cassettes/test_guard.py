"""The Python guard: what it refuses, what it lets through, and what it says. The kernel's is tried in children only."""

import asyncio
import http.server
import socket
import subprocess
import sys
import threading
import time

import pytest

from harness.cassettes import guard
from harness.cassettes.guard import NetworkRefusedError
from harness.errors import ReplayMissError


@pytest.fixture(autouse=True)
def open_afterwards():
    """Each test leaves the network as the next one expects it: open."""
    guard.forget_refused()
    yield
    guard.disengage()
    guard.forget_refused()


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def refusal(action):
    with pytest.raises(NetworkRefusedError) as caught:
        action()
    return caught.value


def in_child(code):
    """Run *code* in a fresh interpreter and return what it printed."""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "" == child.stderr
    return child.stdout.strip()


def test_a_refusal_says_what_where_and_what_to_do():
    """The whole text that a person reads, with the line that tried."""
    guard.engage()
    line = sys._getframe().f_lineno + 1
    error = refusal(lambda: socket.create_connection(("api.openai.com", 443)))

    assert (
        f"error[network-refused]: tried to reach api.openai.com:443 (tests/unit/cassettes/test_guard.py:{line}), but a "
        "replay has no network\n\n"
        'hint: model calls go through `ctx.models`; a tool that needs the network is marked `@tool(effect="external")` '
        "and recorded; a case that needs a local server says `allow_loopback: true`"
    ) == error.explanation


def test_a_refusal_is_a_miss_that_no_agent_survives():
    """It passes `except Exception`, is handled like a cassette miss, and is remembered."""
    guard.engage()

    def agent():
        try:
            socket.gethostbyname("example.com")
        except Exception:  # noqa: BLE001 - what an agent does
            return "swallowed"

    error = refusal(agent)

    assert isinstance(error, ReplayMissError)
    assert "network: look up example.com" == error.key
    assert 1 == len(guard.refused())
    assert guard.refused()[0].startswith("look up example.com (tests/unit/cassettes/test_guard.py:")


@pytest.mark.parametrize(
    ("tried", "action"),
    [
        ("connect to 192.0.2.1:80 by TCP", lambda s: s.connect(("192.0.2.1", 80))),
        ("connect to 192.0.2.1:80 by TCP", lambda s: s.connect_ex(("192.0.2.1", 80))),
        ("reach example.com:https", lambda s: socket.getaddrinfo("example.com", "https")),
        ("reach example.com", lambda s: socket.getaddrinfo(b"example.com", None)),
        ("look up example.com", lambda s: socket.gethostbyname_ex("example.com")),
        ("look up 192.0.2.1", lambda s: socket.gethostbyaddr("192.0.2.1")),
        ("look up 192.0.2.1", lambda s: socket.getnameinfo(("192.0.2.1", 80), 0)),
    ],
)
def test_ways_out_by_name_and_connection(tried, action):
    """Connections and lookups of every kind are refused, also where loopback is allowed."""
    guard.engage(allow_loopback=True)
    with socket.socket() as one:
        assert tried == refusal(lambda: action(one)).tried


def test_datagrams_are_refused():
    """UDP is refused by `sendto`, by `sendmsg` and by `connect`."""
    guard.engage()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        tried = [
            refusal(lambda: sender.sendto(b"x", ("127.0.0.1", 53))).tried,
            refusal(lambda: sender.sendmsg([b"x"], [], 0, ("127.0.0.1", 53))).tried,
            refusal(lambda: sender.connect(("127.0.0.1", 53))).tried,
        ]

    assert ["send to 127.0.0.1:53 by UDP", "send to 127.0.0.1:53 by UDP", "connect to 127.0.0.1:53 by UDP"] == tried


def test_loopback_is_open_only_when_allowed(listener):
    """The same connection is refused, allowed, and refused again: the last call decides."""
    guard.engage()
    refusal(lambda: socket.create_connection(("127.0.0.1", listener)))
    guard.engage(allow_loopback=True)
    socket.create_connection(("localhost", listener)).close()
    guard.engage()

    assert f"reach localhost:{listener}" == refusal(lambda: socket.create_connection(("localhost", listener))).tried


def test_asyncio_is_refused_too(listener):
    """A coroutine that opens a connection is told the same."""
    guard.engage()

    assert (
        f"connect to 127.0.0.1:{listener} by TCP"
        == refusal(lambda: asyncio.run(asyncio.open_connection("127.0.0.1", listener))).tried
    )


def test_a_thread_is_refused_too(listener):
    """The hook belongs to the interpreter, not to a thread or a context."""
    guard.engage()
    caught = []

    def work():
        try:
            socket.create_connection(("127.0.0.1", listener))
        except NetworkRefusedError as error:
            caught.append(error.tried)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert [f"reach 127.0.0.1:{listener}"] == caught


def test_what_stays_on_the_machine_goes_on():
    """Unix sockets, socket pairs, an event loop, a child process and an unconnected server work under the guard."""
    guard.engage()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"x")
        assert b"x" == theirs.recv(1)
    asyncio.run(asyncio.to_thread(lambda: None))
    http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler).server_close()
    socket.getaddrinfo(None, 0)

    assert () == guard.refused()


def test_a_unix_server_can_be_reached(tmp_path):
    """An embedded database on a Unix socket is no network."""
    guard.engage()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))

    assert () == guard.refused()


def test_the_report_names_the_guards():
    """`guards_on` says which guards hold, and whether loopback is open."""
    assert [] == guard.guards_on()
    assert ["python"] == guard.engage()
    assert ["python, loopback allowed"] == guard.engage(allow_loopback=True)
    assert [] == guard.disengage()


def test_a_closed_network_opens_again(listener):
    """`closed_network` restores what was before, also around an error and inside another."""
    with guard.closed_network() as guards:
        assert ["python"] == guards
        with guard.closed_network(allow_loopback=True):
            socket.create_connection(("127.0.0.1", listener)).close()
        refusal(lambda: socket.create_connection(("127.0.0.1", listener)))
    socket.create_connection(("127.0.0.1", listener)).close()


def test_only_so_many_refusals_are_remembered():
    """An agent in a loop does not fill the memory."""
    guard.engage()
    for _ in range(guard.MAX_REMEMBERED + 5):
        refusal(lambda: socket.gethostbyname("example.com"))

    assert guard.MAX_REMEMBERED == len(guard.refused())


def test_engaging_is_cheap():
    """A thousand times takes less than the millisecond each that a run may spend once."""
    began = time.perf_counter()
    for _ in range(1000):
        guard.engage(kernel=False)

    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(("value", "guards"), [("kernel", ["python", "seccomp"]), ("python", ["python"])])
def test_the_environment_asks_for_the_kernel(value, guards):
    """`HARNESS_GUARD=kernel` is what the command line sets; on other systems than Linux only Python guards."""
    code = (
        f"import os; os.environ['HARNESS_GUARD'] = {value!r}\n"
        "from harness.cassettes import guard\n"
        "print(guard.engage()); print(guard.engage()); print(guard.disengage())"
    )
    known = guards if sys.platform == "linux" else guards[:1]

    assert f"{known}\n{known}\n{known[1:]}" == in_child(code)


def test_loopback_leaves_the_kernel_out():
    """The kernel cannot tell loopback from the rest, so it is not asked."""
    code = "from harness.cassettes import guard; print(guard.engage(allow_loopback=True, kernel=True))"

    assert "['python, loopback allowed']" == in_child(code)


def test_under_the_kernel_an_event_loop_and_children_work():
    """With every guard on, asyncio, threads and a child process that needs no network go on."""
    code = (
        "import asyncio, subprocess, sys\n"
        "from harness.cassettes import guard\n"
        "guard.engage(kernel=True)\n"
        "print(asyncio.run(asyncio.to_thread(lambda: 3)), subprocess.run([sys.executable, '-c', 'print(4)'],"
        " capture_output=True, text=True).stdout)"
    )

    assert "3 4" == in_child(code)


def test_under_the_kernel_a_bare_socket_is_explained():
    """The kernel would only say that the operation is not permitted; the Python guard speaks first."""
    code = (
        "import socket\n"
        "from harness.cassettes import guard\n"
        "guard.engage(kernel=True)\n"
        "try: socket.socket().connect(('192.0.2.1', 80))\n"
        "except guard.NetworkRefusedError as error: print(error.tried)"
    )

    assert in_child(code) in ("open an IPv4 socket", "connect to 192.0.2.1:80 by TCP")
