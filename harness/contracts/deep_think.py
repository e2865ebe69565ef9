"""CD1–CD7: the loop that solves, verifies and corrects, and what its verdicts are worth."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.contracts.base import TRIGGERED, Broken, Found, broken, contract
from harness.contracts.deep_run import (
    DEEP,
    MAX_ERRORS,
    MAX_ITERATIONS,
    REQUIRED,
    Verdict,
    failures_in_a_row,
    is_resumed,
    known_solutions,
    legs_of,
    number,
    own_verdicts,
    rendered,
    round_of,
    round_passed,
    rounds_of,
    slot_of,
    solution_before,
    verdicts_of,
)
from harness.contracts.verdicts import read_verdict, stated_issues
from harness.contracts.view import ModelCall, TrialView
from harness.records.digest import digest
from harness.records.trace import Event, Verification

GRAPH: dict[str, frozenset[str]] = {
    "init": frozenset({"plan", "solve"}),
    "plan": frozenset({"solve"}),
    "solve": frozenset({"improve", "verify"}),
    "improve": frozenset({"verify"}),
    "verify": frozenset({"verify", "correct", "summary"}),
    "correct": frozenset({"verify"}),
    "summary": frozenset(),
}
"""Which phase may follow which. A leg that loaded a state goes on from `init` wherever it stopped."""
LEAST_TOLD = 200
"""Characters of an issue that are told at least."""
GIVES_UP = frozenset({"max_iterations", "max_errors"})


@contract("CD1", designs=DEEP, needs=("phase_started",))
def one_graph(view: TrialView) -> Iterator[Found]:
    """
    Phases follow the graph: init, plan if asked for, solve, improve, verify, and from there again, to correct or to the
    summary, as the verdict says.
    """
    yield TRIGGERED
    phases = view.by_type.get("phase_started", [])
    first = phases[0]
    if first.data.name != "init":
        yield broken(first, f"the run begins with {first.data.name}, not with init")
        return
    resumed, rounds = is_resumed(view), rounds_of(own_verdicts(view))
    for before, phase in pairwise(phases):
        was, now = before.data.name, phase.data.name
        if now not in GRAPH.get(was, ()) and not (resumed and was == "init"):
            yield broken([before, phase], f"{now} follows {was}")
            return
        wrong = _against_the_verdict(view, rounds, phase) if was == "verify" else None
        if wrong is not None:
            yield wrong
            return
    last = next((leg.by_type["phase_started"][-1] for leg in reversed(legs_of(view)) if _has_begun(leg)), phases[-1])
    if view.status == "completed" and last.data.name != "summary":
        yield broken([last, view.finished_event], f"the run is completed after {last.data.name}, without a summary")


def _has_begun(leg: TrialView) -> bool:
    """Whether a leg came beyond `init`; one that resumes a finished run does not."""
    return len(leg.by_type.get("phase_started", ())) > 1


def _against_the_verdict(view: TrialView, rounds: list[list[Verdict]], phase: Event) -> Broken | None:
    """What is wrong with a phase after verify: the last verdict decides where it goes."""
    last = next((verdicts for verdicts in reversed(rounds) if verdicts[0].event.seq < phase.seq), None)
    if last is None:
        return None
    name = phase.data.name
    passed = round_passed(last)
    witness = [*(verdict.event for verdict in last), phase]
    if name == "correct" and passed:
        return broken(witness, "a solution that passed is corrected")
    if name == "verify" and not passed:
        return broken(witness, "a solution that failed is verified again without a correction")
    enough = last[-1].data.count >= number(view, "required_verifications", REQUIRED)
    if name == "summary" and passed and not enough and view.status == "completed":
        return broken(witness, f"the summary comes after {last[-1].data.count} passes in a row")
    return None


@contract("CD2", designs=DEEP, needs=("verification", "final_answer"))
def enough_passes(view: TrialView) -> Iterator[Found]:
    """
    A completed run ends on as many passes in a row as it requires, all of the same solution, each from a model call of
    its own.
    """
    if view.status != "completed":
        return
    yield TRIGGERED
    required = number(view, "required_verifications", REQUIRED)
    last = verdicts_of(view)[-required:]
    witness = [*_here(view, last), view.finished_event]
    if len(last) < required:
        yield broken(witness, f"completed after {len(last)} verdicts, required are {required}")
        return
    failed = [verdict for verdict in last if not verdict.passed]
    if failed:
        yield broken([*_here(view, failed), view.finished_event], f"one of the last {required} verdicts is no pass")
    if len({verdict.data.solution_digest for verdict in last}) > 1:
        yield broken(witness, f"the last {required} verdicts are on different solutions")
    own = [verdict for verdict in last if verdict.call is not None]
    if len(own) < required:
        yield broken(witness, f"{required} verdicts come from {len(own)} model calls")


@contract("CD3", designs=DEEP, needs=("verification",))
def failures_are_corrected(view: TrialView) -> Iterator[Found]:
    """
    After a failed verdict the solver is shown its issues, and what is verified next is its correction, not the text
    that failed.
    """
    for failed, following in pairwise(rounds_of(verdicts_of(view))):
        last, first = failed[-1], following[0]
        if round_passed(failed) or first.leg != view.leg:
            continue
        yield TRIGGERED
        witness = _here(view, [last, first])
        if last.data.solution_digest == first.data.solution_digest:
            yield broken(witness, "the text that failed is verified again")
            return
        corrections = _corrections(view, last, first)
        issues = digest(rendered(issue for one in failed if not one.passed for issue in one.data.issues))
        if not corrections:
            yield broken(witness, "no correction stands between a failed verdict and the next one")
        elif not any(call.data.embeds.get("issues") == issues for call in corrections):
            yield broken(witness, "the correction is not shown the issues of the verdict")
        solution = solution_before(view, first.event)
        if solution is not None and solution.data.origin != "correct":
            yield broken([*witness, solution], f"the correction is dropped: the {solution.data.origin} is verified")


def _corrections(view: TrialView, after: Verdict, before: Verdict) -> list[ModelCall]:
    """Calls for a correction between two verdicts, which may stand in different legs."""
    return [
        call
        for leg in legs_of(view)
        for call in leg.calls_for("correct")
        if (after.leg, after.event.seq) < (leg.leg, call.event.seq) < (before.leg, before.event.seq)
    ]


@contract("CD4", designs=DEEP, needs=("verification",))
def failure_starts_over(view: TrialView) -> Iterator[Found]:
    """The count of passes grows by one with each pass, and a failed verdict takes it back to 0."""
    own = own_verdicts(view)
    known = verdicts_of(view)
    count = known[len(known) - len(own) - 1].data.count if len(known) > len(own) else 0
    round_ = None
    for verdict in own:
        yield TRIGGERED
        data = verdict.data
        if data.of > 1 and data.round != round_:
            count, failed = 0, False
        round_ = data.round
        failed = not data.passed or (data.of > 1 and failed)
        count = 0 if failed else count + 1
        if data.count != count:
            what = "a failed verdict" if failed else "a pass"
            yield broken(verdict.event, f"after {what} in round {data.round} the count is {data.count}, not {count}")
            return


@contract("CD5", designs=DEEP, needs=("verification",), shrinks=False)
def bounded(view: TrialView) -> Iterator[Found]:
    """
    Rounds and failures in a row stay within their limits, nothing is verified after the last round, and a run that
    comes to a limit fails with one error and an answer that is not complete.
    """
    yield TRIGGERED
    most, patience = number(view, "max_iterations", MAX_ITERATIONS), number(view, "max_errors", MAX_ERRORS)
    for call in view.calls_for("verify"):
        if (round_of(call) or 0) > most:
            yield broken(call.event, f"round {round_of(call)} is verified, max_iterations is {most}")
            break
    rounds = rounds_of(verdicts_of(view))
    numbers = [verdicts[0].data.round for verdicts in rounds]
    if numbers != list(range(1, len(numbers) + 1)):
        yield broken(
            _here(view, [r[0] for r in rounds]), f"rounds are numbered {numbers}, expected 1 to {len(numbers)}"
        )
    for end in range(patience, len(rounds)):
        if failures_in_a_row(rounds[:end]) >= patience:
            yield broken(_here(view, rounds[end]), f"the run goes on after {patience} failures in a row")
            break
    failures = failures_in_a_row(rounds)
    required = number(view, "required_verifications", REQUIRED)
    short = bool(rounds) and rounds[-1][-1].data.count < required
    if short and (failures >= patience or len(rounds) >= most):
        what = f"{failures} failures in a row" if failures >= patience else f"{len(rounds)} rounds"
        yield from _ends_badly(view, what)
    yield from _gives_up_for_a_reason(view, rounds=len(rounds) >= most, failures=failures >= patience)


def _ends_badly(view: TrialView, what: str) -> Iterator[Found]:
    if view.finished is None or view.stopped:
        return
    if view.status != "failed":
        yield broken(view.finished_event, f"{what} end as {view.status}")
    raised = [event for event in view.by_type.get("error", ()) if event.data.where != "harness"]
    if len(raised) != 1:
        yield broken([*raised, view.finished_event], f"{what} are told by {len(raised)} errors, expected one")
    for final in view.finals:
        if final.data.complete:
            yield broken(final, f"after {what} the answer is marked as complete")


def _gives_up_for_a_reason(view: TrialView, *, rounds: bool, failures: bool) -> Iterator[Found]:
    """An error that names a limit is raised only where the run came to it."""
    for error in view.by_type.get("error", ()):
        kind = error.data.kind
        if kind in GIVES_UP and not (rounds if kind == "max_iterations" else failures):
            yield broken(error, f"the run gives up for {kind}, and did not come to it")


@contract("CD6", designs=DEEP, needs=("llm_call",))
def whole_solution(view: TrialView) -> Iterator[Found]:
    """The verifier is shown the problem and the whole solution in force, which is never empty."""
    question = next((leg.started.question for leg in legs_of(view) if leg.started and leg.started.question), "")
    for call in view.calls_for("verify"):
        yield TRIGGERED
        shown, problem = call.data.embeds.get("solution"), call.data.embeds.get("problem")
        solution = solution_before(view, call.event)
        if shown is None:
            yield broken([solution, call.event], "the verifier is not shown the solution")
        elif shown == digest("") or (solution is not None and not solution.data.chars):
            yield broken([solution, call.event], "the verifier is shown an empty solution")
        elif shown not in ({solution.data.digest} if solution is not None else known_solutions(view)):
            yield broken([solution, call.event], "the verifier is shown another text than the solution in force")
        if problem is None:
            yield broken(call.event, "the verifier is not shown the problem")
        elif question and problem != digest(question):
            yield broken(call.event, "the verifier is shown another problem than was asked")
    for verdict in own_verdicts(view):
        asked = verdict.call.data.embeds.get("solution") if verdict.call is not None else None
        if asked is not None and asked != verdict.data.solution_digest:
            witness = [verdict.call.event if verdict.call else None, verdict.event]
            yield broken(witness, "the verdict is booked on another text than the verifier was shown")


@contract("CD7", designs=DEEP, needs=("verification",))
def strict_verdicts(view: TrialView) -> Iterator[Found]:
    """A verdict is what the verifier's reply states by the strict rule; what cannot be read, or came too late, fails."""
    for verdict in own_verdicts(view):
        yield TRIGGERED
        data = verdict.data
        if data.passed != (data.verdict == "pass"):
            counted = "a pass" if data.passed else "a failure"
            yield broken(verdict.event, f"the verdict {data.verdict} is counted as {counted}")
        if verdict.call is None:
            yield broken(verdict.event, f"no model call of its own stands behind the verdict {slot_of(data)}")
            continue
        stated = _stated(verdict.call)
        if stated != data.verdict:
            witness = [verdict.call.result, verdict.event]
            yield broken(witness, f"the reply states {stated}, the verdict is {data.verdict}")
        elif not data.passed and (untold := _untold(verdict.call, data)):
            yield broken([verdict.call.result, verdict.event], untold)


def _untold(call: ModelCall, verification: Verification) -> str:
    """What is missing among the issues of a failed verdict: it has at least one, and each that its reply states."""
    told = [issue.what for issue in verification.issues]
    if not any(what.strip() for what in told):
        return "a failed verdict names no issue"
    stated = stated_issues(call.reply.text) if call.reply is not None else []
    missing = next((what for what in stated if not any(one[:LEAST_TOLD] == what[:LEAST_TOLD] for one in told)), "")
    return f"the reply states “{missing[:60]}”, and no issue of the verdict says so" if missing else ""


def _stated(call: ModelCall) -> str:
    reply = call.reply
    if reply is not None:
        return read_verdict(reply.text)
    error = call.result.data.error if call.result is not None else None
    return "timeout" if error is not None and error.kind == "timeout" else "unparsable"


def _here(view: TrialView, verdicts: list[Verdict]) -> list[Event]:
    """The events of those *verdicts* that stand in this leg."""
    return [verdict.event for verdict in verdicts if verdict.leg == view.leg]
