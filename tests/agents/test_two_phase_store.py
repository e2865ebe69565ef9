"""The Guardian's store: what is saved is there again, what is reported is what was stored, nothing is half done."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worlds.store import changes

from .guardian import part

store_module = part("store")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    """An empty store of vera's."""
    made = store_module.Store(tmp_path / "vera.sqlite", "vera")
    yield made
    made.close()


def test_what_is_saved_is_there_again(tmp_path: Path) -> None:
    """Profile, feelings, diary and insights outlive the program that stored them."""
    first = store_module.Store(tmp_path / "vera.sqlite", "vera")
    first.set_fields({"city": "Kazan", "likes": ["tea"]})
    first.add_feeling("2026-03-09", "Calm", "a walk")
    first.add_diary_entry("2026-03-09", "It's Anna's birthday", "Happy")
    first.add_insight("2026-03-09", "She misses her sister.")
    first.close()
    again = store_module.Store(tmp_path / "vera.sqlite", "vera")

    assert {"city": "Kazan", "feeling": "Calm", "likes": ["tea"]} == again.profile()
    assert [{"id": 1, "date": "2026-03-09", "feeling": "Calm", "context": "a walk"}] == again.feelings()
    assert [{"id": 1, "date": "2026-03-09", "content": "It's Anna's birthday", "mood": "Happy"}] == again.diary()
    assert [{"id": 1, "date": "2026-03-09", "insight": "She misses her sister."}] == again.insights()
    again.close()


def test_summary(store: Any) -> None:
    """The summary has the profile, and how much there is of everything else."""
    store.set_fields({"city": "Perm"})
    store.add_feeling("2026-03-09", "Sad")
    store.add_feeling("2026-03-10", "Glad")

    assert {
        "username": "vera", "profile": {"city": "Perm", "feeling": "Glad"}, "feelings": 2, "diary": 0, "insights": 0
    } == store.summary()  # fmt: skip


def test_a_field_that_is_so_already_changes_nothing(store: Any) -> None:
    """Setting a field says what it was and what it is; setting it again says nothing."""
    [new] = store.set_fields({"city": "Kazan"})
    [changed] = store.set_fields({"city": "Perm"})

    assert ("profile", "vera/city", None, {"value": "Kazan"}) == (new.kind, new.key, new.before, new.after)
    assert ({"value": "Kazan"}, {"value": "Perm"}) == (changed.before, changed.after)
    assert () == store.set_fields({"city": "Perm"})


def test_nothing_is_half_done(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one part of a change fails, no part of it is stored."""
    monkeypatch.setattr(store, "_set", lambda *_: (_ for _ in ()).throw(sqlite3.OperationalError("disk full")))

    with pytest.raises(sqlite3.OperationalError):
        store.add_feeling("2026-03-10", "Happy")
    assert [] == store.feelings()


def test_a_full_store_stores_nothing(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the most entries nothing is stored, and nothing is reported."""
    monkeypatch.setattr(store_module, "MOST_ENTRIES", 1)
    store.add_feeling("2026-03-09", "Sad")

    assert () == store.add_feeling("2026-03-10", "Happy")
    assert () == store.set_fields({"city": "Perm"})
    assert {"feeling": "Sad"} == store.profile()


def test_search_takes_every_word_in_any_case(store: Any) -> None:
    """A row is found where it holds all words, Cyrillic capitals included; no word finds nothing."""
    store.set_fields({"likes": ["Чай", "прогулки"]})
    store.add_diary_entry("2026-03-09", "Экзамен в четверг")
    store.add_insight("2026-03-09", "Экзамен её пугает")

    assert ["diary", "insights"] == [found["where"] for found in store.search("экзамен")]
    assert ["insights"] == [found["where"] for found in store.search("ПУГАЕТ экзамен")]
    assert [{"where": "profile", "field": "likes", "value": ["Чай", "прогулки"]}] == store.search("чай")
    assert [] == store.search("  ")


@given(st.text(max_size=60), st.text(max_size=60))
def test_text_is_data(text: str, other: str) -> None:
    """Whatever a text holds, it is stored and found as it is, and touches nothing else."""
    made = store_module.Store(":memory:", "vera")
    text, other = text.encode("utf-8", "ignore").decode(), other.encode("utf-8", "ignore").decode()
    made.add_diary_entry("2026-03-09", text, other)
    made.set_fields({text: other})

    assert [(text, other)] == [(row["content"], row["mood"]) for row in made.diary()]
    assert {text: other} == made.profile()
    made.close()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set_fields"), st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=2)),
        st.tuples(st.just("add_feeling"), st.just("2026-03-10"), st.sampled_from(["Sad", "Happy"])),
        st.tuples(st.just("add_diary_entry"), st.just("2026-03-10"), st.sampled_from(["x", "y"])),
        st.tuples(st.just("add_insight"), st.just("2026-03-10"), st.sampled_from(["x", "y"])),
    ),
    max_size=6,
)


@given(STEPS)
def test_reported_changes_are_those_of_the_dumps(steps: list[tuple[Any, ...]]) -> None:
    """What each write reports is the difference of the dumps before and after it."""
    made = store_module.Store(":memory:", "vera")
    for name, *arguments in steps:
        before = made.dump()
        reported = getattr(made, name)(*arguments)
        assert list(changes(before, made.dump())) == sorted(reported, key=lambda effect: (effect.kind, effect.key))
    made.close()
