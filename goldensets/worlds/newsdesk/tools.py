"""
The news desk's five tools on its own store, PostgreSQL with pgvector; rows and vectors are the newsroom's.

One server and one load for a process; each trial works in a transaction that is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from harness.modules import load_module
from harness.worlds import World, WorldTemplate

if TYPE_CHECKING:
    from harness.worlds.backend import Backend
    from harness.worlds.world_file import Table

_HERE = Path(__file__).parent
_STORE = _HERE.parents[2] / "agents" / "newsdesk" / "store"
_NEWSROOM = _HERE.parent / "newsroom"


def build(world: World) -> Sequence[Callable[..., Any]]:
    """The tools of *world*, in the order in which they are offered."""
    belt: Sequence[Callable[..., Any]] = _store("tools").NewsTools(world).belt()
    return belt


def backend(template: WorldTemplate, *, order: Literal["cosine", "l2"] = "cosine") -> Backend:
    """The store that all trials start from, searched in *order*."""
    from harness.records.digest import digest
    from harness.worlds.vectors import load_vectors

    recorded = load_vectors(_NEWSROOM)
    vectors = {recorded.texts[key]: vector for key, vector in recorded.vectors.items()}
    model = _store("vectors").EmbeddingModel(recorded.model, recorded.dimension, recorded.prefix, "query: ")
    made: Backend = _store("trials").NewsBackend(
        _rows(template.tables["clusters"]), _rows(template.tables["articles"]), model=model, order=order,
        embed=lambda texts: [vectors[digest(text)] for text in texts],
    )  # fmt: skip
    return made


def _rows(table: Table) -> list[Mapping[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _store(part: str) -> ModuleType:
    """A module of the agent's package `store`."""
    from importlib import import_module

    package = load_module(_STORE / "__init__.py", kind="newsdesk", code="bad-world", package=True)
    return import_module(f".{part}", package.__name__)
