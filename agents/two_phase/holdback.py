"""
What of a streamed answer the user may see: everything but tool syntax, as soon as it cannot become any.

    hold = HoldBack(["read_file", …])
    for piece in stream:
        show(hold.feed(piece))
    show(hold.finish())

Blocks fenced as tool_code (or tool_output) go, whole, and so do elements in which models think or call (`<think>…`). A
call that stands on a line of its own goes; inside a sentence its name stays. What is shown does not depend on where the
stream was cut into pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .tool_code import block_end

_MARKS = ("tool_code", "tool_output", "tool_outputs", "tool_call", "tool_calls")
_TAGS = (
    "think", "thinking", "reasoning", "scratchpad", "tool_call", "tool_response", "function_call", "function_calls",
    "invoke",
)  # fmt: skip
_API = "default_api."
_PRINT = "print("
_TOKENS = re.compile(r"\"\"\"|'''|[\"'()\\\n]")


class HoldBack:
    """The filter of one answer."""

    def __init__(self, tools: Iterable[str]) -> None:
        self._names = tuple(tools)
        names = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        called = rf"default_api\.\w+|{names}" if names else r"default_api\.\w+"
        self._start = re.compile(
            rf"(?<!`)(?P<ticks>`{{3,}}+)[ \t]*(?i:{'|'.join(_MARKS)})(?=\W)"
            rf"|(?<!\w)(?:print\(\s*)?(?P<call>{called})\("
            r"|(?<!\w)(?P<api>default_api\.)(?=\w)"
            rf"|<(?P<end>/?)(?P<tag>(?i:{'|'.join(_TAGS)}))\b[^<>\n]{{0,80}}>"
            rf"|(?P<word>tool_(?:code|output))(?=.)",
            re.DOTALL,
        )
        self._buffer = ""
        """What came and is not decided."""
        self._before = ""
        """The character before it."""
        self._space = ""
        """White space that is shown as soon as text follows."""
        self._shown = False
        self._gap = False
        """Whether something was left out since the last text."""
        self._ticks = 0
        """Marks of the fence of the block that is being left out; 0: none is."""
        self._seen = 0
        """Characters of the buffer in which that block's end was looked for."""
        self._tag = ""
        """Name of the element that is being left out."""
        self._call = ""
        """Name of the call that is being left out."""
        self._depth = 0
        self._alone = False
        """Whether nothing stands before that call on its line."""
        self._out: list[str] = []

    def feed(self, text: str) -> str:
        """Take the next piece of the stream; what may be shown now."""
        self._buffer += text
        return self._drained(whole=False)

    def finish(self) -> str:
        """The stream has ended; what is left to be shown."""
        self._buffer += "\n"  # white space at the end is never shown, and decides whatever is open
        return self._drained(whole=True)

    def _drained(self, *, whole: bool) -> str:
        self._out = []
        while self._step(whole=whole):
            pass
        return "".join(self._out)

    def _step(self, *, whole: bool) -> bool:
        """Decide about the beginning of the buffer; whether there may be more to decide."""
        if self._ticks:
            return self._leave_block(whole=whole)
        if self._tag:
            return self._leave_element(whole=whole)
        if self._call:
            return self._leave_call(whole=whole)
        return self._pass_text(whole=whole)

    def _pass_text(self, *, whole: bool) -> bool:
        text, first = self._before + self._buffer, len(self._before)
        undecided = len(text) if whole else max(self._undecided(text), first)
        found = self._start.search(text, first)
        if found is None or (found.start() >= undecided and not whole):
            self._put(text[first:undecided])
            self._before, self._buffer = text[:undecided][-1:], text[undecided:]
            return False
        self._put(text[first : found.start()])
        alone = not self._shown or "\n" in self._space
        rest = text[found.end() :]
        if found["word"] and alone and not whole and not rest.strip(" \t"):
            self._before, self._buffer = "", text[found.start() :]
            return False
        self._before, self._buffer = "", rest
        if found["ticks"]:
            self._ticks, self._gap = len(found["ticks"]), True
        elif found["tag"]:
            self._tag, self._gap = "" if found["end"] else found["tag"], True
        elif found["call"]:
            self._call, self._alone = found["call"].removeprefix(_API), alone
            self._depth = found[0].count("(")
        elif found["word"] and alone and re.match(r"[ \t]*\n", rest):
            self._gap = True
        elif found["word"]:
            self._put(found["word"].replace("_", " "))
        return True

    def _leave_block(self, *, whole: bool) -> bool:
        if not whole and "`" not in self._buffer[max(self._seen - 1, 0) :]:  # nothing that could end it has come
            self._seen = len(self._buffer)
            return False
        self._seen = len(self._buffer)
        end = block_end(self._buffer, 0, self._ticks, whole=whole)
        if end is None and not whole:
            return False
        self._buffer = self._buffer[end[1] :] if end else ""
        self._ticks = self._seen = 0
        return True

    def _leave_element(self, *, whole: bool) -> bool:
        closing = re.search(f"</{self._tag}>", self._buffer, re.IGNORECASE)
        if closing is None and not whole:
            return False
        self._buffer, self._tag = self._buffer[closing.end() :] if closing else "", ""
        return True

    def _leave_call(self, *, whole: bool) -> bool:
        end = call_end(self._buffer, self._depth, whole=whole)
        if end is None:
            return False
        rest = self._buffer[end:]
        if rest.startswith("("):  # what was called is called again
            self._buffer, self._depth = rest[1:], 1
            return True
        if not rest and not whole:
            return False
        line = re.match(r"[ \t]*;?[ \t]*(?=\n)", rest) if self._alone else None
        if line:
            rest = rest[line.end() :]
        elif self._alone and not whole and not rest.strip(" \t;"):
            return False
        else:
            self._put(self._call)
        self._gap = self._gap or bool(line)
        self._buffer, self._call = rest, ""
        return True

    def _undecided(self, text: str) -> int:
        """From where *text* may become tool syntax as soon as more of it is there."""
        places = [len(text)]
        fence = re.search(r"(?<!`)(?P<ticks>`++)(?P<space>[ \t]*)(?P<word>\w*)\Z", text)
        if fence and (
            fence[0] == fence["ticks"] or (len(fence["ticks"]) > 2 and _begins(fence["word"].lower(), _MARKS))
        ):
            places.append(fence.start())
        tag = re.search(r"</?(?P<name>\w*)(?P<rest>[^<>\n]{0,80})\Z", text)
        name = tag["name"].lower() if tag else ""
        if tag and (name in _TAGS or (not tag["rest"] and _begins(name, _TAGS))):
            places.append(tag.start())
        called = re.search(r"(?<!\w)(?:print\(\s*)?(?P<name>(?:default_api\.)?\w*)\Z", text)
        if called:
            starts = (called.start(), called.start("name"))  # what stands in a print may be another one
            places.extend(start for start in starts if self._may_call(text[start:]))
        longest = max(map(len, _MARKS))
        ends = (size for size in range(longest, 0, -1) if _begins(text[-size:], _MARKS))
        places.append(len(text) - next(ends, 0))
        return min(places)

    def _may_call(self, tail: str) -> bool:
        name = tail.removeprefix(_PRINT).lstrip()
        if not name or _begins(tail, (_PRINT,)):
            return bool(tail)
        return name.startswith(_API) or _begins(name, (_API, *self._names))

    def _put(self, text: str) -> None:
        """Show *text*, but for white space at its end, which waits for more text."""
        core = text.strip()
        if not core:
            self._space += text
            return
        before, _, after = text.partition(core)
        if self._shown:
            space = self._space + before
            self._out.append(_closed_up(space) if self._gap else space)
        self._out.append(core)
        self._space, self._shown, self._gap = after, True, False


def call_end(text: str, depth: int, *, whole: bool) -> int | None:
    """
    Where a call ends that has *depth* open brackets at the beginning of *text*: behind its last bracket, or where a
    paragraph ends; None where that cannot be told, as *text* is not yet *whole*.
    """
    place, quote = 0, ""
    while token := _TOKENS.search(text, place):
        mark, place = token[0], token.end()
        if mark == "\\":
            place += bool(quote)
        elif mark == "\n":
            quote = quote if len(quote) > 1 else ""
            if not quote and text[place:].lstrip(" \t").startswith("\n"):
                return token.start()
        elif mark in "()":
            depth += 0 if quote else 1 if mark == "(" else -1
            if not depth:
                return place
        elif not quote:
            quote = "" if text[token.start() - 1 : token.start()].isalnum() else mark
        elif mark.startswith(quote):
            place = token.start() + len(quote)
            quote = ""
    return len(text) if whole else None


def _begins(text: str, words: Iterable[str]) -> bool:
    return any(word.startswith(text) for word in words)


def _closed_up(space: str) -> str:
    """White space on both sides of what was left out, as one."""
    lines = space.count("\n")
    return "\n" * min(lines, 2) if lines else space[:1]
