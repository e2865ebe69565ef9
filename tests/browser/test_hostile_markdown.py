"""Hostile answers as Markdown: what the cleaner lets through runs nothing, fetches nothing and leaves nothing of the page to be replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from harness.reports.html.safe_markdown import safe_html

from .hostile import BITING, CORPUS, LINKS, MARKUP, UNWRITABLE
from .watching import Watch

ALLOWED = {
    "a": {"href", "title", "rel", "target"},
    "div": {"class", "role", "aria-label", "tabindex"},
    "ol": {"start"},
    "p": {"class"},
    "pre": {"class"},
    "td": {"class"},
    "th": {"class"},
}
"""Attributes that a reader's page may hold, by element; none for the others."""
PLAIN = {
    "blockquote", "br", "code", "em", "h4", "h5", "h6", "hr", "li", "s", "strong", "table", "tbody", "thead", "tr", "ul",
}  # fmt: skip
FOUND = """() => [...document.querySelectorAll('section *')].map(one => [
  one.localName, one.namespaceURI.split('/').pop(), [...one.attributes].map(each => [each.name, each.value])
])"""
PIECES = [
    "<", ">", "</", "/>", "<img src=x ", "onerror=pwned(1)", "<svg", "<script>", "</script>", "<!--", "-->", "<style>", "[a](",
    "javascript:", ")", "`", "```\n", "\n", "\n\n", "|", "|-|", "<math>", "<mtext>", "![", "](x)", "&lt;", "&#x3c;", "\x00", "'",
    '"', "<a href=", "<https://elsewhere.invalid/", "\t", "> ", "- ", "# ", "<![CDATA[", "<?", "\u202e", "*", "_", "~~",
]  # fmt: skip
LATER = 300
"""Milliseconds in which what runs by itself, after a picture failed or an animation began, has run."""


def shown(page: Page, folder: Path, sections: dict[str, str], head: str = "") -> None:
    """Open a page with these *sections* of HTML, by their ids; it has no policy unless *head* brings one."""
    content = "".join(f'<section id="text-{name}">{html}</section>\n' for name, html in sections.items())
    path = folder / "page.html"
    whole = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Answers</title>{head}<main>{content}</main>'
    path.write_text(whole, encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_timeout(LATER)


def cleaned(texts: Mapping[str, str]) -> dict[str, str]:
    """Each of *texts* as the product shows it."""
    return {name: safe_html(text) for name, text in texts.items()}


def objections(page: Page) -> list[str]:
    """Elements, attributes and addresses in the sections that no cleaned text may have."""
    return [
        f"<{name}> {attributes} of {space}"
        for name, space, attributes in page.evaluate(FOUND)
        if name not in ALLOWED.keys() | PLAIN
        or space != "xhtml"
        or not {key for key, _ in attributes} <= ALLOWED.get(name, set())
        or not all(re.match(r"(https?://|mailto:)", value) for key, value in attributes if key == "href")
    ]


def test_the_corpus_bites(page: Page, watch: Watch, tmp_path: Path) -> None:
    """Neither cleaned nor under a policy, the texts do run scripts: that nothing runs elsewhere means something."""
    frames = {name: f'<iframe srcdoc="{escape(text)}" title="{name}"></iframe>' for name, text in MARKUP.items()}
    shown(page, tmp_path, frames)
    ran = {name for name in MARKUP for problem in watch.problems if f"ran: ('{name}',)" in problem}
    watch.problems.clear()

    assert BITING <= ran


def test_nothing_of_the_corpus_survives(page: Page, tmp_path: Path) -> None:
    """Every text cleaned, on a page without any policy: only plain elements and links to the web are left."""
    shown(page, tmp_path, cleaned(CORPUS | UNWRITABLE))

    assert [] == objections(page)
    assert len(CORPUS | UNWRITABLE) == page.locator("main > section").count()
    assert {"noopener noreferrer nofollow"} == set(page.locator("section a").evaluate_all("all => all.map(a => a.rel)"))


def test_nothing_comes_back_when_a_script_copies_it(page: Page, tmp_path: Path) -> None:
    """Written out by the browser and read again, twice, as scripts do with `innerHTML`, it is what it was."""
    shown(page, tmp_path, cleaned(CORPUS))
    page.evaluate("() => document.querySelectorAll('section').forEach(one => { for (const _ of [1, 2]) one.innerHTML = one.innerHTML; })")  # fmt: skip
    page.wait_for_timeout(LATER)

    assert [] == objections(page)


def test_links_that_would_run_are_words(page: Page, tmp_path: Path) -> None:
    """No link of the corpus leads anywhere but to the web; a click on each of the others finds nothing to follow."""
    shown(page, tmp_path, cleaned(LINKS))
    kept = page.locator("section:has(a[href])").evaluate_all("all => all.map(one => one.id)")

    assert ["text-link-title"] == kept


def test_a_reader_sees_what_the_text_says(page: Page, tmp_path: Path) -> None:
    """Markup that means nothing here is shown, not swallowed: a person sees what the agent wrote."""
    texts = {name: text for name, text in MARKUP.items() if not re.search(r"[&\n]", text)}
    shown(page, tmp_path, cleaned(texts))

    for name, text in texts.items():
        seen = page.locator(f"#text-{name}").inner_text()
        assert re.sub(r"\W", "", text) == re.sub(r"\W", "", seen), name


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join))
def test_pieces_in_any_order_are_harmless(page: Page, text: str) -> None:
    """Halves of tags, links, fences and comments put together by chance leave only what is allowed."""
    page.evaluate("html => { document.body.innerHTML = `<section>${html}</section>`; }", safe_html(text))

    assert [] == objections(page)
