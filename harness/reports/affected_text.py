"""What a run of affected trials says of the trials that it left out."""

from __future__ import annotations

from typing import Any

from harness.records.run import RunRecord
from harness.reports.screen import Paint, one_line, plain, wrap

Json = Any


def render_affected(record: RunRecord, *, width: int = 80, paint: Paint = plain) -> str:
    """
    Say how much *record* left out, and which changes reach the rest; the empty string where it was to run everything.

    Args:
        record: The run.
        width: Columns of the terminal.
        paint: What decorates words.
    """
    told = record.manifest.get("affected")
    if not isinstance(told, dict):
        return ""
    left_out, run = told["left_out"], len(record.results)
    if run:
        causes = ", ".join(f"{one_line(name)} {count}" for name, count in told["causes"].items())
        text = f"{run} of {run + left_out} trials, by what changed since they were accepted: {causes}"
        rest = f"\n{wrap(f'left out: {_unchanged(told)}', width, indent='  ', later='    ')}" if left_out else ""
        return f"{_titled('AFFECTED', 'bold', text, width, paint)}{rest}"
    if not left_out:
        return ""
    return f"{_titled('UNCHANGED', 'green', _unchanged(told), width, paint)}\n\nhint: `harness gate` replays them all"


def _unchanged(told: dict[str, Json]) -> str:
    number, known = told["left_out"], told["known"]
    trials = "1 trial follows" if number == 1 else f"{number} trials follow"
    text = f"{trials} from the same files as when accepted"
    return f"{text}; {known} of them as known failures" if known else text


def _titled(word: str, colour: str, text: str, width: int, paint: Paint) -> str:
    """*text* behind a painted *word*, wrapped as if it were plain."""
    return paint(word, colour) + wrap(text, width, indent=f"{word}  ", later="  ").removeprefix(word)
