"""Recording from a server of one's own: what is asked, what is kept, what it would take, and what is refused."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.testing.project import FILES, ScratchProject

MODEL = """
        [tool.harness]
        [[tool.harness.matrix]]
        set = "smoke"
        agents = ["example"]
        models = ["tiny"]

        [tool.harness.models.tiny]
        answered_by = "local"
        sha256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
        server = "a test server 1"
        sampling = { temperature = 0.0, seed = 1, max_tokens = 64 }
        """
BOTH = """
format: 1
steps:
  - reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
  - expect: {tool_result: {name: get_weather, contains: "7"}}
    reply: {text: It is 7 °C in Berlin.}
"""
SECOND = """
format: 1
steps:
  - expect: {contains: "17"}
    reply: {text: It is 17 °C in Berlin.}
"""
CASSETTE = "cassettes/example/tiny/smoke/weather.0.yaml"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that stands in for a local model's."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project whose one model is local."""
    return ScratchProject(tmp_path, {**FILES, "pyproject.toml": MODEL})


def recorded(project: ScratchProject, server: ScriptedServer, script: str, *words: str) -> dict[str, object]:
    """Record against *script* and return the document; the script must have been followed."""
    session = server.open(parse_script(script))
    ran = project.harness("record", "--json", "--base-url", session.openai_base_url, *words)
    session.close()

    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return ran.document


def test_a_local_recording_carries_its_proof(project: ScratchProject, server: ScriptedServer) -> None:
    """Who answered, from which file, by which server and with which sampling stand in the cassette."""
    recorded(project, server, BOTH)
    provenance = yaml.safe_load(project.path(CASSETTE).read_text())["provenance"]

    assert ("local", "a test server 1", 1) == (provenance["answered_by"], provenance["server"], provenance["seed"])
    assert {"temperature": 0.0, "max_tokens": 64} == provenance["sampling"]
    assert 0 == project.harness("cassettes", "check").exit_code
    assert "local" == project.harness("run", "--json").document["results"][0]["provenance"]


def test_missing_records_only_what_is_missing(project: ScratchProject, server: ScriptedServer) -> None:
    """A second recording of the same asks nobody."""
    assert 2 == recorded(project, server, BOTH)["calls"]
    ran = project.harness("record", "--json", "--base-url", "http://127.0.0.1:9/v1")

    assert (0, 0) == (ran.exit_code, ran.document["calls"])


def test_stale_keeps_the_calls_that_still_match(project: ScratchProject, server: ScriptedServer) -> None:
    """When a tool's answer changes, the first call is kept as recorded and only the second is asked again."""
    recorded(project, server, BOTH)
    first = yaml.safe_load(project.path(CASSETTE).read_text())["interactions"][0]
    project.replace("goldensets/worlds/yard/tools.py", '"temperature_c": 7', '"temperature_c": 17')
    project.replace("goldensets/smoke.yaml", "[7]", "[17]")

    assert 3 == project.harness("run").exit_code
    assert 1 == recorded(project, server, SECOND, "--mode", "stale")["calls"]
    assert first == yaml.safe_load(project.path(CASSETTE).read_text())["interactions"][0]
    assert 0 == project.harness("run").exit_code


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(project: ScratchProject, server: ScriptedServer) -> None:
    """The bill is told by what the old recordings took, before anybody is asked."""
    recorded(project, server, BOTH)
    before = project.path(CASSETTE).read_bytes()
    ran = project.harness("record", "--mode", "all", "--dry-run", "--json")

    assert (2, [CASSETTE]) == (ran.document["calls"], ran.document["cassettes"])
    assert before == project.path(CASSETTE).read_bytes()


def test_verify_tells_where_the_model_differs_and_writes_nothing(
    project: ScratchProject, server: ScriptedServer
) -> None:
    """A model that answers otherwise now is reported call by call; the recording stays."""
    recorded(project, server, BOTH)
    before = project.path(CASSETTE).read_bytes()
    session = server.open(parse_script(BOTH.replace("It is 7 °C", "There are 7 °C")))
    ran = project.harness("record", "--mode", "verify", "--base-url", session.openai_base_url)
    session.close()

    assert 3 == ran.exit_code
    assert "call 2 (agent)" in ran.stdout
    assert before == project.path(CASSETTE).read_bytes()


