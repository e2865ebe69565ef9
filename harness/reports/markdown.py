"""A run in GitHub's Markdown: for people, for the summary of a job, and for a comment on a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from harness.records.messages import Usage
from harness.records.run import CaseVerdict, RunRecord
from harness.reports.escaping import markdown_code
from harness.reports.problems import Kind, Problem, Rule, problems, trial_name
from harness.reports.screen import clip, one_line

MARKER = "<!-- tapegate-report -->"
"""First line of a comment: by it, the next run finds the comment that it replaces."""
MOST_BYTES = 60_000
"""GitHub takes 65,536 characters in a comment."""
_MOST_COLUMNS = 400
_TITLES: dict[Kind, str] = {
    "could_not_check": "Could not check",
    "broken": "Broken",
    "inconclusive": "Inconclusive",
    "quarantined": "Quarantined",
    "known": "Known failures (in the baseline, for the same recording)",
    "advisory": "Advisory",
}
_QUIET: frozenset[Kind] = frozenset({"known", "advisory"})
"""Folded away, so that what is new stands on the first screen."""
_END_OF_FOLD = "\n</details>"
_COLUMNS = ("agent", "model", "answered by", "cases kept", "known", "broken", "could not check", "calls", "tokens")


def markdown(
    record: RunRecord, *, rules: Mapping[str, Rule] | None = None, prefix: str = "", most_bytes: int = MOST_BYTES
) -> str:
    """
    Render *record*: what came of it, a table of the designs, then each problem with its evidence, the gravest first.

    Args:
        record: The run.
        rules: What is known of contracts and error codes, by id: their first sentence is shown once.
        prefix: The project's folder from the root of the repository; empty where they are the same.
        most_bytes: Problems are left out, with their number, where the text would be longer.
    """
    found = problems(record, prefix=prefix)
    head = "\n\n".join(
        [f"## tapegate: {headline(record)}", _counts(record), *_next_step(record, found), table_of(record.results)]
    )
    end = foot(record)
    room = most_bytes - len(head.encode()) - len(end.encode()) - 200
    shown: list[str] = []
    folded = False
    for told, (problem, text) in enumerate(zip(found, _parts(found, rules or {}), strict=True)):
        room -= len(text.encode()) + 1
        if room < 0:
            shown += [_END_OF_FOLD] * folded
            shown.append(f"\n… and {len(found) - told} more; `harness report {record.run} --format json` has all.")
            break
        shown.append(text)
        folded = problem.kind in _QUIET
    else:
        shown += [_END_OF_FOLD] * folded
    return "\n".join([head, *shown, "", end, ""])


def comment(record: RunRecord, *, rules: Mapping[str, Rule] | None = None, prefix: str = "") -> str:
    """The same as the body of a comment that the next run replaces: it begins with `MARKER`."""
    return f"{MARKER}\n{markdown(record, rules=rules, prefix=prefix)}"


def headline(record: RunRecord) -> str:
    """The verdict on the run in capital letters."""
    if record.totals.could_not_check:
        return "COULD NOT CHECK"
    if record.totals.broken > record.totals.known:
        return "BROKEN"
    return "KEPT" if record.results else "NOTHING RUN"


def table_of(results: Sequence[CaseVerdict]) -> str:
    """What each design came to with each model, by who answered."""
    groups: dict[tuple[str, str, str], list[CaseVerdict]] = {}
    for verdict in results:
        groups.setdefault((verdict.agent, verdict.model, verdict.provenance), []).append(verdict)
    priced = any(verdict.cost_usd is not None for verdict in results)
    columns = (*_COLUMNS, "US$") if priced else _COLUMNS
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * 3}{'---:|' * (len(columns) - 3)}"]
    for (agent, model, provenance), verdicts in sorted(groups.items()):
        every = {(v.set, v.case) for v in verdicts}
        lost = {(v.set, v.case) for v in verdicts if v.verdict != "kept"}
        tokens = sum((v.tokens for v in verdicts), Usage())
        cells = (
            markdown_code(agent),
            markdown_code(model),
            provenance,
            f"{len(every) - len(lost)}/{len(every)}",
            sum(v.known for v in verdicts),
            sum(v.verdict == "broken" and not v.known for v in verdicts),
            sum(v.verdict == "could_not_check" for v in verdicts),
            f"{sum(v.llm_calls for v in verdicts):,}",
            f"{tokens.input + tokens.output:,}",
            *([_cost(verdicts)] if priced else []),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _cost(verdicts: Sequence[CaseVerdict]) -> str:
    """What all of them cost; not known where one has no price."""
    costs = [verdict.cost_usd for verdict in verdicts]
    return "–" if None in costs else f"{sum(cost or 0.0 for cost in costs):.4f}"


def foot(record: RunRecord) -> str:
    """Which run it was, and that replays are no samples."""
    versions = record.manifest.get("versions")
    version = versions.get("tapegate", "") if isinstance(versions, dict) else ""
    answered = ", ".join(sorted({verdict.provenance for verdict in record.results}))
    made = f" by tapegate {code(str(version))}" if version else ""
    return f"Run {code(record.run)}{made}; answered by: {answered or 'nobody'}. Replayed offline: no sample is new."


def code(text: str) -> str:
    """*text* of a stranger as one line of code, cut to what a reader takes in."""
    return markdown_code(clip(one_line(text), _MOST_COLUMNS))


def _counts(record: RunRecord) -> str:
    totals = record.totals
    return (
        f"{totals.kept} of {totals.trials} trials kept, {totals.broken - totals.known} broken, {totals.known} known,"
        f" {totals.could_not_check} could not be checked." + (" Part of the matrix only." if record.partial else "")
    )


def _next_step(record: RunRecord, found: Sequence[Problem]) -> Iterator[str]:
    """What to do about the gravest problem; nothing where all that is wrong was accepted."""
    first = next((problem.verdict for problem in found if problem.kind not in _QUIET), None)
    if first is not None:
        again = f"harness run {first.set} --agent {first.agent} --model {first.model} --case {first.case}"
        yield f"Next: {code(again)} runs the first again; {code(f'harness report {record.run} --format html')} shows every step."


def _parts(found: Sequence[Problem], rules: Mapping[str, Rule]) -> Iterator[str]:
    """The text of each problem: a title before each kind, help at the first problem of a rule."""
    kind, explained = "", set()
    many = Counter(problem.kind for problem in found)
    for problem in found:
        text = _problem(problem)
        if problem.rule in rules and problem.rule not in explained:
            explained.add(problem.rule)
            text += f"\n  - rule: {code(rules[problem.rule].about)}"
        title = "" if problem.kind == kind else _title(problem.kind, many[problem.kind])
        end = f"{_END_OF_FOLD}\n" if title and kind in _QUIET else ""
        kind = problem.kind
        yield end + title + text


def _title(kind: Kind, many: int) -> str:
    if kind in _QUIET:
        return f"\n<details><summary>{_TITLES[kind]}: {many}</summary>\n\n"
    return f"\n### {_TITLES[kind]}\n\n"


def _problem(problem: Problem) -> str:
    lines = [
        f"- {code(problem.rule)} {code(trial_name(problem.verdict))}, answered by: {problem.verdict.provenance}",
        f"  - {code(problem.because)}",
    ]
    lines += [f"  - evidence: {problem.evidence}"] if problem.evidence else []
    lines += [f"  - at {code(problem.at)}"] if problem.at else []
    return "\n".join(lines)
