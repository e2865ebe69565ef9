"""The wheel: one import package, the reference agents inside it as data, nothing that shadows anybody."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import shutil
import subprocess
import sys
import venv
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


def test_pages_travel_with_their_looks(names: list[str]) -> None:
    """Every template, style, script and word of the pages is in the wheel, the news desk's own among them."""
    source = Path(__file__).parent.parent.parent
    kinds = ("*.html", "*.css", "*.js", "*.svg", "*.json")
    pages = [path for kind in kinds for path in (source / "harness/serve/pages").rglob(kind)]
    desk = [path.name for path in (source / "agents/newsdesk/page").iterdir()]

    assert 20 < len(pages)
    assert set() == {str(path.relative_to(source)) for path in pages} - set(names)
    assert set() == {f"harness/_reference_agents/newsdesk/page/{name}" for name in desk} - set(names)


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


ALL = "goldensets/smoke.yaml::example::weather[scripted-0]"
OWN = """
    import importlib.util
    import sys

    import harness


    def test_packages():
        assert harness.__file__.startswith(sys.prefix)
        assert importlib.util.find_spec("agents").origin.startswith(sys.prefix)


    def test_fixtures(harness_case, harness_run, cassette):
        assert ("weather", 2) == (harness_case.case.id, len(cassette.interactions))
        harness_run().check()
    """


class Environment:
    """A virtual environment of a user's."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.python = folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python*/site-packages")

    def install(self, *words: str) -> None:
        """Install from the index that pip is configured with."""
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet", "--no-compile"]
        subprocess.run([*command, *words], check=True, capture_output=True)

    def run(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a module in *folder*, with nothing of the environment that tests run in."""
        env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        command = [str(self.python), "-m", *words]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """
    An environment with openai-agents and then the wheel, as pip resolves it. What openai-agents itself needs is left out:
    it is there to be overwritten, not to be run.
    """
    made = Environment(tmp_path_factory.mktemp("environment"))
    made.install("--no-deps", "openai-agents")
    made.install(str(wheel), "pytest", "pytest-xdist")
    return made


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of a user's: an agent, a golden set with its cassette and baseline, and tests."""
    project = ScratchProject(tmp_path_factory.mktemp("accepted"))
    project.write("tests/test_own.py", OWN)
    for words in (("record", "--model", "scripted"), ("run",), ("accept", "--reason", "first")):
        assert 0 == project.harness(*words).exit_code
    return project.folder


@pytest.fixture
def repository(accepted: Path, tmp_path: Path) -> ScratchProject:
    """A copy of it."""
    shutil.copytree(accepted, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def test_no_file_of_openai_agents_is_overwritten(environment: Environment) -> None:
    """Each file of the other distribution has the digest that it was installed with, and the package is its own."""
    (listed,) = environment.packages.glob("openai_agents-*.dist-info/RECORD")
    digests = {row[0]: row[1].removeprefix("sha256=") for row in csv.reader(listed.read_text().splitlines()) if row[1]}
    found = {
        name: base64.urlsafe_b64encode(hashlib.sha256((environment.packages / name).read_bytes()).digest())
        .decode()
        .rstrip("=")
        for name in digests
    }

    assert "agents/__init__.py" in found
    assert digests == found


def test_the_plugin_works_from_the_wheel(environment: Environment, repository: ScratchProject) -> None:
    """Each trial is a test, the fixtures replay, and both packages are those of the environment."""
    ran = environment.run(repository.folder, "pytest", "--harness", "-v")

    assert 0 == ran.returncode, ran.stdout + ran.stderr
    for test in (
        ALL,
        "tests/test_own.py::test_packages",
        "tests/test_own.py::test_fixtures[smoke/weather-example-scripted-0]",
    ):
        assert f"{test} PASSED" in ran.stdout, ran.stdout


@pytest.mark.parametrize(
    ("words", "ends"),
    [(("-k", "weather and not fixtures"), "1 passed, 2 deselected"), (("-n", "2"), "3 passed"), (("-m", "harness(set='smoke')"), "2 passed, 1 deselected")],
)  # fmt: skip
def test_pytests_own_options_work_from_the_wheel(
    environment: Environment, repository: ScratchProject, words: tuple[str, ...], ends: str
) -> None:
    """-k, -m and pytest-xdist choose and spread trials beside ordinary tests."""
    ran = environment.run(repository.folder, "pytest", "--harness", *words)

    assert (0, True) == (ran.returncode, f" {ends} in " in ran.stdout), ran.stdout + ran.stderr


def test_failures_stop_and_are_run_again_from_the_wheel(environment: Environment, repository: ScratchProject) -> None:
    """-x stops at a broken trial with its evidence, --lf runs that one again."""
    repository.replace("goldensets/smoke.yaml", "[7]", "[8]")
    first = environment.run(repository.folder, "pytest", "--harness", "-x", "-p", "no:randomly", "goldensets", "tests")
    again = environment.run(repository.folder, "pytest", "--harness", "--lf", "goldensets", "tests")

    assert (1, 1) == (first.returncode, again.returncode), first.stdout + again.stdout
    assert " 1 failed in " in first.stdout
    assert "facts" in first.stdout
    assert "1 failed" in again.stdout
    assert "passed" not in again.stdout.splitlines()[-1]


def test_the_unused_plugin_costs_nothing_from_the_wheel(environment: Environment, repository: ScratchProject) -> None:
    """Where nothing asks for it, the plugin is the only module of the package that pytest loads."""
    repository.write(
        "tests/test_own.py",
        """
        import sys


        def test_loaded():
            ours = sorted(name for name in sys.modules if name.split(".")[0] == "harness")
            heavy = {"msgspec", "pydantic", "yaml", "sqlite3"} & set(sys.modules)

            assert (["harness", "harness.pytest_plugin"], set()) == (ours, heavy)
        """,
    )
    ran = environment.run(repository.folder, "pytest")

    assert 0 == ran.returncode, ran.stdout
