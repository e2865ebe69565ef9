"""What the two designs promise about their size."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

AGENTS = Path(__file__).parent.parent.parent / "agents"


def code_lines(path: Path) -> int:
    """Lines of a file that are neither blank nor comment; docstrings count."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def folder_lines(design: str) -> int:
    """Code lines of a design without its prompts."""
    return sum(code_lines(path) for path in (AGENTS / design).rglob("*.py") if path.name != "prompts.py")


def test_the_core_loop_can_be_read_in_one_sitting(capsys: pytest.CaptureFixture[str]) -> None:
    """The lean core loop is one module below 250 code lines, its folder below 700; the old design is larger."""
    core = {design: code_lines(AGENTS / design / "agent.py") for design in ("lean_react", "plan_execute")}
    whole = {design: folder_lines(design) for design in core}
    with capsys.disabled():
        for design, lines in core.items():
            sys.stdout.write(f"\n{design}: core loop {lines} code lines, folder {whole[design]} without prompts")

    assert core["lean_react"] < 250
    assert whole["lean_react"] < 700
    assert core["lean_react"] < core["plan_execute"]
    assert whole["lean_react"] < whole["plan_execute"]


def test_the_lean_design_has_no_parts_of_the_old_one() -> None:
    """No to-do manager, router, fast path, replan or reader of JSON in the lean loop."""
    source = "".join(path.read_text(encoding="utf-8") for path in (AGENTS / "lean_react").glob("*.py"))

    assert [] == [
        word
        for word in ("TodoList", "Router", "fast_path", "replan", "raw_decode", "import json", "import re\n")
        if word in source
    ]


@pytest.mark.parametrize("design", ["lean_react", "plan_execute"])
def test_prompts_are_string_constants(design: str) -> None:
    """`prompts.py` holds texts and nothing that runs."""
    body = ast.parse((AGENTS / design / "prompts.py").read_text(encoding="utf-8")).body[1:]

    assert all(isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) for node in body)
    assert "in der Sprache der Frage." in (AGENTS / design / "prompts.py").read_text(encoding="utf-8")


def test_the_readme_tells_these_sizes() -> None:
    """The table in the folder's README has the lines of today."""
    readme = (AGENTS / "README.md").read_text(encoding="utf-8")

    for design in ("lean_react", "plan_execute"):
        sizes = f"| {code_lines(AGENTS / design / 'agent.py')} lines | {folder_lines(design)} lines |"
        assert any(line.startswith(f"| `{design}`") and line.endswith(sizes) for line in readme.splitlines()), sizes
