"""The action and the workflow for GitHub: every step's shell is run as a runner would, and its log is read as one does."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml

from harness.reports.documents import schema_of
from harness.testing.project import ScratchProject

ROOT = Path(__file__).parent.parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.load((ROOT / "docs/github/tapegate.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
JOB = WORKFLOW["jobs"]["replay"]
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass
class Runner:
    """A machine of GitHub's, as far as a step sees it."""

    folder: Path
    workspace: Path

    def __post_init__(self) -> None:
        self.bin = self.folder / "bin"
        self.temp = self.folder / "temp"
        for folder in (self.bin, self.temp):
            folder.mkdir(parents=True)
        self.script("harness", f'#!/bin/sh\nexec {sys.executable} -m harness "$@"\n')

    def script(self, name: str, text: str) -> Path:
        """Put a program on the path."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def run(self, step: dict, **values: str) -> Ran:
        """Run the shell of *step*, with *values* for its expressions (`_` for what is no letter)."""
        env = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN", "_SECRET"))}
        env |= {name: filled(text, values) for name, text in step.get("env", {}).items()}
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV")}
        for path in files.values():
            path.write_text("")
        env |= {name: str(path) for name, path in files.items()}
        env |= {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "RUNNER_TEMP": str(self.temp), "CI": "true", "COLUMNS": "100",
            "GITHUB_WORKSPACE": str(self.workspace), "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "me/bot",
            "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        assert step["shell"] == "bash"
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace, env=env, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        read = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
        outputs = dict(line.split("=", 1) for line in read["GITHUB_OUTPUT"].splitlines())
        return Ran(
            ended.returncode, ended.stdout, ended.stderr, outputs, read["GITHUB_STEP_SUMMARY"], read["GITHUB_ENV"]
        )


@dataclass(frozen=True)
class Ran:
    """How a step ended."""

    code: int
    log: str
    err: str
    outputs: dict[str, str]
    summary: str
    env: str

    @property
    def commands(self) -> list[str]:
        """The lines that a runner takes for commands: it reads none between `stop-commands` and its token."""
        found, stopped = [], ""
        for line in self.log.splitlines():
            text = line.lstrip()
            if stopped:
                stopped = "" if text == f"::{stopped}::" else stopped
            elif text.startswith("::stop-commands::"):
                stopped = text.removeprefix("::stop-commands::")
            elif text.startswith("::") or "##[" in text:
                found.append(text)
        assert not stopped
        return found


def filled(text: str, values: dict[str, str]) -> str:
    """*text* with its expressions replaced, as the runner does before a step begins."""
    return EXPRESSION.sub(lambda found: values.get(re.sub(r"\W", "_", found[1]), ""), text)


@pytest.fixture
def runner(project: ScratchProject, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A machine that checked out the recorded project."""
    return Runner(tmp_path_factory.mktemp("runner"), project.folder)


def gate(runner: Runner, **values: str) -> Ran:
    """Run the step that replays, with the inputs' defaults: it holds the matrix against the baseline."""
    defaults = {f"inputs_{name}": str(about["default"]) for name, about in ACTION["inputs"].items()}
    return runner.run(STEPS["Replay and report"], **(defaults | {"inputs_harness": "harness"} | values))


def replay(runner: Runner, **values: str) -> Ran:
    """Run the same step where it is to run only."""
    return gate(runner, inputs_check="run", **values)


UNCLOSED = r'text=reply.text + "\n\n```python\nprint(7)"'
"""An answer with a fence that nobody closes."""
REPORTS = ["comment.md", "junit.xml", "report.html", "report.json", "report.md", "tapegate.sarif"]


@pytest.fixture
def accepted(project: ScratchProject) -> ScratchProject:
    """The recorded project with a baseline."""
    for words in (("run",), ("accept", "--reason", "first")):
        assert 0 == project.harness(*words).exit_code
    return project


def test_the_gate_is_what_the_action_runs(runner: Runner, accepted: ScratchProject) -> None:
    """Nothing changed: every report is there, the summary says so, and nothing is annotated."""
    ran = gate(runner)

    assert ({"exit-code": "0", "reports": f"{runner.workspace}/tapegate-reports"}, 0) == (ran.outputs, ran.code), (
        ran.err
    )
    reports = runner.workspace / "tapegate-reports"
    assert sorted([*REPORTS, "decision.json"]) == sorted(path.name for path in reports.iterdir())
    jsonschema.validate(json.loads((reports / "decision.json").read_text()), schema_of("gate"))
    assert [] == ran.commands
    assert "PASS  1 trials compared (exit 0)" in ran.log
    assert ran.summary.startswith(
        "## tapegate: PASS\n\n1 trials held against the baseline, 0 changes block (exit 0). Nothing changed.\n"
    )


