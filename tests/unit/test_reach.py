"""Which files code can come to: read from its text, and rather too many than too few."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import load_config
from harness.reach import Reach
from harness.testing.project import FILES, ScratchProject

AGENT = "agents/example/agent.py"
YARD = "goldensets/worlds/yard/tools.py"


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project with an agent and a world."""
    return ScratchProject(tmp_path, FILES)


def reached(project: ScratchProject, start: str) -> list[str]:
    """What the code in *start* reaches, relative to the project."""
    found = Reach(load_config(project.folder)).files([project.path(start)])
    return sorted(path.relative_to(project.folder.resolve()).as_posix() for path in found)


def test_everything_in_the_folder_counts(project: ScratchProject) -> None:
    """A text beside the code, at any depth, is part of it; compiled Python and hidden folders are not."""
    for name in ("prompts/system.md", "__pycache__/agent.cpython-311.pyc", ".tool/cache", ".settings"):
        project.write(f"agents/example/{name}", "x")

    assert [".settings", "agent.py", "prompts.py", "prompts/system.md"] == [
        name.removeprefix("agents/example/") for name in reached(project, "agents/example")
    ]


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("import myapp", "myapp/loop.py"),
        ("from myapp.loop import think", "myapp/loop.py"),
        ("    import os, myapp", "myapp/loop.py"),
        ("import myapp as ours", "myapp/loop.py"),
        ('import_module("myapp.loop")', "myapp/loop.py"),
        ("from single import f", "single.py"),
        ("import deep", "src/deep/__init__.py"),
        ('(root / "data" / name).read_text()', "data/table.csv"),
        ("open('data/table.csv')", "data/table.csv"),
        ('open("../../data/table.csv")', "data/table.csv"),
        ('open(f"data/{name}.csv")', "data/table.csv"),
        ('open("rules.txt")', "rules.txt"),
        ('BUILDS_ON = ("other",)', "agents/other/agent.py"),
        ('load(agents / "other" / "agent.py")', "agents/other/agent.py"),
        ('WORLD = "yard"', YARD),
    ],
)
def test_what_code_imports_or_names_counts(project: ScratchProject, line: str, file: str) -> None:
    """A module of the project, and a file or a folder whose name stands in quotes, is reached."""
    for name in ("myapp/__init__.py", "myapp/loop.py", "single.py", "src/deep/__init__.py", "data/table.csv"):
        project.write(name, "x = 1")
    project.write("rules.txt", "be kind")
    project.write("agents/other/agent.py", "x = 1")
    before = reached(project, "agents/example")
    project.write(AGENT, f"{FILES[AGENT]}\n\n{line}\n")

    assert (False, True) == (file in before, file in reached(project, "agents/example"))


def test_links_are_followed_and_come_to_an_end(project: ScratchProject) -> None:
    """A folder that lies elsewhere and is linked to counts by its content; a link into its own folder is no more."""
    project.write("elsewhere/rules.md", "be kind")
    project.path("agents/example/rules").symlink_to(project.path("elsewhere"))
    project.path("elsewhere/again").symlink_to(project.path("elsewhere"))

    assert "agents/example/rules/rules.md" in reached(project, "agents/example")


def test_what_is_reached_reaches_on(project: ScratchProject) -> None:
    """An import of an import counts, and a circle comes to an end."""
    project.write("first.py", "import second")
    project.write("second.py", "import first\nopen('rules.txt')")
    project.write("rules.txt", "be kind")
    project.write(AGENT, "import first")

    assert ["agents/example/agent.py", "agents/example/prompts.py", "first.py", "rules.txt", "second.py"] == reached(
        project, "agents/example"
    )


def test_the_folders_that_hold_everybodys_parts_are_not_taken_whole(project: ScratchProject) -> None:
    """The way to another agent names the folder of all agents: only the one that it ends at counts."""
    project.write("agents/other/agent.py", "x = 1")
    project.write("agents/third/agent.py", "x = 1")
    project.write(AGENT, 'load(ROOT / "agents" / "other"); open("goldensets/worlds"); Path("cassettes"); Path("src")')

    assert ["agents/example/agent.py", "agents/example/prompts.py", "agents/other/agent.py"] == reached(
        project, "agents/example"
    )


def test_installed_packages_and_the_standard_library_are_left_out(project: ScratchProject) -> None:
    """What is installed changes with its version; words that name nothing lead nowhere."""
    project.write(AGENT, 'import json, msgspec, yaml\nfrom harness.errors import HarnessError\nx = "no such thing"')

    assert ["agents/example/agent.py", "agents/example/prompts.py"] == reached(project, "agents/example")


def test_the_digest_follows_content_and_names(
    project: ScratchProject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same files elsewhere have the same digest; another content or another name has another."""
    there = ScratchProject(tmp_path_factory.mktemp("elsewhere"), FILES)

    def digest(where: ScratchProject, leave_out: tuple[str, ...] = ()) -> str:
        reach = Reach(load_config(where.folder))
        return reach.digest([where.path("agents/example")], leave_out=[where.path(name) for name in leave_out])

    first = digest(project)
    assert first == digest(there)

    there.write("agents/example/prompts.py", "SYSTEM = 'other'")
    assert first != digest(there)
    assert digest(project, ("agents/example/prompts.py",)) == digest(there, ("agents/example/prompts.py",))

    project.path("agents/example/prompts.py").rename(project.path("agents/example/texts.py"))
    assert first != digest(project)
