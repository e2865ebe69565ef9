"""The page of a history: one file, no script, no way for a name to become markup, and figures for those who see no lines."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.records.history import SkippedRun
from harness.reports.history.gather import Choice, document
from harness.reports.history.page import page

from .made import local, past_trials, run, trial


class Seen(HTMLParser):
    """What a browser would see of a page: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def told(*runs, **how):
    """The document of *runs*."""
    return document(runs, choice=Choice(), known=[one.state for one in runs], **how)


def example() -> str:
    """A page with every part."""
    return page(
        told(
            run(1, trial("S1"), trial("S2", "broken"), local("S3", cost_usd=0.5)),
            run(2, trial("S1", "broken"), trial("S2", "broken"), local("S3", cost_usd=0.25)),
            run(3, trial("S1", lock={"prompt": "new"}), trial("S2", "broken"), local("S3", cost_usd=0.25)),
            skipped=[SkippedRun(run="odd", because="damaged")],
        )
    )


def test_the_policy_lets_nothing_in():
    """No script at all, nothing loaded, and the one style by its hash."""
    found = example()
    (style,) = re.findall(r"<style>(.*?)</style>", found, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policies = [attrs for tag, attrs in Seen(found).elements if attrs.get("http-equiv") == "Content-Security-Policy"]

    assert [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"] == [
        attrs["content"] for attrs in policies
    ]


def test_nothing_is_loaded_and_nothing_runs():
    """No script, no frame, no image, no handler, no style attribute; links stay on the page."""
    for tag, attrs in Seen(example()).elements:
        assert tag not in {"script", "iframe", "object", "embed", "img", "link", "base", "form"}
        assert not [name for name in attrs if name.startswith("on") or name in {"style", "src"}]
        assert (attrs.get("href") or "#").startswith("#")


def test_every_sparkline_says_what_it_shows():
    """In words, for people who do not see it; and each number is in a table."""
    found = example()

    assert "<title>kept: from 1/2 to 1/2, least 0/2, most 1/2</title>" in found
    assert "<title>calls: 2.0 in each of 3 runs</title>" in found
    assert "<title>cost: from $0.5000 to $0.2500, least $0.2500, most $0.5000</title>" in found
    assert found.count('<svg class="spark" role="img"') == found.count("<title>") - 1


def test_every_part_is_there():
    """Verdict, designs, what flickers, what changed, cases, all figures, and what could not be read."""
    seen = Seen(example())
    text = " ".join(" ".join(seen.text).split())

    for part in (
        "ROSE 1 case kept again since run 20260310-090200000-0002",
        "Next: harness diff 20260310-090100000-0001 20260310-090200000-0002 --case S1 shows where the two part.",
        "Could not be read odd : damaged",
        "lean_react × qwen (local)",
        "nondeterministic lean_react × scripted shared/S1 : the same recording and the same files",
        "before 20260310-090300000-0003 : prompts of lean_react",
        "shared/S1 kept broken kept",
        "Kept in none of these runs: 1 case of lean_react × scripted",
        "3 runs from 2026-03-10 09:01 to 2026-03-10 09:03 UTC",
    ):
        assert part in text


def test_headings_labels_and_ids_are_in_order():
    """One title, each section named by its heading, each table header with its scope, no id twice."""
    elements = Seen(example()).elements
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]

    assert 1 == sum(tag == "h1" for tag, _ in elements)
    assert len(ids) == len(set(ids))
    assert {attrs["aria-labelledby"] for _, attrs in elements if "aria-labelledby" in attrs} <= set(ids)
    assert {(attrs["href"] or "")[1:] for tag, attrs in elements if tag == "a"} <= set(ids)
    assert all("scope" in attrs for tag, attrs in elements if tag == "th")


strangers = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</style><script>",
        "{{ 7 * 7 }}",
        "\u202egnp.exe",
        "&amp;",
    ]
)


@given(past_trials(), strangers)
def test_no_name_becomes_markup(one, text):
    """The elements of a page are those of one with harmless names, and no name turns the reading direction."""
    pages = []
    for name in ("x", text):
        renamed = msgspec.structs.replace(one, agent=name, model=name, case=name, set=name, broken=(name,))
        kept = msgspec.structs.replace(renamed, verdict="kept", cassette_digest="new")
        runs = run(1, renamed), run(2, kept), run(3, renamed)
        pages.append(page(told(*runs, skipped=[SkippedRun(run=name, because=name)])))
    harmless, hostile = map(Seen, pages)

    assert [tag for tag, _ in harmless.elements] == [tag for tag, _ in hostile.elements]
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\x1b\x00") & set(pages[1])


def test_a_page_without_jinja_is_exit_2(monkeypatch):
    """With the command that installs it."""
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)

    with pytest.raises(UsageError, match="a page needs Jinja2, which is not installed") as caught:
        page(told(run(1, trial("S1"))))
    assert 'pip install "tapegate[reports]"' in caught.value.hint
