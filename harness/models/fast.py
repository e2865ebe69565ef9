"""
The replay default: answers from a cassette with our own readers of the providers' formats, without litellm and HTTP.

What these readers do not know at all would be left out of a reply; `unknown_to_fast` lists it, so that such a cassette is
replayed on the wire port, where litellm has the last word.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from harness.cassettes.file import Interaction
from harness.cassettes.player import Player
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.models.replayed import answer_chat, answer_embedding, answer_stream
from harness.models.sendable import check_sendable
from harness.records.messages import EmbeddingRequest, ModelRequest, ReplyChunk


class FastPort:
    """Plays one cassette; *player* may be shared with other ports of the same trial."""

    name = "fast"

    def __init__(self, player: Player) -> None:
        self._player = player

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        return answer_chat(self._play(request, call), request.model)

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        for piece in self.stream_sync(request, call):
            yield piece

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return self.embed_sync(request, call)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        return answer_chat(self._play(request, call), request.model)

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        yield from answer_stream(self._play(request, call), request.model)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        return answer_embedding(self._player.play(call.ask, call.slot, request), request.model)

    def _play(self, request: ModelRequest, call: CallInfo) -> Interaction:
        check_sendable(request)
        return self._player.play(call.ask, call.slot, request)


def unknown_to_fast(player: Player) -> tuple[str, ...]:
    """List what stands in the cassette of *player* that this port would leave out; such a trial belongs on `wire`."""
    return player.cassette.unknown
