"""The wheel: one import package, the reference agents inside it as data, nothing that shadows anybody."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from harness.testing.project import ScratchProject

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A freshly built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("tapegate-*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    """Names of the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_one_import_package(names: list[str]) -> None:
    """The wheel installs `harness` and its metadata, and no other top-level name."""
    tops = {name.partition("/")[0] for name in names}

    assert {"harness"} == {top for top in tops if not top.endswith(".dist-info")}


def test_reference_agents_travel_as_data(names: list[str]) -> None:
    """The reference designs lie inside the package, not beside it."""
    assert "harness/_reference_agents/lean_react/agent.py" in names
    assert "harness/_reference_agents/plan_execute/agent.py" in names


def test_typed(names: list[str]) -> None:
    """Type checkers of users read our annotations."""
    assert "harness/py.typed" in names


def test_installed_wheel_brings_the_pytest_plugin(wheel: Path, tmp_path: Path) -> None:
    """In a repository of a user's, beside a distribution whose package is `agents`, pytest finds plugin and trials."""
    installed = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(installed)]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True)
    (installed / "agents").mkdir()
    (installed / "agents" / "__init__.py").write_text("class Runner:\n    pass\n")
    project = ScratchProject(tmp_path / "repository")
    project.write(
        "tests/test_own.py",
        f"""
        from agents import Runner
        import harness

        def test_installed(harness_run):
            assert harness.__file__.startswith({str(installed)!r})
            harness_run("smoke/weather").check()
        """,
    )
    path = {"PYTHONPATH": str(installed)}
    assert 0 == project.harness("record", "--model", "scripted", **path).exit_code
    assert 0 == project.harness("run", **path).exit_code
    assert 0 == project.harness("accept", "--reason", "first", **path).exit_code
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--harness", "-v", "-p", "no:cacheprovider"],
        cwd=project.folder, env=os.environ | path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert 0 == ran.returncode, ran.stdout
    assert "goldensets/smoke.yaml::example::weather[scripted-0] PASSED" in ran.stdout
    assert "tests/test_own.py::test_installed PASSED" in ran.stdout
