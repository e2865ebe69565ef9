"""Record an agent's model traffic once, replay today's agent against it offline, and hold every run to contracts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.contracts import broken, contract, triggered
    from harness.records.faults import ModelError
    from harness.records.messages import Message, ToolSpec
    from harness.records.tool import ToolAnswer, ToolError, tool
    from harness.records.trace import ErrorRaised, FinalAnswer

__all__ = [
    "ErrorRaised",
    "FinalAnswer",
    "Message",
    "ModelError",
    "ToolAnswer",
    "ToolError",
    "ToolSpec",
    "__version__",
    "broken",
    "contract",
    "tool",
    "triggered",
]

__version__ = "0.1.0"

_HOMES = {
    "ErrorRaised": "harness.records.trace",
    "FinalAnswer": "harness.records.trace",
    "Message": "harness.records.messages",
    "ModelError": "harness.records.faults",
    "ToolAnswer": "harness.records.tool",
    "ToolError": "harness.records.tool",
    "ToolSpec": "harness.records.messages",
    "broken": "harness.contracts",
    "contract": "harness.contracts",
    "tool": "harness.records.tool",
    "triggered": "harness.contracts",
}
"""Where each public name lives; it is imported when it is first asked for, so that `harness --help` stays cheap."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
