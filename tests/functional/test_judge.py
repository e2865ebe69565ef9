"""The judge as a person meets it: recorded with its case, replayed without a network, missed where the answer changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from harness.testing.embeddings import EmbeddingServer
from harness.testing.project import FILES, ScratchProject

CASSETTE = "cassettes/_judge/scripted/smoke/weather.0.yaml"
NEAR = "cassettes/_judge/e5/smoke/weather.0.yaml"
JUDGED = """
    format: 1
    about: One question
    world: yard
    cases:
      - id: weather
        question: How warm is it in Berlin?
        lang: en
        class: simple
        facts: {all: [7]}
        tools: {required: [get_weather]}
        contracts:
          - rubric: {criterion: The answer gives the temperature that the tool told., model: scripted}
          - similar_meaning: {text: It is 7 °C in Berlin., at_least: 0.9, model: e5}
    """
PASS = """{"verdict": "pass", "evidence": [{"event": 1, "quote": "\\"temperature_c\\":7"}], "why": "It is 7."}"""
FAIL = """{"verdict": "fail", "evidence": [], "why": "No unit."}"""
DECLARED = """
    [tool.harness]
    [[tool.harness.matrix]]
    set = "smoke"
    agents = ["example"]

    [tool.harness.models.e5]
    answered_by = "local"
    base_url = "{base_url}"
    sha256 = "{sha256}"
    server = "fake 1"
    """


def script(*replies: str) -> str:
    """The script of a judge."""
    steps = [{"expect": {"contains": ["get_weather"]}, "reply": {"text": reply}} for reply in replies]
    return yaml.safe_dump({"format": 1, "steps": steps}, allow_unicode=True)


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose case is recorded with its judge and its embeddings; the embedding server is gone by then."""
    with EmbeddingServer() as server:
        files = {
            **FILES,
            "pyproject.toml": DECLARED.format(base_url=server.base_url, sha256="ab" * 32),
            "goldensets/smoke.yaml": JUDGED,
        }
        project = ScratchProject(tmp_path_factory.mktemp("judged"), files)
        project.write("goldensets/scripts/smoke/_judge/weather.yaml", script(PASS, FAIL, PASS))
        ran = project.harness("record", "--model", "scripted", "--json")

        assert 0 == ran.exit_code, ran.stderr
        assert {"calls": 6, "refused": []}.items() <= ran.document.items()
        assert {CASSETTE, NEAR} < set(ran.document["cassettes"])
    return project.folder


@pytest.fixture
def project(judged: Path, tmp_path: Path) -> ScratchProject:
    """A copy of it."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    return ScratchProject(tmp_path, {})


def findings(project: ScratchProject) -> dict[str, dict[str, str]]:
    """What a run finds, by contract."""
    (result,) = project.harness("run", "--json").document["results"]
    return {finding["contract"]: finding for finding in result["findings"]}


def answer(project: ScratchProject, text: str) -> None:
    """Have the case's own model answer *text*, recorded; what judges said stays as it is."""
    kept = [(path, path.read_bytes()) for path in project.path("cassettes/_judge").rglob("*.yaml")]
    project.replace("goldensets/scripts/smoke/example/weather.yaml", "It is 7 °C in Berlin.", text)
    shutil.rmtree(project.path("cassettes/example"))
    project.path("goldensets/scripts/smoke/_judge/weather.yaml").rename(project.path("aside.yaml"))
    project.harness("record", "--model", "scripted")
    project.path("aside.yaml").rename(project.path("goldensets/scripts/smoke/_judge/weather.yaml"))
    for path, content in kept:
        path.write_bytes(content)


def test_it_is_recorded_and_replayed_offline(project: ScratchProject) -> None:
    """The majority of the recorded votes decides, and each finding says who judged."""
    found = findings(project)

    assert ("kept", "scripted") == (found["rubric"]["state"], found["rubric"]["judged_by"])
    assert "2 of 3 votes pass: It is 7. (scripted, scripted)" in found["rubric"]["because"]
    assert ("kept", "local") == (found["similar_meaning"]["state"], found["similar_meaning"]["judged_by"])
    assert "likeness 1.000, at least 0.900 (e5, local)" == found["similar_meaning"]["because"]
    assert ("kept", "") == (found["facts"]["state"], found["facts"]["judged_by"])


