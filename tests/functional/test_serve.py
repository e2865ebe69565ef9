"""`harness serve` from outside: a real server, real HTTP, a scripted model behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.config import load_config
from harness.errors import BadFileError, UsageError
from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.records.trace_file import decode_events
from harness.reports.documents import schema_of
from harness.serve.app import create_app
from harness.serve.gatekeeper import Rules
from harness.serve.host import AgentHost, Live
from harness.testing.project import ScratchProject

QUESTION = "How warm is it in Berlin?"
ASKED = """
format: 1
steps:
- expect: {last_role: user, contains: 'How warm is it in Berlin?'}
  reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
- expect: {tool_result: {name: get_weather, contains: "7"}}
  reply: {text: 'It is 7 °C in Berlin.'}
"""
FOLLOWED_UP = """
format: 1
steps:
- reply: {text: 'It is 7 °C in Berlin.'}
- expect: {n_messages: 4, contains: ['How warm is it in Berlin?', 'And tomorrow?']}
  reply: {text: Nobody knows.}
"""
REFUSING = """
format: 1
steps:
- reply: {status: 401, error: {message: no key}}
"""
ECHO = """
from harness.records.messages import Message
from harness.records.trace import FinalAnswer


def build(ctx):
    return Echo(ctx)


class Echo:
    def __init__(self, ctx):
        self.ctx = ctx

    async def run(self, question):
        reply = await self.ctx.models.chat([Message("system", "Answer."), *question.history, question.message])
        yield FinalAnswer(text=reply.text)
"""


ROUTES = """
from fastapi import APIRouter, Request

from harness.agents.hosting import HostedQuestion


def routes(host):
    router = APIRouter()

    @router.get("/echo")
    async def echo(request: Request):
        run = host.start(HostedQuestion(agent="echo", text="?", method="GET"))

        async def collected():
            return [event async for event in run]

        await host.unless_gone(request, collected(), run)
        return host.json({"said": run.trial.traces[-1].answer})

    return router
"""


JUDGED = ECHO.replace("def build", 'OPTIONS = {"judge": ("", "who answers")}\n\n\ndef build').replace(
    "question.message])", 'question.message], model=self.ctx.options["judge"])'
)


@pytest.fixture
def asked(serve, project: ScratchProject):
    """A function: script → a server whose model follows it."""
    project.write("agents/echo/agent.py", ECHO)
    with ScriptedServer() as scripted:

        def start(script: str, **how: Any):
            session = scripted.open(parse_script(script))
            return serve(project.folder, model="gpt-4.1-mini", base_url=session.openai_base_url, **how), session

        yield start


def events_of(body: str) -> list[Any]:
    """The events of a stream, read as a trace file is."""
    return list(decode_events(body.encode()))


def test_the_designs_are_listed(serve, root: Path):
    """Every design of this project, with its profiles and what can be set."""
    listed = serve(root).client.get("/api/agents").json()

    agents = {agent["name"]: agent for agent in listed["agents"]}
    assert ["reference", "seed_literal"] == agents["lean_react"]["profiles"]
    assert {"default": 20, "help": agents["lean_react"]["options"]["max_steps"]["help"]} == (
        agents["lean_react"]["options"]["max_steps"]
    )
    assert (None, []) == (listed["model"], listed["models"])
    assert "─▶" in agents["newsdesk"]["picture"]


def test_what_there_is_can_be_read_at_the_root(serve, project):
    """A person who opens the address in a browser learns what to ask for."""
    told = serve(project.folder).client.get("/api")

    assert "text/plain; charset=utf-8" == told.headers["content-type"]
    assert "POST   /api/agents/AGENT/ask " in told.text


def test_the_root_names_what_agents_bring_along(serve, root: Path):
    """The news desk's addresses are among the others."""
    lines = serve(root).client.get("/api").text.splitlines()

    assert [
        "POST /api/estagiario/start of newsdesk",
        "GET /api/estagiario/messages of newsdesk",
        "POST /api/estagiario/send of newsdesk",
        "POST /api/estagiario/stream of newsdesk",
        "GET /api/estagiario/stream of newsdesk",
    ] == [" ".join(line.split()) for line in lines if "/api/estagiario/" in line]


def test_the_scripted_model_is_not_served(project):
    """It answers golden cases only, so a server of it could answer nothing."""
    with pytest.raises(UsageError) as caught:
        AgentHost(load_config(project.folder), Live(model="scripted"))

    assert "the model `scripted` answers golden cases only" == caught.value.message


def test_a_question_is_answered_in_one_document(asked):
    """The answer, how the run ended, and what it took."""
    served, session = asked(ASKED)
    answered = served.ask("example", QUESTION)

    jsonschema.validate(answered.json(), schema_of("serve-answer"))
    assert {
        "agent": "example", "model": "gpt-4.1-mini", "provenance": "local", "status": "completed",
        "answer": "It is 7 °C in Berlin.", "ok": True, "because": "", "llm_calls": 2, "tool_calls": 1, "session": "",
        "tokens": answered.json()["tokens"],
    } == answered.json()  # fmt: skip
    assert "no-store" == answered.headers["cache-control"]
    session.close()


