"""
The ways in which a gate passes by accident, each closed by name: what other tools let through, and what people try.

Every test starts from a project whose gate is green, opens one hole, and looks at the exit code and the named cause.
`tests/functional/test_gate.py` has the changes that a pull request makes; here are those that make a gate blind.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from harness.testing.project import ScratchProject

from .test_gate import AGENT, ALARM, ANSWER, BASELINE, FILES_OF_TWO, SMOKE, WEATHER, gate, record_anew

CASSETTES = "cassettes/example/scripted/smoke"
FLIPPING = """
import pathlib

_seen = pathlib.Path(__file__).parent / "seen"


def lucky():
    _seen.write_text(str(int(_seen.read_text() if _seen.exists() else 0) + 1))
    return int(_seen.read_text()) % 2 == 0
"""


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two recorded cases, three trials, and their baseline."""
    project = ScratchProject(tmp_path_factory.mktemp("holes"), FILES_OF_TWO)
    for words in (("record", "--model", "scripted"), ("run",), ("accept", "--reason", "first")):
        ran = project.harness(*words)

        assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return project.folder


@pytest.fixture
def project(accepted: Path, tmp_path: Path) -> ScratchProject:
    """A copy of that project."""
    shutil.copytree(accepted, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def with_policy(project: ScratchProject, text: str) -> None:
    """Add tables of the gate to pyproject.toml."""
    path = project.path("pyproject.toml")
    path.write_text(f"{path.read_text()}\n{text}", encoding="utf-8")


def baseline_of(project: ScratchProject) -> dict:
    """The committed baseline, as it is written."""
    return json.loads(project.path(BASELINE).read_text(encoding="utf-8"))


def test_no_baseline_at_all(project: ScratchProject) -> None:
    """Nothing to compare with is exit 4, with the commands that make one, and not a pass."""
    shutil.rmtree(project.path("reports/baselines"))
    ran = project.harness("gate", "--json")

    assert (4, "no-baseline") == (ran.exit_code, ran.document["error"]["code"])


def test_a_baseline_of_other_cases_only(project: ScratchProject) -> None:
    """A baseline that matches nothing of the run compares nothing: what it has is missing, what ran is new."""
    content = project.path(BASELINE).read_text()
    project.path(BASELINE).write_text(content.replace('"example"', '"elsewhere"'))

    code, told = gate(project)
    assert 1 == code
    assert {
        ("", "", "new", "baseline"),
        ("alarm", "", "missing", "matrix"),
        ("weather", "", "missing", "matrix"),
    } == set(told)


def test_zero_cases(project: ScratchProject) -> None:
    """A matrix whose globs match no case runs nothing; accepted cases are missing, and nothing is green."""
    project.replace("pyproject.toml", 'agents = ["example"]', 'agents = ["example"]\ncases = ["nothing-*"]')
    ran = project.harness("gate")

    assert ran.exit_code in {1, 2, 4}, ran.stdout
    assert "PASS" not in ran.stdout


def test_an_empty_matrix(project: ScratchProject) -> None:
    """Declaring nothing any more is no way out of a baseline."""
    project.write("pyproject.toml", "[tool.harness]\n")
    ran = project.harness("gate")

    assert ran.exit_code in {1, 2, 4}, ran.stdout
    assert "PASS" not in ran.stdout


def test_a_deleted_golden_set(project: ScratchProject) -> None:
    """The file of the set is gone, and with it every case: never a pass."""
    project.path(SMOKE).unlink()

    assert 2 == project.harness("gate").exit_code


def test_every_cassette_removed(project: ScratchProject) -> None:
    """No recordings are no "skipping": each declared trial is missing its own, exit 3."""
    shutil.rmtree(project.path("cassettes"))

    code, told = gate(project)
    assert (3, {("missing", "cassette")}) == (code, {(change, cause) for _, _, change, cause in told})


def test_fewer_trials_than_were_accepted(project: ScratchProject) -> None:
    """Two trials were accepted, one is run: the other is named."""
    project.replace(SMOKE, "trials: 2", "trials: 1")
    ran = project.harness("gate")

    assert (1, True) == (ran.exit_code, "1 of 2 accepted trials were run; not 1" in ran.stdout)


def test_a_partial_run_promoted_to_baseline(project: ScratchProject) -> None:
    """Accepting a narrowed run replaces its own cells only: the others stay accepted and are asked for."""
    project.harness("run", "--case", "weather")
    assert 0 == project.harness("accept", "--reason", "only this one").exit_code
    cases = baseline_of(project)["agents"]["example"]["scripted"]["cases"]
    assert {"alarm", "weather"} == set(cases)

    content = project.path(SMOKE).read_text()
    project.write(SMOKE, content[: content.index("  - id: alarm")])
    code, told = gate(project)
    assert 1 == code
    assert ("alarm", "", "missing", "golden") in told


def test_a_partial_run_gated(project: ScratchProject) -> None:
    """A run of one case says nothing of the others: exit 3, and `--stored` makes it no better."""
    run = project.harness("run", "--case", "weather", "--json").document["run"]

    for words in ((run,), (run, "--stored")):
        assert (3, [("alarm", "", "skipped", "flags")]) == gate(project, *words)


def test_a_broken_run_promoted_to_baseline(project: ScratchProject) -> None:
    """A regression of a scripted case cannot be accepted away."""
    project.replace(AGENT, "text=reply.text", 'text="It is cold."')
    project.harness("run")
    ran = project.harness("accept", "--reason", "it is as it is", "--json")

    assert (2, "scripted-failure") == (ran.exit_code, ran.document["error"]["code"])
    assert 1 == project.harness("gate").exit_code


def test_retrying_until_it_is_green(project: ScratchProject) -> None:
    """An agent that is right every other time: no trial runs twice, and resuming a run repeats no verdict."""
    project.write("agents/example/luck.py", FLIPPING)
    project.replace(AGENT, "from .prompts", "from .luck import lucky\nfrom .prompts")
    project.replace(AGENT, ANSWER, 'yield FinalAnswer(text=reply.text if lucky() else "It is unknown.")')
    run = project.harness("run", "--json").document
    assert "3" == project.path("agents/example/seen").read_text()

    again = project.harness("run", "--resume", run["run"], "--json").document
    assert [one["verdict"] for one in run["results"]] == [one["verdict"] for one in again["results"]]
    assert "3" == project.path("agents/example/seen").read_text()
    assert "broken" in {one["verdict"] for one in run["results"]}


def test_recording_again_until_it_is_green(project: ScratchProject) -> None:
    """A scripted case that broke stays red through every new recording until its accepted contracts hold."""
    project.replace(WEATHER, "It is 7 °C", "It is mild")
    for _ in range(2):
        record_anew(project, "weather")
        code, told = gate(project)

        assert 1 == code
        assert ("weather", "facts", "regression", "cassette") in told


def test_a_replay_counted_as_a_sample(project: ScratchProject) -> None:
    """Copies of one recording under more trial numbers are new trials, and no statistic hears of them."""
    shutil.copy(project.path(f"{CASSETTES}/weather.0.yaml"), project.path(f"{CASSETTES}/weather.2.yaml"))
    project.replace(SMOKE, "trials: 2", "trials: 3")
    document = project.harness("gate", "--json").document

    assert ([], []) == (document["statistics"], document["samples"])


def test_a_vacuous_blocking_contract(project: ScratchProject) -> None:
    """A contract that scripted trials triggered and that nothing triggers any more compared nothing: exit 4."""
    later = (
        ALARM.replace("hour: 7", "hour: 8").replace('"7"', '"8"').replace("hour: 6", "hour: 5").replace('"6"', '"5"')
    )
    project.write("goldensets/scripts/smoke/example/alarm.yaml", later)
    record_anew(project, "alarm")

    assert (4, [("", "one update a turn", "skipped", "golden")]) == gate(project)


def test_a_contract_that_must_be_exercised_and_is_not(project: ScratchProject) -> None:
    """`exercised_by` makes a contract that never fires red, though it never fired before either."""
    with_policy(project, '[tool.harness.gate.exercised_by]\nCX9 = ["smoke/*"]\n')

    assert (4, [("", "CX9", "skipped", "golden")]) == gate(project)


def test_an_unread_cassette(project: ScratchProject) -> None:
    """An agent that skips its model's second word leaves a recorded call unread: exit 3."""
    project.replace(AGENT, "for _ in range(4):", "for _ in range(1):")

    code, told = gate(project)
    assert (3, {"stale"}) == (code, {change for _, _, change, _ in told})


def test_a_cassette_of_nobody(project: ScratchProject) -> None:
    """A recording that no declared trial reads is found by the check that belongs to it."""
    shutil.copy(project.path(f"{CASSETTES}/weather.0.yaml"), project.path(f"{CASSETTES}/gone.0.yaml"))

    assert 0 != project.harness("cassettes", "check").exit_code


def test_an_answer_edited_in_its_cassette(project: ScratchProject) -> None:
    """A recorded answer that was changed by hand is refused by its digest, never graded."""
    cassette = project.path(f"{CASSETTES}/weather.0.yaml")
    content = cassette.read_text(encoding="utf-8")
    assert "7 °C" in content
    cassette.write_text(content.replace("7 °C", "7 °F"), encoding="utf-8")

    code, told = gate(project)
    assert (3, "weather") == (code, told[0][0])


def test_an_expired_quarantine(project: ScratchProject) -> None:
    """An entry is red from its day on, at its own line, though nothing is broken."""
    with_policy(
        project,
        "[[tool.harness.gate.quarantine]]\ncontract='CX1'\ncase='x'\nowner='v'\nreason='r'\nexpires=2020-01-01\n",
    )
    ran = project.harness("gate")

    line = project.path("pyproject.toml").read_text().splitlines().index("[[tool.harness.gate.quarantine]]") + 1
    assert 1 == ran.exit_code
    assert f"its quarantine expired on 2020-01-01 (owner v: r)\n    at pyproject.toml:{line}\n" in ran.stdout


@pytest.mark.parametrize("hole", ["missing", "unchecked"])
def test_a_quarantine_of_everything(project: ScratchProject, hole: str) -> None:
    """It excuses broken contracts, and neither what is missing nor what could not be checked."""
    with_policy(
        project, "[[tool.harness.gate.quarantine]]\ncontract='*'\ncase='*'\nowner='v'\nreason='r'\nexpires=2999-01-01\n"
    )
    if hole == "missing":
        project.replace(SMOKE, "trials: 2", "trials: 1")
    else:
        project.replace("agents/example/prompts.py", "careful", "hasty")

    assert {"missing": 1, "unchecked": 3}[hole] == project.harness("gate").exit_code


def test_a_cost_gate_that_can_never_fire(project: ScratchProject) -> None:
    """A tolerated growth of a figure that no trial has: exit 4, and the rule is named."""
    with_policy(project, "[tool.harness.gate.tolerate]\ncost = 0.05\n")
    ran = project.harness("gate")

    assert 4 == ran.exit_code
    assert "`tolerate.cost` is stated, and no trial has this figure now and when it was accepted" in ran.stdout


def test_a_policy_that_lets_nothing_block(project: ScratchProject) -> None:
    """Everything advisory is a gate that can never say no: exit 4."""
    project.replace(AGENT, "text=reply.text", 'text="It is cold."')
    with_policy(project, '[tool.harness.gate]\nadvisory = ["*"]\n')

    code, told = gate(project)
    assert 4 == code
    assert ("", "", "skipped", "policy") in told


def test_a_misspelt_policy(project: ScratchProject) -> None:
    """A key that nobody knows would be a rule that nobody has: exit 2 at its line."""
    project.write("gate.toml", "[tolerate]\ntoken = 0.1\n")
    ran = project.harness("gate", "--policy", "gate.toml")

    assert (2, "error[bad-policy]: gate.toml:2: the policy has no key `tolerate.token`\n\nhint: did you mean `tokens`?\n") == (
        ran.exit_code, ran.stderr,
    )  # fmt: skip


def test_a_policy_that_is_not_there(project: ScratchProject) -> None:
    """A file that is gone is no policy, and not the default one."""
    ran = project.harness("gate", "--policy", "none.toml", "--json")

    assert (2, "bad-policy") == (ran.exit_code, ran.document["error"]["code"])


def test_two_policies(project: ScratchProject) -> None:
    """Rules in two places are refused, never merged in silence."""
    project.write("gate.toml", "")
    with_policy(project, '[tool.harness.gate]\nadvisory = ["CX1"]\n')
    ran = project.harness("gate", "--policy", "gate.toml", "--json")

    assert (2, "two-policies") == (ran.exit_code, ran.document["error"]["code"])


@pytest.mark.parametrize("words", [(), ("--stored",)])
def test_a_stale_run_graded(project: ScratchProject, words: tuple[str, ...]) -> None:
    """Yesterday's green run says nothing of today's agent; on request it is judged as what it is."""
    run = project.harness("run", "--json").document["run"]
    project.replace(AGENT, "text=reply.text", 'text="It is cold."')

    assert (0 if words else 3) == project.harness("gate", run, *words).exit_code
    assert 1 == project.harness("gate").exit_code


def test_todays_agent_is_what_is_judged(project: ScratchProject) -> None:
    """A change of one line turns the gate red without any new recording: the agent runs, no trace is graded again."""
    assert 0 == project.harness("gate").exit_code
    project.replace(AGENT, "text=reply.text", 'text=reply.text.replace("7", "seventeen")')

    code, told = gate(project)
    assert 1 == code
    assert ("weather", "facts", "regression", "code") in told


def test_arguments_are_part_of_what_is_replayed(project: ScratchProject) -> None:
    """An agent that calls the tool with other arguments than the model asked for does not get the recorded answer."""
    project.replace(
        AGENT,
        "call.name, call.args,",
        "call.name, {**call.args, 'city': 'Rome'} if 'city' in call.args else call.args,",
    )

    code, told = gate(project)
    assert (3, {("weather", "stale")}) == (code, {(case, change) for case, _, change, _ in told if change == "stale"})


@pytest.mark.parametrize("command", [("accept", "--reason", "r"), ("record", "--model", "scripted", "--mode", "all")])
def test_ci_writing_what_it_judges(project: ScratchProject, command: tuple[str, ...]) -> None:
    """On a CI machine neither baselines nor recordings are written: a run could then approve itself."""
    project.harness("run")
    ran = project.harness(*command, "--json", CI="true")

    assert (2, "ci-write") == (ran.exit_code, ran.document["error"]["code"])


def test_an_agent_that_leaves_with_exit_code_zero(project: ScratchProject) -> None:
    """`sys.exit(0)` inside an agent is no pass of the gate."""
    project.replace(AGENT, "        messages = [", "        raise SystemExit(0)\n        messages = [")

    assert 3 == project.harness("gate").exit_code


def test_a_baseline_that_cannot_be_read(project: ScratchProject) -> None:
    """A damaged or newer file is an error, and not the same as none."""
    whole = project.path(BASELINE).read_text()
    for content in (whole[:200], whole.replace('"format": 2', '"format": 99')):
        project.path(BASELINE).write_text(content)

        assert 2 == project.harness("gate").exit_code


def test_a_baseline_edited_by_hand(project: ScratchProject) -> None:
    """Writing a failure into the baseline excuses no scripted case."""
    project.replace(AGENT, "text=reply.text", 'text="It is cold."')
    content = project.path(BASELINE).read_text()
    project.path(BASELINE).write_text(
        content.replace('"verdict": "kept"', '"verdict": "broken", "broken": ["facts", "CX11"]')
    )

    code, told = gate(project)
    assert 1 == code
    assert ("weather", "facts", "still_broken", "code") in told


def test_a_figure_that_is_not_known_any_more(project: ScratchProject) -> None:
    """A cost that was accepted and is missing now could not be compared: exit 3, not a saving."""
    content = project.path(BASELINE).read_text()
    project.path(BASELINE).write_text(content.replace('"cost_usd": null', '"cost_usd": 0.01'))
    ran = project.harness("gate")

    assert (3, True) == (ran.exit_code, "US dollars were 0.01, and are not known now" in ran.stdout)


def test_a_failed_trial_keeps_its_figures(project: ScratchProject) -> None:
    """What a trial that breaks took is compared as well: failing is no way to look cheap."""
    extra = 'await self.ctx.tools.call("get_weather", {"city": "Rome"}, source="internal")'
    project.replace(AGENT, ANSWER, f'{extra}\n                yield FinalAnswer(text="It is cold.")')
    document = project.harness("gate", "--json").document

    told = {change["because"] for change in document["changes"] if change["case"] == "weather"}
    assert 1 == document["exit_code"]
    assert "tool calls went from 1 to 2; tolerated is +0%" in told


def test_another_trajectory_in_the_same_turn(project: ScratchProject) -> None:
    """Parallel calls are no flat list: a way whose calls stand in one turn is not the accepted one."""
    path = project.path("reports/baselines/trajectories/smoke.json")
    ways = json.loads(path.read_text())
    (alarm,) = ways["agents"]["example"]["scripted"]["alarm"]
    alarm["steps"] = [{"calls": [call for step in alarm["steps"] for call in step["calls"]]}]
    path.write_text(json.dumps(ways))
    with_policy(project, '[tool.harness.gate]\ntrajectories = "block"\n')

    code, told = gate(project)
    assert (1, [("alarm", "trajectory", "regression", "unknown")]) == (code, told)


def test_accepted_trajectories_that_are_gone(project: ScratchProject) -> None:
    """Where trajectories block, deleting what was accepted compares nothing: exit 4."""
    shutil.rmtree(project.path("reports/baselines/trajectories"))
    assert 0 == project.harness("gate").exit_code
    with_policy(project, '[tool.harness.gate]\ntrajectories = "block"\n')

    assert (4, [("", "trajectory", "new", "baseline")]) == gate(project)


def test_a_run_without_its_traces(project: ScratchProject) -> None:
    """Where trajectories block, a stored run whose traces are gone could not be checked."""
    run = project.harness("run", "--json").document["run"]
    shutil.rmtree(project.path(f"reports/runs/{run}/traces"))
    assert 0 == project.harness("gate", run).exit_code
    project.write("gate.toml", 'trajectories = "block"\n')

    code, told = gate(project, run, "--policy", "gate.toml")
    assert (3, {("trajectory", "error", "run")}) == (code, {tuple(one[1:]) for one in told})


def test_somebody_else_answers(project: ScratchProject) -> None:
    """A baseline of a local model is not met by a script: provenances are never compared."""
    content = project.path(BASELINE).read_text()
    project.path(BASELINE).write_text(content.replace('"provenance": "scripted"', '"provenance": "local"'))

    code, told = gate(project)
    assert (3, {("error", "model")}) == (code, {(change, cause) for _, _, change, cause in told})