def test_its_recordings_are_checked_like_any_other(project: ScratchProject) -> None:
    """They prove who answered, belong to a case, and are missed when they are gone."""
    assert 0 == project.harness("cassettes", "check").exit_code

    project.path(NEAR).rename(project.path(NEAR).with_name("gone.0.yaml"))
    ran = project.harness("cassettes", "check", "--json")

    assert {("cassette-missing", NEAR), ("cassette-orphan", NEAR.replace("weather", "gone"))} == {
        (problem["code"], problem["path"]) for problem in ran.document["problems"]
    }


def test_provenance_is_its_own(project: ScratchProject) -> None:
    """A scripted judge lies under `scripted`, an embedding model under its name with what proves it."""
    script_of, vectors = (yaml.safe_load(project.path(path).read_text(encoding="utf-8")) for path in (CASSETTE, NEAR))

    assert ("scripted", 3) == (script_of["provenance"]["answered_by"], len(script_of["interactions"]))
    assert ("local", "local", "ab" * 32) == tuple(
        vectors["provenance"][name] for name in ("answered_by", "embeddings_by", "model_sha256")
    )
    assert {"e5": {"model_sha256": "ab" * 32, "server": "fake 1"}} == vectors["provenance"]["embedders"]


def test_a_changed_answer_is_a_miss_of_the_judge_alone(project: ScratchProject) -> None:
    """The trial's other contracts are judged, the rubric could not be, and the command that asks again is named."""
    answer(project, "It is about 7 degrees in Berlin.")
    ran = project.harness("run")
    found = findings(project)

    assert 3 == ran.exit_code
    assert "kept" == found["facts"]["state"]
    for name, model in (("rubric", "scripted"), ("similar_meaning", "e5")):
        assert "could_not_check" == found[name]["state"]
        assert (
            f"`{model}` was asked about another answer than this one\n"
            "hint: `harness record smoke --agent example --model scripted --case weather --judge-only`"
        ) == found[name]["because"]
    assert "COULD NOT CHECK  1 trial: contract `rubric`" in ran.stdout


def test_asking_again_leaves_the_trial_as_it_is(project: ScratchProject) -> None:
    """`--judge-only` records the judge of the new answer, and nothing else."""
    answer(project, "7 °C says the tool.")
    project.write("goldensets/scripts/smoke/_judge/weather.yaml", script(FAIL, FAIL, PASS))
    likeness = "      - similar_meaning: {text: It is 7 °C in Berlin., at_least: 0.9, model: e5}\n"
    project.replace("goldensets/smoke.yaml", likeness, "")
    before = project.path("cassettes/example/scripted/smoke/weather.0.yaml").read_bytes()
    ran = project.harness("record", "--judge-only", "--json")
    found = findings(project)

    assert ([CASSETTE], 3, []) == (ran.document["cassettes"], ran.document["calls"], ran.document["refused"])
    assert before == project.path("cassettes/example/scripted/smoke/weather.0.yaml").read_bytes()
    assert ("broken", "scripted") == (found["rubric"]["state"], found["rubric"]["judged_by"])
    assert "1 of 3 votes pass: No unit. (scripted, scripted)" in found["rubric"]["because"]
    assert 0 == project.harness("record", "--judge-only", "--json").document["calls"]


def test_a_judge_that_leaves_its_script_is_not_recorded(project: ScratchProject) -> None:
    """A step that no vote came for refuses the recording; the old one stands."""
    project.write("goldensets/scripts/smoke/_judge/weather.yaml", script(PASS, PASS, PASS, PASS))
    before = project.path(CASSETTE).read_bytes()
    ran = project.harness("record", "--judge-only", "--mode", "all", "--json")

    assert 3 == ran.exit_code
    assert any("step 4: no call came for it" in reason for reason in ran.document["refused"])
    assert before == project.path(CASSETTE).read_bytes()


