"""
Stores of a world's own: what `tools.py` offers beside `build(world)` where its rows do not live in SQLite.

    def backend(template: WorldTemplate) -> Backend:
        return NewsBackend(template.tables)

One backend serves every trial of a process; each trial gets a `TrialStore` of its own, opened at its first use.
Digest and changes of a trial are computed here, from the dumps: a store is asked for its rows and never for a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.errors import CouldNotCheckError
from harness.records.messages import EmbeddingReply

if TYPE_CHECKING:
    from harness.worlds.store import Dump


@runtime_checkable
class TrialStore(Protocol):
    """The rows of one trial. No other trial sees what is written to it; tools know what else it can do."""

    def dump(self) -> Dump:
        """Every row as it is now, by table and key; only types that JSON has."""
        ...

    def close(self) -> None:
        """Forget everything that the trial wrote."""
        ...


@runtime_checkable
class Backend(Protocol):
    """What holds the rows that every trial starts with, for as long as the process lives."""

    def dump(self) -> Dump:
        """Every row that a trial starts with, by table and key."""
        ...

    def open(self) -> TrialStore:
        """A store for one trial; many may be open at once, also from several threads."""
        ...

    def close(self) -> None:
        """Stop what was started. The process calls it once, when it ends."""
        ...


class Embed(Protocol):
    """Turns texts into vectors by the trial's own model client, so that the traffic is recorded and replayed."""

    async def __call__(self, texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply: ...


async def embed_outside_a_trial(texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:  # noqa: ARG001
    """
    What `world.embed` is until a trial sets it.

    Raises:
        CouldNotCheckError: Always: there is no model to ask.
    """
    raise CouldNotCheckError(
        "no-embedder",
        "a tool asked for vectors outside a trial, where no model answers",
        hint="run the tool in a trial, or set `world.embed` first: `harness.testing.embeddings` has one for tests",
    )
