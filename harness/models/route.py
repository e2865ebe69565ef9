"""Where a model's requests go: litellm's name for it, the address, and which wire format is spoken there."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from harness.cassettes.file import AnsweredBy
from harness.models.capability import is_anthropic

DialectName = Literal["openai_chat", "anthropic"]
UNUSED_KEY = "unused"
"""Sent where no key is needed: clients refuse to start without one."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """How litellm is told to reach one model."""

    model: str
    """With litellm's provider in front: `openai/…`, `anthropic/…`."""
    dialect: DialectName
    api_base: str | None = None
    """None: the provider's own address."""
    api_key: str | None = None
    """None: litellm takes the provider's variable from the environment."""


class Embedder(msgspec.Struct, frozen=True, kw_only=True):
    """An embedding model with a server of its own."""

    base_url: str
    answered_by: AnsweredBy
    ask_for: str
    """The name that requests carry."""


def route_of(model: str, *, base_url: str | None = None, api_key: str | None = None) -> Route:
    """
    Decide how *model* is reached.

    Args:
        model: A bare name or one with litellm's provider in front; Claude names go to the messages API.
        base_url: A server that speaks OpenAI's format below `/v1` (and, for Claude names, Anthropic's beside it), such
            as `http://127.0.0.1:8555/v1`; None for the provider itself.
        api_key: The key to send; by default none to *base_url*, and the environment's to a provider.
    """
    provider, bare = ("anthropic", model.removeprefix("anthropic/")) if is_anthropic(model) else ("openai", model)
    if provider == "openai" and (base_url is not None or "/" not in model):
        bare = f"openai/{model.removeprefix('openai/')}"
    elif provider == "anthropic":
        bare = f"anthropic/{bare}"
    dialect: DialectName = "anthropic" if provider == "anthropic" else "openai_chat"
    if base_url is None:
        return Route(model=bare, dialect=dialect, api_key=api_key)
    address = base_url.rstrip("/")
    if dialect == "anthropic":
        # litellm adds /v1/messages itself
        address = address.removesuffix("/v1")
    return Route(model=bare, dialect=dialect, api_base=address, api_key=api_key or UNUSED_KEY)


def is_loopback(base_url: str | None) -> bool:
    """Whether *base_url* is on this machine."""
    host = urlsplit(base_url or "").hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
