"""One live question to each design, from the command line and over HTTP, with a scripted model behind real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.agents.load import load_agent
from harness.cli.main import main
from harness.models.scripted.script import load_script
from harness.models.scripted.server import ScriptedServer

ROOT = Path(__file__).parent.parent.parent
QUESTION = "What is the weather in Berlin?"
SCRIPTS = ROOT / "goldensets" / "scripts" / "shared"
DESIGNS = sorted(path.parent.name for path in SCRIPTS.glob("*/S1-en.yaml"))


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest) -> Any:
    """A design, the model that it asks by default, and a server that follows the design's script for the question."""
    name = request.param
    with ScriptedServer() as server:
        session = server.open(load_script(SCRIPTS / name / "S1-en.yaml"))
        yield name, load_agent(ROOT / "agents", name).default_model, session


def test_all_six_designs_are_asked():
    """Whichever design has a script for the question."""
    assert {"deep_think", "lean_react", "newsdesk", "plan_execute", "two_phase", "ultrathink"} <= set(DESIGNS)


def test_the_command_asks_it(design, monkeypatch, capsys):
    """The answer alone on stdout, once, whether it was streamed or not; the script is followed to its end."""
    name, model, session = design
    monkeypatch.chdir(ROOT)
    code = main(["run", "--agent", name, "--ask", QUESTION, "--model", model, "--base-url", session.openai_base_url])
    captured = capsys.readouterr()
    session.close()

    assert (0, 1) == (code, captured.out.count("7")), captured.err
    assert f"{name} × {model} (local): completed, {session.calls} model calls" in captured.err
    assert "get_weather" in captured.err


def test_the_server_asks_it(design, serve):
    """The trace comes as NDJSON and ends with the answer; what a design streams adds up to it."""
    name, model, session = design
    served = serve(ROOT, model=model, base_url=session.openai_base_url)
    lines = [json.loads(line) for line in served.ask(name, QUESTION, stream=True).text.splitlines()]
    session.close()

    (answer,) = [line["data"]["text"] for line in lines if line["type"] == "final_answer"]
    shown = "".join(line["data"]["text"] for line in lines if line["type"] == "llm_chunk" and _is_seen(line["data"]))
    assert "7" in answer
    assert shown in {"", answer}
    assert ("trial_finished", "completed") == (lines[-1]["type"], lines[-1]["data"]["status"])


def _is_seen(chunk: dict[str, Any]) -> bool:
    return bool(chunk.get("visible")) and chunk.get("channel", "text") == "text"
