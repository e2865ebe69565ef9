"""
What each model takes for native thinking: our own dated table, so that no contract depends on a library's version.

Sources: the vendor's model pages and litellm's cost map as of `AS_OF`; a test lists every difference from the map of the
litellm that is installed. A model that the table does not know takes no `thinking` parameter: models of other vendors
that reason have parameters of their own for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from harness.records.capability import NO_THINKING, Capability

AS_OF = "2026-11-21"

_THREE = ("low", "medium", "high")
_FOUR = (*_THREE, "max")
_FIVE = (*_THREE, "xhigh", "max")

_MANUAL = Capability(
    kind="budget",
    takes_budget=True,
    can_disable=True,
    sampling="default_while_thinking",
    forced_tool="not_while_thinking",
    interleave_header=True,
    max_output_tokens=64_000,
)
_ADAPTIVE = Capability(
    kind="adaptive",
    can_disable=True,
    efforts=_FIVE,
    sampling="refused",
    forced_tool="not_while_thinking",
    max_output_tokens=128_000,
)
_ALWAYS_ON = Capability(
    kind="always_on",
    on_by_default=True,
    lowest="low_effort",
    efforts=_FIVE,
    sampling="refused",
    max_output_tokens=128_000,
)


def _but(base: Capability, **changes: object) -> Capability:
    return msgspec.structs.replace(base, **changes)


_MANUAL_OR_ADAPTIVE = _but(_ADAPTIVE, takes_budget=True, efforts=_FOUR, sampling="default_while_thinking")
_BOUND = _but(_ALWAYS_ON, forced_tool="refused", preserved=True)

TABLE: dict[str, Capability] = {
    "claude-3-7-sonnet": _but(_MANUAL, interleave_header=False),
    "claude-sonnet-4": _MANUAL,
    "claude-opus-4": _but(_MANUAL, max_output_tokens=32_000),
    "claude-opus-4-1": _but(_MANUAL, max_output_tokens=32_000),
    "claude-sonnet-4-5": _MANUAL,
    "claude-haiku-4-5": _MANUAL,
    "claude-opus-4-5": _but(_MANUAL, efforts=_THREE),
    "claude-opus-4-6": _MANUAL_OR_ADAPTIVE,
    "claude-sonnet-4-6": _MANUAL_OR_ADAPTIVE,
    "claude-opus-4-7": _ADAPTIVE,
    "claude-opus-4-8": _ADAPTIVE,
    "claude-sonnet-5": _ADAPTIVE,
    "claude-opus-5": _but(_ADAPTIVE, on_by_default=True, disable_up_to_effort="high"),
    "claude-fable-5": _ALWAYS_ON,
    "claude-mythos-5": _ALWAYS_ON,
    "claude-fable-5-1": _BOUND,
    "claude-mythos-5-1": _BOUND,
    "claude-opus-5-5": _but(_BOUND, default_effort="medium"),
    "claude-sonnet-5-5": _but(
        _ADAPTIVE,
        on_by_default=True,
        can_disable=False,
        lowest="between_tools",
        default_effort="high",
        forced_tool="refused",
        preserved=True,
    ),
    "claude-haiku-5-5": _but(_ADAPTIVE, on_by_default=True, default_effort="medium", preserved=True),
}
"""Capability by the vendor's short name, without date."""

_ROUTE = re.compile(r"^(?:[a-z]{2,6}(?:-gov)?\.)?anthropic\.")
_SUFFIX = re.compile(r"(?:-v\d+(?::\d+)?|@[a-z0-9]+|-latest|-20\d{6})$")


@lru_cache(maxsize=1024)
def capability_of(model: str) -> Capability:
    """
    Look up what *model* takes; `none` where the table does not know it.

    Provider routes (`anthropic/…`, `bedrock/us.anthropic.…`), dates, `-latest` and dotted versions are understood:
    `anthropic/claude-sonnet-4-5-20250929` is `claude-sonnet-4-5`.
    """
    return TABLE.get(short_name(model), NO_THINKING)


def short_name(model: str) -> str:
    """The name of *model* without provider route, region, version suffix and date, in lower case."""
    name = _ROUTE.sub("", model.lower().rsplit("/", 1)[-1])
    while True:
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            break
        name = shorter
    return name.replace(".", "-") if name.startswith("claude-") else name


def is_anthropic(model: str) -> bool:
    """Whether *model* is asked over Anthropic's messages API rather than an OpenAI-like one."""
    return model.lower().startswith("anthropic/") or ("/" not in model and short_name(model).startswith("claude-"))
