"""Fronts: nothing on them is beaten, and who is beaten changes nobody else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.compare.pareto import dominators, objectives_of
from harness.records.comparison import DesignFigures
from harness.records.messages import Usage

OBJECTIVES = ("kept_rate", "tokens", "llm_calls", "recorded_ms")


def figures(agent, kept_rate=1.0, mean_tokens=100.0, llm_calls=2.0, recorded_ms=50.0, cost_usd=None):
    """A design that came to this."""
    return DesignFigures(
        agent=agent, profile="reference", model="small", provenance="local", cases=1, trials=1, kept=1,
        kept_rate=kept_rate, interval=None, llm_calls=llm_calls, tool_calls=0.0, tokens=Usage(), cost_usd=cost_usd,
        recorded_ms=recorded_ms, mean_tokens=mean_tokens,
    )  # fmt: skip


few = st.sampled_from([0.0, 0.5, 1.0])
ARENAS = st.lists(st.tuples(few, few, few, few), min_size=1, max_size=7).map(
    lambda points: [figures(f"d{number}", *point) for number, point in enumerate(points)]
)


def beats(a, b):
    """Whether *a* is at least as good as *b* in all four, and better in one, written out."""
    no_worse = (
        a.kept_rate >= b.kept_rate
        and a.mean_tokens <= b.mean_tokens
        and a.llm_calls <= b.llm_calls
        and a.recorded_ms <= b.recorded_ms
    )
    better = (
        a.kept_rate > b.kept_rate
        or a.mean_tokens < b.mean_tokens
        or a.llm_calls < b.llm_calls
        or a.recorded_ms < b.recorded_ms
    )
    return no_worse and better


@given(ARENAS)
def test_who_is_beaten_is_beaten_by_those_that_beat_it(arena):
    """As the definition says, word by word."""
    assert [tuple(other.name for other in arena if beats(other, one)) for one in arena] == dominators(arena, OBJECTIVES)


@given(ARENAS)
def test_the_front_is_never_empty_and_beats_all_others(arena):
    """Whoever is beaten is beaten by somebody on the front."""
    by_name = dict(zip((one.name for one in arena), dominators(arena, OBJECTIVES), strict=True))
    front = {name for name, by in by_name.items() if not by}

    assert front
    assert all(front & set(by) for by in by_name.values() if by)


@given(ARENAS, st.integers(0, 6))
def test_a_beaten_design_changes_no_other_mark(arena, number):
    """One more design that loses everywhere is nobody's concern."""
    model = arena[number % len(arena)]
    worse = figures("worse", model.kept_rate, model.mean_tokens + 1, model.llm_calls + 1, model.recorded_ms + 1)
    before, after = dominators(arena, OBJECTIVES), dominators([*arena, worse], OBJECTIVES)

    assert before == after[:-1]
    assert model.name in after[-1]


@given(ARENAS, st.randoms(use_true_random=False))
def test_order_changes_nothing(arena, chance):
    """Each design is beaten by the same ones, in whatever order they stand."""
    shuffled = list(arena)
    chance.shuffle(shuffled)
    told = {one.name: set(by) for one, by in zip(shuffled, dominators(shuffled, OBJECTIVES), strict=True)}

    assert {one.name: set(by) for one, by in zip(arena, dominators(arena, OBJECTIVES), strict=True)} == told


def test_equals_do_not_beat_each_other():
    """Nor do figures that differ by the rounding of a sum."""
    arena = [figures("a", mean_tokens=0.1 + 0.2), figures("b", mean_tokens=0.3)]

    assert [(), ()] == dominators(arena, OBJECTIVES)


def test_cost_is_weighed_where_every_design_has_one():
    """Tokens stand in for it, for all of them, as soon as one has none."""
    dear, cheap, unknown = figures("dear", cost_usd=2.0), figures("cheap", cost_usd=1.0), figures("unknown")

    assert ("kept_rate", "cost_usd", "llm_calls", "recorded_ms") == objectives_of([dear, cheap], "live")
    assert ("kept_rate", "tokens", "llm_calls", "recorded_ms") == objectives_of([dear, cheap, unknown], "live")
    assert [("cheap × small",), ()] == dominators([dear, cheap], ("kept_rate", "cost_usd"))


def test_the_latency_of_a_script_is_nobodys():
    """It is that of a server on the machine that recorded."""
    assert ("kept_rate", "tokens", "llm_calls") == objectives_of([figures("a")], "scripted")
