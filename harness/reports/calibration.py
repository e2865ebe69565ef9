"""A judge's calibration for people: who said what, how far both agree, and what is too little to be known."""

from __future__ import annotations

from collections.abc import Iterator

from harness.records.calibration import Calibrated, Calibration, RatedAnswer
from harness.reports.screen import clip, one_line, wrap
from harness.reports.table import table

_MOST_SHOWN = 20
_BANDS = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (0.0, "slight"))
"""The words of J. R. Landis and G. G. Koch, Biometrics 33 (1977) 159–174; lower bounds, above which a word is used."""


def render_calibration(found: Calibration, width: int) -> str:
    """Lay *found* out as text of *width* columns."""
    votes = f", {found.votes} votes each" if found.votes > 1 else ""
    head = f"{found.model} ({found.provenance}) against {found.labels} labels of {found.file}{votes}"
    parts = [wrap(one_line(head), width)]
    if found.overall is not None:
        parts += ["", _confusion(found.overall, width), "", *_figures(found.overall, width)]
    if found.criteria:
        parts += ["", _criteria(found, width)]
    wrong = [one for one in found.answers if one.verdict != one.label]
    if wrong:
        parts += ["", "differ from their labels:", *_differing(wrong, width)]
    parts += [""] * bool(found.warnings) + [
        wrap(f"warning: {one_line(text)}", width, later="  ") for text in found.warnings
    ]
    return "\n".join(parts)


def words_for(kappa: float | None) -> str:
    """What *kappa* is commonly called."""
    if kappa is None:
        return "not defined: both always say the same one thing"
    return next((word for least, word in _BANDS if kappa > least), "no better than chance")


def _confusion(found: Calibrated, width: int) -> str:
    counts = found.confusion
    rows = [["people: pass", counts.pass_pass, counts.pass_fail], ["people: fail", counts.fail_pass, counts.fail_fail]]
    return table(["", "judge: pass", "judge: fail"], rows, width=width)


def _figures(found: Calibrated, width: int) -> Iterator[str]:
    counts = found.confusion
    yield wrap(
        f"agreement {found.agreement:.2f} {_ends(found.agreement_interval)}, by chance {found.expected:.2f}", width
    )
    yield wrap(f"Cohen's κ {_kappa(found)}: {_called(found)}", width, later="  ")
    bad = counts.fail_pass + counts.fail_fail
    yield wrap(f"passed {counts.fail_pass} of the {bad} answers that people fail", width)


def _called(found: Calibrated) -> str:
    if not found.enough and found.kappa is not None:
        return "too few labels for a word on it"
    return words_for(found.kappa)


def _kappa(found: Calibrated) -> str:
    if found.kappa is None or found.kappa_interval is None:
        return "–"
    return f"{found.kappa:.2f} {_ends(found.kappa_interval)}, standard error {found.standard_error:.2f}"


def _criteria(found: Calibration, width: int) -> str:
    rows = [
        [
            clip(one_line(one.criterion), 60), one.confusion.labels, f"{one.agreement:.2f}",
            "–" if one.kappa is None else f"{one.kappa:.2f}", "–" if one.standard_error is None else f"{one.standard_error:.2f}",
        ]
        for one in found.criteria
    ]  # fmt: skip
    return table(["criterion", "labels", "agreement", "κ", "s.e."], rows, width=width)


def _differing(wrong: list[RatedAnswer], width: int) -> Iterator[str]:
    for one in wrong[:_MOST_SHOWN]:
        told = "no verdict" if one.verdict == "none" else f"judge: {one.verdict}"
        text = f"{one.id}: people: {one.label}, {told}: {clip(one_line(one.because), 240)}"
        yield wrap(one_line(text), width, indent="  ", later="    ")
    if len(wrong) > _MOST_SHOWN:
        yield f"  and {len(wrong) - _MOST_SHOWN} more; `--json` has all"


def _ends(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:.2f}, {interval[1]:.2f}]"
