"""Render a stored run for CI or for people; what it exits with says whether the report was written, not what is in it."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.cli.report_parts import json_document, repository_prefix, rules_of, write_text
from harness.errors import ExitCode, NothingComparedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.config import Config
    from harness.records.run import RunRecord

_FORMATS = ("markdown", "html", "junit", "sarif", "github", "json", "otlp")
_SUMMARY = "GITHUB_STEP_SUMMARY"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness report` takes."""
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="id of the run, a unique part of it, or its folder; else the newest"
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default="markdown",
        help="markdown (the default), html (one page with every trace, by default report.html in the run's folder), "
        "junit (XML), sarif (2.1.0), json (the document of `harness run`), otlp (traces for OpenTelemetry, OTLP/JSON), or github: "
        "annotations, the summary of the job where GITHUB_STEP_SUMMARY names a file, and a comment in --out",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write it there; with github, the body of a pull-request comment is"
    )
    parser.add_argument(
        "--against", metavar="RUN", help="with html: show how each trial differs from the same one in this earlier run"
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="A",
        help="with html, twice: show how these two designs differ on each case that both ran",
    )


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Render one run."""
    from pathlib import Path

    from harness.reports.documents import ReportDocument
    from harness.reports.runs import find_run, load_run, runs_folder

    _check(args)
    config = project_config()
    folder = find_run(runs_folder(config.reports), args.run)
    record = load_run(folder)
    if not record.results:
        raise NothingComparedError(
            "nothing-run", f"run `{record.run}` has no verdict to report", hint="`harness list sets` shows what can run"
        )
    if args.format == "html":
        return _page(args, record, folder, config, output)
    text = _spans(record, folder) if args.format == "otlp" else _rendered(args.format, record, config)
    written = []
    if args.format == "github":
        written += _for_the_job(record, config, args.out)
    elif args.out:
        write_text(Path(args.out), text)
        written.append(args.out)
        text = ""
    if output.as_json:
        output.document(ReportDocument(run=record.run, format=args.format, text=text, written=tuple(written)))
        return ExitCode.PASS
    if text:
        output.data(text.rstrip("\n"), exact=True)
    for path in written:
        output.note(f"wrote {path}")
    return ExitCode.PASS


def _check(args: argparse.Namespace) -> None:
    if args.format != "html" and (args.against or args.agent):
        option = "--against" if args.against else "--agent"
        raise UsageError(
            "bad-arguments", f"{option} goes with --format html", hint="`harness diff` compares on a terminal"
        )
    if len(args.agent) not in (0, 2) or len(set(args.agent)) != len(args.agent):
        raise UsageError("bad-arguments", "--agent stands twice, for two designs", hint="`--agent A --agent B`")


def _page(args: argparse.Namespace, record: RunRecord, folder: Path, config: Config, output: Output) -> ExitCode:
    """Write the page; its path alone is what stdout gets."""
    from harness.cli.html_report import write_html
    from harness.reports.documents import ReportDocument

    path = write_html(
        record,
        folder,
        output,
        config=config,
        rules=rules_of(config, record),
        out=args.out,
        against=args.against,
        agents=args.agent,
    )
    if output.as_json:
        output.document(ReportDocument(run=record.run, format="html", text="", written=(path,)))
    else:
        output.data(path)
    return ExitCode.PASS


def _rendered(format: str, record: RunRecord, config: Config) -> str:
    prefix = repository_prefix(config)
    if format == "junit":
        from harness.reports.junit import junit

        return junit(record, prefix=prefix)
    if format == "github":
        from harness.reports.github import workflow_commands

        return workflow_commands(record, prefix=prefix)
    if format == "markdown":
        from harness.reports.markdown import markdown

        return markdown(record, rules=rules_of(config, record), prefix=prefix)
    from harness.reports.documents import full

    if format == "json":
        return json_document(full(record))
    from harness import __version__
    from harness.reports.sarif import sarif

    return json_document(sarif(record, rules=rules_of(config, record), version=__version__, prefix=prefix))


def _spans(record: RunRecord, folder: Path) -> str:
    from harness import __version__
    from harness.reports.otlp import otlp
    from harness.reports.runs import read_traces

    return json_document(otlp(record, lambda cell: read_traces(folder, cell), version=__version__))


def _for_the_job(record: RunRecord, config: Config, out: str | None) -> list[str]:
    """Append the summary of the job, and write the comment: what a step of GitHub's leaves beside its log."""
    import os
    from pathlib import Path

    from harness.reports.markdown import comment, markdown

    rules, prefix = rules_of(config, record), repository_prefix(config)
    written = []
    if summary := os.environ.get(_SUMMARY):
        write_text(Path(summary), markdown(record, rules=rules, prefix=prefix), append=True)
        written.append(summary)
    if out:
        write_text(Path(out), comment(record, rules=rules, prefix=prefix))
        written.append(out)
    return written
