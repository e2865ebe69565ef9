"""
Scripts: what a scripted model answers, step by step, and what each request must hold for the answer to be earned.

A script is YAML, one file per golden case and design: `goldensets/scripts/<set>/<design>/<case>.yaml`. All of it, once:

    # yaml-language-server: $schema=../../schema.json
    format: 1
    about: The agent looks the weather up twice, survives a rate limit, and answers.
    steps:
    - for: {purpose: agent, slot: "", call: 1}  # each optional; a step without `for` serves any call
      expect:                                  # each optional; all that stand here must hold
        model: claude-sonnet-4-5               # the model that is asked for
        last_role: user                        # role of the last message: user, tool, assistant or system
        n_messages: 2                          # messages, the system message included; each tool result is one
        system_contains: ["PLAN:"]             # in the system messages
        contains: ["Berlin", "Lisbon"]         # in any system, user or tool message; the model's own words do not count
        not_contains: ["error"]                # in none of them
        tools: [get_weather]                   # offered at least
      reply:
        thinking:                              # Anthropic only; before the text
        - {text: Two cities., signature: c2ln}
        - {redacted: b3BhcXVl}
        text: Let me look.                     # optional beside tool calls
        tool_calls:                            # several in one reply are parallel calls
        - {name: get_weather, args: {city: Berlin}}            # args: the object
        - {name: get_weather, args_raw: '{"city": "Lisb'}      # args_raw: the text as it is, broken or not
        usage: {input: 120, output: 40, thinking: 12, cached: 0}   # default: a quarter of the characters
    - expect: {last_role: tool}
      reply: {status: 429, error: {message: Slow down}, retry_after: 2}
    - expect:
        tool_result:                           # one or several; of the calls in the last assistant message
        - {name: get_weather, contains: "7"}   # contains: a text or several; all must stand in that result
        - {nth: 2, contains: [invalid, city]}  # instead of the name: nth result of that message, from 1
      reply:
        text: "Berlin: 7 °C and rain."
        chunks: ["Berlin: ", "7 °C ", "and rain."]   # pieces of the text when streamed; or a number of pieces
        delay_ms: 5                            # before the first byte
        chunk_delay_ms: 1                      # before each later event of a stream
        gzip: false                            # send the body compressed
        finish_reason: stop                    # default: tool_calls if there are any, else stop

More forms of `reply`: `cut: N` ends a stream after N events without its end mark (`true`: after half of them; with
`error` the provider's error event comes last); `drop: true` breaks the connection off, half-way if not after `cut`;
`body: TEXT` is sent as it is; `vectors: [[0.1, 0.2], …]` answers an embedding call, one vector a text; `id` on a tool
call sets its id (default `call_<step>_<k>`).

Steps serve in order. Where the client says who calls (headers `x-harness-purpose`, `-slot`, `-call`), the first unused
step whose `for` fits serves, so that parallel calls need no order. An unmet `expect`, a call without a step, and a step
without a call all fail the recording.

A script proves nothing if it is blind: after a reply with tool calls, the next step that answers (of the same purpose
and slot, if there is one) must expect something in the result of each call, by `tool_result` with `contains` or, where
results travel as text, by `contains` alone. `steps: []` holds an agent to asking no model at all.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from harness.errors import BadFileError
from harness.goldensets.yaml_tree import YamlTree, read_yaml
from harness.records.faults import ErrorKind
from harness.records.messages import FinishReason, Json, Role, Usage

SCRIPT_FORMAT = 1
BAD_SCRIPT = "bad-script"
BLIND_SCRIPT = "blind-script"

Texts = str | tuple[str, ...]
_Count = Annotated[int, msgspec.Meta(ge=1)]
_Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of what stands in a script; its subclasses refuse unknown keys as it does."""


class For(_Part, frozen=True, kw_only=True):
    """Which call a step serves; what is left out fits any call. *call* counts the trial's model calls from 1."""

    purpose: str | None = None
    slot: str | None = None
    call: _Count | None = None

    def fits(self, *, purpose: str, slot: str, call: int | None) -> bool:
        """Whether a call that says this of itself is served by the step."""
        return (
            (self.purpose is None or self.purpose == purpose)
            and (self.slot is None or self.slot == slot)
            and (self.call is None or self.call == call)
        )


class ToolResultExpected(_Part, frozen=True, kw_only=True):
    """A result of the calls in the last assistant message: of the tool *name*, or the *nth*, holding all of *contains*."""

    name: str | None = None
    nth: _Count | None = None
    contains: Texts = ()


