"""Make a run the committed baseline of the cells that it covers, and what its trials did an accepted way to do it."""

from __future__ import annotations

import argparse
import os

from harness.cli.ci import refuse_in_ci
from harness.cli.output import Output
from harness.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness accept` takes."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="id of the run, a unique part of it, or its folder; else the newest"
    )
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why these verdicts are right; it is committed")
    parser.add_argument(
        "--also",
        action="store_true",
        help="keep the trajectories that were accepted earlier for these cases beside the new ones, as ways that are right too",
    )
    parser.add_argument("--allow-ci-write", action="store_true", help="write even where CI is set")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Accept a stored run, if it was run on the files that are there now."""
    from pathlib import Path

    from harness.cli.accepted import done
    from harness.cli.stale import refuse_stale
    from harness.config import load_config
    from harness.gate.accepting import accept
    from harness.gate.baseline import baselines_folder
    from harness.reports.documents import AcceptDocument
    from harness.reports.runs import find_run, load_run, runs_folder

    refuse_in_ci("baselines", allowed=args.allow_ci_write)
    config = load_config(Path.cwd())
    folder = find_run(runs_folder(config.reports), args.run)
    record = load_run(folder)
    refuse_stale(config, record)
    did = done(folder, record.results)
    accepted = accept(config.reports, record, reason=args.reason, did=did, also=args.also)
    written = tuple(os.path.relpath(path, config.root) for path in accepted.written)
    if output.as_json:
        output.document(
            AcceptDocument(
                written=written, cells=accepted.cells, known=accepted.known, trajectories=accepted.trajectories
            )
        )
        return ExitCode.PASS
    known = f", {accepted.known} of them known failures" if accepted.known else ""
    ways = f"; {accepted.trajectories} new trajectories" if accepted.trajectories else ""
    output.data(f"accepted {accepted.cells} cells of run {record.run}{known}{ways}")
    for path in written:
        output.data(f"  wrote {path}")
    if written:
        output.note(f"\nhint: commit {os.path.relpath(baselines_folder(config.reports), config.root)}")
    else:
        output.note("the baseline already says so; nothing was written")
    return ExitCode.PASS
