"""A history in GitHub's Markdown, for a pull request or a job's summary; every name in it is only ever text."""

from __future__ import annotations

from collections.abc import Iterator

from harness.records.history import History
from harness.reports.escaping import markdown_code
from harness.reports.history import story
from harness.reports.history.spark import sparkline
from harness.reports.screen import clip, one_line

MOST_BYTES = 60_000
"""GitHub takes 65,536 characters in a comment."""
_MOST_POINTS = 30
_MOST_CASES = 40
_MOST_COLUMNS = 300


def markdown(document: History, *, most_bytes: int = MOST_BYTES) -> str:
    """Render *document*; cases are left out, with their number, where the text would be longer than *most_bytes*."""
    word, _ = story.headline(document)
    command, use = story.next_step(document)
    parts = [
        f"## tapegate history: {word}",
        _sentence(document),
        *_designs(document),
        *_unsteady(document),
        *_changes(document),
    ]
    foot = [
        *(f"Could not be read: {_code(run.run)}: {_code(run.because)}" for run in document.skipped[:3]),
        story.SAMPLES,
        f"Next: {_code(command)} {use}.",
    ]
    room = most_bytes - sum(len(part.encode()) + 2 for part in (*parts, *foot))
    return "\n\n".join([*parts, *_cases(document, room), *foot]) + "\n"


def _sentence(document: History) -> str:
    _, sentence = story.headline(document)
    return f"{_code(sentence)}\n\n{story.span(document)}."


def _designs(document: History) -> Iterator[str]:
    if not document.series:
        return
    shown = story.figures(document)
    lines = [
        "| design | "
        + " | ".join(f"{figure.name}{'' if figure.name == 'kept' else '/trial'}" for figure in shown)
        + " | recordings |",
        f"|---|{'---|' * len(shown)}---|",
    ]
    for series in document.series:
        points = series.points[-_MOST_POINTS:]
        cells = [f"{sparkline([figure.of(point) for point in points])} {figure.told(points[-1])}" for figure in shown]
        lines.append(f"| {_code(story.who(series))} | {' | '.join(cells)} | {story.samples(series)} |")
    yield "\n".join(lines)


def _unsteady(document: History) -> Iterator[str]:
    if not document.unsteady:
        return
    lines = [
        f"- **{'flaky' if case.kind == 'recordings' else 'nondeterministic'}** {_code(story.who(case))} "
        f"{_code(f'{case.set}/{case.case}')}: {_code(case.because)}"
        for case in document.unsteady[:_MOST_CASES]
    ]
    if len(document.unsteady) > _MOST_CASES:
        lines.append(f"- and {len(document.unsteady) - _MOST_CASES} more; `harness history --json` has all")
    yield "### Cases that flicker"
    yield "\n".join(lines)


def _changes(document: History) -> Iterator[str]:
    if told := story.changes(document):
        yield "### What changed"
        yield "\n".join(f"- before {_code(run)}: {_code(what)}" for run, what in told)


def _cases(document: History, room: int) -> Iterator[str]:
    cases = story.restless(document)
    if not cases and not story.never_kept(document):
        return
    yield "### Cases that were not always kept"
    lines = ["| design | case | runs |", "|---|---|---|"]
    for case in cases[:_MOST_CASES]:
        line = (
            f"| {_code(story.who(case))} | {_code(f'{case.set}/{case.case}')} | {_code(case.states[-_MOST_POINTS:])} |"
        )
        room -= len(line.encode()) + 1
        if room < 0:
            break
        lines.append(line)
    shown = len(lines) - 2
    if shown:
        yield "\n".join(lines)
        yield "`.` kept, `x` broken, `k` broken and known, `?` not checked, `-` not run."
    if len(cases) > shown:
        yield f"… and {len(cases) - shown} more; `harness history --json` has all."
    if never := story.never_kept(document):
        yield f"Kept in none of these runs: {_code(never)}"


def _code(text: str) -> str:
    return markdown_code(clip(one_line(text), _MOST_COLUMNS))
