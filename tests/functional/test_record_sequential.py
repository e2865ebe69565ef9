"""`harness record --sequential`: of each case no more trials than Wald's test needs, and none counted twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.reports.documents import schema_of
from harness.testing.project import FILES, Ran, ScratchProject

PYPROJECT = """
    [tool.harness]
    [[tool.harness.matrix]]
    set = "smoke"
    agents = ["example"]
    models = ["tiny"]

    [tool.harness.models.tiny]
    answered_by = "local"
    sha256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    server = "a test server 1"
    sampling = { temperature = 0.7, seed = 1, max_tokens = 64 }

    [tool.harness.models.greedy]
    answered_by = "local"
    sampling = { temperature = 0.0, seed = 1 }
    """
SMOKE = """
    format: 1
    about: One question
    world: yard
    cases:
      - id: weather
        question: How warm is it in Berlin?
        class: simple
        facts: {all: [7]}
    """
SEQUENTIAL = ("record", "--model", "tiny", "--sequential", "--p0", "0.5", "--p1", "0.95", "--trials", "8")
"""Three trials kept settle it for good, two broken ones for bad."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that stands in for a local model's."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> ScratchProject:
    """A project whose one model is local, and draws."""
    return ScratchProject(tmp_path, {**FILES, "pyproject.toml": PYPROJECT, "goldensets/smoke.yaml": SMOKE})


class Cache(BaseHTTPRequestHandler):
    """Answers every call with one stored response."""

    stored = json.dumps({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "tiny",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is 7 °C"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }).encode()  # fmt: skip

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.stored)))
        self.end_headers()
        self.wfile.write(self.stored)

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


