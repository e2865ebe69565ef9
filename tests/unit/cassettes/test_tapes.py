"""Tapes: the caller streams while a copy is kept, and what was recorded plays back, errors and cuts included."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest

from harness.cassettes import transport
from harness.cassettes.file import Interaction, Provenance, load, make_cassette
from harness.cassettes.fingerprint import Fingerprinter, wire_fingerprint
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.cassettes.tapes import PlayTape, RecordTape
from harness.cassettes.transport import WireCall
from harness.errors import CassetteError, ReplayMissError
from harness.records.messages import Message, ModelRequest

INVALID = "http://scripted.invalid"
EVENTS = [b'data: {"n":%d,"text":"h\xc3\xa4"}\n\n' % n for n in range(4)] + [b"data: [DONE]\n\n"]


class Answers(BaseHTTPRequestHandler):
    """Answers by what the request asks for."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append(dict(self.headers))
        getattr(self, f"_{asked['want']}")()

    def _json(self, body: bytes = b'{"model":"m-1","text":"h\\u00e4"}', status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Set-Cookie", "session=secret")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _gzip(self) -> None:
        self._json(gzip.compress(b'{"model":"m-1","text":"packed"}'), Content_Encoding="gzip")

    def _brotli(self) -> None:
        self._json(b"\x0b\x02", Content_Encoding="br")

    def _limit(self) -> None:
        self._json(b'{"error":{"message":"slow down"}}', 429, Retry_After="2")

    def _hangup(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _stream(self, events=EVENTS, *, cut: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
            time.sleep(0.03)
        if cut:
            self._hangup()
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _cut(self) -> None:
        self._stream(EVENTS[:2], cut=True)

    def _short(self) -> None:
        self._stream(EVENTS[:2])

    def log_message(self, *args) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    """A server on loopback that remembers the headers it saw."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        running.seen = []
        running.handle_error = lambda *_: None  # clients that hang up are meant
        Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture(autouse=True)
def _own_transports() -> Iterator[None]:
    """Leave httpx as it was."""
    yield
    transport.uninstall()


@contextmanager
def recording(server, path):
    """A client of the server, recorded; yields its base address and the recorder."""
    base = f"http://127.0.0.1:{server.server_port}"
    recorder = Recorder(path, Provenance(answered_by="scripted"), scrub=Scrubber())
    with transport.use(RecordTape(recorder, answered_by="scripted", rewrite={base: INVALID})):
        yield base + "/v1/chat/completions", recorder


@contextmanager
def playing(path):
    """The cassette at *path*, as a client meets it."""
    player = Player(load(path))
    with transport.use(PlayTape(player)):
        yield INVALID + "/v1/chat/completions", player


def post(uri, want):
    with httpx.Client() as client:
        return client.post(uri, json={"want": want})


async def post_async(uri, want):
    async with httpx.AsyncClient() as client:
        return await client.post(uri, json={"want": want})


def read(uri, want):
    """The text of a stream as far as it goes, and the name of the error that ended it."""
    got = []
    try:
        with httpx.Client() as client, client.stream("POST", uri, json={"want": want}) as response:
            got.extend(response.iter_text())
    except httpx.TransportError as error:
        return "".join(got), type(error).__name__
    return "".join(got), ""


@pytest.mark.parametrize("want", ["json", "gzip", "limit"])
@pytest.mark.parametrize("ask", [post, lambda uri, want: asyncio.run(post_async(uri, want))], ids=["sync", "async"])
def test_answers_play_back_as_they_came(server, tmp_path, want, ask):
    """Status, retry-after and JSON are the same without the server; cookies and encodings are not kept."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        live = ask(uri, want)
        recorder.finish()
    with playing(path) as (uri, player):
        played = ask(uri, want)

    assert (live.status_code, live.json()) == (played.status_code, played.json())
    assert live.headers.get("retry-after") == played.headers.get("retry-after")
    assert "set-cookie" in live.headers
    assert "set-cookie" not in played.headers
    assert [] == player.unused()
    assert INVALID + "/v1/chat/completions" == player.cassette.interactions[0].uri


def test_errors_keep_their_bytes(server, tmp_path):
    """A client puts the raw body of an error into its message, so that body is not indented."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        post(uri, "limit")
        written = recorder.finish()

    assert '{"error":{"message":"slow down"}}' == written.interactions[0].response_body


def test_a_stream_reaches_the_caller_while_it_is_recorded(server, tmp_path):
    """The first event is there long before the last; each event's time is kept."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        began = time.monotonic()
        with httpx.Client() as client, client.stream("POST", uri, json={"want": "stream"}) as response:
            pieces = response.iter_bytes()
            first, first_after = next(pieces), time.monotonic() - began
            rest, all_after = b"".join(pieces), time.monotonic() - began
        item = recorder.finish().interactions[0]

    assert b"".join(EVENTS) == first + rest
    assert all_after - first_after > 0.08
    assert len(EVENTS) == len(item.chunk_ms)
    assert list(item.chunk_ms) == sorted(item.chunk_ms)
    assert item.chunk_ms[-1] - item.chunk_ms[0] >= 80
    assert (True, None, item.chunk_ms[-1]) == (item.complete, item.error, item.latency_ms)


@pytest.mark.parametrize(
    ("want", "complete", "error"), [("stream", True, ""), ("short", False, ""), ("cut", False, "RemoteProtocolError")]
)
def test_streams_end_as_they_ended(server, tmp_path, want, complete, error):
    """Whole, too short, or cut off by the server: the same text and the same error come back."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        live = read(uri, want)
        item = recorder.finish().interactions[0]
    with playing(path) as (uri, _):
        played = read(uri, want)

    assert live == played
    assert error == live[1]
    assert complete == item.complete


def test_a_connection_that_breaks_is_recorded(server, tmp_path):
    """No response came: status 599 says so to every reader, and the same error is raised on replay."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        live = read(uri, "hangup")
        item = recorder.finish().interactions[0]
    with playing(path) as (uri, _):
        played = read(uri, "hangup")

    assert ("", "RemoteProtocolError") == live == played
    assert (599, "RemoteProtocolError: Server disconnected without sending a response.") == (item.status, item.error)


def test_a_stream_that_the_caller_leaves_is_recorded_as_far_as_it_was_read(server, tmp_path):
    """Closing early is no error, and the file says that the end was not seen."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        with httpx.Client() as client, client.stream("POST", uri, json={"want": "stream"}) as response:
            next(response.iter_bytes())
        item = recorder.finish().interactions[0]

    assert EVENTS[0].decode() == item.response_body
    assert (False, None) == (item.complete, item.error)


def test_a_stream_that_nobody_closed_is_in_the_file(server, tmp_path):
    """Finishing the recording settles what is still open."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder), httpx.Client() as client:
        request = client.build_request("POST", uri, json={"want": "stream"})
        response = client.send(request, stream=True)
        next(response.iter_bytes())
        items = recorder.finish().interactions
        response.close()

    assert [EVENTS[0].decode()] == [item.response_body for item in items]


def test_a_call_that_its_agent_cancels_ends_like_a_time_out(server, tmp_path):
    """Whoever stopped waiting while recording gets a time-out on replay."""
    path = tmp_path / "c.yaml"

    async def impatient(uri):
        async with (
            httpx.AsyncClient() as client,
            asyncio.timeout(0.04),
            client.stream("POST", uri, json={"want": "stream"}) as response,
        ):
            return [piece async for piece in response.aiter_bytes()]

    with recording(server, path) as (uri, recorder):
        with pytest.raises(TimeoutError):
            asyncio.run(impatient(uri))
        item = recorder.finish().interactions[0]

    assert "ReadTimeout: the caller stopped waiting" == item.error


def test_an_encoding_that_is_not_read_spoils_the_recording(server, tmp_path):
    """What cannot be kept as text is refused at the end, even if the client hid the error."""
    path = tmp_path / "c.yaml"
    with recording(server, path) as (uri, recorder):
        with pytest.raises(CassetteError):
            post(uri, "brotli")
        with pytest.raises(CassetteError, match="content-encoding `br`"):
            recorder.finish()

    assert not path.exists()


def test_a_server_on_loopback_is_told_which_call_it_is(server, tmp_path):
    """Purpose, slot and number travel in headers; none of them is recorded, and a client cannot make them up."""
    path = tmp_path / "c.yaml"
    server.seen.clear()
    call = WireCall(ask="f" * 16, slot="verify/1/2", number=7, purpose="verify")
    with recording(server, path) as (uri, recorder), transport.call(call), httpx.Client() as client:
        client.post(uri, json={"want": "json"}, headers={"x-harness-purpose": "forged", "x-harness-user": "me"})
        item = recorder.finish().interactions[0]
    seen = {name.lower(): value for name, value in server.seen[0].items() if name.lower().startswith("x-harness")}

    assert {"x-harness-call": "7", "x-harness-purpose": "verify", "x-harness-slot": "verify/1/2"} == seen
    assert (7, "f" * 16, "verify/1/2") == (item.call, item.ask, item.slot)
    assert {"content-type": ["application/json"]} == item.request_headers


def test_two_hundred_trials_at_once_get_their_own_answers():
    """One client, a cassette for each task: a thousand interleaved calls, and not one wrong answer."""
    uri = INVALID + "/v1/chat/completions"

    def cassette_of(trial):
        items = [
            Interaction(
                call=n, answered_by="scripted", uri=uri, wire=wire_fingerprint(json.dumps({"want": n}).encode()),
                response_body=f'{{"trial": {trial}, "n": {n}}}',
            )
            for n in range(5)
        ]  # fmt: skip
        return make_cassette(Provenance(answered_by="scripted"), items)

    async def trial(number, client):
        player = Player(cassette_of(number))
        answers = []
        with transport.use(PlayTape(player)):
            for n in (3, 1, 4, 0, 2):
                await asyncio.sleep(0)
                answers.append((await client.post(uri, content=json.dumps({"want": n}))).json())
        return answers == [{"trial": number, "n": n} for n in (3, 1, 4, 0, 2)] and not player.unused()

    async def everything():
        async with httpx.AsyncClient() as client:
            return await asyncio.gather(*(trial(number, client) for number in range(200)))

    assert 200 == sum(asyncio.run(everything()))


def test_the_logical_call_finds_its_answer_through_http():
    """A client library that writes another body still gets the answer to its call, and the drift is noted."""
    asked = ModelRequest(model="m", messages=(Message("user", "hi"),))
    ask = Fingerprinter().ask(asked)
    item = Interaction(
        call=1, ask=ask, wire="old", answered_by="scripted", uri=INVALID, request_body='{"want": "json"}'
    )
    player = Player(make_cassette(Provenance(answered_by="scripted"), [item]))
    with transport.use(PlayTape(player)), transport.call(WireCall(ask=ask, number=1)):
        post(INVALID + "/v1/chat/completions", "gzip")

    assert ["POST /v1/chat/completions: want: 'json' -> 'gzip'"] == player.drifts


def test_a_miss_through_http_knows_what_the_headers_ask_for():
    """A beta that the call asks for by its header, and the recording did not, is a difference like any other."""
    uri = f"{INVALID}/v1/messages"
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Where is it?"}]})
    item = Interaction(call=1, wire="old", answered_by="scripted", uri=uri, request_body=body)
    player = Player(make_cassette(Provenance(answered_by="scripted"), [item]))
    headers = {"anthropic-beta": "interleaved-thinking-2025-05-14"}
    with transport.use(PlayTape(player)), pytest.raises(ReplayMissError) as miss:
        httpx.post(uri, content=body, headers=headers)

    assert 'betas: null -> ["interleaved-thinking-2025-05-14"]' in miss.value.explanation