def test_a_regression_is_annotated_with_its_cause(runner: Runner, accepted: ScratchProject) -> None:
    """At the line of its golden case; the comment says what to do where the change is meant."""
    accepted.replace("agents/example/agent.py", "text=reply.text", UNCLOSED)
    ran = gate(runner)

    (command,) = ran.commands
    found = re.match(
        r"::error file=([^,]+),line=(\d+),title=REGRESSION CX15 \(cause code\)::REGRESSION CX15: ", command
    )
    assert "id: weather" in (runner.workspace / found[1]).read_text().splitlines()[int(found[2]) - 1]
    assert (0, "1") == (ran.code, ran.outputs["exit-code"])
    assert ran.summary.startswith("## tapegate: REGRESSED\n")
    reports = runner.workspace / "tapegate-reports"
    comment = (reports / "comment.md").read_text()
    assert comment.startswith("<!-- tapegate-report -->\n## tapegate: REGRESSED\n")
    assert (
        "- REGRESSION `CX15` `example × scripted on smoke/weather, trial 0`, cause: `code`, answered by: scripted"
        in comment
    )
    assert 'accept with: `harness run && harness accept --reason "…"`' in comment
    root = ET.parse(reports / "junit.xml").getroot()
    assert ("1", "regressed") == (
        root.get("failures"), root.find("testsuite[@name='gate']/properties/property[@name='decision']").get("value"),
    )  # fmt: skip
    run = json.loads((reports / "tapegate.sarif").read_text())["runs"][0]
    assert [("CX15", "code")] == [(one["ruleId"], one["properties"]["cause"]) for one in run["results"]]


def test_a_deleted_case_is_annotated_at_its_file(runner: Runner, accepted: ScratchProject) -> None:
    """What no trial shows is a problem all the same, in every report."""
    content = accepted.path("goldensets/smoke.yaml").read_text()
    accepted.write("goldensets/smoke.yaml", content.replace("id: weather", "id: other"))
    script = accepted.path("goldensets/scripts/smoke/example/weather.yaml")
    script.rename(script.with_name("other.yaml"))
    cassette = accepted.path("cassettes/example/scripted/smoke/weather.0.yaml")
    cassette.rename(cassette.with_name("other.0.yaml"))
    ran = gate(runner)

    assert "1" == ran.outputs["exit-code"], ran.log
    (command,) = ran.commands
    assert command.startswith("::error file=goldensets/smoke.yaml,title=MISSING gate-missing (cause golden)::MISSING ")
    root = ET.parse(runner.workspace / "tapegate-reports" / "junit.xml").getroot()
    assert ["example × scripted on smoke/weather"] == [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ]


def test_without_a_baseline_the_gate_decides_nothing_and_says_so(runner: Runner) -> None:
    """Exit 4, no report, and one annotation."""
    ran = gate(runner)

    assert ("4", ["::error title=tapegate::there was nothing to report; the log of this step says why"]) == (
        ran.outputs["exit-code"], ran.commands,
    )  # fmt: skip
    assert [] == list((runner.workspace / "tapegate-reports").iterdir())


def test_words_reach_the_gate(runner: Runner, accepted: ScratchProject) -> None:
    """A policy in a file, by the input for words."""
    accepted.replace("agents/example/agent.py", "text=reply.text", UNCLOSED)
    accepted.write("gate.toml", 'advisory = ["CX15"]\n')
    ran = gate(runner, inputs_arguments="--policy gate.toml")

    assert ("0", []) == (ran.outputs["exit-code"], ran.commands), ran.log
    assert "Policy: `gate.toml`." in ran.summary


def test_a_check_that_is_neither_is_red(runner: Runner) -> None:
    """A misspelt input is exit 2, and nothing runs."""
    ran = gate(runner, inputs_check="gaet")

    assert ("2", True) == (ran.outputs["exit-code"], "the input check is neither gate nor run" in ran.err)


def test_a_green_run_leaves_every_report_and_no_annotation(runner: Runner) -> None:
    """Without a key, a token, or a word to any server."""
    ran = replay(runner)

    assert ({"exit-code": "0", "reports": f"{runner.workspace}/tapegate-reports"}, 0) == (ran.outputs, ran.code), (
        ran.err
    )
    assert REPORTS == sorted(path.name for path in (runner.workspace / "tapegate-reports").iterdir())
    assert [] == ran.commands
    assert "KEPT  1 of 1 trials kept" in ran.log
    assert ran.summary.startswith(
        "## tapegate: KEPT\n\n1 of 1 trials kept, 0 broken, 0 known, 0 could not be checked.\n"
    )


