"""Server-sent events, cut anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.sse import SseEvent, SseReader, encode_event, looks_like_sse


def read(*pieces: bytes) -> list[SseEvent]:
    """All events of a stream that comes in *pieces*."""
    reader = SseReader()
    return [event for piece in pieces for event in reader.feed(piece)] + reader.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", [("", b"a")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"event: ping\ndata: {}\n\n", [("ping", b"{}")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
        (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b": comment\n\nid: 1\nretry: 5\ndata: a\n\n", [("", b"a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
        (b"event: lonely\n\ndata: a\n\n", [("", b"a")]),
        (b"data: a\n\ndata: b", [("", b"a"), ("", b"b")]),
        (b"data\n\n", [("", b"")]),
        (b"data: {}\ndata: {}\ndata: [DONE]\n", [("", b"{}"), ("", b"{}"), ("", b"[DONE]")]),
        (b'data: {"a":\ndata: {"b": 1},\ndata: "c": 2}\n\n', [("", b'{"a":\n{"b": 1},\n"c": 2}')]),
        (b"", []),
    ],
)
def test_events_are_read(stream: bytes, events: list[SseEvent]) -> None:
    """Names, data over several lines, comments, all line ends, and streams that lost their blank lines."""
    assert events == read(stream)


@given(
    st.lists(st.sampled_from([b"data: \xc3\xa9", b"event: x", b"\n", b"\r\n", b"\r", b"", b": c", b"data:1"])),
    st.data(),
)
def test_borders_between_pieces_do_not_matter(parts: list[bytes], data: st.DataObject) -> None:
    """However a stream is cut, the same events come out."""
    stream = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert read(stream) == read(*pieces)


@pytest.mark.parametrize("pieces", [[b"data: a\r\rd"], [b"data: a\r\r", b"d"], [b"data: a\r", b"\r", b"d"]])
def test_an_event_does_not_wait_for_the_next_line(pieces: list[bytes]) -> None:
    """A carriage return that ends a piece ends a line as soon as anything but a line feed follows."""
    reader = SseReader()

    assert [("", b"a")] == [event for piece in pieces for event in reader.feed(piece)]


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"])), st.sampled_from(["", "message_start"]))
def test_written_events_are_read_back(text: str, name: str) -> None:
    """An event that was written is the event that is read."""
    assert [(name, text.encode())] == read(encode_event(text.encode(), name))


@pytest.mark.parametrize(
    "start", [b"data: {", b"event: x", b": hello", b"\n\ndata: x", b"\xef\xbb\xbfdata: x", b"id: 1"]
)
def test_streams_are_known_by_their_start(start: bytes) -> None:
    """Recordings lose the content type; the first line tells."""
    assert looks_like_sse(start)


@pytest.mark.parametrize("start", [b"", b"{}", b"[]", b"<html>", b"dataset", b"null"])
def test_other_bodies_are_no_streams(start: bytes) -> None:
    """JSON, pages and nothing are no streams."""
    assert not looks_like_sse(start)
