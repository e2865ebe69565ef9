"""The run folders that hostile tests of pages start from: they are what the product itself reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.records.run import Cell
from harness.records.trace import EVENT_TYPES
from harness.reports.runs import load_run, read_traces

from .hostile import CORPUS, UNWRITABLE
from .hostile_runs import as_answers, as_names, hostile_trace, write_run


def test_every_text_of_the_corpus_comes_back(tmp_path: Path) -> None:
    """What was written as answers and as names is read again, letter by letter."""
    small = {name: text for name, text in CORPUS.items() if len(text) < 5_000}
    trials = [*as_answers(small), *as_names(small)]
    folder = write_run(tmp_path, trials)
    read = load_run(folder)

    assert dict(trials) == {verdict.cell: verdict.answer for verdict in read.results}
    assert all(read_traces(folder, verdict.cell)[0].answer == verdict.answer for verdict in read.results)


def test_every_kind_of_event_is_there() -> None:
    """No event type is left out: what a page draws of each of them has been drawn from a hostile one."""
    assert set(EVENT_TYPES) == {event.type for event in hostile_trace("<b>")}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_half_a_character_reaches_no_file(name: str, tmp_path: Path) -> None:
    """The store refuses what UTF-8 cannot hold; texts like it are tested where Python hands them over."""
    with pytest.raises(UnicodeEncodeError):
        write_run(tmp_path, [(Cell("a", "b", "c", "d"), UNWRITABLE[name])])
