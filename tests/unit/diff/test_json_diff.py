"""Where two JSON values differ."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given

from harness.diff.json_diff import json_diff, patched
from harness.records.digest import canonical_json
from harness.records.trajectory import Change, Words

from .strategies import json_values


@given(json_values, json_values)
def test_the_changes_lead_from_one_to_the_other(before, after):
    """And leave the first value as it was."""
    kept = copy.deepcopy(before)

    assert canonical_json(after) == canonical_json(patched(before, json_diff(before, after)))
    assert canonical_json(kept) == canonical_json(before)


@given(json_values)
def test_a_value_does_not_differ_from_itself(value):
    """No change at all."""
    assert json_diff(value, copy.deepcopy(value)) == ()


@given(json_values, json_values)
def test_the_other_way_round_adds_are_removes(before, after):
    """The same places, seen from the other side."""
    turned = {"add": "remove", "remove": "add", "change": "change"}
    there = {(change.path, change.kind) for change in json_diff(before, after)}

    assert there == {(change.path, turned[change.kind]) for change in json_diff(after, before)}


@pytest.mark.parametrize(("before", "after"), [(1, True), (1, 1.0), (0, False), (None, False), ("1", 1)])
def test_values_that_python_takes_for_equal_are_not(before, after):
    """JSON tells them apart, and so does a tool."""
    assert json_diff(before, after) == (Change(path=(), kind="change", before=before, after=after),)


def test_each_argument_is_named_by_its_path():
    """In objects by key, in lists by position; an item that came in the middle moves no other."""
    before = {"city": "Berlin", "days": [1, 2, 3], "unit": "C"}
    after = {"city": "Bern", "days": [1, 9, 2, 3], "lang": "de"}

    assert json_diff(before, after) == (
        Change(path=("city",), kind="change", before="Berlin", after="Bern"),
        Change(path=("days", 1), kind="add", after=9),
        Change(path=("unit",), kind="remove", before="C"),
        Change(path=("lang",), kind="add", after="de"),
    )


def test_long_texts_are_compared_by_words_too():
    """A short one is told whole."""
    text = "the quick brown fox jumps over the lazy dog and then over the next one "

    (change,) = json_diff({"q": text + "once"}, {"q": text + "twice"})
    assert change.words == (Words("same", text), Words("gone", "once"), Words("come", "twice"))


def test_a_value_that_is_nested_without_end_is_one_change():
    """What differs far below is told as one change, not by a crash."""
    before, after = "x", "y"
    for _ in range(200):
        before, after = [before], [after]

    changes = json_diff(before, after)
    assert [(change.kind, len(change.path)) for change in changes] == [("change", 40)]
    assert after == patched(before, changes)
