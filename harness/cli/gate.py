"""Compare with the committed baseline, case by case; without RUN, replay the whole matrix first."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import positive, project_config
from harness.cli.output import Output
from harness.errors import BadFileError, ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.config import Config
    from harness.gate.baseline import Baseline
    from harness.records.run import RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness gate` takes."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="id of a stored run, a unique part of it, or its folder; else replay now"
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="a baseline that takes the place of the committed one of its set"
    )
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="a TOML file that says what blocks, with the keys of [tool.harness.gate]: blocking, advisory, tolerate, "
        "quarantine, exercised_by, trajectories",
    )
    parser.add_argument(
        "--report-dir",
        metavar="DIR",
        help="write the decision for CI into DIR: decision.json, report.json, junit.xml, tapegate.sarif, report.md, "
        "comment.md, annotations.txt, and report.html where the extra `reports` is installed; report.md goes to GITHUB_STEP_SUMMARY as well, where that is set",
    )
    parser.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="trials under way at once while replaying (default 1)"
    )
    parser.add_argument(
        "--stored", action="store_true", help="judge RUN though the files that it was made with have changed since"
    )


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Decide, and say why."""
    from datetime import UTC, datetime
    from pathlib import Path

    from harness.cli.accepted import strayed
    from harness.cli.gate_report import write_page, write_reports
    from harness.gate.compare import gate
    from harness.gate.policy_file import load_policy
    from harness.reports.gate_text import render_decision

    if args.stored and args.run is None:
        raise UsageError("bad-arguments", "--stored goes with RUN", hint="without RUN the matrix is replayed now")
    config = project_config()
    policy = load_policy(config.root, config.gate, args.policy)
    baselines = _baselines(config, args.baseline)
    if args.run is not None:
        record, folder = _stored(config, args.run, stale=args.stored)
    else:
        record, folder = _replayed(config, output, jobs=args.jobs)
    today = datetime.now(UTC).date()
    decision = gate(record, baselines, policy, today=today, strayed=strayed(config, folder, record.results))
    if args.report_dir is not None:
        into = Path(args.report_dir)
        written = write_reports(into, config, record, decision)
        for path in written + write_page(into, config, record, folder, output):
            output.note(f"wrote {path}")
    if output.as_json:
        output.document(decision)
    else:
        output.data(render_decision(decision, width=output.width, paint=output.paint))
    return ExitCode(decision.exit_code)


def _baselines(config: Config, file: str | None) -> dict[str, Baseline]:
    """Every committed baseline, also of sets that nothing runs any more."""
    from pathlib import Path

    from harness.errors import NothingComparedError
    from harness.gate.baseline import baselines_folder, load_baseline, load_baselines

    found = load_baselines(config.reports, [path.stem for path in baselines_folder(config.reports).glob("*.json")])
    if file is not None:
        given = load_baseline(Path(file), any_name=True)
        if given is None:
            raise BadFileError(
                "bad-baseline", "there is no such file", at=file, hint="`harness accept` writes baselines"
            )
        found[given.set] = given
    if not found:
        raise NothingComparedError(
            "no-baseline",
            f"there is no baseline in {baselines_folder(config.reports)}",
            hint='`harness run`, then `harness accept --reason "…"`, and commit what it writes',
        )
    return found


def _stored(config: Config, name: str, *, stale: bool) -> tuple[RunRecord, Path]:
    from harness.cli.stale import refuse_stale
    from harness.reports.runs import find_run, load_run, runs_folder

    folder = find_run(runs_folder(config.reports), name)
    record = load_run(folder)
    if not stale:
        refuse_stale(config, record)
    return record, folder


def _replayed(config: Config, output: Output, *, jobs: int) -> tuple[RunRecord, Path]:
    from harness.evaluate import plan
    from harness.evaluate import run as replay
    from harness.matrix import Narrowing
    from harness.reports.runs import runs_folder

    project, chosen = plan(config, Narrowing())
    with output.replaying(chosen.cells) as tell:
        record = replay(project, chosen, jobs=jobs, on_verdict=tell)
    return record, runs_folder(config.reports) / record.run
