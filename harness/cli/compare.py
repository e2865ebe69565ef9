"""
Compare designs on the same questions in the same recorded world, each with those alone that were answered alike; without RUN,
replay what is named first. Exit codes: 0 compared; 2 asked for what is never compared; 3 a trial could not be checked, or was not the
same for all; 4 no two designs answered the same case; 5 only samples were compared, and every pair is left to chance (the document
says how many trials of each case would tell). A broken contract is a figure here, and no failure: `harness gate` decides.
"""

from __future__ import annotations

import argparse

from harness.cli.ci import refuse_in_ci
from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.compare import Chosen, Differ
    from harness.config import Config
    from harness.matrix import RunPlan
    from harness.records.comparison import Comparison
    from harness.records.run import CaseVerdict, Cell, RunRecord
    from harness.records.trajectory import Divergence, Trajectory
    from harness.trials import Project

_KEPT = 256
"""Trajectories that are held in memory: designs are compared case by case."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness compare` takes."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="RUN | AGENT",
        help="a stored run, by id, unique part of it, or folder; and agents to compare, the first against the others",
    )
    parser.add_argument("--set", action="append", default=[], metavar="SET", help="only this golden set")
    parser.add_argument("--model", action="append", default=[], metavar="M", help="only this model")
    parser.add_argument("--case", action="append", default=[], metavar="GLOB", help="only cases whose id matches")
    parser.add_argument(
        "--stored", action="store_true", help="compare RUN though the files that it was made with have changed since"
    )
    parser.add_argument("--format", choices=["text", "markdown"], default="text", help="how to print it (default text)")
    parser.add_argument(
        "--write", action="store_true", help="write reports/comparison/SET.md and .json, to be committed"
    )
    parser.add_argument("--allow-ci-write", action="store_true", help="write even where CI is set")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Compare, and say where designs part."""
    from harness.compare import Chosen, compare_run
    from harness.reports.comparison_markdown import comparison_markdown
    from harness.reports.comparison_text import render_comparison

    config = project_config()
    name, agents = _run_and_agents(config, args.words)
    chosen = Chosen(agents=agents, models=tuple(args.model), sets=tuple(args.set), cases=tuple(args.case))
    _check(args, name, chosen)
    record, folder = _stored(config, name, chosen, args) if name else _replayed(config, chosen, output)
    comparison = compare_run(record, divergence=divergence_of(folder), chosen=chosen)
    if output.as_json:
        output.document(comparison)
    elif args.format == "markdown":
        output.data(comparison_markdown(comparison).rstrip())
    else:
        output.data(render_comparison(comparison, width=output.width, paint=output.paint))
    if args.write:
        _write(config, record, folder, comparison, output)
    return ExitCode(comparison.exit_code)


def divergence_of(folder: Path) -> Differ:
    """Where the trajectories of two trials of the run in *folder* part, by the traces that it keeps."""
    from functools import lru_cache

    from harness.diff.trajectories import first_divergence
    from harness.diff.turns import trajectory
    from harness.reports.runs import read_traces

    @lru_cache(maxsize=_KEPT)
    def done(cell: Cell) -> Trajectory | None:
        legs = read_traces(folder, cell)
        return trajectory(legs) if legs else None

    def differ(a: CaseVerdict, b: CaseVerdict) -> Divergence | None:
        one, other = done(a.cell), done(b.cell)
        if one is None or other is None:
            raise LookupError
        return first_divergence(one, other)

    return differ


