"""From a golden set to a verdict, offline: the main job, run as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from harness.testing.project import ScratchProject

CASSETTE = "cassettes/example/scripted/smoke/weather.0.yaml"


def only(document: dict[str, object]) -> dict[str, object]:
    """The one result of a run."""
    (result,) = document["results"]
    return result


def test_a_recorded_case_replays_without_network_and_is_kept(project: ScratchProject) -> None:
    """A replay exits 0, says who answered, and has both guards on."""
    ran = project.harness("run", "--json")

    assert 0 == ran.exit_code
    result = only(ran.document)
    assert ("kept", "scripted", 2, 1) == (
        result["verdict"], result["provenance"], result["llm_calls"], result["tool_calls"],
    )  # fmt: skip
    manifest = json.loads(next(project.folder.glob("reports/runs/*/run.json")).read_text())
    assert "python" in manifest["manifest"]["guards"]


def test_the_wire_port_gives_the_same_verdict(project: ScratchProject) -> None:
    """Through litellm over patched transports the verdict, the answer and the tokens are the same."""
    fast = only(project.harness("run", "--json").document)
    wire = only(project.harness("run", "--wire", "--json").document)

    same = ("verdict", "answer", "llm_calls", "tool_calls", "tokens", "findings")
    assert {name: fast[name] for name in same} == {name: wire[name] for name in same}


def test_two_replays_write_the_same_trace(project: ScratchProject) -> None:
    """Nothing of the wall's time or of chance is in a trace."""
    project.harness("run", "--out", "one")
    project.harness("run", "--out", "two")
    (one,), (two,) = (list(project.folder.glob(f"{name}/*/traces/*")) for name in ("one", "two"))

    assert one.read_bytes() == two.read_bytes()


def test_one_changed_word_of_a_prompt_is_named(project: ScratchProject) -> None:
    """A changed prompt could not be checked: exit 3, the word, the cause, and the command that mends it."""
    project.replace("agents/example/prompts.py", "careful", "hasty")
    ran = project.harness("run")

    assert 3 == ran.exit_code
    assert "cassette-miss, prompt changed" in ran.stdout
    assert "careful" in ran.stdout
    assert "hasty" in ran.stdout
    assert "`harness record smoke --agent example --model scripted --case weather --mode stale`" in ran.stdout


def test_options_that_an_agent_refuses_could_not_be_checked(project: ScratchProject) -> None:
    """A value that the agent does not take is told in its words, as what keeps the trial from being checked."""
    refuses = 'from harness.errors import UsageError\n\n\ndef build(ctx):\n    raise UsageError("bad-option", "no such depth")\n'
    project.write("agents/example/agent.py", refuses)
    ran = project.harness("run", "--json")

    assert 3 == ran.exit_code
    assert ("bad-option", "no such depth") == (only(ran.document)["code"], only(ran.document)["because"])


def test_the_command_that_a_miss_names_mends_it(project: ScratchProject) -> None:
    """Recording what is stale makes the run green again."""
    project.replace("agents/example/prompts.py", "careful", "hasty")
    recorded = project.harness("record", "smoke", "--agent", "example", "--model", "scripted", "--mode", "stale")

    assert 0 == recorded.exit_code
    assert 0 == project.harness("run").exit_code


def test_a_deleted_cassette_could_not_be_checked(project: ScratchProject) -> None:
    """A declared cell without its cassette is exit 3, never a pass."""
    project.path(CASSETTE).unlink()
    ran = project.harness("run", "--json")

    assert 3 == ran.exit_code
    assert "cassette-missing" == only(ran.document)["code"]


def test_an_unread_recording_could_not_be_checked(project: ScratchProject) -> None:
    """An agent that stops asking leaves a recorded call unread: exit 3."""
    project.replace("agents/example/agent.py", "for _ in range(4):", "for _ in range(1):")
    ran = project.harness("run", "--json")

    assert 3 == ran.exit_code
    assert "cassette-unused" == only(ran.document)["code"]


def test_a_worse_answer_is_a_regression_with_evidence(project: ScratchProject) -> None:
    """An answer without its fact is exit 1, with the contract, the event and the line of the case."""
    project.replace("agents/example/agent.py", "FinalAnswer(text=reply.text)", 'FinalAnswer(text="It is cold.")')
    ran = project.harness("run")

    assert 1 == ran.exit_code
    assert "facts: the answer does not say 7" in ran.stdout
    assert "at goldensets/smoke.yaml:5" in ran.stdout


