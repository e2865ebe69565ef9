"""`world.yaml` and `tools.py`: read, checked, compiled."""

from __future__ import annotations

import pytest

from harness.errors import BadFileError
from harness.worlds import load_world


def test_compiled_world_is_the_world(tmp_path, make_world, world_text):
    """Read from YAML or from the compiled form: the same rows, until the file changes."""
    place = make_world(tmp_path)
    cache = tmp_path / ".cache" / "worlds"
    read, compiled = load_world(place, cache=cache), load_world(place, cache=cache)
    assert (read.dump, read.store_digest) == (compiled.dump, compiled.store_digest)

    make_world(tmp_path, world_text.replace("name: pen", "name: pencil"))

    assert read.store_digest != load_world(place, cache=cache).store_digest


def test_variants_are_compiled_side_by_side(tmp_path, make_world):
    """A world and its variant do not push each other out of the cache."""
    place = make_world(tmp_path)
    cache = tmp_path / "cache"
    for _ in range(2):
        load_world(place, cache=cache)
        load_world(place, variant="without-pen", cache=cache)

    assert ["drawer", "drawer+without"] == sorted(
        file.name.rpartition("-")[0].partition("-")[0] for file in cache.iterdir()
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("format: 1", "format: 9"), "unknown-format]: {file}:2: world format 9, this version reads 1"),
        (("user: kim", "user: 7"), "bad-world]: {file}:5: not a world: expected `str`, got `int`"),
        (("user: kim", ""), "bad-world]: {file}:2: not a world: object missing required field `user`"),
        (("user: kim", "usr: kim"), "bad-world]: {file}:2: not a world: object contains unknown field `usr`"),
        (("id: 2", "id: 1"), "bad-world]: {file}:8: every row of `things` needs its own `id`"),
        (("{id: 2, ", "{"), "bad-world]: {file}:8: every row of `things` needs its own `id`"),
        (("  things:", '  "a; b":'), "bad-world]: {file}:8: `a; b` is no name for a table or a column"),
        (("name: pen", '"na me": x'), "bad-world]: {file}:8: `na me` is no name for a table or a column"),
        (("name: pen", "name: [pen]"), ("bad-world]: {file}:7: not a world: expected `bool | int | float | str | null`, "
                                       "got `array`")),
    ],
)  # fmt: skip
def test_world_that_cannot_be_used_is_told(tmp_path, change, said, make_world, world_text):
    """Each mistake in `world.yaml` names the file, and the line as far as it is known."""
    place = make_world(tmp_path, world_text.replace(*change))

    with pytest.raises(BadFileError) as caught:
        load_world(place)

    assert f"error[{said.format(file='goldensets/worlds/drawer/world.yaml')}" == str(caught.value)


def test_variant_that_removes_nothing_is_told(tmp_path, make_world, world_text):
    """A row that does not exist cannot be left out."""
    place = make_world(tmp_path, world_text.replace("[1]", "[9]"))

    with pytest.raises(BadFileError, match="`things` has no row `9` to remove"):
        load_world(place, variant="without-pen")


@pytest.mark.parametrize(
    ("tools", "said"), [("x = 1", "has no function build(world)"), (None, "has no tools.py")]
)  # fmt: skip
def test_tools_that_cannot_be_used_are_told(tmp_path, tools, said, make_world):
    """A world needs a `tools.py` with `build`."""
    place = make_world(tmp_path, tools=tools or "")
    if tools is None:
        (place / "tools.py").unlink()

    with pytest.raises(BadFileError, match=said.replace("(", r"\(").replace(")", r"\)")):
        _ = load_world(place).open().tools


def test_oracles_that_cannot_be_used_are_told(tmp_path, make_world):
    """A world may go without oracles; a file of them without the function is an error that names it."""
    folder = make_world(tmp_path)
    none = load_world(folder).open().oracles
    (folder / "oracles.py").write_text("x = 1", encoding="utf-8")

    assert {} == none
    with pytest.raises(BadFileError, match=r"has no function oracles\(world\)") as caught:
        _ = load_world(folder).open().oracles
    assert str(folder / "oracles.py") == caught.value.at


def test_error_in_tools_is_not_hidden(tmp_path, make_world):
    """A `tools.py` that raises does so each time: nothing half-imported stays behind."""
    place = make_world(tmp_path, tools="raise RuntimeError('broken')")

    for _ in range(2):
        with pytest.raises(BadFileError, match="does not load: RuntimeError: broken") as caught:
            _ = load_world(place).open().tools
        assert caught.value.at.endswith("tools.py:1")
