"""The gate where a model was recorded anew: statistics decide, say what they saw, and never pass for want of a library."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.reports.documents import schema_of
from harness.testing.project import FILES, ScratchProject

PYPROJECT = """
    [tool.harness]
    concurrency = 1
    [[tool.harness.matrix]]
    set = "smoke"
    agents = ["example"]
    models = ["tiny"]

    [tool.harness.models.tiny]
    answered_by = "local"
    sha256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    server = "a test server 1"
    sampling = { temperature = 0.7, seed = 1, max_tokens = 64 }

    [tool.harness.gate.tolerate]
    tokens = 2.0
    latency = 1000.0
    """
CITIES = ("Berlin", "Lisbon", "Madrid", "Oslo", "Paris", "Rome")
SET = "format: 1\nabout: Skies\nworld: yard\ncases:\n" + "".join(
    f"  - {{id: {city.lower()}-en, question: How is the sky in {city}?, lang: en, class: simple, facts: {{all: [sunny]}}}}\n"
    for city in CITIES
)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """A server that stands in for a local model's."""
    with ScriptedServer() as running:
        yield running


def recorded(project: ScratchProject, server: ScriptedServer, *answers: str, words: tuple[str, ...] = ()) -> None:
    """Record every case anew: the model answers so, one after the other."""
    steps = "".join(f"  - reply: {{text: '{answer}'}}\n" for answer in answers)
    session = server.open(parse_script(f"format: 1\nsteps:\n{steps}"))
    ran = project.harness("record", "--mode", "all", "--json", "--base-url", session.openai_base_url, *words)

    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    session.close()


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Path:
    """Six cases, each kept in its one recording, and their baseline."""
    files = {"pyproject.toml": PYPROJECT, "goldensets/smoke.yaml": SET}
    project = ScratchProject(tmp_path_factory.mktemp("sampled"), {**FILES, **files})
    project.path("goldensets/scripts/smoke/example/weather.yaml").unlink()
    recorded(project, server, *["It is sunny."] * 6)
    for command in (("run",), ("accept", "--reason", "first")):
        ran = project.harness(*command)

        assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return project.folder


