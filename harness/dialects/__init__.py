"""Providers' wire formats: bytes to our messages and back. Pure, no I/O."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from harness.dialects.base import ChatDialect, DecodedStream, Dialect, EmbeddingDialect, StreamDecoder
from harness.dialects.body import tool_args
from harness.dialects.chat import Anthropic, OpenAIChat
from harness.dialects.openai_embeddings import OpenAIEmbeddings

__all__ = [
    "ANTHROPIC",
    "OPENAI_CHAT",
    "OPENAI_EMBEDDINGS",
    "ChatDialect",
    "DecodedStream",
    "Dialect",
    "EmbeddingDialect",
    "StreamDecoder",
    "dialect_of",
    "tool_args",
]

OPENAI_CHAT: ChatDialect = OpenAIChat()
ANTHROPIC: ChatDialect = Anthropic()
OPENAI_EMBEDDINGS: EmbeddingDialect = OpenAIEmbeddings()

_BY_PATH: dict[str, Dialect] = {
    "/chat/completions": OPENAI_CHAT,
    "/v1/messages": ANTHROPIC,
    "/embeddings": OPENAI_EMBEDDINGS,
}


@lru_cache(maxsize=64)
def dialect_of(uri: str) -> Dialect | None:
    """Tell the dialect of a request by the path of its *uri*; None where the interface behind it is not supported."""
    try:
        path = urlsplit(uri).path.rstrip("/")
    except ValueError:
        return None
    return next((dialect for ending, dialect in _BY_PATH.items() if path.endswith(ending)), None)