def test_nobody_at_the_address_is_a_mistake_and_records_nothing(project: ScratchProject) -> None:
    """A server that does not run is exit 2 with the address; no recording of silence is made."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    ran = project.harness("record", "--base-url", f"http://127.0.0.1:{port}/v1")

    assert 2 == ran.exit_code
    assert ran.stderr.startswith(f"error[no-server]: nothing answers at http://127.0.0.1:{port}/v1: ")
    assert not project.path("cassettes").exists()


def test_what_a_recording_takes_is_told_without_a_server(project: ScratchProject) -> None:
    """A preview asks nobody, so nobody need be there."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    ran = project.harness("record", "--dry-run", "--base-url", f"http://127.0.0.1:{port}/v1")

    assert (0, "") == (ran.exit_code, ran.stderr)
    assert ran.stdout.startswith("would record 1 of 1 trials: ")
    assert not project.path("cassettes").exists()


def test_an_undeclared_model_is_not_recorded_from_an_address(project: ScratchProject) -> None:
    """Without a declaration nothing would prove who answered."""
    project.replace("pyproject.toml", "[tool.harness.models.tiny]", "[tool.harness.models.other]")
    ran = project.harness("record", "--base-url", "http://127.0.0.1:9/v1")

    assert 2 == ran.exit_code
    assert ran.stderr.startswith("error[undeclared-model]: `tiny` at http://127.0.0.1:9/v1 is not declared")


def test_a_recording_in_ci_needs_to_be_told(project: ScratchProject) -> None:
    """CI writes no cassettes by accident."""
    ran = project.harness("record", CI="true")

    assert 2 == ran.exit_code
    assert "--allow-ci-write" in ran.stderr


def test_a_server_that_answers_nothing_is_no_recording(project: ScratchProject, server: ScriptedServer) -> None:
    """A server that takes every call and hangs up leaves the old cassette, and the command says that nothing was recorded."""
    recorded(project, server, BOTH)
    before = project.path(CASSETTE).read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        threading.Thread(target=_hang_up, args=(mute,), daemon=True).start()
        address = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
        ran = project.harness("record", "--json", "--mode", "all", "--base-url", address)

    assert 3 == ran.exit_code
    assert "no call was answered" in ran.stdout
    assert before == project.path(CASSETTE).read_bytes()
    assert [Path(CASSETTE).name] == [path.name for path in project.path(CASSETTE).parent.iterdir()]


def _hang_up(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            server.accept()[0].close()


def test_a_known_failure_is_shown_and_does_not_fail_the_run(project: ScratchProject, server: ScriptedServer) -> None:
    """What was accepted as broken for the same recording is known; what breaks on top of it is not."""
    recorded(project, server, BOTH)
    project.replace("goldensets/smoke.yaml", "[7]", "[8]")
    assert 1 == project.harness("run").exit_code
    assert 0 == project.harness("accept", "--reason", "a small model").exit_code

    known = project.harness("run", "--json")
    assert (0, True) == (known.exit_code, known.document["results"][0]["known"])
    assert "1 broken (1 known)" in project.harness("run").stdout

    project.replace("agents/example/agent.py", "text=reply.text", "text=''")
    worse = project.harness("run", "--json")
    assert (1, False) == (worse.exit_code, worse.document["results"][0]["known"])


def test_a_local_model_without_proof_is_not_recorded(project: ScratchProject) -> None:
    """A declaration that lacks the file's digest, the server or the seed is completed first."""
    project.replace("pyproject.toml", 'server = "a test server 1"\n', "")
    project.replace("pyproject.toml", ", seed = 1", "")
    ran = project.harness("record")

    assert 2 == ran.exit_code
    assert ran.stderr.startswith("error[unproven-model]: the declaration of `tiny` lacks server, sampling.seed")
