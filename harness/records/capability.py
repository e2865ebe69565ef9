"""How a model thinks natively, as a record: which parameters it takes for it, and which it then refuses."""

from __future__ import annotations

from typing import Literal

import msgspec

MIN_BUDGET_TOKENS = 1024
"""The least budget that the API takes; a budget must also stay below `max_tokens`."""
MAX_BUDGET_TOKENS = 128_000
"""The most that a configuration may ask for; no rule of the API."""
INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14"
"""The beta that lets models with a budget think between tool calls; the budget then spans the whole turn."""

Kind = Literal["budget", "adaptive", "always_on", "none"]
Sampling = Literal["free", "default_while_thinking", "refused"]
ForcedTool = Literal["free", "not_while_thinking", "refused"]


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """How a model thinks natively and which parameters it then refuses; a refusal is a 400 of the provider."""

    kind: Kind = "none"
    """`budget`: type `enabled` with a budget · `adaptive`: type `adaptive` · `always_on`: cannot be left out · `none`."""
    takes_budget: bool = False
    """Whether type `enabled` with a budget is accepted; on `adaptive` models that is deprecated, where it works."""
    on_by_default: bool = False
    """Whether the model thinks when the parameter is absent."""
    can_disable: bool = False
    """Whether type `disabled` is accepted."""
    disable_up_to_effort: str | None = None
    """Type `disabled` is accepted only up to this effort; None: at any."""
    lowest: Literal["disabled", "between_tools", "low_effort"] = "disabled"
    """The least thinking that can be asked for."""
    efforts: tuple[str, ...] = ()
    """The effort levels that are accepted, from least to most."""
    default_effort: str | None = None
    sampling: Sampling = "free"
    """`default_while_thinking`: temperature 1, no top_k · `refused`: temperature and top_p are never accepted."""
    forced_tool: ForcedTool = "free"
    """Whether a tool may be forced by `tool_choice`."""
    preserved: bool = False
    """Whether each thinking block is bound to the messages before it, which then may not change."""
    interleave_header: bool = False
    """Whether thinking between tool calls needs the beta `INTERLEAVED_THINKING`."""
    max_output_tokens: int | None = None


NO_THINKING = Capability()
"""What is known of a model that nobody knows."""
