"""The page of a history in a real browser: read by people with and without sight, and no name in it ever runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.records.history import SkippedRun
from harness.reports.history.gather import Choice, document
from harness.reports.history.page import page as rendered
from harness.reports.history.past import PastRun, PastTrial

from .accessibility import faults
from .hostile import CORPUS
from .watching import Watch


def trial(case: str, verdict: str = "kept", **changes) -> PastTrial:
    """One trial of a past run."""
    fields = {
        "agent": "lean_react", "model": "scripted", "provenance": "scripted", "set": "shared", "case": case, "trial": 0,
        "verdict": verdict, "known": False, "llm_calls": 2, "tool_calls": 1, "input_tokens": 600, "output_tokens": 18,
        "cached_tokens": 0, "thinking_tokens": 0, "cost_usd": None, "recorded_ms": 8, "cassette_digest": case, "code": "",
        "broken": ("CX13",) if verdict == "broken" else (), "lock": {"prompt": "p"},
    }  # fmt: skip
    return PastTrial(**(fields | changes))


def run(number: int, *trials: PastTrial) -> PastRun:
    """A whole past run in minute *number*."""
    return PastRun(
        run=f"20260310-09{number:02}00000-{number:04x}", began=f"2026-03-10T09:{number:02}:00.000Z", state="whole",
        exit_code=0, version="0.1.0", trials=trials,
    )  # fmt: skip


def written(folder: Path, *runs: PastRun, skipped: tuple[SkippedRun, ...] = ()) -> Path:
    """The page of *runs*, on disk."""
    told = document(runs, choice=Choice(), known=[one.state for one in runs], skipped=skipped)
    path = folder / "history.html"
    path.write_text(rendered(told), encoding="utf-8")
    return path


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A page with every part: a case that fell, one that flickers, one that was never kept, a real model with a price."""
    paid = [
        trial("S1", agent="two_phase", model="qwen", provenance="local", cost_usd=0.01 * n, recorded_ms=90 * n)
        for n in (3, 1, 2)
    ]
    runs = [
        run(1, trial("S1"), trial("S2"), trial("S3", "broken"), paid[0]),
        run(2, trial("S1"), trial("S2", "broken"), trial("S3", "broken"), paid[1]),
        run(3, trial("S1", "broken", lock={"prompt": "new"}), trial("S2"), trial("S3", "broken"), paid[2]),
    ]
    return written(tmp_path, *runs, skipped=(SkippedRun(run="odd", because="not a verdict"),))


def sideways(page: Page) -> bool:
    """Whether the page is wider than its window."""
    return page.evaluate("() => document.scrollingElement.scrollWidth > window.innerWidth")


def test_the_verdict_is_the_first_thing_to_read(page: Page, history: Path) -> None:
    """What fell, since when, and the command that shows why."""
    page.goto(history.as_uri())

    expect(page).to_have_title("FELL · history · tapegate")
    expect(page.get_by_role("region", name="FELL")).to_contain_text(
        "1 case no longer kept since run 20260310-090200000-0002"
    )
    expect(page.get_by_role("region", name="FELL")).to_contain_text(
        "harness diff 20260310-090200000-0002 20260310-090300000-0003 --case S1"
    )


def test_every_sparkline_has_words_and_is_drawn(page: Page, history: Path) -> None:
    """An image with a name, with a line of some height where the figure moved."""
    page.goto(history.as_uri())
    cost = page.get_by_role("img", name="cost: from $0.0300 to $0.0200, least $0.0100, most $0.0300")

    expect(cost).to_be_visible()
    assert cost.locator("polyline").evaluate("line => line.getBBox().height") > 20
    assert cost.locator("polyline").evaluate("line => getComputedStyle(line).fill") == "none"


def test_a_design_leads_to_its_figures(page: Page, history: Path) -> None:
    """Its link opens nothing that is not on the page; the table opens by mouse and by keyboard."""
    page.goto(history.as_uri())
    page.get_by_role("link", name="lean_react × scripted").click()
    summary = page.locator("#series-1 > summary")
    summary.focus()
    page.keyboard.press("Enter")

    table = page.locator("#series-1 table")
    expect(table).to_be_visible()
    expect(table.get_by_role("row")).to_have_count(4)
    expect(table.get_by_role("row").nth(1)).to_contain_text("20260310-090300000-0003")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible_and_never_scrolls_sideways(
    watching: Callable[..., Watch], history: Path, scheme: str, width: int
) -> None:
    """Every rule of axe-core, in both colours, on a telephone and on a desk, with everything open."""
    page = watching(color_scheme=scheme, viewport={"width": width, "height": 800}).context.new_page()
    page.goto(history.as_uri())
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true })")

    assert [] == faults(page)
    assert not sideways(page)


def test_the_page_can_be_printed(page: Page, history: Path) -> None:
    """Dark ink on a light ground, whatever the screen has."""
    page.goto(history.as_uri())
    page.emulate_media(media="print", color_scheme="dark")

    assert [] == faults(page)


def test_no_name_of_a_stranger_runs_or_breaks_the_page(page: Page, tmp_path: Path) -> None:
    """Each text of the corpus as the name of an agent, a model, a set, a case, a contract and a damaged run."""
    texts = [text[:500] for text in CORPUS.values()]  # no name of a past run is longer
    trials = [
        trial(text, "broken", agent=text, model=text, set=text, broken=(text,), cassette_digest=str(place))
        for place, text in enumerate(texts)
    ]
    kept = [
        trial(one.case, agent=one.agent, model=one.model, set=one.set, cassette_digest=one.cassette_digest)
        for one in trials
    ]
    skipped = tuple(SkippedRun(run=text, because=text) for text in texts)
    page.goto(written(tmp_path, run(1, *kept), run(2, *trials), skipped=skipped).as_uri())

    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    assert set() == set(page.evaluate("() => [...document.querySelectorAll('*')].map(one => one.localName)")) & {
        "script", "img", "iframe", "object", "embed", "form", "input", "button", "link", "base", "math", "video",
    }  # fmt: skip
    assert len(set(texts)) == page.locator("details").count()
    assert not sideways(page)
