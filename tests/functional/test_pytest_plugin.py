"""The pytest plugin, in real pytest processes of a scratch project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.testing.project import ScratchProject

pytest_plugins = "pytester"
CASSETTE = "cassettes/example/scripted/smoke/weather.0.yaml"
BASELINE = "reports/baselines/smoke.json"
TEST = "goldensets/smoke.yaml::example::weather[scripted-0]"
RunPytest = Callable[..., pytest.RunResult]


@pytest.fixture(scope="module")
def accepted(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded project, with a baseline and an ordinary test beside its golden set."""
    folder = tmp_path_factory.mktemp("accepted")
    shutil.copytree(recorded, folder, dirs_exist_ok=True)
    project = ScratchProject(folder, {})
    project.write("tests/test_plain.py", "def test_plain():\n    pass\n")
    assert 0 == project.harness("run").exit_code
    assert 0 == project.harness("accept", "--reason", "first").exit_code
    return folder


@pytest.fixture
def scratch(accepted: Path, pytester: pytest.Pytester) -> ScratchProject:
    """A copy of that project, in the folder of *pytester*."""
    shutil.copytree(accepted, pytester.path, dirs_exist_ok=True)
    return ScratchProject(pytester.path, {})


@pytest.fixture
def run_pytest(scratch: ScratchProject, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RunPytest:
    """Run pytest in the project, with no plugin but this one and those that are named: whatever is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("HARNESS_GUARD", raising=False)

    def run(*words: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "harness.pytest_plugin", "-W", "error", *words, timeout=120)

    return run


def two_cases(scratch: ScratchProject) -> None:
    """Give the golden set a second case, tagged and complex, that lacks a recording."""
    scratch.write(
        "goldensets/smoke.yaml",
        scratch.path("goldensets/smoke.yaml").read_text()
        + "  - id: storm\n    question: Is there a storm?\n    lang: en\n    class: complex\n    tags: [wind, night]\n"
        "    tools: {required: [get_weather]}\n",
    )


def test_each_declared_trial_is_a_test(run_pytest: RunPytest) -> None:
    """`--harness` collects the matrix beside the ordinary tests, and says where each trial stands."""
    ran = run_pytest("--harness", "-v")

    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines([f"{TEST.replace('[', '[[]')} PASSED*", "tests/test_plain.py::test_plain PASSED*"])


def test_nothing_is_collected_unasked(run_pytest: RunPytest) -> None:
    """Without option and golden file there are the ordinary tests alone, in the folder of the golden sets too."""
    run_pytest("-v").assert_outcomes(passed=1)

    assert pytest.ExitCode.NO_TESTS_COLLECTED == run_pytest("goldensets").ret


@pytest.mark.parametrize(
    "words",
    [
        ("goldensets/smoke.yaml",),
        ("goldensets/smoke.yaml::example",),
        ("goldensets/smoke.yaml::example::weather",),
        (TEST,),
        ("--harness", TEST),
        ("--harness", "goldensets"),
        ("--harness", ".", "--deselect", "tests/test_plain.py::test_plain"),
        ("--harness", "-k", "weather and scripted"),
        (
            "--harness",
            "-m",
            "harness(design='example', set='smoke', class_='simple', provenance='scripted', lang='en')",
        ),
        ("--harness", "-m", "harness", "--strict-markers", "--harness-agent", "example", "--harness-model", "scripted"),
        ("--harness", "-m", "harness", "--harness-case", "wea*"),
    ],
)
def test_ways_to_choose_one(run_pytest: RunPytest, words: tuple[str, ...]) -> None:
    """A file, a node id in whole or in part, -k, -m and the options choose the same trial, once."""
    assert 1 == run_pytest(*words).parseoutcomes()["passed"]


@pytest.mark.parametrize("words", [("--ignore", "goldensets"), (".", "-o", "norecursedirs=goldensets")])
def test_a_set_that_pytest_passes_by_is_missed(run_pytest: RunPytest, words: tuple[str, ...]) -> None:
    """Where settings of pytest keep a declared set from being collected, `--harness` fails instead of passing without."""
    ran = run_pytest("--harness", *words)

    assert pytest.ExitCode.USAGE_ERROR == ran.ret
    ran.stderr.fnmatch_lines(["*pytest has not collected smoke.yaml: see `norecursedirs`*"])


@pytest.mark.parametrize("words", [(), ("-k", "plain"), ("-m", "not harness")])
def test_a_set_that_workers_pass_by_is_missed_too(run_pytest: RunPytest, words: tuple[str, ...]) -> None:
    """With pytest-xdist the same is a failing test that says why, whatever else is chosen, and no internal error."""
    ran = run_pytest("-p", "xdist", "-n", "2", "--harness", "--ignore", "goldensets", *words)

    assert (pytest.ExitCode.TESTS_FAILED, {"failed": 1, "passed": 1}) == (ran.ret, ran.parseoutcomes())
    ran.stdout.fnmatch_lines(["*pytest has not collected smoke.yaml: see `norecursedirs`*"])
    ran.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--harness-case", "storm"), "no case matches `storm`"),
        (("--harness-agent", "nobody"), "no agent named `nobody`"),
    ],
)
def test_what_workers_cannot_use_is_said_without_an_internal_error(
    run_pytest: RunPytest, words: tuple[str, ...], message: str
) -> None:
    """A wrong option is an error of collection in the workers, with its message."""
    ran = run_pytest("-p", "xdist", "-n", "2", "--harness", *words)

    assert pytest.ExitCode.OK != ran.ret
    ran.stdout.fnmatch_lines([f"*{message}*"])
    ran.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_tags_are_found_one_by_one(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """A case with two tags is chosen by either, together with its other facts, and by no other tag."""
    two_cases(scratch)
    for tag, found in (("wind", 1), ("night", 1), ("day", 0)):
        ran = run_pytest("goldensets/smoke.yaml", "--co", "-q", "-m", f"harness(tag='{tag}', class_='complex')")

        assert found == ran.stdout.str().count("::storm[scripted-0]"), tag


def test_a_broken_contract_shows_its_witness(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """The failure names the contract, the reason, the line of the case, and the events that show it; no traceback."""
    scratch.replace("goldensets/smoke.yaml", "[7]", "[8]")
    ran = run_pytest("--harness")

    ran.assert_outcomes(passed=1, failed=1)
    text = ran.stdout.str()
    ran.stdout.fnmatch_lines([
        "BROKEN  example × scripted smoke/weather",
        "  facts: *8*(*event*",
        "    at goldensets/smoke.yaml:*",
        "  witness",
        '    * final_answer {"text":"It is 7 °C in Berlin."*',
        "FAILED goldensets/smoke.yaml::example::weather[[]scripted-0[]] - *BROKEN*",
    ])  # fmt: skip
    assert "Traceback" not in text
    assert "site-packages" not in text


def test_evidence_holds_no_secret(
    scratch: ScratchProject, run_pytest: RunPytest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an environment variable holds as a key is taken out of the failure, in whatever event it stands."""
    monkeypatch.setenv("WEATHER_API_KEY", "It is 7 °C in Berlin.")
    scratch.replace("goldensets/smoke.yaml", "[7]", "[8]")
    ran = run_pytest("goldensets/smoke.yaml")

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["    * final_answer *"])
    assert "Berlin." not in ran.stdout.str()


