"""The load cache: faster, never trusted over the file, and always dispensable."""

from __future__ import annotations

import sqlite3

import pytest

from harness.cassettes import pack as pack_module
from harness.cassettes.file import Interaction, Provenance, dump, load, make_cassette
from harness.cassettes.pack import Pack
from harness.errors import CassetteError
from harness.records.digest import digest_bytes


def write(path, answer="one"):
    items = [Interaction(call=n, answered_by="live", uri="u", response_body=f"{answer} {n} 😀\n") for n in (1, 2)]
    path.write_bytes(dump(make_cassette(Provenance(answered_by="live", models=("m",)), items)))
    return path


@pytest.fixture
def cache(tmp_path):
    """Where the cache goes, in a folder that is not there yet."""
    return tmp_path / ".cache" / "replay.sqlite"


def through(cache, path):
    pack = Pack(cache)
    try:
        return pack.load(path)
    finally:
        pack.close()


def count_parses(monkeypatch):
    """Names of the files that are parsed as YAML from now on."""
    parsed = []
    original = pack_module.parse

    def parse(content, path):
        parsed.append(path)
        return original(content, path)

    monkeypatch.setattr(pack_module, "parse", parse)
    return parsed


def test_an_unchanged_file_is_parsed_once(tmp_path, cache, monkeypatch):
    """The compiled form is the same cassette, whole."""
    path = write(tmp_path / "a.yaml")
    parsed = count_parses(monkeypatch)
    first, second = through(cache, path), through(cache, path)

    assert load(path) == first == second
    assert [str(path)] == parsed


def test_a_changed_file_is_read_anew(tmp_path, cache):
    """Even when size and time stay the same, the bytes decide."""
    path = write(tmp_path / "a.yaml", "one")
    through(cache, path)
    write(path, "two")

    assert "two 1 😀\n" == through(cache, path).interactions[0].response_body


def test_a_bad_file_is_refused_through_the_cache_as_well(tmp_path, cache):
    """The checks of loading are never skipped: not for a new file, and not for one that was good before."""
    path = write(tmp_path / "a.yaml")
    through(cache, path)
    path.write_bytes(path.read_bytes().replace(b"one 1", b"sk-abcdefghijklmnopqrstuvwx"))

    with pytest.raises(CassetteError, match="the cassette holds a secret"):
        through(cache, path)
    with pytest.raises(CassetteError, match="there is no such cassette"):
        through(cache, tmp_path / "b.yaml")


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_cache_is_left_aside(tmp_path, cache, content):
    """Nothing is lost with it, and the next run builds it again."""
    path = write(tmp_path / "a.yaml")
    cache.parent.mkdir()
    cache.write_bytes(content)

    assert load(path) == through(cache, path) == through(cache, path)


def test_a_damaged_entry_is_compiled_again(tmp_path, cache):
    """An entry that does not decode counts as none."""
    path = write(tmp_path / "a.yaml")
    through(cache, path)
    with sqlite3.connect(cache) as database:
        database.execute("UPDATE cassettes SET cassette = x'00'")
    database.close()

    assert load(path) == through(cache, path)


def test_entries_of_another_version_are_dropped(tmp_path, cache, monkeypatch):
    """A version that checks more, or knows more fields, reads nothing that an older one compiled."""
    path = write(tmp_path / "a.yaml")
    through(cache, path)
    monkeypatch.setattr(pack_module, "readers_version", lambda: "another")
    parsed = count_parses(monkeypatch)
    through(cache, path)

    assert [str(path)] == parsed


def test_a_cache_that_is_locked_or_in_no_place_to_write_is_done_without(tmp_path, cache, monkeypatch):
    """Reading goes on; only the saving is lost."""
    monkeypatch.setattr(pack_module, "_SECONDS_TO_WAIT", 0.01)
    path = write(tmp_path / "a.yaml")
    other = write(tmp_path / "b.yaml")
    through(cache, path)
    holder = sqlite3.connect(cache)
    holder.execute("BEGIN EXCLUSIVE")
    found = through(cache, other)
    holder.close()
    (tmp_path / "file").write_text("")

    assert load(other) == found
    assert load(other) == through(tmp_path / "file" / "replay.sqlite", other)


def test_the_bytes_that_were_read_have_a_digest(tmp_path):
    """A file that says the same in other bytes is the same sample in another file."""
    path = write(tmp_path / "a.yaml", answer="one")
    pack = Pack(tmp_path / ".cache" / "replay.sqlite")
    seen = ["", ""]
    for number, line in enumerate(("", "# a comment\n")):
        path.write_text(line + path.read_text())
        seen[number] = pack.load(path).digest + " " + pack.file_digest(path)
    samples, files = zip(*(told.split() for told in seen), strict=True)
    pack.close()

    assert (1, 2, digest_bytes(path.read_bytes())) == (len(set(samples)), len(set(files)), files[1])
    assert not pack.file_digest(tmp_path / "b.yaml")
