"""The Guardian's world: what each of the fifteen tools answers, and what it does to the spaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.records.tool import ToolAnswer, ToolError, as_tool
from harness.worlds import World, find_world

GUARDIAN = find_world(Path(__file__).parents[2] / "goldensets", "guardian")
MINE = ["update_current_feeling", "update_relationship_status", "update_user_profile", "read_user_profile",
        "read_emotional_history", "read_diary_entries", "search_user_data", "add_diary_entry"]  # fmt: skip
"""The tools that name a user."""
ARGUMENTS: dict[str, dict[str, Any]] = {
    "update_current_feeling": {"feeling": "Angry"}, "update_relationship_status": {"status": "single"},
    "update_user_profile": {"profile_data": {"city": "Perm"}}, "search_user_data": {"query": "tea"},
    "add_diary_entry": {"entry": "x"},
}  # fmt: skip


@pytest.fixture
def world() -> Iterator[World]:
    """The world of one trial."""
    opened = GUARDIAN.open()
    yield opened
    opened.close()


def call(world: World, name: str, /, **args: Any) -> Any:
    """Call a tool as a trial does, arguments checked; its answer must be JSON."""
    belt = {each.name: each for each in map(as_tool, world.tools)}
    answer = belt[name].function(**belt[name].check(args))
    value = answer.value if isinstance(answer, ToolAnswer) else answer
    json.dumps(value)
    return value


def failure(world: World, name: str, /, **args: Any) -> str:
    """Kind and words with which a call fails; nothing may have changed."""
    before = world.diff()
    with pytest.raises(ToolError) as caught:
        call(world, name, **args)
    assert before == world.diff()
    return f"{caught.value.kind}: {caught.value.message}"


def changed(world: World) -> list[tuple[str, str, Any, Any]]:
    """What differs from the start of the trial."""
    return [(effect.kind, effect.key, effect.before, effect.after) for effect in world.diff()]


def test_the_belt() -> None:
    """Names, order and effects are part of every recording."""
    assert [
        ("update_current_feeling", "write"), ("update_relationship_status", "write"), ("update_user_profile", "write"),
        ("read_user_profile", "read"), ("read_emotional_history", "read"), ("read_diary_entries", "read"),
        ("search_user_data", "read"), ("read_file", "read"), ("write_file", "write"), ("list_files", "read"),
        ("search_files", "read"), ("get_file_info", "read"), ("delete_file", "write"), ("add_diary_entry", "write"),
        ("add_relationship_insight", "write"),
    ] == [(tool.name, tool.effect) for tool in map(as_tool, GUARDIAN.open().tools)]  # fmt: skip


def test_every_trial_has_spaces_of_its_own(world: World) -> None:
    """What one trial stores no other one sees, and a closed trial leaves nothing behind."""
    other = GUARDIAN.open()
    start = other.store_digest()
    call(world, "update_current_feeling", username="vera", feeling="Happy")
    call(world, "write_file", path="new.txt", content="x")

    assert "Neutral" == call(other, "read_user_profile", username="vera")["profile"]["feeling"]
    assert "not_found: there is no file new.txt" == failure(other, "read_file", path="new.txt")
    assert start == other.store_digest() != world.store_digest()
    folder = other.store.spaces.root
    other.close()
    assert not folder.exists()


@pytest.mark.parametrize("feeling", ["Happy", "Sad", "Anxious", "Delighted", "Lonely"])
def test_a_feeling(world: World, feeling: str) -> None:
    """A feeling becomes the current one and the newest of the history, with the trial's date."""
    told = call(world, "update_current_feeling", username="vera", feeling=feeling.lower(), context="said so")
    entry = {"id": 4, "date": "2026-03-10", "feeling": feeling, "context": "said so"}

    assert f"Updated feeling to '{feeling}' for vera" == told
    assert [
        ("feelings", "vera/4", None, entry), ("profile", "vera/feeling", {"value": "Neutral"}, {"value": feeling})
    ] == changed(world)  # fmt: skip
    assert entry == call(world, "read_emotional_history", username="vera")["feelings"][-1]


def test_relationship_status(world: World) -> None:
    """A new status is stored; the same one again changes nothing, and the text says so."""
    assert "Updated relationship status to 'single' for vera" == call(
        world, "update_relationship_status", username="vera", status="single"
    )
    assert "Nothing changed: the relationship status of vera already is 'single'" == call(
        world, "update_relationship_status", username="vera", status=" single "
    )
    assert [("profile", "vera/relationship_status", {"value": "in a relationship"}, {"value": "single"})] == changed(
        world
    )


