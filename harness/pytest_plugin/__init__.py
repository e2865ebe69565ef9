"""
The pytest plugin: each declared trial of the golden sets as a test, and fixtures that replay trials in tests of one's own.

`pytest --harness` collects the whole matrix, `pytest goldensets/smoke.yaml` one set; nothing else is ever collected.
Nothing but pytest is imported here: the rest is loaded when a set is asked for or a fixture is used.
"""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from harness.cassettes.file import Cassette
    from harness.matrix import PlannedCell
    from harness.pytest_plugin.asked import AskedSets
    from harness.pytest_plugin.nodes import GoldenFile
    from harness.pytest_plugin.replayed import Replayed

ASKED: pytest.StashKey[AskedSets] = pytest.StashKey()
"""What the command line asked for; not set where it asked for no golden set."""
KNOWN = "harness_known"
"""Attribute of a report on a known failure: what is broken, in one line. It travels from pytest-xdist's workers."""
_MARKERS = (
    "harness(design, agent, model, set, class_, lang, provenance, tag): a trial; choose by -m \"harness(design='X')\"",
    "harness_cases(*sets, agent, model, case, tag): which trials `harness_case` stands for; none given: the whole matrix",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("tapegate", "golden sets of [tool.harness]")
    group.addoption("--harness", action="store_true", help="collect every trial that [[tool.harness.matrix]] declares")
    for name, metavar, what in (
        ("agent", "A", "of this agent, `design` or `design@profile`"),
        ("model", "M", "with this model"),
        ("case", "GLOB", "of cases whose id matches"),
        ("tag", "T", "of cases with this tag"),
    ):
        group.addoption(f"--harness-{name}", action="append", default=[], metavar=metavar, help=f"only trials {what}")
    group.addoption("--harness-wire", action="store_true", help="replay through litellm over a patched transport")
    group.addoption(
        "--harness-no-baseline",
        action="store_true",
        help="judge without baselines: none has to be there, and no failure is known",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the markers, and add the golden sets to what is collected where `--harness` asks for them."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    options = config.option
    if options.harness or any(".yaml" in argument for argument in config.args):
        from harness.pytest_plugin.asked import ask_for_sets

        ask_for_sets(config)
    elif options.harness_agent or options.harness_model or options.harness_case or options.harness_tag:
        raise pytest.UsageError(
            "--harness-agent, -model, -case and -tag choose among golden sets; give `--harness` or the file of a set"
        )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GoldenFile | None:
    """Collect a golden set that was asked for."""
    if file_path.suffix != ".yaml" or ASKED not in parent.config.stash:
        return None
    from harness.pytest_plugin.asked import golden_file

    return golden_file(file_path, parent)


@pytest.hookimpl(trylast=True)  # after `-k` and `-m` have chosen: what is refused here is not for them to leave out
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse to go on without a golden set that was asked for."""
    if ASKED in config.stash:
        from harness.pytest_plugin.asked import refuse_uncollected

        refuse_uncollected(session, items)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `harness_case` once for each trial that its marker chooses."""
    if "harness_case" in metafunc.fixturenames:
        from harness.pytest_plugin.fixtures import parametrize

        parametrize(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell the report of a trial that its failure is known."""
    report = yield
    known = getattr(item, KNOWN, "")
    if known and report.when == "call" and report.passed:
        setattr(report, KNOWN, known)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Show a known failure as one: neither as passed nor as failed."""
    return ("known", "k", ("KNOWN", {"yellow": True})) if getattr(report, KNOWN, "") else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the known failures."""
    known = terminalreporter.stats.get("known", ())
    if known:
        terminalreporter.section("known failures", yellow=True)
    for report in known:
        terminalreporter.write_line(f"KNOWN {report.nodeid} - {getattr(report, KNOWN)}")


@pytest.fixture
def harness_case(request: pytest.FixtureRequest) -> PlannedCell:
    """One declared trial: `.case` is the golden case, `.cell` its place in the matrix. The test runs once for each."""
    chosen: PlannedCell = request.param
    return chosen


@pytest.fixture
def harness_run(request: pytest.FixtureRequest) -> Callable[..., Replayed]:
    """
    Replay and judge a trial: `harness_run("smoke/weather", agent="example")`, or `harness_run()` for `harness_case`.

    `.check()` of what it gives raises an AssertionError with the evidence unless every blocking contract is kept.
    """
    from harness.pytest_plugin.fixtures import runner

    return runner(request)


@pytest.fixture
def cassette(request: pytest.FixtureRequest, harness_case: PlannedCell) -> Cassette:
    """The recording of `harness_case`; the test fails where there is none."""
    from harness.pytest_plugin.fixtures import cassette_of

    return cassette_of(request, harness_case)
