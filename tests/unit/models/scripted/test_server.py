"""The server over real HTTP: keep-alive, streams as they come, broken connections, many clients at once."""

import contextlib
import http.client
import json
import socket
import threading
import time

import pytest

from harness.models.scripted.script import Expect, For, Reply, ScriptedError, Step, script_of
from harness.models.scripted.server import ScriptedServer
from harness.models.scripted.session import ScriptError

USER = {"role": "user", "content": "hi"}


def script(*replies):
    return script_of([Step(reply=reply) for reply in replies])


def text_of(answer):
    return json.loads(answer[2])["choices"][0]["message"]["content"]


def test_both_providers_are_served(server, client):
    """One session answers OpenAI and Anthropic clients below its own address."""
    session = server.open(script(Reply(text="one"), Reply(text="two")))
    caller = client(session)

    assert "one" == text_of(caller.chat(USER))
    assert "two" == json.loads(caller.message(USER)[2])["content"][0]["text"]
    assert session.openai_base_url == f"{session.origin}/v1"
    assert session.anthropic_base_url == session.origin
    session.close()


def test_an_answer_says_nothing_of_today(server, client):
    """Only what the script decides stands in the headers, so that two recordings are equal."""
    session = server.open(script(Reply(text="one")))
    _, headers, _ = client(session).chat(USER)

    assert {"content-length", "content-type"} == set(headers)


def test_one_connection_serves_many_calls(server, client):
    """Keep-alive holds across answers, errors and streams."""
    session = server.open(
        script(Reply(text="a"), Reply(status=429, error=ScriptedError(message="slow"), retry_after=2), Reply(text="b"))
    )
    caller = client(session)
    caller.chat(USER)
    port = caller._connection.sock.getsockname()
    status, headers, _ = caller.chat(USER)
    caller.chat(USER, stream=True)

    assert (429, "2") == (status, headers["retry-after"])
    assert port == caller._connection.sock.getsockname()


def test_a_stream_comes_as_it_is_made(server, client):
    """Delays lie before the first byte and between events, and the first event does not wait for the last."""
    session = server.open(script(Reply(text="a b c", chunks=3, delay_ms=30, chunk_delay_ms=40)))
    caller = client(session)
    caller._connection.request(
        "POST", caller._start + "/v1/chat/completions",
        json.dumps({"model": "m", "messages": [USER], "stream": True}),
    )  # fmt: skip
    began = time.perf_counter()
    answer = caller._connection.getresponse()
    answer.readline()
    first = time.perf_counter() - began
    rest = answer.read()
    whole = time.perf_counter() - began

    assert rest.endswith(b"data: [DONE]\n\n")
    assert 0.025 < first < whole - 0.1


def test_a_dropped_stream_is_an_error_of_the_connection(server, client):
    """The events that were sent arrive; then the connection breaks instead of ending."""
    session = server.open(script(Reply(text="a b c d", chunks=4, drop=True)))
    with pytest.raises(http.client.IncompleteRead) as caught:
        client(session).chat(USER, stream=True)

    assert b"data: " in caught.value.partial
    assert b"[DONE]" not in caught.value.partial


def test_a_dropped_body_is_an_error_of_the_connection(server, client):
    """Half of the promised bytes come."""
    session = server.open(script(Reply(text="a" * 100, drop=True)))
    with pytest.raises(http.client.IncompleteRead):
        client(session).chat(USER)


def test_scripts_do_not_meet(server, client):
    """Each session has its own address; closing one leaves the other."""
    one, two = server.open(script(Reply(text="one"))), server.open(script(Reply(text="two")))
    left, right = client(one), client(two)

    assert "two" == text_of(right.chat(USER))
    assert "one" == text_of(left.chat(USER))
    one.close()
    assert 404 == left.chat(USER)[0]
    two.close()


def test_parallel_calls_find_their_steps(server, client):
    """Sixteen clients at once each get the answer to their own slot, and none twice."""
    steps = [Step(target=For(slot=f"v/{n}"), reply=Reply(text=f"answer {n}", delay_ms=5)) for n in range(16)]
    session = server.open(script_of(steps))
    answers = {}

    def ask(number):
        answers[number] = text_of(client(session).chat(USER, headers={"x-harness-slot": f"v/{number}"}))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {number: f"answer {number}" for number in range(16)} == answers
    session.close()


