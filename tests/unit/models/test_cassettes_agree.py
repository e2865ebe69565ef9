"""
The fast and the wire port over the cassettes of this repository: all scripted ones, and 5 % of the others, chosen by
their path. `HARNESS_WIRE_ALL=1` takes all.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from harness.cassettes import transport as wiring
from harness.cassettes.file import Cassette, load
from harness.models.agreement import disagreements
from harness.models.fast import FastPort
from harness.models.wire_port import WirePort

_FOLDER = Path(__file__).parents[3] / "cassettes"
_EVERY = 20
"""One in so many cassettes of real models is chosen."""


def test_both_ports_read_the_committed_cassettes_alike() -> None:
    """An agent sees the same on both ports, whichever committed cassette is played."""
    chosen = [cassette for path in sorted(_FOLDER.rglob("*.yaml")) if _is_chosen(cassette := load(path), path)]
    try:
        found = {cassette.path: lines for cassette in chosen if (lines := disagreements(cassette, FastPort, WirePort))}
    finally:
        wiring.uninstall()

    assert found == {}
    assert chosen, "no cassette was compared"


def test_the_choice_depends_on_the_path_alone() -> None:
    """About one in twenty is chosen, the same ones in every checkout."""
    chosen = [n for n in range(1000) if _drawn(f"lean_react/model/shared/{n}.0.yaml")]

    assert 25 <= len(chosen) <= 75
    assert chosen == [n for n in range(1000) if _drawn(f"lean_react/model/shared/{n}.0.yaml")]


def _is_chosen(cassette: Cassette, path: Path) -> bool:
    if cassette.provenance.answered_by == "scripted" or os.environ.get("HARNESS_WIRE_ALL") == "1":
        return True
    return _drawn(path.relative_to(_FOLDER).as_posix())


def _drawn(name: str) -> bool:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % _EVERY == 0
