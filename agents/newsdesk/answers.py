"""What a final answer must be: Markdown for a reader, without the agent's own steps, tools and internal numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from harness.records.messages import Json

_LABEL = re.compile(r"^[ \t>*_#]*(?:Thought|Action|Action Input|Observation|Final Answer)[*_]*[ \t]*:", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_SOURCES = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|\*\*|__)(?:fontes|not[íi]cias pesquisadas|sources|quellen|источники|来源)\b[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_ID = re.compile(
    r"(?:\b(?:clusters?|ids?)\b[ \t]*[:#nº°]*[ \t]*|#)(\d{1,9})\b|[(\[](\d{1,9})(?=[)\],;])", re.IGNORECASE
)


def problem_of(text: str, *, tools: Collection[str], ids: Collection[int], said: str) -> str:
    """
    Why *text* cannot be shown, in words for the model; empty if it can.

    Args:
        text: The answer as the model wrote it.
        tools: Names of the tools.
        ids: Numbers of the clusters that the tools showed.
        said: What the user wrote; numbers in it may be said back.
    """
    if _is_json(text):
        return "a resposta final deve ser um texto em Markdown, não JSON"
    if label := _LABEL.search(text):
        return f"a resposta final não pode ter o rótulo “{label.group().strip()}”"
    if not _fences_close(text):
        return "um bloco de código da resposta não está fechado"
    if named := next((name for name in sorted(tools) if _names(name, text)), ""):
        return f"a resposta final não pode citar a ferramenta {named}"
    used = set(re.findall(r"\d+", said))
    for match in _ID.finditer(_without_sources(text)):
        number = match[1] or match[2]
        if number not in used and int(number) in ids:
            return f"o número interno {number} só pode estar na seção de fontes"
    return ""


def ids_in(value: Json) -> set[int]:
    """Every `id` of the objects in a tool's *value*."""
    if isinstance(value, list):
        return set().union(*map(ids_in, value))
    if not isinstance(value, dict):
        return set()
    own = value.get("id")
    inner = set().union(*(ids_in(entry) for entry in value.values()))
    return inner | ({own} if isinstance(own, int) else set())


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _fences_close(text: str) -> bool:
    """Whether each code fence has its end: the same mark, at least as long, with nothing behind it."""
    opened = ""
    for match in _FENCE.finditer(text):
        if not opened:
            opened = match[1]
        elif match[1][0] == opened[0] and len(match[1]) >= len(opened) and not match[2].strip():
            opened = ""
    return not opened


def _names(tool: str, text: str) -> bool:
    """Whether *text* speaks of *tool*; a name that is an ordinary word only where it stands as code."""
    if "_" in tool:
        return bool(re.search(rf"\b{re.escape(tool)}\b", text))
    return bool(re.search(rf"`{re.escape(tool)}\b|\b{re.escape(tool)}\(", text))


def _without_sources(text: str) -> str:
    """*text* without its section of sources."""
    match = _SOURCES.search(text)
    if match is None:
        return text
    following = _NEXT_HEADING.search(text, match.end())
    return text[: match.start()] + (text[following.start() :] if following else "")
