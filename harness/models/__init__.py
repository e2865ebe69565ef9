"""
The model client's ports: `fast` and `wire` answer from a cassette, `live` asks a server, `recording` writes what it asks.

`open_port` imports only what the port needs: `fast` needs neither litellm nor HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.cassettes.player import Player
    from harness.models.port import Port

__all__ = ["open_port"]


def open_port(
    kind: Literal["fast", "wire", "live"],
    *,
    player: Player | None = None,
    base_url: str | None = None,
    ask_for: Mapping[str, str] | None = None,
) -> Port:
    """
    Open a port.

    A cassette that holds something our own readers do not know is opened on `wire` when `fast` is asked for: the port's
    *name* says which one it became.

    Args:
        kind: `fast` or `wire` to play, `live` to ask; `harness.models.recording.RecordingPort` records.
        player: What `fast` and `wire` play.
        base_url: The server that `live` asks; None for the providers themselves.
        ask_for: The name that a server knows a model by, where it is not our own.

    Raises:
        UsageError: *kind* is unknown or has no *player* (`no-port`), or litellm is not installed (`no-litellm`).
    """
    if kind == "live":
        from harness.models.live import LivePort

        return LivePort(base_url, ask_for=ask_for)
    if player is not None and kind == "fast":
        from harness.models.fast import FastPort, unknown_to_fast

        if not unknown_to_fast(player):
            return FastPort(player)
    if player is not None and kind in ("fast", "wire"):
        from harness.models.wire_port import WirePort

        return WirePort(player, ask_for=ask_for)
    because = "needs a cassette" if kind in ("fast", "wire") else "is not known"
    raise UsageError("no-port", f"port `{kind}` {because}", hint="ports are `fast`, `wire` and `live`")
