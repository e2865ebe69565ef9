"""What every report of a run shares: where the repository begins, what is known of its rules, and how files are written."""

from __future__ import annotations

from harness.errors import CouldNotCheckError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.config import Config
    from harness.records.run import RunRecord
    from harness.reports.problems import Rule


def json_document(document: object) -> str:
    """*document* as indented JSON that no terminal can be steered by."""
    import json

    from harness.reports.escaping import json_text

    return json_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def repository_prefix(config: Config) -> str:
    """The project's folder from the root of the repository that GitHub checked out; empty anywhere else."""
    import os
    from pathlib import Path

    workspace = os.environ.get("GITHUB_WORKSPACE")
    root = config.root.resolve()
    if not workspace or root == Path(workspace).resolve() or not root.is_relative_to(Path(workspace).resolve()):
        return ""
    return root.relative_to(Path(workspace).resolve()).as_posix()


def rules_of(config: Config, record: RunRecord) -> dict[str, Rule]:
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


def write_text(path: Path, text: str, *, append: bool = False, chosen_by: str = "--out FILE") -> None:
    """
    Write *text* to *path*, whose folder is made where it is not there; *chosen_by* is the flag that names another.

    Raises:
        CouldNotCheckError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise CouldNotCheckError(
            "cannot-write-report",
            f"the report cannot be written to {path}: {error.strerror or error}",
            hint=f"make room, or name another place with `{chosen_by}`",
        ) from None
