"""
What the tools take and give, as pydantic models: nothing unknown, nothing converted, every range stated.

A refusal is a sentence for the model that called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from harness.records.tool import ToolError

from .news import Priority

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r"\w")


def _from_1_to(most: int) -> AfterValidator:
    def check(limit: int) -> int:
        if not 1 <= limit <= most:
            raise ValueError(f"limite must be from 1 to {most}")
        return limit

    return AfterValidator(check)


def _a_day(text: str) -> str:
    if not _DAY.fullmatch(text):
        raise ValueError("data must be a day as YYYY-MM-DD")
    return text


def _a_text(text: str) -> str:
    if not _WORD.search(text):
        raise ValueError("texto_busca holds no word")
    return text


Day = Annotated[str, AfterValidator(_a_day)]


class _Contract(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class QueryClusters(_Contract):
    limite: Annotated[int, _from_1_to(200)]
    data: Day
    prioridade: Priority | None
    tag: str | None
    palavras_chave: list[str] | None


class CountClusters(_Contract):
    data: Day
    prioridade: Priority | None
    tag: str | None


class SemanticSearch(_Contract):
    limite: Annotated[int, _from_1_to(50)]
    texto_busca: Annotated[str, AfterValidator(_a_text)]
    data: Day


class UpdatePriority(_Contract):
    cluster_id: int
    nova_prioridade: Priority


class Summary(_Contract):
    """A cluster in a list."""

    id: int
    titulo: str
    resumo: str
    prioridade: Priority
    tag: str | None


class Clusters(_Contract):
    data: Day
    clusters: list[Summary]


class Counted(_Contract):
    data: Day
    prioridade: Priority | None
    tag: str | None
    count: int


class Article(_Contract):
    titulo: str
    jornal: str


class Details(_Contract):
    id: int
    data: Day
    titulo: str
    resumo: str
    prioridade: Priority
    tag: str | None
    texto: str
    artigos: list[Article]


class Found(_Contract):
    resultados: list[Summary]


class Changed(_Contract):
    id: int
    antes: Priority
    prioridade: Priority


C = TypeVar("C", bound=_Contract)


def asked(contract: type[C], **args: Any) -> C:
    """
    *args* as *contract*.

    Raises:
        ToolError: They break it; the first reason, for the model.
    """
    try:
        return contract.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        own = first.get("ctx", {}).get("error")
        where = ".".join(map(str, first["loc"]))
        raise ToolError("invalid_args", str(own) if own else f"{where}: {first['msg']}") from None


def given(contract: type[_Contract], value: Mapping[str, Any]) -> dict[str, Any]:
    """*value* as *contract* promises it, in JSON's types; a store that breaks it is a crash."""
    return contract.model_validate(value).model_dump(mode="json")
