"""Operators, each against a naive reading of its definition on random traces."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts import operators as op
from harness.contracts.selectors import Selector
from harness.records.trace import Warned
from harness.testing.builders import answer, check, make_event, make_trace, model_turn, reasons, tool_use


def sel(code):
    """Events with this letter."""
    return Selector(type="warning", where=lambda event: event.data.code == code)


A, B, Q, R = sel("a"), sel("b"), sel("q"), sel("r")
WORDS = st.lists(st.tuples(st.sampled_from("abqr"), st.integers(1, 3)), max_size=9)
SCOPES = {"globally": op.GLOBALLY, "before": op.before(Q), "after": op.after(Q), "between": op.between(Q, R)}


def trace_of(word):
    """A bare trace of letters, each in its turn."""
    return make_trace([make_event(Warned(code=letter), turn=turn) for letter, turn in word], whole=False)


def stretches(word, scope):
    """The parts of *word*, as lists of (place, letter, turn), that a scope covers: straight from the definition."""
    marked = [(place, letter, turn) for place, (letter, turn) in enumerate(word)]
    qs = [place for place, letter, _ in marked if letter == "q"]
    if scope == "globally":
        return [marked]
    if not qs:
        return []
    if scope == "before":
        return [marked[: qs[0]]]
    if scope == "after":
        return [marked[qs[0] + 1 :]]
    parts, until = [], -1
    for q in qs:
        ends = [place for place, letter, _ in marked if letter == "r" and place > q]
        if q >= until and ends:
            parts.append(marked[q + 1 : ends[0]])
            until = ends[0]
    return parts


def has(part, letter):
    """The events of one letter."""
    return [event for event in part if event[1] == letter]


REFERENCE = {
    "never": (op.never(A), lambda p: not has(p, "a"), lambda p: True),
    "eventually": (op.eventually(A), lambda p: bool(has(p, "a")), lambda p: True),
    "at_least": (op.at_least(2, A), lambda p: len(has(p, "a")) >= 2, lambda p: True),
    "at_most": (op.at_most(1, A), lambda p: len(has(p, "a")) <= 1, lambda p: True),
    "exactly": (op.exactly(1, A), lambda p: len(has(p, "a")) == 1, lambda p: True),
    "precedes": (
        op.precedes(A, B),
        lambda p: all(any(a[0] < b[0] for a in has(p, "a")) for b in has(p, "b")),
        lambda p: bool(has(p, "b")),
    ),
    "responds": (
        op.responds(A, B),
        lambda p: all(any(b[0] > a[0] for b in has(p, "b")) for a in has(p, "a")),
        lambda p: bool(has(p, "a")),
    ),
    "responds within events": (
        op.responds(A, B, within_events=2),
        lambda p: all(any(0 < b[0] - a[0] <= 2 for b in has(p, "b")) for a in has(p, "a")),
        lambda p: bool(has(p, "a")),
    ),
    "same_turn": (
        op.same_turn(A, B),
        lambda p: all(any(b[2] == a[2] for b in has(p, "b")) for a in has(p, "a")),
        lambda p: bool(has(p, "a")),
    ),
    "not_same_turn": (
        op.not_same_turn(A, A),
        lambda p: all(a[2] != b[2] for a in has(p, "a") for b in has(p, "a") if a[0] != b[0]),
        lambda p: bool(has(p, "a")),
    ),
    "always": (
        op.always(A, Selector(turn=1)),
        lambda p: all(a[2] == 1 for a in has(p, "a")),
        lambda p: bool(has(p, "a")),
    ),
}
"""Operator, when it holds in a stretch, and when it has something to check there."""


@settings(max_examples=500)
@given(name=st.sampled_from(sorted(REFERENCE)), scope=st.sampled_from(sorted(SCOPES)), word=WORDS)
def test_operators_mean_what_their_definitions_say(name, scope, word):
    """On any trace, in any scope, an operator is kept, broken or vacuous exactly as its naive reading is."""
    operator, holds, applies = REFERENCE[name]
    scoped = _in_scope(operator, name, SCOPES[scope])
    parts = stretches(word, scope)
    expected = "vacuous" if not any(applies(p) for p in parts) else "kept" if all(map(holds, parts)) else "broken"

    assert expected == check(scoped, trace_of(word))[0].state


def _in_scope(operator, name, scope):
    """The same operator, made anew for another scope."""
    make = {
        "never": lambda: op.never(A, scope=scope),
        "eventually": lambda: op.eventually(A, scope=scope),
        "at_least": lambda: op.at_least(2, A, scope=scope),
        "at_most": lambda: op.at_most(1, A, scope=scope),
        "exactly": lambda: op.exactly(1, A, scope=scope),
        "precedes": lambda: op.precedes(A, B, scope=scope),
        "responds": lambda: op.responds(A, B, scope=scope),
        "responds within events": lambda: op.responds(A, B, within_events=2, scope=scope),
        "same_turn": lambda: op.same_turn(A, B, scope=scope),
        "not_same_turn": lambda: op.not_same_turn(A, A, scope=scope),
        "always": lambda: op.always(A, Selector(turn=1), scope=scope),
    }
    return make[name]() if scope is not op.GLOBALLY else operator


@given(WORDS)
def test_a_broken_contract_stays_broken_on_its_shortest_trace(word):
    """What delta debugging leaves still breaks the contract, and never more events are left than there were."""
    contract = op.precedes(A, B)
    trace = trace_of(word)
    finding = check(contract, trace)[0]
    if finding.state == "broken":
        small = make_trace([trace.events[seq] for seq in finding.shortest], whole=False)

        assert "broken" == check(contract, small)[0].state
        assert 1 == len(small)


def test_within_turns():
    """Turns are counted by the model calls that lie between."""
    search, read = tool_use("search_docs", error="timeout"), tool_use("read_doc")
    near = make_trace(model_turn(), search, model_turn(), read, answer("x"))
    far = make_trace(model_turn(), search, model_turn(), model_turn(), read, answer("x"))
    rule = op.responds(Selector(tool="search_docs", ok=False), Selector(tool="read_doc"), within_turns=1)

    assert ["kept"] == reasons(check(rule, near))
    assert ["tool_call search_docs is not followed by (tool: read_doc) within 1 turns"] == reasons(check(rule, far))


def test_words_of_findings():
    """Each operator says in plain words what is wrong, with the scope, and names the events."""
    trace = trace_of([("q", 1), ("a", 1), ("b", 1)])
    named = Selector(type="warning")
    finding = check(op.never(A, scope=op.after(Q), id="no a"), trace)[0]

    assert ("no a", (0, 1)) == (finding.contract, finding.witness)
    assert "warning, which must never happen after (type: warning)" == finding.because
    assert ["3 times (type: warning), expected at most 2"] == reasons(check(op.at_most(2, named), trace))
    assert ["3 times (type: warning), expected exactly 1"] == reasons(check(op.exactly(1, named), trace))
    assert ["3 times (type: warning), expected at least 4"] == reasons(check(op.at_least(4, named), trace))
    assert ["warning and warning in one turn"] == reasons(check(op.not_same_turn(A, B), trace))
    assert ["warning is not (turn: 2)"] == reasons(check(op.always(A, Selector(turn=2)), trace))
    assert "never (type: warning)" == op.never(named).id
