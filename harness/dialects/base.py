"""What a dialect is: one provider's wire format, read and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

from harness.dialects.body import MAX_BODY_BYTES, well_formed
from harness.dialects.sse import SseEvent, SseReader
from harness.records.faults import ErrorKind, ModelError
from harness.records.messages import EmbeddingReply, EmbeddingRequest, ModelReply, ModelRequest, ReplyChunk

Channel = Literal["text", "thinking", "tool_args"]

MAX_UNKNOWN = 50
"""At most this many unknown names are listed for one body."""
MAX_NAME_CHARS = 80
"""Of an unknown name only this much is kept."""
MAX_TOOL_CALLS = 512
"""A reply with more tool calls than this is refused."""


class StreamDecoder(ABC):
    """
    Reads one streamed reply, piece by piece.

    `feed` never raises: what it could read before a failure is returned, and `finish` raises the failure.
    """

    def __init__(self, asked_model: str) -> None:
        self.unknown: list[str] = []
        """Event types and fields that this decoder does not know, each once; litellm may read more from them."""
        self.model = asked_model
        self._failure: ModelError | None = None
        self._reader = SseReader()
        self._halves: dict[tuple[str, int], str] = {}
        self._bytes = 0

    def feed(self, piece: bytes) -> list[ReplyChunk]:
        """Take the next bytes of the body and return the chunks that they complete."""
        self._bytes += len(piece)
        if self._bytes > MAX_BODY_BYTES:
            self._fail(ModelError("bad_reply", f"the stream is longer than {MAX_BODY_BYTES} bytes"))
        return self._read(self._reader.feed(piece))

    def finish(self) -> ModelReply:
        """
        Return the whole reply after the last bytes.

        Raises:
            ModelError: The stream carried an error, was cut (`broken_stream`), or held nonsense (`bad_reply`).
        """
        whole = self._failure is None
        self._read(self._reader.close())
        if self._failure is not None:
            if whole and self._failure.kind == "bad_reply":
                raise ModelError("broken_stream", "the stream ended in the middle of an event")
            raise self._failure
        if not self._complete():
            raise ModelError("broken_stream", "the stream ended before the reply was complete")
        return self._reply()

    def _read(self, events: list[SseEvent]) -> list[ReplyChunk]:
        chunks: list[ReplyChunk] = []
        for event in events:
            if self._failure is not None:
                break
            try:
                self._on_event(event, chunks)
            except ModelError as failure:
                self._fail(failure)
        return chunks

    def _emit(self, channel: Channel, text: str, chunks: list[ReplyChunk], index: int = 0) -> str:
        """Add a chunk and return its text; half a character waits for its other half, which comes with the next one."""
        if not text.isascii() or (self._halves and (channel, index) in self._halves):
            text = self._halves.pop((channel, index), "") + text
            if "\ud800" <= text[-1] <= "\udbff":
                self._halves[channel, index] = text[-1]
                text = text[:-1]
            text = well_formed(text)
        if text:
            chunks.append(ReplyChunk(channel, text, index))
        return text

    def _fail(self, failure: ModelError) -> None:
        if self._failure is None:
            self._failure = failure

    def _note_unknown(self, name: str) -> None:
        name = well_formed(name[:MAX_NAME_CHARS])
        if len(self.unknown) < MAX_UNKNOWN and name not in self.unknown:
            self.unknown.append(name)

    @abstractmethod
    def _on_event(self, event: SseEvent, chunks: list[ReplyChunk]) -> None: ...

    @abstractmethod
    def _complete(self) -> bool: ...

    @abstractmethod
    def _reply(self) -> ModelReply: ...


class DecodedStream:
    """
    A streamed reply read at once: iterate over the chunks, then take `reply`.

    *unknown* lists event types and fields that the decoder does not know.
    """

    def __init__(self, chunks: Sequence[ReplyChunk], ending: ModelReply | ModelError, unknown: Sequence[str]) -> None:
        self.chunks = tuple(chunks)
        self.unknown = tuple(unknown)
        self._ending = ending

    def __iter__(self) -> Iterator[ReplyChunk]:
        return iter(self.chunks)

    @property
    def reply(self) -> ModelReply:
        """
        The whole reply.

        Raises:
            ModelError: The stream failed after its chunks.
        """
        if isinstance(self._ending, ModelError):
            raise self._ending
        return self._ending


class ChatDialect(Protocol):
    """A provider's chat format."""

    name: Literal["openai_chat", "anthropic"]

    def decode_request(self, body: bytes, headers: Mapping[str, str] | None = None) -> ModelRequest:
        """
        Read a request as the provider would; of *headers* only those count that ask for something.

        Raises:
            BadFileError: *body* is no request of this format (code `bad-interaction`).
        """
        ...

    def decode_reply(
        self, status: int, headers: Mapping[str, str], body: bytes, *, asked_model: str = ""
    ) -> ModelReply:
        """
        Read a response, whole or streamed; *asked_model* names the model where the response does not.

        Raises:
            ModelError: The response is an error, cut, or nonsense.
        """
        ...

    def decode_stream(
        self, status: int, headers: Mapping[str, str], body: bytes, *, asked_model: str = ""
    ) -> DecodedStream:
        """
        Read a response to a streaming request into chunks and a reply; a response that is not a stream is one chunk.

        Raises:
            ModelError: The status is an error; failures inside the stream are raised by `DecodedStream.reply`.
        """
        ...

    def stream_decoder(self, *, asked_model: str = "") -> StreamDecoder:
        """Start reading a streamed reply as it arrives."""
        ...

    def unknown(self, headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
        """List what stands in a response that this dialect does not know, so that it can be read in another way."""
        ...

    def encode_reply(self, reply: ModelReply, *, id: str, created: int) -> bytes:
        """Write *reply* as the provider's JSON body; *created* is in seconds since 1970."""
        ...

    def encode_stream(
        self, reply: ModelReply, *, id: str, created: int, text_pieces: Sequence[str] | None = None
    ) -> list[bytes]:
        """Write *reply* as the provider's events, the text cut as *text_pieces* says (together they are the text)."""
        ...

    def encode_error(self, status: int, kind: ErrorKind, message: str) -> bytes:
        """Write an error body as the provider does."""
        ...


class EmbeddingDialect(Protocol):
    """A provider's embedding format."""

    name: Literal["openai_embeddings"]

    def decode_request(self, body: bytes, headers: Mapping[str, str] | None = None) -> EmbeddingRequest:
        """
        Read a request; no header counts.

        Raises:
            BadFileError: *body* is no request of this format (code `bad-interaction`).
        """
        ...

    def decode_reply(
        self, status: int, headers: Mapping[str, str], body: bytes, *, asked_model: str = ""
    ) -> EmbeddingReply:
        """
        Read a response.

        Raises:
            ModelError: The response is an error or nonsense.
        """
        ...

    def unknown(self, headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
        """List what stands in a response that this dialect does not know."""
        ...

    def encode_reply(self, reply: EmbeddingReply, *, id: str, created: int) -> bytes:
        """Write *reply* as the provider's JSON body; embeddings carry no id or time, so both are ignored."""
        ...

    def encode_error(self, status: int, kind: ErrorKind, message: str) -> bytes:
        """Write an error body as the provider does."""
        ...


Dialect = ChatDialect | EmbeddingDialect
