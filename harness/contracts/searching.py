"""CX14: a search that finds nothing is not the end of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import PLAN_TOOLS, ToolUse, TrialView

WITHIN_TURNS = 2
_SEARCH = re.compile(r"search|find|query|lookup|look_up|retrieve|grep|busca|such|поиск", re.IGNORECASE)
_SAYS_SO = (
    r"not (?:be )?(?:found|available|exist|able|know)|no (?:\w+ ){0,3}(?:result|document|information|data|match|entr|record|item)"
    r"|n't (?:find|found|have|access|available|know|exist|locate|retrieve|reach)|unable|unavailable|could not|cannot|can't"
    r"|fail|timed? ?out|error|nothing|none|missing|\bzero\b|\b0\b"
    r"|nicht (?:\w+ ){0,2}(?:gefunden|verfügbar|vorhanden|finden|möglich|bekannt|abrufen|erreich)|kein|fehlgeschlagen|fehlt|fehler"
    r"|leider|zeitüberschreitung|\bnull\b|konnte .{0,60}nicht"
    r"|não|nenhum|sem (?:resultado|dados|informa)|indispon|falh|erro"
    r"|не (?:\w+ )?(?:найд|наш|удал|доступ|существ|смог|получ)|нет |отсутств|ошибк|недоступ|к сожалению"
    r"|没有|未找到|找不到|无法|失败|不存在|无结果|超时"
)


def is_failed_search(use: ToolUse) -> bool:
    """Whether *use* is a search that failed or found nothing. A tool that counts hits is a search by any name."""
    result = use.outcome
    if result is None or (result.hits is None and not _SEARCH.search(use.tool)):
        return False
    return not result.ok or result.hits == 0


@contract("CX14", kind="B", needs=("tool_result",))
def search_alternatives(view: TrialView) -> Iterator[Found]:
    """A failed search is followed within two turns by a call that differs, or by an answer that says so."""
    if view.stopped:
        return
    for use in view.uses:
        if not is_failed_search(use):
            continue
        yield TRIGGERED
        later = [u for u in view.uses if u.event.seq > use.event.seq and u.tool not in PLAN_TOOLS]
        soon = [u for u in later if _turns_between(view, use, u) <= WITHIN_TURNS]
        if any(u.same_as != use.same_as for u in soon) or _said_so(view):
            continue
        what = "found nothing" if use.ok else "failed"
        if soon:
            yield broken([use.event, use.result, soon[0].event], f"{use.tool} {what}, and the same call is repeated")
        else:
            ending = view.finals[-1] if view.finals else view.finished_event
            yield broken([use.event, use.result, ending], f"{use.tool} {what}, and the answer does not say so")


def _turns_between(view: TrialView, use: ToolUse, later: ToolUse) -> int:
    if use.turn is None or later.turn is None:
        return 1
    return sum(1 for call in view.calls if call.turn is not None and use.turn < call.turn <= later.turn)


def _said_so(view: TrialView) -> bool:
    """Whether the run ended by saying that it failed: by its answer, or by a failed status with an error."""
    if not view.finals:
        return "error" in view.by_type
    return not view.finals[-1].data.complete or bool(re.search(_SAYS_SO, view.answer, re.IGNORECASE))
