"""What the designs promise about their size, and about their prompts."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

AGENTS = Path(__file__).parent.parent.parent / "agents"
DESIGNS = sorted(path.parent.name for path in AGENTS.glob("*/agent.py"))
THE_OLD_ONE = "plan_execute"
"""Kept as the baseline: its parts are the design's, and so is their length."""
IN_THE_LANGUAGE_OF_THE_QUESTION = {
    "lean_react": "in der Sprache der Frage",
    "plan_execute": "in der Sprache der Frage",
    "ultrathink": "no idioma da pergunta",
    "newsdesk": "no idioma da pergunta",
    "deep_think": "提问所用的语言",
    "two_phase": "на языке вопроса",
}


def code_lines(path: Path) -> int:
    """Lines of a file that are neither blank nor comment; docstrings count."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def folder_lines(design: str) -> int:
    """Code lines of a design without its prompts."""
    return sum(code_lines(path) for path in (AGENTS / design).rglob("*.py") if path.name != "prompts.py")


@pytest.mark.parametrize("design", [design for design in DESIGNS if design != THE_OLD_ONE])
def test_the_core_loop_can_be_read_in_one_sitting(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The core loop is one module below 250 code lines."""
    core = code_lines(AGENTS / design / "agent.py")
    with capsys.disabled():
        sys.stdout.write(f"\n{design}: core loop {core} code lines, folder {folder_lines(design)} without prompts")

    assert core < 250


def test_the_lean_design_is_the_smaller_one() -> None:
    """Its loop and its folder are smaller than those of the design that it replaces, and the folder below 700."""
    assert code_lines(AGENTS / "lean_react" / "agent.py") < code_lines(AGENTS / THE_OLD_ONE / "agent.py")
    assert folder_lines("lean_react") < min(700, folder_lines(THE_OLD_ONE))


def test_the_lean_design_has_no_parts_of_the_old_one() -> None:
    """No to-do manager, router, fast path, replan or reader of JSON in the lean loop."""
    source = "".join(path.read_text(encoding="utf-8") for path in (AGENTS / "lean_react").glob("*.py"))

    assert [] == [
        word
        for word in ("TodoList", "Router", "fast_path", "replan", "raw_decode", "import json", "import re\n")
        if word in source
    ]


@pytest.mark.parametrize("design", DESIGNS)
def test_prompts_are_string_constants(design: str) -> None:
    """`prompts.py` holds texts and nothing that runs, and asks for the language of the question."""
    source = (AGENTS / design / "prompts.py").read_text(encoding="utf-8")
    body = ast.parse(source).body[1:]

    assert all(isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) for node in body)
    assert IN_THE_LANGUAGE_OF_THE_QUESTION[design] in source


def test_the_readme_tells_these_sizes() -> None:
    """The table in the folder's README has a row for each design, with the lines of today."""
    readme = (AGENTS / "README.md").read_text(encoding="utf-8").splitlines()

    for design in DESIGNS:
        sizes = f"| {code_lines(AGENTS / design / 'agent.py')} lines | {folder_lines(design)} lines |"
        assert any(line.startswith(f"| `{design}`") and line.endswith(sizes) for line in readme), f"{design} {sizes}"
