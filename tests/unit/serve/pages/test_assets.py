"""Styles and scripts: what they may hold, and the addresses under which they are kept."""

from __future__ import annotations

import re

import pytest

from harness.errors import UsageError
from harness.serve.pages.assets import asset, asset_folder, assets
from harness.serve.pages.languages import words_of
from harness.serve.pages.rendering import TEMPLATES

SCRIPTS = sorted(name for name in assets() if name.endswith(".js"))
STYLES = sorted(name for name in assets() if name.endswith(".css"))
NAMES_OF_WORDS = re.compile(r"""\bt\(\s*["']([\w]+)["']""")


def text_of(name: str) -> str:
    """A file as text."""
    return assets()[name].decode()


def test_the_look_of_the_reports_is_theirs_too():
    """One set of colours and sizes for all that people look at."""
    assert {"base.css", "pages.css", "page.js", "playground.js", "runs.js", "icon.svg"} <= set(assets())


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_writes_html_nowhere(name):
    """But for the one line that shows an answer as the server rendered it."""
    found = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|\.style\b|cssText|srcdoc",
        text_of(name),
    )

    assert (["innerHTML"] if name == "answers.js" else []) == found


@pytest.mark.parametrize("name", [*SCRIPTS, *STYLES])
def test_nothing_comes_from_elsewhere(name):
    """No address of another origin, and no import but of a neighbour."""
    text = text_of(name)

    assert [] == re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}|@import|url\(", text)
    assert [] == [path for path in re.findall(r'from "([^"]+)"', text) if not re.fullmatch(r"\./\w+\.js", path)]
    assert [] == [path for path in re.findall(r'from "\./(\w+\.js)"', text) if path not in assets()]


@pytest.mark.parametrize("name", [*SCRIPTS, *sorted(path.name for path in TEMPLATES.glob("*.html"))])
def test_every_word_that_is_used_is_there(name):
    """A key that no language has would be shown as it stands."""
    text = text_of(name) if name in SCRIPTS else (TEMPLATES / name).read_text(encoding="utf-8")

    assert set() == set(NAMES_OF_WORDS.findall(text)) - set(words_of("en"))


def test_an_address_lasts_as_long_as_the_content():
    """Its folder is named by a digest, so what is kept under it never changes."""
    assert re.fullmatch(r"/assets/[0-9a-f]{16}", asset_folder())
    assert "public, max-age=31536000, immutable" == asset("page.js", lasting=True).headers["cache-control"]
    assert "no-cache" == asset("page.js", lasting=False).headers["cache-control"]


@pytest.mark.parametrize(
    ("name", "type_"),
    [("page.js", "text/javascript"), ("pages.css", "text/css"), ("icon.svg", "image/svg+xml")],
)
def test_a_file_says_what_it_is(name, type_):
    """Browsers that must not guess need to be told."""
    assert f"{type_}; charset=utf-8" == asset(name, lasting=True).headers["content-type"]


@pytest.mark.parametrize("name", ["", "nothing.js", "../routes.py", "assets.py", "en.json"])
def test_other_files_are_not_handed_out(name):
    """Names are looked up, never made a path of."""
    with pytest.raises(UsageError) as refused:
        asset(name, lasting=True)

    assert "no-such-route" == refused.value.code
