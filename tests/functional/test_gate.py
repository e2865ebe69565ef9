"""The gate, run as CI runs it: each way of going wrong has its exit code and its named cause, and none passes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.reports.documents import schema_of
from harness.testing.project import FILES, ScratchProject

AGENT = "agents/example/agent.py"
SMOKE = "goldensets/smoke.yaml"
WEATHER = "goldensets/scripts/smoke/example/weather.yaml"
BASELINE = "reports/baselines/smoke.json"
ANSWER = "yield FinalAnswer(text=reply.text)"
TOOLS = '''
from harness.records.tool import tool


def build(world):
    @tool(effect="read", ms=50)
    def get_weather(city: str) -> dict:
        """Current weather of a city."""
        return {"city": city, "temperature_c": 7}

    @tool(effect="write")
    def set_alarm(hour: int) -> dict:
        """Set the alarm."""
        return {"hour": hour}

    return [get_weather, set_alarm]
'''
CASES = """
    format: 1
    about: Two questions
    world: yard
    cases:
      - id: weather
        question: How warm is it in Berlin?
        class: simple
        plan: none
        trials: 2
        facts: {all: [7]}
        tools: {required: [get_weather]}
      - id: alarm
        question: Wake me at six and at seven.
        class: simple
        contracts:
          - {name: one update a turn, not_same_turn: {this: {tool: set_alarm, args: {hour: 6}}, that: {tool: set_alarm, args: {hour: 7}}}}
        facts: {all: [done]}
    """
ALARM = """
    format: 1
    steps:
      - reply: {tool_calls: [{name: set_alarm, args: {hour: 6}}]}
      - expect: {tool_result: {name: set_alarm, contains: "6"}}
        reply: {tool_calls: [{name: set_alarm, args: {hour: 7}}]}
      - expect: {tool_result: {name: set_alarm, contains: "7"}}
        reply: {text: It is done.}
    """
FILES_OF_TWO = {
    **FILES,
    SMOKE: CASES,
    "goldensets/worlds/yard/tools.py": TOOLS,
    "goldensets/scripts/smoke/example/alarm.yaml": ALARM,
    WEATHER: FILES[WEATHER].replace("[get_weather]}", "[get_weather, set_alarm]}"),
}


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two recorded cases, three trials, and their baseline."""
    project = ScratchProject(tmp_path_factory.mktemp("accepted"), FILES_OF_TWO)
    for words in (("record", "--model", "scripted"), ("run",), ("accept", "--reason", "first")):
        ran = project.harness(*words)

        assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return project.folder


