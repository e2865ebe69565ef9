"""The HTML report as a person uses it: opened from disk, from the verdict to the witness, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from harness.testing.project import ScratchProject

from .accessibility import faults
from .small_runs import AFTER, BECAUSE, BEFORE, QUESTION, RED, WITNESS, write_small_run
from .watching import Watch

PARTS = ("Verdict", "Matrix", "Arena", "Cases", "Diff", "Contracts", "Recordings")
TRIAL = f"#/case/shared/{RED}/lean_react/scripted/0"
ADDRESSES = {**{part: f"#/{part.lower()}" for part in PARTS}, "trial": TRIAL, "step": f"{TRIAL}/step/{WITNESS}", "no trial": "#/case/a/b/c/d/0"}  # fmt: skip


@pytest.fixture(scope="package")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small run against the one before it."""
    project = ScratchProject(tmp_path_factory.mktemp("reported"))
    for run, wrong in ((BEFORE, False), (AFTER, True)):
        write_small_run(project.path("reports/runs"), run, wrong=wrong)
    file = project.path("the report.html")
    ran = project.harness("report", AFTER, "--format", "html", "--against", BEFORE, "--out", str(file))

    assert 0 == ran.exit_code, ran.stderr
    return file


@pytest.fixture
def opened(page: Page, report: Path) -> Callable[..., Page]:
    """A function: a place in the report → the page that shows it."""

    def open_at(place: str = "") -> Page:
        page.goto("about:blank")
        page.goto(report.as_uri() + place)
        return page

    return open_at


def tab(page: Page, name: str) -> None:
    """Open a part of the report by its tab."""
    page.get_by_role("tab", name=name, exact=True).click()
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")


def scrolls_sideways(page: Page) -> bool:
    """Whether the whole page is wider than its window."""
    return page.evaluate("() => document.scrollingElement.scrollWidth > window.innerWidth")


def outside(page: Page) -> list[str]:
    """Elements that reach beyond the window to the right, for the message of a test."""
    return page.evaluate(
        "() => [...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1"
        " && one.getClientRects().length).map(one => one.outerHTML.slice(0, 120)).slice(0, 8)"
    )


def test_it_opens_on_the_verdict(opened: Callable[..., Page]) -> None:
    """The first screen says what came of the run, which cases are red, and why."""
    page = opened()

    expect(page).to_have_title(re.compile("COULD NOT CHECK"))
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"COULD NOT CHECK\s+7 of 10 trials kept"))
    expect(page.get_by_role("tabpanel")).to_contain_text("model call 2 is not in the cassette")
    expect(page.get_by_role("tabpanel")).to_contain_text(BECAUSE)


def test_from_the_red_case_to_its_witness(opened: Callable[..., Page]) -> None:
    """A click leads to the trial, another to the step that shows what is broken: open, in focus and in view."""
    page = opened()
    page.get_by_role("link", name=RED).first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text(RED)
    expect(page.get_by_text(QUESTION).first).to_be_visible()
    expect(page.get_by_role("tabpanel").get_by_text(BECAUSE)).to_be_visible()
    expect(page.locator(".answer strong")).to_have_text("12 EUR")
    page.get_by_role("link", name=f"step {WITNESS}").first.click()
    step = page.locator(f"[id='step-0.{WITNESS}']")
    expect(step).to_be_focused()
    expect(step).to_be_in_viewport()
    expect(step).to_contain_text("witness of tool_order")
    expect(step.locator("details").first).to_have_attribute("open", "")
    assert page.url.endswith(f"{TRIAL}/step/{WITNESS}")


def test_a_copied_link_opens_the_same_step(opened: Callable[..., Page], watch: Watch, report: Path) -> None:
    """The link of a step is copied; opened anew, it leads to the same step of the same trial."""
    watch.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened(f"{TRIAL}/step/{WITNESS}")
    page.get_by_role("button", name="Copy link").first.click()
    expect(page.get_by_role("status")).to_have_text("the link copied")
    link = page.evaluate("() => navigator.clipboard.readText()")
    other = watch.context.new_page()
    other.goto(link)

    assert f"{report.as_uri()}{TRIAL}/step/{WITNESS}" == link
    expect(other.locator(f"[id='step-0.{WITNESS}']")).to_be_focused()


