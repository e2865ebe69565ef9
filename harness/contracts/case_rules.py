"""What a case itself asks for, as contracts named after the key of the golden set that states it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.view import TrialView


@contract("ending", kind="B", over="trial", needs=("trial_finished",))
def ending(view: TrialView) -> Iterator[Found]:
    """The trial ends with the status, and where the case names one the reason, that the case expects."""
    finished, case = view.finished, view.case
    if finished is None:
        return
    yield TRIGGERED
    if finished.status != case.status:
        reason = f" ({finished.reason})" if finished.reason else ""
        yield broken(view.finished_event, f"status {finished.status}{reason}, expected {case.status}")
    elif case.reason and finished.reason != case.reason:
        yield broken(view.finished_event, f"reason `{finished.reason}`, expected `{case.reason}`")
