"""Contracts: named rules over a trace, and the judge that holds a trial against them."""

from harness.contracts.base import Broken, Contract, Found, Triggered, broken, contract, triggered
from harness.contracts.catalogue import builtin, contracts_for, load_modules
from harness.contracts.judge import judge, verdict_of
from harness.contracts.view import ModelCall, ToolUse, TrialView

__all__ = [
    "Broken",
    "Contract",
    "Found",
    "ModelCall",
    "ToolUse",
    "TrialView",
    "Triggered",
    "broken",
    "builtin",
    "contract",
    "contracts_for",
    "judge",
    "load_modules",
    "triggered",
    "verdict_of",
]
