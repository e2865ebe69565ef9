"""Every error code that the product can print is explained, and every explanation is of a code that it can print."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.cli.codes import CODES
from harness.contracts.markdown import CODES as MARKDOWN
from harness.errors import ExitCode

SOURCE = Path(harness.__file__).parent
TABLE = SOURCE / "cli" / "codes"
KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")
REASONS = {"stopped"}
"""What a trace says of a trial that was cut off on purpose: no error, and never printed as one."""
PRINTED = re.compile(r"error\[([a-z-]+)\]")


class Codes:
    """
    Finds codes by reading the source: where an error is made, and where a function is called that takes a `code`.
    """

    def __init__(self, sources: dict[str, str]) -> None:
        self.trees = {name: ast.parse(text) for name, text in sources.items()}
        self.constants = dict(self._constants())
        self.errors = self._error_classes()
        self.takers = set(self._functions_with_a_code())
        self.found = {code: where for code, where in (*self._codes(), *self._literals()) if KEBAB.fullmatch(code)}

    def _constants(self) -> Iterator[tuple[str, str]]:
        for tree in self.trees.values():
            for node in tree.body:
                value = getattr(node, "value", None)
                targets = getattr(node, "targets", [getattr(node, "target", None)])
                if (
                    isinstance(value, ast.Constant)
                    and isinstance(value.value, str)
                    and isinstance(targets[0], ast.Name)
                ):
                    yield targets[0].id, value.value

    def _literals(self) -> Iterator[tuple[str, str]]:
        """Codes of a type such as `ProblemCode = Literal["script-unmet", …]`."""
        for name, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith("Code"):
                    for text in ast.walk(node.value):
                        if isinstance(text, ast.Constant) and isinstance(text.value, str):
                            yield text.value, f"{name}:{node.lineno}"

    def _error_classes(self) -> set[str]:
        bases = {
            node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        }
        found = {"HarnessError"}
        while more := {name for name, of in bases.items() if of & found} - found:
            found |= more
        return found

    def _functions_with_a_code(self) -> Iterator[tuple[str, int]]:
        for tree in self.trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    names = [argument.arg for argument in node.args.args if argument.arg != "self"]
                elif isinstance(node, ast.ClassDef):
                    names = [ast.unparse(field.target) for field in node.body if isinstance(field, ast.AnnAssign)]
                else:
                    continue
                if "code" in names:
                    yield node.name, names.index("code")

    def _codes(self) -> Iterator[tuple[str, str]]:
        for name, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    yield from ((code, f"{name}:{node.lineno}") for code in self._codes_of(node))
                if isinstance(node, ast.Assign):
                    yield from ((code, f"{name}:{node.lineno}") for code in self._assigned(node))
                if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
                    yield from ((code, f"{name}:{node.lineno}") for code in self._yielded(node.value))
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from ((code, f"{name}:{node.lineno}") for code in PRINTED.findall(node.value))

    def _yielded(self, values: ast.Tuple) -> Iterator[str]:
        """A generator of `(code, because, fix)`."""
        if len(values.elts) == 3:
            yield from (text for text in self._texts(values.elts[0]) if "-" in text)

    def _assigned(self, node: ast.Assign) -> Iterator[str]:
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for name, value in zip(names, values, strict=False):
                if ast.unparse(name) == "code":
                    yield from self._texts(value)

    def _codes_of(self, call: ast.Call) -> Iterator[str]:
        function = ast.unparse(call.func).rpartition(".")[2]
        for place, argument in enumerate(call.args):
            if (place == 0 and function in self.errors) or (function, place) in self.takers:
                yield from self._texts(argument)
        for keyword in call.keywords:
            if keyword.arg == "code":
                yield from self._texts(keyword.value)

    def _texts(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name) and node.id in self.constants:
            yield self.constants[node.id]
        elif isinstance(node, ast.IfExp):
            yield from (*self._texts(node.body), *self._texts(node.orelse))
        elif isinstance(node, ast.BoolOp):
            yield from (text for value in node.values for text in self._texts(value))


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """Every file of the product and its agents but the table itself."""
    root = SOURCE.parent
    files = [
        path
        for folder in (SOURCE, root / "agents")
        for path in sorted(folder.rglob("*.py"))
        if TABLE not in path.parents
    ]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_every_code_in_the_source_is_explained(sources):
    """A person who meets a code in square brackets can ask for it."""
    found = Codes(sources).found

    missing = {code: where for code, where in found.items() if code not in {*CODES, *MARKDOWN, *REASONS}}
    assert missing == {}


def test_every_explained_code_is_in_the_source(sources):
    """No explanation outlives its code."""
    constants = {
        node.value
        for text in sources.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    printed = {code for text in constants for code in PRINTED.findall(text)}
    beginnings = tuple(text for text in constants if KEBAB.fullmatch(text.removesuffix("-")) and text.endswith("-"))

    gone = [code for code in CODES if code not in constants | printed and not code.startswith(beginnings)]
    assert gone == []


def test_the_search_finds_codes_in_every_form():
    """A code may be stated, chosen, named by a constant, or passed through a helper."""
    text = """
BAD = "bad-thing"
OwnCode = Literal["typed-code"]
class OwnError(UsageError): ...
class UsageError(HarnessError): ...
def problem(at, code): raise UsageError(code, "…")
def f():
    raise OwnError("one-code" if x else "two-code", "…")
    raise errors.UsageError(BAD, "…")
    problem(1, "helped-code")
    Trial(code=found or "kept-code")
    print("error[printed-code]: …")
    Warned(code="agent_crash")
    code, because = "assigned-code", "…"
    yield "yielded-code", "because", "fix"
class Problem(Struct):
    path: str
    code: str
Problem("x", "record-code")
"""
    expected = {
        "assigned-code",
        "typed-code",
        "one-code",
        "two-code",
        "bad-thing",
        "helped-code",
        "kept-code",
        "printed-code",
        "record-code",
        "yielded-code",
    }

    assert expected == set(Codes({"x.py": text}).found)


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_explanation_says_what_and_what_to_do(code):
    """Sentences without a full stop, with an exit code that can be meant."""
    explained = CODES[code]

    assert KEBAB.fullmatch(code)
    assert explained.exit_code in (ExitCode.USAGE, ExitCode.COULD_NOT_CHECK, ExitCode.NOTHING_COMPARED)
    for text in (explained.about, explained.mend):
        assert text
        assert not text.endswith(".")