def test_a_baseline_cannot_excuse_a_scripted_case(project: ScratchProject) -> None:
    """A scripted case of a reference profile must be kept, whatever a baseline that was edited by hand says."""
    project.write("goldensets/smoke.yaml", project.path("goldensets/smoke.yaml").read_text().replace("[7]", "[8]"))
    digest = only(project.harness("run", "--json").document)["cassette_digest"]
    project.write("reports/baselines/smoke.json", json.dumps(baseline_of("scripted", "scripted", str(digest))))

    ran = project.harness("run", "--json")
    assert (1, False) == (ran.exit_code, only(ran.document)["known"])


def baseline_of(model: str, provenance: str, digest: str) -> dict[str, object]:
    """A baseline that knows the case's `facts` as broken."""
    trial = {"n": 0, "cassette_digest": digest, "verdict": "broken", "broken": ["facts"]}
    case = {"provenance": provenance, "reason": "by hand", "trials": [trial]}
    totals = {"trials": 1, "kept": 0, "broken": 1, "known": 1, "could_not_check": 0}
    return {"set": "smoke", "format": 1, "agents": {"example": {model: {"totals": totals, "cases": {"weather": case}}}}}


def test_no_secret_reaches_a_run_folder(project: ScratchProject) -> None:
    """A key that the agent says stands neither in the trace, nor in the results, nor in what `--json` prints."""
    key = "sk-" + "Zx9" * 14
    project.replace("agents/example/agent.py", "FinalAnswer(text=reply.text)", f'FinalAnswer(text="7 {key}")')
    ran = project.harness("run", "--json")
    written = [path.read_text() for path in project.folder.glob("reports/runs/*/**/*") if path.is_file()]

    assert key not in ran.stdout
    assert [] == [text for text in written if key in text]
    assert "<secret:" in str(only(ran.document)["answer"])


def test_half_a_character_spoils_its_own_trial_only(project: ScratchProject) -> None:
    """A text that is no valid Unicode gives no verdict on its trial, and the run goes on to its end."""
    project.replace("agents/example/agent.py", "FinalAnswer(text=reply.text)", 'FinalAnswer(text="7 \\ud800")')
    ran = project.harness("run", "--json")

    assert 3 == ran.exit_code
    assert "bad-text" == only(ran.document)["code"]


def test_an_agent_that_reaches_for_the_network_is_caught(project: ScratchProject) -> None:
    """A connection that the agent tries, and whose refusal it swallows, gives no verdict but a reason."""
    project.replace(
        "agents/example/agent.py",
        "        messages = [",
        "        import socket\n"
        "        try:\n"
        "            socket.create_connection(('127.0.0.1', 9), 0.2)\n"
        "        except BaseException:\n"
        "            pass\n"
        "        messages = [",
    )
    ran = project.harness("run", "--json")

    assert 3 == ran.exit_code
    assert "network-refused" == only(ran.document)["code"]


def test_a_request_past_the_cassette_is_caught_on_the_wire_port_too(project: ScratchProject) -> None:
    """Where transports are patched, a request by HTTP that is not a model call of the trial gives no verdict either."""
    project.replace(
        "agents/example/agent.py",
        "        messages = [",
        "        import httpx\n"
        "        try:\n"
        "            httpx.get('http://127.0.0.1:9/')\n"
        "        except BaseException:\n"
        "            pass\n"
        "        messages = [",
    )
    ran = project.harness("run", "--wire", "--json")

    assert 3 == ran.exit_code
    assert "network-refused" == only(ran.document)["code"]
    assert "something tried to reach 127.0.0.1:9 (agents/example/agent.py:" in str(only(ran.document)["because"])


def test_nothing_of_the_agents_runs_after_the_verdict(project: ScratchProject) -> None:
    """An exit hook cannot change the exit code, and a thread that never ends does not hold the command up."""
    project.replace("agents/example/agent.py", "FinalAnswer(text=reply.text)", 'FinalAnswer(text="It is cold.")')
    project.replace(
        "agents/example/agent.py",
        "class Example:",
        "import atexit, os, threading\n"
        "leave = os._exit\n"
        "atexit.register(lambda: leave(0))\n"
        "threading.Thread(target=threading.Event().wait).start()\n\n\n"
        "class Example:",
    )
    ran = project.harness("run", "--json")

    assert 1 == ran.exit_code
    assert "broken" == only(ran.document)["verdict"]


