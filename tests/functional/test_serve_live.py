"""What goes on while somebody watches: a run that is stopped, a trial told at its own speed, a run folder that grows."""

from __future__ import annotations

import contextvars
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.records.finding import Finding
from harness.records.run import CaseVerdict, Cell, RunRecord, Totals
from harness.records.trace import FinalAnswer
from harness.reports.runs import list_runs
from harness.reports.store import RunStore
from harness.serve import connections
from harness.serve.server import MOST_CONNECTIONS
from harness.testing.builders import make_trace

SCRIPT = """
format: 1
steps:
- reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
- expect: {tool_result: {name: get_weather, contains: "7"}}
  reply: {text: 'It is 7 °C in Berlin.'}
"""
TOOLS = '''
"""A tool that waits for ever, and tells by a file that it was cancelled."""

import asyncio
from pathlib import Path

from harness.records.tool import tool

HERE = Path(__file__).parents[3]


def build(world):
    @tool(effect="read")
    async def get_weather(city: str) -> dict:
        """Wait for ever."""
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            (HERE / "cancelled").touch()
            raise
        return {"temperature_c": 7}

    return [get_weather]
'''
HOSTILE = '<img src=x onerror=pwned()>\x1b[31m\u202e"\u2028'


@pytest.fixture
def waiting(serve, project) -> Iterator[Any]:
    """A server whose model calls a tool that does not end."""
    project.write("goldensets/worlds/yard/tools.py", TOOLS)
    with ScriptedServer() as scripted:
        address = scripted.open(parse_script(SCRIPT)).openai_base_url
        yield serve(project.folder, model="gpt-4.1-mini", base_url=address, most_runs=1)


def test_stopping_ends_the_run(waiting, project):
    """The tool that was under way is cancelled, the stream says so as its last word, and the worker is free again."""
    body = {"question": "How warm is it in Berlin?", "stream": True}
    with waiting.streaming("POST", "/api/agents/example/ask", json=body) as answer:
        lines = answer.iter_lines()
        while json.loads(next(lines))["type"] != "tool_call":
            pass
        stopped = waiting.client.post(f"/api/trials/{answer.headers['x-trial']}/stop")
        *_, last = (json.loads(line) for line in lines)

    assert (200, {"ended": True}) == (stopped.status_code, stopped.json())
    assert ("error", "run-cancelled") == (last["type"], last["data"]["kind"])
    assert waiting.appears(project.path("cancelled"))
    assert 503 != waiting.ask("example", "?").status_code


def test_a_trial_that_is_not_under_way_cannot_be_stopped(serve, project):
    """A name that was guessed, or one that ended by itself."""
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]
    ended = served.client.post(url).headers["x-trial"]
    refused = [served.client.post(f"/api/trials/{name}/stop") for name in ("guessed", ended)]

    assert [(404, "no-such-trial")] * 2 == [(each.status_code, each.json()["error"]["code"]) for each in refused]


def test_a_recording_is_told_at_its_own_speed(serve, project):
    """Each line waits for its virtual time; slowed down twenty times, the 50 ms of the tool alone last a second."""
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]
    begun = monotonic()
    with served.streaming("POST", f"{url}?speed=0.05") as answer:
        read = ((json.loads(line), monotonic() - begun) for line in answer.iter_lines())
        arrived = [(event["type"], event["ts"], after) for event, after in read]

    assert "final_answer" in [type_ for type_, _, _ in arrived]
    assert arrived[-1][1] >= 50
    assert [] == [each for each in arrived if each[2] * 1000 < 0.9 * each[1] / 0.05]


def test_every_speed_tells_the_same(serve, project):
    """Only the time that lies between the lines is another."""
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]

    def told(speed: str) -> list[Any]:
        lines = [json.loads(line) for line in served.client.post(f"{url}?speed={speed}").text.splitlines()]
        return [{key: value for key, value in line.items() if key != "trial_id"} for line in lines]

    assert [told("instant")] * 3 == [told(speed) for speed in ("recorded", "1", "1000")]


def test_a_speed_that_is_none_is_refused(serve, project):
    """Before anything is played."""
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]
    for speed in ("fast", "0", "-1", "nan", "inf", "1001", ""):
        refused = served.client.post(f"{url}?speed={speed}")

        assert (400, "bad-request") == (refused.status_code, refused.json()["error"]["code"])
        assert (
            "`speed` is neither `recorded` nor `instant` nor a number from 0.01 to 1000"
            == (refused.json()["error"]["message"])
        )


def test_lines_tell_stages_and_what_was_spent(serve, project):
    """Beside the events themselves: which of the four stages begins, and the tokens of all replies so far."""
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]
    lines = [json.loads(line) for line in served.client.post(url).text.splitlines()]
    spent = [line["spent"] for line in lines if "spent" in line]

    assert ["understanding", "planning", "querying", "synthesising"] == [
        line["stage"] for line in lines if "stage" in line
    ]
    assert [1, 2] == [each["llm_calls"] for each in spent]
    assert spent[0]["input"] < spent[1]["input"]
    assert [None, None] == [each["cost_usd"] for each in spent]


