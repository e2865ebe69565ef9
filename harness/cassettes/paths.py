"""Where a cassette lies: `cassettes/<agent>/<model>/<set>/<case>.<trial>.yaml`, safe on every file system."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from harness.errors import UsageError
from harness.records.digest import digest
from harness.records.run import Cell

MOST_NAME_BYTES = 120
"""The longest file or folder name, ending included; what is longer is cut and told apart by a digest."""
_ENDING = ".yaml"
_plain = re.compile(r"[\w@=+,.~-]+", re.ASCII).fullmatch
"""Whether nothing in a name has to be encoded."""


def cassette_path(root: Path, cell: Cell) -> Path:
    """The file of *cell* below *root*, the project's cassettes folder."""
    return root / cassette_name(cell)


def cassette_name(cell: Cell) -> str:
    """The file of *cell* as a text relative to the project's cassettes folder."""
    return f"{_folder(cell.agent, cell.model, cell.set)}/{_safe(cell.case, ending=f'.{cell.trial}{_ENDING}')}"


def cell_of(root: Path, path: Path) -> Cell | None:
    """
    The cell whose cassette *path* is, or None where the path has another shape.

    A name that was cut comes back cut: look such files up by comparing paths, not cells.
    """
    try:
        agent, model, set_, name = path.relative_to(root).parts
    except ValueError:
        return None
    case, _, trial = name.removesuffix(_ENDING).rpartition(".")
    if not (name.endswith(_ENDING) and case and trial.isdecimal()):
        return None
    return Cell(unquote(agent), unquote(model), unquote(set_), unquote(case), int(trial))


def check_collisions(root: Path, cells: Iterable[Cell]) -> None:
    """
    Make sure that no two *cells* share a file where upper and lower case are the same.

    Raises:
        UsageError: Two of them do; the message names both.
    """
    owners: dict[str, Cell] = {}
    for cell in cells:
        other = owners.setdefault(str(cassette_path(root, cell)).casefold(), cell)
        if other != cell:
            raise UsageError(
                "cassette-collision",
                f"`{_named(other)}` and `{_named(cell)}` would share a cassette on file systems that ignore case",
                hint="rename one of them",
            )


def _named(cell: Cell) -> str:
    return f"{cell.agent}/{cell.model}/{cell.set}/{cell.case}.{cell.trial}"


@lru_cache(maxsize=256)
def _folder(agent: str, model: str, set_: str) -> str:
    return f"{_safe(agent)}/{_safe(model)}/{_safe(set_)}"


def _safe(name: str, *, ending: str = "") -> str:
    """Percent-encode what a file system could take amiss; cut what is too long."""
    encoded = name if _plain(name) else quote(name, safe="@=+,")
    if not encoded.strip("."):
        encoded = encoded.replace(".", "%2E")
    if len(encoded) + len(ending) > MOST_NAME_BYTES:
        keep = MOST_NAME_BYTES - len(ending) - 17
        encoded = f"{encoded[:keep].rstrip('%')}-{digest(name)}"
    return (encoded or "%") + ending
