"""Finding a run folder again, by what a person types."""

from __future__ import annotations

import difflib
from pathlib import Path

from harness.errors import UsageError


def runs_folder(reports: Path) -> Path:
    """Where runs stand in the folder *reports*."""
    return reports / "runs"


def list_runs(runs: Path) -> list[str]:
    """Ids of all runs in *runs*, oldest first, unfinished ones included."""
    if not runs.is_dir():
        return []
    return sorted(path.parent.name for path in runs.glob("*/results.jsonl"))


def find_run(runs: Path, name: str | None = None) -> Path:
    """
    Find the folder of a run: the newest where *name* is None, else the one with that id, unique part of an id, or path.

    Raises:
        UsageError: There is none, or more than one.
    """
    ids = list_runs(runs)
    if name is None:
        if not ids:
            raise UsageError("no-such-run", f"no run in {runs}", hint="`harness run` makes one")
        return runs / ids[-1]
    if name in ids:
        return runs / name
    if (Path(name) / "results.jsonl").is_file():
        return Path(name)
    matches = [run for run in ids if name in run]
    if len(matches) == 1:
        return runs / matches[0]
    raise _no_such_run(name, ids, matches)


def _no_such_run(name: str, ids: list[str], matches: list[str]) -> UsageError:
    if matches:
        return UsageError("no-such-run", f"{len(matches)} runs match `{name}`", hint=f"say which: {', '.join(matches)}")
    close = difflib.get_close_matches(name, ids, n=1)
    newest = f"the newest is `{ids[-1]}`" if ids else "there are none; `harness run` makes one"
    return UsageError(
        "no-such-run", f"no run named `{name}`", hint=f"did you mean `{close[0]}`? {newest}" if close else newest
    )
