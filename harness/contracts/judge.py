"""Hold a trial to its contracts: one finding for each contract that was kept, one for each way in which one broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.contracts.base import TRIGGERED, Broken, Contract, Triggered, Unchecked
from harness.contracts.shrink import shortest
from harness.contracts.view import TrialView
from harness.records.case import GoldenCase
from harness.records.finding import Finding
from harness.records.run import Trial, VerdictState

MOST_FINDINGS = 5
"""A contract that breaks more often than this in one trial is shown this many times."""


def judge(case: GoldenCase, trial: Trial, contracts: Sequence[Contract]) -> tuple[Finding, ...]:
    """
    Hold *trial* to *contracts*, in their order.

    A contract that raises becomes a finding `could_not_check`; this function itself never raises for what a trace
    holds. A trial that could not be checked, or that has no trace, has no findings.
    """
    if trial.could_not_check or not trial.traces:
        return ()
    views: list[TrialView] = []
    for leg in range(len(trial.traces)):
        views.append(TrialView(case, trial, leg, earlier=tuple(views)))
    present = views[0].by_type.keys() if len(views) == 1 else {kind for view in views for kind in view.by_type}
    last = views[-1:]
    findings: list[Finding] = []
    for contract in contracts:
        if contract.needs and contract.needs.isdisjoint(present):
            findings.append(contract.vacuous)
            continue
        triggered: Triggered | None = None
        breaks: list[tuple[TrialView, Broken]] = []
        try:
            for view in last if contract.over == "trial" else views:
                for found in contract.check(view):
                    if found is TRIGGERED:
                        triggered = triggered or TRIGGERED
                    elif isinstance(found, Triggered):
                        triggered = found
                    else:
                        breaks.append((view, _as_broken(found)))
        except _LacksError as lack:
            findings.append(_lacking(contract, view, str(lack)))
            continue
        except Exception as error:  # noqa: BLE001 - whatever a contract raises is a finding, not a crash of the run
            findings.append(_crashed(contract, view, error))
            continue
        if breaks:
            findings.extend(_broken(contract, breaks))
        else:
            findings.append(_kept(contract, triggered) if triggered else contract.vacuous)
    return tuple(findings)


def verdict_of(findings: Sequence[Finding], trial: Trial) -> VerdictState:
    """
    The verdict on *trial*: `could_not_check` if a blocking contract could not be checked or the trial itself could
    not, else broken if one broke, else kept. A failure that is known must not hide a contract that crashed.
    """
    if trial.could_not_check or not trial.traces:
        return "could_not_check"
    verdict: VerdictState = "kept"
    for finding in findings:
        if finding.advisory or finding.state in ("kept", "vacuous"):
            continue
        if finding.state == "could_not_check":
            return "could_not_check"
        verdict = "broken"
    return verdict


class _LacksError(Exception):
    """A contract said that it lacks what it needs."""


def _as_broken(found: object) -> Broken:
    if isinstance(found, Broken):
        return found
    if isinstance(found, Unchecked):
        raise _LacksError(found.because)
    raise TypeError(f"it yielded {type(found).__name__}, and may yield only broken(…) and triggered(…)")


def _is_advisory(contract: Contract, view: TrialView) -> bool:
    """Whether the case only reports *contract* for the trial's design."""
    advisory, agent = view.case.advisory, view.trial.cell.agent
    designs = (agent, agent.partition("@")[0], "*")
    return bool(advisory) and any(contract.id in advisory.get(design, ()) for design in designs)


def _broken(contract: Contract, breaks: list[tuple[TrialView, Broken]]) -> Iterator[Finding]:
    more = len(breaks) - MOST_FINDINGS
    for number, (view, found) in enumerate(breaks[:MOST_FINDINGS], start=1):
        yield Finding(
            contract=contract.id,
            state="broken",
            because=f"{found.because} (and {more} more)" if number == MOST_FINDINGS and more > 0 else found.because,
            witness=found.witness,
            leg=view.leg if found.leg is None else found.leg,
            turn=found.turn,
            shortest=shortest(contract, view, found),
            at=contract.at or view.case.at,
            advisory=_is_advisory(contract, view),
            judged_by=found.judged_by,
        )


def _kept(contract: Contract, triggered: Triggered) -> Finding:
    if triggered is TRIGGERED or not triggered.note:
        return contract.kept
    return Finding(contract=contract.id, state="kept", because=triggered.note, judged_by=triggered.judged_by)


def _lacking(contract: Contract, view: TrialView, because: str) -> Finding:
    return Finding(
        contract=contract.id, state="could_not_check", because=because, leg=view.leg, at=contract.at or view.case.at,
        advisory=_is_advisory(contract, view),
    )  # fmt: skip


def _crashed(contract: Contract, view: TrialView, error: Exception) -> Finding:
    words = " ".join(str(error).split())[:200]
    return Finding(
        contract=contract.id,
        state="could_not_check",
        because=f"the contract itself failed: {type(error).__name__}{': ' if words else ''}{words}{_where(error)}",
        leg=view.leg,
        at=contract.at or view.case.at,
        advisory=_is_advisory(contract, view),
    )


def _where(error: Exception) -> str:
    """The line that raised *error*, for the author of the contract."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})" if frame is not None else ""