@pytest.fixture
def project(accepted: Path, tmp_path: Path) -> ScratchProject:
    """A copy of that project."""
    shutil.copytree(accepted, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def test_the_same_recordings_are_compared_exactly(project: ScratchProject) -> None:
    """Replayed as often as one likes: no statistic, no p-value, no interval."""
    for _ in range(2):
        document = project.harness("gate", "--json").document

        assert ("pass", [], [], []) == (
            document["decision"], document["changes"], document["statistics"], document["samples"],
        )  # fmt: skip


def test_five_lost_of_six_are_a_regression(project: ScratchProject, server: ScriptedServer) -> None:
    """McNemar's exact test over the cases of the set: 1 in 32."""
    recorded(project, server, *["It is cloudy now."] * 5, "It is sunny now.")
    ran = project.harness("gate")

    assert 1 == ran.exit_code
    assert (
        "SAMPLES example × tiny on smoke, answered by: local; 6 cases recorded anew all blocking contracts: kept 1 of 6 "
        "(95 % 3–56 %) recordings, accepted 6 of 6 (95 % 61–100 %); change -83 points (95 % -100 to -40, standard error 17) "
        "McNemar's exact test: 5 cases lost, 0 gained, p = 0.031, Holm 0.031: WORSE"
    ) in " ".join(ran.stdout.split())
    assert "REGRESSION  example × tiny smoke/berlin-en (cause: cassette)\n  facts: " in ran.stdout


def test_two_lost_of_six_are_inconclusive_and_say_what_would_settle_it(
    project: ScratchProject, server: ScriptedServer
) -> None:
    """Exit 5: the smallest change that could have been seen and the recordings needed, as text and as JSON."""
    recorded(project, server, *["It is cloudy now."] * 2, *["It is sunny now."] * 4)
    ran = project.harness("gate")
    document = project.harness("gate", "--json").document

    assert (5, 5) == (ran.exit_code, document["exit_code"])
    jsonschema.validate(document, schema_of("gate"))
    (test,) = [one for one in document["statistics"] if one["figure"] is None]
    assert ("mcnemar", 2, 0, 0.25, None, "inconclusive") == (
        test["test"], test["lost"], test["gained"], test["p_value"], test["p_adjusted"], test["outcome"],
    )  # fmt: skip
    assert 0.5 < test["smallest_detectable"] <= 1
    assert document["needs_trials"] == 3
    assert "p = 0.25, could not have been significant: inconclusive\n" in ran.stdout
    assert f"the smallest loss seen with 80 % power is {100 * test['smallest_detectable']:.0f} points" in (
        " ".join(ran.stdout.split())
    )
    assert "(exit 5); about 3 recordings of each case, on each side, would settle it" in " ".join(ran.stdout.split())


def test_more_recordings_settle_it(project: ScratchProject, server: ScriptedServer) -> None:
    """As many as it asked for, on each side: the case that lost is red by its own test, and the others are let be."""
    project.replace("pyproject.toml", 'models = ["tiny"]', 'models = ["tiny"]\ntrials = 4\ncases = ["berlin-en"]')
    recorded(project, server, *(f"It is sunny, {n}." for n in range(4)))
    project.path("reports/baselines/smoke.json").unlink()
    for command in (("run",), ("accept", "--reason", "four of them")):
        assert 0 == project.harness(*command).exit_code
    recorded(project, server, *(f"It is cloudy, {n}." for n in range(4)))
    document = project.harness("gate", "--json").document

    (test,) = [one for one in document["statistics"] if one["figure"] is None]
    assert (1, "permutation", pytest.approx(1 / 70)) == (document["exit_code"], test["test"], test["p_value"])
    (sample,) = document["samples"]
    assert (0, 4, 0.0) == (sample["after"]["kept"], sample["after"]["trials"], sample["flakiness"])


def test_without_scipy_it_says_so_and_never_passes(
    project: ScratchProject, server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where recordings differ an interval needs it: exit 2 with the command that installs it; else nobody misses it."""
    without = tmp_path_factory.mktemp("without")
    (without / "scipy").mkdir()
    (without / "scipy" / "__init__.py").write_text("raise ModuleNotFoundError('no scipy', name='scipy')\n")
    same = project.harness("gate", PYTHONPATH=str(without))
    recorded(project, server, *["It is cloudy now."] * 2, *["It is sunny now."] * 4)
    anew = project.harness("gate", PYTHONPATH=str(without))

    assert (0, 2) == (same.exit_code, anew.exit_code)
    assert anew.stderr == (
        'error[no-scipy]: this statistic needs `scipy`, which is not installed\n\nhint: pip install "tapegate[stats]"\n'
    )


def test_another_way_through_a_case_is_told_and_may_block(project: ScratchProject, server: ScriptedServer) -> None:
    """A model that begins to call a tool: told by default, red where trajectories block, and accepted beside the old way."""
    project.replace("pyproject.toml", 'models = ["tiny"]', 'models = ["tiny"]\ncases = ["berlin-en"]')
    baseline = project.path("reports/baselines/smoke.json")
    baseline.unlink()
    for command in (("run",), ("accept", "--reason", "one case")):
        assert 0 == project.harness(*command).exit_code
    call = "{tool_calls: [{name: get_weather, args: {city: Berlin}}]}"
    seen = 'expect: {tool_result: {name: get_weather, contains: "7"}}'
    steps = f"  - reply: {call}\n  - {seen}\n    reply: {{text: It is sunny.}}\n"
    session = server.open(parse_script(f"format: 1\nsteps:\n{steps}"))
    assert 0 == project.harness("record", "--mode", "all", "--base-url", session.openai_base_url).exit_code
    session.close()

    project.replace("pyproject.toml", "latency = 1000.0", "latency = 1000.0\nllm_calls = 9.0\ntool_calls = 9.0")
    told = project.harness("gate")
    parted = 'it parts from the accepted one at step 1: is at its end, against calls `get_weather({"city":"Berlin"})`'
    assert parted.replace(" ", "") in told.stdout.replace(" ", "").replace("\n", "")
    pyproject = project.path("pyproject.toml").read_text()
    project.path("pyproject.toml").write_text(
        pyproject.replace(
            "[tool.harness.gate.tolerate]", '[tool.harness.gate]\ntrajectories = "block"\n[tool.harness.gate.tolerate]'
        )
    )
    blocked = project.harness("gate", "--json")
    assert [("regression", 1)] == [
        (one["change"], one["exit_code"]) for one in blocked.document["changes"] if one["contract"] == "trajectory"
    ]

    project.harness("run")
    also = project.harness("accept", "--reason", "it may look outside", "--also")
    assert "; 1 new trajectories\n" in also.stdout
    ways = project.path("reports/baselines/trajectories/smoke.json").read_text()
    assert '{"trials": [0], "reason"' not in ways
    assert '"trials": [0], "reason": "it may look outside"}' in ways
    assert 0 == project.harness("gate").exit_code