@pytest.fixture
def project(accepted: Path, tmp_path: Path) -> ScratchProject:
    """A copy of that project."""
    shutil.copytree(accepted, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def gate(project: ScratchProject, *words: str) -> tuple[int, list[tuple[str, str, str, str]]]:
    """Run the gate; its exit code, and case, contract, change and cause of each change that blocks."""
    ran = project.harness("gate", *words, "--json")
    document: dict[str, Any] = ran.document

    jsonschema.validate(document, schema_of("gate"))
    assert document["exit_code"] == ran.exit_code
    told = [(c["case"], c["contract"], c["change"], c["cause"]) for c in document["changes"] if c["exit_code"]]
    return ran.exit_code, sorted(told)


def record_anew(project: ScratchProject, case: str) -> None:
    """Record a case again, with whatever its script says now."""
    ran = project.harness(
        "record", "smoke", "--agent", "example", "--model", "scripted", "--case", case, "--mode", "all"
    )

    assert 0 == ran.exit_code, ran.stderr


def test_nothing_changed_passes(project: ScratchProject) -> None:
    """The gate replays the matrix and says how much it compared."""
    ran = project.harness("gate")

    assert (0, "PASS  3 trials compared (exit 0)\n", "") == (ran.exit_code, ran.stdout, ran.stderr)


def test_one_answer_changed(project: ScratchProject) -> None:
    """A recording with another answer loses its fact: the recording is the cause."""
    project.replace(WEATHER, "It is 7 °C", "It is 8 °C")
    record_anew(project, "weather")

    code, told = gate(project)
    assert (1, ("weather", "facts", "regression", "cassette")) == (code, told[-1])


def test_one_answer_changed_by_the_code(project: ScratchProject) -> None:
    """The same recording, and the agent says something else: its code is the cause."""
    project.replace(AGENT, "text=reply.text", 'text=reply.text.replace("7", "8")')

    code, told = gate(project)
    assert (1, ("weather", "facts", "regression", "code")) == (code, told[-1])


def test_one_extra_tool_call(project: ScratchProject) -> None:
    """A call that the model never asked for, and never sees, is more than was accepted."""
    extra = 'await self.ctx.tools.call("get_weather", {"city": "Rome"}, source="internal")'
    project.replace(AGENT, ANSWER, f"{extra}\n                {ANSWER}")

    ran = project.harness("gate", "--json")
    told = {c["because"]: (c["change"], c["cause"]) for c in ran.document["changes"] if not c["contract"]}
    assert 1 == ran.exit_code
    assert ("regression", "code") == told["tool calls went from 1 to 2; tolerated is +0%"]


def test_two_updates_in_one_turn(project: ScratchProject) -> None:
    """Two writes that were one after the other come in one turn."""
    project.write(
        "goldensets/scripts/smoke/example/alarm.yaml",
        """
        format: 1
        steps:
          - reply: {tool_calls: [{name: set_alarm, args: {hour: 6}}, {name: set_alarm, args: {hour: 7}}]}
          - expect: {tool_result: [{name: set_alarm, contains: "6"}, {name: set_alarm, contains: "7"}]}
            reply: {text: It is done.}
        """,
    )
    record_anew(project, "alarm")

    code, told = gate(project)
    assert (1, ("alarm", "one update a turn", "regression", "cassette")) == (code, told[-1])


def test_broken_markdown(project: ScratchProject) -> None:
    """A fence that nobody closes."""
    project.replace(AGENT, "text=reply.text", 'text=reply.text + "\\n\\n```python\\nprint(7)"')

    code, told = gate(project)
    assert 1 == code
    assert ("weather", "CX15", "regression", "code") in told


def test_a_planner_on_a_simple_question(project: ScratchProject) -> None:
    """A plan where the case wants none."""
    project.replace(AGENT, "import FinalAnswer", "import FinalAnswer, PlanStep, PlanUpdated")
    plan = 'yield PlanUpdated(action="created", plan=(PlanStep(1, "look", "pending"),), digest="d1")'
    project.replace(AGENT, "        for _ in range(4)", f"        {plan}\n        for _ in range(4)")

    code, told = gate(project)
    assert 1 == code
    assert ("weather", "plan", "regression", "code") in told


def test_one_case_deleted(project: ScratchProject) -> None:
    """A golden that is gone takes its verdict with it, and the gate notices."""
    content = project.path(SMOKE).read_text()
    project.write(SMOKE, content[: content.index("  - id: alarm")])

    code, told = gate(project)
    assert 1 == code
    assert ("alarm", "", "missing", "golden") in told
    assert "the case is in no golden set any more" in project.harness("gate").stdout


def test_one_cassette_removed(project: ScratchProject) -> None:
    """A declared trial without its recording could not be checked."""
    project.path("cassettes/example/scripted/smoke/weather.1.yaml").unlink()

    assert (3, [("weather", "", "missing", "cassette")]) == gate(project)


def test_trials_reduced(project: ScratchProject) -> None:
    """Fewer trials than were accepted are no pass."""
    project.replace(SMOKE, "trials: 2", "trials: 1")

    assert (1, [("weather", "", "missing", "golden")]) == gate(project)


def test_trials_reduced_in_the_matrix(project: ScratchProject) -> None:
    """The same by a row of the matrix: the golden set is not to blame."""
    project.replace("pyproject.toml", 'agents = ["example"]', 'agents = ["example"]\ntrials = 1')

    assert (1, [("weather", "", "missing", "matrix")]) == gate(project)


def test_a_changed_prompt_is_a_stale_recording(project: ScratchProject) -> None:
    """The agent asks for what was never recorded: exit 3, and the prompt is named."""
    project.replace("agents/example/prompts.py", "careful", "hasty")

    code, told = gate(project)
    assert (3, {("stale", "prompt")}) == (code, {(change, cause) for _, _, change, cause in told})


def test_a_changed_tool_is_a_stale_recording(project: ScratchProject) -> None:
    """A tool that is described anew is named as the cause."""
    project.replace("goldensets/worlds/yard/tools.py", "Current weather", "The weather")

    code, told = gate(project)
    assert (3, {("stale", "tool_schema")}) == (code, {(change, cause) for _, _, change, cause in told})


def test_an_unread_recording_is_no_pass(project: ScratchProject) -> None:
    """An agent that stops asking leaves a recorded call unread."""
    project.replace(AGENT, "for _ in range(4):", "for _ in range(1):")

    code, told = gate(project)
    assert (3, {("stale", "code")}) == (code, {(change, cause) for _, _, change, cause in told})


def test_a_golden_that_asks_for_less_is_noticed(project: ScratchProject) -> None:
    """A fact taken out of a case is a contract that is gone."""
    project.replace(SMOKE, "    facts: {all: [7]}\n", "")

    code, told = gate(project)
    assert 1 == code
    assert ("weather", "facts", "missing", "golden") in told


def test_no_baseline_is_no_pass(project: ScratchProject) -> None:
    """Without anything accepted there is nothing to compare."""
    project.path(BASELINE).unlink()
    ran = project.harness("gate")

    assert 4 == ran.exit_code
    assert "error[no-baseline]: there is no baseline in" in ran.stderr


def test_a_baseline_of_nothing_is_no_pass(project: ScratchProject) -> None:
    """An emptied file matches nothing, and says so."""
    project.write(BASELINE, '{"format": 1, "set": "smoke", "agents": {}}')

    assert (4, [("", "", "new", "baseline")]) == gate(project)


def test_a_set_that_nothing_runs_any_more_is_missing(project: ScratchProject) -> None:
    """A baseline whose set left the matrix is looked at all the same."""
    other = project.path(BASELINE).read_text().replace('"set": "smoke"', '"set": "walk"')
    project.write("reports/baselines/walk.json", other)

    code, told = gate(project)
    assert (1, {"missing"}) == (code, {change for _, _, change, _ in told})


def test_a_stored_run_of_other_files_is_refused(project: ScratchProject) -> None:
    """A run that was made before the agent changed says nothing of the agent as it is; --stored judges it as it was."""
    run = project.harness("run", "--json").document["run"]
    assert 0 == project.harness("gate", run).exit_code

    project.replace(AGENT, "text=reply.text", 'text="It is cold."')
    refused = project.harness("gate", run, "--json")
    assert (3, "stale-run") == (refused.exit_code, refused.document["error"]["code"])
    assert 0 == project.harness("gate", run, "--stored").exit_code


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("goldensets/worlds/yard/tools.py", '"temperature_c": 7', '"temperature_c": 9'),
        ("pyproject.toml", 'agents = ["example"]', 'agents = ["example"]\ntrials = 1'),
        ("cassettes/example/scripted/smoke/weather.0.yaml", "provenance:", "# edited\nprovenance:"),
    ],
    ids=["world", "matrix", "recording"],
)
def test_a_stored_run_of_another_world_matrix_or_recording_is_refused(
    project: ScratchProject, file: str, old: str, new: str
) -> None:
    """What tools answer, what is declared to run and every byte of what was recorded are what a run was made with."""
    run = project.harness("run", "--json").document["run"]
    project.replace(file, old, new)

    refused = project.harness("gate", run, "--json")
    assert (3, "stale-run") == (refused.exit_code, refused.document["error"]["code"])


