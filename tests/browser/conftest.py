"""A real browser, headless and offline; its pages fail the test that opened them when they do what no page of ours may."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.testing.project import ScratchProject

from .driver import chromium
from .watching import Watch

PATIENCE_MS = 15_000
"""How long a test waits for what must come; only a failure takes so long."""
SIZE = {"width": 1280, "height": 800}


@pytest.fixture(scope="package", name="browser")
def _browser() -> Iterator[Browser]:
    """One browser for all tests of this package in a row; its driver's event loop is gone before others begin."""
    expect.set_options(timeout=PATIENCE_MS)
    with chromium() as browser:
        yield browser


@pytest.fixture
def watching(browser: Browser) -> Iterator[Callable[..., Watch]]:
    """
    A function: settings of a browser context → the watched context.

    At the end of the test nothing may have been seen in any of them.
    """
    watches: list[Watch] = []

    def start(**settings: Any) -> Watch:
        context = browser.new_context(**({"viewport": SIZE, "locale": "en-GB", "timezone_id": "UTC"} | settings))
        context.set_default_timeout(PATIENCE_MS)
        watches.append(Watch(context))
        return watches[-1]

    yield start
    for watch in watches:
        watch.context.close()

    assert [] == [problem for watch in watches for problem in watch.problems]


@pytest.fixture
def watch(watching: Callable[..., Watch]) -> Watch:
    """The watched context of `page`."""
    return watching()


@pytest.fixture
def page(watch: Watch) -> Page:
    """
    An empty page in a fresh, watched browser context.

    The test fails when the page logs an error or a warning, breaks its content security policy, raises, opens a
    dialog, sends a request to any other origin or file than the first page's, or runs a script of hostile data.
    """
    return watch.context.new_page()


@pytest.fixture(scope="package")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose one case was recorded from the scripted server."""
    project = ScratchProject(tmp_path_factory.mktemp("recorded"))
    ran = project.harness("record", "--model", "scripted")

    assert 0 == ran.exit_code, ran.stderr
    return project.folder


@pytest.fixture
def project(recorded: Path, tmp_path: Path) -> ScratchProject:
    """A copy of it."""
    shutil.copytree(recorded, tmp_path / "project")
    return ScratchProject(tmp_path / "project", {})


@pytest.fixture
def asked(serve: Callable[..., Any], project: ScratchProject) -> Iterator[Callable[..., Any]]:
    """A function: the script of a model, and how to serve → the project's server, whose questions that model answers."""
    with ScriptedServer() as scripted:

        def start(script: str, **how: Any) -> Any:
            address = scripted.open(parse_script(script)).openai_base_url
            return serve(project.folder, model="gpt-4.1-mini", base_url=address, **how)

        yield start
