"""What the gatekeeper lets in: addresses, pages, tokens, rates."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.serve.gatekeeper import MOST_CLIENTS, Rate, Rules, check_host, check_origin, check_token

LOOPBACK = Rules(names=frozenset({"desk.test"}))
OPEN = Rules(loopback=False, names=frozenset({"desk.test"}), token="0123456789abcdef")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8420", "localhost:8420", "LOCALHOST", "[::1]:8420", "127.8.8.8", "desk.test:80"]
)
def test_this_machine_is_served(host):
    """Its own addresses and names, with any port."""
    check_host(host, LOOPBACK)


@pytest.mark.parametrize(
    "host", ["", "evil.test", "localhost.evil.test", "10.0.0.1", "127.0.0.1.evil.test", "evil.test:8420", "[", "::1"]
)
def test_other_hosts_are_not_served(host):
    """A name that somebody pointed at this machine, above all."""
    with pytest.raises(UsageError, match="addressed to a host that is not served here") as refused:
        check_host(host, LOOPBACK)

    assert "wrong-host" == refused.value.code


def test_an_open_server_is_reached_by_any_address():
    """No page can be loaded from an address that it does not own, so only names are held to a list."""
    check_host("10.0.0.1:8420", OPEN)
    check_host("desk.test", OPEN)
    with pytest.raises(UsageError):
        check_host("evil.test", OPEN)


@pytest.mark.parametrize(
    ("origin", "fetch_site"),
    [("", ""), ("http://127.0.0.1:8420", "same-origin"), ("http://127.0.0.1:8420", ""), ("", "none")],
)
def test_own_pages_and_programs_may_ask(origin, fetch_site):
    """A program sends neither header; a page of this server sends its own address."""
    check_origin(origin, fetch_site, "127.0.0.1:8420")


@pytest.mark.parametrize(
    ("origin", "fetch_site"),
    [
        ("http://evil.test", ""),
        ("null", ""),
        ("http://[", ""),
        ("*", ""),
        ("http://127.0.0.1:9000", ""),
        ("http://127.0.0.1:8420.evil.test", ""),
        ("", "cross-site"),
        ("", "same-site"),
        ("http://127.0.0.1:8420", "cross-site"),
    ],
)
def test_other_pages_may_not(origin, fetch_site):
    """Another port of this machine is another page too; an image in a page sends no origin, but says that it is one."""
    with pytest.raises(UsageError, match="requests from other pages are refused"):
        check_origin(origin, fetch_site, "127.0.0.1:8420")


@pytest.mark.parametrize("shown", ["Bearer 0123456789abcdef", "bearer  0123456789abcdef "])
def test_the_token_lets_in(shown):
    """The scheme in any case, blanks around."""
    check_token(shown, OPEN.token)


@pytest.mark.parametrize("shown", ["", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Basic 0123456789abcdef", "é"])
def test_anything_else_does_not(shown):
    """Nothing, another scheme, or nearly the token."""
    with pytest.raises(UsageError, match="the token is missing or wrong"):
        check_token(shown, OPEN.token)


def test_the_token_is_not_told():
    """Whoever prints the rules does not print it."""
    assert OPEN.token not in repr(OPEN)


def test_a_rate_fills_up_again():
    """As many requests at once as a minute allows, then one whenever its share of the minute has passed."""
    now = 0.0
    rate = Rate(3, lambda: now)
    for _ in range(3):
        rate.count("a")
    with pytest.raises(UsageError, match="more than 3 requests a minute"):
        rate.count("a")
    rate.count("b")
    now = 20.0
    rate.count("a")
    with pytest.raises(UsageError):
        rate.count("a")


def test_refused_requests_cost_nothing():
    """A client that keeps knocking is let in as soon as one that waits."""
    now = 0.0
    rate = Rate(1, lambda: now)
    rate.count("a")
    for second in range(1, 60):
        now = float(second)
        with pytest.raises(UsageError):
            rate.count("a")
    now = 60.5
    rate.count("a")


def test_the_memory_of_clients_is_bounded():
    """However many addresses ask, only the latest are remembered."""
    rate = Rate(1, lambda: 0.0)
    for number in range(MOST_CLIENTS + 1):
        rate.count(str(number))
    rate.count("0")
    with pytest.raises(UsageError):
        rate.count(str(MOST_CLIENTS))