def verdict_of(case: str, **fields: Any) -> CaseVerdict:
    """A verdict on one trial of the example."""
    return CaseVerdict(**{
        "agent": "example", "profile": "reference", "model": "scripted", "provenance": "scripted", "set": "smoke",
        "case": case, "trial": 0, "verdict": "kept", **fields,
    })  # fmt: skip


@pytest.fixture
def growing(project) -> Iterator[RunStore]:
    """A run that has begun and has no verdict yet; two trials are planned."""
    runs = project.path("reports/runs")
    with RunStore.create(runs, run="20261122-050000000-aaaa", manifest={"trials": 2}) as store:
        yield store


def finish(store: RunStore, **totals: int) -> None:
    """Write the end of a run."""
    store.finish(RunRecord(run=store.run, results=(), totals=Totals(**totals), exit_code=0, manifest={"trials": 2}))


def test_a_growing_run_is_followed(serve, project, growing):
    """Each verdict is read while the next trial still runs; the end is told, and ends the stream."""
    served = serve(project.folder)
    with served.streaming("GET", f"/api/runs/{growing.run}") as answer:
        lines = (json.loads(line) for line in answer.iter_lines())
        begun = next(lines)
        growing.append(verdict_of("one"))
        first = next(lines)
        growing.append(verdict_of("two", verdict="broken", findings=(BROKEN, KEPT)))
        second = next(lines)
        finish(growing, trials=2, kept=1, broken=1)
        rest = list(lines)

    assert {"type": "run", "run": growing.run, "planned": 2} == begun
    assert ("verdict", "one", "kept", []) == tuple(first[key] for key in ("type", "case", "verdict", "broken"))
    assert ("two", [("facts", "no 7", [3])]) == (
        second["case"], [(each["contract"], each["because"], each["witness"]) for each in second["broken"]],
    )  # fmt: skip
    assert [("finished", 0, 2)] == [(each["type"], each["exit_code"], each["totals"]["trials"]) for each in rest]


BROKEN = Finding(contract="facts", state="broken", because="no 7", witness=(3,))
KEPT = Finding(contract="tools", state="kept")


def test_half_a_line_waits_for_its_rest(serve, project, growing):
    """A verdict that is only partly written is no verdict yet; a whole line that is none is told by its number."""
    results = growing.folder / "results.jsonl"
    line = growing.append(verdict_of("one")) and results.read_bytes()
    with served_lines(serve(project.folder), growing.run) as lines:
        assert ["run", "verdict"] == [next(lines)["type"] for _ in range(2)]
        with results.open("ab") as file:
            file.write(b'{"half": \xff}\n' + line[:20])
            file.flush()
            unreadable = next(lines)
            file.write(line[20:])
            file.flush()
            again = next(lines)
        finish(growing)

        assert ({"type": "unreadable", "line": 2}, "one") == (unreadable, again["case"])


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Closes what a test opened."""
    with ExitStack() as opened:
        yield opened


@contextmanager
def served_lines(served: Any, run: str) -> Iterator[Iterator[dict[str, Any]]]:
    """The lines of a run that is followed, read as they come."""
    with served.streaming("GET", f"/api/runs/{run}") as answer:
        yield (json.loads(line) for line in answer.iter_lines())


def test_runs_are_listed_newest_first(serve, project, growing):
    """How far each is, and how it ended; a folder that is damaged is named and holds up nothing."""
    growing.append(verdict_of("one"))
    with RunStore.create(project.path("reports/runs"), run="20261122-060000000-bbbb", manifest={}) as other:
        finish(other, trials=1, kept=1)
    broken = project.path("reports/runs/20261122-070000000-cccc")
    broken.mkdir()
    (broken / "results.jsonl").write_bytes(b"\xff")
    (broken / "run.json").write_bytes(b"{")
    listed = serve(project.folder).client.get("/api/runs").json()["runs"]

    assert [
        ("20261122-070000000-cccc", "unreadable", 0, None),
        ("20261122-060000000-bbbb", "finished", 1, 2),
        ("20261122-050000000-aaaa", "unfinished", 1, 2),
    ] == [(each["run"], each["state"], each["done"], each["planned"]) for each in listed[:3]]


def test_a_real_run_can_be_followed_to_its_end(serve, project):
    """`harness run` says at its begin how many trials there will be, and each trial's trace can be opened."""
    served = serve(project.folder)
    assert 0 == project.harness("run").exit_code
    (run,) = list_runs(project.path("reports/runs"))
    lines = [json.loads(line) for line in served.client.get(f"/api/runs/{run}").text.splitlines()]
    place = "/".join(str(lines[1][key]) for key in ("set", "agent", "model", "case", "trial"))
    events = [json.loads(line) for line in served.client.get(f"/api/runs/{run}/traces/{place}").text.splitlines()]

    assert [("run", 1), ("verdict", None), ("finished", None)] == [(e["type"], e.get("planned")) for e in lines]
    assert ["trial_started", "trial_finished"] == [events[0]["type"], events[-1]["type"]]
    assert "It is 7 °C in Berlin." == next(e for e in events if e["type"] == "final_answer")["data"]["text"]


