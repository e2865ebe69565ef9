"""The Guardian's file area: nothing outside is ever touched, nothing is lost, everything has a limit."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.tool import ToolError
from harness.worlds.store import changes

from .guardian import part

files = part("files")


@pytest.fixture
def area(tmp_path: Path) -> Any:
    """An area with one file, a secret beside it, and a folder whose name begins like its own."""
    made = files.FileArea(tmp_path / "data", tmp_path / "backups", user="vera")
    made.write("notes/plan.md", "# Plan\n\nWalk by the river\n")
    (tmp_path / "secret.txt").write_text("4711", encoding="utf-8")
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "secret.txt").write_text("4711", encoding="utf-8")
    return made


def refusal(call: Any, *arguments: Any) -> str:
    """Kind and words of the refusal of a call."""
    with pytest.raises(ToolError) as caught:
        call(*arguments)
    return f"{caught.value.kind}: {caught.value.message}"


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


OUTSIDE = [
    "../secret.txt", "../../secret.txt", "notes/../../secret.txt", "../data/notes/plan.md", "../data2/secret.txt",
    "/etc/hostname.txt", "~/secret.txt", "..\\secret.txt", "C:secret.txt", "notes/plan.md\0.txt", "a/../../data2/secret.txt",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("name", ["read", "info", "delete", "write"])
def test_paths_that_lead_outside(area: Any, tmp_path: Path, name: str, path: str) -> None:
    """Parents, absolute paths, other spellings and folders named alike are refused, whatever is asked, and nothing changes."""
    before = everything(tmp_path)
    arguments = (path, "mine") if name == "write" else (path,)

    assert f"denied: {path} is outside of the file area" == refusal(getattr(area, name), *arguments)
    assert before == everything(tmp_path)


@pytest.mark.parametrize("path", ["..", "../", "/", "notes/../..", "../data2", "./.."])
def test_folders_outside_are_not_listed(area: Any, path: str) -> None:
    """A folder outside is refused like a file."""
    assert f"denied: {path} is outside of the file area" == refusal(area.listing, path)


def test_links_that_lead_outside(area: Any, tmp_path: Path) -> None:
    """A link to a file or a folder outside is neither followed nor listed, nor found."""
    (tmp_path / "data" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "data" / "folder").symlink_to(tmp_path / "data2")

    assert "denied: link.txt is outside of the file area" == refusal(area.read, "link.txt")
    assert "denied: link.txt is outside of the file area" == refusal(area.write, "link.txt", "mine")
    assert "denied: folder/secret.txt is outside of the file area" == refusal(area.read, "folder/secret.txt")
    assert "denied: folder/new.txt is outside of the file area" == refusal(area.write, "folder/new.txt", "mine")
    assert {"directory": "", "files": [], "folders": ["notes"]} == area.listing()
    assert [] == area.search("4711")
    assert "4711" == (tmp_path / "secret.txt").read_text(encoding="utf-8")


def test_links_inside_are_what_they_lead_to(area: Any, tmp_path: Path) -> None:
    """A link that stays inside is followed; a loop of links leads nowhere."""
    (tmp_path / "data" / "link.md").symlink_to(tmp_path / "data" / "notes" / "plan.md")
    (tmp_path / "data" / "loop.md").symlink_to(tmp_path / "data" / "loop.md")

    assert area.read("notes/plan.md") == area.read("link.md")
    assert refusal(area.read, "loop.md") in (
        "denied: loop.md leads nowhere", "not_found: there is no file loop.md"
    )  # fmt: skip


PARTS = st.lists(
    st.sampled_from(["..", ".", "", "notes", "plan.md", "secret.txt", "data", "data2", "x.txt", "~"]), max_size=7
)


@given(PARTS, st.sampled_from(["", "/", "./", "\\"]))
def test_no_path_leads_outside(tmp_path_factory: pytest.TempPathFactory, parts: list[str], first: str) -> None:
    """Whatever a path is put together from, what it resolves to lies inside, or it is refused."""
    folder = tmp_path_factory.mktemp("area")
    area = files.FileArea(folder / "data", folder / "backups")
    resolved = None
    with suppress(ToolError):
        resolved = area._inside(first + "/".join(parts))

    assert resolved is None or resolved.is_relative_to((folder / "data").resolve())


@pytest.mark.parametrize("path", ["run.sh", "notes", "plan.md.exe", "no_extension", "notes/plan.MDX"])
def test_other_kinds_of_files(area: Any, path: str) -> None:
    """Only known extensions are touched."""
    assert f"denied: {path} is no file of the kinds .txt, .md, .json, .csv, .yaml, .log" == refusal(area.read, path)
    assert refusal(area.read, path) == refusal(area.write, path, "x")


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("", "invalid_args: a path has 1 to 200 characters"),
        ("x" * 201, "invalid_args: a path has 1 to 200 characters"),
        ("a/b/c/d/e/f/g/h/i.txt", "denied: a/b/c/d/e/f/g/h/i.txt is too deep or has too long a name"),
        (f"{'ж' * 120}.txt", f"denied: {'ж' * 120}.txt is too deep or has too long a name"),
        ("missing.txt", "not_found: there is no file missing.txt"),
    ],
)
def test_paths_that_are_none(area: Any, path: str, because: str) -> None:
    """Empty, endless, deep and missing paths are told apart."""
    assert because == refusal(area.read, path)


def test_what_is_written_is_read(area: Any) -> None:
    """Text in any script, in folders that are made for it."""
    area.write("a/b/книга.txt", "Тихий берег\n")

    assert "Тихий берег\n" == area.read("a/b/книга.txt")
    assert {"path": "a/b/книга.txt", "bytes": 22, "kind": "txt", "lines": 1} == area.info("a/b/книга.txt")
    assert {"directory": "a", "files": [], "folders": ["a/b"]} == area.listing("a")


def test_an_earlier_version_is_kept(area: Any, tmp_path: Path) -> None:
    """Before a file is overwritten or deleted a copy of it is kept, each under a number of its own."""
    was = area.read("notes/plan.md")
    area.write("notes/plan.md", "second")
    area.write("notes/plan.md", "third")
    area.delete("notes/plan.md")

    assert {"notes/plan.md.1": was.encode(), "notes/plan.md.2": b"second", "notes/plan.md.3": b"third"} == everything(
        tmp_path / "backups"
    )
    assert "not_found: there is no file notes/plan.md" == refusal(area.read, "notes/plan.md")


def test_a_copy_that_cannot_be_kept_keeps_the_file(area: Any) -> None:
    """A folder that is called as the version of a file is: nothing is written, and no path of the machine is told."""
    area.write("a.txt", "one")
    area.write("a.txt", "two")
    area.write("a.txt.1/b.txt", "one")

    refused = "denied: no copy of a.txt.1/b.txt can be kept: File exists"
    assert refused == refusal(area.write, "a.txt.1/b.txt", "two")
    assert refused == refusal(area.delete, "a.txt.1/b.txt")
    assert "one" == area.read("a.txt.1/b.txt")


def test_the_same_text_again_changes_nothing(area: Any, tmp_path: Path) -> None:
    """A write of what is there already stores nothing, keeps nothing, and reports nothing."""
    assert () == area.write("notes/plan.md", area.read("notes/plan.md"))
    assert {} == everything(tmp_path / "backups")


def test_sizes(area: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are too large are neither read nor written, and a full area takes no more."""
    (tmp_path / "data" / "large.txt").write_bytes(b"x" * (files.MOST_BYTES_READ + 1))
    monkeypatch.setattr(files, "MOST_FILES", 2)

    assert "denied: large.txt has 262145 bytes, at most 262144 are read" == refusal(area.read, "large.txt")
    assert {"path": "large.txt", "bytes": 262145, "kind": "txt"} == area.info("large.txt")
    assert [] == area.search("xxx")
    assert "denied: the content has 65537 bytes, at most 65536 are written" == refusal(area.write, "n.txt", "x" * 65537)
    assert "denied: the file area is full: it holds 2 files" == refusal(area.write, "n.txt", "x")


