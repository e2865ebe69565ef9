"""
Ultrathink: the lean loop with a layer around its model calls that makes any model think more thoroughly.

The loop is that of `lean_react`, untouched; `middleware.py` is the layer, and `layer.py` puts one around the other.
Models that think natively are asked to; all others get a tool to think with, a section of the system prompt, or both.
The profile `seed_literal` does what the design's document says to the letter.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from harness.agents.protocol import Agent, AgentContext, Question
from harness.errors import UsageError
from harness.modules import load_module
from harness.records.messages import Json
from harness.records.trace import EventData

from .layer import STATE, installed
from .literal import LiteralUltrathink
from .middleware import DEFAULT_BUDGET_TOKENS, UltrathinkMiddleware

BUILDS_ON = ("lean_react",)
_loop: Any = load_module(
    Path(__file__).parent.parent / BUILDS_ON[0] / "agent.py", kind="agent", code="bad-agent", package=True
)

ABOUT = "the lean loop with a layer that makes any model think: natively, with a tool, or by its prompt"
PROFILES = ("reference", "seed_literal")
DEFAULT_MODEL = "claude-sonnet-4-5"
OPTIONS: dict[str, tuple[Json, str]] = {
    **_loop.OPTIONS,
    "ultrathink": (False, "think thoroughly from the start"),
    "ultrathink_budget": (DEFAULT_BUDGET_TOKENS, "tokens to think with, 1024 to 128000, where a model takes a budget"),
    "interleaved_thinking": (True, "think between tool calls too, where a model takes a budget"),
    "fallback_mode": ("both", "what models without native thinking get: `tool`, `prompt` or `both`"),
    "strong_prompt": (False, "say in the prompt that the model must think first, not that it may"),
    "max_tokens": (0, "most tokens of a reply, thinking included; 0: the provider's own limit"),
    "layer": (True, "install the layer; without it this is the lean loop, byte for byte"),
    "sync": (False, "ask the model by the sync path"),
    "both_paths": (False, "ask the model by the sync and the async path in turn"),
}

_PICTURE = """\
question ─▶ lean loop ─▶ layer ─▶ model
               ▲           │  thinks natively: thinking parameter, legal for the model
               │           │  does not: think_step_by_step, a section of the prompt, or both
               └── tools ◀─┘  enable_ultrathink, disable_ultrathink: from the next question on
"""


def build(ctx: AgentContext) -> Agent:
    """Build the agent with the layer of its profile."""
    return assembled(ctx, LiteralUltrathink if ctx.profile == "seed_literal" else UltrathinkMiddleware)


def assembled(ctx: AgentContext, kind: type[UltrathinkMiddleware]) -> Agent:
    """
    The lean loop in a layer of *kind*; where the options leave the layer out, the lean loop itself.

    Raises:
        UsageError: There is no such fallback mode.
    """
    options = {name: default for name, (default, _) in OPTIONS.items()} | dict(ctx.options)
    if not options["layer"]:
        bare: Agent = _loop.build(ctx)
        return bare
    try:
        middleware = kind(
            int(options["ultrathink_budget"]),
            bool(options["ultrathink"]),
            bool(options["interleaved_thinking"]),
            options["fallback_mode"],
            strong_prompt=bool(options["strong_prompt"]),
            capability_of=ctx.models.capability,
        )
    except ValueError as error:
        raise UsageError("bad-option", str(error), hint="`harness explain ultrathink` lists the options") from None
    inside = installed(
        middleware,
        ctx,
        max_tokens=int(options["max_tokens"]) or None,
        sync=bool(options["sync"]),
        both_paths=bool(options["both_paths"]),
    )
    return Ultrathink(ctx, middleware, _loop.build(inside))


def draw() -> str:
    """The design as a picture."""
    return _PICTURE


class Ultrathink:
    """A loop inside the layer: what was switched on in an earlier turn of the user still is."""

    def __init__(self, ctx: AgentContext, middleware: UltrathinkMiddleware, loop: Agent) -> None:
        self._ctx = ctx
        self._middleware = middleware
        self._loop = loop

    async def run(self, question: Question) -> AsyncIterator[EventData]:
        """Work on *question* as the loop does."""
        if not question.resume:  # a session that is resumed is loaded by the loop
            saved = self._ctx.state.load(question.session_id)
            self._middleware.set_state((saved or {}).get(STATE))
        async for event in self._loop.run(question):
            yield event
