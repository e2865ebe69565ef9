"""What a run produces: a verdict for each trial, and the record of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from harness.records.finding import Finding
from harness.records.messages import Json, Usage
from harness.records.trace import Trace

if TYPE_CHECKING:
    from harness.records.judgement import Judgement

RUN_FORMAT = 1

Provenance = Literal["live", "local", "scripted", "none"]
"""Who really answered; `none` where a trial made no model call."""
VerdictState = Literal["kept", "broken", "could_not_check"]


class Cell(msgspec.Struct, frozen=True, order=True):
    """One trial of the matrix: this design with this model on this case of this set."""

    agent: str
    """The design's name with its profile where that is not `reference`: `deep_think@seed_literal`."""
    model: str
    set: str
    case: str
    trial: int = 0


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One finished trial: a trace for each leg, and what the cassette says of itself. Judged next."""

    cell: Cell
    traces: tuple[Trace, ...]
    provenance: Provenance = "none"
    embedding_provenance: Provenance = "none"
    cassette: str = ""
    """Path of the cassette, relative to the project."""
    cassette_digest: str = ""
    """Digest of the recorded responses: the identity of the sample."""
    recording: str = ""
    """Digest of the cassette's file, to the byte: requests and latencies included."""
    could_not_check: str = ""
    """Why no verdict is possible (a miss, a crash, a time-out); empty where one is."""
    code: str = ""
    """Error code of *could_not_check*, such as `cassette-miss`."""
    cause: str = ""
    """Cause class of a miss, such as `prompt` or `tool_schema`; misses of one cause are folded over a run."""
    drift: str = ""
    """Transport drift on the wire port: what differs though the logical call is the same."""
    recorded_ms: int = 0
    replay_ms: float = 0.0
    cost_usd: float | None = None
    judgements: tuple[Judgement, ...] = ()
    """What judges and embedding models answered to the questions of its contracts."""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """Digests of what a verdict follows from: they tell which of it changed. Empty: not known."""

    golden: str = ""
    """The case with its images and with what its set's policies add, wherever it stands in its file."""
    prompt: str = ""
    tool_schema: str = ""
    model: str = ""
    """The name that requests carry, and what pyproject.toml declares of it."""
    world: str = ""
    """Clock, user, settings and rows of the world, its folder, and what its code reaches of the project."""
    code: str = ""
    """The agent's files but its prompts, and what its code reaches of the project."""
    contracts: str = ""
    """The project's own contracts with what they reach, and the version of tapegate."""
    cassette: str = ""
    """The file of the recording, to the byte, and behind a `+` the files of what judges said; each trial has its own."""
    judge: str = ""
    """What judges and embedding models answered about the answer; each trial has its own. Empty: nobody was asked."""


class CaseVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one trial, as it stands in `results.jsonl` and in the JSON of `harness run`."""

    agent: str
    profile: str
    model: str
    provenance: Provenance
    set: str
    case: str
    trial: int
    verdict: VerdictState
    known: bool = False
    """Every blocking contract that broke is recorded as broken in the baseline, for the same recording."""
    findings: tuple[Finding, ...] = ()
    llm_calls: int = 0
    tool_calls: int = 0
    turns: int = 0
    """Chat calls that followed one another; those under way at once are one."""
    steps: int = 0
    """Turns, and tool calls that were not asked for at once; see `harness.records.pace`."""
    tokens: Usage = Usage()
    cost_usd: float | None = None
    recorded_ms: int = 0
    replay_ms: float = 0.0
    answer: str = ""
    fault: str | None = None
    code: str = ""
    because: str = ""
    """Why it could not be checked."""
    cause: str = ""
    at: str = ""
    cassette: str = ""
    cassette_digest: str = ""
    embedding_provenance: Provenance = "none"
    status: str = ""
    reason: str = ""
    drift: str = ""
    lock: Lock = Lock()
    format: int = RUN_FORMAT

    @property
    def cell(self) -> Cell:
        """Where in the matrix the verdict belongs."""
        return Cell(self.agent, self.model, self.set, self.case, self.trial)

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the blocking contracts that broke, sorted."""
        return tuple(sorted({f.contract for f in self.findings if f.state == "broken" and not f.advisory}))


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """How the trials of a run ended. *known* are among the *broken*."""

    trials: int = 0
    kept: int = 0
    broken: int = 0
    known: int = 0
    could_not_check: int = 0


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All verdicts of one command, and the manifest of how they came about."""

    run: str
    results: tuple[CaseVerdict, ...]
    totals: Totals
    exit_code: int
    partial: bool = False
    """Flags narrowed the matrix, so this run says nothing about the rest."""
    manifest: dict[str, Json] = {}
    """Versions, digests, ports and guards in force."""
    format: int = RUN_FORMAT