def test_profile(world: World) -> None:
    """Fields are set together, and what was so already is not reported."""
    told = call(
        world, "update_user_profile", username="vera", profile_data={"city": "Perm", "likes": ["tea", "long walks"]}
    )

    assert "Updated 'city' in the profile of vera" == told
    assert {"city": "Perm", "feeling": "Neutral", "likes": ["tea", "long walks"], "relationship_status": "in a relationship"} == call(
        world, "read_user_profile", username="vera"
    )["profile"]  # fmt: skip
    assert "Nothing changed: the profile of vera already is so" == call(
        world, "update_user_profile", username="vera", profile_data={"city": "Perm"}
    )


@pytest.mark.parametrize(
    ("name", "args", "because"),
    [
        ("update_current_feeling", {"feeling": "счастье"}, "feeling must be an English word, such as Happy"),
        ("update_current_feeling", {"feeling": " "}, "feeling is empty"),
        ("update_current_feeling", {"feeling": "x" * 61}, "feeling has 61 characters, at most 60 are stored"),
        ("update_relationship_status", {"status": ""}, "status is empty"),
        ("update_user_profile", {"profile_data": {}}, "profile_data has 1 to 20 fields"),
        ("update_user_profile", {"profile_data": {"feeling": "Happy"}}, "feeling has a tool of its own"),
        ("update_user_profile", {"profile_data": {"Two words": 1}}, "'Two words' is no name for a field"),
        ("update_user_profile", {"profile_data": {"city": "x" * 4001}}, "city has 4001 characters, at most 4000 are stored"),
        ("search_user_data", {"query": ""}, "query is empty"),
        ("add_diary_entry", {"entry": ""}, "content is empty"),
        ("add_diary_entry", {"entry": {"mood": "Calm"}}, "content is empty"),
        ("add_diary_entry", {"entry": {"content": 1}}, "an entry is a text, or has `content` and `mood`, both texts"),
        ("add_diary_entry", {"entry": {"content": "x", "date": "y"}}, "an entry is a text, or has `content` and `mood`, both texts"),
    ],
)  # fmt: skip
def test_arguments_that_make_no_sense(world: World, name: str, args: dict[str, Any], because: str) -> None:
    """What cannot be stored is refused with the reason, and nothing changes."""
    assert f"invalid_args: {because}" == failure(world, name, username="vera", **args)


@pytest.mark.parametrize("name", MINE)
@pytest.mark.parametrize("user", ["boris", "Vera", "", "../boris"])
def test_another_user_is_refused(world: World, name: str, user: str) -> None:
    """Whoever a call names, the session's user is the authority: nothing is read and nothing changes."""
    because = f"denied: this session belongs to vera, not to {user}"

    assert because == failure(world, name, username=user, **ARGUMENTS.get(name, {}))


def test_reading(world: World) -> None:
    """Profile with counts, feelings and diary oldest first."""
    profile = call(world, "read_user_profile", username="vera")
    history = call(world, "read_emotional_history", username="vera")["feelings"]
    diary = call(world, "read_diary_entries", username="vera")["entries"]

    assert ("vera", 3, 2, 0) == (profile["username"], profile["feelings"], profile["diary"], profile["insights"])
    assert [("2026-03-07", "Sad"), ("2026-03-08", "Anxious"), ("2026-03-09", "Neutral")] == [
        (entry["date"], entry["feeling"]) for entry in history
    ]
    assert ["2026-03-08", "2026-03-09"] == [entry["date"] for entry in diary]
    assert [] == changed(world)


def test_searching(world: World) -> None:
    """Everything about the user is searched, and the number of results is told."""
    belt = {each.name: each for each in map(as_tool, world.tools)}
    found = belt["search_user_data"].function(username="vera", query="exam")
    files = belt["search_files"].function(query="river")

    assert (2, ["feelings", "diary"]) == (found.hits, [one["where"] for one in found.value["results"]])
    assert (2, ["notes/books.txt", "notes/plans.md"]) == (files.hits, [one["path"] for one in files.value["results"]])
    assert 0 == belt["search_files"].function(query="ocean").hits


