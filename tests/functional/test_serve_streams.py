"""Streams while they come: flushed line by line, and ended with everything behind them when the client leaves."""

from __future__ import annotations

import contextvars
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.testing.project import ScratchProject

QUESTION = "How warm is it in Berlin?"
ASKED = """
format: 1
steps:
- reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
- expect: {tool_result: {name: get_weather, contains: "7"}}
  reply: {text: 'It is 7 °C in Berlin.'}
"""
SLOW = """
format: 1
steps:
- reply: {text: At last., delay_ms: 60000}
- reply: {text: Quick.}
"""
TOOLS = '''
"""One tool that lasts until it is let go, and tells how it ended by files in the project's folder."""

import asyncio
from pathlib import Path
from time import monotonic, sleep

from harness.records.tool import tool

HERE = Path(__file__).parents[3]


def build(world):
    @tool(effect="read")
    def blocking(city: str) -> dict:
        """Hold the thread until the file `go` is there."""
        end = monotonic() + 45
        while not (HERE / "go").exists():
            if monotonic() > end:
                raise RuntimeError("nobody saw the call")
            sleep(0.01)
        return {"temperature_c": 7}

    @tool(effect="read")
    async def waiting(city: str) -> dict:
        """Wait for ever."""
        (HERE / "started").touch()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            (HERE / "cancelled").touch()
            raise
        return {"temperature_c": 7}

    return [CHOSEN]
'''


@pytest.fixture
def sessions() -> list[Any]:
    """What the model's server knows of each script that was started."""
    return []


@pytest.fixture
def started(serve, project: ScratchProject, sessions: list[Any]):
    """A function: the tool that `get_weather` is, a script, and how to serve → the server."""
    with ScriptedServer() as scripted:

        def start(tool: str, script: str = ASKED, **how: Any):
            source = (
                TOOLS.replace("CHOSEN", tool)
                .replace(f"def {tool}(", "def get_weather(")
                .replace(f"[{tool}]", "[get_weather]")
            )
            project.write("goldensets/worlds/yard/tools.py", source)
            session = scripted.open(parse_script(script))
            sessions.append(session)
            return serve(project.folder, model="gpt-4.1-mini", base_url=session.openai_base_url, **how)

        yield start


def read_until(lines: Iterator[str], type_: str) -> None:
    """Read *lines* up to the first of a type; the answer stays open as long as *lines* is kept."""
    while json.loads(next(lines))["type"] != type_:
        pass


def in_background(work: Callable[[], Any]) -> threading.Thread:
    """Do *work* in a thread, with this test's context."""
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,))
    thread.start()
    return thread


def eventually(true: Callable[[], bool]) -> bool:
    """Whether *true* is so within a while, well below the delay of the slow model."""
    end = monotonic() + 40
    while monotonic() < end:
        if true():
            return True
        sleep(0.02)
    return False


def test_the_call_is_seen_before_its_tool_has_ended(started, project):
    """A tool that holds its thread until the client has read the line that announces it."""
    served = started("blocking")
    body = {"question": QUESTION, "stream": True}
    with served.streaming("POST", "/api/agents/example/ask", json=body) as answer:
        lines = answer.iter_lines()
        seen = [json.loads(next(lines))["type"] for _ in range(4)]
        project.path("go").touch()
        rest = [json.loads(line)["type"] for line in lines]

    assert ["trial_started", "llm_call", "llm_result", "tool_call"] == seen
    assert ["tool_result", "llm_call", "llm_result", "final_answer", "trial_finished"] == rest


def test_a_blocked_tool_holds_up_nobody_else(started, project):
    """While one run's thread is held, the server answers others, the same agent's questions included."""
    served = started("blocking", ASKED.replace("steps:", "steps:\n- reply: {text: Quick.}"))
    project.path("go").touch()
    assert "Quick." == served.ask("example", QUESTION).json()["answer"]
    project.path("go").unlink()
    with served.streaming("POST", "/api/agents/example/ask", json={"question": QUESTION, "stream": True}) as answer:
        lines = answer.iter_lines()
        read_until(lines, "tool_call")
        listed = served.client.get("/api/agents").status_code
        recordings = served.client.get("/api/recordings").json()["recordings"]
        project.path("go").touch()
        list(lines)

    assert (200, 1) == (listed, len(recordings))


def test_a_run_ends_when_its_reader_leaves(started, project):
    """The agent is cancelled where it waits, here inside a tool."""
    served = started("waiting")
    with served.streaming("POST", "/api/agents/example/ask", json={"question": QUESTION, "stream": True}) as answer:
        read_until(answer.iter_lines(), "tool_call")

    assert served.appears(project.path("cancelled"))