def test_a_script_that_is_not_followed_leaves_no_cassette(project: ScratchProject) -> None:
    """An unmet expectation refuses the recording, keeps the old cassette and says what was expected."""
    old = project.path(CASSETTE).read_bytes()
    project.replace("goldensets/scripts/smoke/example/weather.yaml", 'contains: "7"', 'contains: "9"')
    ran = project.harness("record", "--model", "scripted", "--mode", "all")

    assert 3 == ran.exit_code
    assert "REFUSED" in ran.stdout
    assert old == project.path(CASSETTE).read_bytes()


def test_a_run_that_was_cut_off_goes_on(project: ScratchProject) -> None:
    """A resumed run keeps the verdicts it has and replays the rest."""
    first = project.harness("run", "--json").document
    resumed = project.harness("run", "--json", "--resume", first["run"])

    assert 0 == resumed.exit_code
    assert first["run"] == resumed.document["run"]
    results = project.path(f"reports/runs/{first['run']}/results.jsonl").read_text().splitlines()
    assert 1 == len(results)


def test_a_run_is_resumed_for_the_trials_that_it_was_started_for(project: ScratchProject) -> None:
    """Resuming with other flags would mix two runs: a mistake, and nothing is replayed."""
    first = project.harness("run", "--trials", "2", "--json").document["run"]
    other = project.harness("run", "--resume", str(first))

    assert 2 == other.exit_code
    assert other.stderr.startswith(
        f"error[run-differs]: run {first} was started for other trials than these flags choose"
    )
    assert 3 == project.harness("run", "--trials", "2", "--resume", str(first)).exit_code


def test_recorded_addresses_and_headers_say_nothing_of_the_machine(project: ScratchProject) -> None:
    """A scripted cassette names an address that cannot exist, and only the headers that matter."""
    cassette = yaml.safe_load(project.path(CASSETTE).read_text())
    requests = [interaction["request"] for interaction in cassette["interactions"]]

    assert {"http://scripted.invalid/v1/chat/completions"} == {request["uri"] for request in requests}
    assert {"content-type"} == {name for request in requests for name in request["headers"]}
    assert "scripted" == cassette["provenance"]["answered_by"]


def test_user_mistakes_have_no_traceback(project: ScratchProject, tmp_path: Path) -> None:
    """Every mistake of a person is one message with a code and a hint, and exit 2."""
    mistakes = {
        "no-such-set": ("run", "smok"),
        "no-such-agent": ("run", "--agent", "exmaple"),
        "no-such-model": ("run", "--model", "scriptd"),
        "no-such-case": ("run", "--case", "wether"),
        "no-such-option": ("run", "--option", "depth=3"),
    }
    for code, words in mistakes.items():
        ran = project.harness(*words)
        assert 2 == ran.exit_code, words
        assert ran.stderr.startswith(f"error[{code}]: "), ran.stderr
        assert "\n\nhint: " in ran.stderr
        assert "Traceback" not in ran.stderr

    as_json = project.harness("run", "smok", "--json")
    assert {"code", "message", "hint", "at"} == as_json.document["error"].keys()
    assert 2 == as_json.document["exit_code"]


def test_broken_files_are_named_by_line(project: ScratchProject) -> None:
    """Malformed YAML, an unknown key and a cassette of another format each name file and line or file and reason."""
    golden = project.path("goldensets/smoke.yaml").read_text()
    project.write("goldensets/smoke.yaml", golden.replace("question:", "qestion:"))
    unknown = project.harness("run")
    assert (2, True) == (unknown.exit_code, "goldensets/smoke.yaml:6" in unknown.stderr)
    assert "question" in unknown.stderr

    project.write("goldensets/smoke.yaml", golden.replace("cases:", "cases: ["))
    malformed = project.harness("run")
    assert (2, True) == (malformed.exit_code, "goldensets/smoke.yaml:" in malformed.stderr)

    project.write("goldensets/smoke.yaml", golden)
    project.replace(CASSETTE, "  format: 1", "  format: 9")
    newer = project.harness("run", "--json")
    assert (3, "cassette-format") == (newer.exit_code, only(newer.document)["code"])