def _run_and_agents(config: Config, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The run that is named, or the empty string, and the agents: a word that is no agent is the run."""
    from harness.agents.load import list_agents, split_name
    from harness.reports.runs import find_run, list_runs, runs_folder

    known = set(list_agents(config.agents))
    others = [word for word in words if split_name(word)[0] not in known]
    agents = tuple(word for word in words if word not in others)
    if not others:
        return "", agents
    if len(others) == 1 and words[0] == others[0]:
        try:
            find_run(runs_folder(config.reports), others[0])
        except UsageError:
            if any(others[0] in run for run in list_runs(runs_folder(config.reports))):
                raise
        else:
            return others[0], agents
    raise _neither(others[-1], known)


def _neither(word: str, agents: set[str]) -> UsageError:
    import difflib

    close = difflib.get_close_matches(word, agents, n=1)
    known = f"agents: {', '.join(sorted(agents)) or 'none'}; `harness run` makes runs"
    return UsageError(
        "no-such-agent",
        f"`{word}` is neither a stored run nor an agent",
        hint=f"did you mean `{close[0]}`? {known}" if close else known,
    )


def _check(args: argparse.Namespace, name: str, chosen: Chosen) -> None:
    if args.stored and not name:
        raise UsageError("bad-arguments", "--stored goes with RUN", hint="without RUN, what is named is replayed now")
    if args.write:
        refuse_in_ci("comparisons", allowed=args.allow_ci_write)
        if name or chosen.agents or chosen.models or chosen.cases:
            raise UsageError(
                "bad-arguments",
                "--write goes with --set alone: what is committed is about every design and case, replayed now",
                hint="`harness compare --set SET --write`",
            )


def _stored(config: Config, name: str, chosen: Chosen, args: argparse.Namespace) -> tuple[RunRecord, Path]:
    from harness.cli.stale import refuse_stale
    from harness.reports.runs import find_run, load_run, runs_folder

    folder = find_run(runs_folder(config.reports), name)
    record = load_run(folder)
    for what, asked, there in (
        ("agent", chosen.agents, {verdict.agent for verdict in record.results}),
        ("model", chosen.models, {verdict.model for verdict in record.results}),
        ("set", chosen.sets, {verdict.set for verdict in record.results}),
    ):
        if missing := [one for one in asked if one not in there]:
            raise UsageError(
                "not-in-run",
                f"run `{record.run}` has no trial of the {what} `{missing[0]}`",
                hint=f"it has: {', '.join(sorted(there)) or 'none'}",
            )
    if not args.stored:
        refuse_stale(config, record)
    return record, folder


def _replayed(config: Config, chosen: Chosen, output: Output) -> tuple[RunRecord, Path]:
    from harness.evaluate import plan
    from harness.evaluate import run as replay
    from harness.matrix import Narrowing
    from harness.reports.runs import runs_folder

    narrowing = Narrowing(sets=chosen.sets, agents=chosen.agents, models=chosen.models, cases=chosen.cases)
    project, planned = plan(config, narrowing)
    _refuse_never_run(config, project, planned)
    with output.replaying(planned.cells) as tell:
        record = replay(project, planned, on_verdict=tell)
    return record, runs_folder(config.reports) / record.run


def _refuse_never_run(config: Config, project: Project, planned: RunPlan) -> None:
    """
    Refuse a design on a set that neither the matrix declares for it nor a recording is there of.

    Raises:
        UsageError: The flags name one.
    """
    from pathlib import Path

    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in (each.cell for each in planned.cells):
        groups.setdefault((cell.agent, cell.model, cell.set), []).append(cell)
    for (agent, model, set_name), cells in groups.items():
        declared = any(
            row.set == set_name and agent.partition("+")[0] in row.agents and model in row.models
            for row in config.matrix
        )
        if not declared and not any(Path(project.cassette_path(cell)).is_file() for cell in cells):
            raise UsageError(
                "unlike-sets",
                f"`{agent} × {model}` does not run the set `{set_name}`: the matrix does not declare it, and nothing is recorded",
                hint="designs are compared on the same questions only; choose a set that all of them run with --set",
            )


def _write(config: Config, record: RunRecord, folder: Path, comparison: Comparison, output: Output) -> None:
    """Write a comparison of each set, if all of it could be checked."""
    import os

    from harness.compare import Chosen, compare_run
    from harness.reports.comparison_markdown import write_comparison

    if comparison.exit_code in {ExitCode.COULD_NOT_CHECK, ExitCode.NOTHING_COMPARED}:
        output.note("nothing was written: the comparison is not whole")
        return
    written: list[Path] = []
    for set_name in comparison.sets:
        of_set = compare_run(record, divergence=divergence_of(folder), chosen=Chosen(sets=(set_name,)))
        written += write_comparison(config.reports, set_name, of_set)
    for path in written:
        output.note(f"wrote {os.path.relpath(path, config.root)}")
    if not written:
        output.note("reports/comparison already says so; nothing was written")
