"""
The scripted model's server: real HTTP/1.1 with keep-alive on a free port of 127.0.0.1, one base address per script.

    with ScriptedServer() as server:
        session = server.open(script)
        ...                        # point a client at session.openai_base_url or session.anthropic_base_url
        session.close()            # raises ScriptError if the run did not follow the script
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Self

from harness.models.scripted.answers import HttpAnswer
from harness.models.scripted.script import Script
from harness.models.scripted.session import Embedder, ScriptSession

MAX_REQUEST_BYTES = 32 * 1024 * 1024
IDLE_SECONDS = 60
"""A connection that says nothing for so long is closed."""
_POLL_SECONDS = 0.02


class ScriptedServer:
    """Serves scripts until it is closed; each one has its own secret path, so that runs at once do not meet."""

    def __init__(self) -> None:
        self._sessions: dict[str, ScriptSession] = {}
        self._http = _HttpServer(self._sessions)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_POLL_SECONDS,), name="scripted-server", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self._http.server_address[1])

    def open(self, script: Script, *, embedder: Embedder | None = None) -> ScriptSession:
        """
        Serve *script* under a base address of its own; *embedder* answers embedding calls that no step answers.

        Close the session when the run is over: closing holds the run against the script.
        """
        token = secrets.token_hex(8)
        session = ScriptSession(
            script,
            origin=f"http://127.0.0.1:{self.port}/{token}",
            on_close=lambda: self._forget(token),
            embedder=embedder,
        )
        self._sessions[token] = session
        return session

    def close(self) -> None:
        """Stop listening and cut every connection; closing twice is fine."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _forget(self, token: str) -> None:
        self._sessions.pop(token, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _HttpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, sessions: dict[str, ScriptSession]) -> None:
        self.sessions = sessions
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        assert isinstance(request, socket.socket)
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        assert isinstance(request, socket.socket)
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Report a crash on stderr; a client that goes away in the middle of an answer is none."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    server: _HttpServer

    def do_POST(self) -> None:
        body = self._read()
        if body is None:
            self._send(_plain(413, b"the request needs a content-length of at most 32 MB"))
            self.close_connection = True
            return
        _, _, rest = self.path.partition("/")
        token, _, path = rest.partition("/")
        session = self.server.sessions.get(token)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = session.answer(f"/{path}", headers, body) if session else None
        self._send(answer or _plain(404, b"no script is served at this address"))

    def do_GET(self) -> None:
        self._send(_plain(404, b"the scripted server answers POST only"))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr."""

    def _read(self) -> bytes | None:
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_REQUEST_BYTES:
            return None
        return self.rfile.read(int(length))

    def _send(self, answer: HttpAnswer) -> None:
        if answer.delay_ms:
            time.sleep(answer.delay_ms / 1000)
        if answer.drop:
            self.close_connection = True
        if answer.streamed:
            self._send_stream(answer)
        else:
            body = answer.pieces[0]
            sent = body[: len(body) // 2] if answer.drop else body
            self.wfile.write(_head(answer, f"content-length: {len(body)}") + sent)

    def _send_stream(self, answer: HttpAnswer) -> None:
        head = _head(answer, "transfer-encoding: chunked")
        frames = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in answer.pieces if piece]
        end = b"" if answer.drop else b"0\r\n\r\n"
        if not answer.chunk_delay_ms:
            self.wfile.write(b"".join([head, *frames, end]))
            return
        self.wfile.write(head)
        for number, frame in enumerate(frames):
            if number:
                time.sleep(answer.chunk_delay_ms / 1000)
            self.wfile.write(frame)
        self.wfile.write(end)


def _head(answer: HttpAnswer, framing: str) -> bytes:
    """Status line and headers; no date and no server name, so that two recordings are equal."""
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}", framing]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _plain(status: int, text: bytes) -> HttpAnswer:
    return HttpAnswer(status=status, headers={"content-type": "text/plain"}, pieces=(text,))
