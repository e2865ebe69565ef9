"""
Take the pictures that README.md shows: the HTML report of the committed golden sets, and the playground playing one of
their recordings. Each is made by the commands that a user has, in the same browser that the tests drive.

Usage: python docs/screenshots.py [--out DIR]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.browser.driver import chromium  # noqa: E402

SIZE = {"width": 1200, "height": 760}
CASE = "#/case/shared/S2-en/plan_execute/qwen2.5-coder-1.5b-instruct/0"
"""A small model's honest failure, which the baseline knows."""
RECORDING = "shared S1-en plan_execute scripted"
MOST_BYTES = 250_000
"""A picture that is larger does not belong into a repository."""


@contextmanager
def served() -> Iterator[str]:
    """The address of this project's playground, on a free port of this machine."""
    from harness.config import load_config
    from harness.serve.app import create_app
    from harness.serve.gatekeeper import Rules
    from harness.serve.host import AgentHost, Live
    from harness.serve.server import listen, server_of, url_of

    app = create_app(AgentHost(load_config(ROOT), Live()), Rules(per_minute=100_000))
    with listen("127.0.0.1", 0) as bound:
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield url_of(bound)
        finally:
            server.should_exit = True
            thread.join()


def reported(folder: Path) -> Path:
    """The HTML report of all golden sets, replayed now."""
    harness = [sys.executable, "-m", "harness"]
    subprocess.run([*harness, "run", "--out", str(folder / "run")], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (run,) = (path.parent for path in folder.rglob("results.jsonl"))
    file = folder / "report.html"
    subprocess.run(
        [*harness, "report", str(run), "--format", "html", "--out", str(file)],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return file


def take_report(page: Any, file: Path, out: Path) -> None:
    """A case with its contracts and the timeline of its trace."""
    page.goto(file.as_uri() + CASE)
    page.locator(".step").first.wait_for()
    page.screenshot(path=out)


def take_playground(page: Any, url: str, out: Path) -> None:
    """A recording that was played to its end."""
    page.goto(url)
    page.get_by_label("Play a recording").check()
    page.get_by_label("Find a recording").fill(RECORDING)
    page.get_by_label("Speed").select_option("All at once")
    page.get_by_role("button", name="Play", exact=True).click()
    page.locator(".answer p, .answer li").first.wait_for()
    page.wait_for_timeout(500)
    page.evaluate("() => scrollTo(0, 0)")
    page.screenshot(path=out)


def main() -> None:
    """Take both pictures; a file that got too large is an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    out: Path = parser.parse_args().out
    pictures = [out / "report.png", out / "playground.png"]
    with tempfile.TemporaryDirectory() as temporary, served() as url, chromium() as browser:
        page = browser.new_page(
            viewport=SIZE, color_scheme="light", locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
        )
        take_report(page, reported(Path(temporary)), pictures[0])
        take_playground(page, url, pictures[1])
    for picture in pictures:
        print(f"{picture}: {picture.stat().st_size:,} bytes")
        if picture.stat().st_size > MOST_BYTES:
            raise SystemExit(f"error: {picture.name} is larger than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    main()
