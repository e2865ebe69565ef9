"""
Labelled answers, and how far a judge agrees with the people who labelled them.

    format: 1
    about: Whether figures stand in what the tools told
    model: judge-model
    votes: 1
    items:
      - id: share-right
        criterion: Every figure of the answer stands in the evidence.
        question: What share was bought?
        evidence: ['{"share": "60 %"}']
        answer: They bought 60 %.
        label: pass

A file that ends in `.jsonl` has an item a line, and the judge is named by `--model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from harness.errors import BadFileError, ExitCode
from harness.goldensets.yaml_tree import read_yaml
from harness.judge.prompt import Block, Subject
from harness.records.calibration import Calibrated, Calibration, Confusion, RatedAnswer
from harness.records.judgement import MOST_VOTES, Cite, Judgement, Question
from harness.stats import cohens_kappa, wilson_interval

LEAST_LABELS = 20
"""With fewer labels nothing is said of a judge: the interval of κ would span half of its range."""
MOST_BYTES = 4 * 1024 * 1024
Label = Literal["pass", "fail"]
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]


class LabelledAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer, what it is judged by, and what a person says of it."""

    id: _Text
    criterion: _Text
    answer: _Text
    label: Label
    question: str = ""
    evidence: tuple[str, ...] = ()
    """What tools told, a text each."""
    cite: Cite = "trace"

    @property
    def subject(self) -> Subject:
        """The answer with its evidence, as a judge is shown it."""
        blocks = tuple(Block(0, number, "", text) for number, text in enumerate(self.evidence, start=1))
        return Subject(self.question, self.answer, blocks)


