"""
Show how the trajectories of two runs differ, turn by turn; with two --agent, how two designs do on the same cases; of one
run, how its trials differ from the accepted trajectories.
"""

from __future__ import annotations

import argparse

from harness.cli.output import Output
from harness.errors import ExitCode, NothingComparedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.diff.pairs import Pairs
    from harness.diff.turns import Price
    from harness.records.run import CaseVerdict, Provenance
    from harness.records.trajectory import Diff
    from harness.reports.documents import DiffDocument, TrialDiff


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness diff` takes."""
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="two runs, by id, unique part of it, or folder; one alone is held against what is accepted",
    )
    parser.add_argument("--case", action="append", default=[], metavar="GLOB", help="only cases whose id matches")
    parser.add_argument("--set", action="append", default=[], metavar="SET", help="only this golden set")
    parser.add_argument(
        "--agent", action="append", default=[], metavar="A", help="only this agent; twice: the first against the second"
    )
    parser.add_argument(
        "--model", action="append", default=[], metavar="M", help="only this model; twice: the first against the second"
    )
    parser.add_argument("--trial", type=_trial, metavar="N", help="only this trial, from 0")
    parser.add_argument("--format", choices=["text", "markdown"], default="text", help="how to print it (default text)")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Compare; that trajectories differ is no failure, so the exit code says only whether all could be compared."""
    from pathlib import Path

    from harness.cli.accepted import against_accepted
    from harness.config import load_config
    from harness.diff.pairs import Choice, paired
    from harness.reports.runs import find_run, read_results, runs_folder
    from harness.reports.trajectories import render_diff, render_diff_markdown

    _check(args)
    config = load_config(Path.cwd())
    runs = runs_folder(config.reports)
    folders = [find_run(runs, name) for name in args.runs]
    choice = Choice(
        agents=tuple(args.agent),
        models=tuple(args.model),
        sets=tuple(args.set),
        cases=tuple(args.case),
        trial=args.trial,
    )
    pairs = paired(read_results(folders[0]), read_results(folders[-1]), choice)
    if not pairs.both:
        raise _nothing(folders, pairs)
    if len(folders) == 1 and not _two(args):
        document = against_accepted(config, folders[0], [verdict for verdict, _ in pairs.both])
    else:
        document = _compared(folders[0], folders[-1], pairs)
    if output.as_json:
        output.document(document)
    elif args.format == "markdown":
        output.data(render_diff_markdown(document))
    else:
        output.data(render_diff(document, width=output.width, paint=output.paint))
    return ExitCode.COULD_NOT_CHECK if document.untraced else ExitCode.PASS


def _check(args: argparse.Namespace) -> None:
    if len(args.runs) > 2 or len(args.agent) > 2 or len(args.model) > 2:
        raise UsageError(
            "bad-arguments", "harness diff compares two runs, agents or models", hint="`harness diff --help`"
        )


def _two(args: argparse.Namespace) -> bool:
    """Whether two agents or models are told apart."""
    return max(len(args.agent), len(args.model)) == 2


def _compared(first: Path, second: Path, pairs: Pairs) -> DiffDocument:
    from harness.diff.trajectories import diff_traces
    from harness.reports.documents import DiffDocument
    from harness.reports.runs import read_traces

    trials, untraced = [], []
    for a, b in pairs.both:
        legs_a, legs_b = read_traces(first, a.cell), read_traces(second, b.cell)
        untraced += [verdict.cell for verdict, legs in ((a, legs_a), (b, legs_b)) if not legs]
        if legs_a and legs_b:
            diff = diff_traces(legs_a, legs_b, price_a=_price(a.provenance), price_b=_price(b.provenance))
            trials.append(_told(a, b, diff))
    return DiffDocument(
        a=first.name,
        b=second.name,
        trials=tuple(trials),
        only_a=pairs.only_a,
        only_b=pairs.only_b,
        untraced=tuple(dict.fromkeys(untraced)),
    )


def _told(a: CaseVerdict, b: CaseVerdict, diff: Diff) -> TrialDiff:
    from harness.reports.documents import TrialDiff

    return TrialDiff(
        a=a.cell, b=b.cell, provenance_a=a.provenance, provenance_b=b.provenance, same=diff.same, diff=diff
    )


def _price(provenance: Provenance) -> Price | None:
    """What a hosted provider takes; a model that one runs oneself has no price."""
    if provenance != "live":
        return None
    from harness.models.price import price_table

    return price_table().cost_usd


def _nothing(folders: list[Path], pairs: Pairs) -> NothingComparedError:
    return NothingComparedError(
        "nothing-to-diff",
        f"no trial is in both: there are {len(pairs.only_a)} in {folders[0].name} and {len(pairs.only_b)} in {folders[-1].name}",
        hint="give --agent, or --model, twice where the two are named differently"
        if pairs.only_a and pairs.only_b
        else "`harness diff --help` lists what narrows it",
    )


def _trial(text: str) -> int:
    """Read a whole number of at least 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number of at least 0")
    return int(text)
