"""`harness run`, on real recordings of the reference agents in a scratch project."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.gate.accepting import dump_baseline, merge
from harness.gate.baseline import Baseline, baseline_path
from harness.reports.documents import schema_of
from harness.reports.runs import find_run, load_run, read_traces, runs_folder


def break_s1(project: Path) -> None:
    """Make S1-en expect what its recorded answer does not say."""
    path = project / "goldensets" / "shared.yaml"
    before, line, after = path.read_text().partition("- id: S1-en")
    assert line
    mended = re.sub(
        r"\n    facts:.*?(?=\n    [a-z])", "\n    facts:\n      all: [Madagascar]", after, count=1, flags=re.DOTALL
    )
    assert mended != after
    path.write_text(before + line + mended)


def accept_as_it_is(project: Path) -> None:
    """Write what the newest run found as the baseline, past the rule for scripted cases."""
    run = load_run(find_run(runs_folder(project / "reports")))
    path = baseline_path(project / "reports", "shared")
    path.parent.mkdir(parents=True)
    path.write_bytes(dump_baseline(merge(Baseline(set="shared"), run.results, reason="known")))


def test_a_replay_judges_every_declared_cell(project, harness):
    """No flag: the whole matrix, exit 0, a table on stdout and nothing on stderr."""
    ended = harness("run")

    assert (ended.code, ended.err) == (ExitCode.PASS, "")
    assert re.search(r"lean_react  scripted  scripted +2/2 +0 +0 +0 +4", ended.out)
    assert "KEPT  2 of 2 trials kept; run " in ended.out
    assert "makes this the baseline of shared" in ended.out


def test_the_document_is_what_its_schema_says(project, harness):
    """Real output, with every field of the stable form there."""
    document = harness("run", "--json").document

    jsonschema.validate(document, schema_of("run"))
    assert {"format", "run", "results", "totals", "exit_code"} <= document.keys()
    result = document["results"][0]
    assert {
        "agent", "profile", "model", "provenance", "set", "case", "trial", "verdict", "known", "findings", "llm_calls",
        "tool_calls", "tokens", "cost_usd", "recorded_ms", "replay_ms", "answer", "fault",
    } <= result.keys()  # fmt: skip
    assert {"input", "output", "cached", "thinking"} == result["tokens"].keys()
    assert {"contract", "state", "because", "witness", "at"} <= result["findings"][0].keys()
    assert document["totals"] == {"trials": 2, "kept": 2, "broken": 0, "known": 0, "could_not_check": 0}


def test_a_document_that_lacks_a_field_fails_its_schema(project, harness):
    """The schema is no rubber stamp."""
    document = harness("run", "--json").document
    del document["results"][0]["findings"][0]["because"]

    with pytest.raises(jsonschema.ValidationError, match="'because' is a required property"):
        jsonschema.validate(document, schema_of("run"))


def test_the_run_folder_holds_what_was_printed(project, harness):
    """Verdicts, manifest and traces, at `reports/runs/<run>/`."""
    document = harness("run", "--json").document

    folder = runs_folder(project / "reports") / document["run"]
    stored = load_run(folder)
    assert [result["case"] for result in document["results"]] == [verdict.case for verdict in stored.results]
    assert document["manifest"] == stored.manifest
    assert all(read_traces(folder, verdict.cell) for verdict in stored.results)


def test_flags_narrow_the_matrix_and_mark_the_run_partial(project, harness):
    """One case of one agent, found by glob."""
    document = harness("run", "shared", "--lean", "--case", "S1-*", "--json").document

    assert ["S1-en"] == [result["case"] for result in document["results"]]
    assert document["partial"]


def test_sets_may_stand_between_flags(project, harness):
    """`harness run --case X shared` and `harness run shared --case X` are the same."""
    assert harness("run", "--case", "S1-en", "shared", "--agent", "lean_react").code == ExitCode.PASS


def test_a_broken_contract_without_a_baseline_is_exit_1(project, harness):
    """The evidence names the contract, the reason and the line of the case."""
    break_s1(project)

    ended = harness("run")
    assert ended.code == ExitCode.REGRESSED
    assert "BROKEN  lean_react × scripted shared/S1-en\n" in ended.out
    assert "Madagascar" in ended.out
    assert re.search(r"\n    at goldensets/shared\.yaml:\d+\n", ended.out)
    assert "BROKEN  1 of 2 trials kept, 1 broken; run " in ended.out


def test_a_baseline_past_the_rule_does_not_make_a_scripted_failure_known(project, harness):
    """A scripted case of a reference profile must be kept; a known failure of a real model is told elsewhere."""
    break_s1(project)
    harness("run")
    accept_as_it_is(project)

    ended = harness("run", "--json")
    assert ended.code == ExitCode.REGRESSED
    assert [False, False] == [result["known"] for result in ended.document["results"]]


def test_a_missing_cassette_is_exit_3_with_the_command_that_records_it(project, harness):
    """A declared cell without its recording is never a pass, and never a regression."""
    missing = project / "cassettes" / "lean_react" / "scripted" / "shared" / "S2-en.0.yaml"
    missing.unlink()

    ended = harness("run")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "COULD NOT CHECK  1 trial: cassette-missing\n  lean_react × scripted shared/S2-en\n" in ended.out
    assert "mend: `harness record shared --agent lean_react --model scripted --case S2-en --mode missing`" in ended.out


def test_nothing_to_run_is_exit_4(project, harness):
    """Zero cases never pass, in text and as a document."""
    (project / "pyproject.toml").write_text("[tool.harness]\n")

    ended = harness("run")
    assert ended.code == ExitCode.NOTHING_COMPARED
    assert ended.out.startswith("NOTHING RUN  no declared cell matches\n")
    document = harness("run", "--json").document
    assert (document["results"], document["exit_code"]) == ([], 4)


def test_a_changed_prompt_is_exit_3_and_folded_into_one_cause(project, harness):
    """Every case misses for one edit: one paragraph, one command."""
    prompts = project / "agents" / "lean_react" / "prompts.py"
    text = prompts.read_text()
    assert "Du " in text
    prompts.write_text(text.replace("Du ", "Sie ", 1))

    ended = harness("run")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "COULD NOT CHECK  2 trials: cassette-miss, prompt changed\n" in ended.out
    assert "  and 1 more of the same cause\n" in ended.out
    assert "mend: `harness record shared --agent lean_react --model scripted --mode stale`" in ended.out


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["shard"], "no-such-set", "did you mean `shared`?"),
        (["--agent", "lean_raect"], "no-such-agent", "did you mean `lean_react`?"),
        (["--case", "S1-em"], "no-such-case", "did you mean `S1-en`?"),
        (["--model", "scriptd"], "no-such-model", "did you mean `scripted`?"),
        (["--option", "max_stps=3"], "no-such-option", "its options:"),
        (["--resume", "r9"], "no-such-run", "`harness run` makes one"),
        (["--resume", ""], "no-such-run", "`harness run` makes one"),
    ],
)
def test_names_that_are_wrong_are_exit_2_with_a_suggestion(project, harness, words, code, hint):
    """Nothing is run for a misspelt name."""
    document = harness("run", *words, "--json").document

    assert (document["error"]["code"], document["exit_code"]) == (code, 2)
    assert hint in document["error"]["hint"]
    assert not runs_folder(project / "reports").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--option", "max_steps"], "argument --option: `max_steps` is not of the form K=V"),
        (["--option", "max_steps=NaN"], "`NaN` is no value of an option"),
        (["--trials", "0"], "argument --trials: `0` is no whole number of at least 1"),
        (["--jobs", "²"], "argument --jobs: `²` is no whole number of at least 1"),
        (["--base-url", "http://x"], "--base-url goes with --ask; a replay asks no server"),
        (["--agent", "lean_react", "--max-stps", "3"], "harness run takes no `--max-stps`"),
    ],
)
def test_arguments_that_mean_nothing_are_exit_2(project, harness, words, message):
    """The message says which."""
    document = harness("run", *words, "--json").document

    assert (document["error"]["code"], document["error"]["message"]) == ("bad-arguments", message)


def test_an_option_of_the_agent_is_a_flag_too(project, harness):
    """`--max-steps 5` is `--option max_steps=5`; both name another cell, which has no cassette."""
    by_flag = harness("run", "--agent", "lean_react", "--max-steps", "5", "--case", "S1-en", "--json").document
    by_option = harness("run", "--option", "max_steps=5", "--agent", "lean_react", "--case", "S1-en", "--json").document

    assert by_flag["results"][0]["agent"] == "lean_react+max_steps=5"
    assert by_flag["results"][0]["code"] == by_option["results"][0]["code"] == "cassette-missing"


def test_a_switch_of_the_agent_is_a_flag_without_a_value(project, harness):
    """An option that is true or false is turned by naming it."""
    document = harness("run", "--lean", "--stream", "--case", "S1-en", "--json").document

    assert [result["agent"] for result in document["results"]] == ["lean_react+stream=True"]


def test_a_run_that_was_cut_off_can_be_resumed(project, harness):
    """What was judged is kept, the rest is run, and the whole is one run."""
    document = harness("run", "--json").document
    folder = runs_folder(project / "reports") / document["run"]
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(lines[0] + lines[1][:30])
    begun = json.loads((folder / "run.json").read_text()) | {"exit_code": None}
    (folder / "run.json").write_text(json.dumps(begun))

    resumed = harness("run", "--resume", document["run"], "--json").document
    assert document["run"] == resumed["run"]
    assert document["totals"] == resumed["totals"]
    assert lines[0] == (folder / "results.jsonl").read_bytes().splitlines(keepends=True)[0]


@pytest.mark.parametrize("manifest", [None, '{"run": "x", "manifest": {"golden_sets": 3, "agents": [1]}}'])
def test_a_run_that_does_not_say_what_it_ran_on_is_not_resumed(project, harness, manifest):
    """Without its manifest nobody knows whether the verdicts in the folder are of today's agents."""
    document = harness("run", "--json").document
    path = project / "reports" / "runs" / document["run"] / "run.json"
    path.unlink() if manifest is None else path.write_text(manifest)

    ended = harness("run", "--json", "--resume", document["run"])
    assert (ended.code, ended.document["error"]["code"]) == (3, "stale-run")
    assert "does not say which agents" in ended.document["error"]["message"]


