"""What every test starts from: no keys, no data of others unless asked for, the same examples each time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from .serving import serve

__all__ = ["serve"]
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

ROOT = Path(__file__).parent.parent
REALDATA = "HARNESS_REALDATA"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on recordings of others where their folder is not named; `pytest_report_header` says so."""
    if os.environ.get(REALDATA):
        return
    left_out = [item for item in items if item.get_closest_marker("realdata")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("realdata")]
        config.hook.pytest_deselected(items=left_out)


def pytest_report_header() -> str:
    """Say whether recordings of others are tested."""
    folder = os.environ.get(REALDATA)
    return (
        f"recordings of others: {folder}" if folder else f"recordings of others: deselected, {REALDATA} names no folder"
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests want said at the end: the property `summary` of their reports, from whatever process they ran in."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    lines = {text for report in reports for name, text in report.user_properties if name == "summary"}
    for line in sorted(lines):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's own folder."""
    return ROOT


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder with recordings made by others."""
    return Path(os.environ[REALDATA])
