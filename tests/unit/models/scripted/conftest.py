"""A scripted server, and a plain HTTP client that shows exactly what comes back."""

import http.client
import json

import pytest

from harness.models.scripted.server import ScriptedServer


class Client:
    """One keep-alive connection; `ask` returns status, headers and body as they came."""

    def __init__(self, server, session):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        self._start = session.origin.partition(f":{server.port}")[2]

    def ask(self, path, body, headers=None):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._connection.request("POST", self._start + path, content, headers or {})
        answer = self._connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def chat(self, *messages, headers=None, **params):
        body = {"model": "gpt-4.1-mini", "messages": list(messages), **params}
        return self.ask("/v1/chat/completions", body, headers)

    def message(self, *messages, headers=None, **params):
        body = {"model": "claude-sonnet-4-5", "max_tokens": 4000, "messages": list(messages), **params}
        return self.ask("/v1/messages", body, {"anthropic-version": "2023-06-01", **(headers or {})})

    def close(self):
        self._connection.close()


@pytest.fixture
def server():
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def client(server):
    """A function: session → client of it; closed at the end."""
    opened = []

    def connect(session):
        opened.append(Client(server, session))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()