@pytest.mark.parametrize("entry", ["It's Anna's birthday", {"content": "It's Anna's birthday"}])
def test_a_diary_entry(world: World, entry: Any) -> None:
    """A text and an object with a text are the same entry, stored letter by letter."""
    stored = {"id": 3, "date": "2026-03-10", "content": "It's Anna's birthday", "mood": ""}

    assert "Added a diary entry for vera" == call(world, "add_diary_entry", username="vera", entry=entry)
    assert [("diary", "vera/3", None, stored)] == changed(world)


def test_an_insight(world: World) -> None:
    """An insight is stored for the session's user."""
    assert "Added a relationship insight for vera" == call(
        world, "add_relationship_insight", insight="She misses her sister."
    )
    assert [
        ("insights", "vera/1", None, {"id": 1, "date": "2026-03-10", "insight": "She misses her sister."})
    ] == changed(world)


def test_files(world: World) -> None:
    """Files are listed, described, read and written; the earlier version is kept."""
    assert {"directory": "", "files": [{"path": "chronicle.txt", "bytes": 10200}], "folders": ["notes"]} == call(
        world, "list_files"
    )
    assert {"path": "notes/books.txt", "bytes": 29, "kind": "txt", "lines": 1} == call(
        world, "get_file_info", path="notes/books.txt"
    )
    assert "Wrote 4 characters to 'notes/books.txt'" == call(
        world, "write_file", path="notes/books.txt", content="None"
    )
    assert "Nothing changed: 'notes/books.txt' already has this text" == call(
        world, "write_file", path="notes/books.txt", content="None"
    )
    assert {"path": "notes/books.txt", "text": "None"} == call(world, "read_file", path="notes/books.txt")
    assert [("backups", "vera/notes/books.txt.1"), ("files", "vera/notes/books.txt")] == [
        row[:2] for row in changed(world)
    ]


@pytest.mark.parametrize("path", ["../../secret.txt", "../../boris/files/diary.txt", "../space.sqlite", "/etc/passwd"])
def test_files_outside_are_refused(world: World, path: str) -> None:
    """Neither the file beside the spaces, nor another user's, nor the store itself can be reached."""
    because = f"denied: {path} is outside of the file area"

    assert because == failure(world, "read_file", path=path)
    assert because == failure(world, "write_file", path=path, content="x")
    assert because == failure(world, "delete_file", path=path)


def test_deleting_is_off_unless_it_is_switched_on(world: World) -> None:
    """The tools do not delete by default; where they may, a copy is kept."""
    tools = type(world.tools[0].__self__)
    careful = tools(lambda: world.store.spaces, "vera", today=lambda: world.today)

    with pytest.raises(ToolError, match="deleting files is switched off"):
        careful.delete_file("notes/books.txt")
    assert [] == changed(world)
    assert "Deleted 'notes/books.txt'" == call(world, "delete_file", path="notes/books.txt")
    assert ["vera/notes/books.txt.1", "vera/notes/books.txt"] == [row[1] for row in changed(world)]


def test_what_is_not_stored_is_not_claimed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store takes nothing more, each tool says that nothing was stored."""
    monkeypatch.setattr(type(world.store.spaces.space("vera").store), "_add", lambda *_, **__: None)

    assert "denied: the history of feelings is full, so nothing was stored" == failure(
        world, "update_current_feeling", username="vera", feeling="Happy"
    )
    assert "denied: the diary is full, so nothing was stored" == failure(
        world, "add_diary_entry", username="vera", entry="x"
    )
    assert "denied: the list of insights is full, so nothing was stored" == failure(
        world, "add_relationship_insight", insight="x"
    )


def test_a_dump_sees_what_no_tool_may_touch(world: World) -> None:
    """Whatever is changed behind the tools' backs, in another space or beside all of them, stands in the changes."""
    root = world.store.spaces.root
    (root / "secret.txt").write_text("mine", encoding="utf-8")
    (root / "boris" / "files" / "diary.txt").unlink()
    (root / "vera" / "files" / "link.txt").symlink_to(root / "secret.txt")

    assert ["beside secret.txt", "files boris/diary.txt", "files vera/link.txt"] == [
        f"{row[0]} {row[1]}" for row in changed(world)
    ]


def test_a_user_is_no_path(world: World) -> None:
    """A name that is no name opens no space."""
    with pytest.raises(ValueError, match=r"`\.\./boris` is no name for a user"):
        world.store.spaces.space("../boris")