def test_the_diff_against_the_run_before(opened: Callable[..., Page]) -> None:
    """The trial that went red is among the differences, and its page shows the call that is gone."""
    page = opened()
    tab(page, "Diff")
    page.get_by_role("tabpanel").get_by_role("link", name=f"shared/{RED}").first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text(RED)
    expect(page.get_by_role("tabpanel")).to_contain_text("check_policy")
    expect(page.get_by_role("tabpanel")).to_contain_text(re.compile("deleted|replaced"))


def test_searching_and_filtering(opened: Callable[..., Page]) -> None:
    """The list narrows as one types and chooses; its address brings the same list back."""
    page = opened("#/cases")
    rows = page.get_by_role("tabpanel").locator("tbody tr:not(.spacer)")
    expect(rows).to_have_count(10)
    page.get_by_role("searchbox").fill("MÜNCHEN")
    expect(rows).to_have_count(2)
    page.get_by_label("design", exact=True).select_option("lean_react × scripted")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("wetter-münchen")
    expect(page.get_by_text("1 of 10 trials")).to_be_visible()
    page.reload()

    expect(rows).to_have_count(1)
    expect(page.get_by_role("searchbox")).to_have_value("MÜNCHEN")
    assert "q=M" in page.url
    page.get_by_role("searchbox").fill("no such thing")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()


def test_a_figure_leads_to_its_trials(opened: Callable[..., Page]) -> None:
    """The number of broken trials on the first screen is a link to exactly those."""
    page = opened()
    page.get_by_role("link", name=re.compile(r"1\s+known")).click()
    rows = page.get_by_role("tabpanel").locator("tbody tr:not(.spacer)")

    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("qwen2.5-coder-1.5b-instruct")
    expect(rows).to_contain_text("local")


def test_by_keyboard_alone(opened: Callable[..., Page]) -> None:
    """The skip link comes first; numbers open parts; a search, a row and the next red case need no mouse."""
    page = opened()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the report")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("4")
    expect(page.get_by_role("heading", level=1)).to_have_text("Cases")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("refund")
    rows = page.get_by_role("tabpanel").locator("tbody tr:not(.spacer)")
    expect(rows).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.locator(".step").first).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(".step.here")).to_have_count(1)
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_contain_text("weather-tomorrow")


def test_tabs_by_arrows(opened: Callable[..., Page]) -> None:
    """Arrow keys move along the tabs, Home and End to their ends; one of them is in the order of Tab."""
    page = opened()
    page.get_by_role("tab", name="Verdict").focus()
    for key, name in (("ArrowRight", "Matrix"), ("End", "Recordings"), ("ArrowRight", "Verdict"), ("ArrowLeft", "Recordings"), ("Home", "Verdict")):  # fmt: skip
        page.keyboard.press(key)
        expect(page.get_by_role("tab", name=name, exact=True)).to_be_focused()
        expect(page.get_by_role("tabpanel", name=name, exact=True)).to_be_visible()

    assert 1 == page.locator("[role=tab]:not([tabindex='-1'])").count()


def test_the_list_of_keys(opened: Callable[..., Page]) -> None:
    """`?` opens it, Escape closes it; single keys can be turned off, and stay off."""
    page = opened()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.get_by_role("checkbox", name="single keys are commands").uncheck()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    page.keyboard.press("4")
    expect(page.get_by_role("tab", name="Verdict")).to_have_attribute("aria-selected", "true")
    page.reload()
    page.keyboard.press("4")

    expect(page.get_by_role("tab", name="Verdict")).to_have_attribute("aria-selected", "true")


def test_back_and_forth(opened: Callable[..., Page]) -> None:
    """The browser's own buttons lead through what was seen."""
    page = opened()
    tab(page, "Cases")
    page.get_by_role("link", name=RED).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(RED)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cases")
    page.go_back()

    expect(page.get_by_role("tab", name="Verdict")).to_have_attribute("aria-selected", "true")


def test_colours_follow_the_system_and_the_reader(opened: Callable[..., Page]) -> None:
    """A dark system gets a dark page; a reader's own choice wins, from the first paint of the next visit on."""
    page = opened()
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"

    assert "rgb(255, 255, 255)" == page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert "rgb(255, 255, 255)" != page.evaluate(ground)
    page.keyboard.press("t")
    assert "rgb(255, 255, 255)" == page.evaluate(ground)
    page.reload()
    assert "rgb(255, 255, 255)" == page.evaluate(ground)


