"""What is blamed for a difference, told from digests alone."""

from __future__ import annotations

import msgspec
import pytest

from harness.gate.accepting import merge
from harness.gate.baseline import Baseline
from harness.gate.cause import changed
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