def test_a_dry_run_tells_what_the_judge_would_take(project: ScratchProject) -> None:
    """Calls and files of judges are counted beside those of the trials."""
    project.path(CASSETTE).unlink()
    ran = project.harness("record", "--dry-run", "--json")

    assert (3, [CASSETTE]) == (ran.document["calls"], ran.document["cassettes"])


def test_an_edited_verdict_is_found_out(project: ScratchProject) -> None:
    """A reply that was changed by hand is no verdict."""
    text = project.path(CASSETTE).read_text(encoding="utf-8")
    project.path(CASSETTE).write_text(text.replace("No unit.", "No flaw."), encoding="utf-8")
    found = findings(project)

    assert "could_not_check" == found["rubric"]["state"]
    assert "a response was changed after it was recorded" in found["rubric"]["because"]


def test_a_wrong_option_stops_the_run(project: ScratchProject) -> None:
    """An even number of votes is a wrong file: exit 2, with its line."""
    project.replace("goldensets/smoke.yaml", "model: scripted}", "model: scripted, votes: 4}")
    ran = project.harness("run")

    assert 2 == ran.exit_code
    assert "`votes` is an odd number from 1 to 15, so that there is no tie, not `4`" in ran.stderr


@pytest.mark.parametrize("edit", ["changed", "gone"])
def test_a_stored_run_that_was_judged_by_other_words_is_refused(project: ScratchProject, edit: str) -> None:
    """What judges said of a trial is part of what its verdict follows from, for the gate and for `accept`."""
    run = project.harness("run", "--json").document["run"]
    accepted = project.harness("accept", run, "--reason", "first")
    said = project.path(CASSETTE)
    said.write_text(said.read_text() + "# edited\n") if edit == "changed" else said.unlink()
    gated, again = project.harness("gate", run), project.harness("accept", run, "--reason", "again")

    assert (0, 3, 3) == (accepted.exit_code, gated.exit_code, again.exit_code)
    assert "was made before these changed: what judges said of smoke/weather" in gated.stderr