def test_a_problem_reaches_client_and_close(server, client):
    """The agent sees a 400, and the run is refused when it ends."""
    session = server.open(script_of([Step(expect=Expect(contains="Berlin"), reply=Reply(text="x"))]))
    status, _, body = client(session).chat(USER)

    assert 400 == status
    assert b"expected 'Berlin' in a message" in body
    with pytest.raises(ScriptError):
        session.close()


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/models"), ("POST", "/v1/responses"), ("POST", "/")])
def test_other_addresses_are_not_found(server, client, method, path):
    """What is not served is a 404, and no problem of the script."""
    session = server.open(script(Reply(text="one")))
    caller = client(session)
    caller._connection.request(method, caller._start + path, b"{}")

    assert 404 == caller._connection.getresponse().status
    assert ["script-unused"] == [problem.code for problem in session.problems]


def test_a_request_without_a_length_is_refused(server, client):
    """A body of unknown or enormous length is not read."""
    session = server.open(script(Reply(text="one")))
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        path = session.origin.partition(str(server.port))[2] + "/v1/chat/completions"
        raw.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n".encode())

        assert raw.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_client_that_goes_away_harms_nobody(server, client, capsys):
    """A client may leave in the middle of a stream; the next one is served."""
    session = server.open(script(Reply(text="a b c", chunks=3, chunk_delay_ms=10), Reply(text="two")))
    leaving = client(session)
    leaving._connection.request(
        "POST", leaving._start + "/v1/chat/completions",
        json.dumps({"model": "m", "messages": [USER], "stream": True}),
    )  # fmt: skip
    leaving._connection.sock.close()
    leaving._connection.close()
    while session.calls == 0:
        time.sleep(0.001)

    assert "two" == text_of(client(session).chat(USER))
    assert "" == capsys.readouterr().err


def test_connections_are_forgotten_when_they_end(server, client):
    """A server that runs all day does not hold on to the connections of the morning."""
    session = server.open(script(Reply(text="one")))
    caller = client(session)
    caller.chat(USER)
    held = len(server._http._connections)
    caller.close()
    end = time.monotonic() + 5
    while server._http._connections and time.monotonic() < end:
        time.sleep(0.001)

    assert (1, 0) == (held, len(server._http._connections))


def test_a_crash_of_the_server_is_shown(server, client, capsys):
    """A fault of the server itself is no silent end of a connection: its traceback goes to stderr."""
    session = server.open(script(Reply(text="one")))
    session._unused = None
    with pytest.raises(http.client.RemoteDisconnected):
        client(session).chat(USER)

    assert "AttributeError: 'NoneType' object has no attribute 'items'" in capsys.readouterr().err


def test_a_closed_server_is_gone():
    """Closing cuts idle connections too, and may be done twice."""
    server = ScriptedServer()
    session = server.open(script(Reply(text="one"), Reply(text="two")))
    path = session.origin.partition(str(server.port))[2] + "/v1/chat/completions"
    body = json.dumps({"model": "m", "messages": [USER]})
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)) as connection:
        connection.request("POST", path, body)
        connection.getresponse().read()
        server.close()
        server.close()

        def ask_again():
            connection.request("POST", path, body)
            connection.getresponse()

        with pytest.raises(ConnectionError):
            ask_again()


def test_it_starts_and_answers_fast():
    """It is up within 50 ms and answers more than 300 calls a second over one connection."""
    count = 200
    began = time.perf_counter()
    with ScriptedServer() as server:
        started = time.perf_counter() - began
        session = server.open(script(*[Reply(text="one")] * count))
        path = session.origin.partition(str(server.port))[2] + "/v1/chat/completions"
        body = json.dumps({"model": "m", "messages": [USER]})
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
            began = time.perf_counter()
            for _ in range(count):
                connection.request("POST", path, body)
                connection.getresponse().read()
            rate = count / (time.perf_counter() - began)
        session.close()

    assert started < 0.05
    assert rate > 300
