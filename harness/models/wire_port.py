"""
Answers from a cassette through litellm over patched transports: what litellm itself makes of the recorded bytes.

Slower than `fast` by two orders; it keeps `fast` honest, and reads what `fast` does not know.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import cast
from urllib.parse import urlsplit

from harness.cassettes.file import Interaction
from harness.cassettes.player import Player
from harness.cassettes.tapes import PlayTape
from harness.dialects import dialect_of
from harness.models.capability import is_anthropic
from harness.models.litellm_client import LitellmClient
from harness.models.port import Answered, AnsweredEmbedding, CallInfo
from harness.models.replayed import answer_chat, is_unsent
from harness.models.route import UNUSED_KEY, Route, route_of
from harness.models.sendable import check_sendable
from harness.records.faults import ModelError
from harness.records.messages import EmbeddingRequest, ModelRequest, ReplyChunk

_PROVIDERS = frozenset({"api.openai.com", "api.anthropic.com"})
_ENDINGS = ("/chat/completions", "/embeddings", "/v1/messages")


class WirePort:
    """
    Plays one cassette through litellm.

    Args:
        player: May be shared with other ports of the same trial.
        ask_for: The name that the recorded server knows a model by, where it is not our own.

    Raises:
        UsageError: litellm is not installed.
    """

    name = "wire"

    def __init__(self, player: Player, *, ask_for: Mapping[str, str] | None = None) -> None:
        self._player = player
        names = dict(ask_for or {})
        bases = _recorded_bases(player.cassette.interactions)

        def route(model: str) -> Route:
            model = names.get(model, model)
            base = bases.get("anthropic" if is_anthropic(model) else "openai_chat")
            return route_of(model, base_url=base, api_key=UNUSED_KEY)

        def embedding_route(model: str) -> Route:
            # embeddings may have been asked of another server than chats
            return route_of(names.get(model, model), base_url=bases.get("openai_embeddings"), api_key=UNUSED_KEY)

        self._client = LitellmClient(route)
        self._embedder = LitellmClient(embedding_route)

    async def chat(self, request: ModelRequest, call: CallInfo) -> Answered:
        with self._playing(request, call) as played:
            reply = await self._client.chat(request, call, played.tape)
        return Answered(reply=reply, ms=played.ms, replayed=True, ask=played.ask)

    async def stream(self, request: ModelRequest, call: CallInfo) -> AsyncIterator[ReplyChunk | Answered]:
        chunks = 0
        with self._playing(request, call) as played:
            async for piece in self._client.stream(request, call, played.tape):
                if isinstance(piece, ReplyChunk):
                    chunks += 1
                    yield piece
                else:
                    yield Answered(reply=piece, ms=played.ms, chunks=chunks, replayed=True, ask=played.ask)

    async def embed(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        with self._playing(request, call) as played:
            reply = await self._embedder.embed(request, call, played.tape)
        return AnsweredEmbedding(reply=reply, ms=played.ms, replayed=True)

    def chat_sync(self, request: ModelRequest, call: CallInfo) -> Answered:
        with self._playing(request, call) as played:
            reply = self._client.chat_sync(request, call, played.tape)
        return Answered(reply=reply, ms=played.ms, replayed=True, ask=played.ask)

    def stream_sync(self, request: ModelRequest, call: CallInfo) -> Iterator[ReplyChunk | Answered]:
        chunks = 0
        with self._playing(request, call) as played:
            for piece in self._client.stream_sync(request, call, played.tape):
                if isinstance(piece, ReplyChunk):
                    chunks += 1
                    yield piece
                else:
                    yield Answered(reply=piece, ms=played.ms, chunks=chunks, replayed=True, ask=played.ask)

    def embed_sync(self, request: EmbeddingRequest, call: CallInfo) -> AnsweredEmbedding:
        with self._playing(request, call) as played:
            reply = self._embedder.embed_sync(request, call, played.tape)
        return AnsweredEmbedding(reply=reply, ms=played.ms, replayed=True)

    @contextmanager
    def _playing(self, request: ModelRequest | EmbeddingRequest, call: CallInfo) -> Iterator[_Played]:
        """A tape for one call; an error that passes carries the recorded time."""
        if isinstance(request, ModelRequest):
            check_sendable(request)
        played = _Played(self._player)
        try:
            yield played
        except ModelError as error:
            if played.interaction is None:
                # litellm refused to send it, as it did while recording
                recorded = self._player.play(call.ask, call.slot, request)
                if is_unsent(recorded):
                    answer_chat(recorded, request.model)
            error.ms = played.ms
            raise


class _Played:
    """Stands between the tape of one call and the player, and keeps what the player gave."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.interaction: Interaction | None = None
        self.tape = PlayTape(cast("Player", self))

    @property
    def ms(self) -> int:
        return 0 if self.interaction is None else self.interaction.latency_ms

    @property
    def ask(self) -> str:
        return "" if self.interaction is None else self.interaction.ask

    def play_wire(
        self,
        method: str,
        uri: str,
        body: bytes,
        ask: str | None = None,
        slot: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Interaction:
        self.interaction = self._player.play_wire(method, uri, body, ask, slot, headers)
        return self.interaction


def _recorded_bases(interactions: tuple[Interaction, ...]) -> dict[str, str]:
    """The address that requests of each wire format went to, where it was not the provider's own."""
    bases: dict[str, str] = {}
    for interaction in interactions:
        dialect = dialect_of(interaction.uri)
        if dialect is not None and urlsplit(interaction.uri).hostname not in _PROVIDERS:
            base = interaction.uri
            for ending in _ENDINGS:
                base = base.removesuffix(ending)
            bases.setdefault(dialect.name, base)
    return bases
