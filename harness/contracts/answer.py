"""What an answer must say, and checks of its form that a golden set can name with options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import msgspec

from harness.contracts.base import TRIGGERED, Found, broken, contract
from harness.contracts.numbers import Number, numbers_in, words_as_numbers
from harness.contracts.view import TrialView
from harness.errors import BadFileError
from harness.records.case import Fact
from harness.records.messages import Json


@contract("facts", kind="B", over="trial", needs=("trial_finished",))
def facts(view: TrialView) -> Iterator[Found]:
    """The answer says all of the facts that the case wants, one of its alternatives, and nothing that it must not say."""
    wanted = view.case.facts
    if not (wanted.all or wanted.any or wanted.none):
        return
    yield TRIGGERED
    answer = Answer(view.answer, view.case.lang, lambda: view.answer_numbers)
    witness = view.finals[-1] if view.finals else view.finished_event
    missing = [fact for fact in wanted.all if not answer.says(fact)]
    if missing:
        yield broken(witness, f"the answer does not say {_listed(missing)}")
    if wanted.any and not any(answer.says(fact) for fact in wanted.any):
        yield broken(witness, f"the answer says none of {_listed(wanted.any)}")
    unwanted = [fact for fact in wanted.none if answer.says(fact)]
    if unwanted:
        yield broken(witness, f"the answer says {_listed(unwanted)}, which it must not")


class Answer:
    """A text to look for facts in; it is read only as far as the facts need."""

    __slots__ = ("_folded", "_read", "_words", "lang", "text")

    def __init__(self, text: str, lang: str, numbers: Callable[[], list[Number]] | None = None) -> None:
        self.text = text
        self.lang = lang
        self._read = numbers or (lambda: numbers_in(text, lang))
        self._folded: str | None = None
        self._words: set[float] | None = None

    def says(self, fact: Fact) -> bool:
        """
        Whether the text says *fact*: a text without regard to case and blanks, a number in any spelling of the
        language, or a regex anywhere.
        """
        if fact.text is not None:
            if self._folded is None:
                self._folded = " ".join(self.text.split()).casefold()
            return " ".join(fact.text.split()).casefold() in self._folded
        if fact.number is not None:
            return self._says_number(fact.number, fact.tolerance)
        return fact.regex is not None and _compiled(fact.regex).search(self.text) is not None

    def _says_number(self, number: float, tolerance: float) -> bool:
        slack = tolerance + 1e-9 * abs(number)
        for found in self._read():
            if any(abs(value - number) <= slack for value in (found.readings[0], *found.pieces)):
                return True
        if self._words is None:
            self._words = words_as_numbers(self.text, self.lang)
        return any(abs(value - number) <= slack for value in self._words)


def fact_name(fact: Fact) -> str:
    """*fact* as a reader of a finding knows it."""
    if fact.text is not None:
        return f"“{fact.text}”"
    if fact.number is not None:
        return f"{fact.number:g} ± {fact.tolerance:g}" if fact.tolerance else f"{fact.number:.12g}"
    return f"/{fact.regex}/"


def _listed(wanted: Sequence[Fact]) -> str:
    return ", ".join(fact_name(fact) for fact in wanted)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    except re.error as error:
        raise BadFileError("bad-contract", f"not a regular expression: {pattern} ({error})") from None


@contract("answer_exact", kind="B", over="trial", needs=("final_answer",), on_request=True)
def answer_exact(view: TrialView, *, text: str) -> Iterator[Found]:
    """The answer is exactly the option *text*, blanks at its ends apart."""
    yield TRIGGERED
    if view.answer.strip() != text.strip():
        yield broken(view.finals[-1], f"the answer is “{_short(view.answer)}”, expected “{_short(text)}”")


@contract("answer_matches", kind="B", over="trial", needs=("final_answer",), on_request=True)
def answer_matches(view: TrialView, *, regex: str) -> Iterator[Found]:
    """The option *regex* is found in the answer."""
    yield TRIGGERED
    if not _compiled(regex).search(view.answer):
        yield broken(view.finals[-1], f"the answer does not match /{regex}/")


@contract("answer_schema", kind="B", over="trial", needs=("final_answer",), on_request=True)
def answer_schema(view: TrialView, *, schema: dict[str, Json]) -> Iterator[Found]:
    """The answer is JSON, alone or in one code fence, and fits the JSON Schema of the option *schema*."""
    import jsonschema  # the only user of the library, so that it stays out of every other run

    yield TRIGGERED
    try:
        value = msgspec.json.decode(_unfenced(view.answer))
    except (msgspec.DecodeError, RecursionError) as error:
        yield broken(view.finals[-1], f"the answer is no JSON: {error}")
        return
    wrong = jsonschema.Draft202012Validator(schema).iter_errors(value)
    for misfit in sorted(wrong, key=lambda found: [str(step) for step in found.absolute_path]):
        path = "/".join(str(step) for step in misfit.absolute_path)
        yield broken(view.finals[-1], f"the answer does not fit its schema at /{path}: {misfit.message}")


@contract("answer_citations", kind="B", over="trial", needs=("final_answer",), on_request=True)
def answer_citations(view: TrialView, *, pattern: str = r"\[([\w.:/-]+)\](?!\()", at_least: int = 1) -> Iterator[Found]:
    """
    The answer cites at least *at_least* sources, and each source it cites occurs in a tool result.

    The first group of *pattern* is the name of a source.
    """
    yield TRIGGERED
    cited = list(dict.fromkeys(match[1] for match in _compiled(pattern).finditer(view.answer)))
    results = [use.outcome.text for leg in view.legs for use in leg.uses if use.outcome is not None]
    if len(cited) < at_least:
        yield broken(view.finals[-1], f"the answer cites {len(cited)} sources, expected at least {at_least}")
    for name in cited:
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in results):
            yield broken(view.finals[-1], f"the answer cites `{name}`, which no tool result holds")


@contract("answer_similar", kind="B", over="trial", needs=("final_answer",), on_request=True)
def answer_similar(view: TrialView, *, text: str, at_least: float = 0.5) -> Iterator[Found]:
    """
    The answer shares enough words with the option *text*: their F1 (token overlap as in SQuAD, Rajpurkar et al. 2016)
    is at least *at_least*, between 0 and 1.
    """
    yield TRIGGERED
    score = token_f1(view.answer, text)
    if score < at_least:
        yield broken(view.finals[-1], f"similarity {score:.2f} to “{_short(text)}”, expected at least {at_least:.2f}")


@contract("answer_language", kind="B", over="trial", needs=("final_answer",), on_request=True)
def answer_language(view: TrialView, *, lang: str = "") -> Iterator[Found]:
    """The answer is in the language of the option *lang*, by default the case's own."""
    from harness.contracts.language import language_of

    yield TRIGGERED
    wanted = (lang or view.case.lang).partition("-")[0].lower()
    found = language_of(view.answer)
    if found is not None and found != wanted:
        yield broken(view.finals[-1], f"the answer is in `{found}`, expected `{wanted}`")


def token_f1(answer: str, reference: str) -> float:
    """The F1 of the words of both texts, case and punctuation apart; from 0 to 1, and 1 for two empty texts."""
    one, other = (Counter(re.findall(r"\w+", text.casefold())) for text in (answer, reference))
    if not one or not other:
        return float(one == other)
    shared = sum((one & other).values())
    return 2 * shared / (one.total() + other.total())


def _unfenced(text: str) -> str:
    fenced = re.fullmatch(r"\s*```[\w-]*\n(.*?)\n?```\s*", text, re.DOTALL)
    return fenced[1] if fenced else text


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:59] + "…"
