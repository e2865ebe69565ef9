"""The news desk's tools on its store, which searches by Euclidean distance here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.modules import load_module
from harness.worlds import World, WorldTemplate

if TYPE_CHECKING:
    from harness.worlds.backend import Backend

_NEWSDESK = load_module(Path(__file__).parents[1] / "newsdesk" / "tools.py", kind="world_newsdesk", code="bad-world")


def build(world: World) -> Sequence[Callable[..., Any]]:
    """The tools of *world*, in the order in which they are offered."""
    belt: Sequence[Callable[..., Any]] = _NEWSDESK.build(world)
    return belt


def backend(template: WorldTemplate) -> Backend:
    """The store that all trials start from."""
    store: Backend = _NEWSDESK.backend(template, order="l2")
    return store
