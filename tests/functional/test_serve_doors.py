"""Who is let in, seen from outside, and the command that opens the doors."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from harness.cli.main import main

TOKEN = "0123456789abcdef-token"


def test_a_request_under_a_foreign_name_is_refused(serve, project):
    """A page that pointed its own name here reads nothing, recordings included."""
    served = serve(project.folder)
    refused = served.client.get("/api/recordings", headers={"host": "evil.test"})

    assert (421, "wrong-host") == (refused.status_code, refused.json()["error"]["code"])


@pytest.mark.parametrize("headers", [{"origin": "http://evil.test"}, {"sec-fetch-site": "cross-site"}])
def test_a_request_from_another_page_is_refused(serve, project, headers):
    """Also a GET, which could start a run."""
    refused = serve(project.folder).client.get("/api/agents", headers=headers)

    assert (403, "wrong-origin") == (refused.status_code, refused.json()["error"]["code"])


def test_the_token_is_asked_for_everywhere(serve, project):
    """On each address, the unknown ones included; never in the address itself."""
    served = serve(project.folder, rules={"token": TOKEN})
    for path in ("/", "/api/agents", "/nothing", f"/api/agents?token={TOKEN}"):
        refused = served.client.get(path)
        assert (401, "wrong-token", "Bearer") == (
            refused.status_code, refused.json()["error"]["code"], refused.headers["www-authenticate"],
        )  # fmt: skip

    assert 200 == served.client.get("/api/agents", headers={"authorization": f"Bearer {TOKEN}"}).status_code


def test_a_client_that_asks_too_often_has_to_wait(serve, project):
    """Every request counts, whatever it asks for."""
    served = serve(project.folder, rules={"per_minute": 3})
    answers = [served.client.get("/api/nothing") for _ in range(4)]

    assert [404, 404, 404, 429] == [answer.status_code for answer in answers]
    assert "2" == answers[-1].headers["retry-after"]


def test_a_body_without_a_length_is_counted_too(serve, project):
    """Sent in pieces, it is refused as soon as it is too large."""
    served = serve(project.folder)
    refused = served.client.post("/api/sessions", content=(b"x" * 10_000 for _ in range(40)))

    assert (413, "body-too-large") == (refused.status_code, refused.json()["error"]["code"])


def test_a_crash_of_the_server_tells_nothing(serve, project, monkeypatch):
    """The answer names the kind of error; what it says, and where, stands in the log alone."""
    from harness.serve.conversations import Conversations

    def crash(*_: object) -> str:
        raise ValueError("very secret text")

    monkeypatch.setattr(Conversations, "open", crash)
    failed = serve(project.folder).client.post("/api/sessions")

    assert (500, "internal") == (failed.status_code, failed.json()["error"]["code"])
    assert "secret" not in failed.text


def test_the_command_serves_until_it_is_told_to_stop(project):
    """It says where; a signal ends it without a word of failure."""
    words = [sys.executable, "-m", "harness", "serve", "--port", "0", "--json"]
    with subprocess.Popen(words, cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        document = json.loads(run.stdout.readline())
        with urllib.request.urlopen(f"{document['url']}/api/agents", timeout=60) as answer:
            listed = json.load(answer)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=60)

    assert ({"url": document["url"], "model": "", "agents": ["example"]}, 0) == (document, run.returncode)
    assert ["example"] == [agent["name"] for agent in listed["agents"]]
    assert "stopped\n" == told


@pytest.mark.parametrize(
    ("words", "environment", "code", "message"),
    [
        (["--host", "0.0.0.0"], {}, "token-needed", "0.0.0.0 can be reached from other machines"),
        (["--host", "0.0.0.0"], {"HARNESS_SERVE_TOKEN": "short"}, "bad-token", "shorter than 16 characters"),
        (["--token-file", "nowhere"], {}, "bad-token", "nowhere cannot be read: FileNotFoundError"),
        (["--host", "no.such.host.invalid"], {"HARNESS_SERVE_TOKEN": TOKEN}, "cannot-listen", "cannot listen on"),
        (["--base-url", "http://127.0.0.1:1/v1"], {}, "bad-arguments", "--base-url goes with --model"),
        (["--base-url", "nonsense", "--model", "m"], {}, "bad-arguments", "`nonsense` is no address of a server"),
        (["--world", "mars"], {}, "unknown-world", "no world named `mars`"),
        (["--ultrathink"], {}, "no-such-agent", "no agent named `ultrathink` is served"),
        (["--port", "70000"], {}, "bad-arguments", "`70000` is no port: a whole number from 0 to 65535"),
        (["--runs", "0"], {}, "bad-arguments", "`0` is no whole number of at least 1"),
    ],
)
def test_what_cannot_be_served_is_refused(project, monkeypatch, capsys, words, environment, code, message):
    """Before anything listens."""
    monkeypatch.chdir(project.folder)
    monkeypatch.delenv("HARNESS_SERVE_TOKEN", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ended = main(["serve", *words, "--json"])

    told = json.loads(capsys.readouterr().out)["error"]
    assert (2, code) == (ended, told["code"])
    assert message in told["message"]


def test_a_port_that_is_taken_is_told(project, monkeypatch, capsys):
    """With what to do."""
    monkeypatch.chdir(project.folder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert 2 == main(["serve", "--port", str(taken.getsockname()[1])])

    assert "error[cannot-listen]: cannot listen on 127.0.0.1:" in (told := capsys.readouterr().err)
    assert os.strerror(98) in told
    assert "hint: choose another with --port" in told


def test_missing_packages_are_told(project, monkeypatch, capsys):
    """With the command that installs them."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert 2 == main(["serve"])
    told = capsys.readouterr().err
    assert "error[no-fastapi]: serving needs what is not installed: fastapi, uvicorn, jinja2, nh3" in told
    assert 'hint: install it with `pip install "tapegate[serve]"`' in told
