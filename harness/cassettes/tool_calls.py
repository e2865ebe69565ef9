"""Tools that reach outside: recorded as interactions at `tool://<name>`, and never run on replay."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from harness.cassettes.file import AnsweredBy, Interaction
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.errors import ReplayMissError
from harness.records.digest import canonical_json
from harness.records.messages import Json
from harness.records.tool import Tool, ToolAnswer, ToolError

Run = Callable[[], Awaitable[Json]]
External = Callable[[Tool, dict[str, Json], Run], Awaitable[Json]]

_OK, _REFUSED = 200, 422
"""Statuses of a recorded tool call: an answer, and a `ToolError`."""


def played(player: Player, fingerprinter: Fingerprinter) -> External:
    """Answer external tools from the cassette of *player*; the tool's own code is never called."""

    async def call(tool: Tool, args: dict[str, Json], _run: Run) -> Json:
        return _answer_of(player.play(fingerprinter.tool(tool.name, args)))

    return call


def recorded(
    recorder: Recorder, fingerprinter: Fingerprinter, *, answered_by: AnsweredBy, old: Player | None = None
) -> External:
    """
    Run external tools and record what they say; a crash is not recorded and ends as one.

    With *old*, what that cassette still answers is taken from there.
    """

    async def call(tool: Tool, args: dict[str, Json], run: Run) -> Json:
        ask = fingerprinter.tool(tool.name, args)
        if old is not None:
            with suppress(ReplayMissError):
                kept = old.play(ask)
                recorder.add(msgspec.structs.replace(kept, call=recorder.latest()))
                return _answer_of(kept)
        began = time.monotonic()
        status, body, answer, refusal = _OK, b"", None, None
        try:
            answer = await run()
            body = canonical_json(_as_body(answer))
        except ToolError as error:
            status, body, refusal = _REFUSED, canonical_json({"kind": error.kind, "message": error.message}), error
        recorder.add(
            Interaction(
                call=recorder.latest(), ask=ask, kind="tool", answered_by=answered_by, method="CALL",
                latency_ms=round((time.monotonic() - began) * 1000), uri=f"tool://{tool.name}",
                request_headers={"content-type": ["application/json"]}, request_body=canonical_json(args).decode(),
                status=status, status_message="OK" if status == _OK else "Refused",
                response_headers={"content-type": ["application/json"]}, response_body=body.decode(),
            )
        )  # fmt: skip
        if refusal is not None:
            raise refusal
        return answer

    return call


def _as_body(answer: Json) -> Json:
    if isinstance(answer, ToolAnswer):
        return {"value": answer.value, "hits": answer.hits, "effects": msgspec.to_builtins(answer.effects)}
    return {"value": answer}


def _answer_of(interaction: Interaction) -> Json:
    body = msgspec.json.decode(interaction.response_body)
    if interaction.status != _OK:
        raise ToolError(body["kind"], body["message"])
    return msgspec.convert(body, ToolAnswer)