def test_a_narrowed_run_is_no_pass(project: ScratchProject) -> None:
    """A run of one case leaves the others unchecked."""
    run = project.harness("run", "--case", "weather", "--json").document["run"]

    assert (3, [("alarm", "", "skipped", "flags")]) == gate(project, run)


def test_stored_without_a_run_is_refused(project: ScratchProject) -> None:
    """There is nothing stored to judge."""
    ran = project.harness("gate", "--stored")

    assert (2, True) == (ran.exit_code, "--stored goes with RUN" in ran.stderr)


def test_another_baseline_takes_the_place_of_the_committed_one(project: ScratchProject) -> None:
    """--baseline FILE is compared with, whatever its name; a file that is not there is an error."""
    shutil.move(project.path(BASELINE), project.path("mine.json"))

    assert 0 == project.harness("gate", "--baseline", "mine.json").exit_code
    assert 2 == project.harness("gate", "--baseline", "none.json").exit_code


def test_a_quarantine_holds_until_its_day(project: ScratchProject) -> None:
    """An entry with owner, reason and day lets a broken contract pass, and is red by itself from that day on."""
    project.replace(AGENT, "text=reply.text", 'text=reply.text.replace("7", "8")')
    entry = (
        "\n[[tool.harness.gate.quarantine]]\ncontract = 'facts'\ncase = 'weather'\nowner = 'vera'\nreason = 'x'\n"
        "expires = 2999-01-01\n"
    )
    pyproject = project.path("pyproject.toml")
    pyproject.write_text(pyproject.read_text() + entry)
    ran = project.harness("gate")
    assert ("QUARANTINED REGRESSION" in ran.stdout, "vera, until 2999-01-01: x" in ran.stdout) == (True, True)

    project.replace("pyproject.toml", "2999", "2020")
    code, told = gate(project)
    assert 1 == code
    assert ("weather", "facts", "regression", "quarantine") in told


