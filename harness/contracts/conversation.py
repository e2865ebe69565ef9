"""CX10: thinking comes back as it was given, and what was said stays said."""

from __future__ import annotations

from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import ModelCall, TrialView


@contract("CX10", needs=("llm_result",))
def preserved_thinking(view: TrialView) -> Iterator[Found]:
    """
    Inside a tool loop thinking blocks go back unchanged and in order, and earlier messages stay byte for byte equal.

    A configuration with `allows_prefix_change` may change earlier messages, never the blocks.
    """
    free = bool(view.config.get("allows_prefix_change"))
    for call in view.calls:
        reply = call.reply
        if reply is None or not reply.tool_calls or call.turn is None or not view.uses_in(call.turn):
            continue  # calls that were never run, such as those of a model that was offered none, begin no loop
        after = continuation(view, call)
        if after is None:
            continue
        yield TRIGGERED
        asked = [block.digest for block in reply.thinking_blocks]
        returned = [digest for place, digest in after.data.thinking_digests if place >= call.data.n_messages]
        witness = [call.event, call.result, after.event]
        if asked and returned != asked:
            yield broken(witness, _what_happened(asked, returned))
        changed = _first_changed(call, after)
        if changed is not None and not free:
            what = "the system prompt" if changed == 0 and call.data.system_digest else f"message {changed}"
            yield broken(witness, f"{what} changed inside a tool loop")


def continuation(view: TrialView, call: ModelCall) -> ModelCall | None:
    """The call that carries on the conversation of *call* with the results of the tools it asked for, or None."""
    asked = len(call.reply.tool_calls) if call.reply is not None else 0
    for other in view.calls:
        if other.event.seq > call.event.seq and other.conversation == call.conversation:
            grown = other.data.n_messages >= call.data.n_messages + 1 + asked
            return other if grown else None
    return None


def _first_changed(call: ModelCall, after: ModelCall) -> int | None:
    earlier, later = call.data.prefix_digests, after.data.prefix_digests
    if later[: len(earlier)] == earlier:
        return None
    return next((n for n, (was, now) in enumerate(zip(earlier, later, strict=False)) if was != now), len(later))


def _what_happened(asked: list[str], returned: list[str]) -> str:
    if not returned:
        return f"{len(asked)} thinking blocks were not returned with the tool results"
    if sorted(asked) == sorted(returned):
        return "thinking blocks were returned in another order"
    missing = [digest for digest in asked if digest not in returned]
    extra = [digest for digest in returned if digest not in asked]
    if missing and not extra:
        return f"{len(missing)} of {len(asked)} thinking blocks were not returned"
    return "thinking blocks were returned changed"
