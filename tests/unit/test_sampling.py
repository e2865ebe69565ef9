"""Laws of sequential recording: it stops when it may and not before, and counts each recording once."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from harness.matrix import PlannedCell
from harness.records.case import GoldenCase
from harness.records.run import CaseVerdict, Cell
from harness.records.sampling import SampledCase
from harness.sampling import MOST_REPEATS, Sampler
from harness.stats.samples import Tally
from harness.stats.sequential import SequentialTest

TEST = SequentialTest(bad=0.5, good=0.9)
Outcome = tuple[str, str]
OUTCOMES = st.lists(
    st.tuples(st.sampled_from("abcdefghijklm"), st.sampled_from(["kept", "broken", "could_not_check"])),
    min_size=1,
    max_size=40,
).map(lambda drawn: [(digest, dict(reversed(drawn))[digest]) for digest, _ in drawn])
"""What trials come to, in order: digest of the recording, and its verdict, which follows from the digest."""


def sample(kept: list[Outcome], made: list[Outcome]) -> tuple[SampledCase, int]:
    """Let a sampler look at *kept*, then make trials as long as it asks for them; the case, and how many were made."""
    outcomes = dict(enumerate([*kept, *made]))
    cells = [PlannedCell(cell=Cell("a", "m", "s", "c", n), case=GoldenCase(id="c")) for n in outcomes]

    async def verdict_of(planned: PlannedCell) -> CaseVerdict:
        digest, verdict = outcomes[planned.cell.trial]
        return CaseVerdict(
            agent="a", profile="reference", model="m", provenance="local", set="s", case="c", trial=planned.cell.trial,
            verdict=verdict, cassette_digest=digest, llm_calls=2, cost_usd=0.5,
        )  # fmt: skip

    async def run() -> tuple[SampledCase, int]:
        sampler = Sampler(cells, TEST, verdict_of)
        await sampler.begin(cells[: len(kept)], cells[len(kept) :])
        count = 0
        for planned in cells[len(kept) :]:
            if not await sampler.goes_on(planned):
                break
            await sampler.recorded(planned)
            count += 1
        (case,) = sampler.cases()
        return case, count

    return asyncio.run(run())


def distinct(outcomes: list[Outcome]) -> Tally:
    """Count each digest that has a verdict once."""
    seen = {digest: verdict for digest, verdict in outcomes if verdict != "could_not_check"}
    return Tally(list(seen.values()).count("kept"), len(seen))


@given(st.one_of(st.just([]), OUTCOMES), OUTCOMES)
def test_each_recording_counts_once(kept: list[Outcome], made: list[Outcome]) -> None:
    """Samples are the distinct recordings with a verdict; all that was looked at is told as one thing or another."""
    verdicts = dict([*kept, *made][::-1])
    kept, made = ([(digest, verdicts[digest]) for digest, _ in outcomes] for outcomes in (kept, made))
    case, count = sample(kept, made)
    seen = distinct([*kept, *made[:count]])

    assert (seen.passes, seen.trials) == (case.passes, case.samples)
    assert len(kept) + count == case.samples + case.repeated + case.unchecked == case.kept + case.recorded


@given(OUTCOMES)
def test_it_stops_when_the_test_has_decided_and_not_before(made: list[Outcome]) -> None:
    """At its end the case is decided, or repeats itself, or no trial is left; one trial earlier it was neither."""
    case, count = sample([], made)

    assert case.decision == TEST.decide(distinct(made[:count]))
    assert all(TEST.decide(distinct(made[:earlier])) == "undecided" for earlier in range(count))
    assert case.decision != "undecided" or case.because or count == len(made)


@given(OUTCOMES)
def test_only_a_decision_saves(made: list[Outcome]) -> None:
    """What is left out is saved where the question is settled; what that would have taken follows from the samples."""
    case, count = sample([], made)
    saved = 0 if case.decision == "undecided" else len(made) - count

    assert saved == case.saved_trials
    if case.samples:
        assert (2 * saved, 0.5 * saved) == (case.saved_calls, case.saved_cost_usd)


def test_repeats_end_it() -> None:
    """A model that says the same again and again is asked no more, and nothing is called a saving."""
    case, count = sample([], [("a", "kept")] * 20)

    assert (1 + MOST_REPEATS, 1, "undecided", 0) == (count, case.samples, case.decision, case.saved_trials)


def test_what_is_there_may_decide_alone() -> None:
    """Enough kept recordings leave nothing to make, however often they repeat each other."""
    kept = [(digest, "kept") for digest in "aaaabcdefghij"]
    case, count = sample(kept, [("z", "kept")] * 5)

    assert (0, "good", 5) == (count, case.decision, case.saved_trials)
