"""Render a stored run for CI or for people; what it exits with says whether the report was written, not what is in it."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import CouldNotCheckError, ExitCode, NothingComparedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.config import Config
    from harness.records.run import RunRecord
    from harness.reports.problems import Rule

_FORMATS = ("markdown", "junit", "sarif", "github", "json")
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
        help="markdown (the default), junit (XML), sarif (2.1.0), json (the document of `harness run`), or github: "
        "annotations, the summary of the job where GITHUB_STEP_SUMMARY names a file, and a comment in --out",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write it there; with github, the body of a pull-request comment is"
    )


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Render one run."""
    from pathlib import Path

    from harness.reports.documents import ReportDocument
    from harness.reports.runs import find_run, load_run, runs_folder

    config = project_config()
    record = load_run(find_run(runs_folder(config.reports), args.run))
    if not record.results:
        raise NothingComparedError(
            "nothing-run", f"run `{record.run}` has no verdict to report", hint="`harness list sets` shows what can run"
        )
    text = _rendered(args.format, record, config)
    written = []
    if args.format == "github":
        written += _for_the_job(record, config, args.out)
    elif args.out:
        _write(Path(args.out), text)
        written.append(args.out)
        text = ""
    if output.as_json:
        output.document(ReportDocument(run=record.run, format=args.format, text=text, written=tuple(written)))
        return ExitCode.PASS
    if text:
        output.data(text.rstrip("\n"))
    for path in written:
        output.note(f"wrote {path}")
    return ExitCode.PASS


def _rendered(format: str, record: RunRecord, config: Config) -> str:
    prefix = _prefix(config)
    if format == "junit":
        from harness.reports.junit import junit

        return junit(record, prefix=prefix)
    if format == "github":
        from harness.reports.github import workflow_commands

        return workflow_commands(record, prefix=prefix)
    if format == "markdown":
        from harness.reports.markdown import markdown

        return markdown(record, rules=_rules(config, record), prefix=prefix)
    from harness.reports.documents import full

    if format == "json":
        return _json(full(record))
    from harness import __version__
    from harness.reports.sarif import sarif

    return _json(sarif(record, rules=_rules(config, record), version=__version__, prefix=prefix))


def _json(document: object) -> str:
    import json

    from harness.reports.escaping import json_text

    return json_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _for_the_job(record: RunRecord, config: Config, out: str | None) -> list[str]:
    """Append the summary of the job, and write the comment: what a step of GitHub's leaves beside its log."""
    import os
    from pathlib import Path

    from harness.reports.markdown import comment, markdown

    rules, prefix = _rules(config, record), _prefix(config)
    written = []
    if summary := os.environ.get(_SUMMARY):
        _write(Path(summary), markdown(record, rules=rules, prefix=prefix), append=True)
        written.append(summary)
    if out:
        _write(Path(out), comment(record, rules=rules, prefix=prefix))
        written.append(out)
    return written


def _prefix(config: Config) -> str:
    """The project's folder from the root of the repository that GitHub checked out; empty anywhere else."""
    import os
    from pathlib import Path

    workspace = os.environ.get("GITHUB_WORKSPACE")
    root = config.root.resolve()
    if not workspace or root == Path(workspace).resolve() or not root.is_relative_to(Path(workspace).resolve()):
        return ""
    return root.relative_to(Path(workspace).resolve()).as_posix()


def _rules(config: Config, record: RunRecord) -> dict[str, Rule]:
    """What is known of the contracts and codes that *record* names; a project's broken contract file hides only its own."""
    from harness.cli.codes import CODES
    from harness.contracts.catalogue import builtin, load_modules
    from harness.errors import HarnessError
    from harness.reports.problems import Rule

    try:
        catalogue = load_modules([config.root / path for path in config.contract_modules])
    except HarnessError:
        catalogue = builtin()
    named = {finding.contract for verdict in record.results for finding in verdict.findings}
    rules = {name: Rule(catalogue[name].about, catalogue[name].doc) for name in named if name in catalogue}
    codes = {verdict.code for verdict in record.results} & CODES.keys()
    return rules | {
        code: Rule(CODES[code].about, f"{CODES[code].about}; to mend it: {CODES[code].mend}") for code in codes
    }


def _write(path: Path, text: str, *, append: bool = False) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise CouldNotCheckError(
            "cannot-write-report",
            f"the report cannot be written to {path}: {error.strerror or error}",
            hint="make room, or name another file with `--out FILE`",
        ) from None
