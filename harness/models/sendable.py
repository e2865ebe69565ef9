"""
Requests that no port takes: what litellm would silently rewrite or drop, or refuse before anything is sent.

litellm turns a thinking budget into an effort, an effort into a budget, and leaves out a `disabled` that the provider
would answer with 400. Then the trace would say one thing and the wire another. So such a request fails on every port in
the same way, as the provider would fail it; what reaches the provider as it was asked is the provider's to judge.
"""

from __future__ import annotations

from harness.models.capability import capability_of, is_anthropic
from harness.records.capability import Capability
from harness.records.faults import ModelError
from harness.records.messages import ModelRequest


def check_sendable(request: ModelRequest) -> None:
    """
    Let *request* pass if it reaches the provider as it stands.

    Raises:
        ModelError: It would not (`bad_request`, without a status).
    """
    capability = capability_of(request.model)
    if capability.kind == "none" and request.thinking is None and (request.effort is None and request.seed is None):
        return
    because = _thinking_refused(request, capability) or _parameter_refused(request, capability)
    if because:
        raise ModelError("bad_request", f"{request.model} {because}")


def _thinking_refused(request: ModelRequest, capability: Capability) -> str:
    thinking = request.thinking
    if thinking is None:
        return ""
    if capability.kind == "none":
        return "takes no `thinking` parameter"
    if thinking.type == "enabled":
        if not capability.takes_budget:
            return "takes no thinking budget; ask for `adaptive`"
        return "" if thinking.budget_tokens is not None else "needs `budget_tokens` beside thinking `enabled`"
    if thinking.budget_tokens is not None:
        return f"takes no `budget_tokens` beside thinking `{thinking.type}`"
    if thinking.type == "adaptive" and capability.kind == "budget":
        return "knows no `adaptive` thinking; ask for a budget"
    if thinking.type == "disabled" and not capability.can_disable:
        return "cannot stop thinking"
    if thinking.type == "between_tools" and capability.lowest != "between_tools":
        return "knows no thinking `between_tools`"
    return ""


def _parameter_refused(request: ModelRequest, capability: Capability) -> str:
    if not is_anthropic(request.model):
        return ""
    if request.seed is not None:
        return "takes no `seed`"
    if request.effort is not None and request.effort not in capability.efforts:
        return f"knows no effort `{request.effort}`"
    if capability.sampling == "refused" and (request.temperature not in (None, 1) or request.top_p is not None):
        return "takes no `temperature` or `top_p`"
    if capability.forced_tool == "refused" and request.tool_choice not in (None, "auto", "none"):
        return "cannot be forced to use a tool"
    return ""
