"""Run golden cases against a real model, or the scripted one, and keep its traffic as cassettes."""

from __future__ import annotations

import argparse

from harness.cli.ci import refuse_in_ci
from harness.cli.narrowing import (
    add_agent_arguments,
    add_narrowing,
    narrowing_of,
    positive_usd,
    project_config,
)
from harness.cli.output import Output
from harness.errors import ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.matrix import RunPlan
    from harness.recording import RecordOutcome
    from harness.records.sampling import Sampling
    from harness.reports.documents import RecordDocument
    from harness.trials import Project

__all__ = ["add_agent_arguments", "add_arguments", "run"]

MODES = ("missing", "stale", "all", "verify")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness record` takes."""
    add_narrowing(parser)
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="missing",
        help="missing: what has no cassette (the default); stale: what no longer replays; all; verify: ask and compare, write nothing",
    )
    parser.add_argument("--base-url", metavar="URL", help="address of the model's server, in place of the declared one")
    parser.add_argument("--budget", type=positive_usd, metavar="USD", help="stop before more than this is spent")
    parser.add_argument("--dry-run", action="store_true", help="say what would be recorded and what it would cost")
    parser.add_argument(
        "--judge-only",
        action="store_true",
        help="record only what judges and embedding models say of the answers that are recorded; --base-url is then theirs",
    )
    parser.add_argument(
        "--sequential",
        action="store_true",
        help="record trials of a case one after the other, and stop when Wald's test has decided between --p0 and --p1; --trials is the most",
    )
    parser.add_argument(
        "--p0", type=_rate, metavar="RATE", help="with --sequential: the rate of kept trials to catch (default 0.8)"
    )
    parser.add_argument(
        "--p1", type=_rate, metavar="RATE", help="with --sequential: the rate that is good enough (default 0.95)"
    )
    parser.add_argument("--allow-ci-write", action="store_true", help="write even where CI is set")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Record what the flags choose."""
    from harness.evaluate import plan
    from harness.reports.documents import RecordDocument

    _check_sequential(args)
    writes = not args.dry_run and args.mode != "verify"
    refuse_in_ci("cassettes", allowed=args.allow_ci_write or not writes)
    project, chosen = plan(project_config(), narrowing_of(args))
    with output.recording() as tell:
        outcome, sampling = _recorded(
            args,
            project,
            chosen,
            mode=args.mode,
            base_url=args.base_url,
            budget_usd=args.budget,
            dry_run=args.dry_run,
            judge_only=args.judge_only,
            on_progress=tell,
        )
    document = RecordDocument(
        calls=outcome.calls,
        cost_usd=outcome.cost_usd,
        cassettes=tuple(outcome.cassettes),
        refused=tuple(outcome.refused),
        planned=len(chosen.cells),
        dry_run=args.dry_run,
        mode=args.mode,
        sequential=sampling,
    )
    if output.as_json:
        output.document(document)
    else:
        output.data(render(document))
    if not chosen.cells:
        return ExitCode.NOTHING_COMPARED
    return ExitCode.COULD_NOT_CHECK if document.refused else ExitCode.PASS


def _check_sequential(args: argparse.Namespace) -> None:
    """
    Make sure that what belongs to a sequential recording stands beside it alone.

    Raises:
        UsageError: It does not.
    """
    if not args.sequential and (args.p0 is not None or args.p1 is not None):
        raise UsageError("bad-arguments", "--p0 and --p1 go with --sequential", hint="add --sequential")
    if args.sequential and (args.mode == "verify" or args.judge_only):
        other = "--judge-only" if args.judge_only else "--mode verify"
        raise UsageError("bad-arguments", f"--sequential does not go with {other}, which makes no trials")


def _recorded(
    args: argparse.Namespace, project: Project, chosen: RunPlan, **how: Any
) -> tuple[RecordOutcome, Sampling | None]:
    from harness.evaluate import record

    if not args.sequential:
        return record(project, chosen, **how), None
    from harness.sampling import record_sequentially
    from harness.stats.sequential import SequentialTest

    rates = {"bad": args.p0, "good": args.p1}
    test = SequentialTest(**{name: rate for name, rate in rates.items() if rate is not None})
    return record_sequentially(project, chosen, test, **how)


def render(document: RecordDocument) -> str:
    """Render what was recorded, or what would be, for people."""
    from harness.reports.screen import one_line

    cost = f", about {document.cost_usd:.2f} USD" if document.cost_usd is not None else ""
    calls = f"{document.calls} model calls{cost}"
    if document.dry_run and document.cassettes and not document.calls:
        calls = "model calls unknown, as there is no recording to judge by"
    lines = [f"{_told(document)}: {calls}"]
    if document.mode == "verify" and not document.dry_run and not document.refused:
        return lines[0]
    lines += [f"  {one_line(path)}" for path in document.cassettes[:20]]
    if len(document.cassettes) > 20:
        lines.append(f"  and {len(document.cassettes) - 20} more; `--json` has all")
    if document.sequential and not document.dry_run:
        lines += ["", *_sampled(document.sequential)]
    if document.refused:
        lines += ["", f"REFUSED  {len(document.refused)} trials; their old cassettes are untouched"]
        lines += [f"  {one_line(reason)}" for reason in document.refused]
    elif document.cassettes and not document.dry_run:
        lines += ["", "hint: `harness run` replays them; commit them with what they were recorded for"]
    return "\n".join(lines)


def _sampled(sampling: Sampling) -> list[str]:
    """What was decided of each case, and what that saved."""
    from harness.reports.screen import one_line

    rates = f"a case is good at {sampling.p1:.0%} kept trials, bad at {sampling.p0:.0%}"
    lines = [f"SEQUENTIAL  {rates} (α {sampling.alpha:g}, β {sampling.beta:g})"]
    for case in sampling.cases:
        name = one_line(f"{case.agent} × {case.model} {case.set}/{case.case}")
        left_out = [
            f"{number} {what}"
            for number, what in ((case.repeated, "repeated others"), (case.unchecked, "could not be checked"))
            if number
        ]
        told = f"{case.passes} of {case.samples} samples kept, {case.recorded} recorded now, {case.planned} at most"
        lines.append(f"  {case.decision:<9}  {name}: {'; '.join([told, *left_out])}")
        lines += [f"             {case.because}"] if case.because else []
    return [*lines, f"  saved      {_saved(sampling)}"]


def _saved(sampling: Sampling) -> str:
    """The trials that were not needed, and about what they would have taken."""
    trials = sum(case.saved_trials for case in sampling.cases)
    calls, tokens = (sum(getattr(case, f"saved_{what}") for case in sampling.cases) for what in ("calls", "tokens"))
    costs = [case.saved_cost_usd for case in sampling.cases if case.saved_cost_usd is not None]
    cost = f", {sum(costs):.2f} USD" if costs else ""
    about = f": about {calls:,} model calls, {tokens:,} tokens{cost}" if trials else ""
    return f"{trials} trial{'' if trials == 1 else 's'}{about}"


def _rate(text: str) -> float:
    """Read a share strictly between 0 and 1."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no rate between 0 and 1")
    return share


def _told(document: RecordDocument) -> str:
    judges = sum("/_judge/" in path for path in document.cassettes)
    trials = f"{len(document.cassettes) - judges} of {document.planned} trials"
    if judges:
        trials += f" and what judges say of {judges} case{'s' if judges > 1 else ''}"
    if document.mode == "verify":
        return f"would ask again in {trials}" if document.dry_run else f"{trials} answered as they were recorded"
    return f"{'would record' if document.dry_run else 'recorded'} {trials}"
