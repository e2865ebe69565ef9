"""Transports: patched once, and nothing leaves without a tape."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from harness.cassettes import transport
from harness.cassettes.transport import OpenTape, WireCall
from harness.errors import ReplayMissError

URI = "http://127.0.0.1:9/v1/x"


class Echo:
    """A tape that answers with the name of the call."""

    def handle(self, request, send) -> httpx.Response:
        current = transport.calling.get()
        return httpx.Response(200, text=current.purpose if current else "nobody", request=request)

    async def handle_async(self, request, send) -> httpx.Response:
        return self.handle(request, send)


@pytest.fixture(autouse=True)
def _own_transports() -> Iterator[None]:
    """Leave httpx as it was."""
    yield
    transport.uninstall()
    transport.refusals.clear()


def post(uri=URI):
    with httpx.Client() as client:
        return client.post(uri).text


async def post_async(uri=URI):
    async with httpx.AsyncClient() as client:
        return (await client.post(uri)).text


def test_no_tape_means_refuse():
    """Outside a trial nothing is sent, and the request is remembered whatever becomes of the error."""
    transport.install()
    with pytest.raises(ReplayMissError) as refused:
        post(URI + "?key=abc")
    with pytest.raises(ReplayMissError):
        asyncio.run(post_async())

    assert (
        "POST http://127.0.0.1:9/v1/x: no cassette belongs to this thread or task; start threads of an agent with"
        " `contextvars.copy_context().run`"
    ) == str(refused.value)
    assert [f"POST {URI}", f"POST {URI}"] == transport.refusals


def test_patching_happens_once_and_can_be_undone():
    """Installing again changes nothing; afterwards httpx is as it was."""
    before = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request
    transport.install()
    patched = httpx.HTTPTransport.handle_request
    transport.install()

    assert patched is httpx.HTTPTransport.handle_request
    assert patched is not before[0]

    transport.uninstall()

    assert before == (httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request)


def test_calls_belong_to_their_context():
    """Tasks that run side by side each see their own call, and afterwards there is none."""

    async def task(name):
        with transport.call(WireCall(purpose=name)):
            await asyncio.sleep(0)
            return await post_async()

    async def tasks():
        return await asyncio.gather(*(task(name) for name in "abc")), await post_async()

    with transport.use(Echo()):
        assert (["a", "b", "c"], "nobody") == asyncio.run(tasks())
    assert transport.tape.get() is None


def test_threads_need_a_copy_of_the_context():
    """A bare thread has no tape; `asyncio.to_thread` and a copied context have."""
    with transport.use(Echo()), ThreadPoolExecutor(1) as pool:
        bare = pool.submit(post)
        copied = pool.submit(contextvars.copy_context().run, post)
        in_task = asyncio.run(asyncio.to_thread(post))

        assert isinstance(bare.exception(), ReplayMissError)
        assert ("nobody", "nobody") == (copied.result(), in_task)


def test_an_open_tape_sends_on():
    """Live questions go out; here nobody listens."""
    with transport.use(OpenTape()):
        with pytest.raises(httpx.ConnectError):
            post()
        with pytest.raises(httpx.ConnectError):
            asyncio.run(post_async())


def test_litellms_own_transport_is_patched_once_it_is_loaded():
    """Its aiohttp transport is an httpx transport by its own class; importing litellm is never our doing."""
    script = (
        "import sys, types\n"
        "from harness.cassettes import transport\n"
        "transport.install()\n"
        "assert 'litellm' not in sys.modules\n"
        "module = types.ModuleType('litellm.llms.custom_httpx.aiohttp_transport')\n"
        "class LiteLLMAiohttpTransport:\n"
        "    async def handle_async_request(self, request): ...\n"
        "module.LiteLLMAiohttpTransport = LiteLLMAiohttpTransport\n"
        "sys.modules[module.__name__] = module\n"
        "original = LiteLLMAiohttpTransport.handle_async_request\n"
        "transport.install()\n"
        "assert LiteLLMAiohttpTransport.handle_async_request is not original\n"
        "transport.uninstall()\n"
        "assert LiteLLMAiohttpTransport.handle_async_request is original\n"
    )

    assert 0 == subprocess.run([sys.executable, "-c", script], check=False).returncode
