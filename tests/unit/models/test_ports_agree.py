"""
The 84 cells: each kind of answer of both providers, recorded through litellm over real HTTP on each of its transports,
then replayed offline on the fast and the wire port. All three must be the same to an agent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cassettes import transport as wiring
from harness.cassettes.file import Cassette, Provenance, load
from harness.cassettes.fingerprint import Fingerprinter
from harness.cassettes.player import Player
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Scrubber
from harness.models.agreement import Outcome, differences, disagreements, outcome, outcome_sync
from harness.models.fast import FastPort
from harness.models.litellm_client import close_clients
from harness.models.litellm_setup import load_litellm
from harness.models.port import CallInfo, Port
from harness.models.recording import RecordingPort
from harness.models.scripted.script import For, Reply, Script, ScriptedCall, ScriptedError, ScriptedThinking, Step
from harness.models.scripted.server import ScriptedServer
from harness.models.scripted.session import RECORDED_ORIGIN
from harness.models.wire_port import WirePort
from harness.records.messages import Message, ModelRequest, Thinking, ToolSpec, Usage

PROVIDERS = {"openai": "gpt-4.1-mini", "anthropic": "claude-sonnet-4-5"}
TRANSPORTS = ("sync-httpx", "async-aiohttp", "async-httpx")
_USAGE = Usage(120, 40, 12, 100)
_WEATHER = ScriptedCall(name="get_weather", args={"city": "Zürich", "days": 2})
_TIME = ScriptedCall(name="get_time", args={})
_TOOLS = (
    ToolSpec("get_weather", "Weather.", {"type": "object", "properties": {"city": {"type": "string"}}}),
    ToolSpec("get_time", "Time.", {"type": "object", "properties": {}}),
)
ANSWERS = {
    "text": Reply(text="Grüße aus 北京 👋\n\n* one\n", chunks=4, usage=_USAGE),
    "tool": Reply(tool_calls=(_WEATHER,), usage=_USAGE),
    "two-tools": Reply(text="Let me look.", tool_calls=(_WEATHER, _TIME)),
    "thinking": Reply(thinking=(ScriptedThinking(text="Two hm.", signature="c2ln"),), tool_calls=(_WEATHER,)),
    "gzip": Reply(text="packed", gzip=True),
    "truncated": Reply(text="one two three four", chunks=4, cut=True),
    "429": Reply(status=429, error=ScriptedError(message="Slow down"), retry_after=2),
    "malformed": Reply(tool_calls=(ScriptedCall(name="get_weather", args_raw='{"city": "Lis'),)),
}
EXTRA = {
    "redacted": Reply(
        thinking=(ScriptedThinking(text="Hm.", signature="c2ln"), ScriptedThinking(redacted="b3BhcXVl")),
        text="Done.",
        tool_calls=(_WEATHER,),
    ),
    "empty": Reply(text="", usage=Usage(5, 0)),
    "length": Reply(text="cut sho", finish_reason="length"),
    "refusal": Reply(text="No.", finish_reason="refusal"),
    "error-event": Reply(text="one two three", chunks=3, cut=4, error=ScriptedError(message="Overloaded")),
    "dropped": Reply(text="one two three four", chunks=4, drop=True),
    "400": Reply(status=400, error=ScriptedError(message="bad request")),
    "401": Reply(status=401, error=ScriptedError(message="who are you")),
    "403": Reply(status=403, error=ScriptedError(message="not you")),
    "404": Reply(status=404, error=ScriptedError(message="no such model")),
    "413": Reply(status=413, error=ScriptedError(message="too much")),
    "500": Reply(status=500, error=ScriptedError(message="oops")),
    "502": Reply(status=502, error=ScriptedError(message="bad gateway")),
    "503": Reply(status=503, error=ScriptedError(message="later")),
    "529": Reply(status=529, error=ScriptedError(message="Overloaded")),
    "too-long": Reply(status=400, error=ScriptedError(message="prompt is too long: 9 > 8", kind="context_length")),
    "nonsense": Reply(body="<html>proxy error</html>"),
}
_ANTHROPIC_ONLY = {"thinking", "redacted"}
_STREAM_ONLY = {"truncated", "error-event"}


class Cell(NamedTuple):
    """One answer, by whom, over which transport, whole or streamed."""

    provider: str
    transport: str
    form: str
    answer: str

    @property
    def stream(self) -> bool:
        return self.form == "SSE"

    def request(self) -> ModelRequest:
        thinks = self.answer in _ANTHROPIC_ONLY
        return ModelRequest(
            model=PROVIDERS[self.provider],
            messages=(Message("system", "Be brief."), Message("user", f"{self.answer} as {self.form}?")),
            tools=_TOOLS,
            max_tokens=4000,
            thinking=Thinking("enabled", 2000) if thinks else None,
            stream=self.stream,
        )


def _cells(answers: dict[str, Reply], transports: tuple[str, ...]) -> list[Cell]:
    return [
        Cell(provider, transport, form, answer)
        for provider in PROVIDERS
        for transport in transports
        for form in ("JSON", "SSE")
        for answer in answers
        if (provider == "anthropic" or answer not in _ANTHROPIC_ONLY) and (form == "SSE" or answer not in _STREAM_ONLY)
    ]


MATRIX = _cells(ANSWERS, TRANSPORTS)
CELLS = MATRIX + _cells({"redacted": EXTRA["redacted"]}, TRANSPORTS[1:]) + _cells(EXTRA, TRANSPORTS[:1])


class Results(NamedTuple):
    """What each port made of each cell, and the cassettes by provider and transport."""

    recorded: dict[Cell, Outcome]
    fast: dict[Cell, Outcome]
    wire: dict[Cell, Outcome]
    cassettes: dict[tuple[str, str], Cassette]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """Every cell recorded from a server, and replayed after the server is gone."""
    folder = tmp_path_factory.mktemp("cassettes")
    found = Results({}, {}, {}, {})
    with ScriptedServer() as server:
        for group in _groups():
            _record(server, folder / f"{'-'.join(group)}.yaml", group, found)
    for group, cassette in found.cassettes.items():
        _ask(group, FastPort(Player(cassette)), found.fast)
        _ask(group, WirePort(Player(cassette)), found.wire)
    yield found
    wiring.uninstall()


def test_the_matrix_has_84_cells() -> None:
    """Two providers, three transports, whole and streamed, eight answers, less those that cannot be."""
    assert len(set(MATRIX)) == 84


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_an_agent_sees_the_same_on_every_port(results: Results, cell: Cell) -> None:
    """Message, tool calls, thinking, usage, finish reason and error are those that were recorded, on both replay ports."""
    assert differences(results.fast[cell], results.recorded[cell]) == []
    assert differences(results.wire[cell], results.recorded[cell]) == []


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_the_recording_is_what_the_script_said(results: Results, cell: Cell) -> None:
    """Agreement is no accident of three empty replies: text, calls, thinking and errors are those of the script."""
    reply = (ANSWERS | EXTRA)[cell.answer]
    seen = results.recorded[cell]
    if reply.status >= 400 or cell.answer in ("truncated", "error-event", "dropped", "nonsense"):
        assert seen.error
        assert reply.status in (200, seen.status)
        return

    assert (seen.error, seen.text) == ("", reply.text)
    assert [call.name for call in seen.tool_calls] == [call.name for call in reply.tool_calls]
    assert [(block.text, block.signature, block.data) for block in seen.thinking] == [
        (block.text, block.signature, block.redacted or "") for block in reply.thinking
    ]


def test_no_transport_drifts_on_replay(results: Results) -> None:
    """What litellm sends on replay is, as JSON, what it sent while recording."""
    for group, cassette in results.cassettes.items():
        player = Player(cassette)
        _ask(group, WirePort(player), {})

        assert player.drifts == []
        assert not player.unused()


_BREAKS: dict[str, Any] = {
    "text": {"text": "something else"},
    "tool_calls": {"tool_calls": ()},
    "thinking": {"thinking": ()},
    "finish_reason": {"finish_reason": "length"},
    "usage": {"usage": Usage(1, 1)},
}


@pytest.mark.parametrize("field", _BREAKS)
def test_a_broken_reader_is_reported(results: Results, monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    """A reader of ours that gets one thing wrong disagrees with litellm in exactly that."""
    import msgspec

    from harness.dialects import anthropic_reply

    honest = anthropic_reply.reply_from
    monkeypatch.setattr(
        anthropic_reply, "reply_from", lambda *args: msgspec.structs.replace(honest(*args), **_BREAKS[field])
    )
    found = disagreements(results.cassettes["anthropic", "sync-httpx"], FastPort, WirePort)

    assert {line.split(": ")[1] for line in found} == {field}


def _groups() -> list[tuple[str, str]]:
    return sorted({(cell.provider, cell.transport) for cell in CELLS})


def _numbered(group: tuple[str, str]) -> list[tuple[int, Cell]]:
    return list(enumerate((cell for cell in CELLS if cell[:2] == group), start=1))


def _record(server: ScriptedServer, path: Path, group: tuple[str, str], found: Results) -> None:
    steps = tuple(Step(target=For(call=number), reply=_scripted(cell)) for number, cell in _numbered(group))
    session = server.open(Script(str(path), steps, tuple(f"{path}:{n}" for n in range(len(steps)))))
    recorder = Recorder(path, Provenance(answered_by="scripted"), scrub=Scrubber.from_env({}))
    port = RecordingPort(
        recorder,
        answered_by="scripted",
        base_url=session.openai_base_url,
        rewrite={session.origin: RECORDED_ORIGIN},
    )
    _ask(group, port, found.recorded)
    session.close()
    recorder.finish()
    found.cassettes[group] = load(path)


def _scripted(cell: Cell) -> Reply:
    """The reply of a cell; whole answers of Anthropic carry arguments as JSON, so a malformed one is no object there."""
    if cell.answer == "malformed" and cell.provider == "anthropic" and not cell.stream:
        block = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": '{"city": "Lis'}
        usage = {"input_tokens": 9, "output_tokens": 4}
        body = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [block]}
        return Reply(body=json.dumps(body | {"stop_reason": "tool_use", "usage": usage}))
    return (ANSWERS | EXTRA)[cell.answer]


def _ask(group: tuple[str, str], port: Port, into: dict[Cell, Outcome]) -> None:
    """Ask every cell of *group* on its transport."""
    fingerprints = Fingerprinter()
    asked = []
    for number, cell in _numbered(group):
        request = cell.request()
        asked.append((cell, request, CallInfo(number=number, ask=fingerprints.ask(request))))
    if group[1] == "sync-httpx":
        into.update({cell: outcome_sync(port, request, call) for cell, request, call in asked})
        asyncio.run(close_clients())
        return

    async def ask() -> None:
        for cell, request, call in asked:
            into[cell] = await outcome(port, request, call)
        await close_clients()

    litellm = load_litellm()
    litellm.disable_aiohttp_transport = group[1] == "async-httpx"
    try:
        asyncio.run(ask())
    finally:
        litellm.disable_aiohttp_transport = False