def test_printing(opened: Callable[..., Page]) -> None:
    """On paper there are no controls, and what was folded is open."""
    page = opened(TRIAL)
    expect(page.locator(".step").first).to_be_visible()
    page.evaluate("() => addEventListener('afterprint', () => { window.printed = document.querySelectorAll('.step details[open]').length; })")  # fmt: skip
    assert len(page.pdf()) > 10_000
    page.emulate_media(media="print")

    expect(page.get_by_role("tab").first).to_be_hidden()
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    assert page.evaluate("() => window.printed") >= page.locator(".step").count()


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_narrow_window(name: str, opened: Callable[..., Page], page: Page) -> None:
    """On a telephone nothing sticks out; wide tables scroll in themselves."""
    page.set_viewport_size({"width": 390, "height": 800})
    opened(ADDRESSES[name])
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    assert not scrolls_sideways(page), outside(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ADDRESSES)
def test_accessible(name: str, scheme: str, opened: Callable[..., Page], page: Page) -> None:
    """No rule of axe-core objects to any part, in light or dark colours."""
    page.emulate_media(color_scheme=scheme)
    opened(ADDRESSES[name])
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if name in {"trial", "step"}:
        expect(page.locator(".step").first).to_be_visible()

    assert [] == faults(page)


def test_the_list_of_keys_is_accessible(opened: Callable[..., Page]) -> None:
    """The dialog too."""
    page = opened()
    page.keyboard.press("?")

    assert [] == faults(page)


def test_a_difference_is_accessible(opened: Callable[..., Page]) -> None:
    """The page of one difference too."""
    page = opened("#/diff")
    page.get_by_role("tabpanel").get_by_role("link", name=f"shared/{RED}").first.click()
    expect(page.get_by_role("heading", name="Steps")).to_be_visible()

    assert [] == faults(page)


def test_without_scripts(watching: Callable[..., Watch], report: Path) -> None:
    """Where scripts are off the verdict is there, and the page says what is missing."""
    page = watching(java_script_enabled=False).context.new_page()
    page.goto(report.as_uri())
    told = page.locator("noscript p")  # Playwright looks for no text in there

    expect(told).to_be_visible()
    expect(told).to_contain_text("the other parts of this report need JavaScript")
    expect(page.get_by_text(BECAUSE)).to_be_visible()


@pytest.mark.parametrize(
    ("mended", "told"),
    [
        (lambda text: re.sub(r'(id="chunk-0">)....', r"\1!!!!", text), "is damaged"),
        (lambda text: re.sub(r'(id="chunk-0">.{40}).{40}', r"\1", text), "is damaged"),
        (lambda text: text[: text.index('<script type="text/plain" id="chunk-0"')], "ends too early"),
        (lambda text: text[: text.index('id="chunk-0">') + 60], "(ends too early|is damaged)"),
    ],
    ids=["not base64", "not deflated", "without chunks", "torn"],
)
def test_a_damaged_file_says_so(
    mended: Callable[[str], str], told: str, page: Page, report: Path, tmp_path: Path
) -> None:
    """A file that was cut or changed on its way still opens; what cannot be unpacked is told where it would stand."""
    damaged = tmp_path / "damaged.html"
    damaged.write_text(mended(report.read_text(encoding="utf-8")), encoding="utf-8")
    page.goto(damaged.as_uri() + TRIAL)

    expect(page.get_by_role("heading", level=1)).to_contain_text(RED)
    expect(page.get_by_role("alert")).to_have_text(re.compile(told))


def test_names_in_any_script_lead_to_their_trial(opened: Callable[..., Page]) -> None:
    """A case that is named in Chinese has a link that works, and is the one it names."""
    page = opened("#/cases")
    page.get_by_role("link", name="天气-北京").first.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("天气-北京")
    assert unquote(page.url).endswith("#/case/shared/天气-北京/lean_react/scripted/0")


def test_a_narrow_matrix_shows_verdicts(opened: Callable[..., Page], page: Page) -> None:
    """On a phone the questions leave room for the first design; the others are scrolled to."""
    page.set_viewport_size({"width": 390, "height": 800})
    opened("#/matrix")
    cell = page.locator(".matrix .cell").first

    expect(cell).to_be_visible()
    box = cell.bounding_box()
    assert box is not None
    assert box["x"] < 300
