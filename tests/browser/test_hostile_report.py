"""A report on a run in which everything that others can fill is hostile: nothing of it runs, and the page stays whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from harness.records.run import Cell
from harness.testing.project import ScratchProject

from .accessibility import faults
from .hostile import BITING, CORPUS, EXPRESSIONS, LETTERS, MARKUP, NAMES
from .hostile_runs import RUN, as_answers, as_names, write_run
from .watching import Watch

NAMED = dict(list((MARKUP | EXPRESSIONS | LETTERS).items())[::6])
"""Texts that stand in names: each design that is called so is a column of the matrix."""
BEFORE = "20260301-090000000-0000"
PARTS = ("verdict", "matrix", "arena", "cases", "diff", "contracts", "recordings")
HANDLERS = """() => { const ADDRESSES = ['href', 'xlink:href', 'src', 'srcdoc', 'action', 'formaction', 'poster', 'background']; return [...document.querySelectorAll('*')].flatMap(one => [...one.attributes]
  .filter(each => each.name.startsWith('on') || ADDRESSES.includes(each.name) && !/^(#|https?:|mailto:)/i.test(each.value))
  .map(each => `${one.localName} ${each.name}=${each.value.slice(0, 80)}`)); }"""
SCRIPTS = "() => [...document.scripts].filter(one => !one.type).length"
FOREIGN = """() => [...document.querySelectorAll(`iframe, object, embed, form:not([method=dialog]), base, meta[http-equiv=refresh],
  link, img, video, math, template, marquee`)].map(one => one.outerHTML.slice(0, 80))"""
VISIT = """async links => {
  const seen = [];
  for (const link of links) {
    location.hash = link;
    await new Promise(done => setTimeout(done));
    for (let tries = 0; tries < 400 && !document.querySelector('.case-timeline'); tries++) await new Promise(done => setTimeout(done, 5));
    document.querySelectorAll('.step > details').forEach(one => { one.open = true; });
    await new Promise(done => setTimeout(done, 5));
    document.querySelectorAll('.case-body button.fold').forEach(one => one.click());
    const wide = document.scrollingElement.scrollWidth - innerWidth;
    seen.push([link, document.querySelector('h1:not([hidden] *)')?.textContent, document.querySelectorAll('.step').length, wide]);
    for (const one of document.querySelectorAll('.case-body')) one.remove();
  }
  return seen;
}"""


@pytest.fixture(scope="package")
def trials() -> list[tuple[Cell, str]]:
    """Every text of the corpus as an answer and everything else of a trial, and as the names of one."""
    return [*as_answers(CORPUS), *as_names(NAMED)]


@pytest.fixture(scope="package")
def hostile(tmp_path_factory: pytest.TempPathFactory, trials: list[tuple[Cell, str]]) -> Path:
    """The report of a run of all of them, against a run in which each was another one."""
    project = ScratchProject(tmp_path_factory.mktemp("hostile"))
    texts = [text for _, text in trials]
    write_run(project.path("reports/runs"), trials, manifest={text[:60]: text for text in MARKUP.values()})
    shifted = [(cell, text) for (cell, _), text in zip(trials, texts[1:] + texts[:1], strict=True)]
    write_run(project.path("reports/runs"), shifted, run=BEFORE)
    file = project.path("hostile.html")
    ran = project.harness("report", RUN, "--format", "html", "--against", BEFORE, "--out", str(file))

    assert 0 == ran.exit_code, ran.stderr
    return file


@pytest.fixture
def opened(page: Page, hostile: Path) -> Iterator[Callable[[str], Page]]:
    """A function: a place in the report → the page that shows it; at the end nothing of it may run, be loaded or be linked."""
    page.goto(hostile.as_uri())
    scripts = page.evaluate(SCRIPTS)

    def open_at(place: str) -> Page:
        page.goto("about:blank")
        page.goto(hostile.as_uri() + place)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        return page

    yield open_at
    assert [] == page.evaluate(HANDLERS)
    assert [] == page.evaluate(FOREIGN)
    assert (2, 2) == (scripts, page.evaluate(SCRIPTS))


def address(cell: Cell) -> str:
    """The address of a trial in the page."""
    parts = (cell.set, cell.case, cell.agent, cell.model, str(cell.trial))
    return "#/case/" + "/".join(quote(part, safe="") for part in parts)


@pytest.mark.parametrize("part", PARTS)
def test_no_part_runs_anything(part: str, opened: Callable[[str], Page]) -> None:
    """Each part of the report is drawn, and fits the window."""
    page = opened(f"#/{part}")
    page.wait_for_timeout(100)

    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
    assert 1 == page.get_by_role("tabpanel").count()


def test_no_trial_runs_anything(opened: Callable[[str], Page], trials: list[tuple[Cell, str]]) -> None:
    """Each trial's page is drawn with all its steps open, and fits a telephone, whatever its name and its texts are."""
    page = opened("#/cases")
    page.set_viewport_size({"width": 390, "height": 800})
    links = [address(cell) for cell, text in trials if len(text) < 50_000]
    seen = page.evaluate(VISIT, links)

    assert [] == [
        link for link, heading, steps, wide in seen if heading in {None, "No such trial"} or steps < 20 or wide > 0
    ]


@pytest.mark.parametrize("name", ["long-line", "long-word", "many-lines"])
def test_a_very_long_text_is_folded(name: str, opened: Callable[[str], Page]) -> None:
    """A megabyte in every field is shown by its beginning; the page stays small, and says how much there is."""
    page = opened(address(Cell("lean_react", "scripted", "hostile", name)))
    expect(page.locator(".step").first).to_be_visible()

    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
    assert page.evaluate("() => document.body.innerText.length") < 2_000_000
    expect(page.get_by_role("button", name="show all").first).to_be_visible()


@pytest.mark.parametrize("name", NAMES)
def test_names_that_mean_something_to_javascript(name: str, opened: Callable[[str], Page]) -> None:
    """A trial whose agent, model, set and case are called so is found, listed and opened like any other."""
    page = opened(f"#/cases?q={name}&design={quote(name)}%20%C3%97%20{quote(name)}")
    page.get_by_role("tabpanel").get_by_role("link", name=name, exact=True).first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    expect(page.locator(".step")).not_to_have_count(0)


def test_the_pages_of_differences(opened: Callable[[str], Page]) -> None:
    """Each of the first differences is drawn; hostile words that are gone or new stay words."""
    page = opened("#/diff")
    for place in range(12):
        page.evaluate("link => { location.hash = link; }", f"#/diff/0/{place}")
        expect(page.get_by_role("heading", name="Steps")).to_be_visible()

    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", sorted(BITING))
def test_the_policy_is_a_wall_of_its_own(name: str, page: Page, watch: Watch, hostile: Path, tmp_path: Path) -> None:
    """Had a text come into the file as HTML, as where a template forgets to escape it, the page's policy would still stop it."""
    whole = hostile.read_text(encoding="utf-8")
    careless = tmp_path / "careless.html"
    careless.write_text(whole[: whole.index("</main>")] + MARKUP[name], encoding="utf-8")
    page.goto(careless.as_uri())
    page.wait_for_timeout(100)
    page.goto("about:blank")  # what is still to be told has been told
    watch.expect("Content Security Policy")

    assert [] == [problem for problem in watch.problems if "ran:" in problem or "dialog" in problem]
    watch.problems.clear()


@pytest.mark.parametrize("name", ["bidi", "nested-lists"])
def test_accessible_all_the_same(name: str, opened: Callable[[str], Page]) -> None:
    """Hostile texts take nothing from a reader who cannot see the page; a long answer can be scrolled by keys."""
    page = opened(address(Cell("lean_react", "scripted", "hostile", name)))
    expect(page.locator(".step").first).to_be_visible()

    assert [] == faults(page, within="#panel-cases")
