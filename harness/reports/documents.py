"""
The JSON documents of the commands, and their published schemas.

Every field of a document is always there, so each schema requires all it names; more fields may be added later.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from harness.records.calibration import Calibration
from harness.records.comparison import Comparison
from harness.records.decision import Decision
from harness.records.history import History
from harness.records.messages import Usage
from harness.records.run import Cell, Provenance, RunRecord, Trial
from harness.records.sampling import Sampling
from harness.records.trajectory import Diff

Json = Any


class ListedItem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `harness list` names; *profiles* stand on agents only, *more* says what else there is to know."""

    name: str
    profiles: tuple[str, ...] = ()
    about: str = ""
    more: dict[str, Json] = {}


class AcceptDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness accept`: files written, relative to the project; cells covered; known failures among them; new ways through a case."""

    written: tuple[str, ...]
    cells: int
    known: int
    trajectories: int = 0


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness report`: the report itself unless `--out` took it, and the files that were written."""

    run: str
    format: Literal["markdown", "html", "junit", "sarif", "github", "json", "otlp"]
    text: str
    written: tuple[str, ...]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `harness doctor` looked at; *fix* says what to do where it is not ok."""

    name: str
    state: Literal["ok", "warn", "fail"]
    because: str
    fix: str = ""


class DoctorDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness doctor`."""

    checks: tuple[Check, ...]


class CassetteProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong with a recording, and what mends it."""

    path: str
    code: str
    because: str
    fix: str


class CassettesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness cassettes check`: how many files were read, and what is wrong with them."""

    files: int
    problems: tuple[CassetteProblem, ...]


class CassetteTextDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness cassettes show|why|scrub|export`: the file, what there is to read of it, and what was written."""

    path: str
    text: str
    written: tuple[str, ...]


class RecordDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness record`: model calls made, what they cost, cassettes written, and what was refused and why."""

    calls: int
    cost_usd: float | None
    cassettes: tuple[str, ...]
    refused: tuple[str, ...]
    planned: int
    """Trials that the command was to record."""
    dry_run: bool
    mode: Literal["missing", "stale", "all", "verify"] = "missing"
    sequential: Sampling | None = None
    """What a recording one trial after the other decided and saved; null without `--sequential`."""


class AskDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness run --ask`: the answer to one live question, and what it took."""

    agent: str
    model: str
    provenance: str
    status: str
    answer: str
    llm_calls: int
    tool_calls: int
    tokens: dict[str, int]
    because: str = ""
    """Why there is no complete answer; empty where there is one."""


class AnswerDocument(AskDocument, frozen=True, kw_only=True):
    """What `harness serve` answers to a question, and to a recording that is played."""

    ok: bool
    """Whether the agent came to its end, with a whole answer."""
    session: str = ""
    """The conversation that the question belongs to."""


class ServeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness serve`: where it listens, who answers live questions (empty: nobody), and which designs it has."""

    url: str
    model: str
    agents: tuple[str, ...]


class ExplainDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`harness explain CODE|CONTRACT|AGENT`."""

    name: str
    kind: Literal["code", "contract", "agent"]
    text: str


class TrialDiff(msgspec.Struct, frozen=True, kw_only=True):
    """How one trial of the second run differs from its counterpart in the first."""

    a: Cell
    b: Cell
    provenance_a: Provenance
    provenance_b: Provenance
    same: bool
    """Whether the agent did the same to the same end; what it was given, and the cost, may differ."""
    diff: Diff
    closest: int | None = None
    """Which of the accepted ways through the case the trial is held against, from 1; None where two runs are compared."""
    accepted: int | None = None
    """How many ways through the case are accepted; None where two runs are compared."""


class DiffDocument(msgspec.Struct, frozen=True, kw_only=True):
    """
    `harness diff`: two runs, trials that are in both, and those that could not be compared. Of one run, *a* stands for what
    is accepted, and *only_b* for trials of cases that have no accepted way.
    """

    a: str
    b: str
    trials: tuple[TrialDiff, ...]
    only_a: tuple[Cell, ...]
    only_b: tuple[Cell, ...]
    untraced: tuple[Cell, ...]
    """Trials that are in both runs, one of which keeps no trace of them."""


class ErrorTold(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, where, and what mends it."""

    code: str
    message: str
    hint: str
    at: str


class ErrorDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What any command prints with `--json` when it cannot do its work."""

    error: ErrorTold
    exit_code: int


DOCUMENTS: dict[str, Any] = {
    "run": RunRecord,
    "ask": AskDocument,
    "serve": ServeDocument,
    "serve-answer": AnswerDocument,
    "record": RecordDocument,
    "accept": AcceptDocument,
    "gate": Decision,
    "diff": DiffDocument,
    "compare": Comparison,
    "report": ReportDocument,
    "history": History,
    "list": list[ListedItem],
    "cassettes-check": CassettesDocument,
    "cassettes": CassetteTextDocument,
    "judge-calibrate": Calibration,
    "doctor": DoctorDocument,
    "explain": ExplainDocument,
    "error": ErrorDocument,
}
"""The type of each document, by the name of its schema."""


def ask_document(trial: Trial) -> AskDocument:
    """What there is to tell of *trial*, which has at least one trace."""
    return AskDocument(**_told(trial))


def answer_document(trial: Trial, session: str = "") -> AnswerDocument:
    """The same for a client of `harness serve`."""
    told = _told(trial)
    return AnswerDocument(**told, ok=told["status"] == "completed" and not trial.could_not_check, session=session)


def _told(trial: Trial) -> dict[str, Json]:
    ends = [trace.events[-1].data for trace in trial.traces]
    usage = sum((end.usage for end in ends), Usage())
    return {
        "agent": trial.cell.agent,
        "model": trial.cell.model,
        "provenance": trial.provenance,
        "status": ends[-1].status,
        "answer": trial.traces[-1].answer,
        "because": trial.could_not_check or ("" if ends[-1].status == "completed" else _because(trial)),
        "llm_calls": sum(end.counts.llm for end in ends),
        "tool_calls": sum(end.counts.tools for end in ends),
        "tokens": {
            "input": usage.input, "output": usage.output, "cached": usage.cached, "thinking": usage.thinking,
        },
    }  # fmt: skip


def _because(trial: Trial) -> str:
    """The last words of the agent or of the runtime on why it failed."""
    for event in reversed(trial.traces[-1].events):
        if event.type == "error":
            return f"{event.data.kind}: {event.data.message}"
        if event.type == "warning" and event.data.code == "agent_crash":
            return f"{event.data.code}: {event.data.detail}"
    return str(trial.traces[-1].events[-1].data.reason)


def full(value: Any) -> Json:
    """Turn *value* into JSON values with every field there, defaults and empty ones included."""
    if isinstance(value, msgspec.Struct):
        if value.__struct_config__.array_like:
            return [full(getattr(value, name)) for name in value.__struct_fields__]
        return {name: full(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [full(item) for item in value]
    if isinstance(value, dict):
        return {str(key): full(item) for key, item in value.items()}
    return value


def schema_of(name: str) -> dict[str, Json]:
    """
    The JSON Schema (2020-12) of the document *name*, a key of `DOCUMENTS`.

    Raises:
        KeyError: There is no such document.
    """
    schema = msgspec.json.schema(DOCUMENTS[name])
    for definition in schema.get("$defs", {}).values():
        if definition.get("type") == "object" and "properties" in definition:
            definition["required"] = list(definition["properties"])
            for field in definition["properties"].values():
                field.pop("default", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"harness {name}", **schema}
