"""What is blamed for a difference, told from digests alone."""

from __future__ import annotations

import msgspec
import pytest

from harness.gate.accepting import merge
from harness.gate.baseline import Baseline
from harness.gate.cause import cause_of, changed
from harness.records.run import CaseVerdict, Lock

THEN = Lock(golden="g", world="w", cassette="c+j", judge="s")


def verdict(lock: Lock) -> CaseVerdict:
    """A trial that followed from *lock*."""
    return CaseVerdict(
        agent="a", profile="reference", model="m", provenance="local", set="s", case="c", trial=0, verdict="kept",
        cassette_digest="d", lock=lock,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("now", "names"),
    [
        (THEN, ()),
        (msgspec.structs.replace(THEN, cassette="c+k", judge="t"), ("judge",)),
        (msgspec.structs.replace(THEN, cassette="d+j"), ("cassette",)),
        (msgspec.structs.replace(THEN, cassette="d+k", judge="t"), ("cassette", "judge")),
        (msgspec.structs.replace(THEN, cassette="", judge=""), ()),
        (msgspec.structs.replace(THEN, golden="h", world="v"), ("golden", "world")),
    ],
)
def test_what_differs_is_named(now: Lock, names: tuple[str, ...]) -> None:
    """A judge that said something else is no other recording of the trial; what one side lacks is left out."""
    baseline = merge(Baseline(set="s"), [verdict(THEN)], reason="first")
    accepted = baseline.case("a", "m", "c")

    assert accepted is not None
    assert names == changed(verdict(now), accepted, accepted.trials[0])


@pytest.mark.parametrize(
    ("seen", "now", "blamed"),
    [
        ("message", {"world": "v"}, "world"),
        ("message", {"golden": "h", "world": "v"}, "golden"),
        ("message", {}, "message"),
        ("prompt", {"code": "d"}, "code"),
        ("prompt", {"golden": "h", "prompt": "q"}, "prompt"),
        ("prompt", {}, "prompt"),
        ("extra_call", {"code": "d"}, "extra_call"),
    ],
)
def test_a_text_that_misses_is_blamed_on_what_changed(seen: str, now: dict[str, str], blamed: str) -> None:
    """Another result of a tool is the world's doing, and a new call in the loop the code's; the prompts are as they were."""
    then = Lock(golden="g", world="w", prompt="p", code="c")
    missed = verdict(msgspec.structs.replace(then, **now))
    missed = msgspec.structs.replace(missed, verdict="could_not_check", code="cassette-miss", cause=seen)
    accepted = merge(Baseline(set="s"), [verdict(then)], reason="first").case("a", "m", "c")

    assert accepted is not None
    assert blamed == cause_of(missed, accepted, accepted.trials[0])
