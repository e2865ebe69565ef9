"""The lock of a trial: each file that its verdict follows from changes it, under the name of what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness.config import load_config
from harness.locks import Locks
from harness.records.run import Cell, Lock
from harness.testing.project import FILES, ScratchProject
from harness.trials import Project

AGENT = "agents/example/agent.py"
YARD = "goldensets/worlds/yard"
SMOKE = "goldensets/smoke.yaml"
CASSETTE = "cassettes/example/scripted/smoke/weather.0.yaml"
JUDGED = "cassettes/_judge/referee/smoke/weather.0.yaml"
PYPROJECT = """
    [tool.harness]
    contract_modules = ["own_rules.py"]
    [tool.harness.models.referee]
    answered_by = "local"
    """
Change = Callable[[ScratchProject], object]


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project whose agent imports a module of the project's own, with a recording, a judge and an image."""
    made = ScratchProject(tmp_path, FILES)
    made.write("myapp/loop.py", "STEPS = 4")
    made.replace(AGENT, "return Example(ctx)", "from myapp import loop\n\n    return Example(ctx)")
    made.write("own_rules.py", "import rule_parts")
    made.write("rule_parts.py", "WORDS = 3")
    made.write(CASSETTE, "version: 1")
    made.write(JUDGED, "version: 1")
    made.write("goldensets/images/chart.png", "chart")
    made.write(f"{YARD}/embeddings.json", "{}")
    made.write("agents/other/agent.py", "x = 1")
    made.write("pyproject.toml", PYPROJECT)
    return made


def lock(project: ScratchProject, agent: str = "example", model: str = "scripted") -> Lock:
    """The lock of the project's one trial."""
    opened = Project(load_config(project.folder))
    case = opened.golden_set("smoke").cases[0]
    return Locks(opened).before(Cell(agent, model, "smoke", case.id), case)


def changed(project: ScratchProject, change: Change, model: str = "scripted") -> set[str]:
    """Names of what *change* changes in the lock."""
    before = lock(project, model=model)
    change(project)
    after = lock(project, model=model)
    return {name for name in Lock.__struct_fields__ if getattr(before, name) != getattr(after, name)}


def appended(name: str) -> Change:
    """Add a line to the file *name*."""
    return lambda project: project.path(name).write_text(project.path(name).read_text() + "\n# more\n")


def replaced(name: str, old: str, new: str) -> Change:
    """Change a text of the file *name*."""
    return lambda project: project.replace(name, old, new)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (appended(AGENT), {"code"}),
        (appended("myapp/loop.py"), {"code"}),
        (lambda project: project.write("agents/example/guide.md", "be kind"), {"code"}),
        (appended("agents/example/prompts.py"), {"prompt"}),
        (appended(f"{YARD}/tools.py"), {"world"}),
        (appended(f"{YARD}/embeddings.json"), {"world"}),
        (replaced(f"{YARD}/world.yaml", "09:00", "10:00"), {"world"}),
        (replaced(f"{YARD}/world.yaml", "vera", "otto"), {"world"}),
        (replaced(SMOKE, "[7]", "[8]"), {"golden"}),
        (replaced(SMOKE, "cases:", "policies:\n  - {when: {class: simple}, contracts: [CX13]}\ncases:"), {"golden"}),
        (appended("own_rules.py"), {"contracts"}),
        (appended("rule_parts.py"), {"contracts"}),
        (appended(CASSETTE), {"cassette"}),
        (appended(JUDGED), {"cassette"}),
        (lambda project: project.path(JUDGED).unlink(), {"cassette"}),
        (lambda project: project.path(CASSETTE).unlink(), {"cassette"}),
        (replaced("pyproject.toml", '"local"', '"live"'), {"cassette"}),
        (appended("agents/other/agent.py"), set()),
        (appended("goldensets/scripts/smoke/example/weather.yaml"), set()),
        (replaced(SMOKE, "cases:", "# a comment\ncases:"), set()),
    ],
)
def test_each_file_has_its_name(project: ScratchProject, change: Change, names: set[str]) -> None:
    """What a verdict follows from changes one digest; what it does not follow from changes none."""
    assert names == changed(project, change)


def test_what_is_declared_of_a_model_reaches_its_own_trials(project: ScratchProject) -> None:
    """A parameter of one model changes the lock of its trials, and of no others."""
    sampling = replaced("pyproject.toml", 'answered_by = "local"', 'answered_by = "local"\nsampling = {seed = 1}')
    project.path(JUDGED).unlink()

    assert ({"model"}, set()) == (changed(project, sampling, "referee"), changed(project, lambda _: None))


def test_what_judges_said_stands_behind_the_recording(project: ScratchProject) -> None:
    """The trial's own file keeps its digest where only a judge said something else."""
    before = lock(project).cassette
    appended(JUDGED)(project)
    after = lock(project).cassette

    assert before.partition("+")[::2] != after.partition("+")[::2]
    assert before.partition("+")[0] == after.partition("+")[0]


def test_an_image_counts_by_its_content(project: ScratchProject) -> None:
    """The picture that a case shows is part of the case, wherever its file is the same."""
    project.replace(
        SMOKE, "question: How warm is it in Berlin?", "content: [{text: How warm?}, {image: images/chart.png}]"
    )

    assert {"golden"} == changed(project, appended("goldensets/images/chart.png"))


def test_a_design_that_builds_on_another_takes_its_changes(project: ScratchProject) -> None:
    """Code and prompts of a design that another builds on count for both."""
    project.write("agents/heir/agent.py", 'BUILDS_ON = ("example",)\n\n\ndef build(ctx): ...\n')
    project.write("agents/heir/prompts.py", 'SYSTEM = "x"')

    def named(change: Change) -> set[str]:
        before = lock(project, "heir")
        change(project)
        after = lock(project, "heir")
        return {name for name in Lock.__struct_fields__ if getattr(before, name) != getattr(after, name)}

    assert [{"code"}, {"prompt"}, {"code"}] == [
        named(appended(name)) for name in (AGENT, "agents/example/prompts.py", "myapp/loop.py")
    ]


def test_another_version_of_tapegate_is_other_contracts(
    project: ScratchProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The built-in contracts come with the version."""
    assert {"contracts"} == changed(project, lambda _: monkeypatch.setattr("harness.locks.__version__", "9.9"))


def test_a_verdicts_lock_is_the_lock_before_with_the_tools(project: ScratchProject, tmp_path: Path) -> None:
    """What is known before a trial runs is what its verdict carries; the offered tools are added."""
    recorded = ScratchProject(tmp_path / "recorded")
    assert 0 == recorded.harness("record", "--model", "scripted").exit_code
    verdict = recorded.harness("run", "--json").document["results"][0]

    before = lock(recorded)
    assert verdict["lock"]["tool_schema"]
    assert msgspec.to_builtins(before) == verdict["lock"] | {"tool_schema": ""}
