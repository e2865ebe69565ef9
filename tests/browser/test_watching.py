"""The checks of the fixture `page`, each seen red: a page that does what it must not is noticed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from .accessibility import faults
from .watching import Watch, place_of

STRICT = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
FORBIDDEN = {
    "a script of the data ran": "<script>pwned('script')</script>",
    "console error: out loud": "<script>console.error('out loud')</script>",
    "console warning: beware": "<script>console.warn('beware')</script>",
    "page error: ": "<script>throw new Error('broken')</script>",
    "dialog alert: hello": "<script>alert('hello')</script>",
    "request outside .*: GET http://elsewhere.invalid/x.png": "<img src='http://elsewhere.invalid/x.png' alt=''>",
    "request outside .*: GET file://.*/other.png": "<img src='other.png' alt=''>",
    "policy: script-src-elem blocked inline": f"{STRICT}<script>1</script>",
    "policy: script-src-attr blocked inline": f"{STRICT}<body onload='1'>",
    "policy: style-src-attr blocked inline": f"{STRICT}<p style='color: red'>red</p>",
    "policy: img-src blocked": f"{STRICT}<img src='http://elsewhere.invalid/x.png' alt=''>",
}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    """A function: the body of a page → the address of a file with it."""

    def write(body: str) -> str:
        path = tmp_path / "page.html"
        path.write_text(f"<!doctype html><html lang=en><title>A page</title>{body}", encoding="utf-8")
        return path.as_uri()

    return write


@pytest.mark.parametrize("seen", FORBIDDEN)
def test_what_no_page_may_do_is_seen(seen: str, page: Page, watch: Watch, written: Callable[[str], str]) -> None:
    """Each kind of problem is noticed, by its own words."""
    page.goto(written(FORBIDDEN[seen]))
    page.wait_for_timeout(50)

    assert watch.expect(seen)
    watch.problems.clear()


def test_a_plain_page_is_no_problem(page: Page, watch: Watch, written: Callable[[str], str]) -> None:
    """A page that stays at home and keeps quiet, with a picture that it brings along."""
    page.goto(written("<h1>Hello</h1><script>console.log('quiet')</script><img alt='' src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"))  # fmt: skip

    assert [] == watch.problems
    assert f"file://{page.url.removeprefix('file://')}" == watch.own


def test_an_accessible_page_has_no_fault(page: Page, written: Callable[[str], str]) -> None:
    """A heading in a landmark is all that axe-core wants of a small page."""
    page.goto(written("<main><h1>Hello</h1><p>World</p></main>"))

    assert [] == faults(page)


def test_faults_say_rule_place_and_reason(page: Page, written: Callable[[str], str]) -> None:
    """A button without a name and grey on grey are both told."""
    page.goto(written("<main><h1>Hello</h1><button id=nameless></button><p id=grey>grey</p></main><style>#grey {color: #999; background: #aaa}</style>"))  # fmt: skip

    found = faults(page)

    assert {"button-name (critical) at #nameless", "color-contrast (serious) at #grey"} == {
        fault.split(":")[0] for fault in found
    }


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1:80/a?b", "http://127.0.0.1:80"),
        ("file:///a/b.html#c", "file:///a/b.html"),
        ("data:text/html,x", ""),
        ("blob:http://127.0.0.1/x", ""),
        ("ws://other/x", "ws://other"),
    ],
)
def test_places(url: str, place: str) -> None:
    """Ports and files count, queries and fragments do not, and content that is inline is nowhere."""
    assert place == place_of(url)
