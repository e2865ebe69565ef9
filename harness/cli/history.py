"""Show trends over many runs: pass rate, cost, calls, tokens, and cases that do not hold still; with --runs, list the runs."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import positive, project_config
from harness.cli.output import Output
from harness.errors import CouldNotCheckError, ExitCode, NothingComparedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from harness.cli.progress import Progress
    from harness.config import Config
    from harness.records.history import History, SkippedRun
    from harness.reports.history.address import Address
    from harness.reports.history.gather import Choice, OnRun
    from harness.reports.history.past import State

_LAST = 30
_NONE: tuple[SkippedRun, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `harness history` takes."""
    for flag, what in (("--set", "golden set"), ("--agent", "agent"), ("--case", "case")):
        parser.add_argument(flag, action="append", default=[], metavar="GLOB", help=f"only {what}s whose name matches")
    parser.add_argument(
        "--last", type=positive, default=_LAST, metavar="N", help=f"the newest N runs (default {_LAST})"
    )
    parser.add_argument("--partial", action="store_true", help="look at runs that flags narrowed as well")
    parser.add_argument("--runs", action="store_true", help="list the runs, partial and unfinished ones too")
    parser.add_argument(
        "--format",
        choices=("terminal", "markdown", "html"),
        default="terminal",
        help="how to show it (default terminal)",
    )
    parser.add_argument("--out", metavar="FILE", help="write it there; html goes to reports/history.html without it")
    parser.add_argument(
        "--store",
        metavar="URL",
        help="the results store: a file of SQLite, or postgresql://…; else HARNESS_HISTORY, `history` in "
        "[tool.harness], or reports/history.sqlite",
    )
    parser.add_argument("--no-store", action="store_true", help="read the run folders alone, and keep nothing")
    parser.add_argument("--read-only", action="store_true", help="take no run folder into the store")


def run(args: argparse.Namespace, output: Output) -> ExitCode:
    """Take in what is new, and show what it comes to."""
    from harness.reports.history.gather import Choice

    _check(args)
    config = project_config()
    states: tuple[State, ...] = ("whole", "partial") if args.partial else ("whole",)
    choice = Choice(
        agents=tuple(args.agent),
        sets=tuple(args.set),
        cases=tuple(args.case),
        last=args.last,
        states=("whole", "partial", "unfinished") if args.runs else states,
    )
    told = _of_folders(config, choice, args, output) if args.no_store else _of_store(config, choice, args, output)
    if output.as_json:
        output.document(told)
    elif not told.runs:
        raise _nothing(told, args)
    else:
        _show(told, config, args, output)
    return ExitCode.PASS if told.runs else ExitCode.NOTHING_COMPARED


def _check(args: argparse.Namespace) -> None:
    if args.no_store and (args.store or args.read_only):
        raise UsageError("bad-arguments", "--no-store goes with neither --store nor --read-only", hint="leave one away")
    if args.runs and args.format != "terminal":
        raise UsageError(
            "bad-arguments", f"--runs is for a terminal, not {args.format}", hint="`harness history --runs --json`"
        )


def _of_folders(config: Config, choice: Choice, args: argparse.Namespace, output: Output) -> History:
    from harness.reports.history.gather import document, read_all
    from harness.reports.runs import list_runs, runs_folder

    runs = runs_folder(config.reports)
    with output.working("reading runs", len(list_runs(runs))) as progress:
        past, skipped = read_all(runs, _telling(progress))
    return document(past, choice=choice, known=[run.state for run in past], skipped=skipped, trend=not args.runs)


def _of_store(config: Config, choice: Choice, args: argparse.Namespace, output: Output) -> History:
    from harness.reports.history.gather import document, take_in
    from harness.reports.history.store import HistoryStore
    from harness.reports.runs import list_runs, runs_folder

    runs = runs_folder(config.reports)
    where = _address(config, args.store)
    with HistoryStore(where) as store:
        taken, skipped = 0, _NONE
        if not args.read_only:
            with output.working("taking runs in", len(list_runs(runs))) as progress:
                taken, skipped = take_in(store, runs, _telling(progress))
        narrowed = choice.agents or choice.sets or choice.cases
        past = store.load(states=choice.states, last=None if narrowed else choice.last)
        known = [state for state, _ in store.known().values()]
    return document(
        past, choice=choice, known=known, store=where.shown, skipped=skipped, taken=taken, trend=not args.runs
    )


def _address(config: Config, told: str | None) -> Address:
    """The store that a flag, the environment or the project names, in this order; else the file in reports/."""
    import os

    from harness.reports.history.address import DEFAULT, ENVIRONMENT, address, has_password

    if named := told or os.environ.get(ENVIRONMENT):
        from pathlib import Path

        return address(named, root=Path.cwd())
    if config.history and has_password(config.history):
        raise UsageError(
            "history-password",
            "`history` in [tool.harness] holds a password, and pyproject.toml is committed",
            hint=f"set {ENVIRONMENT} to the whole URL, or leave the password to ~/.pgpass or PGPASSWORD",
        )
    return address(config.history or str(config.reports / DEFAULT), root=config.root)


def _telling(progress: Progress | None) -> OnRun | None:
    if progress is None:
        return None

    def tell(done: int, name: str) -> None:
        progress.done, progress.now = done, name

    return tell


def _show(told: History, config: Config, args: argparse.Namespace, output: Output) -> None:
    from pathlib import Path

    from harness.reports.history.text import render_history, render_runs

    if args.runs:
        text = render_runs(told, width=output.width, paint=output.paint)
    elif args.format == "terminal":
        text = render_history(told, width=output.width, paint=output.paint, bars=_bars(output))
    elif args.format == "markdown":
        from harness.reports.history.markdown import markdown

        text = markdown(told)
    else:
        from harness.reports.history.page import page

        text = page(told)
    out = args.out or (str(config.reports / "history.html") if args.format == "html" else None)
    if out is None:
        output.data(text.rstrip("\n"))
        return
    _write(Path(out), text)
    output.note(f"wrote {out}")


def _bars(output: Output) -> str:
    """Blocks, or what a terminal without them can show."""
    from harness.reports.history.spark import BARS, PLAIN_BARS

    try:
        BARS.encode(getattr(output.stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return PLAIN_BARS
    return BARS


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise CouldNotCheckError(
            "cannot-write-report",
            f"the report cannot be written to {path}: {error.strerror or error}",
            hint="make room, or name another place with `--out FILE`",
        ) from None


def _nothing(told: History, args: argparse.Namespace) -> NothingComparedError:
    if args.set or args.agent or args.case:
        hint = "`harness history` without --set, --agent and --case shows what there is"
    elif told.left_out:
        hint = (
            f"{told.left_out} partial or unfinished runs are left out; `--partial` looks at those that flags narrowed"
        )
    else:
        hint = "`harness run` makes a run"
    return NothingComparedError("no-history", "no run is known that could show a trend", hint=hint)
