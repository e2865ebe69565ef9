"""Accessibility as axe-core sees it: every rule it has, on the page as it stands."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SETTLED = "() => Promise.all(document.getAnimations().map(one => one.finished.catch(() => null))).then(() => true)"


def faults(page: Page, *, within: str | None = None) -> list[str]:
    """
    What axe-core objects to on *page*: one line for each element, with the rule, where it stands and why.

    Args:
        page: As it stands.
        within: A selector that narrows it; None: all of the page.
    """
    page.evaluate(SETTLED)  # a colour that is on its way has no contrast yet
    found = Axe().run(page, context=within).response["violations"]
    return [_line(rule, node) for rule in found for node in rule["nodes"]]


def _line(rule: dict[str, Any], node: dict[str, Any]) -> str:
    where = " ".join(str(part) for part in node["target"])
    why = " ".join(node.get("failureSummary", "").split())
    return f"{rule['id']} ({rule['impact']}) at {where}: {why} — {node['html'][:160]}"
