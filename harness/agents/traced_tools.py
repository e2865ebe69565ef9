"""The tool belt of a trial: it runs tools, and writes each call and its result into the trace itself."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, cast

import msgspec

from harness.agents.protocol import ToolOutcome
from harness.agents.trace_writer import TraceWriter
from harness.errors import HarnessError, LimitExceededError
from harness.records.case import Fault, Limits
from harness.records.digest import canonical_json, digest
from harness.records.messages import Json, ToolSpec
from harness.records.tool import Tool, ToolAnswer, ToolError, as_tool
from harness.records.trace import Effect, OfferedTool, ToolCalled, ToolResult

External = Callable[[Tool, dict[str, Json], Callable[[], Awaitable[Json]]], Awaitable[Json]]
"""Answers a tool with effect `external`: from the recording, or by running it and recording what it says."""

MOST_REMEMBERED = 4096
"""Tools whose form in a trace is remembered."""

ErrorKind = Literal["unknown_tool", "invalid_args", "denied", "not_found", "timeout", "crash"]
Source = Literal["native", "json_action", "tool_code", "internal"]


class Passing(Protocol):
    """The part of a clock that tools need."""

    def ms(self) -> int: ...
    def advance_to(self, ms: int) -> None: ...


class _Done(msgspec.Struct, frozen=True):
    """What running a tool came to, before it stands in the trace."""

    ok: bool
    text: str
    value: Json = None
    error_kind: ErrorKind | None = None
    effects: tuple[Effect, ...] = ()
    hits: int | None = None
    ms: int = 0
    expected: Json = None
    truncated: bool = False
    cached: bool = False


class TracedTools:
    """`harness.agents.protocol.Tools` over the world's functions and the agent's own."""

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]],
        *,
        writer: TraceWriter,
        clock: Passing,
        limits: Limits,
        faults: Iterable[Fault] = (),
        external: External | None = None,
        calls_before: int = 0,
        oracles: Callable[[], Mapping[str, Callable[..., Json]]] = dict,
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._oracles = oracles
        self._writer = writer
        self._clock = clock
        self._limits = limits
        self._faults = {fault.tool: fault.kind for fault in faults if fault.tool}
        self._external = external
        self.offered: dict[int, frozenset[str]] = {}
        """Names that each model call offered, by turn; `TracedModels` fills it."""
        self.asked: dict[str, int] = {}
        """The turn of each call that a model asked for, by its id; `TracedModels` fills it."""
        self.calls = 0
        self._calls_before = calls_before
        self.writes = 0
        self.unfit: HarnessError | None = None
        """Why nothing can be said of this trial: a tool's own means failed, such as a database that does not answer."""
        self.faulted: set[str] = set()
        """Tools whose fault the case declares and that were called."""
        self._last_id = 0
        self._ran: list[tuple[ToolOutcome, Mapping[str, Json] | None]] = []
        for function in functions:
            self.add(function)

    def add(self, function: Callable[..., Any]) -> None:
        tool = as_tool(function)
        self._tools[tool.name] = tool

    def specs(self, *names: str) -> tuple[ToolSpec, ...]:
        chosen = self._tools.values() if not names else [self._tools[name] for name in names if name in self._tools]
        return tuple(tool.spec for tool in chosen)

    def registry(self) -> tuple[OfferedTool, ...]:
        """Every tool of the trial, as `trial_started` states it."""
        return tuple([_offered(tool) for tool in self._tools.values()])

    async def call(
        self,
        name: str,
        args: Mapping[str, Json] | None,
        *,
        call_id: str = "",
        turn: int | None = None,
        args_raw: str = "",
        source: str = "native",
        block_index: int | None = None,
        round: int | None = None,
        cut: Callable[[Json, str], str] | None = None,
    ) -> ToolOutcome:
        tool = self._tools.get(name)
        turn = self._turn_of(turn, call_id, source)
        call_id, span = self._called(
            name, args, call_id, args_raw=args_raw, source=source, block_index=block_index, turn=turn, round_=round
        )
        try:
            self._count(tool)
        except LimitExceededError as error:  # the call is not run, and the trace says so
            self._resulted(name, call_id, _failed("denied", str(error)), span=span, turn=turn, round_=round)
            raise
        done = await self._run(tool, name, args, turn=turn, source=source)
        if cut is not None and done.ok:
            done = _shortened(done, cut)
        if done.ms:
            self._clock.advance_to(self._clock.ms() + done.ms)
        outcome = self._resulted(name, call_id, done, span=span, turn=turn, round_=round)
        self._ran.append((outcome, args))
        return outcome

    def is_write(self, name: str) -> bool:
        tool = self._tools.get(name)
        return tool is not None and tool.effect == "write"

    def refuse(
        self,
        name: str,
        args: Mapping[str, Json] | None,
        reason: str,
        *,
        call_id: str = "",
        turn: int | None = None,
        args_raw: str = "",
        source: str = "native",
        block_index: int | None = None,
        round: int | None = None,
    ) -> ToolOutcome:
        turn = self._turn_of(turn, call_id, source)
        call_id, span = self._called(
            name, args, call_id, args_raw=args_raw, source=source, block_index=block_index, turn=turn, round_=round
        )
        return self._resulted(name, call_id, _failed("denied", reason), span=span, turn=turn, round_=round)

    def reuse(
        self,
        outcome: ToolOutcome,
        args: Mapping[str, Json] | None,
        *,
        call_id: str = "",
        turn: int | None = None,
        args_raw: str = "",
        source: str = "native",
        block_index: int | None = None,
        round: int | None = None,
    ) -> ToolOutcome:
        if not any(ran is outcome and canonical_json(given) == canonical_json(args) for ran, given in self._ran):
            raise ValueError("only what `call` gave to the same tool and arguments can be reused")
        turn = self._turn_of(turn, call_id, source)
        call_id, span = self._called(
            outcome.tool, args, call_id, args_raw=args_raw, source=source, block_index=block_index, turn=turn,
            round_=round,
        )  # fmt: skip
        kind = cast("ErrorKind | None", outcome.error_kind)
        done = _Done(outcome.ok, outcome.text, outcome.value, kind, (), outcome.hits, cached=True)
        return self._resulted(outcome.tool, call_id, done, span=span, turn=turn, round_=round)

    def _called(
        self,
        name: str,
        args: Mapping[str, Json] | None,
        call_id: str,
        *,
        args_raw: str,
        source: str,
        block_index: int | None = None,
        turn: int | None,
        round_: int | None,
    ) -> tuple[str, str]:
        """Write the call into the trace; its id and its span."""
        call_id = call_id or self._next_id()
        tool = self._tools.get(name)
        span = self._writer.span()
        called = ToolCalled(
            call_id=call_id, tool=name, args=dict(args) if args is not None else None, args_raw=args_raw,
            source=cast("Source", source), block_index=block_index, effect=tool.effect if tool else "none",
        )  # fmt: skip
        self._writer.emit(called, span=span, turn=turn, round_=round_)
        return call_id, span

    def _resulted(
        self, name: str, call_id: str, done: _Done, *, span: str, turn: int | None, round_: int | None
    ) -> ToolOutcome:
        """Write the result into the trace; what the agent gets of it."""
        result = ToolResult(
            call_id=call_id, tool=name, ok=done.ok, error_kind=done.error_kind, text=done.text,
            value_digest=digest(done.value), hits=done.hits, effects=done.effects, ms=done.ms,
            expected=done.expected, truncated=done.truncated, cached=done.cached,
        )  # fmt: skip
        self._writer.emit(result, span=span, turn=turn, round_=round_)
        return ToolOutcome(
            call_id=call_id, tool=name, ok=done.ok, text=done.text, value=done.value, error_kind=done.error_kind,
            effects=done.effects, hits=done.hits,
        )  # fmt: skip

    def _turn_of(self, turn: int | None, call_id: str, source: str) -> int | None:
        """The turn of a call whose agent did not say it, by the id under which a model asked for it."""
        return self.asked.get(call_id) if turn is None and source == "native" else turn

    def _next_id(self) -> str:
        self._last_id += 1
        return f"call-{self._last_id}"

    def _count(self, tool: Tool | None) -> None:
        self.calls += 1
        most = self._limits.tool_calls
        if most is not None and self._calls_before + self.calls > most:
            raise LimitExceededError("tool_calls", most)
        if tool is not None and tool.effect == "write":
            self.writes += 1

    async def _run(
        self, tool: Tool | None, name: str, args: Mapping[str, Json] | None, *, turn: int | None, source: str
    ) -> _Done:
        offered = self.offered.get(turn) if turn is not None and source == "native" else None
        if tool is None or (offered is not None and name not in offered):
            known = ", ".join(sorted(offered if offered is not None else self._tools))
            return _failed("unknown_tool", f"no tool named {name}; available: {known or 'none'}")
        if args is None:
            return _failed("invalid_args", f"arguments for {name} are not a JSON object")
        fault = self._faults.get(name)
        if fault is not None:
            self.faulted.add(name)
            return _failed(cast("ErrorKind", fault), f"{name}: {fault}", ms=tool.ms)
        try:
            checked = tool.check(args)
            done = _answered(await self._invoke(tool, checked), tool.ms)
        except ToolError as error:
            return _failed(cast("ErrorKind", error.kind), error.message, ms=tool.ms)
        except TimeoutError as error:
            return _failed("timeout", str(error) or f"{name} timed out", ms=tool.ms)
        except HarnessError as error:
            self.unfit = self.unfit or error
            return _failed("crash", f"{name} failed: {error.message}", ms=tool.ms)
        except Exception as error:  # noqa: BLE001  # a tool's crash is a fact for the model, never the end of the run
            return _failed("crash", f"{name} failed: {type(error).__name__}: {error}", ms=tool.ms)
        oracle = self._oracles().get(name) if tool.effect == "read" else None  # loaded at the first call that reads
        return done if oracle is None else msgspec.structs.replace(done, expected=_foretold(oracle, checked))

    async def _invoke(self, tool: Tool, args: dict[str, Json]) -> Json:
        if tool.effect == "external" and self._external is not None:
            return await self._external(tool, args, lambda: _awaited(tool.function(**args)))
        value = tool.function(**args)
        return await value if inspect.isawaitable(value) else value


