"""What `harness report --format html` gathers for the page: runs, traces, contracts, the arena, trajectory diffs."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from harness.cli.output import Output
from harness.errors import CouldNotCheckError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.config import Config
    from harness.records.comparison import Comparison
    from harness.records.run import CaseVerdict, RunRecord
    from harness.records.trace import Trace
    from harness.records.trajectory import Divergence
    from harness.reports.html.differences import Difference, Differences
    from harness.reports.html.page import Material
    from harness.reports.problems import Rule

MOST_PAIRS = 600
"""Pairs of designs that are held against each other without being asked for."""
FILE = "report.html"
"""The page's name in the folder of its run."""


def write_html(
    record: RunRecord,
    folder: Path,
    output: Output,
    *,
    config: Config,
    rules: Mapping[str, Rule],
    out: str | None = None,
    against: str | None = None,
    agents: Sequence[str] = (),
) -> str:
    """
    Write the page of a run; tells where it is, as a reader may open it.

    Args:
        record: The run.
        folder: Where it lies; the page goes there unless *out* names another file.
        output: Told how far it is.
        config: The project's settings.
        rules: What is known of contracts and error codes.
        out: The file to write.
        against: Another run, by what a person types: each trial is held against itself there.
        agents: Two designs of this run that are held against each other.

    Raises:
        UsageError: The extra `reports` is not installed, or *agents* are not two that ran.
        CouldNotCheckError: The file cannot be written.
    """
    import os

    _refuse_without_extra()
    material = _material(record, folder, config=config, rules=rules, against=against, agents=agents)
    path = Path(out) if out else folder / FILE
    shown = out or os.path.relpath(path)
    from harness.reports.html.page import write_page

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with output.working("packing", len(record.results)) as progress:
            write_page(
                path, material, on_trial=None if progress is None else lambda done: setattr(progress, "done", done)
            )
    except OSError as error:
        raise CouldNotCheckError(
            "cannot-write-report",
            f"the report cannot be written to {shown}: {error.strerror or error}",
            hint="make room, or name another place with `--out FILE`",
        ) from None
    return shown


def missing_packages() -> list[str]:
    """What the page needs and is not installed."""
    import importlib.util

    return [name for name in ("jinja2", "matplotlib", "nh3") if importlib.util.find_spec(name) is None]


def _refuse_without_extra() -> None:
    missing = missing_packages()
    if missing:
        raise UsageError(
            "no-reports",
            f"the HTML report needs {', '.join(missing)}",
            hint='install it with `pip install "tapegate[reports]"`',
        )


def _material(
    record: RunRecord,
    folder: Path,
    *,
    config: Config,
    rules: Mapping[str, Rule],
    against: str | None,
    agents: Sequence[str],
) -> Material:
    import os

    from harness import __version__
    from harness.cassettes.redact import Scrubber
    from harness.reports.html.page import Material

    differences = [_designs(record, folder, agents)]
    if against is not None:
        differences.insert(0, _runs(record, folder, config=config, against=against))
    comparison, refused = _arena(record, folder)
    return Material(
        record=record,
        folder=folder,
        version=__version__,
        scrub=Scrubber.from_env(os.environ).scrub,
        rules=rules,
        comparison=comparison,
        refused=refused,
        differences=tuple(each for each in differences if each is not None),
    )


def _arena(record: RunRecord, folder: Path) -> tuple[Comparison | None, str]:
    """The comparison of the run's designs; where it is refused, None and why."""
    from harness.cli.compare import divergence_of
    from harness.compare import compare_run
    from harness.errors import HarnessError

    parted = divergence_of(folder)

    def differ(a: CaseVerdict, b: CaseVerdict) -> Divergence | None:
        """Where two designs part that did not come to the same; every other pair stands in the diffs."""
        if a.verdict == b.verdict:
            raise LookupError
        try:
            return parted(a, b)
        except HarnessError:  # a damaged trace: the page of its case says so
            raise LookupError from None

    try:
        return compare_run(record, divergence=differ), ""
    except HarnessError as error:
        return None, error.message


def _runs(record: RunRecord, folder: Path, *, config: Config, against: str) -> Differences:
    """Each trial of this run against itself in the run *against*, which came before."""
    from harness.diff.pairs import Choice, paired
    from harness.reports.html.differences import Differences
    from harness.reports.runs import find_run, read_results, runs_folder

    other = find_run(runs_folder(config.reports), against)
    if other.resolve() == folder.resolve():
        raise UsageError("bad-arguments", f"run `{record.run}` is the same on both sides", hint="name another run")
    pairs = paired(read_results(other), record.results, Choice())
    return Differences(
        kind="run",
        a=other.name,
        b=record.run,
        pairs=_held(other, folder, pairs.both),
        only_a=pairs.only_a,
        only_b=pairs.only_b,
    )


def _designs(record: RunRecord, folder: Path, agents: Sequence[str]) -> Differences | None:
    """Designs of one run on the same cases, answered alike: the two that are asked for, else as many as are no burden."""
    from harness.reports.html.differences import Differences

    cells: dict[tuple[object, ...], list[CaseVerdict]] = {}
    for verdict in record.results:
        if not agents or verdict.agent in agents:
            cells.setdefault((verdict.set, verdict.case, verdict.trial, verdict.provenance), []).append(verdict)
    ordered = sorted(cells.values(), key=lambda found: all(verdict.verdict == "kept" for verdict in found))
    pairs = [pair for found in ordered for pair in combinations(found, 2) if _asked(pair, agents)]
    if agents and not pairs:
        raise UsageError(
            "bad-arguments",
            f"`{agents[0]}` and `{agents[1]}` have no case in common that was answered alike",
            hint="`harness report --format html` without --agent compares what can be compared",
        )
    shown = pairs if agents else pairs[:MOST_PAIRS]
    if not shown:
        return None
    return Differences(
        kind="design",
        a=record.run,
        b=record.run,
        pairs=_held(folder, folder, shown),
        left_out=len(pairs) - len(shown),
    )


def _asked(pair: tuple[CaseVerdict, CaseVerdict], agents: Sequence[str]) -> bool:
    return not agents or {verdict.agent for verdict in pair} == set(agents)


def _held(first: Path, second: Path, pairs: Sequence[tuple[CaseVerdict, CaseVerdict]]) -> Iterator[Difference]:
    """Hold each pair against each other, one at a time."""
    from harness.diff.trajectories import diff_traces
    from harness.reports.html.differences import Difference

    for a, b in pairs:
        legs_a, legs_b = _legs(first, a), _legs(second, b)
        if isinstance(legs_a, str) or isinstance(legs_b, str):
            why_not = "; ".join(told for told in (legs_a, legs_b) if isinstance(told, str))
            yield Difference(a=a, b=b, diff=None, why_not=why_not)
        else:
            yield Difference(a=a, b=b, diff=diff_traces(legs_a, legs_b))


def _legs(folder: Path, verdict: CaseVerdict) -> tuple[Trace, ...] | str:
    """The traces of a trial, or what is wrong with them."""
    from harness.errors import BadFileError
    from harness.reports.runs import read_traces

    try:
        return read_traces(folder, verdict.cell) or "no trace was kept"
    except BadFileError as error:
        return error.message
