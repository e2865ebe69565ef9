"""
The news desk's tools on its store. One cluster a call, one day a search; what they take and give stands in `contracts`.

Names, parameters and answers are those of the common tool belt, so that a design can be compared on either store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from harness.records.messages import EmbeddingReply, Json
from harness.records.tool import ToolAnswer, ToolError, tool
from harness.records.trace import Effect

from .news import NewsStore, Row
from .vectors import E5_SMALL, EmbeddingModel

from typing import Literal

Priority = Literal["P1_CRITICO", "P2_ESTRATEGICO", "P3_MONITORAMENTO", "IRRELEVANTE"]


class Desk(Protocol):
    """Where the tools work: a trial's world offers all of it."""

    user: str
    settings: Mapping[str, Json]

    @property
    def today(self) -> str: ...
    @property
    def store(self) -> NewsStore: ...
    @property
    def embed(self) -> Callable[..., Awaitable[EmbeddingReply]]: ...