class Expect(_Part, frozen=True, kw_only=True):
    """What a request must hold for its step to serve it; everything that is given must hold."""

    model: str | None = None
    last_role: Role | None = None
    n_messages: _Count | None = None
    system_contains: Texts = ()
    contains: Texts = ()
    not_contains: Texts = ()
    tool_result: ToolResultExpected | tuple[ToolResultExpected, ...] = ()
    tools: Texts = ()

    @property
    def tool_results(self) -> tuple[ToolResultExpected, ...]:
        """The expected tool results as a tuple, whichever way they were written."""
        return self.tool_result if isinstance(self.tool_result, tuple) else (self.tool_result,)


class ScriptedCall(_Part, frozen=True, kw_only=True):
    """A tool call of a reply: *args* is the object, or *args_raw* the text as it is sent; without both, `{}`."""

    name: str
    args: dict[str, Json] | None = None
    args_raw: str | None = None
    id: str | None = None

    @property
    def raw(self) -> str:
        """The text of the arguments as it goes over the wire."""
        if self.args_raw is not None:
            return self.args_raw
        return json.dumps(self.args or {}, ensure_ascii=False)


class ScriptedThinking(_Part, frozen=True, kw_only=True):
    """A thinking block: *text* with *signature*, or *redacted* data."""

    text: str = ""
    signature: str = ""
    redacted: str | None = None


class ScriptedError(_Part, frozen=True, kw_only=True):
    """An error in the provider's shape; *kind* is its class, by default that of the status."""

    message: str
    kind: ErrorKind | None = None