def test_hostile_names_and_texts_are_data(serve, project, growing):
    """Whatever a verdict or an answer says comes out as JSON, one line for every reader."""
    cell = Cell("example", "scripted", "smoke", HOSTILE)
    growing.append(verdict_of(HOSTILE, because=HOSTILE), [make_trace(FinalAnswer(text=HOSTILE))])
    finish(growing)
    served = serve(project.folder)
    told = served.client.get(f"/api/runs/{growing.run}")
    place = "/".join(quote(str(part), safe="") for part in (cell.set, cell.agent, cell.model, cell.case, cell.trial))
    trace = served.client.get(f"/api/runs/{growing.run}/traces/{place}")

    assert "application/x-ndjson" == told.headers["content-type"]
    assert 3 == len(told.text.splitlines())
    assert (HOSTILE, HOSTILE) == tuple(json.loads(told.text.splitlines()[1])[key] for key in ("case", "because"))
    assert HOSTILE in [json.loads(line)["data"].get("text") for line in trace.text.splitlines()]


def test_a_run_tells_no_secret(serve, project, growing, monkeypatch):
    """A key of the server's environment that got into a run folder does not get out of it."""
    monkeypatch.setenv("EXAMPLE_API_KEY", "very-secret-value")
    growing.append(verdict_of("one", because="the key is very-secret-value"))
    finish(growing)

    assert "very-secret-value" not in serve(project.folder).client.get(f"/api/runs/{growing.run}").text


def test_no_name_becomes_a_path(serve, project, growing):
    """Runs are looked up by their whole name, and traces by a cell of it."""
    served = serve(project.folder)
    for path, code in NO_PATHS:
        with served.streaming("GET", f"/api/runs/{path}") as refused:
            assert (path, 404) == (path, refused.status_code)
            assert code == json.loads(refused.read())["error"]["code"]


NO_PATHS = [
    ("nowhere", "no-such-run"),
    ("20261122", "no-such-run"),
    ("..%2Fruns", "no-such-route"),
    ("%2e", "no-such-run"),
    ("20261122-050000000-aaaa/traces/smoke/example/scripted/other/0", "no-such-trace"),
    ("20261122-050000000-aaaa/traces/..%2F..%2F..%2Fetc/x/y/passwd/0", "no-such-trace"),
    ("20261122-050000000-aaaa/traces/smoke/example/scripted/x%00y/0", "no-such-trace"),
    ("nowhere/traces/smoke/example/scripted/weather/0", "no-such-run"),
]


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_silent_connections_keep_nobody_out(serve, project, stack, sent):
    """As many as the server takes, none with a whole request: others are served at once."""
    served = serve(project.folder)
    where = urlsplit(served.url)
    for _ in range(MOST_CONNECTIONS + 20):
        one = stack.enter_context(socket.create_connection((where.hostname, where.port)))
        one.sendall(sent)
    begun = monotonic()

    assert 200 == served.client.get("/api/agents").status_code
    assert monotonic() - begun < connections.HEADER_SECONDS


def test_a_connection_that_says_nothing_is_closed(serve, project, stack, monkeypatch):
    """After its time, whether it began a first request or a second one."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.5)
    where = urlsplit(serve(project.folder).url)
    silent = stack.enter_context(socket.create_connection((where.hostname, where.port)))
    again = stack.enter_context(socket.create_connection((where.hostname, where.port)))
    again.sendall(f"GET /api/agents HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
    while b'"broken"' not in again.recv(65536):
        pass
    again.sendall(b"GET /api/agents HT")
    for one in (silent, again):
        one.settimeout(20)

        assert b"" == one.recv(65536)


def test_a_request_that_takes_its_time_is_not_closed(waiting, monkeypatch):
    """Only headers have to hurry: an answer may take as long as it takes."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    with waiting.streaming("POST", "/api/agents/example/ask", json={"question": "?", "stream": True}) as answer:
        lines = answer.iter_lines()
        while json.loads(next(lines))["type"] != "tool_call":
            pass
        sleep(1.0)
        waiting.client.post(f"/api/trials/{answer.headers['x-trial']}/stop")
        *_, last = (json.loads(line) for line in lines)

    assert "run-cancelled" == last["data"]["kind"]


def test_many_may_follow_at_once(serve, project, growing):
    """Each reader of a run gets all of it."""
    served = serve(project.folder)
    told: list[int] = []

    def follow() -> None:
        with served_lines(served, growing.run) as lines:
            told.append(sum(1 for _ in lines))

    threads = [threading.Thread(target=contextvars.copy_context().run, args=(follow,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    growing.append(verdict_of("one"))
    growing.append(verdict_of("two"))
    finish(growing, trials=2)
    for thread in threads:
        thread.join(60)

    assert [4] * 8 == told
