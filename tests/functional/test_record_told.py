"""What `harness record` tells a person: the bill, what went wrong and where, and what a comparison found."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.testing.project import FILES, ScratchProject

AGENT = "agents/example/agent.py"


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project with a script and no recording."""
    return ScratchProject(tmp_path, FILES)


def test_the_bill_of_a_script_counts_its_steps(project: ScratchProject) -> None:
    """Nothing is recorded yet, and yet the number is known."""
    ran = project.harness("record", "--model", "scripted", "--dry-run")

    assert "would record 1 of 1 trials: 2 model calls" == ran.stdout.splitlines()[0]


def test_a_crash_is_told_before_what_the_script_misses(project: ScratchProject) -> None:
    """That a step was not used follows from the crash, and alone would send the reader to the wrong file."""
    source = project.folder / AGENT
    source.write_text(source.read_text(encoding="utf-8").replace("reply.message)", "reply.mesage)"), encoding="utf-8")
    ran = project.harness("record", "--model", "scripted", "--json")

    assert 3 == ran.exit_code
    [refused] = ran.document["refused"]
    assert "weather.0.yaml: the agent crashed: AttributeError: 'Reply' object has no attribute 'mesage'" in refused
    assert "(agent.py:23); so step 2: no call came for it" in refused


def test_what_was_refused_names_the_file(project: ScratchProject) -> None:
    """A world that cannot be read is named with its place."""
    world = project.folder / "goldensets" / "worlds" / "yard" / "world.yaml"
    world.write_text(world.read_text(encoding="utf-8").replace("user: vera", ""), encoding="utf-8")
    ran = project.harness("record", "--model", "scripted", "--json")

    [refused] = ran.document["refused"]
    assert "weather.0.yaml: goldensets/worlds/yard/world.yaml:1: not a world: " in refused


def test_a_comparison_does_not_say_that_it_recorded(project: ScratchProject) -> None:
    """`verify` writes nothing, so there is nothing to commit."""
    project.harness("record", "--model", "scripted")
    ran = project.harness("record", "--model", "scripted", "--mode", "verify")

    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    assert "1 of 1 trials answered as they were recorded: 2 model calls\n" == ran.stdout


def test_a_script_has_no_other_address(project: ScratchProject) -> None:
    """The flag would be passed over without a word."""
    ran = project.harness("record", "--model", "scripted", "--base-url", "http://127.0.0.1:9/v1")

    assert 2 == ran.exit_code
    assert "error[bad-arguments]: --base-url does not go with the model `scripted`" in ran.stderr
