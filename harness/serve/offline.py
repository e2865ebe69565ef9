"""The port of a server that was started without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import NoReturn

from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, ModelRequest, ReplyChunk


class NoModel:
    """Fails each call as if nobody were there, so that a design with a way of its own can take it."""

    name = "live"

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        _nobody()

    def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        _nobody()

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        _nobody()

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        _nobody()

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        _nobody()

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        _nobody()


def _nobody() -> NoReturn:
    raise ModelError("connection", "this server was started without a model")