def test_what_is_no_text_file(area: Any, tmp_path: Path) -> None:
    """Bytes that are no text, folders and pipes are refused, and a pipe does not make anybody wait."""
    (tmp_path / "data" / "image.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "data" / "folder.md").mkdir()
    os.mkfifo(tmp_path / "data" / "pipe.txt")

    assert "denied: image.txt is no text in UTF-8" == refusal(area.read, "image.txt")
    assert "denied: folder.md is no regular file" == refusal(area.read, "folder.md")
    assert "denied: pipe.txt is no regular file" == refusal(area.read, "pipe.txt")
    assert {"kind": "special"} == area.dump()["files"]["vera/pipe.txt"]
    assert "not_found: there is no folder nowhere" == refusal(area.listing, "nowhere")
    assert "denied: notes/plan.md/x.txt cannot be written: File exists" == refusal(area.write, "notes/plan.md/x.txt", "x")  # fmt: skip


def test_search(area: Any) -> None:
    """A file is found by its name or by its first line that holds the text, whatever the case."""
    area.write("Rivers.txt", "nothing here")

    assert [{"path": "Rivers.txt", "line": ""}, {"path": "notes/plan.md", "line": "Walk by the river"}] == area.search(
        "RIVER"
    )
    assert [] == area.search("ocean")
    assert "invalid_args: the query is empty" == refusal(area.search, " ")


def test_long_lists_say_that_they_are_cut(area: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long list the beginning is given, and how much is left out."""
    monkeypatch.setattr(files, "MOST_LISTED", 1)
    area.write("a.txt", "a")
    area.write("b.txt", "b")

    assert {
        "directory": "",
        "files": [{"path": "a.txt", "bytes": 1}],
        "folders": ["notes"],
        "left_out": 1,
    } == area.listing()


WRITES = st.lists(st.tuples(st.sampled_from(["a.txt", "b/c.md"]), st.sampled_from(["x", "y", None])), max_size=6)


@given(WRITES)
def test_reported_changes_are_those_of_the_dumps(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None]]
) -> None:
    """What each write and each deletion reports is the difference of the dumps before and after it."""
    folder = tmp_path_factory.mktemp("area")
    area = files.FileArea(folder / "data", folder / "backups", user="vera")
    for path, text in steps:
        before = area.dump()
        try:
            reported = area.delete(path) if text is None else area.write(path, text)
        except ToolError:
            reported = ()
        assert list(changes(before, area.dump())) == sorted(reported, key=lambda effect: (effect.kind, effect.key))
