"""The sizes that the house promises, measured."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MODULE_LINES = 400
FUNCTION_LINES = 50
FORBIDDEN_NAMES = {"utils.py", "helpers.py", "common.py"}
COMMON_IS_THE_FIELDS_WORD = {"harness/contracts/common.py"}
"""The contracts that every design shares are called common contracts."""


def sources(*folders: str) -> Iterator[Path]:
    """Every Python file below *folders* of the project."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def lines_of(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def test_modules_are_small() -> None:
    """No module is longer than the most that a reader holds in mind."""
    long = {
        str(path.relative_to(ROOT)): lines_of(path)
        for path in sources("harness", "agents")
        if lines_of(path) > MODULE_LINES
    }

    assert {} == long


def test_functions_fit_a_screen() -> None:
    """No function body is longer than a screen."""
    long = {}
    for path in sources("harness", "agents"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if length > FUNCTION_LINES:
                    long[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = length

    assert {} == long


def test_no_drawer_for_everything() -> None:
    """No module is named after nothing in particular."""
    found = {str(path.relative_to(ROOT)) for path in sources("harness", "agents") if path.name in FORBIDDEN_NAMES}

    assert COMMON_IS_THE_FIELDS_WORD >= found


def test_every_module_says_what_it_is_for() -> None:
    """Each module starts with a docstring."""
    silent = [
        str(path.relative_to(ROOT))
        for path in sources("harness", "agents")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert [] == silent


def test_each_test_has_a_sentence() -> None:
    """Each test function's docstring is one sentence."""
    silent = []
    for path in sources("tests"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
                doc = ast.get_docstring(node)
                if not doc or not doc.rstrip().endswith("."):
                    silent.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")

    assert [] == silent


@pytest.mark.parametrize("folder", ["agents", "goldensets"])
def test_agents_and_worlds_ask_the_context_for_time_and_chance(folder: str) -> None:
    """Agents and worlds call no clock, no random source and no id maker of Python's own."""
    found = []
    for path in sources(folder):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif (
                isinstance(node, ast.Attribute)
                and node.attr in {"now", "today", "utcnow"}
                and isinstance(node.value, ast.Name)
            ):
                names = [node.value.id] if node.value.id in {"datetime", "date"} else []
            found += [
                f"{path.relative_to(ROOT)}:{node.lineno} {name}"
                for name in names
                if name.partition(".")[0] in {"time", "uuid", "random", "secrets", "datetime", "date"}
            ]

    assert [] == found


def test_agents_is_no_package() -> None:
    """No `agents/__init__.py` shadows another distribution's import package of that name."""
    assert not (ROOT / "agents" / "__init__.py").exists()
