"""What an agent did, turn by turn, and how two such trajectories differ."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.records.messages import Json, Usage

EditKind = Literal["match", "insert", "delete", "replace", "reorder", "regroup"]
ChangeKind = Literal["add", "remove", "change"]
WordKind = Literal["same", "gone", "come"]


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call with its outcome; *ok* is None where it has none."""

    tool: str
    args: Json
    """The object of arguments, or the text that the model sent where it is none."""
    ok: bool | None = None
    error: str = ""
    result: str = ""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One model call with its reply and the tool calls of it, or tool calls that no model asked for."""

    turn: int | None = None
    """The number that contracts and findings name; None where no model was called."""
    leg: int = 0
    slot: str = ""
    model: str = ""
    purpose: str = ""
    text: str = ""
    thinking: str = ""
    error: str = ""
    """Why the model gave no reply."""
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None: nobody knows what it cost."""
    ms: int = 0


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """All turns of a trial over its legs, and its answer."""

    turns: tuple[Turn, ...]
    answer: str = ""
    setup: dict[str, Json] = {}
    """What the agent was given: question, options, tools and system prompts, the last two by their digests."""
    outcome: dict[str, Json] = {}
    """How the trial ended, and what it changed in the world."""


class Words(msgspec.Struct, frozen=True):
    """A stretch of a text; those that are not *come* make up the old text, those that are not *gone* the new one."""

    kind: WordKind
    text: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One place where two JSON values differ; *path* leads there by keys and positions, alike in both."""

    path: tuple[str | int, ...]
    kind: ChangeKind
    before: Json = None
    after: Json = None
    words: tuple[Words, ...] = ()
    """For two long texts: how one became the other."""


class CallEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One step from the tool calls of a turn to those of another; *a* and *b* are positions in them, from 0."""

    kind: Literal["match", "insert", "delete", "replace", "reorder"]
    a: int | None = None
    b: int | None = None
    changes: tuple[Change, ...] = ()
    before: Call | None = None
    after: Call | None = None


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """
    One step from a trajectory to another. *a* and *b* are positions of turns in them, from 0: one each for match,
    replace and reorder, none in *b* for delete, none in *a* for insert, several in one of them for regroup.
    """

    kind: EditKind
    a: tuple[int, ...] = ()
    b: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    """What differs in one turn, its calls apart."""
    calls: tuple[CallEdit, ...] = ()
    before: tuple[Turn, ...] = ()
    """The turns at *a*; empty for a match."""
    after: tuple[Turn, ...] = ()
    """The turns at *b*; empty for a match."""
    tokens: Usage = Usage()
    """Tokens of *b* less those of *a*."""
    cost_usd: float | None = None
    """Cost of *b* less that of *a*; None where either is unknown."""


class EditCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many edits there are of each kind."""

    match: int = 0
    insert: int = 0
    delete: int = 0
    replace: int = 0
    reorder: int = 0
    regroup: int = 0


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """The first turn where two agents part; *step* counts turns from 1, and a side that is at its end has None."""

    step: int
    a: Turn | None
    b: Turn | None
    because: str


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """How trajectory *b* differs from *a*: the edits are in the order of *b*, with what is gone where it was."""

    edits: tuple[Edit, ...]
    counts: EditCounts
    setup: tuple[Change, ...] = ()
    outcome: tuple[Change, ...] = ()
    answer: tuple[Words, ...] = ()
    divergence: Divergence | None = None
    tokens: Usage = Usage()
    """Tokens of *b* less those of *a*, over all turns."""
    cost_usd: float | None = None

    @property
    def same(self) -> bool:
        """Whether the agent did the same to the same end; what it was given, and the cost, may differ."""
        return (
            not self.outcome
            and all(edit.kind == "match" for edit in self.edits)
            and all(stretch.kind == "same" for stretch in self.answer)
        )
