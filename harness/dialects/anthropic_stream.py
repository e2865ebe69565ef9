"""A streamed Anthropic message."""

from __future__ import annotations

import json

from harness.dialects.anthropic_reply import CALL_BLOCKS, streamed_call, usage_from
from harness.dialects.base import MAX_TOOL_CALLS, StreamDecoder
from harness.dialects.body import BodyError, load_object, object_or_empty, text_or_empty, well_formed
from harness.dialects.failures import failure_inside
from harness.dialects.finish import finish_reason
from harness.dialects.sse import SseEvent
from harness.records.faults import ModelError
from harness.records.messages import Json, ModelReply, ReplyChunk, ThinkingBlock, ToolCall

_BLOCKS = ("text", "thinking", "redacted_thinking", *CALL_BLOCKS)


class AnthropicStreamDecoder(StreamDecoder):
    """Reads `message_start` … `message_stop`."""

    def __init__(self, asked_model: str) -> None:
        super().__init__(asked_model)
        self._text: list[str] = []
        self._thinking: list[ThinkingBlock] = []
        self._thought: list[str] = []
        self._signature = ""
        self._calls: list[tuple[dict[str, Json], list[str]]] = []
        self._block: str = ""
        self._finish: Json = None
        self._usage: dict[str, Json] = {}
        self._ended = False
        self._stopped = False

    def _on_event(self, event: SseEvent, chunks: list[ReplyChunk]) -> None:
        if self._stopped:
            return
        try:
            part = load_object(event.data, keep_halves=True)
        except BodyError as broken:
            raise ModelError("bad_reply", f"an event of the stream cannot be read: {broken}") from None
        kind = part.get("type") or event.name
        if kind == "content_block_delta":
            self._on_delta(object_or_empty(part.get("delta")), chunks)
        elif kind == "content_block_start":
            self._on_block(object_or_empty(part.get("content_block")), chunks)
        elif kind == "content_block_stop":
            self._end_thought()
        elif kind == "message_start":
            message = object_or_empty(part.get("message"))
            self.model = text_or_empty(message.get("model")) or self.model
            self._on_usage(message.get("usage"))
        elif kind == "message_delta":
            self._finish = object_or_empty(part.get("delta")).get("stop_reason")
            self._ended = True
            self._on_usage(part.get("usage"))
        elif kind == "message_stop":
            self._stopped = True
        elif kind == "error":
            raise failure_inside("anthropic", part.get("error") or part, default_status=500)
        elif kind != "ping":
            self._note_unknown(f"event {kind}")

    def _on_block(self, block: dict[str, Json], chunks: list[ReplyChunk]) -> None:
        self._end_thought()
        self._block = text_or_empty(block.get("type"))
        if self._block == "text":
            self._on_text(text_or_empty(block.get("text")), chunks)
        elif self._block in CALL_BLOCKS:
            if len(self._calls) >= MAX_TOOL_CALLS:
                raise ModelError("bad_reply", f"the stream holds more than {MAX_TOOL_CALLS} tool calls")
            self._calls.append((block, []))
        elif self._block == "redacted_thinking":
            self._thought = []
            self._thinking.append(ThinkingBlock("redacted", data=well_formed(text_or_empty(block.get("data")))))
        if self._block not in _BLOCKS:
            self._note_unknown(f"block {self._block}")

    def _on_delta(self, delta: dict[str, Json], chunks: list[ReplyChunk]) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self._on_text(text_or_empty(delta.get("text")), chunks)
        elif kind == "input_json_delta":
            piece = text_or_empty(delta.get("partial_json"))
            if piece and self._block in CALL_BLOCKS:
                self._calls[-1][1].append(self._emit("tool_args", piece, chunks, len(self._calls) - 1))
        elif kind == "thinking_delta":
            piece = text_or_empty(delta.get("thinking"))
            if piece:
                self._thought.append(self._emit("thinking", piece, chunks))
        elif kind == "signature_delta":
            self._signature += text_or_empty(delta.get("signature"))
        else:
            self._note_unknown(f"delta {kind}")

    def _on_text(self, text: str, chunks: list[ReplyChunk]) -> None:
        if text:
            self._text.append(self._emit("text", text, chunks))

    def _end_thought(self) -> None:
        # A block without its signature cannot be sent back alone: its text counts to the next signed block, as with
        # litellm, and stands by itself only where there is none.
        if self._signature:
            self._thinking.append(ThinkingBlock("thinking", "".join(self._thought), well_formed(self._signature)))
            self._thought, self._signature = [], ""

    def _on_usage(self, usage: Json) -> None:
        counts = object_or_empty(usage)
        self._usage.update({name: value for name, value in counts.items() if value is not None})

    def _complete(self) -> bool:
        return self._ended or self._stopped

    def _reply(self) -> ModelReply:
        self._end_thought()
        if self._thought and not self._thinking:
            self._thinking.append(ThinkingBlock("thinking", "".join(self._thought)))
        return ModelReply(
            text="".join(self._text),
            tool_calls=tuple(_call(block, pieces) for block, pieces in self._calls),
            thinking=tuple(self._thinking),
            finish_reason=finish_reason(self._finish),
            usage=usage_from(self._usage),
            model=well_formed(self.model),
        )


def _call(block: dict[str, Json], pieces: list[str]) -> ToolCall:
    # The start of a block says `input: {}`; the arguments come in pieces, or not at all when there are none.
    return streamed_call(block, "".join(pieces) or json.dumps(block.get("input") or {}))
