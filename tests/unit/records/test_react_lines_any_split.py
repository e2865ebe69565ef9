"""The news desk's stream on the wire: a client gets the same objects however the bytes are cut."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.react_lines import react_lines
from harness.records.trace import ErrorRaised, EventData, FinalAnswer, Thought, ToolCalled, ToolResult
from harness.testing.builders import make_event

TEXTS = st.text(st.sampled_from('aé–漢😀\n\r"\\\u2028\u2029\x85\x0b\x1c{}'), max_size=12)
STEPS: st.SearchStrategy[EventData] = st.one_of(
    st.builds(Thought, text=TEXTS, source=st.just("react_thought")),
    st.builds(ToolCalled, call_id=st.just("c"), tool=TEXTS, args=st.dictionaries(TEXTS, TEXTS, max_size=2)),
    st.builds(ToolResult, call_id=st.just("c"), tool=TEXTS, ok=st.booleans(), text=TEXTS | TEXTS.map(json.dumps)),
)
ENDINGS: st.SearchStrategy[EventData] = st.builds(FinalAnswer, text=TEXTS) | st.builds(
    ErrorRaised, kind=TEXTS, message=TEXTS
)
EXAMPLE = (
    Thought(text="Preciso contar – já!\u2028😀", source="react_thought"),
    ToolCalled(call_id="c", tool="count_clusters", args={"tag": "Jurídico\x85"}),
    ToolResult(call_id="c", tool="count_clusters", ok=True, text='{"total":8,"nota":"ação"}'),
    FinalAnswer(text="Hoje há **8** notícias.\n\n- irrelevantes 😀\r\n"),
)


def by_bytes(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The objects, as a client reads them that cuts bytes at line feeds."""
    pending = b""
    for piece in pieces:
        *lines, pending = (pending + piece).split(b"\n")
        yield from map(json.loads, lines)
    assert b"" == pending


def by_text(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The objects, as a client reads them that decodes first and cuts at whatever Python takes for a line's end."""
    decoder, pending = codecs.getincrementaldecoder("utf-8")(), ""
    for piece in pieces:
        pending += decoder.decode(piece)
        whole, cut, pending = pending.rpartition("\n")
        yield from map(json.loads, f"{whole}{cut}".splitlines())
    assert "" == pending


READERS = pytest.mark.parametrize("read", [by_bytes, by_text])
Reader = Callable[[Iterable[bytes]], Iterator[Any]]


def wire(steps: Iterable[EventData]) -> bytes:
    """What goes over the wire for a run of *steps*."""
    return "".join(f"{line}\n" for line in react_lines(map(make_event, steps))).encode()


@READERS
def test_every_single_cut(read: Reader) -> None:
    """A run of one lookup, cut in two at each byte in turn, inside of characters too."""
    stream = wire(EXAMPLE)
    objects = [json.loads(line) for line in react_lines(map(make_event, EXAMPLE))]

    assert ["thought", "action", "observation", "final_answer"] == [one["type"] for one in objects]
    assert [] == [n for n in range(len(stream) + 1) if list(read([stream[:n], stream[n:]])) != objects]


@READERS
@given(steps=st.lists(STEPS, max_size=6), ending=ENDINGS, data=st.data())
def test_cuts_anywhere(read: Reader, steps: list[EventData], ending: EventData, data: st.DataObject) -> None:
    """Any run, cut at every byte at once or anywhere: one object for each line, and the last one ends it."""
    stream = wire([*steps, ending])
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=12)))
    anywhere = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    objects = [json.loads(line) for line in react_lines(map(make_event, [*steps, ending]))]

    assert len(steps) + 1 == len(objects)
    assert objects == list(read(anywhere)) == list(read(stream[n : n + 1] for n in range(len(stream))))
    assert objects[-1]["type"] in ("final_answer", "error")