def test_a_question_ends_when_nobody_waits_for_its_answer(started, project):
    """The same without a stream: the connection is closed before the one document is there."""
    served = started("waiting")
    body = json.dumps({"question": QUESTION}).encode()
    address = urlsplit(served.url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        head = f"POST /api/agents/example/ask HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert served.appears(project.path("started"))

    assert served.appears(project.path("cancelled"))


def test_a_run_ends_while_its_model_is_silent(started, sessions):
    """Nothing is being sent, and still the server notices that the client left: the only worker is free again."""
    served = started("waiting", SLOW, most_runs=1)
    with served.streaming("POST", "/api/agents/example/ask", json={"question": QUESTION, "stream": True}) as answer:
        lines = answer.iter_lines()
        read_until(lines, "llm_call")
        assert eventually(lambda: sessions[0].calls == 1)

    assert eventually(lambda: served.ask("example", QUESTION).json().get("answer") == "Quick.")


def test_no_more_runs_at_once_than_allowed(started, project):
    """The run too many is refused with when to come again, and has its turn afterwards."""
    served = started("blocking", ASKED + "- reply: {text: Now.}\n", most_runs=1)
    with served.streaming("POST", "/api/agents/example/ask", json={"question": QUESTION, "stream": True}) as answer:
        lines = answer.iter_lines()
        read_until(lines, "tool_call")
        refused = served.ask("example", QUESTION)
        project.path("go").touch()
        list(lines)
    taken = served.ask("example", QUESTION)

    assert (503, "too-many-runs", "2") == (
        refused.status_code, refused.json()["error"]["code"], refused.headers["retry-after"],
    )  # fmt: skip
    assert "Now." == taken.json()["answer"]


def test_one_question_at_a_time_in_a_session(started, project):
    """A second question in the same conversation is refused until the first has its answer."""
    served = started("blocking")
    name = served.client.post("/api/sessions").json()["session"]
    body = {"question": QUESTION, "stream": True, "session": name}
    with served.streaming("POST", "/api/agents/example/ask", json=body) as answer:
        lines = answer.iter_lines()
        read_until(lines, "tool_call")
        refused = served.ask("example", QUESTION, session=name)
        project.path("go").touch()
        list(lines)

    assert (409, "session-busy") == (refused.status_code, refused.json()["error"]["code"])
    assert 2 == len(served.client.get("/api/sessions/current", headers={"x-session": name}).json()["turns"])


def test_a_session_whose_reader_left_goes_on(started, sessions):
    """The question that was given up is forgotten; the next one is taken."""
    served = started("waiting", SLOW)
    name = served.client.post("/api/sessions").json()["session"]
    body = {"question": "Given up?", "stream": True, "session": name}
    with served.streaming("POST", "/api/agents/example/ask", json=body) as answer:
        lines = answer.iter_lines()
        read_until(lines, "llm_call")
        assert eventually(lambda: sessions[0].calls == 1)

    assert eventually(lambda: served.ask("example", QUESTION, session=name).json().get("answer") == "Quick.")
    assert (
        QUESTION == served.client.get("/api/sessions/current", headers={"x-session": name}).json()["turns"][0]["text"]
    )


def test_runs_at_once_do_not_meet(started, project):
    """Two streams that interleave: each is a whole trace, and each has its own answer."""
    served = started("blocking", ASKED.replace("steps:", "steps:\n- reply: {text: First., delay_ms: 400}"))
    project.path("go").touch()
    answers: list[str] = []
    thread = in_background(lambda: answers.append(served.ask("example", QUESTION).json()["answer"]))
    answers.append(served.ask("example", QUESTION).json()["answer"])
    thread.join(60)

    assert ["First.", "It is 7 °C in Berlin."] == sorted(answers)


def test_a_server_that_stops_ends_its_runs(started, project):
    """Stopping does not wait for an agent that waits for ever."""
    served = started("waiting")
    seen = threading.Event()

    def read() -> None:
        body = {"question": QUESTION, "stream": True}
        with (
            suppress(httpx.HTTPError),
            served.streaming("POST", "/api/agents/example/ask", json=body) as answer,
        ):
            for line in answer.iter_lines():
                if json.loads(line)["type"] == "tool_call":
                    seen.set()

    thread = in_background(read)
    assert seen.wait(60)
    served.stop()
    thread.join(60)

    assert project.path("cancelled").exists()


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "claude-sonnet-4-5"])
def test_streams_of_a_model_at_once_do_not_break_each_other(serve, root, model):
    """Each is answered by its first call, also where the client library has one client for all of them."""
    steps = "".join(f"- reply: {{text: Answer {number}., delay_ms: 300}}\n" for number in range(3))
    with ScriptedServer() as scripted:
        address = scripted.open(parse_script(f"format: 1\nsteps:\n{steps}")).openai_base_url
        served = serve(root, model=model, base_url=address)
        answers: list[Any] = []
        threads = [in_background(lambda: answers.append(served.ask("ultrathink", QUESTION).json())) for _ in range(3)]
        for thread in threads:
            thread.join(60)

    assert ["Answer 0.", "Answer 1.", "Answer 2."] == sorted(answer["answer"] for answer in answers)
    assert [1, 1, 1] == [answer["llm_calls"] for answer in answers]


def test_the_server_s_options_hold_unless_the_question_says_otherwise(serve, root):
    """What `harness serve --ultrathink` sets stands in the run's configuration."""
    steps = "- reply: {text: One.}\n- reply: {text: Two.}\n"
    with ScriptedServer() as scripted:
        address = scripted.open(parse_script(f"format: 1\nsteps:\n{steps}")).openai_base_url
        options = {"ultrathink": {"ultrathink": True, "ultrathink_budget": 2048}}
        served = serve(root, model="gpt-4.1-mini", base_url=address, options=options)
        first, second = (
            json.loads(served.ask("ultrathink", QUESTION, stream=True, options=own).text.splitlines()[0])["data"]
            for own in ({}, {"ultrathink_budget": 4096})
        )

    assert (True, 2048) == (first["config"]["ultrathink"], first["config"]["ultrathink_budget"])
    assert (True, 4096) == (second["config"]["ultrathink"], second["config"]["ultrathink_budget"])