def test_a_failure_is_shown_at_the_line_of_its_case(runner: Runner, project: ScratchProject) -> None:
    """The step itself goes on, so that the reports are kept; the last step decides."""
    project.replace("goldensets/smoke.yaml", "all: [7]", "all: [8]")
    ran = replay(runner)

    (command,) = ran.commands
    file, line = re.match(r"::error file=([^,]+),line=(\d+),title=BROKEN facts::BROKEN facts: ", command).groups()
    assert "id: weather" in (runner.workspace / file).read_text().splitlines()[int(line) - 1]
    assert (0, "1") == (ran.code, ran.outputs["exit-code"])
    assert ran.summary.startswith("## tapegate: BROKEN\n")
    reports = runner.workspace / "tapegate-reports"
    assert ET.parse(reports / "junit.xml").getroot().get("failures") == "1"
    assert [
        result["ruleId"] for result in json.loads((reports / "tapegate.sarif").read_text())["runs"][0]["results"]
    ] == ["facts"]
    assert (reports / "comment.md").read_text().startswith("<!-- tapegate-report -->\n## tapegate: BROKEN\n")


def test_nothing_that_a_project_prints_or_quotes_is_a_command(runner: Runner, project: ScratchProject) -> None:
    """A golden case, and an agent that prints what it likes, reach the log as text only."""
    project.replace(
        "goldensets/smoke.yaml", "all: [7]", 'all: ["\\n::set-env name=A::b\\n##[add-path]/x", "%0A::error::x"]'
    )
    project.replace(
        "agents/example/agent.py",
        "def build(ctx):",
        'print("\\n::add-mask::x\\n##[set-env name=A]b")\n\n\ndef build(ctx):',
    )
    ran = replay(runner)

    assert ran.outputs["exit-code"] == "1", ran.log
    assert all(command.startswith("::error file=goldensets/smoke.yaml,line=") for command in ran.commands)
    assert len(ran.commands) == 1
    assert "" == ran.env


def test_a_run_that_cannot_be_checked_says_so(runner: Runner, project: ScratchProject) -> None:
    """A missing cassette is exit 3, never 0 and never 1."""
    for path in (project.folder / "cassettes").rglob("*.yaml"):
        path.unlink()
    ran = replay(runner)

    assert "3" == ran.outputs["exit-code"]
    assert ran.commands[0].startswith("::error file=goldensets/smoke.yaml,line=")
    assert "title=COULD NOT CHECK cassette-missing::" in ran.commands[0]


def test_no_run_at_all_is_red_and_leaves_no_old_report(runner: Runner) -> None:
    """Wrong words are exit 2; yesterday's reports are not shown for today's."""
    replay(runner)
    ran = replay(runner, inputs_arguments="nosuchset")

    assert "2" == ran.outputs["exit-code"]
    assert ["::error title=tapegate::there was nothing to report; the log of this step says why"] == ran.commands
    assert [] == list((runner.workspace / "tapegate-reports").iterdir())
    assert "error[no-such-set]" in ran.err


def test_a_project_in_a_folder_is_annotated_from_the_root(runner: Runner, project: ScratchProject) -> None:
    """GitHub knows files by their path from the root of the repository."""
    project.replace("goldensets/smoke.yaml", "all: [7]", "all: [8]")
    runner.workspace = project.folder.parent
    ran = replay(runner, inputs_project=project.folder.name, inputs_arguments="smoke --agent example")

    assert ran.commands[0].startswith(f"::error file={project.folder.name}/goldensets/smoke.yaml,line=")


def test_words_of_a_run_are_words_and_no_shell(runner: Runner) -> None:
    """What stands in an input is never evaluated."""
    ran = replay(runner, inputs_arguments="smoke; touch $(echo pwned) `touch pwned` *")

    assert ran.outputs["exit-code"] == "2"
    assert not (runner.workspace / "pwned").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("0", "pass"),
        ("1", "::error title=tapegate::regressed"),
        ("2", "::error title=tapegate::the harness could not be run as asked"),
        ("3", "::error title=tapegate::could not check: nothing is known of some trials"),
        ("4", "::error title=tapegate::nothing was compared"),
        ("5", "::error title=tapegate::inconclusive"),
    ],
)
def test_the_last_step_ends_as_the_run_did(runner: Runner, code: str, said: str) -> None:
    """The exit code of the action is that of the run."""
    ran = runner.run(STEPS["Decide"], steps_replay_outputs_exit_code=code)

    assert (int(code), f"{said}\n") == (ran.code, ran.log)


