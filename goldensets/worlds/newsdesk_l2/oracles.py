"""The newsroom's oracles, over the rows as the store dumps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.modules import load_module
from harness.records.messages import Json
from harness.worlds import World

_NEWSROOM = Path(__file__).parents[1] / "newsroom" / "oracles.py"


def oracles(world: World) -> Mapping[str, Callable[..., Json]]:
    """An oracle for each tool that searches the clusters of *world*; by meaning always in the order of the cosine."""
    truth = load_module(_NEWSROOM, kind="oracles", code="bad-world")
    found: Mapping[str, Callable[..., Json]] = truth.oracles_over(
        world, lambda table: world.store.dump()[table].values()
    )
    return found