_offered_as: dict[tuple[str, str], OfferedTool] = {}


def _offered(tool: Tool) -> OfferedTool:
    """*tool* as a trace states it; made once for each schema and effect."""
    key = (tool.schema_digest, tool.effect)
    known = _offered_as.get(key)
    if known is None:
        schema = tool.spec.parameters
        types = {
            name: part["type"] if isinstance(part.get("type"), str) else ""
            for name, part in schema["properties"].items()
        }
        required = tuple(schema.get("required", ()))
        known = OfferedTool(tool.name, tool.schema_digest, tool.effect == "write", types, required)
        if len(_offered_as) >= MOST_REMEMBERED:
            _offered_as.clear()
        _offered_as[key] = known
    return known


async def _awaited(value: Any) -> Json:
    return await value if inspect.isawaitable(value) or asyncio.isfuture(value) else value


def _answered(value: Json, ms: int) -> _Done:
    if isinstance(value, ToolAnswer):
        return _Done(True, _as_text(value.value), value.value, None, value.effects, value.hits, ms)
    return _Done(True, _as_text(value), value, None, (), None, ms)


def _foretold(oracle: Callable[..., Json], args: Mapping[str, Json]) -> Json:
    """What *oracle* says; where it fails, that is what the trace says, for the contract that wanted to compare."""
    try:
        return oracle(**args)
    except Exception as error:  # noqa: BLE001  # an oracle is no part of the run that it watches
        return {"oracle_failed": f"{type(error).__name__}: {error}"}


def _shortened(done: _Done, cut: Callable[[Json, str], str]) -> _Done:
    text = cut(done.value, done.text)
    return done if text == done.text else msgspec.structs.replace(done, text=text, truncated=True)


def _failed(kind: ErrorKind, message: str, *, ms: int = 0) -> _Done:
    text = canonical_json({"error": kind, "message": message}).decode()
    return _Done(False, text, None, kind, (), None, ms)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
