"""A real browser, headless and offline; its pages fail the test that opened them when they do what no page of ours may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

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
