"""Mistakes in a project's own files, each told in one sentence with the file, and none of them a pass or a crash."""

from __future__ import annotations

import shutil

import pytest

from harness import evaluate
from harness.testing.project import FILES, ScratchProject

REQUIRED = "    tools: {required: [get_weather]}\n"
CASE = "goldensets/smoke.yaml"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A project whose one case is recorded."""
    project = ScratchProject(tmp_path_factory.mktemp("recorded"), FILES)
    assert project.harness("record", "--model", "scripted").exit_code == 0
    return project.folder


@pytest.fixture
def own(recorded, tmp_path, monkeypatch) -> ScratchProject:
    """A copy of it, which is the current folder."""
    shutil.copytree(recorded, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return ScratchProject(tmp_path / "own", {})


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "message"),
    [
        (CASE, "question: How warm is it in Berlin?", "content: [{image: no.png}]", "unreadable-file", "No such file"),
        (CASE, "question: How warm is it in Berlin?", "content: [{image: worlds}]", "unreadable-file", "Is a directory"),
        ("goldensets/worlds/yard/tools.py", "return [get_weather]", "return None", "bad-world", "TypeError: 'NoneType'"),
        ("goldensets/worlds/yard/tools.py", "return [get_weather]", "1 / 0", "bad-world", "ZeroDivisionError"),
        ("agents/example/agent.py", "DEFAULT_MODEL", "PROFILES = 3\nDEFAULT_MODEL", "bad-agent", "PROFILES is no list"),
        ("agents/example/agent.py", "DEFAULT_MODEL", "OPTIONS = 3\nDEFAULT_MODEL", "bad-agent", "OPTIONS is no mapping"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_without_a_traceback(own, harness, file, old, new, code, message):
    """The code, the reason and where: exit 2."""
    own.replace(file, old, new)

    ended = harness("run", "--json")
    assert (ended.code, ended.document["error"]["code"], ended.err) == (2, code, "")
    assert message in ended.document["error"]["message"]
    assert file.rpartition("/")[0] in ended.document["error"]["at"]


def test_a_damaged_baseline_is_told_even_where_nothing_broke(own, harness):
    """What was not read was not held to."""
    own.write("reports/baselines/smoke.json", "<<<<<<< ours\n")

    ended = harness("run", "--json")
    assert (ended.code, ended.document["error"]["code"]) == (2, "bad-baseline")


def test_a_pattern_without_end_is_no_verdict(own, harness, monkeypatch):
    """Backtracking would go on for longer than anybody waits."""
    monkeypatch.setattr(evaluate, "JUDGE_SECONDS", 0.1)
    own.replace(CASE, "{all: [7]}", '{all: [{regex: "(.*.*.*.*.*.*.*.*.*.*.*.*)*Z$"}]}')

    ended = harness("run", "--json")
    (result,) = ended.document["results"]
    assert (ended.code, result["code"]) == (3, "contract-hung")
    assert "its contracts came to no end within 0.1 s" in result["because"]
