"""Connections that say nothing, without a network: who waits, who is given up, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from harness.serve import connections
from harness.serve.connections import TimelyProtocol

WHOLE = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Wire(asyncio.Transport):
    """A transport that goes nowhere, and tells the protocol when it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: Any = None
        self.closed = False
        self.sent = b""

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def write(self, data: Any) -> None:
        self.sent += data

    def pause_reading(self) -> None:
        """Nothing is read anyway."""

    def resume_reading(self) -> None:
        """Nothing is read anyway."""


async def app(_scope: Any, _receive: Any, send: Any) -> None:
    """Answer at once."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def in_loop(work: Callable[[Callable[[], TimelyProtocol]], Any]) -> None:
    """Do *work* with a function that opens connections to one server."""

    async def working() -> None:
        config = uvicorn.Config(app, http=TimelyProtocol, log_config=None)
        config.load()
        state = ServerState()

        def connect() -> TimelyProtocol:
            protocol = TimelyProtocol(config, state, {})
            wire = Wire()
            wire.protocol = protocol
            protocol.connection_made(wire)
            return protocol

        await work(connect)
        for protocol in list(state.connections):
            protocol.connection_lost(None)

    asyncio.run(working())


def test_a_connection_waits_until_it_has_asked():
    """Half of the headers are none; while the answer is made it does not wait, afterwards it does again."""

    async def work(connect: Callable[[], TimelyProtocol]) -> None:
        protocol = connect()
        protocol.data_received(WHOLE[:20])
        half = protocol.waits
        protocol.data_received(WHOLE[20:])
        asked = protocol.waits
        await asyncio.sleep(0.01)

        assert (True, False, True) == (half, asked, protocol.waits)
        assert protocol.transport.sent.startswith(b"HTTP/1.1 204")

    in_loop(work)


def test_patience_ends(monkeypatch: pytest.MonkeyPatch):
    """Also when something drops in now and then: what counts is that the headers are whole in time."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.05)

    async def work(connect: Callable[[], TimelyProtocol]) -> None:
        protocol = connect()
        begun = asyncio.get_running_loop().time()
        while not protocol.transport.is_closing():
            protocol.data_received(b"G")
            await asyncio.sleep(0.01)
        lasted = asyncio.get_running_loop().time() - begun
        await asyncio.sleep(0)

        assert 0.04 < lasted < 5
        assert (False, False) == (protocol.waits, protocol in protocol.connections)

    in_loop(work)


def test_the_one_that_waits_longest_makes_room(monkeypatch: pytest.MonkeyPatch):
    """With each connection beyond what may wait, the oldest one goes."""
    monkeypatch.setattr(connections, "MOST_WAITING", 2)

    async def work(connect: Callable[[], TimelyProtocol]) -> None:
        opened = []
        for _ in range(4):
            opened.append(connect())
            await asyncio.sleep(0.002)

        assert [True, True, False, False] == [each.transport.is_closing() for each in opened]

    in_loop(work)


def test_who_has_asked_does_not_count(monkeypatch: pytest.MonkeyPatch):
    """Requests under way leave the others their patience."""
    monkeypatch.setattr(connections, "MOST_WAITING", 1)

    async def work(connect: Callable[[], TimelyProtocol]) -> None:
        asking = connect()
        asking.data_received(WHOLE)
        waiting = connect()

        assert [False, False] == [each.transport.is_closing() for each in (asking, waiting)]

    in_loop(work)
