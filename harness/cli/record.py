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
from harness.errors import ExitCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.reports.documents import RecordDocument

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
    parser.add_argument("--allow-ci-write", action="store_true", help="write even where CI is set")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Record what the flags choose."""
    from harness.evaluate import plan, record
    from harness.reports.documents import RecordDocument
    from harness.reports.screen import one_line

    writes = not args.dry_run and args.mode != "verify"
    refuse_in_ci("cassettes", allowed=args.allow_ci_write or not writes)
    project, chosen = plan(project_config(), narrowing_of(args))
    outcome = record(
        project,
        chosen,
        mode=args.mode,
        base_url=args.base_url,
        budget_usd=args.budget,
        dry_run=args.dry_run,
        judge_only=args.judge_only,
        on_progress=lambda text: output.note(one_line(text)),
    )
    document = RecordDocument(
        calls=outcome.calls,
        cost_usd=outcome.cost_usd,
        cassettes=tuple(outcome.cassettes),
        refused=tuple(outcome.refused),
        planned=len(chosen.cells),
        dry_run=args.dry_run,
        mode=args.mode,
    )
    if output.as_json:
        output.document(document)
    else:
        output.data(render(document))
    if not chosen.cells:
        return ExitCode.NOTHING_COMPARED
    return ExitCode.COULD_NOT_CHECK if document.refused else ExitCode.PASS


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
    if document.refused:
        lines += ["", f"REFUSED  {len(document.refused)} trials; their old cassettes are untouched"]
        lines += [f"  {one_line(reason)}" for reason in document.refused]
    elif document.cassettes and not document.dry_run:
        lines += ["", "hint: `harness run` replays them; commit them with what they were recorded for"]
    return "\n".join(lines)


def _told(document: RecordDocument) -> str:
    judges = sum("/_judge/" in path for path in document.cassettes)
    trials = f"{len(document.cassettes) - judges} of {document.planned} trials"
    if judges:
        trials += f" and what judges say of {judges} case{'s' if judges > 1 else ''}"
    if document.mode == "verify":
        return f"would ask again in {trials}" if document.dry_run else f"{trials} answered as they were recorded"
    return f"{'would record' if document.dry_run else 'recorded'} {trials}"
