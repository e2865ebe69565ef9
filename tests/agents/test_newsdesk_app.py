"""The news desk's own addresses: a conversation, a stream of steps, and the switch between its two ways to answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer
from harness.testing.project import ScratchProject

COUNT = "Quantas notícias irrelevantes temos hoje?"
CHANGE = "Mude a prioridade do cluster 120 para P2."
ANSWER = "Temos hoje **8** notícias irrelevantes."


def action(name: str, **given: Any) -> str:
    """A reply of the model: one action."""
    return json.dumps({"thought": "Vou ver.", "action": name, "action_input": given}, ensure_ascii=False)


def final(text: str) -> str:
    """A reply of the model: the answer."""
    return json.dumps({"thought": "Sei.", "action": "Final Answer", "action_input": text}, ensure_ascii=False)


def script(*replies: str) -> str:
    """A script that says *replies*, one after the other."""
    return json.dumps({"format": 1, "steps": [{"reply": {"text": text}} for text in replies]}, ensure_ascii=False)


COUNTED = script(action("count_clusters", prioridade="IRRELEVANTE"), final(ANSWER))
CHANGED = script(
    action("update_cluster_priority", cluster_id=120, nova_prioridade="P2_ESTRATEGICO"),
    final("A prioridade do cluster 120 agora é P2."),
)

SLOW_TOOLS = """
from pathlib import Path
from time import monotonic, sleep

from harness.records.tool import tool

GO = Path(__file__).parents[3] / "go"


def build(world):
    @tool(effect="read")
    def count_clusters(prioridade: str) -> int:
        \"\"\"Count when the file `go` is there.\"\"\"
        end = monotonic() + 45
        while not GO.exists():
            if monotonic() > end:
                raise RuntimeError("nobody saw the action")
            sleep(0.01)
        return 8

    return [count_clusters]
"""


@pytest.fixture
def desk(serve, root: Path, monkeypatch: pytest.MonkeyPatch):
    """A function: script → the desk with the executor on, its model following the script, in the SQLite world."""
    monkeypatch.setenv("ESTAGIARIO_REACT", "1")
    with ScriptedServer() as scripted:

        def start(text: str = "", **how: Any):
            if not text:
                return serve(root, world="newsroom", **how)
            address = scripted.open(parse_script(text)).openai_base_url
            return serve(root, model="gpt-4.1-mini", base_url=address, world="newsroom", **how)

        yield start


def session_of(served: Any) -> str:
    """A new conversation at the desk."""
    return served.client.post("/api/estagiario/start").json()["session_id"]


def sent(served: Any, message: str, session: str = "", **query: str) -> Any:
    """What `/send` answers."""
    body = {"session_id": session or session_of(served), "message": message}
    return served.client.post("/api/estagiario/send", json=body, params=query)


def streamed(served: Any, message: str, method: str = "POST", **query: str) -> list[dict[str, Any]]:
    """The lines of a stream."""
    session_of(served)  # the client keeps its cookie
    how = (
        {"json": {"message": message}, "params": query}
        if method == "POST"
        else {"params": {"message": message, **query}}
    )
    answered = served.client.request(method, "/api/estagiario/stream", **how)

    assert ("application/x-ndjson", "no") == (answered.headers["content-type"], answered.headers["x-accel-buffering"])
    return [json.loads(line) for line in answered.text.splitlines()]


def test_a_message_is_answered(desk):
    """The count of the store, by the executor, in the shape that the page knows."""
    served = desk(COUNTED)

    assert {"ok": True, "answer": ANSWER, "fallback": False} == sent(served, COUNT).json()


def test_send_does_not_stream(desk):
    """`?stream=1` changes nothing there."""
    served = desk(COUNTED)

    assert {"ok": True, "answer": ANSWER, "fallback": False} == sent(served, COUNT, stream="1").json()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_steps_are_streamed(desk, method):
    """Thought, action, observation, thought, answer; each line has the keys of its type and no others."""
    assert [
        {"type": "thought", "content": "Vou ver."},
        {"type": "action", "tool": "count_clusters", "input": {"prioridade": "IRRELEVANTE"}},
        {"type": "observation", "content": {"ok": True, "result": 8}},
        {"type": "thought", "content": "Sei."},
        {"type": "final_answer", "content": ANSWER},
    ] == [_with_plain_result(line) for line in streamed(desk(COUNTED), COUNT, method)]


def test_a_stream_can_be_collected(desk):
    """With `stream=0` the stream's address answers as `/send` does."""
    served = desk(COUNTED)
    session_of(served)

    assert {"ok": True, "answer": ANSWER, "fallback": False} == (
        served.client.get("/api/estagiario/stream", params={"message": COUNT, "stream": "0"}).json()
    )


def test_the_stages_are_streamed_to_who_asks_for_them(desk):
    """With `stages=1` a line announces each stage; the other lines are the same as without."""
    lines = streamed(desk(COUNTED), COUNT, stages="1")

    assert ["understanding", "planning", "querying", "synthesising"] == [
        line["content"] for line in lines if line["type"] == "stage"
    ]
    assert ["thought", "action", "observation", "thought", "final_answer"] == [
        line["type"] for line in lines if line["type"] != "stage"
    ]