@pytest.mark.parametrize("left_out", ["owner", "reason", "expires", "contract", "case"])
def test_a_quarantine_needs_an_owner_a_reason_and_a_day(project: ScratchProject, left_out: str) -> None:
    """An entry that leaves one out is refused: it would last for ever, and nobody would know why."""
    fields = {"contract": "'facts'", "case": "'*'", "owner": "'v'", "reason": "'r'", "expires": "2999-01-01"}
    del fields[left_out]
    entry = "".join(f"{name} = {value}\n" for name, value in fields.items())
    pyproject = project.path("pyproject.toml")
    pyproject.write_text(f"{pyproject.read_text()}\n[[tool.harness.gate.quarantine]]\n{entry}")

    ran = project.harness("gate", "--json")
    assert (2, "bad-policy") == (ran.exit_code, ran.document["error"]["code"])


def test_ci_writes_no_baseline(project: ScratchProject) -> None:
    """On a CI machine the gate judges and writes nothing that is committed."""
    before = project.path(BASELINE).read_bytes()
    ran = project.harness("gate", CI="1")

    assert (0, before) == (ran.exit_code, project.path(BASELINE).read_bytes())


def test_accepting_what_is_new_makes_it_pass_quietly(project: ScratchProject) -> None:
    """A recording that was made anew and kept is told, and accepting it ends that."""
    project.replace(WEATHER, "It is 7 °C in Berlin.", "Berlin has 7 °C.")
    record_anew(project, "weather")
    ran = project.harness("gate", "--json")
    assert (0, {"new"}) == (ran.exit_code, {change["change"] for change in ran.document["changes"]})

    project.harness("accept", "--reason", "shorter")
    assert [] == json.loads(project.harness("gate", "--json").stdout)["changes"]
