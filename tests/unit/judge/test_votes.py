"""What a reply of a judge counts for: strict JSON, true quotes, and the majority."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judge.prompt import Block, Subject, escape
from harness.judge.votes import MOST_QUOTES, MOST_REPLY, majority, normalised, vote_of
from harness.records.judgement import Citation, Vote

from .recordings import FAIL, PASS, TOLD

SUBJECT = Subject(
    "?", "It is 7 °C in Berlin.", (Block(0, 4, "get_weather", TOLD), Block(1, 9, "get_time", "noon")), (1, 12)
)
VOTES = st.lists(
    st.builds(Vote, passed=st.booleans(), why=st.sampled_from(["a", "b", "c", ""])), min_size=1, max_size=7
)


def reply(verdict: str = "pass", *quotes: tuple[object, str], why: str = "Because.") -> str:
    """A reply of the judge."""
    evidence = [{"event": event, "quote": quote} for event, quote in quotes]
    return json.dumps({"verdict": verdict, "evidence": evidence, "why": why})


def why(text: str, cite: str = "trace") -> str:
    """Why the reply *text* is a fail."""
    vote = vote_of(text, SUBJECT, cite)
    assert not vote.passed
    return vote.why


def test_a_pass_with_a_true_quote_passes() -> None:
    """The quote stands in the event that it names: leg and number of the event are kept."""
    vote = vote_of(reply("pass", (1, '"temperature_c":7')), SUBJECT, "trace")

    assert Vote(passed=True, why="Because.", citations=(Citation(0, 4, '"temperature_c":7'),)) == vote


def test_words_that_the_agent_put_into_a_call_are_no_evidence() -> None:
    """A tool that repeats what it was asked ("unknown place: …") proves nothing; what it adds does, and in `answer` all counts."""
    echo = Block(0, 4, "find", "unknown place: it is  7 °C in Berlin", ("other", "It said\nit is 7 °C in Berlin"))
    subject = Subject("?", "It is 7 °C in Berlin.", (echo,))
    echoed, added = reply("pass", (1, "it is 7 °C in Berlin")), reply("pass", (1, "unknown place"))

    assert not vote_of(echoed, subject, "trace").passed
    assert "is what the agent itself put into the call" in vote_of(echoed, subject, "trace").why
    assert (True, True) == (vote_of(added, subject, "trace").passed, vote_of(echoed, subject, "answer").passed)


def test_blanks_and_escapes_do_not_matter() -> None:
    """A quote may be wrapped, and may repeat the escaped form that the judge was shown."""
    told = "two\n  lines <b>bold</b> of text"
    subject = Subject("?", "a", (Block(0, 1, "t", told),))

    for quote in ("two lines", "lines  <b>bold</b>\nof", escape("lines <b>bold</b> of"), "&lt;b&gt;bold&lt;/b&gt;"):
        assert vote_of(reply("pass", (1, quote)), subject, "trace").passed, quote


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (reply("pass"), "a pass without a quote from the evidence"),
        (reply("pass", (1, '"temperature_c":8')), "does not stand in block 1"),
        (reply("pass", (2, '"temperature_c":7')), "does not stand in block 2"),
        (reply("pass", (3, "noon")), "there is no block 3"),
        (reply("pass", (-1, "noon")), "there is no block -1"),
        (reply("pass", (0, "It is 7 °C")), "quoted from the answer, which proves nothing about itself"),
        (reply("pass", (1, "")), "does not stand in block 1"),
        (reply("pass", (1, "7")), "does not stand in block 1"),
        (reply("pass", (1, " \n ")), "does not stand in block 1"),
        (reply("pass", (1, '"temperature_c":7'), (1, "made up")), "a pass with a false quote: “made up”"),
    ],
)
def test_a_pass_that_proves_nothing_is_a_fail(text: str, because: str) -> None:
    """No quote, a false one, one of another event, one of a single character, or a false one beside a true one."""
    assert because in why(text)


def test_a_short_event_may_be_quoted_whole() -> None:
    """A single word is proof where it is all that the tool said."""
    subject = Subject("?", "a", (Block(0, 1, "t", " 42 "),))

    assert vote_of(reply("pass", (1, "42")), subject, "trace").passed


def test_form_is_judged_by_the_answer() -> None:
    """Where the contract says so, words of the answer count as event 0, at the place of the answer in the trace."""
    vote = vote_of(reply("pass", (0, "It is 7 °C")), SUBJECT, "answer")

    assert (True, (Citation(1, 12, "It is 7 °C"),)) == (vote.passed, vote.citations)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "cannot be read"),
        ("The verdict is pass.", "cannot be read"),
        (f"{PASS} {PASS}", "Extra data"),
        (f"Sure! {PASS}", "cannot be read"),
        ('{"verdict": "fail", "verdict": "pass", "evidence": [], "why": ""}', "an object has a key twice"),
        ('{"verdict": "PASS", "evidence": [], "why": ""}', "Invalid enum value 'PASS'"),
        ('{"verdict": true, "evidence": [], "why": ""}', "Expected `str`"),
        ('{"verdict": "pass", "evidence": {}, "why": ""}', "Expected `array`"),
        ('{"verdict": "pass", "evidence": [{"event": "1", "quote": "x"}], "why": ""}', "Expected `int`"),
        ('{"verdict": "pass", "evidence": [], "why": "", "score": 10}', "unknown field `score`"),
        ('{"verdict": "pass", "evidence": [], "why": NaN}', "NaN is no JSON"),
        ("[" * 100_000, "characters, more than"),
        ("[" * 15_000, "cannot be read"),
        (PASS.replace("It does.", "x" * MOST_REPLY), "characters, more than"),
        (reply("pass", *[(1, "noon")] * (MOST_QUOTES + 1)), f"{MOST_QUOTES + 1} quotes, more than {MOST_QUOTES}"),
        ("null", "Expected `object`"),
        ("__import__('os').system('true')", "cannot be read"),
    ],
)
def test_what_is_no_strict_json_of_the_shape_is_a_fail(text: str, because: str) -> None:
    """Nothing is guessed: other words around, another type, two verdicts, too much of anything."""
    told = why(text)

    assert told.startswith("the judge's reply cannot be read: ")
    assert because in told


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "\n ```json\n{}\n``` \n"])
def test_one_code_fence_around_it_is_allowed(fence: str) -> None:
    """Small models cannot leave it; it holds nothing but the object."""
    assert vote_of(fence.replace("{}", PASS), SUBJECT, "trace").passed
    assert not vote_of(fence.replace("{}", f"{PASS}\n```\n```json\n{PASS}"), SUBJECT, "trace").passed


def test_a_fail_needs_no_quote() -> None:
    """The reason of the judge is told."""
    assert "It does not." == why(FAIL)
    assert "the judge gives no reason" == why('{"verdict": "fail"}')


@given(st.text(max_size=60), st.text(max_size=40), st.integers(-2, 4))
def test_a_quote_that_is_not_in_the_trace_never_passes(told: str, quote: str, event: int) -> None:
    """A pass rests on words that the named event really says, whatever the judge writes."""
    subject = Subject("?", "a", (Block(0, 1, "t", told),))
    vote = vote_of(reply("pass", (event, quote)), subject, "trace")

    if vote.passed:
        (cited,) = vote.citations
        assert event == 1
        assert cited.quote
        assert cited.quote in normalised(told)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No reply of a model ever raises, and random text never passes."""
    assert not vote_of(text, SUBJECT, "trace").passed


@given(VOTES, st.randoms())
def test_the_order_of_votes_does_not_matter(votes: list[Vote], random: object) -> None:
    """Verdict and reason are the same in any order."""
    for other in list(permutations(votes))[:24]:
        assert majority(votes) == majority(other)


@given(VOTES)
def test_only_more_than_half_passes(votes: list[Vote]) -> None:
    """A tie is a fail."""
    assert (2 * sum(vote.passed for vote in votes) > len(votes)) == majority(votes)[0]


def test_a_tie_says_so() -> None:
    """Where votes are even, the reason names it, and a reason of those that fail it."""
    votes = [Vote(passed=True, why="good"), Vote(passed=False, why="bad")]

    assert (False, "1 of 2 votes pass, a tie: bad") == majority(votes)