def test_a_run_that_asks_no_judge_loads_none(project: ScratchProject) -> None:
    """Neither the judge nor what records it is imported where no case asks."""
    project.write("goldensets/smoke.yaml", FILES["goldensets/smoke.yaml"])
    shutil.rmtree(project.path("cassettes/_judge"))
    code = (
        "import sys; from harness.cli.main import main; code = main(['run', '--json']);"
        "print(code, [m for m in sys.modules if m.split('.')[1:2] in (['judge'], ['judging']) or m == 'litellm'], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project.folder, capture_output=True, text=True, check=False)

    assert done.stderr.strip().endswith("0 []")


def test_calibration_of_a_scripted_judge(project: ScratchProject) -> None:
    """Labels, a recording, a report: too few labels end inconclusive, and nothing is asked without --record."""
    items = [
        {
            "id": f"{label}{n}",
            "criterion": "It is warm.",
            "answer": f"{label} {n}",
            "label": label,
            "evidence": ["warm day"],
        }
        for label in ("pass", "fail")
        for n in range(2)
    ]
    project.path("labels.yaml").write_text(
        json.dumps({"format": 1, "model": "scripted", "items": items}), encoding="utf-8"
    )
    warm = '{"verdict": "pass", "evidence": [{"event": 1, "quote": "warm day"}], "why": "Yes."}'
    steps = [{"reply": {"text": reply}} for reply in (warm, FAIL, FAIL, FAIL)]
    project.write("goldensets/scripts/_labels/_judge/labels.yaml", yaml.safe_dump({"format": 1, "steps": steps}))
    before = project.harness("judge", "calibrate", "labels.yaml")
    ran = project.harness("judge", "calibrate", "labels.yaml", "--record", "--json")
    after = project.harness("judge", "calibrate", "labels.yaml")

    assert 3 == before.exit_code
    assert "4 of 4 answers have no verdict; `--record` asks the judge about them" in before.stdout
    assert (5, "scripted", 0.75, 0.5) == (
        ran.exit_code, ran.document["provenance"], ran.document["overall"]["agreement"], ran.document["overall"]["kappa"],
    )  # fmt: skip
    assert 5 == after.exit_code
    assert "scripted (scripted) against 4 labels of labels.yaml" in after.stdout
    assert "pass1: people: pass, judge: fail: “" not in after.stdout
    assert "pass1: people: pass, judge: fail: 0 of 1 votes pass: No unit." in after.stdout
    assert "4 labels are too few to speak of a judge; 16 more are needed" in " ".join(after.stdout.split())


def test_the_gate_names_the_judge_as_the_cause(project: ScratchProject) -> None:
    """A judge that was asked again and now says no is a regression whose cause is the judge; the trial is the same sample."""
    assert 0 == project.harness("run", "--json").exit_code
    assert 0 == project.harness("accept", "--reason", "judged").exit_code
    assert 0 == project.harness("gate").exit_code
    project.write("goldensets/scripts/smoke/_judge/weather.yaml", script(FAIL, FAIL, PASS))
    project.harness("record", "--judge-only", "--mode", "all")
    ran = project.harness("gate", "--json")

    assert 1 == ran.exit_code
    assert [("regression", "rubric", "judge")] == [
        (change["change"], change["contract"], change["cause"]) for change in ran.document["changes"]
    ]


def test_the_gate_cannot_pass_where_the_judge_is_missing(project: ScratchProject) -> None:
    """A recording of the judge that is gone is exit 3, whatever the baseline says."""
    project.harness("run")
    project.harness("accept", "--reason", "judged")
    project.path(CASSETTE).unlink()
    ran = project.harness("gate", "--json")

    assert (3, "could_not_check") == (ran.exit_code, ran.document["decision"])
    assert any("`scripted` was never asked about this case" in change["because"] for change in ran.document["changes"])


def test_designs_share_the_file_of_a_case(project: ScratchProject) -> None:
    """What judges said of one design's answer stands beside what they said of the other's, and stays while only one is there."""
    likeness = "      - similar_meaning: {text: It is 7 °C in Berlin., at_least: 0.9, model: e5}\n"
    project.replace("goldensets/smoke.yaml", likeness, "")
    project.replace("pyproject.toml", 'agents = ["example"]', 'agents = ["example", "second"]')
    shutil.copytree(project.path("agents/example"), project.path("agents/second"))
    first = project.path("goldensets/scripts/smoke/example/weather.yaml").read_text(encoding="utf-8")
    project.write(
        "goldensets/scripts/smoke/second/weather.yaml", first.replace("It is 7 °C in Berlin.", "Berlin has 7 °C.")
    )
    project.write("goldensets/scripts/smoke/_judge/weather.yaml", script(PASS, FAIL, PASS, FAIL, PASS, FAIL))
    both = project.harness("record", "--json").document
    run = project.harness("run", "--json").document["results"]
    project.path("cassettes/second/scripted/smoke/weather.0.yaml").unlink()
    again = project.harness("record", "--judge-only", "--agent", "example", "--json").document
    slots = [
        item["meta"]["slot"]
        for item in yaml.safe_load(project.path(CASSETTE).read_text(encoding="utf-8"))["interactions"]
    ]

    assert ([], 0, []) == (both["refused"], again["calls"], again["cassettes"])
    states = {one["agent"]: {f["contract"]: f["state"] for f in one["findings"]}["rubric"] for one in run}
    assert {"example": "kept", "second": "broken"} == states
    assert (2, ["0", "0", "1", "1", "2", "2"]) == (
        len({slot.partition("/")[0] for slot in slots}), sorted(slot.partition("/")[2] for slot in slots),
    )  # fmt: skip
