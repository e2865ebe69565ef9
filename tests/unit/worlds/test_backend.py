"""Worlds whose rows live in a store of their own: opened late, compared by the harness, closed with the trial."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import BadFileError, CouldNotCheckError
from harness.records.trace import Effect
from harness.worlds import find_world, load_world

ROOT = Path(__file__).parents[3]
TOOLS = """
import copy
from harness.records.tool import tool

class Part:
    def __init__(self, rows):
        self.rows = copy.deepcopy(rows)
        self.closed = False
    def dump(self):
        return self.rows
    def close(self):
        self.closed = True

class Shelf:
    def __init__(self, template):
        self.rows = {"shelf": {1: {"id": 1, "n": template.settings["size"]}}}
        self.opened = []
        self.closed = 0
    def dump(self):
        return self.rows
    def open(self):
        self.opened.append(Part(self.rows))
        return self.opened[-1]
    def close(self):
        self.closed += 1
        print("shelf closed", flush=True)

def backend(template):
    return Shelf(template)

def build(world):
    @tool(effect="write")
    def fill(n: int) -> int:
        '''Put things on the shelf.'''
        world.store.rows["shelf"][1]["n"] = n
        return n
    return [fill]
"""
FILLED = Effect("shelf", "1", {"n": 3}, {"n": 9})


@pytest.fixture
def template(tmp_path, make_world):
    template = load_world(make_world(tmp_path, tools=TOOLS))
    yield template
    template.close()


def test_store_that_nobody_uses_is_not_opened(template):
    """Digest and changes of an untouched world are free: not even the backend is made."""
    world = template.open()
    _ = world.tools

    assert (template.store_digest, ()) == (world.store_digest(), world.diff())
    assert template._backend is None


def test_changes_are_read_from_the_store(template):
    """What a tool did to the trial's own store stands in its diff and in its digest, and in no other trial's."""
    world, other = template.open(), template.open()
    world.tools[0](9)
    _ = other.store

    assert ((FILLED,), ()) == (world.diff(), other.diff())
    assert template.store_digest == other.store_digest()
    assert template.store_digest != world.store_digest()


def test_digest_names_the_rows_and_not_their_history(template):
    """A change that is taken back leaves the digest of the start; equal changes give equal digests."""
    worlds = [template.open() for _ in range(2)]
    for world in worlds:
        world.tools[0](9)
    assert worlds[0].store_digest() == worlds[1].store_digest()

    worlds[0].tools[0](3)

    assert template.store_digest == worlds[0].store_digest()


def test_rows_of_both_kinds_are_compared(template):
    """A world may write to its tables and to its store: the diff holds both, sorted."""
    world = template.open()
    world.tools[0](9)
    world.update("things", 1, n=5)
    world.delete("notes", "a")

    assert [("notes", "a"), ("shelf", "1"), ("things", "1")] == [(each.kind, each.key) for each in world.diff()]


def test_closing_a_world_gives_its_store_back(template):
    """The trial's store is closed once, and the world reads as at its start afterwards."""
    world = template.open()
    world.tools[0](9)
    part = world.store
    world.close()
    world.close()

    assert part.closed
    assert (template.store_digest, ()) == (world.store_digest(), world.diff())
    assert 3 == world.store.rows["shelf"][1]["n"]


def test_trials_at_once_share_one_backend(template):
    """However many threads ask first, the backend is made once, and each trial sees its own rows."""

    def trial(number: int) -> tuple[Effect, ...]:
        world = template.open(number)
        world.tools[0](100 + number)
        return world.diff()

    with ThreadPoolExecutor(8) as pool:
        diffs = list(pool.map(trial, range(32)))

    assert [(Effect("shelf", "1", {"n": 3}, {"n": 100 + n}),) for n in range(32)] == diffs
    assert 32 == len(template.backend.opened)


def test_template_closes_its_backend_once(template):
    """Closing twice is one close; the next use makes another backend."""
    first = template.backend
    template.close()
    template.close()

    assert (1, True) == (first.closed, template.backend is not first)


