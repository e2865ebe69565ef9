"""The arena: what designs did with the same questions in the same world, and what may be said of the difference."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.records.messages import Usage
from harness.records.run import Provenance, VerdictState
from harness.records.trajectory import Divergence

Objective = Literal["kept_rate", "cost_usd", "tokens", "llm_calls", "recorded_ms"]
"""What a Pareto front weighs; more is better for `kept_rate`, less for the others."""
LeftOutKind = Literal["alone", "partly", "unlike", "unchecked"]


class Interval(msgspec.Struct, frozen=True, array_like=True):
    """Both ends of an interval, *lo* ≤ *hi*; `[lo, hi]` in JSON."""

    lo: float
    hi: float


class KeepRate(msgspec.Struct, frozen=True, kw_only=True):
    """How often a contract was kept among the trials that triggered it."""

    contract: str
    kept: int
    triggered: int
    advisory: bool = False


class DesignFigures(msgspec.Struct, frozen=True, kw_only=True):
    """
    One design with one model over the cases that every design of its group answered; see `Group`.

    Rate, calls, cost, turns and times are means over cases of the means of their trials, so that each case weighs the
    same. A recording that was replayed twice is one trial, unless it is scripted. *interval* is Wilson's at 95 % for as many
    independent trials as clustered ones are worth; None for scripted trials, which are no samples of anything.
    """

    agent: str
    profile: str
    model: str
    provenance: Provenance
    cases: int
    trials: int
    kept: int
    kept_rate: float
    interval: Interval | None
    llm_calls: float
    tool_calls: float
    tokens: Usage
    """Whole tokens of all trials together: input, output, cached, thinking."""
    cost_usd: float | None
    """None where any trial is not priced."""
    price_as: str = ""
    """The model whose prices stand in for a missing one; empty for none."""
    turns: float = 0.0
    """Model calls that follow one another; those under way at once are one turn."""
    parallelism: float = 0.0
    """Calls of models and tools, divided by the steps that it took to make them; at least 1 where there is any."""
    recorded_ms: float = 0.0
    pareto: bool = False
    """No design of its group is at least as good in everything and better in something."""
    dominated_by: tuple[str, ...] = ()
    contracts: tuple[KeepRate, ...] = ()
    sets: tuple[str, ...] = ()
    """The sets of its group."""
    mean_tokens: float = 0.0
    """Input and output of one trial."""

    @property
    def name(self) -> str:
        """The design as tables and pairs name it."""
        return f"{self.agent} × {self.model}"


class PairTest(msgspec.Struct, frozen=True, kw_only=True):
    """
    Two designs head to head on the cases that both answered.

    *test* is empty, and with it every figure of chance, where no test applies; *because* says why.
    """

    a: str
    b: str
    cases: int
    wins: int
    """Cases that *a* keeps more often than *b*."""
    losses: int
    ties: int
    test: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    """Holm's, over all pairs of the comparison."""
    effect: float | None = None
    """Keep-rate of *a* less that of *b*, from -1 to 1."""
    interval: Interval | None = None
    """Of *effect*, at 95 %."""
    smallest_detectable: float | None = None
    """The smallest difference of rates that these trials would show with 80 % power; None: none would."""
    needs_trials: int | None = None
    """Trials of each case, on each side, that would tell, with 80 % power: *effect*, or a tenth where it is less."""
    because: str = ""
    provenance: Provenance = "none"
    sets: tuple[str, ...] = ()
    """The sets of the group that both belong to."""
    tested: int = 0
    """Cases with recordings of their own on both sides: those that *test* is about."""
    effect_size: float | None = None
    """Cohen's h: 0.2 is called small, 0.5 medium, 0.8 large; positive where *a* is better."""
    told: bool = True
    """Nothing is left to chance: exact, or significant after adjustment, or no difference of a tenth would be missed."""


class MatrixCell(msgspec.Struct, frozen=True, kw_only=True):
    """What one design came to on one case, over its trials."""

    design: str
    """`DesignFigures.name`."""
    kept: int
    trials: int
    verdict: VerdictState
    """The worst of the trials."""
    broken: tuple[str, ...] = ()
    llm_calls: float = 0.0
    tokens: float = 0.0


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """Where the trajectories of two designs part on one case; None: they do the same."""

    a: str
    b: str
    divergence: Divergence | None


class MatrixRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case: what each design came to, and why they differ."""

    set: str
    case: str
    at: str
    cells: tuple[MatrixCell, ...]
    why: tuple[Parting, ...] = ()


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Designs that are compared with each other: answered alike, they ran the same sets. A front is that of one group."""

    provenance: Provenance
    sets: tuple[str, ...]
    designs: tuple[str, ...]
    """`DesignFigures.name` of each, in order."""
    cases: int
    """Cases that each of them answered; their figures and the front are about these."""
    objectives: tuple[Objective, ...] = ()


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """
    A case that is not, or not wholly, compared. *alone*: one design ran it. *partly*: some designs of the group did, so
    that it counts in their pairs and in nobody's figures. *unlike*: not the same question or world for all.
    *unchecked*: trials of *designs* have no verdict.
    """

    set: str
    case: str
    kind: LeftOutKind
    designs: tuple[str, ...]
    because: str


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """
    What `harness compare` says; designs are compared with those of their own provenance only.

    A design stands once in each group that it belongs to. *exit_code* is that of the command.
    """

    run: str
    sets: tuple[str, ...]
    designs: tuple[DesignFigures, ...]
    pairs: tuple[PairTest, ...]
    matrix: tuple[MatrixRow, ...]
    groups: tuple[Group, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    needs_trials: int | None = None
    """Where nothing can be told: the trials of each case that would tell the most different pair apart."""
    exit_code: int = 0
    format: int = 1
