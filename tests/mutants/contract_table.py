"""
Which trials keep each contract, and what breaks it, as a table: made by running every mutant, nothing is written down.

    python tests/mutants/contract_table.py          # with the newest run of the whole matrix, or else the newest run
    python tests/mutants/contract_table.py RUN      # with another one

Kept on the reference: the scripted trials of that run that asked the contract and kept it. Kept by twins: the same for
the sound twins of the mutants. Broken by the letter of: what the tests `test_seed_literal*.py` find in literal profiles.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tabulate import tabulate

from harness.contracts.catalogue import builtin
from harness.records.finding import Finding
from harness.records.run import RunRecord
from harness.reports.runs import MANIFEST, find_run, list_runs, load_run, read_manifest, runs_folder
from harness.testing.mutants import FAMILIES, Mutant, broken_in, findings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = __package__ or HERE.name
HEADERS = ("contract", "kept on the reference", "kept by twins", "broken by", "broken by the letter of")
WIDTHS = (None, None, None, 70, 30)
Broken = defaultdict[str, set[str]]


def main(arguments: list[str]) -> None:
    """Print the table."""
    if not __package__:  # run as a file: its folder becomes a package
        sys.path.insert(0, str(HERE.parent))
    mutants: tuple[Mutant, ...] = import_module(PACKAGE).MUTANTS
    run = stored_run(arguments[0] if arguments else None)
    kept, twins = kept_in(run), Counter[str]()
    for mutant in mutants:
        twins.update(kept_among(findings(mutant.case, mutant.run_sound())))
    broken, letters = broken_by(mutants), broken_by_letters()
    rows = [
        (id, kept[id], twins[id], ", ".join(sorted(broken[id])), ", ".join(sorted(letters[id])))
        for id in builtin()
        if id.rstrip("0123456789") in FAMILIES
    ]
    unbroken = [id for id, *_ in rows if not broken[id]]
    what = "no run" if run is None else f"run {run.run}{', partial' if run.partial else ''}"
    sys.stdout.write(tabulate(rows, HEADERS, tablefmt="simple", maxcolwidths=list(WIDTHS), break_on_hyphens=False))
    sys.stdout.write(f"\n\n{what}; {len(mutants)} mutants; contracts without one: {', '.join(unbroken) or 'none'}\n")


def stored_run(name: str | None) -> RunRecord | None:
    """The run *name*; without a name the newest finished one of the whole matrix, or else the newest finished one."""
    runs = runs_folder(ROOT / "reports")
    if name is not None:
        return load_run(find_run(runs, name))
    manifests = [read_manifest(runs / id) for id in list_runs(runs) if (runs / id / MANIFEST).is_file()]
    finished = [manifest for manifest in manifests if manifest.exit_code is not None]
    newest = max(finished, key=lambda manifest: (not manifest.partial, manifest.run), default=None)
    return None if newest is None else load_run(runs / newest.run)


def kept_in(run: RunRecord | None) -> Counter[str]:
    """How many scripted trials of reference designs keep each contract in *run*."""
    results = () if run is None else run.results
    trials = [one for one in results if one.provenance == "scripted" and one.profile == "reference"]
    return Counter(contract for one in trials for contract in kept_among(one.findings))


def kept_among(found: Iterable[Finding]) -> list[str]:
    """The contracts that were asked and kept."""
    return [finding.contract for finding in found if finding.state == "kept"]


def broken_by(mutants: Iterable[Mutant]) -> Broken:
    """Names of the mutants that break each contract."""
    broken = Broken(set)
    for mutant in mutants:
        for contract in broken_in(findings(mutant.case, mutant.run())):
            broken[contract].add(mutant.id)
    return broken


def broken_by_letters() -> Broken:
    """The literal profiles that break each contract, by what the tests of each design's letter find."""
    letters = Letters()
    with redirect_stdout(StringIO()):
        code = pytest.main(["-q", *map(str, sorted(HERE.glob("test_seed_literal*.py")))], plugins=[letters])
    if code:
        sys.stderr.write("warning: the tests of the letters fail, so that what they break is not all told\n")
    return letters.broken


class Letters:
    """A plugin of pytest that hears what literal profiles break in tests that call `findings`."""

    def __init__(self) -> None:
        self.broken = Broken(set)

    def pytest_collection_modifyitems(self, items: Sequence[Any]) -> None:
        """Listen in every module that has tests."""
        for module in {id(item.module): item.module for item in items}.values():
            module.findings = partial(self.listen, module.findings)

    def listen(self, sound: Callable[..., tuple[Finding, ...]], case: Any, ran: Any) -> tuple[Finding, ...]:
        """What *sound* finds; contracts that a literal profile breaks are remembered."""
        found = sound(case, ran)
        if "@" in ran.cell.agent:
            for contract in broken_in(found):
                self.broken[contract].add(ran.cell.agent)
        return found


if __name__ == "__main__":
    main(sys.argv[1:])