def test_backend_is_closed_when_the_process_ends(tmp_path, make_world):
    """Whoever forgets to close leaves no server behind."""
    make_world(tmp_path, tools=TOOLS)
    script = (
        "import sys\nfrom pathlib import Path\nfrom harness.worlds import find_world\n"
        "find_world(Path('goldensets').resolve(), 'drawer').open().store\nprint('end of program', flush=True)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip

    assert "end of program\nshelf closed\n" == ran.stdout


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("", "`drawer` has no function backend(template), so no store"),
        ("def backend(template):\n    return 7\n", "backend(template) gives no backend but a int"),
        ("def backend(template):\n    raise OSError('no space')\n", "backend(template) fails: OSError: no space"),
    ],
)
def test_backend_that_cannot_be_used_is_told(tmp_path, make_world, tools, said):
    """The message names the world's tools.py."""
    template = load_world(make_world(tmp_path, tools=f"{tools}\ndef build(world):\n    return ()\n"))

    with pytest.raises(BadFileError) as caught:
        _ = template.open().store

    assert f"error[bad-world]: {template.folder / 'tools.py'}: {said}" == str(caught.value)


def test_vectors_outside_a_trial_are_refused(template):
    """A tool that embeds outside a trial is told that there is no model, and what to do."""
    with pytest.raises(CouldNotCheckError) as caught:
        asyncio.run(template.open().embed(["query: x"]))

    assert (
        "error[no-embedder]: a tool asked for vectors outside a trial, where no model answers\n\n"
        "hint: run the tool in a trial, or set `world.embed` first: `harness.testing.embeddings` has one for tests"
    ) == str(caught.value)


def like(folder: Path, name: str, of: str) -> Path:
    """A world *name* beside the drawer that takes everything but its tools from the world *of*."""
    place = folder / "goldensets" / "worlds" / name
    place.mkdir(parents=True)
    (place / "world.yaml").write_text(f"format: 1\nabout: Another\nlike: {of}\n", encoding="utf-8")
    (place / "tools.py").write_text(TOOLS, encoding="utf-8")
    return place


def test_world_like_another_has_its_rows(tmp_path, make_world, world_text):
    """Clock, user, settings, rows and variants are the other's, also after those change; name and tools are its own."""
    make_world(tmp_path)
    like(tmp_path, "chest", "drawer")
    goldensets, cache = tmp_path / "goldensets", tmp_path / "cache"
    for variant in ("", "/without-pen"):
        drawer, chest = (find_world(goldensets, name + variant, cache=cache) for name in ("drawer", "chest"))

        assert (f"chest{variant}", drawer.dump, drawer.store_digest) == (chest.name, chest.dump, chest.store_digest)
        assert (drawer.now, drawer.user, drawer.settings) == (chest.now, chest.user, chest.settings)

    make_world(tmp_path, world_text.replace("name: pen", "name: pencil"))

    assert "pencil" == find_world(goldensets, "chest", cache=cache).open().row("things", 1)["name"]
    chest = find_world(goldensets, "chest", cache=cache)
    assert 9 == chest.open().tools[0](9)
    chest.close()


def test_world_like_nothing_is_told(tmp_path, make_world):
    """A world that is like no other, or like a world that is itself like another, names its line."""
    make_world(tmp_path)
    like(tmp_path, "chest", "../drawer")
    like(tmp_path, "trunk", "case")
    like(tmp_path, "case", "drawer")
    told = {}
    for name in ("chest", "trunk"):
        with pytest.raises(BadFileError) as caught:
            find_world(tmp_path / "goldensets", name)
        told[name] = str(caught.value)

    assert (
        "error[unknown-world]: goldensets/worlds/chest/world.yaml:3: no world named `../drawer`\n\n"
        "hint: there are: case, chest, drawer, trunk"
    ) == told["chest"]
    assert (
        "error[bad-world]: goldensets/worlds/trunk/world.yaml: `case` is itself like another world, `drawer`\n\n"
        "hint: write `like: drawer`"
    ) == told["trunk"]
