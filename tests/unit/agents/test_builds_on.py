"""Designs that run the code of another one: whose change is theirs as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agents.load import load_agent
from harness.errors import BadFileError

PLAIN = "def build(ctx):\n    return None\n"


def design(folder: Path, name: str, code: str, prompts: str = "") -> Path:
    """Write a design."""
    (folder / name).mkdir()
    (folder / name / "agent.py").write_text(code, encoding="utf-8")
    if prompts:
        (folder / name / "prompts.py").write_text(prompts, encoding="utf-8")
    return folder / name


def test_a_change_of_the_inner_design_is_one_of_the_outer(tmp_path: Path) -> None:
    """Both digests of a design count the files of those that it builds on; those of others do not."""
    inner = design(tmp_path, "inner", PLAIN, 'HELLO = "hello"\n')
    design(tmp_path, "outer", f'BUILDS_ON = ("inner",)\n{PLAIN}')
    design(tmp_path, "other", PLAIN)
    before = {name: load_agent(tmp_path, name) for name in ("outer", "other")}
    (inner / "prompts.py").write_text('HELLO = "good day"\n', encoding="utf-8")
    after = {name: load_agent(tmp_path, name) for name in ("outer", "other")}

    assert before["outer"].digest != after["outer"].digest
    assert before["outer"].prompt_digest != after["outer"].prompt_digest
    assert before["other"].digest == after["other"].digest
    assert before["other"].prompt_digest == after["other"].prompt_digest


def test_a_graph_that_is_data_is_code(tmp_path: Path) -> None:
    """A changed YAML file beside the agent is another design; a note in prose is not."""
    folder = design(tmp_path, "drawn", PLAIN)
    before = load_agent(tmp_path, "drawn").digest
    (folder / "notes.txt").write_text("hm", encoding="utf-8")
    noted = load_agent(tmp_path, "drawn").digest
    (folder / "workflow.yaml").write_text("nodes: {}", encoding="utf-8")

    assert before == noted
    assert before != load_agent(tmp_path, "drawn").digest


@pytest.mark.parametrize(
    ("named", "because"),
    [
        ('("inner",)', "BUILDS_ON names `inner`, which is no agent"),
        ('"inner"', "BUILDS_ON is no list of names"),
        ("(7,)", "BUILDS_ON is no list of names"),
        ('("",)', "BUILDS_ON is no list of names"),
    ],
)
def test_what_it_builds_on_must_be_there(tmp_path: Path, named: str, because: str) -> None:
    """A name that is no design's, or no name at all, is refused with the file's place."""
    path = design(tmp_path, "outer", f"BUILDS_ON = {named}\n{PLAIN}") / "agent.py"

    with pytest.raises(BadFileError) as caught:
        load_agent(tmp_path, "outer")

    assert because == caught.value.message
    assert str(path) == caught.value.at
