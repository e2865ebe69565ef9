"""Compare a run with the committed baseline, case by case; without RUN, replay the whole matrix first."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import BadFileError, ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.config import Config
    from harness.gate.baseline import Baseline
    from harness.records.run import CaseVerdict, RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness gate` takes."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="id of a stored run, a unique part of it, or its folder; else replay now"
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="a baseline that takes the place of the committed one of its set"
    )
    parser.add_argument(
        "--stored", action="store_true", help="judge RUN though the files that it was made with have changed since"
    )


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Decide, and say why."""
    from datetime import UTC, datetime

    from harness.gate.compare import gate
    from harness.reports.gate_text import render_decision

    if args.stored and args.run is None:
        raise UsageError("bad-arguments", "--stored goes with RUN", hint="without RUN the matrix is replayed now")
    config = project_config()
    baselines = _baselines(config, args.baseline)
    record = _stored(config, args.run, stale=args.stored) if args.run is not None else _replayed(config, output)
    today = datetime.now(UTC).date()
    decision = gate(record, baselines, config.gate, today=today)
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


def _stored(config: Config, name: str, *, stale: bool) -> RunRecord:
    from harness.cli.stale import refuse_stale
    from harness.reports.runs import find_run, load_run, runs_folder

    record = load_run(find_run(runs_folder(config.reports), name))
    if not stale:
        refuse_stale(config, record)
    return record


def _replayed(config: Config, output: Output) -> RunRecord:
    from harness.evaluate import plan
    from harness.evaluate import run as replay
    from harness.matrix import Narrowing

    def tell(verdict: CaseVerdict, done: int, total: int) -> None:
        output.progress(f"{done}/{total} {verdict.agent} {verdict.set}/{verdict.case}")

    project, chosen = plan(config, Narrowing())
    return replay(project, chosen, on_verdict=tell)
