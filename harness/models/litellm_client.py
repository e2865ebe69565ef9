"""
litellm as a client of our own requests and replies; the live and the wire port stand on it.

Every method raises `ModelError` for what the provider or the way to it did wrong, and lets everything else through. Each
call runs on a tape of `harness.cassettes.transport`, which answers it, records it, or lets it through.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from harness.cassettes import transport
from harness.errors import HarnessError
from harness.models.litellm_errors import CUT, as_model_error
from harness.models.litellm_map import (
    chat_arguments,
    chunks_of,
    embedding_arguments,
    embeddings_of,
    reply_of,
    streamed_reply,
)
from harness.models.litellm_setup import load_litellm
from harness.models.port import CallInfo
from harness.models.route import Route
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingReply, EmbeddingRequest, ModelReply, ModelRequest, ReplyChunk

Tape = transport.Tape


class LitellmClient:
    """
    Asks models through litellm, without retries.

    Args:
        route: How a model is reached.
        timeout_s: Seconds that a call may take, above 0.
    """

    def __init__(self, route: Callable[[str], Route], *, timeout_s: float = 600.0) -> None:
        self._litellm = load_litellm()
        self._route = route
        self._timeout_s = timeout_s

    async def chat(self, request: ModelRequest, call: CallInfo, tape: Tape | None) -> ModelReply:
        """Answer a request whose `stream` is False."""
        with _model_errors(), _on(tape, call):
            response = await self._litellm.acompletion(**self._chat(request, call))
            return reply_of(response, asked_model=request.model)

    def chat_sync(self, request: ModelRequest, call: CallInfo, tape: Tape | None) -> ModelReply:
        """The sync twin of `chat`; reads a stream to its end."""
        with _model_errors(), _on(tape, call) as sent:
            response = self._litellm.completion(**self._chat(request, call))
            if not request.stream:
                return reply_of(response, asked_model=request.model)
            return self._whole(response, list(response), request, sent)

    async def stream(
        self, request: ModelRequest, call: CallInfo, tape: Tape | None
    ) -> AsyncIterator[ReplyChunk | ModelReply]:
        """Answer a request whose `stream` is True: chunks as they come, the reply last."""
        chunks: list[Any] = []
        with _model_errors():
            # only the request needs the tape; between two chunks the caller's context must be its own
            with _on(tape, call) as sent:
                response = await self._litellm.acompletion(**self._chat(request, call))
            try:
                async for chunk in response:
                    chunks.append(chunk)
                    for piece in chunks_of(chunk):
                        yield piece
            finally:
                await response.aclose()
            yield self._whole(response, chunks, request, sent)

    def stream_sync(
        self, request: ModelRequest, call: CallInfo, tape: Tape | None
    ) -> Iterator[ReplyChunk | ModelReply]:
        """The sync twin of `stream`."""
        chunks: list[Any] = []
        with _model_errors():
            with _on(tape, call) as sent:
                response = self._litellm.completion(**self._chat(request, call))
            for chunk in response:
                chunks.append(chunk)
                yield from chunks_of(chunk)
            yield self._whole(response, chunks, request, sent)

    async def embed(self, request: EmbeddingRequest, call: CallInfo, tape: Tape | None) -> EmbeddingReply:
        """Answer an embedding request."""
        with _model_errors(), _on(tape, call):
            response = await self._litellm.aembedding(**self._embedding(request))
            return embeddings_of(response, asked_model=request.model)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo, tape: Tape | None) -> EmbeddingReply:
        """The sync twin of `embed`."""
        with _model_errors(), _on(tape, call):
            response = self._litellm.embedding(**self._embedding(request))
            return embeddings_of(response, asked_model=request.model)

    def _chat(self, request: ModelRequest, call: CallInfo) -> dict[str, Any]:
        asked_s = self._timeout_s if call.timeout_ms is None else call.timeout_ms / 1000
        return chat_arguments(request, self._route(request.model)) | {"timeout": min(asked_s, self._timeout_s)}

    def _embedding(self, request: EmbeddingRequest) -> dict[str, Any]:
        return embedding_arguments(request, self._route(request.model)) | {"timeout": self._timeout_s}

    def _whole(self, response: Any, chunks: list[Any], request: ModelRequest, sent: _Once) -> ModelReply:
        if not sent.streamed:
            raise ModelError("bad_reply", "the answer to a streaming request is no stream")
        # litellm makes up a `stop` for a stream that was cut; this is what the provider itself sent
        if response.received_finish_reason is None:
            raise ModelError("broken_stream", CUT)
        return streamed_reply(self._litellm.stream_chunk_builder(chunks), asked_model=request.model)


async def close_clients() -> None:
    """Close the connections that litellm keeps, for the running event loop and for sync calls; it opens new ones."""
    litellm = load_litellm()
    cached = list(litellm.in_memory_llm_clients_cache.cache_dict.values())
    await litellm.close_litellm_async_clients()
    for client in cached:
        for owner in (client, getattr(client, "client", None)):
            close = getattr(owner, "close", None)
            if close is not None and "Async" not in type(owner).__name__:
                close()
    litellm.in_memory_llm_clients_cache.flush_cache()
    # Anthropic's streams go through a client of their own, which is made when it is first asked for
    module_client = vars(litellm).get("module_level_aclient")
    if module_client is not None:
        await module_client.close()


class _Once:
    """
    Lets one request of a call through to *tape*.

    When a connection breaks, litellm's own async client sends again, whatever it was told of retries. That would be
    paid and recorded twice, and the failure hidden from the trace; so the second request fails like the first.
    """

    def __init__(self, tape: Tape) -> None:
        self.streamed = False
        """Whether the response says that it is a stream of events."""
        self._tape = tape
        self._sent = False

    def handle(self, request: httpx.Request, send: transport.Send) -> httpx.Response:
        self._refuse_second(request)
        return self._noted(self._tape.handle(request, send))

    async def handle_async(self, request: httpx.Request, send: transport.SendAsync) -> httpx.Response:
        self._refuse_second(request)
        return self._noted(await self._tape.handle_async(request, send))

    def _noted(self, response: httpx.Response) -> httpx.Response:
        self.streamed = "event-stream" in response.headers.get("content-type", "")
        return response

    def _refuse_second(self, request: httpx.Request) -> None:
        if self._sent:
            raise httpx.ReadError("retries are the caller's", request=request)
        self._sent = True


@contextmanager
def _on(tape: Tape | None, call: CallInfo) -> Iterator[_Once]:
    """Make *tape*, else the context's own, see the requests of *call*; without either they pass unseen."""
    # litellm wraps a warning that was made an error into a failure of the model; test runners reset filters all the time
    warnings.filterwarnings("ignore", module=r"litellm\.")
    once = _Once(tape or transport.tape.get() or transport.OpenTape())
    wire_call = transport.WireCall(ask=call.ask, slot=call.slot, number=call.number, purpose=call.purpose)
    with transport.use(once), transport.call(wire_call):
        yield once


@contextmanager
def _model_errors() -> Iterator[None]:
    try:
        yield
    except (ModelError, HarnessError):
        raise
    except Exception as error:
        # litellm raises its own classes, the SDK's and, for answers that it cannot read, any at all
        raise as_model_error(error) from error