def test_a_stream_is_the_trace(asked):
    """The same question streamed: one event a line, in order, the last one that of the end."""
    served, session = asked(ASKED)
    with served.streaming("POST", "/api/agents/example/ask", json={"question": QUESTION, "stream": True}) as answer:
        events = events_of(answer.read().decode())

    assert "application/x-ndjson" == answer.headers["content-type"]
    assert "no" == answer.headers["x-accel-buffering"]
    assert list(range(len(events))) == [event.seq for event in events]
    assert ["trial_started", "llm_call", "llm_result", "tool_call", "tool_result"] == [e.type for e in events[:5]]
    assert ["final_answer", "trial_finished"] == [event.type for event in events[-2:]]
    session.close()


def test_a_session_remembers(asked):
    """A follow-up question reaches the model with what was said before."""
    served, session = asked(FOLLOWED_UP)
    name = served.client.post("/api/sessions").json()["session"]
    served.ask("echo", QUESTION, session=name)
    answered = served.ask("echo", "And tomorrow?", session=name).json()

    assert ("Nobody knows.", name) == (answered["answer"], answered["session"])
    assert [
        {"role": "user", "text": QUESTION},
        {"role": "assistant", "text": "It is 7 °C in Berlin."},
        {"role": "user", "text": "And tomorrow?"},
        {"role": "assistant", "text": "Nobody knows."},
    ] == served.client.get("/api/sessions/current", headers={"x-session": name}).json()["turns"]
    session.close()


def test_a_run_that_fails_says_so_in_the_answer(asked):
    """An agent that does not survive its model's error: the answer is there, and it is not ok."""
    served, _ = asked(REFUSING)
    answered = served.ask("echo", QUESTION)

    document = answered.json()
    assert (200, False, "failed", "") == (answered.status_code, document["ok"], document["status"], document["answer"])
    assert document["because"].startswith("agent_crash: ModelError: ")
    assert "Traceback" not in answered.text


def test_an_option_names_no_model_that_is_not_served(asked, project: ScratchProject):
    """Whoever may ask is not let at every model that the server's keys would pay for."""
    project.write("agents/judged/agent.py", JUDGED)
    served, _ = asked(FOLLOWED_UP)

    told = served.ask("judged", "?", options={"judge": "claude-opus-5-5"}).json()

    assert ("failed", "") == (told["status"], told["answer"])
    assert "the model `claude-opus-5-5` is not served here" in told["because"]


def test_a_run_that_fails_says_so_in_its_stream(asked):
    """The 200 is out already, so the last line tells."""
    served, _ = asked(REFUSING)
    events = events_of(served.ask("echo", QUESTION, stream=True).text)

    assert ["warning", "trial_finished"] == [event.type for event in events[-2:]]
    assert "failed" == events[-1].data.status


def test_a_recording_is_played_without_a_model(serve, project):
    """What was recorded comes back at once, as a stream or as one document."""
    served = serve(project.folder)
    (item,) = served.client.get("/api/recordings").json()["recordings"]
    played = events_of(served.client.post(item["url"]).text)
    document = served.client.post(f"{item['url']}?stream=0").json()

    assert ("weather", "scripted", QUESTION) == (item["case"], item["provenance"], item["question"])
    assert ["final_answer", "trial_finished"] == [event.type for event in played[-2:]]
    assert (True, "It is 7 °C in Berlin.", "scripted") == (document["ok"], document["answer"], document["provenance"])


def test_a_recording_that_the_agent_left_behind_ends_with_the_miss(serve, project):
    """Today's agent asks something else: the stream's last line is an error with the code of the miss."""
    project.replace("agents/example/prompts.py", "careful", "careless")
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]
    *_, last = events_of(served.client.post(url).text)

    assert ("error", "cassette-miss") == (last.type, last.data.kind)


def test_this_project_s_recordings_can_be_played(serve, root: Path):
    """A committed cassette of the lean design, by the address that the list gives."""
    served = serve(root)
    listed = served.client.get("/api/recordings").json()["recordings"]
    url = next(item["url"] for item in listed if (item["agent"], item["case"]) == ("lean_react", "S1-en"))

    assert 'type":"final_answer"' in served.client.post(url).text


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/api/agents/nobody/ask", {"question": "?"}, 404, "no-such-agent"),
        ("/api/agents/%2E%2E/ask", {"question": "?"}, 404, "no-such-agent"),
        ("/api/agents/..@x/ask", {"question": "?"}, 404, "no-such-agent"),
        ("/api/agents/example@loud/ask", {"question": "?"}, 404, "no-such-profile"),
        ("/api/agents/example/ask", {"question": " "}, 400, "bad-request"),
        ("/api/agents/example/ask", {"question": "x" * 20_001}, 413, "question-too-long"),
        ("/api/agents/example/ask", {"question": 1}, 400, "bad-request"),
        ("/api/agents/example/ask", {"question": "?", "lang": "x" * 201}, 400, "bad-request"),
        ("/api/agents/example/ask", {"question": "?", "modle": "m"}, 400, "bad-request"),
        ("/api/agents/example/ask", {"question": "?", "model": "gpt-5"}, 400, "no-such-model"),
        ("/api/agents/example/ask", {"question": "?", "options": {"loud": True}}, 400, "no-such-option"),
        ("/api/agents/example/ask", {"question": "?", "session": "guessed"}, 404, "no-such-session"),
        ("/api/agents/example/ask", {"question": "?", "world": "mars"}, 400, "unknown-world"),
        ("/api/recordings/smoke/example/scripted/other/0", {}, 404, "no-such-recording"),
        ("/api/nothing", {}, 404, "no-such-route"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, project, path, body, status, code):
    """A code, a sentence and, where there is one, a hint; nothing is run, and no name becomes a path."""
    project.write("agent.py", "raise SystemExit('loaded')\n")
    served, _ = asked(ASKED)
    refused = served.client.post(path, json=body)

    assert (status, code, False) == (refused.status_code, refused.json()["error"]["code"], refused.json()["ok"])


