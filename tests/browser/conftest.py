"""A real browser, headless and offline; its pages fail the test that opened them when they do what no page of ours may."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from .watching import Watch

CHROMIUM = os.environ.get("HARNESS_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",  # its sandbox does not start as root
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # no name but this machine's resolves: a page that asks for another fails at once, and is seen
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
]
PATIENCE_MS = 15_000
"""How long a test waits for what must come; only a failure takes so long."""
SIZE = {"width": 1280, "height": 800}


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of this package in a row; its driver's event loop is gone before others begin."""
    if not Path(CHROMIUM).exists():
        pytest.fail(f"no browser at {CHROMIUM}; hint: `make browser` installs it, HARNESS_CHROMIUM names another")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def watching(chromium: Browser) -> Iterator[Callable[..., Watch]]:
    """
    A function: settings of a browser context → the watched context.

    At the end of the test nothing may have been seen in any of them.
    """
    watches: list[Watch] = []

    def start(**settings: Any) -> Watch:
        context = chromium.new_context(**({"viewport": SIZE, "locale": "en-GB", "timezone_id": "UTC"} | settings))
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