def test_a_replay_without_a_word_is_red(runner: Runner) -> None:
    """An empty exit code is no pass."""
    assert 3 == runner.run(STEPS["Decide"]).code


def test_the_action_installs_itself_where_it_is_told_nothing_else(runner: Runner) -> None:
    """Into a folder of the runner's, from the action's own files."""
    runner.script(
        "python3",
        '#!/bin/sh\necho "$0 $*"; mkdir -p "$3/bin"; printf \'#!/bin/sh\\necho "$*"\\n\' > "$3/bin/python"; chmod +x "$3/bin/python"\n',
    )
    ran = runner.run(STEPS["Install"], github_action_path="/actions/tapegate")

    assert ran.log == (
        f"{runner.bin}/python3 -m venv {runner.temp}/tapegate\n"
        "-m pip install --quiet --disable-pip-version-check /actions/tapegate[reports]\n"
        "installed tapegate from /actions/tapegate\n"
    )
    assert "using .venv/bin/harness\n" == runner.run(STEPS["Install"], inputs_harness=".venv/bin/harness").log


def test_the_action_has_the_published_form() -> None:
    """The keys that GitHub knows of a composite action; no secret, and no expression inside a shell."""
    assert {"name", "description", "inputs", "outputs", "runs"} == set(ACTION)
    assert all({"description", "default"} == set(about) for about in ACTION["inputs"].values())
    assert all({"description", "value"} == set(about) for about in ACTION["outputs"].values())
    assert ("composite", {"using", "steps"}) == (ACTION["runs"]["using"], set(ACTION["runs"]))
    for step in ACTION["runs"]["steps"]:
        assert {"name", "shell", "run"} <= set(step) <= {"name", "id", "if", "shell", "run", "env", "uses", "with"}
        assert "${{" not in step["run"]
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = {found[1] for found in EXPRESSION.finditer(text)}
    allowed = {f"inputs.{name}" for name in ACTION["inputs"]} | {
        "github.action_path", "steps.replay.outputs.exit-code", "steps.replay.outputs.reports",
    }  # fmt: skip
    assert used == allowed


GH = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word" >> "{log}"; done
case "$*" in *--paginate*) printf '{found}' ;; esac
"""


@pytest.mark.parametrize(
    ("found", "said", "method", "address"),
    [
        ("", "commented\n", "POST", "repos/me/bot/issues/7/comments"),
        ("11\\n12\\n", "replaced comment 11\n", "PATCH", "repos/me/bot/issues/comments/11"),
    ],
)
def test_the_workflow_replaces_its_one_comment(
    runner: Runner, found: str, said: str, method: str, address: str
) -> None:
    """Only a comment of the bot's own that begins with the marker is replaced."""
    log = runner.folder / "gh.log"
    runner.script("gh", GH.format(log=log, found=found))
    step = JOB["steps"][-1]
    ran = runner.run(step, github_token="t", github_event_pull_request_number="7")

    assert (0, said) == (ran.code, ran.log), ran.err
    words = log.read_text().splitlines()
    assert '.user.login == "github-actions[bot]" and (.body | startswith("<!-- tapegate-report -->"))' in words[4]
    assert ["--method", method, address, "--field", "body=@tapegate-reports/comment.md"] == words[-5:]


def test_the_workflow_has_the_published_form() -> None:
    """Least rights, no secret, no expression inside a shell, and nothing written for a fork."""
    assert {"name", "on", "permissions", "jobs"} == set(WORKFLOW)
    assert {"contents": "read"} == WORKFLOW["permissions"]
    assert {"contents": "read", "pull-requests": "write", "security-events": "write"} == JOB["permissions"]
    text = (ROOT / "docs/github/tapegate.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "pull_request_target" not in text
    for step in JOB["steps"]:
        assert set(step) <= {"name", "id", "if", "uses", "with", "shell", "env", "run"}
        assert ("uses" in step) != ("run" in step)
        assert "${{" not in step.get("run", "")
    writing = [
        step for step in JOB["steps"] if "upload-sarif" in step.get("uses", "") or "GH_TOKEN" in step.get("env", {})
    ]
    assert len(writing) == 2
    assert all("github.event.pull_request.head.repo.full_name == github.repository" in step["if"] for step in writing)
    (action,) = [step for step in JOB["steps"] if step.get("id") == "tapegate"]
    assert set(action.get("with", {})) <= set(ACTION["inputs"])