@pytest.mark.parametrize(
    ("content", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "bad-request"),
        (b"\xff", "application/json", 400, "bad-request"),
        (b"[" * 100_000, "application/json", 400, "bad-request"),
        (b'{"question": "\\ud800"}', "application/json", 400, "bad-request"),
        (b'{"question": "?"}', "text/plain", 415, "not-json"),
        (b" " * 300_000, "application/json", 413, "body-too-large"),
    ],
)
def test_a_body_that_is_no_question_is_refused(asked, content, content_type, status, code):
    """Whatever bytes come, the answer is a refusal in JSON."""
    served, _ = asked(ASKED)
    refused = served.client.post("/api/agents/example/ask", content=content, headers={"content-type": content_type})

    assert (status, code) == (refused.status_code, refused.json()["error"]["code"])


def test_without_a_model_only_recordings_are_played(serve, project):
    """A live question is answered with how to start the server."""
    refused = serve(project.folder).ask("example", QUESTION)

    assert (409, "no-model") == (refused.status_code, refused.json()["error"]["code"])
    assert "harness serve --model M" in refused.json()["error"]["hint"]


def test_secrets_of_the_environment_do_not_get_out(asked, monkeypatch):
    """An answer that repeats a key of the server's environment is scrubbed, streamed or not."""
    monkeypatch.setenv("EXAMPLE_API_KEY", "very-secret-value")
    script = "format: 1\nsteps:\n- reply: {text: 'The key is very-secret-value.'}\n"
    served, _ = asked(script)
    whole = served.ask("echo", QUESTION)
    served, _ = asked(script)
    streamed = served.ask("echo", QUESTION, stream=True)

    assert "The key is <secret:EXAMPLE_API_KEY>." == json.loads(whole.text)["answer"]
    assert "very-secret-value" not in streamed.text


def test_an_agent_that_does_not_load_is_told(serve, project):
    """The others are served; whoever asks for it learns that it is the server's fault."""
    project.write("agents/broken/agent.py", "import nothing_of_that_name\n")
    served = serve(project.folder)
    listed = served.client.get("/api/agents").json()
    refused = served.ask("broken", QUESTION)

    assert ["example"] == [agent["name"] for agent in listed["agents"]]
    assert [("broken", "bad-agent")] == [(each["name"], each["code"]) for each in listed["broken"]]
    assert (500, "bad-agent") == (refused.status_code, refused.json()["error"]["code"])


@pytest.mark.parametrize("source", ["import nothing_of_that_name\n", "routes = 1\n", "def routes(host):\n    pass\n"])
def test_routes_of_an_agent_that_do_not_load_keep_the_server_from_starting(project, source):
    """A server that lacks addresses without a word would be found out by its users."""
    project.write("agents/example/app.py", source)
    with pytest.raises(BadFileError) as refused:
        create_app(AgentHost(load_config(project.folder), Live()), Rules())

    assert ("bad-agent", True) == (refused.value.code, "app.py" in refused.value.at)


def test_routes_of_an_agent_are_served(asked, project):
    """Beside the agent's own folder nothing is needed: its routes start runs and tell their answers."""
    project.write("agents/echo/app.py", ROUTES)
    served, _ = asked("format: 1\nsteps:\n- reply: {text: Here.}\n")

    assert {"said": "Here."} == served.client.get("/echo").json()


def test_a_name_with_a_slash_is_played_too(serve, project):
    """Names are quoted in addresses, and read back from them."""
    project.replace("pyproject.toml", 'agents = ["example"]', 'agents = ["example"]\nmodels = ["org/small"]')
    path = project.path("cassettes/example/org%2Fsmall/smoke/weather.0.yaml")
    path.parent.mkdir(parents=True)
    path.write_bytes(project.path("cassettes/example/scripted/smoke/weather.0.yaml").read_bytes())
    served = serve(project.folder)
    (item,) = served.client.get("/api/recordings").json()["recordings"]
    played = served.client.post(f"{item['url']}?stream=0").json()

    assert ("/api/recordings/smoke/example/org%2Fsmall/weather/0", "org/small") == (item["url"], item["model"])
    assert "org/small" == played["model"]