def test_the_fallback_has_stages_too(desk, monkeypatch):
    """Without the executor the desk understands, asks its store and says what it found."""
    monkeypatch.setenv("ESTAGIARIO_REACT", "0")
    stages = [line["content"] for line in streamed(desk(), COUNT, stages="1") if line["type"] == "stage"]

    assert ["understanding", "querying", "synthesising"] == stages


def test_a_chat_signs_in_by_a_cookie(desk):
    """No script can read it, no other site makes a browser send it, and no other address gets it."""
    served = desk(COUNTED)
    started = served.client.post("/api/estagiario/start", headers={"origin": served.url})
    cookie = started.headers["set-cookie"]

    assert started.json()["session_id"] in cookie
    assert [] == [
        word for word in ("HttpOnly", "SameSite=strict", "Path=/api/estagiario", "Max-Age=3600") if word not in cookie
    ]
    assert "Secure" not in cookie
    assert ANSWER == served.client.post("/api/estagiario/send", json={"message": COUNT}).json()["answer"]
    assert 2 == len(served.client.get("/api/estagiario/messages").json()["messages"])


def test_what_opens_a_chat_stands_in_no_address(desk):
    """An address is kept in histories and logs, so a session's name there is refused, a good one too."""
    served = desk()
    told = {"session_id": session_of(served), "message": COUNT}
    for path in ("messages", "stream"):
        refused = served.client.get(f"/api/estagiario/{path}", params=told)

        assert (400, "session-in-address") == (refused.status_code, refused.json()["error"]["code"])


def test_a_client_without_a_jar_names_its_session_in_a_header(desk):
    """A program that keeps no cookies can go on with its conversation by GET too."""
    served = desk()
    session = session_of(served)
    served.client.cookies.clear()
    read = served.client.get("/api/estagiario/messages", headers={"x-session": session})

    assert {"session_id": session, "messages": []} == read.json()


def test_the_page_of_the_desk_is_served(desk):
    """Under the policy of the server's own pages, in the reader's language, and linked from them."""
    served = desk()
    page = served.client.get("/estagiario", headers={"accept-language": "ru"})

    assert "Спросить редакцию" in page.text
    assert "default-src 'none'; script-src 'nonce-" in page.headers["content-security-policy"]
    assert '<a href="/estagiario">Estagiário</a>' in served.client.get("/").text


def test_a_change_by_post_is_made(desk):
    """The one writing action of the run succeeds."""
    lines = streamed(desk(CHANGED), CHANGE)

    assert [True] == [line["content"]["ok"] for line in lines if line["type"] == "observation"]


def test_a_change_by_get_is_refused(desk):
    """The same question by GET: the writing action is not run, and the stream shows the refusal."""
    lines = streamed(desk(CHANGED), CHANGE, "GET")

    assert [False] == [line["content"]["ok"] for line in lines if line["type"] == "observation"]


def test_the_conversation_is_kept(desk):
    """What was said can be read again, and the next question goes to the model with it."""
    served = desk(script(final(ANSWER), final("Ontem foram **2**.")))
    session = session_of(served)
    sent(served, COUNT, session)
    sent(served, "E ontem?", session)

    assert [
        {"role": "user", "content": COUNT},
        {"role": "assistant", "content": ANSWER},
        {"role": "user", "content": "E ontem?"},
        {"role": "assistant", "content": "Ontem foram **2**."},
    ] == served.client.get("/api/estagiario/messages", headers={"x-session": session}).json()["messages"]


def test_a_conversation_keeps_its_changes(desk, monkeypatch):
    """What one message changed, the next one finds; another conversation does not."""
    monkeypatch.setenv("ESTAGIARIO_REACT", "0")
    served = desk()
    session = session_of(served)
    answers = [sent(served, CHANGE, name).json()["answer"] for name in (session, session, "")]

    assert "mudou de P3 para **P2**" in answers[0]
    assert "mudou" not in answers[1]
    assert "mudou de P3 para **P2**" in answers[2]


def test_the_switch_is_read_for_each_question(desk, monkeypatch):
    """Off, the deterministic pipeline answers at once, and the model is not asked; on again, it is."""
    served = desk(COUNTED)
    monkeypatch.setenv("ESTAGIARIO_REACT", "0")
    without = sent(served, COUNT).json()
    monkeypatch.setenv("ESTAGIARIO_REACT", "1")
    with_executor = sent(served, COUNT).json()

    assert (True, False) == (without["ok"], without["fallback"])
    assert "8" in without["answer"]
    assert ANSWER != without["answer"]
    assert ANSWER == with_executor["answer"]


@pytest.mark.parametrize("value", ["", "0", "true", "yes", "01"])
def test_only_one_value_turns_the_executor_on(desk, monkeypatch, value):
    """Anything but `1` is off: no thought is streamed."""
    monkeypatch.setenv("ESTAGIARIO_REACT", value)

    types = [line["type"] for line in streamed(desk(COUNTED), COUNT)]

    assert ("final_answer", False) == (types[-1], "thought" in types)