class Reply(_Part, frozen=True, kw_only=True):
    """What the scripted model answers; see the head of the module for each field."""

    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    thinking: tuple[ScriptedThinking, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage | None = None
    vectors: tuple[tuple[float, ...], ...] | None = None
    status: Annotated[int, msgspec.Meta(ge=200, le=599)] = 200
    error: ScriptedError | None = None
    retry_after: Annotated[float, msgspec.Meta(ge=0)] | None = None
    body: str | None = None
    chunks: _Count | tuple[str, ...] | None = None
    delay_ms: _Milliseconds = 0
    chunk_delay_ms: _Milliseconds = 0
    gzip: bool = False
    cut: bool | Annotated[int, msgspec.Meta(ge=0)] = False
    drop: bool = False


class Step(_Part, frozen=True, kw_only=True):
    """One call that the agent must make, and its answer."""

    target: For = msgspec.field(name="for", default=For())
    expect: Expect = Expect()
    reply: Reply


class ScriptFile(_Part, frozen=True, kw_only=True):
    """A script as it stands on disk."""

    format: Literal[1]
    about: str = ""
    steps: tuple[Step, ...]


class Script(msgspec.Struct, frozen=True):
    """A script ready to be served; *places* names `file:line` of each step."""

    path: str
    steps: tuple[Step, ...]
    places: tuple[str, ...]
    about: str = ""


def load_script(path: Path) -> Script:
    """
    Read a script.

    Raises:
        BadFileError: The file cannot be read, is no YAML, is no script (code `bad-script`), or leaves a tool's result
            unseen (code `blind-script`); *at* says where.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFileError(BAD_SCRIPT, f"cannot read the file: {error.strerror}", at=str(path)) from None
    return parse_script(content, path=str(path))


def parse_script(content: bytes | str, *, path: str = "<script>") -> Script:
    """
    Read a script from its content; *path* is what errors name.

    Raises:
        BadFileError: As for `load_script`.
    """
    tree = read_yaml(content.encode() if isinstance(content, str) else content, shown=path)
    _check_format(tree)
    try:
        file = msgspec.convert(tree.value, ScriptFile)
    except msgspec.ValidationError as error:
        raise _invalid(str(error), tree) from None
    places = tuple(tree.at(("steps", index)) for index in range(len(file.steps)))
    return script_of(file.steps, path=path, places=places, about=file.about)


def script_of(steps: Sequence[Step], *, path: str = "<script>", places: Sequence[str] = (), about: str = "") -> Script:
    """
    Make a script from steps; without *places* errors name *path*.

    Raises:
        BadFileError: As for `load_script`.
    """
    named = tuple(places) or (path,) * len(steps)
    for step, place in zip(steps, named, strict=True):
        _check_reply(step.reply, place)
        _check_expect(step.expect, place)
    for place, tools in _unseen_results(steps, named):
        names = ", ".join(f"`{name}`" for name in tools)
        raise BadFileError(
            BLIND_SCRIPT,
            f"the model called {names} before this step, which expects nothing in the result",
            hint=f"add `expect: {{tool_result: {{name: {tools[0]}, contains: …}}}}` with a text from the result",
            at=place,
        )
    return Script(path, tuple(steps), named, about)


def script_schema() -> dict[str, Json]:
    """The JSON Schema of a script file, for editors."""
    schema = json.loads(msgspec.json.encode(msgspec.json.schema(ScriptFile)))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Script of a scripted model", **schema}


def as_texts(texts: Texts) -> tuple[str, ...]:
    """One text or several, as a tuple."""
    return (texts,) if isinstance(texts, str) else texts


def _check_reply(reply: Reply, place: str) -> None:
    def refuse(message: str) -> BadFileError:
        return BadFileError(BAD_SCRIPT, message, at=place)

    for call in reply.tool_calls:
        if call.args is not None and call.args_raw is not None:
            raise refuse(f"tool call `{call.name}` has both `args` and `args_raw`")
    for block in reply.thinking:
        if block.redacted is None and not block.signature:
            raise refuse("a thinking block needs a `signature`, or is `redacted`")
        if block.redacted is not None and (block.text or block.signature):
            raise refuse("a redacted thinking block has neither `text` nor `signature`")
    if isinstance(reply.chunks, tuple) and "".join(reply.chunks) != reply.text:
        raise refuse("`chunks` joined are not the `text`")
    if reply.status >= 400 and reply.error is None and reply.body is None:
        raise refuse(f"status {reply.status} needs an `error` with a `message`, or a `body`")
    if not _says_something(reply):
        raise refuse("the reply is empty: give `text`, `tool_calls`, `vectors`, `error` or `body`")


def _says_something(reply: Reply) -> bool:
    given = reply.text or reply.tool_calls or reply.error
    return bool(given) or reply.vectors is not None or reply.body is not None or reply.finish_reason is not None


def _check_expect(expect: Expect, place: str) -> None:
    several = (expect.contains, expect.not_contains, expect.system_contains, expect.tools)
    if any("" in as_texts(texts) for texts in (*several, *(result.contains for result in expect.tool_results))):
        raise BadFileError(BAD_SCRIPT, "an expected text is empty, so every request would hold it", at=place)
    for result in expect.tool_results:
        if (result.name is None) == (result.nth is None):
            raise BadFileError(BAD_SCRIPT, "`tool_result` takes either `name` or `nth`", at=place)


def _unseen_results(steps: Sequence[Step], places: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The place of each step that follows tool calls and is blind for some results, with the names of those tools."""
    for index, step in enumerate(steps):
        if not step.reply.tool_calls or step.reply.status >= 400:
            continue
        following = _next_of(steps, index)
        if following is None or steps[following].expect.contains:
            continue
        results = [result for result in steps[following].expect.tool_results if result.contains]
        at_position = {result.nth for result in results}
        by_name = Counter(result.name for result in results)
        unseen = []
        for nth, call in enumerate(step.reply.tool_calls, start=1):
            if nth in at_position:
                continue
            if by_name[call.name] > 0:
                by_name[call.name] -= 1
            else:
                unseen.append(call.name)
        if unseen:
            yield places[following], unseen


def _next_of(steps: Sequence[Step], index: int) -> int | None:
    """The step that continues the conversation of step *index*."""
    asked = (steps[index].target.purpose, steps[index].target.slot)
    later = [number for number in range(index + 1, len(steps)) if steps[number].reply.status < 400]
    same = (number for number in later if (steps[number].target.purpose, steps[number].target.slot) == asked)
    return next(same, next(iter(later), None))


def _check_format(tree: YamlTree) -> None:
    given = tree.value.get("format") if isinstance(tree.value, dict) else None
    if isinstance(given, int) and given != SCRIPT_FORMAT:
        raise BadFileError(
            BAD_SCRIPT,
            f"script format {given} is not known to this version (it reads {SCRIPT_FORMAT})",
            hint=f"update tapegate, or write the script in format {SCRIPT_FORMAT}",
            at=tree.at(("format",)),
        )


def _invalid(message: str, tree: YamlTree) -> BadFileError:
    """Say what msgspec found in the words of the file: the line, and the nearest key to an unknown one."""
    problem, _, where = message.partition(" - at ")
    where = where.strip("`").removeprefix("$")
    hint = "`harness explain schema:script` prints the format"
    if unknown := re.search(r"unknown field `(.*)`", problem):
        name = unknown.group(1)
        where = f"{where}.{name}"
        problem = f"no key `{name}` is known here"
        if near := difflib.get_close_matches(name, _all_keys(), n=1):
            hint = f"did you mean `{near[0]}`?"
    path = tuple(int(index) if index else name for name, index in re.findall(r"\.([^.\[]+)|\[(\d+)\]", where))
    inside = f" (in `{where.removeprefix('.')}`)" if where else ""
    return BadFileError(BAD_SCRIPT, f"{problem}{inside}", hint=hint, at=tree.at(path))


def _all_keys() -> list[str]:
    parts: list[Any] = [ScriptFile, Step, For, Expect, ToolResultExpected, Reply, ScriptedCall, ScriptedThinking]
    return sorted({name for part in (*parts, ScriptedError) for name in part.__struct_encode_fields__})
