"""Hold a judge against answers that people have labelled: confusion, agreement, Cohen's κ with its interval."""

from __future__ import annotations

import argparse

from harness.cli.ci import refuse_in_ci
from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import ExitCode, UsageError

ACTIONS = ("calibrate",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness judge` takes."""
    parser.add_argument(
        "action",
        choices=ACTIONS,
        help="calibrate: how far a judge's recorded verdicts agree with labels "
        "(what judges say of golden cases, `harness record` records with them or alone)",
    )
    parser.add_argument("file", metavar="FILE", help="labelled answers, YAML, or JSON lines where it ends in .jsonl")
    parser.add_argument("--model", metavar="M", help="the judge, in place of the one that the file names")
    parser.add_argument("--record", action="store_true", help="ask the judge first what is not recorded yet")
    parser.add_argument("--base-url", metavar="URL", help="--record: the judge's server, in place of the declared one")
    parser.add_argument("--allow-ci-write", action="store_true", help="--record: write even where CI is set")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Calibrate."""
    from pathlib import Path

    from harness.judge.calibration import calibrate, load_labels
    from harness.judging.labels import rate_labels, record_labels
    from harness.reports.calibration import render_calibration
    from harness.trials import Project

    if args.record:
        refuse_in_ci("cassettes", allowed=args.allow_ci_write)
    elif args.base_url:
        raise UsageError("bad-arguments", "--base-url goes with --record", hint="add --record, or leave it out")
    path = Path(args.file)
    labels = load_labels(path)
    model = args.model or labels.model
    if not model:
        raise UsageError("bad-arguments", f"{args.file} names no judge", hint="name one with --model")
    project = Project(project_config())
    if args.record:
        asked = record_labels(project, labels, path.stem, model, args.base_url)
        output.note(f"asked {model} {asked} times")
    found = calibrate(labels, rate_labels(project, labels, path.stem, model), file=args.file, model=model)
    project.close()
    if output.as_json:
        output.document(found)
    else:
        output.data(render_calibration(found, output.width))
    return ExitCode(found.exit_code)
