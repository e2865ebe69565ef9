"""
Vectors for tests: made of a text's digest, so that they are the same everywhere and mean nothing.

`hash_embed` stands in for `world.embed` where a tool is tried outside a trial; `EmbeddingServer` answers on loopback as
an embedding server does, for tests of recording. No recording that anybody keeps may come from here.
"""

from __future__ import annotations

import hashlib
import math
import struct
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import msgspec

from harness.records.messages import EmbeddingReply, Usage

DIMENSION = 384
MODEL = "hash-embedder"


def hash_vector(text: str, dimension: int = DIMENSION) -> tuple[float, ...]:
    """A vector of length 1 that depends on every character of *text*."""
    drawn = struct.unpack(f"<{dimension}H", hashlib.shake_256(text.encode()).digest(2 * dimension))
    centred = [number / 32767.5 - 1.0 for number in drawn]
    length = math.sqrt(sum(number * number for number in centred))
    return tuple(number / length for number in centred)


async def hash_embed(texts: Sequence[str], *, model: str | None = None) -> EmbeddingReply:
    """`hash_vector` in the form of `world.embed`."""
    return EmbeddingReply(tuple(hash_vector(text) for text in texts), model or MODEL, Usage(input=len(texts)))


class EmbeddingServer:
    """An OpenAI-compatible embeddings server on a free port of this machine, for as long as the `with` lasts."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        """The texts of each request, in order."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
                texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
                server.asked.append(texts)
                data = [
                    {"object": "embedding", "index": index, "embedding": hash_vector(text)}
                    for index, text in enumerate(texts)
                ]
                usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
                body = msgspec.json.encode({"object": "list", "data": data, "model": request["model"], "usage": usage})
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: the test reads `asked`."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """Where clients ask: `http://127.0.0.1:PORT/v1`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
