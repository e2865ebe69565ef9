"""
One stage asking its model: the stage's model and parameters, tries, tools, and replies that were given before.

Every try is a model call like any other. A writing tool runs at most once a turn, and never a second time with the same
arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.agents.protocol import AgentContext, Reply
from harness.records.digest import canonical_json, digest
from harness.records.faults import ModelError
from harness.records.messages import Json, Message, ToolCall
from harness.records.trace import ConfigResolved, Warned

from . import prompts
from .composing import Composed, found_line
from .graph import Node
from .state import State

TRIES = 4
"""A call and three more, after waits of 1, 2 and 4 s where the provider asks for none."""
LONGEST_RESULT = 1_500
"""Characters of a tool result that later stages are shown."""
MOST_CACHED = 32
PARAMETERS = ("temperature", "max_tokens", "top_p", "effort", "stop")
"""What `llm_params` may set; a node's own values win."""


class Asker:
    """The model client of one run. *save* writes a snapshot of the state."""

    def __init__(
        self,
        ctx: AgentContext,
        save: Callable[[State], None],
        *,
        models: Mapping[str, str],
        params: Mapping[str, Json],
        max_tool_steps: int,
        cached: bool,
    ) -> None:
        self._ctx = ctx
        self._save = save
        self._models = models
        self._params = dict(params)
        self._max_tool_steps = max_tool_steps
        self._cached = cached

    async def ask(
        self, node: Node, request: Composed, *, purpose: str, slot: str, tries: int = TRIES, **more: Any
    ) -> Reply:
        """
        Ask the model of *node*, again where that may help: at most *tries* times.

        Raises:
            ModelError: It helped nothing, or could not.
        """
        params = self._settings(node)
        for attempt in range(tries):
            try:
                return await self._ctx.models.chat(
                    request.messages, purpose=purpose, stage=node.stage, slot=slot,
                    model=self._models.get(node.stage), embeds=request.embeds, **params, **more,
                )  # fmt: skip
            except ModelError as error:
                if not error.retryable or attempt == tries - 1 or (error.kind == "timeout" and "timeout_ms" in more):
                    raise
                await self._ctx.clock.sleep((error.retry_after_ms or 1000 * 2**attempt) / 1000)
        raise AssertionError("unreachable: the last try returns or raises")

    async def text(self, state: State, node: Node, request: Composed, *, purpose: str, slot: str, **more: Any) -> str:
        """
        Ask for a text, and run the tools that the model asks for on the way. *request* grows by what is said.

        Raises:
            ModelError: The provider failed, or the model came to no text.
        """
        specs = self._ctx.tools.specs() if node.tools else ()
        for step in range(self._max_tool_steps + 1):
            last = not specs or step == self._max_tool_steps
            if specs:
                more |= {"tools": specs, "tool_choice": "none" if last else "auto"}
            reply = await self.ask(node, request, purpose=purpose, slot=slot, **more)
            if last or not reply.reply.tool_calls:
                break
            request.messages.append(reply.message)
            await self._run_tools(state, request, reply, more.get("round"))
        text = reply.text.strip()
        if not text:
            raise ModelError("bad_reply", f"the model of stage {node.stage} came to no text")
        if reply.reply.finish_reason == "length":
            self._ctx.emit(Warned(code="truncated_output", detail=node.stage), turn=reply.turn)
        request.messages.append(Message("assistant", text))
        return text

    async def text_once(self, state: State, node: Node, request: Composed, *, purpose: str, slot: str) -> str:
        """`text`, or what it was for the same request earlier in this session."""
        if not self._cached:
            return await self.text(state, node, request, purpose=purpose, slot=slot)
        model = self._models.get(node.stage) or self._ctx.models.default_model
        key = digest([node.stage, model, node.temperature, node.max_tokens, self._params, request.messages])
        known = state.cache.get(key)
        if known is not None:
            self._ctx.emit(Warned(code="cached_reply", detail=node.stage))
            return known
        text = await self.text(state, node, request, purpose=purpose, slot=slot)
        state.cache[key] = text
        while len(state.cache) > MOST_CACHED:
            del state.cache[next(iter(state.cache))]
        return text

    def _settings(self, node: Node) -> dict[str, Json]:
        """The parameters of *node*, and of `llm_params` where it leaves them open, but for what its model refuses."""
        own = {"temperature": node.temperature, "max_tokens": node.max_tokens}
        params = self._params | {name: value for name, value in own.items() if value is not None}
        model = self._models.get(node.stage)
        if self._ctx.models.capability(model).sampling == "refused":
            for name in ("temperature", "top_p"):
                if name in params:
                    why = f"{model or self._ctx.models.default_model} takes no {name}"
                    key = f"{name} of {node.stage}"
                    self._ctx.emit(ConfigResolved(key=key, asked=params.pop(name), used=None, why=why))
        return params

    async def _run_tools(self, state: State, request: Composed, reply: Reply, round_: int | None) -> None:
        """Run each call of *reply*, in order; what goes wrong in one is its result."""
        wrote = False
        for call in reply.reply.tool_calls:
            writing = self._ctx.tools.is_write(call.name)
            refusal = _refusal(state, call, wrote=wrote) if writing else ""
            wrote = wrote or writing
            place: Json = {"call_id": call.id, "turn": reply.turn, "args_raw": call.args_raw, "round": round_}
            if refusal:
                outcome = self._ctx.tools.refuse(call.name, call.args, refusal.format(tool=call.name), **place)
            else:
                outcome = await self._ctx.tools.call(call.name, call.args, **place)
            request.messages.append(outcome.message)
            if not outcome.ok:
                continue
            line = found_line(call.name, canonical_json(call.args).decode(), outcome.text[:LONGEST_RESULT])
            if line not in state.tool_results:
                state.tool_results.append(line)
            if writing:
                state.writes.append(_named(call))
                self._save(state)


def _refusal(state: State, call: ToolCall, *, wrote: bool) -> str:
    if wrote:
        return prompts.ONE_WRITE
    return prompts.WRITTEN_BEFORE if _named(call) in state.writes else ""


def _named(call: ToolCall) -> str:
    """Tool and arguments as one text, however the model spelled them."""
    return f"{call.name} {canonical_json(call.args).decode()}"
