"""What a decision of the gate leaves for CI: one file for each reader, and the summary of a job of GitHub's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.cli.output import Output
    from harness.config import Config
    from harness.records.decision import Decision
    from harness.records.run import RunRecord

FILES = (
    "decision.json", "report.json", "junit.xml", "tapegate.sarif", "report.md", "comment.md", "annotations.txt",
)  # fmt: skip
"""What `write_reports` writes, in this order."""
PAGE = "report.html"
"""What `write_page` writes."""


def write_reports(folder: Path, config: Config, record: RunRecord, decision: Decision) -> list[str]:
    """
    Write every report on *decision* into *folder*, and append `report.md` to the summary of the job where GitHub names one.

    Returns:
        The paths that were written.

    Raises:
        CouldNotCheckError: A file cannot be written.
    """
    import os
    from pathlib import Path

    from harness import __version__
    from harness.cli.report_parts import json_document, repository_prefix, rules_of, write_text
    from harness.reports.documents import full
    from harness.reports.gate_markdown import gate_comment, gate_markdown
    from harness.reports.github import workflow_commands
    from harness.reports.junit import junit
    from harness.reports.sarif import sarif

    prefix, rules = repository_prefix(config), rules_of(config, record)
    page = gate_markdown(record, decision, rules=rules, prefix=prefix)
    texts = {
        "decision.json": json_document(full(decision)),
        "report.json": json_document(full(record)),
        "junit.xml": junit(record, prefix=prefix, decision=decision),
        "tapegate.sarif": json_document(
            sarif(record, rules=rules, version=__version__, prefix=prefix, decision=decision)
        ),
        "report.md": page,
        "comment.md": gate_comment(record, decision, rules=rules, prefix=prefix),
        "annotations.txt": _lines(workflow_commands(record, prefix=prefix, decision=decision)),
    }
    for name in FILES:
        write_text(folder / name, texts[name], chosen_by="--report-dir DIR")
    written = [str(folder / name) for name in FILES]
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        write_text(Path(summary), page, append=True)
        written.append(summary)
    return written


def write_page(folder: Path, config: Config, record: RunRecord, run_folder: Path, output: Output) -> list[str]:
    """
    Write the HTML page of the run into *folder* as well, where there is something to show and what draws it is installed.

    Returns:
        The path that was written, if any.

    Raises:
        CouldNotCheckError: The file cannot be written.
    """
    from harness.cli.html_report import missing_packages, write_html
    from harness.cli.report_parts import rules_of

    if not record.results:
        return []
    if missing := missing_packages():
        output.note(f'{PAGE} is left out: it needs {", ".join(missing)}; pip install "tapegate[reports]"')
        return []
    rules = rules_of(config, record)
    return [write_html(record, run_folder, output, config=config, rules=rules, out=str(folder / PAGE))]


def _lines(text: str) -> str:
    return f"{text}\n" if text else ""
