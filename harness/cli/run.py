"""Replay golden cases offline and judge them; with --ask, put one question to a live model instead."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import (
    add_agent_arguments,
    add_narrowing,
    narrowing_of,
    positive,
    project_config,
)
from harness.cli.output import Output
from harness.errors import ExitCode, UsageError

__all__ = ["add_agent_arguments", "add_arguments", "run"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.config import Config
    from harness.records.run import Cell, RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness run` takes."""
    add_narrowing(parser)
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="trials under way at once (default 1)")
    parser.add_argument(
        "--affected",
        action="store_true",
        help="only trials that a change since the committed baseline can reach; nothing affected is exit 0",
    )
    parser.add_argument("--resume", metavar="RUN", help="go on with a run that was cut off")
    parser.add_argument("--wire", action="store_true", help="replay through litellm over a patched transport")
    parser.add_argument("--out", metavar="DIR", help="write the run folder into DIR, in place of reports/runs")
    parser.add_argument("--ask", metavar="TEXT", help="ask one live question, streamed; needs --model")
    parser.add_argument("--base-url", metavar="URL", help="with --ask: the address of the model's server")
    parser.add_argument(
        "--world", metavar="W", help="with --ask: the world that the agent works in; by default the first set's"
    )


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Replay what the flags choose, or ask."""
    if args.ask is not None:
        from harness.cli.ask import ask

        return ask(args, output)
    if args.base_url:
        raise UsageError(
            "bad-arguments",
            "--base-url goes with --ask; a replay asks no server",
            hint="`harness record --base-url URL` records from a server",
        )
    if args.world:
        raise UsageError(
            "bad-arguments",
            "--world goes with --ask; golden cases name their own",
            hint="`world` stands in a golden set, or in a case of it",
        )
    if args.affected and args.wire:
        raise UsageError(
            "bad-arguments",
            "--affected does not go with --wire: baselines do not say which litellm was there",
            hint="leave one of them out",
        )
    return _replay(args, output)


def _replay(args: argparse.Namespace, output: Output) -> ExitCode:
    from pathlib import Path

    from harness.evaluate import plan
    from harness.evaluate import run as replay
    from harness.reports.runs import runs_folder

    config = project_config()
    project, chosen = plan(config, narrowing_of(args))
    if args.affected:
        from harness.affected import only_affected

        chosen = only_affected(project, chosen)
    out = Path(args.out) if args.out else runs_folder(config.reports)
    resumed = _resumed(config, out, args.resume) if args.resume is not None else None
    with output.replaying(chosen.cells, done=_done(resumed)) as tell:
        record = replay(
            project,
            chosen,
            port="wire" if args.wire else "fast",
            jobs=args.jobs,
            resume=resumed,
            out=out,
            on_verdict=tell,
        )
    if output.as_json:
        output.document(record)
    else:
        output.data(_rendered(config, record, out, output, elsewhere=bool(args.out)))
    return ExitCode(record.exit_code)


def _resumed(config: Config, runs: Path, name: str) -> Path:
    from harness.cli.stale import refuse_stale
    from harness.reports.runs import find_run, read_partial

    folder = find_run(runs, name)
    refuse_stale(config, read_partial(folder))
    return folder


def _done(resumed: Path | None) -> set[Cell]:
    """Trials that a run which goes on has a verdict of."""
    from harness.reports.runs import read_results

    return {verdict.cell for verdict in read_results(resumed)} if resumed else set()


def _rendered(config: Config, record: RunRecord, runs: Path, output: Output, *, elsewhere: bool) -> str:
    import os

    from harness.gate.baseline import baseline_path
    from harness.reports.affected_text import render_affected
    from harness.reports.terminal import render_run

    sets = {verdict.set for verdict in record.results}
    affected = render_affected(record, width=output.width, paint=output.paint)
    if affected and not record.results:
        return affected
    folder = os.path.relpath(runs / record.run)
    rendered = render_run(
        record,
        width=output.width,
        height=output.height,
        paint=output.paint,
        baselined=[name for name in sets if baseline_path(config.reports, name).is_file()],
        folder=folder,
        name=folder if elsewhere else record.run,
    )
    return f"{affected}\n\n{rendered}" if affected else rendered
