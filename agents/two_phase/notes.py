"""What both phases are shown: what is known about the user, what was thought, and one line for each tool call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.agents.protocol import ToolOutcome
from harness.records.messages import Json, Message

from . import prompts

LAST_MESSAGES = 20
MOST_MESSAGE_CHARS = 2000
MOST_SOURCE_CHARS = 200
"""Of a call, in the line that tells its result."""


@dataclass(slots=True)
class Known:
    """What is known about the user."""

    profile: str
    feelings: str
    conversation: str
    """Earlier turns; empty at the beginning of a conversation."""
    knowledge: str = ""
    lines: int = 0
    """How many result lines these texts are."""
    turns: Sequence[str] = ()
    """The messages of the conversation, one by one."""

    def embeds(self) -> dict[str, str]:
        """The texts under the names that traces give them."""
        texts = {"profile": self.profile, "history_of_feelings": self.feelings, "conversation": self.conversation}
        texts |= {f"turn/{place}": text for place, text in enumerate(self.turns)}
        return {name: text for name, text in texts.items() if text}


@dataclass(slots=True)
class Thinking:
    """What the phase that thinks came to."""

    lines: list[str] = field(default_factory=list)
    """One for each tool call, in order."""
    thoughts: list[str] = field(default_factory=list)
    outcomes: dict[bytes, ToolOutcome] = field(default_factory=dict)
    """What an equal call is answered with."""
    _counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def embeds(self) -> dict[str, str]:
        """The lines under the names that traces give them."""
        return {f"result/{place}": line for place, line in enumerate(self.lines)}

    def tell(self, source: str, outcome: ToolOutcome) -> str:
        """Add the line of a call: what was asked for, and what came of it."""
        call = " ".join(source.split())
        call = call if len(call) <= MOST_SOURCE_CHARS else f"{call[: MOST_SOURCE_CHARS - 1]}…"
        self.lines.append(f"Tool {call} {'returned' if outcome.ok else 'failed'}: {outcome.text}")
        return self.lines[-1]

    def count(self, tool: str, *, ok: bool, cached: bool, ms: int) -> None:
        """Add a call of *tool* to its metrics."""
        counts = self._counts.setdefault(tool, {"calls": 0, "ok": 0, "cached": 0, "ms": 0})
        for name, value in {"calls": 1, "ok": ok, "cached": cached, "ms": ms}.items():
            counts[name] += int(value)

    def metrics(self) -> str:
        """Calls, good ones, reused ones and milliseconds of each tool, as JSON; empty where none was called."""
        return json.dumps(self._counts, sort_keys=True) if self._counts else ""


def conversation(messages: Sequence[Message]) -> str:
    """The last of *messages* as text, a line each."""
    return "\n".join(_said(message) for message in messages[-LAST_MESSAGES:])


def last_turns(messages: Sequence[Message]) -> list[str]:
    """What each of the last of *messages* says, as far as a conversation shows it."""
    return [message.text[:MOST_MESSAGE_CHARS] for message in messages[-LAST_MESSAGES:]]


def shortened(text: str, most: int) -> str:
    """*text*, cut to *most* characters with a mark that says so where it is longer."""
    return text if len(text) <= most else text[:most] + prompts.CUT.format(shown=most, all=len(text))


def last_feelings(value: Json, most: int) -> dict[str, Json] | None:
    """*value* with the last *most* of its list of feelings; None where it has no such list."""
    feelings = value.get("feelings") if isinstance(value, dict) else None
    return {**value, "feelings": feelings[-most:]} if isinstance(feelings, list) else None


def _said(message: Message) -> str:
    said = prompts.SAID_BY_USER if message.role == "user" else prompts.SAID_BY_GUARDIAN
    return said.format(text=message.text[:MOST_MESSAGE_CHARS])
