"""The gate's decision in GitHub's Markdown: whole for the summary of a job, and in short as a comment on a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from harness.records.decision import TRAJECTORY, Decision
from harness.records.run import RunRecord
from harness.reports.decided import decided_problems
from harness.reports.gate_samples import told_samples
from harness.reports.markdown import MARKER, MOST_BYTES, code, foot, table_of
from harness.reports.problems import FAILING, Problem, Rule

_WORST = 3
"""Cases that a comment shows; the summary of the job has all."""
_TITLES = {
    "could_not_check": "Could not check",
    "broken": "Regressions",
    "inconclusive": "Inconclusive",
    "quarantined": "Quarantined",
}
_NAMES = {
    "regression": ("regression", "regressions"),
    "still_broken": ("still broken", "still broken"),
    "error": ("error", "errors"),
    "advisory": ("broken contract that only reports", "broken contracts that only report"),
    TRAJECTORY: ("trajectory that is new", "trajectories that are new"),
}


def gate_markdown(
    record: RunRecord,
    decision: Decision,
    *,
    rules: Mapping[str, Rule] | None = None,
    prefix: str = "",
    most_bytes: int = MOST_BYTES,
) -> str:
    """
    Render all that *decision* says: what blocks with its cause, what is quarantined, samples, and the table of the designs.

    Args:
        record: The run that was decided about.
        decision: What the gate says of it.
        rules: What is known of contracts and error codes, by id: their first sentence is shown once.
        prefix: The project's folder from the root of the repository; empty where they are the same.
        most_bytes: Problems are left out, with their number, where the text would be longer.
    """
    found = [one for one in decided_problems(record, decision, prefix=prefix) if one.kind in _TITLES]
    head = "\n\n".join([f"## tapegate: {headline(decision)}", _counts(decision), table_of(record.results)])
    tail = "\n\n".join([*_samples(decision), _next(decision), foot(record)])
    room = most_bytes - len(head.encode()) - len(tail.encode()) - 200
    shown: list[str] = []
    for told, (title, problem) in enumerate(_titled(found)):
        text = title + _problem(problem, rules or {}, first=_first(found, told))
        room -= len(text.encode()) + 1
        if room < 0:
            shown.append(f"\n… and {len(found) - told} more; `harness gate --json` has all.")
            break
        shown.append(text)
    return "\n".join([head, *shown, "", tail, ""])


def gate_comment(
    record: RunRecord, decision: Decision, *, rules: Mapping[str, Rule] | None = None, prefix: str = ""
) -> str:
    """The decision with the worst of what blocks, as the body of a comment that the next run replaces."""
    found = [one for one in decided_problems(record, decision, prefix=prefix) if one.kind in FAILING]
    cases: dict[str, list[Problem]] = {}
    for problem in found:
        cases.setdefault(problem.where, []).append(problem)
    parts = [f"{MARKER}\n## tapegate: {headline(decision)}", _counts(decision)]
    if cases:
        worst = list(cases.values())[:_WORST]
        more = f"\n\n… and {len(cases) - _WORST} more, in the summary of the job." if len(cases) > _WORST else ""
        ways = _ways(decision)
        shown = "\n".join(
            _problem(problem, rules or {}, first=True) + ("" if place else _way(problem, ways))
            for of_case in worst
            for place, problem in enumerate(of_case[:2])
        )
        parts.append(f"{shown}{more}")
    return "\n\n".join([*parts, *_samples(decision), _next(decision), foot(record)]) + "\n"


def headline(decision: Decision) -> str:
    """The decision in capital letters."""
    return decision.decision.replace("_", " ").upper()


def _counts(decision: Decision) -> str:
    counts = Counter(
        "quarantined"
        if one.quarantined
        else TRAJECTORY
        if one.contract == TRAJECTORY
        else "advisory"
        if one.change == "regression" and not one.exit_code
        else one.change
        for one in decision.changes
    )
    told = [
        f"{number} {_NAMES.get(kind, (kind, kind))[number != 1]}"
        for kind, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    blocking = sum(bool(one.exit_code) for one in decision.changes)
    text = (
        f"{decision.compared} trials held against the baseline, {blocking} changes block (exit {decision.exit_code})."
    )
    return text + (f" In all: {', '.join(told)}." if told else " Nothing changed.")


def _titled(found: Sequence[Problem]) -> Iterator[tuple[str, Problem]]:
    kind = ""
    for problem in found:
        yield ("" if problem.kind == kind else f"\n### {_TITLES[problem.kind]}\n\n"), problem
        kind = problem.kind


def _first(found: Sequence[Problem], place: int) -> bool:
    """Whether this is the first problem of its rule."""
    return all(one.rule != found[place].rule for one in found[:place])


def _problem(problem: Problem, rules: Mapping[str, Rule], *, first: bool) -> str:
    change = problem.change
    cause = f", cause: {code(change.cause)}" if change is not None else ""
    lines = [
        f"- {problem.title} {code(problem.rule)} {code(problem.where)}{cause}, answered by: {problem.verdict.provenance}",
        f"  - {code(problem.because)}",
    ]
    lines += [f"  - {code(change.quarantined)}"] if change is not None and change.quarantined else []
    lines += [f"  - evidence: {problem.evidence}"] if problem.evidence else []
    lines += [f"  - at {code(problem.at)}"] if problem.at else []
    lines += [f"  - rule: {code(rules[problem.rule].about)}"] if first and problem.rule in rules else []
    return "\n".join(lines)


def _ways(decision: Decision) -> dict[tuple[str, str, str, str, int | None], str]:
    """What is told of trials that did otherwise, by trial."""
    return {
        (one.agent, one.model, one.set, one.case, one.trial): one.because
        for one in decision.changes
        if one.contract == TRAJECTORY and one.case and not one.exit_code
    }


def _way(problem: Problem, ways: Mapping[tuple[str, str, str, str, int | None], str]) -> str:
    """Where the trial of *problem* parts from what is accepted, as one more line; empty where it does not."""
    one = problem.verdict
    told = ways.get((one.agent, one.model, one.set, one.case, one.trial))
    return f"\n  - {code(told)}" if told else ""


def _samples(decision: Decision) -> Iterator[str]:
    for title, lines in told_samples(decision):
        yield "\n".join([f"### Samples\n\n- {code(title)}", *(f"  - {code(line)}" for line in lines)])


def _next(decision: Decision) -> str:
    if decision.exit_code == 0:
        return f"Policy: {code(decision.policy)}."
    settle = ""
    if decision.needs_trials:
        settle = f"About {decision.needs_trials} recordings of each open case, on each side, would settle it. "
    return (
        f'{settle}Where this is as it should be, accept with: `harness run && harness accept --reason "…"`, and commit '
        f"`reports/baselines`. Policy: {code(decision.policy)}."
    )