def test_a_run_whose_golden_set_has_changed_is_not_resumed(project, harness):
    """Verdicts on two versions of the files are no one run."""
    document = harness("run", "--json").document
    break_s1(project)

    ended = harness("run", "--resume", document["run"])
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "was made before these changed: golden set `shared`" in ended.err


def test_the_run_folder_can_stand_elsewhere(project, harness, tmp_path):
    """`--out` takes the place of `reports/runs`, also for `--resume`."""
    out = tmp_path / "elsewhere"
    document = harness("run", "--out", str(out), "--json").document

    assert load_run(out / document["run"]).totals.kept == 2
    assert not runs_folder(project / "reports").exists()
    assert harness("run", "--out", str(out), "--resume", document["run"]).code == ExitCode.PASS


def test_a_corrupt_baseline_is_exit_2_and_names_the_file(project, harness):
    """Nobody wants a gate that goes on without its baseline; a broken trial asks for it."""
    break_s1(project)
    path = baseline_path(project / "reports", "shared")
    path.parent.mkdir(parents=True)
    path.write_text("{")

    ended = harness("run")
    assert ended.code == ExitCode.USAGE
    assert f"error[bad-baseline]: {path}: not a baseline" in ended.err


def test_the_kernel_guard_is_on_in_a_process_of_its_own(project, process):
    """The manifest says which guards were really on."""
    ended = process("run", "--json")

    assert (ended.code, ended.err) == (0, "")
    assert "python" in json.loads(ended.out)["manifest"]["guards"]
