"""The page of runs: one that grows is followed while its verdicts land, and each trial of it can be opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from harness.records.run import Cell, RunRecord, Totals
from harness.reports.store import RunStore
from harness.testing.project import ScratchProject

from .accessibility import faults
from .hostile import MARKUP, NAMES
from .hostile_runs import RUN, as_answers, as_names, write_run
from .small_runs import AFTER, BECAUSE, RED, plain, verdict, write_small_run

GROWING = "20261122-050000000-aaaa"


@pytest.fixture
def growing(project: ScratchProject) -> Iterator[RunStore]:
    """A run that has begun; two trials are planned."""
    with RunStore.create(project.path("reports/runs"), run=GROWING, manifest={"trials": 2}) as store:
        yield store


def append(store: RunStore, case: str) -> None:
    """Let a trial end."""
    trace = plain("How warm is it?", "It is 7 °C.")
    store.append(verdict(Cell("example", "scripted", "smoke", case), trace), (trace,))


def test_a_run_that_grows_is_followed(
    page: Page, serve: Callable[..., Any], project: ScratchProject, growing: RunStore
) -> None:
    """Verdicts appear while the run goes on, without a reload; its end is told with the exit code."""
    page.goto(serve(project.folder).url + "/runs")
    page.get_by_role("link", name=GROWING).click()
    rows = page.locator("#verdicts tr")
    append(growing, "one")
    expect(rows).to_have_count(1)
    expect(page.locator("#run-told")).to_contain_text("1 of 2 trials")
    append(growing, "two")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("smoke/two")
    growing.finish(
        RunRecord(run=GROWING, results=(), totals=Totals(trials=2, kept=2), exit_code=0, manifest={"trials": 2})
    )

    expect(page.locator("#run-state")).to_have_text("Finished")
    expect(page.locator("#run-told")).to_contain_text("exit code 0")


def test_a_trial_is_opened_and_closed(page: Page, serve: Callable[..., Any], project: ScratchProject) -> None:
    """Filter for what broke, open it, read why and see its steps; Escape leads back; its link opens it anew."""
    write_small_run(project.path("reports/runs"), AFTER, wrong=True)
    page.goto(serve(project.folder).url + f"/runs#run={AFTER}")
    expect(page.locator("#verdicts tr")).to_have_count(10)
    page.get_by_label("Search in the verdicts").fill("tool_order")
    expect(page.locator("#verdicts tr")).to_have_count(1)
    page.locator("#verdicts").get_by_role("link", name=RED).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(BECAUSE)
    expect(dialog.locator(".answer strong")).to_have_text("12 EUR")
    expect(dialog.locator(".step.action")).to_contain_text("charge_card")
    assert [] == faults(page)
    link = page.url
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.goto("about:blank")
    page.goto(link)

    expect(page.get_by_role("dialog")).to_contain_text(BECAUSE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(scheme: str, page: Page, serve: Callable[..., Any], project: ScratchProject) -> None:
    """No rule of axe-core objects to the list or to a run, and nothing sticks out on a telephone."""
    write_small_run(project.path("reports/runs"), AFTER, wrong=True)
    page.emulate_media(color_scheme=scheme)
    page.goto(serve(project.folder).url + "/runs")
    page.get_by_role("link", name=AFTER).click()
    expect(page.locator("#verdicts tr")).to_have_count(10)
    assert [] == faults(page)
    page.set_viewport_size({"width": 390, "height": 800})

    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")


def test_hostile_runs(page: Page, serve: Callable[..., Any], project: ScratchProject) -> None:
    """Names and texts of strangers in every field: rows and trials are drawn, nothing runs, nothing foreign is there."""
    texts = {name: MARKUP[name] for name in list(MARKUP)[::4]}
    trials = [*as_answers(texts), *as_names({})]
    write_run(project.path("reports/runs"), trials)
    page.goto(serve(project.folder).url + f"/runs#run={RUN}")
    rows = page.locator("#verdicts tr")
    expect(rows).to_have_count(len(texts) + len(NAMES))
    for place in range(0, rows.count(), 3):
        rows.nth(place).get_by_role("link").click()
        expect(page.get_by_role("dialog").locator(".step").first).to_be_attached()
        page.keyboard.press("Escape")

    assert 0 == page.locator("main :is(script, img, iframe, style, svg, object, embed, link, base)").count()
    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
