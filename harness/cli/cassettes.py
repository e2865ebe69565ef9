"""Check, show, explain, redact or export recordings."""

from __future__ import annotations

import argparse

from harness.cli.ci import refuse_in_ci
from harness.cli.narrowing import project_config
from harness.cli.output import Output, is_terminal
from harness.errors import ExitCode, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.config import Config
    from harness.records.run import Cell, Trial
    from harness.reports.documents import CassettesDocument

ACTIONS = ("check", "show", "why", "scrub", "export")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness cassettes` takes."""
    parser.add_argument(
        "action",
        choices=ACTIONS,
        help="check: hold every cassette to what it claims; show: read one; why: replay one and explain its miss; "
        "scrub: take secrets out; export: a plain vcrpy file",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="cassette files; check takes none and reads them all")
    parser.add_argument("--to", metavar="FILE", help="export: where to write, in place of stdout")
    parser.add_argument("--allow-ci-write", action="store_true", help="scrub: write even where CI is set")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Do what the action says."""
    from pathlib import Path

    config = project_config()
    if args.to and args.action != "export":
        raise UsageError(
            "bad-arguments", f"{args.action} takes no --to", hint="`harness cassettes export PATH --to FILE`"
        )
    if args.action == "check":
        if args.paths:
            raise UsageError(
                "bad-arguments", "check takes no PATH: it reads them all", hint="`harness cassettes show PATH`"
            )
        return _check(config, output)
    paths = [Path(path) for path in args.paths]
    if not paths or (args.action != "scrub" and len(paths) > 1):
        count = "at least one PATH" if args.action == "scrub" else "one PATH"
        raise UsageError(
            "bad-arguments", f"{args.action} takes {count}", hint=f"`harness cassettes {args.action} PATH`"
        )
    if args.action == "scrub":
        refuse_in_ci("cassettes", allowed=args.allow_ci_write)
        return _scrub(paths, output)
    if args.action == "why":
        return _why(config, paths[0], output)
    return _show(paths[0], output) if args.action == "show" else _export(paths[0], args.to, output)


def _check(config: Config, output: Output) -> ExitCode:
    from harness.cassettes.check import check
    from harness.reports.documents import CassetteProblem, CassettesDocument

    checked = check(config.cassettes, cells=_cells(config))
    document = CassettesDocument(
        files=checked.files,
        problems=tuple(
            CassetteProblem(path=problem.path, code=problem.code, because=problem.because, fix=problem.fix)
            for problem in checked.problems
        ),
    )
    if output.as_json:
        output.document(document)
    else:
        output.data(render_check(document))
    return ExitCode.COULD_NOT_CHECK if document.problems else ExitCode.PASS


def _cells(config: Config) -> set[Cell]:
    """Cells that may have a cassette: those of the matrix, and those of profiles, which stand outside it."""
    from harness.cassettes.paths import cell_of
    from harness.evaluate import plan
    from harness.judging.asked import Asking
    from harness.judging.labels import labelled_cells
    from harness.matrix import Narrowing

    project, chosen = plan(config, Narrowing())
    declared = {planned.cell for planned in chosen.cells}
    judged = Asking(project).cells(chosen.cells).keys() | labelled_cells(project)
    known = {(cell.set, cell.case) for cell in declared}
    found = (cell_of(config.cassettes, path) for path in config.cassettes.rglob("*.yaml"))
    profiles = {cell for cell in found if cell and "@" in cell.agent and (cell.set, cell.case) in known}
    return declared | profiles | judged


def render_check(document: CassettesDocument) -> str:
    """Each problem with what mends it, by file; then how many."""
    from harness.reports.screen import one_line

    lines = [
        f"{one_line(problem.path)}: {one_line(problem.because)} [{problem.code}]\n  fix: {one_line(problem.fix)}"
        for problem in document.problems[:40]
    ]
    if len(document.problems) > 40:
        lines.append(f"and {len(document.problems) - 40} more; `--json` has all")
    count = f"{len(document.problems)} problems" if document.problems else "no problem"
    return "\n".join([*lines, *([""] if lines else []), f"{count} in {document.files} cassettes"])


def _show(path: Path, output: Output) -> ExitCode:
    from harness.cassettes.file import load
    from harness.cassettes.review import show
    from harness.reports.screen import clip, one_line, wrap

    cassette = load(path)
    claims = cassette.provenance
    told = f"answered by {claims.answered_by}: {', '.join(claims.models) or 'no model named'}"
    lines = [one_line(f"{path}, {len(cassette.interactions)} calls, recorded {claims.recorded}, {told}")]
    for call in show(cassette):
        slot = f" {call.slot}" if call.slot else ""
        lines.append(one_line(f"{call.call} {call.kind}{slot}  {call.status}  {call.latency_ms} ms  {call.uri}"))
        lines.append(wrap(clip(one_line(call.asked), 600), output.width, indent="  asked     ", later=" " * 12))
        lines.append(wrap(clip(one_line(call.answered), 600), output.width, indent="  answered  ", later=" " * 12))
    return _print(path, "\n".join(lines), output)


def _why(config: Config, path: Path, output: Output) -> ExitCode:
    from harness.cassettes import guard
    from harness.reports.screen import neutralise

    with guard.closed_network():
        trial = _replayed(config, path)
    if not trial.could_not_check:
        return _print(path, f"{path} replays: every call of today's agent is in it", output)
    text = neutralise(f"[{trial.code}] {trial.could_not_check}", keep_lines=True)
    command = f"harness record {trial.cell.set} --agent {trial.cell.agent} --model {trial.cell.model} --case {trial.cell.case}"
    _print(path, f"{text}\n\nhint: if the change is meant, `{command} --mode stale`", output)
    return ExitCode.COULD_NOT_CHECK


def _replayed(config: Config, path: Path) -> Trial:
    """Run the trial whose cassette *path* is."""
    import asyncio

    from harness.cassettes.paths import cassette_path, cell_of
    from harness.evaluate import plan
    from harness.matrix import Narrowing
    from harness.trials import replay

    full = path.resolve()
    cell = cell_of(config.cassettes.resolve(), full)
    if cell is not None:
        narrowing = Narrowing(
            sets=[cell.set], agents=[cell.agent], models=[cell.model], cases=[cell.case], trials=cell.trial + 1
        )
        project, chosen = plan(config, narrowing)
        for planned in chosen.cells:
            if cassette_path(config.cassettes.resolve(), planned.cell) == full:
                return asyncio.run(replay(project, planned, port="fast"))
    raise UsageError(
        "no-such-cell",
        f"{path} is the cassette of no case of this project",
        hint="cassettes stand at cassettes/<agent>/<model>/<set>/<case>.<trial>.yaml",
    )


def _scrub(paths: Sequence[Path], output: Output) -> ExitCode:
    import os

    from harness.cassettes.redact import Scrubber
    from harness.cassettes.review import scrub_file
    from harness.reports.documents import CassetteTextDocument

    scrubber = Scrubber.from_env(os.environ)
    written = tuple(str(path) for path in paths if scrub_file(path, scrubber))
    text = f"took secrets out of {len(written)} of {len(paths)} files"
    if output.as_json:
        output.document(CassetteTextDocument(path=str(paths[0]), text=text, written=written))
    else:
        output.data("\n".join([text, *(f"  wrote {path}" for path in written)]))
    return ExitCode.PASS


def _export(path: Path, target: str | None, output: Output) -> ExitCode:
    from pathlib import Path

    from harness.cassettes.file import load
    from harness.cassettes.review import export

    content = export(load(path))
    if target is None:
        return _print(path, content.decode().rstrip("\n"), output, exact=not is_terminal(output.stream))
    try:
        Path(target).write_bytes(content)
    except OSError as error:
        raise UsageError("cannot-export", f"{target} cannot be written: {error.strerror}") from None
    return _print(path, f"wrote {target}", output, written=(target,))


def _print(path: Path, text: str, output: Output, *, written: tuple[str, ...] = (), exact: bool = False) -> ExitCode:
    from harness.reports.documents import CassetteTextDocument

    if output.as_json:
        output.document(CassetteTextDocument(path=str(path), text=text, written=written))
    else:
        output.data(text, exact=exact)
    return ExitCode.PASS
