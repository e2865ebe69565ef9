"""
What the design's document says to the letter, kept to show what that breaks.

Models that think are known by four prefixes of their names; the tools and the section of the prompt are asked for
without a model, so that they are the fallback's for every model; and the section stands whether or not anything is on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from harness.records.messages import ModelRequest, Thinking

from .middleware import UltrathinkMiddleware

PREFIXES = ("claude-4", "claude-opus-4", "claude-sonnet-4", "claude-haiku-4")


class LiteralUltrathink(UltrathinkMiddleware):
    """The layer of the document."""

    def requires_fallback(self, model: str | None = None) -> bool:
        """Whether none of the prefixes is in the model's name."""
        return model is None or not any(prefix in model.lower() for prefix in PREFIXES)

    def get_tools(self, model: str | None = None) -> tuple[Callable[..., Any], ...]:
        """All three tools: the question whether *model* needs a fallback is asked without it."""
        return (self.enable_ultrathink, self.disable_ultrathink, self.think_step_by_step)

    def get_system_prompt_addition(self, model: str | None = None) -> str:
        """The section that names the tool, for the same reason."""
        return self._section(names_tool=True)

    def _prepared(self, request: ModelRequest) -> ModelRequest:
        prepared = super()._prepared(request)
        section = self.get_system_prompt_addition()
        there = any(section in message.text for message in prepared.messages if message.role == "system")
        return prepared if there else self._instructed(prepared)

    def _thinking(self, request: ModelRequest) -> ModelRequest:
        return msgspec.structs.replace(request, thinking=Thinking("enabled", self._in_force.budget_tokens))

    def _idle(self, request: ModelRequest) -> ModelRequest:
        return request