class Labels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of labelled answers; *votes* is odd, *model* may be left to the command."""

    format: Literal[1]
    items: tuple[LabelledAnswer, ...]
    about: str = ""
    model: str = ""
    votes: Annotated[int, msgspec.Meta(ge=1, le=MOST_VOTES)] = 1


class Rated(NamedTuple):
    """One labelled answer with what the judge says of it."""

    item: LabelledAnswer
    judgement: Judgement


def load_labels(path: Path) -> Labels:
    """
    Read a file of labelled answers.

    Raises:
        BadFileError: `bad-labels`: it cannot be read, is none, or states an item twice.
    """
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MOST_BYTES else b""
    except OSError as error:
        raise _bad(f"cannot be read: {error.strerror}", str(path)) from None
    if size > MOST_BYTES:
        raise _bad(f"{size:,} bytes are more than the {MOST_BYTES:,} that are read", str(path))
    labels = _of_lines(content, path) if path.suffix == ".jsonl" else _of_yaml(content, path)
    if labels.votes % 2 == 0:
        raise _bad(f"`votes` is odd, so that there is no tie, not {labels.votes}", str(path))
    if not labels.items:
        raise _bad("no answer is labelled", str(path))
    _refuse_twice(labels.items, path)
    return labels


def question_of(item: LabelledAnswer, model: str, votes: int) -> Question:
    """What the judge *model* is asked about *item*."""
    return Question(kind="rubric", text=item.criterion, model=model, votes=votes, cite=item.cite)


def rate(labels: Labels, model: str, answer: Callable[[LabelledAnswer, Question], Judgement]) -> list[Rated]:
    """Each item of *labels* with what *answer* gives for it."""
    return [Rated(item, answer(item, question_of(item, model, labels.votes))) for item in labels.items]


def calibrate(labels: Labels, rated: Sequence[Rated], *, file: str, model: str) -> Calibration:
    """
    How far the judge *model* agrees with people: over all, then by each criterion where there are several.

    Answers without a verdict are told apart and never counted; votes on one answer are one rating, never several.
    """
    told = [one for one in rated if one.judgement.verdict != "none"]
    criteria = list(dict.fromkeys(one.item.criterion for one in rated))
    each = [(criterion, [one for one in told if one.item.criterion == criterion]) for criterion in criteria]
    by = {one.judgement.answered_by for one in told} - {"none"}
    return Calibration(
        file=file, about=labels.about, model=model, provenance=min(by) if by else "none", votes=labels.votes,
        labels=len(labels.items), least_labels=LEAST_LABELS, overall=_calibrated("", told) if told else None,
        criteria=tuple(_calibrated(criterion, ones) for criterion, ones in each if ones and len(each) > 1),
        answers=tuple(_rated(one) for one in rated), warnings=tuple(_warnings(labels, told, each)),
        exit_code=int(_exit_code(rated, told)),
    )  # fmt: skip


def _calibrated(criterion: str, told: Sequence[Rated]) -> Calibrated:
    pairs = [(one.item.label, one.judgement.verdict) for one in told]
    found = Confusion(
        pass_pass=pairs.count(("pass", "pass")), pass_fail=pairs.count(("pass", "fail")),
        fail_pass=pairs.count(("fail", "pass")), fail_fail=pairs.count(("fail", "fail")),
    )  # fmt: skip
    agreed = cohens_kappa([[found.pass_pass, found.pass_fail], [found.fail_pass, found.fail_fail]])
    low, high = wilson_interval(found.pass_pass + found.fail_fail, len(pairs))
    return Calibrated(
        criterion=criterion, confusion=found, agreement=agreed.observed, agreement_interval=(low, high),
        expected=agreed.expected, kappa=agreed.kappa, standard_error=agreed.standard_error,
        kappa_interval=(agreed.interval.low, agreed.interval.high) if agreed.interval else None,
        enough=len(pairs) >= LEAST_LABELS,
    )  # fmt: skip


def _rated(one: Rated) -> RatedAnswer:
    return RatedAnswer(
        id=one.item.id, criterion=one.item.criterion, label=one.item.label, verdict=one.judgement.verdict,
        because=one.judgement.because,
    )  # fmt: skip


def _warnings(labels: Labels, told: Sequence[Rated], each: Sequence[tuple[str, list[Rated]]]) -> Iterator[str]:
    if missing := len(labels.items) - len(told):
        yield f"{missing} of {len(labels.items)} answers have no verdict; `--record` asks the judge about them"
    if len(told) < LEAST_LABELS:
        yield f"{len(told)} labels are too few to speak of a judge; {LEAST_LABELS - len(told)} more are needed"
    few = sum(len(ones) < LEAST_LABELS for _, ones in each)
    if len(told) >= LEAST_LABELS and len(each) > 1 and few:
        yield f"{few} of {len(each)} criteria have fewer than {LEAST_LABELS} labels: their own figures are only a hint"
    said = {one.item.label for one in told}
    if told and len(said) == 1:
        yield f"every label is `{min(said)}`, so that nothing shows whether the judge tells good answers from bad ones"


def _exit_code(rated: Sequence[Rated], told: Sequence[Rated]) -> ExitCode:
    if len(told) < len(rated):
        return ExitCode.COULD_NOT_CHECK
    return ExitCode.PASS if len(told) >= LEAST_LABELS else ExitCode.INCONCLUSIVE


def _of_yaml(content: bytes, path: Path) -> Labels:
    tree = read_yaml(content, shown=str(path))
    try:
        return msgspec.convert(tree.value, Labels)
    except msgspec.ValidationError as error:
        raise _bad(f"no file of labelled answers: {error}", str(path)) from None


def _of_lines(content: bytes, path: Path) -> Labels:
    items = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            items.append(msgspec.json.decode(line, type=LabelledAnswer))
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _bad(f"no labelled answer: {error}", f"{path}:{number}") from None
    return Labels(format=1, items=tuple(items))


def _refuse_twice(items: Sequence[LabelledAnswer], path: Path) -> None:
    """Refuse an answer that would count twice."""
    ids: set[str] = set()
    asked: dict[tuple[object, ...], str] = {}
    for item in items:
        if item.id in ids:
            raise _bad(f"two items have the id `{item.id}`", str(path))
        ids.add(item.id)
        same = asked.setdefault((item.criterion, item.question, item.answer, item.evidence, item.cite), item.id)
        if same != item.id:
            raise _bad(f"`{same}` and `{item.id}` are the same answer to the same criterion", str(path))


def _bad(because: str, at: str) -> BadFileError:
    return BadFileError(
        "bad-labels",
        because,
        hint="it holds format, model, votes and items: id, criterion, answer, label, and question, evidence, cite",
        at=at,
    )
