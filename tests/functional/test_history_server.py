"""A team's results store on a real PostgreSQL: two checkouts put their runs into it, and each sees those of both."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import pytest

from harness.modules import load_module
from harness.testing.project import ScratchProject

STORE = Path(__file__).parents[2] / "agents" / "newsdesk" / "store"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The embedded PostgreSQL, by a URL with a password that it does not ask for."""
    package = load_module(STORE / "__init__.py", kind="newsdesk", code="bad-agent", package=True)
    running = import_module(".embedded", package.__name__).EmbeddedPostgres()
    folder = running.url.split()[0].removeprefix("host=")
    yield f"postgresql://postgres:s3cret-word@/postgres?host={quote(folder, safe='')}"
    running.stop()


def test_two_checkouts_share_one_history(recorded: Path, tmp_path: Path, server: str) -> None:
    """What one of them broke, the other sees; nobody sees the password."""
    here, there = (ScratchProject(shutil.copytree(recorded, tmp_path / name), {}) for name in ("here", "there"))
    assert 0 == here.harness("run").exit_code
    first = here.harness("history", HARNESS_HISTORY=server)
    there.replace("goldensets/smoke.yaml", "{all: [7]}", "{all: [8]}")
    assert 1 == there.harness("run").exit_code
    second = there.harness("history", HARNESS_HISTORY=server)
    looked = here.harness("history", "--read-only", "--json", HARNESS_HISTORY=server)

    assert (0, 0, 0) == (first.exit_code, second.exit_code, looked.exit_code), first.stderr + second.stderr
    assert first.stdout.startswith("ONE RUN  1 of 1 trials kept; a trend needs another run")
    assert second.stdout.startswith("FELL  1 case no longer kept since run 20")
    assert re.search(r"example × scripted +█▁ 0/1", second.stdout)
    assert "golden cases of example" in second.stdout
    assert [1, 0] == [run["kept"] for run in looked.document["runs"]]
    assert re.fullmatch(r"postgresql:///\S+/postgres", looked.document["store"])
    assert not (here.folder / "reports" / "history.sqlite").exists()
    assert "s3cret" not in "".join(one.stdout + one.stderr for one in (first, second, looked))


def test_a_server_that_is_gone_is_exit_3(recorded: Path, tmp_path: Path) -> None:
    """The address without its password, the server's own words, and the way without a store."""
    project = ScratchProject(shutil.copytree(recorded, tmp_path / "project"), {})
    assert 0 == project.harness("run").exit_code
    ran = project.harness("history", "--store", "postgresql://ada:s3cret-word@127.0.0.1:1/runs")

    assert 3 == ran.exit_code
    assert ran.stderr.startswith(
        "error[history-store]: the results store postgresql://127.0.0.1:1/runs cannot be used: "
    )
    assert "refused" in ran.stderr
    assert (
        "\n\nhint: look at the server and its rights; `harness history --no-store` reads the run folders alone"
        in ran.stderr
    )
    assert "s3cret" not in ran.stdout + ran.stderr
