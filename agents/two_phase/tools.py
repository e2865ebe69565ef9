"""
The fifteen tools of the Guardian, over a user's store and file area.

    spaces = Spaces(Path("spaces"))
    tools = GuardianTools(lambda: spaces, "vera", today=lambda: "2026-03-10").belt()

The user of the session is the authority: a tool that names a user works for that one alone. What a tool says about a
change is what the store did; where nothing was stored, the text says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from harness.records.messages import Json
from harness.records.tool import ToolAnswer, ToolError, tool

from .files import FileArea
from .spaces import Spaces
from .store import FEELING, RELATIONSHIP, Store

MOST_WORD_CHARS = 60
MOST_TEXT_CHARS = 4000
MOST_FIELDS = 20
"""Fields of a profile that one call sets."""
MOST_SHOWN = 50
"""Entries of a list that one call gives."""
_FEELING = re.compile(r"[A-Za-z][A-Za-z -]*")
_FIELD = re.compile(r"[a-z][a-z0-9_]*")

Username = Annotated[str, "The user of this session"]
FilePath = Annotated[str, "Path of a text file in the user's file area, such as notes/ideas.md"]


class GuardianTools:
    """
    Tools as bound methods, so that their schemas are made once.

    Args:
        spaces: Gives the spaces; asked at the first use of a tool that needs them.
        user: The session's user.
        today: Tells the date, `YYYY-MM-DD`.
        may_delete: Whether `delete_file` may delete.
    """

    def __init__(
        self, spaces: Callable[[], Spaces], user: str, *, today: Callable[[], str], may_delete: bool = False
    ) -> None:
        self._spaces = spaces
        self._user = user
        self._today = today
        self._may_delete = may_delete

    def belt(self) -> Sequence[Callable[..., Any]]:
        """The tools, in the order in which they are offered."""
        return (
            self.update_current_feeling, self.update_relationship_status, self.update_user_profile,
            self.read_user_profile, self.read_emotional_history, self.read_diary_entries, self.search_user_data,
            self.read_file, self.write_file, self.list_files, self.search_files, self.get_file_info, self.delete_file,
            self.add_diary_entry, self.add_relationship_insight,
        )  # fmt: skip

    @tool(effect="write", ms=70)
    def update_current_feeling(
        self,
        username: Username,
        feeling: Annotated[str, "The feeling as one English word with a capital, such as Happy or Sad"],
        context: Annotated[str, "What it is about, in a few words"] = "",
    ) -> ToolAnswer:
        """Store how the user feels now; the history of feelings gets it too."""
        store = self._store_of(username)
        feeling = _checked("feeling", feeling, MOST_WORD_CHARS)
        if not _FEELING.fullmatch(feeling):
            raise ToolError("invalid_args", "feeling must be an English word, such as Happy")
        feeling = feeling[0].upper() + feeling[1:]
        effects = store.add_feeling(self._today(), feeling, _checked("context", context, MOST_TEXT_CHARS, empty=True))
        if not effects:
            raise ToolError("denied", "the history of feelings is full, so nothing was stored")
        return ToolAnswer(value=f"Updated feeling to '{feeling}' for {username}", effects=effects)

    @tool(effect="write", ms=60)
    def update_relationship_status(
        self, username: Username, status: Annotated[str, "The new status, such as single or married"]
    ) -> ToolAnswer:
        """Store the user's relationship status."""
        status = _checked("status", status, MOST_WORD_CHARS)
        effects = self._store_of(username).set_fields({RELATIONSHIP: status})
        if not effects:
            return ToolAnswer(value=f"Nothing changed: the relationship status of {username} already is '{status}'")
        return ToolAnswer(value=f"Updated relationship status to '{status}' for {username}", effects=effects)

    @tool(effect="write", ms=60)
    def update_user_profile(
        self,
        username: Username,
        profile_data: Annotated[dict[str, Any], "Fields to set, such as {'city': 'Kazan'}; names in small letters"],
    ) -> ToolAnswer:
        """Set fields of the user's profile; feeling and relationship status have tools of their own."""
        store = self._store_of(username)
        if not 1 <= len(profile_data) <= MOST_FIELDS:
            raise ToolError("invalid_args", f"profile_data has 1 to {MOST_FIELDS} fields")
        for name, value in profile_data.items():
            if not _FIELD.fullmatch(name) or len(name) > MOST_WORD_CHARS:
                raise ToolError("invalid_args", f"'{name}' is no name for a field")
            if name in (FEELING, RELATIONSHIP):
                raise ToolError("invalid_args", f"{name} has a tool of its own")
            _checked(name, str(value), MOST_TEXT_CHARS)
        effects = store.set_fields(profile_data)
        if not effects:
            return ToolAnswer(value=f"Nothing changed: the profile of {username} already is so")
        names = ", ".join(f"'{effect.key.partition('/')[2]}'" for effect in effects)
        return ToolAnswer(value=f"Updated {names} in the profile of {username}", effects=effects)

    @tool(effect="read", ms=30)
    def read_user_profile(self, username: Username) -> Json:
        """Read the user's profile: current feeling, relationship status and whatever else is known."""
        return self._store_of(username).summary()

    @tool(effect="read", ms=30)
    def read_emotional_history(self, username: Username) -> Json:
        """Read how the user felt, oldest first."""
        return {"username": username, "feelings": self._store_of(username).feelings(MOST_SHOWN)}

    @tool(effect="read", ms=30)
    def read_diary_entries(self, username: Username) -> Json:
        """Read the user's diary, oldest entry first."""
        return {"username": username, "entries": self._store_of(username).diary(MOST_SHOWN)}

    @tool(effect="read", ms=50)
    def search_user_data(self, username: Username, query: Annotated[str, "Words that must all occur"]) -> ToolAnswer:
        """Search profile, feelings, diary and insights of the user."""
        found = self._store_of(username).search(_checked("query", query, MOST_TEXT_CHARS))
        return ToolAnswer(value={"query": query, "results": found[:MOST_SHOWN]}, hits=len(found))

    @tool(effect="read", ms=40)
    def read_file(self, path: FilePath) -> Json:
        """Read a text file of the user's file area."""
        return {"path": path, "text": self._files.read(path)}

    @tool(effect="write", ms=80)
    def write_file(self, path: FilePath, content: Annotated[str, "The whole new text of the file"]) -> ToolAnswer:
        """Write a text file of the user's file area; an earlier version is kept."""
        effects = self._files.write(path, content)
        if not effects:
            return ToolAnswer(value=f"Nothing changed: '{path}' already has this text")
        return ToolAnswer(value=f"Wrote {len(content)} characters to '{path}'", effects=effects)

    @tool(effect="read", ms=30)
    def list_files(self, directory: Annotated[str, "A folder of the file area; empty for its top"] = "") -> Json:
        """List files and folders of the user's file area."""
        return self._files.listing(directory)

    @tool(effect="read", ms=60)
    def search_files(self, query: Annotated[str, "Text that a file holds in its name or content"]) -> ToolAnswer:
        """Search the user's file area."""
        found = self._files.search(query)
        return ToolAnswer(value={"query": query, "results": found}, hits=len(found))

    @tool(effect="read", ms=20)
    def get_file_info(self, path: FilePath) -> Json:
        """Get size and kind of a file of the user's file area."""
        return self._files.info(path)

    @tool(effect="write", ms=60)
    def delete_file(self, path: FilePath) -> ToolAnswer:
        """Delete a file of the user's file area; a copy is kept."""
        if not self._may_delete:
            raise ToolError("denied", "deleting files is switched off")
        return ToolAnswer(effects=self._files.delete(path), value=f"Deleted '{path}'")

    @tool(effect="write", ms=60)
    def add_diary_entry(
        self,
        username: Username,
        entry: Annotated[str | dict[str, Any], "The text, or {'content': text, 'mood': English word}"],
    ) -> ToolAnswer:
        """Add an entry to the user's diary, word for word."""
        store = self._store_of(username)
        given = {"content": entry} if isinstance(entry, str) else entry
        if given.keys() - {"content", "mood"} or not all(isinstance(value, str) for value in given.values()):
            raise ToolError("invalid_args", "an entry is a text, or has `content` and `mood`, both texts")
        content = given.get("content", "")
        _checked("content", content, MOST_TEXT_CHARS)
        mood = _checked("mood", given.get("mood", ""), MOST_WORD_CHARS, empty=True)
        effects = store.add_diary_entry(self._today(), content, mood)
        if not effects:
            raise ToolError("denied", "the diary is full, so nothing was stored")
        return ToolAnswer(value=f"Added a diary entry for {username}", effects=effects)

    @tool(effect="write", ms=60)
    def add_relationship_insight(
        self, insight: Annotated[str, "One sentence about the user's relationships"]
    ) -> ToolAnswer:
        """Store an insight into the user's relationships."""
        effects = self._store.add_insight(self._today(), _checked("insight", insight, MOST_TEXT_CHARS))
        if not effects:
            raise ToolError("denied", "the list of insights is full, so nothing was stored")
        return ToolAnswer(value=f"Added a relationship insight for {self._user}", effects=effects)

    def _store_of(self, username: str) -> Store:
        if username != self._user:
            raise ToolError("denied", f"this session belongs to {self._user}, not to {username}")
        return self._store

    @property
    def _store(self) -> Store:
        return self._spaces().space(self._user).store

    @property
    def _files(self) -> FileArea:
        return self._spaces().space(self._user).files


def _checked(name: str, text: str, most: int, *, empty: bool = False) -> str:
    """*text* without blanks at its ends; refused where it is too long, or empty and not allowed to be."""
    text = text.strip()
    if len(text) > most:
        raise ToolError("invalid_args", f"{name} has {len(text)} characters, at most {most} are stored")
    if not text and not empty:
        raise ToolError("invalid_args", f"{name} is empty")
    return text