@pytest.fixture
def cache() -> Iterator[str]:
    """A cache in the place of the model; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Cache) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/v1"
        running.shutdown()


def answering(server: ScriptedServer, project: ScratchProject, answers: Iterable[str], *words: str) -> Ran:
    """Run *words* while the server gives *answers*, one a trial; it must be asked for each of them and for no more."""
    steps = ", ".join(f"{{reply: {{text: '{answer}'}}}}" for answer in answers)
    session = server.open(parse_script(f"{{format: 1, steps: [{steps}]}}"))
    ran = project.harness(*words, "--base-url", session.openai_base_url)
    session.close()

    assert 0 == ran.exit_code, ran.stdout + ran.stderr
    return ran


def sampled(ran: Ran) -> dict[str, Any]:
    """What is told of the one case."""
    jsonschema.validate(ran.document, schema_of("record"))
    (case,) = ran.document["sequential"]["cases"]
    return {key: case[key] for key in ("decision", "passes", "samples", "recorded", "kept", "repeated", "saved_trials")}


def test_it_stops_as_soon_as_a_case_is_good(project: ScratchProject, server: ScriptedServer) -> None:
    """Three kept trials decide; the other five are not made, and what they would have taken is told."""
    ran = answering(server, project, ["7 °C", "It is 7 °C", "About 7 °C"], *SEQUENTIAL, "--json")

    assert {
        "decision": "good", "passes": 3, "samples": 3, "recorded": 3, "kept": 0, "repeated": 0, "saved_trials": 5,
    } == sampled(ran)  # fmt: skip
    assert (3, 5, None) == (
        ran.document["calls"],
        ran.document["sequential"]["cases"][0]["saved_calls"],
        ran.document["sequential"]["cases"][0]["saved_cost_usd"],
    )
    assert ["weather.0.yaml", "weather.1.yaml", "weather.2.yaml"] == sorted(
        path.name for path in project.path("cassettes/example/tiny/smoke").iterdir()
    )


def test_it_stops_as_soon_as_a_case_is_bad(project: ScratchProject, server: ScriptedServer) -> None:
    """Two broken trials decide, and a bad model is no failure of the recording; people read it in three lines."""
    ran = answering(server, project, ["8 °C", "It is 9 °C"], *SEQUENTIAL)
    told = ran.stdout.partition("SEQUENTIAL")[2].splitlines()

    assert [
        "  a case is good at 95% kept trials, bad at 50% (α 0.05, β 0.2)",
        "  bad        example × tiny smoke/weather: 0 of 2 samples kept, 2 recorded now, 8 at most",
    ] == told[:2]
    assert told[2].startswith("  saved      6 trials: about 6 model calls, ")


def test_no_decision_saves_nothing(project: ScratchProject, server: ScriptedServer) -> None:
    """Where the trials run out first, the case stays undecided."""
    words = [*SEQUENTIAL[:-1], "3", "--json"]
    ran = answering(server, project, ["7 °C", "It is 8 °C", "About 7 °C"], *words)

    assert {
        "decision": "undecided", "passes": 2, "samples": 3, "recorded": 3, "kept": 0, "repeated": 0, "saved_trials": 0,
    } == sampled(ran)  # fmt: skip


def test_a_recording_that_is_there_counts_once(project: ScratchProject, server: ScriptedServer) -> None:
    """What was recorded before is a sample by its digest, its copy is none, and neither is asked for again."""
    for trials in ("1", "2"):
        answering(server, project, ["7 °C"], "record", "--model", "tiny", "--trials", trials)
    first = answering(server, project, ["It is 7 °C", "About 7 °C"], *SEQUENTIAL, "--json")
    again = answering(server, project, [], *SEQUENTIAL, "--json")

    assert {
        "decision": "good", "passes": 3, "samples": 3, "recorded": 2, "kept": 2, "repeated": 1, "saved_trials": 4,
    } == sampled(first)  # fmt: skip
    assert {
        "decision": "good", "passes": 3, "samples": 3, "recorded": 0, "kept": 4, "repeated": 1, "saved_trials": 4,
    } == sampled(again)  # fmt: skip


def test_all_counts_nothing_that_was_there(project: ScratchProject, server: ScriptedServer) -> None:
    """`--mode all` asks the model of today; what an older one said is no sample of it."""
    answering(server, project, ["7 °C", "It is 7 °C"], "record", "--model", "tiny", "--trials", "2")
    ran = answering(server, project, ["8 °C", "It is 9 °C"], *SEQUENTIAL, "--mode", "all", "--json")

    assert ("bad", 2, 0) == tuple(sampled(ran)[key] for key in ("decision", "samples", "kept"))


def test_a_server_that_repeats_itself_is_asked_no_more(project: ScratchProject, cache: str) -> None:
    """The same answer to the byte is no new sample, and after three of them more would not be either."""
    ran = project.harness(*SEQUENTIAL, "--json", "--base-url", cache)

    assert {
        "decision": "undecided", "passes": 1, "samples": 1, "recorded": 4, "kept": 0, "repeated": 3, "saved_trials": 0,
    } == sampled(ran)  # fmt: skip
    because = ran.document["sequential"]["cases"][0]["because"]
    assert "3 recordings in a row repeat others byte for byte" == because


def test_a_dry_run_says_the_most(project: ScratchProject, server: ScriptedServer) -> None:
    """Before anything is asked, every trial that may be made is told, and nothing is decided."""
    ran = answering(server, project, [], *SEQUENTIAL, "--dry-run", "--json")

    assert (8, 0) == (len(ran.document["cassettes"]), ran.document["sequential"]["cases"][0]["recorded"])
    assert not project.path("cassettes").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "scripted", "--sequential", "--trials", "9"), "what `scripted` says was written by hand"),
        (
            ("--model", "tiny", "--sequential", "--trials", "1"),
            "planned trials of a case: 1; fewer than 3 decide nothing between the rates 0.8 and 0.95",
        ),
        (("--model", "greedy", "--sequential", "--trials", "9"), "`greedy` is asked at temperature 0"),
        (("--model", "tiny", "--p0", "0.5"), "--p0 and --p1 go with --sequential"),
        (("--model", "tiny", "--sequential", "--mode", "verify"), "--sequential does not go with --mode verify"),
        (("--model", "tiny", "--sequential", "--judge-only"), "--sequential does not go with --judge-only"),
        (("--model", "tiny", "--sequential", "--p0", "1"), "`1` is no rate between 0 and 1"),
        (("--model", "tiny", "--sequential", "--p0", "0.9", "--p1", "0.8"), "bad lies below good"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    project: ScratchProject, words: tuple[str, ...], message: str
) -> None:
    """Scripted models, too few trials, and flags that do not go together."""
    ran = project.harness("record", *words)

    assert (2, True) == (ran.exit_code, message in ran.stderr), ran.stderr
