"""The store: what changed is read from the rows."""

from __future__ import annotations

import sqlite3

import pytest

from harness.records.trace import Effect
from harness.worlds.store import Store, change, changes
from harness.worlds.world_file import Table

TABLES = {"pets": Table("id", ("id", "name", "age"), ((1, "Rex", 3), (2, "Mia", None)))}


def test_template_refuses_writes():
    """The rows that all trials share cannot be changed by accident."""
    store = Store.filled(TABLES)

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.rows("UPDATE pets SET age = 4")


def test_copies_do_not_see_each_other():
    """A write in one copy is in no other copy, nor in the template."""
    store = Store.filled(TABLES)
    one, two = store.copy(), store.copy()
    one.rows("DELETE FROM pets WHERE id = 1")

    assert [1, 2, 2] == [len(each.rows("SELECT * FROM pets")) for each in (one, two, store)]


def test_digest_names_the_rows_not_their_history():
    """A change that is taken back leaves the digest as it was."""
    store = Store.filled(TABLES)
    copy = store.copy()
    copy.rows("UPDATE pets SET age = 4 WHERE id = 1")
    changed = copy.digest()
    copy.rows("UPDATE pets SET age = 3 WHERE id = 1")

    assert store.digest() == copy.digest()
    assert store.digest() != changed


def test_changes_name_each_row_once():
    """A changed row gives its changed columns, a new or removed one the whole row."""
    store = Store.filled(TABLES)
    copy = store.copy()
    copy.rows("UPDATE pets SET age = 4 WHERE id = 1")
    copy.rows("DELETE FROM pets WHERE id = 2")
    copy.rows("INSERT INTO pets VALUES (3, 'Bo', 1)")

    assert (
        Effect("pets", "1", {"age": 3}, {"age": 4}),
        Effect("pets", "2", {"id": 2, "name": "Mia", "age": None}, None),
        Effect("pets", "3", None, {"id": 3, "name": "Bo", "age": 1}),
    ) == changes(store.dump(), copy.dump())


def test_equal_rows_are_no_change():
    """Writing what was there already changes nothing."""
    assert change("pets", 1, {"age": 3}, {"age": 3}) is None


def test_unknown_row_is_none():
    """A key that no row has gives None."""
    assert Store.filled(TABLES).row("pets", 9) is None
