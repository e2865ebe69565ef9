"""A streamed OpenAI chat completion."""

from __future__ import annotations

import json
from typing import NamedTuple

from harness.dialects.base import MAX_TOOL_CALLS, StreamDecoder
from harness.dialects.body import BodyError, list_or_empty, load_object, object_or_empty, text_or_empty, well_formed
from harness.dialects.failures import failure_inside
from harness.dialects.finish import finish_reason
from harness.dialects.openai_reply import make_call, raise_error_inside, text_of_parts, thinking_from, usage_from
from harness.dialects.sse import SseEvent
from harness.records.faults import ModelError
from harness.records.messages import Json, ModelReply, ReplyChunk, Usage


class _Draft(NamedTuple):
    """A tool call while its pieces come in; *head* is [id, name]."""

    head: list[str]
    args: list[str]


class OpenAIStreamDecoder(StreamDecoder):
    """Reads `chat.completion.chunk` events; of several choices only the one of index 0 counts."""

    def __init__(self, asked_model: str) -> None:
        super().__init__(asked_model)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._drafts: list[_Draft] = []
        self._draft_at: dict[int, int] = {}
        self._id = ""
        self._finish: str | None = None
        self._usage = Usage()
        self._done = False

    def _on_event(self, event: SseEvent, chunks: list[ReplyChunk]) -> None:
        if self._done:
            return
        if event.data.strip() == b"[DONE]":
            self._done = True
            return
        try:
            part = load_object(event.data, keep_halves=True)
        except BodyError as broken:
            raise ModelError("bad_reply", f"an event of the stream cannot be read: {broken}") from None
        if event.name == "error":
            raise failure_inside("openai", part.get("error") or part, default_status=500)
        raise_error_inside(part, default_status=500)
        self._id = self._id or well_formed(text_or_empty(part.get("id")))
        self.model = text_or_empty(part.get("model")) or self.model
        usage = part.get("usage") or object_or_empty(part.get("x_groq")).get("usage")
        for choice in list_or_empty(part.get("choices")):
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self._on_choice(choice, chunks)
                usage = usage or choice.get("usage")
        if isinstance(usage, dict):
            self._usage = usage_from(usage)

    def _on_choice(self, choice: dict[str, Json], chunks: list[ReplyChunk]) -> None:
        # Some send the whole message so far beside each delta; a message alone is all there is.
        delta = choice["delta"] if "delta" in choice else choice.get("message")
        if isinstance(delta, dict):
            self._on_delta(delta, chunks)
        word = choice.get("finish_reason")
        if isinstance(word, str) and word:
            self._finish = word

    def _on_delta(self, delta: dict[str, Json], chunks: list[ReplyChunk]) -> None:
        thought, text = text_of_parts(delta.get("content"))
        reasoning = text_or_empty(delta.get("reasoning_content")) or text_or_empty(delta.get("reasoning")) or thought
        if reasoning:
            self._reasoning.append(self._emit("thinking", reasoning, chunks))
        if text:
            self._text.append(self._emit("text", text, chunks))
        calls = delta.get("tool_calls")
        if not calls and isinstance(delta.get("function_call"), dict):
            calls = [{"index": 0, "function": delta["function_call"]}]
        for nth, call in enumerate(list_or_empty(calls)):
            self._on_call(object_or_empty(call), nth, chunks)

    def _on_call(self, call: dict[str, Json], nth: int, chunks: list[ReplyChunk]) -> None:
        function = object_or_empty(call.get("function") or call.get("custom"))
        id, name = text_or_empty(call.get("id")), text_or_empty(function.get("name"))
        index = call.get("index")
        if isinstance(index, bool) or not isinstance(index, int):
            index = nth
        at = self._draft_at.get(index)
        # Some servers give every call the index 0: a new id together with a name is a new call.
        if at is None or (id and name and self._drafts[at].head[0] not in {"", id}):
            at = len(self._drafts)
            if at >= MAX_TOOL_CALLS:
                raise ModelError("bad_reply", f"the stream holds more than {MAX_TOOL_CALLS} tool calls")
            self._draft_at[index] = at
            self._drafts.append(_Draft(["", ""], []))
        draft = self._drafts[at]
        draft.head[0] = id or draft.head[0]
        draft.head[1] = name or draft.head[1]
        args = function.get("arguments", function.get("input"))
        piece = args if isinstance(args, str) else json.dumps(args) if isinstance(args, dict) else ""
        if piece:
            draft.args.append(self._emit("tool_args", piece, chunks, at))

    def _complete(self) -> bool:
        return self._done or self._finish is not None

    def _reply(self) -> ModelReply:
        calls = tuple(
            make_call(draft.head[0], draft.head[1], "".join(draft.args) or "{}", seed=self._id, nth=nth)
            for nth, draft in enumerate(self._drafts)
            if draft.head[1]
        )
        return ModelReply(
            text="".join(self._text),
            tool_calls=calls,
            thinking=thinking_from(None, "".join(self._reasoning)),
            finish_reason=finish_reason(self._finish),
            usage=self._usage,
            model=well_formed(self.model),
        )
