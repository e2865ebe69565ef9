"""Putting the layer around a loop: a context like the one that the loop would have got, with the middleware in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from harness.agents.protocol import AgentContext, Models, Reply, ReplyStream, State, Tools
from harness.records.messages import Json, Message, ModelRequest, ToolSpec
from harness.records.trace import EventData

from .middleware import DISABLE, ENABLE, THINK, UltrathinkMiddleware

STATE = "ultrathink"
"""The part of a session's state that is the layer's."""
OWN = (ENABLE, DISABLE, THINK)
_OF_REQUEST = tuple(name for name in ModelRequest.__struct_fields__ if name not in ("messages", "model", "seed"))


def installed(
    middleware: UltrathinkMiddleware,
    ctx: AgentContext,
    *,
    max_tokens: int | None = None,
    sync: bool = False,
    both_paths: bool = False,
) -> AgentContext:
    """
    A context for a loop whose model calls all go through *middleware*.

    Args:
        middleware: Its tools are registered, and its events go into the trace of *ctx*.
        ctx: The context of the trial.
        max_tokens: The most tokens of a reply where the loop does not say; None: the provider's own.
        sync: Ask the model by the sync path.
        both_paths: Ask it by the sync and the async path in turn.
    """
    for function in (middleware.enable_ultrathink, middleware.disable_ultrathink, middleware.think_step_by_step):
        ctx.tools.add(function)
    models = LayeredModels(ctx.models, middleware, max_tokens=max_tokens, sync=sync, both_paths=both_paths)

    def emit(event: EventData) -> None:
        ctx.emit(event, turn=models.turn)

    middleware.emit = emit
    return cast("AgentContext", LayeredContext(ctx, models, middleware))


class LayeredContext:
    """An agent's context with other models, tools and state; everything else is the trial's own."""

    profile = "reference"
    """The loop's: the profiles of this design are not its own."""

    def __init__(self, ctx: AgentContext, models: LayeredModels, middleware: UltrathinkMiddleware) -> None:
        self.models = cast("Models", models)
        self.tools = cast("Tools", LayeredTools(ctx.tools, OWN))
        self.state = cast("State", LayeredState(ctx.state, middleware))
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


class LayeredModels:
    """A model client whose calls go through the middleware; embeddings and the rest are the trial's own."""

    def __init__(
        self,
        models: Models,
        middleware: UltrathinkMiddleware,
        *,
        max_tokens: int | None = None,
        sync: bool = False,
        both_paths: bool = False,
    ) -> None:
        self.turn: int | None = None
        """The turn of the last reply: what the layer says beside a tool call belongs there."""
        self._models = models
        self._middleware = middleware
        self._max_tokens = max_tokens
        self._sync = sync
        self._both_paths = both_paths

    async def chat(self, messages: Sequence[Message], **options: Any) -> Reply:
        """Ask the model as the layer wants it asked, by the path that is chosen."""
        sync, self._sync = self._sync, self._sync != self._both_paths
        if sync:
            return self.chat_sync(messages, **options)
        request, place = self._request(messages, options)
        reply = await self._middleware.awrap_model_call(
            request, lambda asked: self._models.chat(asked.messages, **_options(asked), **place)
        )
        self.turn = reply.turn
        return reply

    def chat_sync(self, messages: Sequence[Message], **options: Any) -> Reply:
        """The sync twin of `chat`."""
        request, place = self._request(messages, options)
        reply = self._middleware.wrap_model_call(
            request, lambda asked: self._models.chat_sync(asked.messages, **_options(asked), **place)
        )
        self.turn = reply.turn
        return reply

    def stream(self, messages: Sequence[Message], **options: Any) -> ReplyStream:
        """Stream the reply to the call as the layer wants it."""
        request, place = self._request(messages, options)
        return self._middleware.wrap_model_call(
            request, lambda asked: self._models.stream(asked.messages, **_options(asked), **place)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._models, name)

    def _request(self, messages: Sequence[Message], options: Mapping[str, Any]) -> tuple[ModelRequest, dict[str, Any]]:
        """The call as a request, and what says where it stands; the section is named, so that the trace can prove it."""
        model = options.get("model") or self._models.default_model
        asked = {name: options[name] for name in _OF_REQUEST if name in options}
        asked["tools"] = tuple(asked.get("tools", ()))
        if asked.get("max_tokens") is None:
            asked["max_tokens"] = self._max_tokens
        place = {name: value for name, value in options.items() if name not in _OF_REQUEST and name != "model"}
        place["embeds"] = {**(place.get("embeds") or {}), **self._middleware.named_sections()}
        return ModelRequest(model=model, messages=tuple(messages), **asked), place


class LayeredTools:
    """A tool belt that offers a loop everything but the layer's own tools: those are offered by the middleware."""

    def __init__(self, tools: Tools, own: Sequence[str]) -> None:
        self._tools = tools
        self._own = frozenset(own)

    def specs(self, *chosen: str) -> tuple[ToolSpec, ...]:
        """The trial's tools without the layer's."""
        return tuple(spec for spec in self._tools.specs(*chosen) if spec.name not in self._own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)


class LayeredState:
    """A state store in which the layer's part is saved and loaded with the loop's."""

    def __init__(self, state: State, middleware: UltrathinkMiddleware) -> None:
        self._state = state
        self._middleware = middleware

    def save(self, session_id: str, parts: Mapping[str, Json]) -> None:
        """Save *parts*, and beside them what is switched on."""
        self._state.save(session_id, {**parts, STATE: self._middleware.get_state()})

    def load(self, session_id: str) -> dict[str, Json] | None:
        """Load what was saved, and switch as it says."""
        saved = self._state.load(session_id)
        self._middleware.set_state((saved or {}).get(STATE))
        return saved


def _options(request: ModelRequest) -> dict[str, Any]:
    """*request* as keyword arguments of `Models.chat`."""
    return {name: getattr(request, name) for name in _OF_REQUEST} | {"model": request.model}