def test_a_missing_cassette_fails(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """A trial without a recording is a failure that says how to record, and never a skip."""
    scratch.path(CASSETTE).unlink()
    ran = run_pytest("goldensets/smoke.yaml")

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["COULD NOT CHECK*cassette-missing*", "  mend: `harness record smoke*--mode missing`"])


def test_a_missing_baseline_fails(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """A trial that is kept fails for want of a baseline, unless one is told to judge without."""
    scratch.path(BASELINE).unlink()
    ran = run_pytest("goldensets/smoke.yaml")

    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["NO BASELINE  reports/baselines/smoke.json is not there*", "hint: *harness accept*"])
    run_pytest("goldensets/smoke.yaml", "--harness-no-baseline").assert_outcomes(passed=1)


def test_an_accepted_trial_that_is_gone_fails(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """What the baseline has and nothing declares any more is a failing test of its own, unless options narrow the set."""
    two_cases(scratch)
    baseline = json.loads(scratch.path(BASELINE).read_text())
    cases = baseline["agents"]["example"]["scripted"]["cases"]
    cases["fog"] = cases["weather"]
    scratch.write(BASELINE, json.dumps(baseline))
    ran = run_pytest("goldensets/smoke.yaml", "-k", "not storm")

    ran.assert_outcomes(passed=1, failed=1, deselected=1)
    ran.stdout.fnmatch_lines(["GONE  example × scripted  smoke/fog.0 was accepted, and nothing declares it any more"])
    run_pytest("goldensets/smoke.yaml", "--harness-case", "weather").assert_outcomes(passed=1)


@pytest.fixture
def known(scratch: ScratchProject) -> None:
    """Make the project's only trial, of a profile, fail in a way that its baseline accepts."""
    scratch.replace("agents/example/agent.py", "DEFAULT_MODEL", 'PROFILES = ("reference", "loud")\nDEFAULT_MODEL')
    scratch.replace("pyproject.toml", '"example"', '"example@loud"')
    scratch.replace("goldensets/smoke.yaml", "[7]", "[8]")
    scratch.path("cassettes/example").rename(scratch.path("cassettes/example@loud"))
    scratch.path(BASELINE).unlink()
    assert 1 == scratch.harness("run").exit_code
    assert 0 == scratch.harness("accept", "--reason", "a loud profile is often wrong").exit_code


@pytest.mark.usefixtures("known")
def test_a_known_failure_is_shown_and_does_not_fail(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """It is neither passed nor failed: counted as known, listed with what is broken, and said in the JUnit file."""
    ran = run_pytest("goldensets/smoke.yaml", "-v", "--junit-xml", "junit.xml")

    assert 0 == ran.ret
    assert {"known": 1} == ran.parseoutcomes()
    ran.stdout.fnmatch_lines([
        "goldensets/smoke.yaml::example@loud::weather[[]scripted-0[]] KNOWN*",
        "* known failures *",
        "KNOWN goldensets/smoke.yaml::example@loud::weather[[]scripted-0[]] - broken and accepted: facts",
    ])  # fmt: skip
    (case,) = ET.parse(scratch.path("junit.xml")).getroot().iter("testcase")
    properties = {found.get("name"): found.get("value") for found in case.iter("property")}
    assert {"provenance": "scripted", "verdict": "known"}.items() <= properties.items()


@pytest.mark.usefixtures("known")
def test_known_only_for_what_was_accepted(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """One more broken contract than the baseline has fails, and so does any without baselines."""
    run_pytest("goldensets/smoke.yaml", "--harness-no-baseline").assert_outcomes(failed=1)
    scratch.replace("goldensets/smoke.yaml", "[get_weather]", "[get_weather, get_storm]")

    run_pytest("goldensets/smoke.yaml").assert_outcomes(failed=1)


@pytest.mark.usefixtures("known")
def test_known_failures_travel_from_workers(run_pytest: RunPytest) -> None:
    """With pytest-xdist the report of a known failure is still one, and the ordinary tests run beside it."""
    ran = run_pytest("-p", "xdist", "-n", "2", "--harness")

    assert {"known": 1, "passed": 1} == ran.parseoutcomes()
    ran.stdout.fnmatch_lines(["KNOWN goldensets/smoke.yaml::example@loud::weather*"])


def test_stop_at_the_first_and_rerun_the_failed(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """-x stops at the first failure, and --lf runs what failed, and only that."""
    two_cases(scratch)
    first = run_pytest("goldensets/smoke.yaml", "-x")
    first.assert_outcomes(passed=1, failed=1)
    again = run_pytest("goldensets/smoke.yaml", "--lf")
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*run-last-failure: rerun previous 1 failure*"])
    scratch.replace("goldensets/smoke.yaml", "[7]", "[8]")

    run_pytest("goldensets/smoke.yaml", "-x").assert_outcomes(failed=1)


def test_user_mistakes_are_said_without_a_traceback(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """An unknown case, an option without a set, a broken golden set and a project without matrix stop pytest."""
    unknown = run_pytest("--harness", "--harness-case", "wether")
    assert pytest.ExitCode.INTERRUPTED == unknown.ret
    unknown.stdout.fnmatch_lines(
        ["error[[]no-such-case[]]: no case matches `wether`*", "hint: did you mean `weather`?"]
    )

    alone = run_pytest("--harness-case", "weather")
    assert pytest.ExitCode.USAGE_ERROR == alone.ret
    alone.stderr.fnmatch_lines(["*choose among golden sets; give `--harness`*"])

    golden = scratch.path("goldensets/smoke.yaml").read_text()
    scratch.write("goldensets/smoke.yaml", golden.replace("question:", "qestion:"))
    broken = run_pytest("goldensets/smoke.yaml")
    assert pytest.ExitCode.INTERRUPTED == broken.ret
    broken.stdout.fnmatch_lines(["error[[]*[]]: goldensets/smoke.yaml:6: *qestion*"])

    scratch.write("pyproject.toml", "[tool.harness]\n")
    empty = run_pytest("--harness")
    assert pytest.ExitCode.USAGE_ERROR == empty.ret
    empty.stderr.fnmatch_lines(["*no row of [[][[]tool.harness.matrix]] declares anything*"])
    scratch.path("pyproject.toml").unlink()
    assert pytest.ExitCode.USAGE_ERROR == run_pytest("--harness").ret


def test_fixtures_replay_in_tests_of_ones_own(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """`harness_case` runs a test for each trial, `harness_run` replays, `cassette` reads; no option is needed."""
    scratch.write(
        "tests/test_own.py",
        """
        import pytest

        @pytest.mark.harness_cases("smoke", agent="example", case="wea*")
        def test_each(harness_case, harness_run, cassette):
            ran = harness_run()
            ran.check()
            assert harness_case.case.question == "How warm is it in Berlin?"
            assert "7" in ran.answer
            assert len(cassette.interactions) == 2
            assert [1] == [len(trace.of("tool_call")) for trace in ran.traces]

        def test_one(harness_run):
            assert harness_run("smoke/weather", agent="example").kept
        """,
    )
    ran = run_pytest("tests", "-v", "--strict-markers")

    ran.assert_outcomes(passed=3)
    ran.stdout.fnmatch_lines(["tests/test_own.py::test_each[[]smoke/weather-example-scripted-0[]] PASSED*"])


def test_fixtures_fail_with_the_evidence(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """`check` shows the broken contract with its witness; no recording and no such case fail as well."""
    scratch.write(
        "tests/test_own.py",
        """
        def test_check(harness_run):
            harness_run("smoke/weather").check()

        def test_cassette(cassette):
            pass

        def test_case(harness_run):
            harness_run("smoke/wether")
        """,
    )
    scratch.replace("goldensets/smoke.yaml", "[7]", "[8]")
    broken = run_pytest("tests/test_own.py", "-k", "check")
    broken.assert_outcomes(failed=1, deselected=2)
    broken.stdout.fnmatch_lines(["E*AssertionError: BROKEN  example × scripted smoke/weather", "E*final_answer*7 °C*"])
    scratch.path(CASSETTE).unlink()

    rest = run_pytest("tests/test_own.py")
    rest.assert_outcomes(failed=2, errors=1)
    rest.stdout.fnmatch_lines(["*no declared trial 0 of `smoke/wether`*", "*hint: cases of smoke: weather*"])
    rest.stdout.fnmatch_lines(["*cassette-missing*"])


def test_one_of_several_trials_has_to_be_named(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """`harness_run` never takes the first of several trials: it lists them."""
    scratch.replace("agents/example/agent.py", "DEFAULT_MODEL", 'PROFILES = ("reference", "loud")\nDEFAULT_MODEL')
    scratch.replace("pyproject.toml", '["example"]', '["example", "example@loud"]')
    scratch.write(
        "tests/test_own.py",
        """
        def test_any(harness_run):
            harness_run("smoke/weather")

        def test_one(harness_run):
            harness_run("smoke/weather", agent="example", model="scripted").check()
        """,
    )
    ran = run_pytest("tests/test_own.py")

    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(
        ["*`smoke/weather` stands for several trials: example × scripted, example@loud × scripted*"]
    )


def test_a_marker_that_chooses_nothing_is_an_error(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """A test whose trials were renamed away is not silently run for none."""
    for marked in ('"smok"', '"smoke", case="wether"', '"smoke", colour="red"'):
        scratch.write(
            "tests/test_own.py",
            f"import pytest\n\n@pytest.mark.harness_cases({marked})\ndef test_each(harness_case):\n    pass\n",
        )
        ran = run_pytest("tests/test_own.py")

        assert pytest.ExitCode.INTERRUPTED == ran.ret, marked


def test_a_replay_has_no_network_and_gives_it_back(scratch: ScratchProject, run_pytest: RunPytest) -> None:
    """A tool that reaches out fails its trial; an ordinary test after it may open sockets."""
    scratch.replace(
        "goldensets/worlds/yard/tools.py",
        "return {",
        "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)\n        return {",
    )
    scratch.write(
        "tests/test_plain.py",
        """
        import socket

        def test_socket():
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname()[:2]).close()
        """,
    )
    ran = run_pytest("goldensets/smoke.yaml", "tests")

    ran.assert_outcomes(failed=1, passed=1)
    ran.stdout.fnmatch_lines(["COULD NOT CHECK*network-refused*"])


def test_costs_nothing_when_unused(scratch: ScratchProject, run_pytest: RunPytest, tmp_path: Path) -> None:
    """Unused, the plugin loads no other module of the package, and importing it takes less than 2 ms."""
    scratch.write(
        "tests/test_plain.py",
        """
        import sys

        def test_plain():
            loaded = sorted(name for name in sys.modules if name.startswith(("harness", "msgspec", "yaml")))
            assert ["harness", "harness.pytest_plugin"] == loaded
        """,
    )
    run_pytest().assert_outcomes(passed=1)

    code = "import time, pytest; began = time.perf_counter(); import harness.pytest_plugin; print(time.perf_counter() - began)"
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}
    took = [
        float(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout)
        for _ in range(6)
    ]
    assert 0.002 > min(took[1:])