def test_without_a_model_the_fallback_answers(desk):
    """The executor is on and nobody can be asked: the deterministic answer, and it is said whose it is."""
    told = sent(desk(), COUNT).json()

    assert (True, True) == (told["ok"], told["fallback"])
    assert "8" in told["answer"]


def test_errors_of_the_model_lead_to_the_fallback(desk):
    """A provider that fails is no reason to leave the page without an answer."""
    failing = "format: 1\nsteps:\n- reply: {status: 500, error: {message: down}}\n"
    lines = streamed(desk(failing), COUNT)

    assert "final_answer" == lines[-1]["type"]
    assert "8" in lines[-1]["content"]


@pytest.mark.parametrize("path", ["/api/estagiario/send", "/api/estagiario/stream"])
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"session_id": "guessed", "message": COUNT}, 404, "no-such-session"),
        ({"message": COUNT}, 404, "no-such-session"),
        ({"session_id": "guessed"}, 400, "bad-request"),
        ({"session_id": "guessed", "message": 7}, 400, "bad-request"),
        ({"session_id": "guessed", "message": "  "}, 400, "bad-request"),
    ],
)
def test_what_is_no_message_is_refused(desk, path, body, status, code):
    """Before anything is run, and in JSON."""
    refused = desk().client.post(path, json=body)

    assert (status, code) == (refused.status_code, refused.json()["error"]["code"])


def test_a_stream_needs_a_message(desk):
    """A GET without one is refused, and told what is missing."""
    refused = desk().client.get("/api/estagiario/stream")
    error = refused.json()["error"]

    assert (400, "bad-request") == (refused.status_code, error["code"])
    assert "missing, or of the wrong kind: `message`" == error["message"]


def test_an_action_is_seen_while_its_tool_works(serve, tmp_path, root, monkeypatch):
    """A tool that holds its thread until the client has read the action: nothing is kept back until the end."""
    monkeypatch.setenv("ESTAGIARIO_REACT", "1")
    project = ScratchProject(tmp_path)
    shutil.copytree(root / "agents" / "newsdesk", tmp_path / "agents" / "newsdesk")
    project.write("goldensets/worlds/yard/tools.py", SLOW_TOOLS)
    with ScriptedServer() as scripted:
        address = scripted.open(parse_script(COUNTED)).openai_base_url
        served = serve(tmp_path, model="gpt-4.1-mini", base_url=address, world="yard")
        told = {"session_id": session_of(served), "message": COUNT}
        with served.streaming("POST", "/api/estagiario/stream", json=told) as answer:
            lines = answer.iter_lines()
            seen = [json.loads(next(lines))["type"] for _ in range(2)]
            project.path("go").touch()
            rest = [json.loads(line) for line in lines]

    assert ["thought", "action"] == seen
    assert ({"ok": True, "result": 8}, "final_answer") == (rest[0]["content"], rest[-1]["type"])


@pytest.mark.parametrize("path", ["stream", "send"])
def test_what_breaks_after_the_start_is_the_last_word(serve, tmp_path, root, path):
    """A world that cannot be used: the stream's only line is an error, and the one answer names the same."""
    project = ScratchProject(tmp_path)
    shutil.copytree(root / "agents" / "newsdesk", tmp_path / "agents" / "newsdesk")
    project.write("goldensets/worlds/yard/tools.py", "def build(world):\n    raise OSError('no disk')\n")
    served = serve(tmp_path, world="yard")
    told = {"session_id": session_of(served), "message": COUNT}
    answered = served.client.post(f"/api/estagiario/{path}", json=told)

    if path == "stream":
        assert ("error", "bad-world") == (answered.json()["type"], answered.json()["code"])
    else:
        assert {"ok": False, "answer": "", "fallback": False, "error": "bad-world"} == answered.json()


def test_the_desk_s_own_world_is_postgresql(serve, root, monkeypatch):
    """Unless the server was started in another: the same count, and a change that no other conversation sees."""
    monkeypatch.setenv("ESTAGIARIO_REACT", "0")
    served = serve(root)
    session = session_of(served)
    counted = sent(served, COUNT, session).json()
    first, again, elsewhere = (sent(served, CHANGE, name).json()["answer"] for name in (session, session, ""))

    assert "**8**" in counted["answer"]
    assert [True, False, True] == ["mudou de P3 para **P2**" in answer for answer in (first, again, elsewhere)]


def test_sessions_of_the_api_are_not_the_desk_s(desk):
    """A conversation opened elsewhere cannot be gone on with here."""
    served = desk()
    other = served.client.post("/api/sessions").json()["session"]

    assert 404 == sent(served, COUNT, other).status_code


def _with_plain_result(line: dict[str, Any]) -> dict[str, Any]:
    """The count that an observation tells, without what else the tool says of it."""
    if line["type"] != "observation":
        return line
    result = line["content"]["result"]
    return {**line, "content": {"ok": line["content"]["ok"], "result": result.get("total", result.get("count"))}}
