"""Style and scripts: within the house's sizes, free of what the policy refuses, and readable in both themes."""

from __future__ import annotations

import re

import pytest

from harness.reports.html import assets

FILES = [*(assets.FOLDER / name for name in assets.STYLES), *sorted((assets.FOLDER / "js").glob("*.js"))]
TEXTS = ("ink", "ink-soft", "accent", "kept", "broken", "unchecked", "known")
GROUNDS = {
    "ground": TEXTS, "ground-raised": TEXTS, "ground-sunken": ("ink", "ink-soft"), "accent-ground": ("ink", "accent", "ink-soft"),
    "kept-ground": ("kept",), "broken-ground": ("broken",), "unchecked-ground": ("unchecked", "ink"), "known-ground": ("known",),
    "accent": ("on-accent",), "ground-marked": ("ink",),
}  # fmt: skip


def themes() -> dict[str, dict[str, str]]:
    """The colours of each block of tokens in base.css."""
    text = (assets.FOLDER / "base.css").read_text()
    blocks = re.findall(r"((?::root[^{]*?)+)\{([^}]*--ground:[^}]*)\}", text)
    found = {}
    for number, (selector, body) in enumerate(blocks):
        found[f"{number} {selector.split()[-1]}"] = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", body))
    return found


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, definition of the same name)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", themes().values(), ids=list(themes()))
def test_text_can_be_read_on_its_ground(theme):
    """4.5 : 1 for text (WCAG 2.2, 1.4.3), 3 : 1 for borders of controls (1.4.11), in every theme and in print."""
    weak = [
        (text, ground)
        for ground, texts in GROUNDS.items()
        for text in texts
        if contrast(theme[text], theme[ground]) < 4.5
    ]

    assert [] == weak
    assert contrast(theme["line-strong"], theme["ground"]) >= 3


def test_both_dark_themes_are_the_same():
    """Chosen or taken from the system, dark is dark."""
    _, by_system, chosen, _ = themes().values()

    assert by_system == chosen


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files_are_small(file):
    """Each can be read in one go."""
    assert len(file.read_text().splitlines()) <= 500


def test_every_script_is_in_the_page():
    """No file is forgotten, and none is put in twice."""
    assert sorted([*assets.SCRIPTS, "theme.js"]) == sorted(path.name for path in (assets.FOLDER / "js").glob("*.js"))
    assert len(set(assets.SCRIPTS)) == len(assets.SCRIPTS)


def test_html_enters_by_one_door():
    """`innerHTML` is set once, with what `safe_html` made; nothing else reads text as HTML or code, or reaches out."""
    script = assets.early_script() + assets.script()

    assert 1 == script.count("innerHTML")
    assert "box.innerHTML = cleanHtml.createHTML(html);" in script
    assert not re.search(
        r"outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setTimeout\(\s*[\"']|DOMParser|srcdoc|"
        r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|importScripts|new Worker",
        script,
    )


def test_styles_load_nothing():
    """No import, no address."""
    assert not re.search(r"@import|url\(|expression\(|@font-face", assets.style())


@pytest.mark.parametrize("text", [assets.style(), assets.early_script(), assets.script()])
def test_nothing_closes_its_element(text):
    """Neither style nor script holds what would end it."""
    assert not re.search(r"</(?:style|script)|<!--", text, re.IGNORECASE)
