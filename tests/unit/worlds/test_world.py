"""Worlds: a copy for each trial, and changes that are read from the store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import BadFileError, UsageError
from harness.records.trace import Effect
from harness.worlds import World, WorldTemplate, find_world, load_world

ROOT = Path(__file__).parents[3]
keys = st.integers(1, 6)
writes = st.lists(
    st.tuples(st.just("insert"), keys, st.integers(0, 3))
    | st.tuples(st.just("update"), keys, st.integers(0, 3))
    | st.tuples(st.just("delete"), keys, st.just(0)),
    max_size=12,
)


@pytest.fixture(scope="module")
def template(tmp_path_factory, make_world):
    return load_world(make_world(tmp_path_factory.mktemp("world")))


def do(world: World, write: tuple[str, int, int]) -> tuple[Effect, ...]:
    """Do one random write as a tool would, and report what it reports; nothing where it does not apply."""
    kind, key, n = write
    there = world.row("things", key) is not None
    if kind == "insert":
        return () if there else (world.insert("things", id=key, name="new", n=n),)
    if kind == "update":
        return world.update("things", key, n=n) if there else ()
    return world.delete("things", key)


def played(template: WorldTemplate, effects: Iterable[Effect]) -> dict[tuple[str, str], dict]:
    """The rows of the beginning with *effects* done to them, one after the other, each from where it says it starts."""
    rows = {(table, str(key)): dict(row) for table, of in template.dump.items() for key, row in of.items()}
    for effect in effects:
        at = (effect.kind, effect.key)
        row = rows.pop(at, None)
        assert (row is None) == (effect.before is None)
        assert (effect.before or {}).items() <= (row or {}).items()
        if effect.after is not None:
            rows[at] = {**(row or {}), **effect.after}
    return rows


def now(world: World) -> dict[tuple[str, str], dict]:
    """The rows as they are."""
    return {
        (table, str(row["id"])): row for table in ("things", "notes") for row in world.rows(f"SELECT * FROM {table}")
    }


@given(writes)
def test_changes_in_the_store_are_those_that_tools_report(template, steps):
    """The law: from the beginning, what tools report and what the store shows as changed lead to the same rows."""
    world = template.open()
    reported = [effect for step in steps for effect in do(world, step)]

    assert now(world) == played(template, reported)
    assert now(world) == played(template, world.diff())
    assert len(world.diff()) == len({(effect.kind, effect.key) for effect in world.diff()})


@given(writes, writes)
def test_two_worlds_never_see_each_others_writes(template, first, second):
    """A trial's rows are the same whether another trial writes at the same time or not."""
    alone = template.open()
    for step in first:
        do(alone, step)
    one, two = template.open(), template.open()
    for number in range(max(len(first), len(second))):
        for world, steps in ((one, first), (two, second)):
            if number < len(steps):
                do(world, steps[number])

    assert alone.diff() == one.diff()
    assert alone.store_digest() == one.store_digest()
    assert template.store_digest == template.open().store_digest()


@given(writes)
def test_digest_changes_exactly_when_the_store_does(template, steps):
    """The digest is that of the beginning if and only if nothing differs from it."""
    world = template.open()
    for step in steps:
        do(world, step)

    assert (world.store_digest() == template.store_digest) == (world.diff() == ())


def test_change_that_no_tool_reports_is_found(template):
    """The store is asked, not the tool: a write behind everybody's back stands in the diff."""
    world = template.open()
    world.execute("UPDATE things SET n = 9 WHERE id = 1")

    assert (Effect("things", "1", {"n": 2}, {"n": 9}),) == world.diff()


def test_reading_costs_no_copy(template):
    """A world that is only read shares the template's rows and keeps its digest."""
    world = template.open()
    world.rows("SELECT * FROM things")
    world.row("things", 1)

    assert world._own is None
    assert template.store_digest == world.store_digest()
    assert () == world.diff()


def test_closed_world_reads_as_at_its_start(template):
    """Closing gives the copy back; closing twice is no error."""
    world = template.open()
    world.delete("things", 1)
    world.close()
    world.close()

    assert () == world.diff()


def test_world_tells_its_clock_user_and_settings(template):
    """What `world.yaml` states comes with every trial's world."""
    world = template.open(trial_seed=7)

    assert ("drawer", "2026-01-02T03:04:05+00:00", "2026-01-02", "kim", 7) == (
        world.name,
        world.now,
        world.today,
        world.user,
        world.seed,
    )
    assert {"size": 3} == world.settings


def test_tools_are_built_on_the_trials_own_world(template):
    """A tool reads the rows of the trial that it was built for."""
    one, two = template.open(), template.open()
    one.delete("things", 1)

    assert (1, 2) == (one.tools[0](), two.tools[0]())


def test_variant_lacks_its_rows(tmp_path, make_world):
    """A variant is the same world without some rows, under a name and a digest of its own."""
    make_world(tmp_path)
    whole = find_world(tmp_path / "goldensets", "drawer")
    variant = find_world(tmp_path / "goldensets", "drawer/without-pen")

    assert "drawer/without-pen" == variant.name
    assert ["cup"] == [row["name"] for row in variant.open().rows("SELECT name FROM things")]
    assert whole.store_digest != variant.store_digest


def test_trials_in_threads_keep_to_themselves(template):
    """Worlds of one template are used from many threads at once, each seeing its own rows."""

    def trial(number: int) -> tuple[Effect, ...]:
        world = template.open(number)
        world.rows("SELECT * FROM things")
        world.update("things", 1, n=100 + number)
        return world.diff()

    with ThreadPoolExecutor(8) as pool:
        diffs = list(pool.map(trial, range(64)))

    assert [(Effect("things", "1", {"n": 2}, {"n": 100 + n}),) for n in range(64)] == diffs


def test_empty_world_is_always_there(tmp_path):
    """A case that names no world has one without tools and rows."""
    template = find_world(tmp_path / "goldensets", "empty")
    world = template.open()

    assert ((), "", "2026-01-01") == (world.tools, world.user, world.today)
    assert template.store.digest() == world.store_digest()
    assert () == world.diff()


def test_unknown_worlds_and_variants_are_told(tmp_path, make_world):
    """Both name what there is."""
    make_world(tmp_path)
    goldensets = tmp_path / "goldensets"
    with pytest.raises(UsageError) as world:
        find_world(goldensets, "attic")
    with pytest.raises(BadFileError) as variant:
        find_world(goldensets, "drawer/without-cup")

    assert "error[unknown-world]: no world named `attic`\n\nhint: there are: drawer" == str(world.value)
    assert (
        "error[unknown-world]: goldensets/worlds/drawer/world.yaml:16: no variant `without-cup`\n\n"
        "hint: there are: without-pen"
    ) == str(variant.value)


def test_trial_that_never_reads_opens_no_database():
    """Opening the compiled newsroom and building its tools imports neither sqlite3 nor yaml."""
    cache = ROOT / ".cache" / "worlds"
    find_world(ROOT / "goldensets", "newsroom", cache=cache)
    script = (
        "import sys\nfrom pathlib import Path\nfrom harness.worlds import find_world\n"
        f"world = find_world(Path('goldensets').resolve(), 'newsroom', cache=Path({str(cache)!r})).open()\n"
        "world.tools, world.store_digest(), world.diff()\n"
        "print([name for name in ('yaml', 'pydantic', 'sqlite3') if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip

    assert "[]\n" == ran.stdout
