"""Streams of both wire formats, cut at every byte: the same chunks, the same reply and the same failure come out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes.file import load
from harness.dialects import ANTHROPIC, OPENAI_CHAT, ChatDialect, dialect_of
from harness.dialects.sse import looks_like_sse
from harness.records.faults import ModelError
from harness.records.messages import ModelReply, ReplyChunk, ThinkingBlock, ToolCall, Usage

DIALECTS = pytest.mark.parametrize("dialect", [OPENAI_CHAT, ANTHROPIC], ids=["openai", "anthropic"])
CASSETTES = Path(__file__).parents[3] / "cassettes"
WORDS = st.text(st.sampled_from('aé–漢😀 \n"\\\u2028\x85'), max_size=12)
THOUGHTS = (
    ThinkingBlock("thinking", "Ich überlege … 漢字 😀", "c2lnbmF0dXJl"),
    ThinkingBlock("redacted", data="b3BhcXVl"),
    ThinkingBlock("thinking", "Zweiter Gedanke\u2028\n", "c2lnMg=="),
)
ASKED = ToolCall("call-1", "write_note", '{"text": "Grüße 👋"}', {"text": "Grüße 👋"})
Read = tuple[tuple[ReplyChunk, ...], ModelReply | tuple[str, str], tuple[str, ...]]


def read(dialect: ChatDialect, pieces: Iterable[bytes]) -> Read:
    """Chunks, reply or failure, and what was unknown, of a stream that comes in *pieces*."""
    decoder = dialect.stream_decoder(asked_model="asked")
    chunks = tuple([chunk for piece in pieces for chunk in decoder.feed(piece)])
    try:
        ending: ModelReply | tuple[str, str] = decoder.finish()
    except ModelError as failure:
        ending = (failure.kind, failure.message)
    return chunks, ending, tuple(decoder.unknown)


def by_byte(stream: bytes) -> Iterator[bytes]:
    """*stream*, cut at every byte at once."""
    return (stream[n : n + 1] for n in range(len(stream)))


def inside_characters(stream: bytes) -> Iterator[bytes]:
    """*stream*, cut before each byte that goes on with a character."""
    cuts = [n for n, byte in enumerate(stream) if byte & 0xC0 == 0x80]
    return (stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True))


def said(dialect: ChatDialect, text: str, *, calls: tuple[ToolCall, ...] = ()) -> ModelReply:
    """A reply with everything that *dialect* can carry."""
    thinking = THOUGHTS if dialect is ANTHROPIC else (ThinkingBlock("thinking", "Ich überlege … 漢字 😀"),)
    reply = ModelReply(text=text, thinking=thinking, usage=Usage(3, 4), model="m")
    return msgspec.structs.replace(reply, tool_calls=calls, finish_reason="tool_calls") if calls else reply


def wire(dialect: ChatDialect, reply: ModelReply, ending: str = "\n") -> bytes:
    """*reply* as it is streamed, character by character, in UTF-8, with that line *ending*."""
    stream = b"".join(dialect.encode_stream(reply, id="id", created=1, text_pieces=list(reply.text)))
    lines = [plain(line) for line in stream.decode().split("\n")]
    return ending.join(lines).encode()


def plain(line: str) -> str:
    """A line of a stream with its characters unescaped, so that there is something to cut in two."""
    head, colon, value = line.partition("data: ")
    if not colon or not value.startswith("{"):
        return line
    return f"{head}{colon}{json.dumps(json.loads(value), ensure_ascii=False)}"


@DIALECTS
@pytest.mark.parametrize("calls", [(), (ASKED,)], ids=["text", "call"])
def test_every_single_cut(dialect: ChatDialect, calls: tuple[ToolCall, ...]) -> None:
    """A reply with thinking, text and a call, cut in two at each byte in turn."""
    reply = said(dialect, "Grüß 😀", calls=calls)
    stream = wire(dialect, reply)
    whole = read(dialect, [stream])

    assert reply == whole[1]
    assert [] == [n for n in range(len(stream)) if read(dialect, [stream[:n], stream[n:]]) != whole]


@DIALECTS
@given(text=WORDS, ending=st.sampled_from(["\n", "\r\n", "\r"]), data=st.data())
def test_all_cuts_at_once(dialect: ChatDialect, text: str, ending: str, data: st.DataObject) -> None:
    """Byte by byte, inside of each character, anywhere, and broken off anywhere: what comes out is the same."""
    stream = wire(dialect, said(dialect, text), ending)
    stream = stream[: data.draw(st.just(len(stream)) | st.integers(0, len(stream)))]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=12)))
    anywhere = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    whole = read(dialect, [stream])

    assert whole == read(dialect, by_byte(stream))
    assert whole == read(dialect, inside_characters(stream))
    assert whole == read(dialect, anywhere)


def test_every_recorded_stream() -> None:
    """The streams of this repository's cassettes, byte by byte and inside of each character."""
    found = {
        (item.uri, item.response_body)
        for path in sorted(CASSETTES.rglob("*.yaml"))
        for item in load(path).interactions
        if item.status < 400 and looks_like_sse(item.response_body.encode())
    }
    differing = []
    for uri, body in sorted(found):
        dialect, stream = dialect_of(uri), body.encode()
        assert dialect is OPENAI_CHAT or dialect is ANTHROPIC, uri
        whole = read(dialect, [stream])
        if whole != read(dialect, by_byte(stream)) or whole != read(dialect, inside_characters(stream)):
            differing.append((uri, body[:200]))

    assert [] == differing
    assert found
