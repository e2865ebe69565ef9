"""Chromium as tests, benchmark and screenshots start it: headless, offline but for this machine, the same each time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = Path(os.environ.get("HARNESS_CHROMIUM", "/usr/bin/chromium"))
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
MISSING = f"no browser at {CHROMIUM}; hint: `make browser` installs it, HARNESS_CHROMIUM names another"


@contextmanager
def chromium() -> Iterator[Browser]:
    """
    A browser with an empty profile; Playwright's event loop runs in this thread until it is closed.

    Raises:
        FileNotFoundError: There is none on this machine.
    """
    if not CHROMIUM.exists():
        raise FileNotFoundError(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
