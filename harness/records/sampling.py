"""How the trials of one case were recorded one after the other until Wald's test had decided."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.records.run import Provenance

SamplingDecision = Literal["good", "bad", "undecided"]


class SampledCase(msgspec.Struct, frozen=True, kw_only=True):
    """
    One case: what was decided, from which samples, and what that saved.

    A sample is a recording with responses of its own: one whose responses are another's to the byte counts for nothing,
    and so does one that no verdict was possible on.
    """

    agent: str
    model: str
    set: str
    case: str
    provenance: Provenance
    decision: SamplingDecision
    passes: int
    samples: int
    planned: int
    """The most trials that could be made, those that were there included."""
    recorded: int
    """Trials that were made now."""
    kept: int
    """Recordings that were there, and count once each."""
    repeated: int
    """Recordings that only said again what another says."""
    unchecked: int
    """Recordings without a verdict."""
    saved_trials: int
    """Trials that did not have to be made; 0 without a decision."""
    saved_calls: int
    """About how many model calls these would have taken, by the mean of the samples."""
    saved_tokens: int
    saved_cost_usd: float | None
    """None where nothing has a price."""
    because: str = ""
    """Why it ended before a decision and before the last trial; empty where it did not."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """A sequential recording: the two rates, the chances of error, and each case."""

    p0: float
    """The rate of kept trials that must be caught, 0 to 1."""
    p1: float
    """The rate that is good enough."""
    alpha: float
    """The chance to call a good case bad."""
    beta: float
    """The chance to call a bad case good."""
    cases: tuple[SampledCase, ...]
