"""Run folders whose every field that others can fill holds a given text, written by the product's own store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Cell, RunRecord, Totals
from harness.records.trace import (
    CallError,
    ConfigResolved,
    Effect,
    ErrorRaised,
    FallbackUsed,
    Issue,
    LlmChunk,
    PhaseFinished,
    PhaseStarted,
    Progress,
    Solution,
    StateLoaded,
    StateSaved,
    Thought,
    Trace,
    Verification,
    Warned,
)
from harness.reports.store import RunStore
from harness.testing.builders import answer, make_event, make_trace, model_turn, plan_updated, tool_use

from .hostile import NAMES, deep

RUN = "20260310-090000000-0000"
NAME_LIMIT = 120
"""How much of a text stands in a name; nobody types a longer one."""


def hostile_trace(text: str) -> Trace:
    """The trace of a trial in which everything that is text is *text*."""
    args = {"city": text, text[:NAME_LIMIT] or "empty": deep(40, text[:NAME_LIMIT])}
    effect = Effect(text, text, {"before": text}, {"after": [text]})
    tool = text[:NAME_LIMIT] or "empty"
    return make_trace(
        ConfigResolved(key=text, asked=text, used={text[:NAME_LIMIT]: text}, why=text),
        PhaseStarted(name=text),
        Progress(stage=text, value=0.5, message=text, detail=text),
        plan_updated(text, text, text, statuses=(text, "PENDING")),
        make_event(Thought(text=text, source="react_thought")),
        model_turn(text, calls=[(tool, args)], purpose=text, stage=text, slot=text, model=text),
        LlmChunk(call_span=text, index=0, text=text, visible=True),
        tool_use(tool, args, text=text, effect="write", effects=[effect], hits=0),
        tool_use(tool, {}, text=text, error="crash"),
        Solution(version=1, digest=text, chars=len(text), origin="solve", preview=text),
        Verification(
            round=1, index=1, of=1, passed=False, verdict="fail", issues=(Issue(text, text, text),),
            solution_digest=text, count=0, required=3,
        ),
        model_turn("", result={"error": CallError("server", text, 500)}),
        StateSaved(session_id=text, digest=text, parts={tool: text}),
        StateLoaded(session_id=text, digest=text, parts={tool: text}),
        FallbackUsed(origin=text, to=text, reason=text),
        Warned(code=text, detail=text),
        ErrorRaised(kind=text, message=text, where=text, fatal=False),
        PhaseFinished(name=text, ok=False, reason=text),
        answer(text),
        started={"system": text, "question": text, "user": text, "config": {tool: text}, "session_id": text},
        finished={"status": "failed", "reason": text, "store_diff": (effect,)},
    )  # fmt: skip


def hostile_verdict(cell: Cell, text: str) -> CaseVerdict:
    """A broken verdict in which everything that is text is *text*."""
    name = text[:NAME_LIMIT] or "empty"
    findings = (
        Finding(contract=name, state="broken", because=text, witness=(3, 5), shortest=(3,), at=text, turn=1),
        Finding(contract="CX5", state="broken", because=text, witness=(9_999,), at="javascript:pwned('at')"),
        Finding(contract=f"{name} kept", state="kept"),
        Finding(contract=f"{name} vacuous", state="vacuous", because=text, advisory=True),
        Finding(contract=f"{name} unknown", state="could_not_check", because=text),
    )
    return CaseVerdict(
        agent=cell.agent, profile=text[:NAME_LIMIT], model=cell.model, provenance="scripted", set=cell.set,
        case=cell.case, trial=cell.trial, verdict="broken", findings=findings, llm_calls=2, tool_calls=2,
        tokens=Usage(input=10, output=5), answer=text, fault=text, because=text, cause=text, at=text, cassette=text,
        cassette_digest=text, status=text, reason=text, drift=text,
    )  # fmt: skip


def write_run(
    runs: Path, trials: Iterable[tuple[Cell, str]], *, run: str = RUN, manifest: Mapping[str, str] | None = None
) -> Path:
    """Write the run *run* into the folder *runs*: a broken trial for each of *trials*, made of its text."""
    with RunStore.create(runs, run=run) as store:
        verdicts = tuple([store.append(hostile_verdict(cell, text), (hostile_trace(text),)) for cell, text in trials])
        store.finish(
            RunRecord(
                run=run, results=verdicts, exit_code=1, totals=Totals(trials=len(verdicts), broken=len(verdicts)),
                manifest=dict(manifest or {}),
            )
        )  # fmt: skip
        return store.folder


def as_answers(texts: Mapping[str, str]) -> list[tuple[Cell, str]]:
    """A case for each of *texts*, named as it is."""
    return [(Cell("lean_react", "scripted", "hostile", name), text) for name, text in texts.items()]


def as_names(texts: Mapping[str, str]) -> list[tuple[Cell, str]]:
    """A case for each of *texts*, whose agent, model, set and id are the text; and the same with JavaScript's names."""
    names = [*(text[:NAME_LIMIT] for text in texts.values() if text.strip()), *NAMES]
    return [(Cell(name, name, name, name), name) for name in dict.fromkeys(names)]
