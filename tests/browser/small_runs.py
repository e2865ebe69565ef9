"""Two small runs of the same two designs: in the later one a case went red, one is a known failure and one cannot be checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.records.finding import Finding
from harness.records.messages import Usage
from harness.records.run import CaseVerdict, Cell, Provenance, RunRecord, Totals
from harness.records.trace import Issue, Progress, Thought, Trace, Verification
from harness.reports.store import RunStore
from harness.testing.builders import answer, make_event, make_trace, model_turn, plan_updated, tool_use

BEFORE, AFTER = "20260309-080000000-aaaa", "20260310-090000000-bbbb"
RED = "refund-late-order"
BECAUSE = "`charge_card` is called before `check_policy`"
QUESTION = "My order 1182 came three weeks late. Can I have my money back?"
REFUSED = "You will get **12 EUR** back.\n\n| item | EUR |\n|---|--:|\n| order 1182 | 12 |\n\nSee [the policy](https://policy.invalid/late)."
WITNESS = 5
"""*seq* of the event that shows what is broken."""


def refund(*, wrong: bool) -> Trace:
    """The trial that goes red: it charges the card first, and checks the policy never."""
    order = ["check_policy", "charge_card"]
    if wrong:
        order = ["charge_card"]
    return make_trace(
        plan_updated("created", "look at the policy", "pay back", statuses=("DONE", "PENDING")),
        make_event(Thought(text="The order is late, so the money goes back.", source="react_thought")),
        [(model_turn(calls=[(name, {"order": 1182})]), tool_use(name, {"order": 1182}, text='{"eur": 12}')) for name in order],
        make_event(Progress(stage="synthesising", value=0.9, message="writing")),
        Verification(
            round=1, index=0, of=1, passed=not wrong, verdict="fail" if wrong else "pass", solution_digest="d", count=0, required=1,
            issues=(Issue("gap", "step 1", "the policy was not read"),) if wrong else (),
        ),
        model_turn(REFUSED),
        answer(REFUSED),
        started={"question": QUESTION, "lang": "en", "system": "lean_react"},
    )  # fmt: skip


def plain(question: str, text: str) -> Trace:
    """A trial of one model call."""
    return make_trace(model_turn(text), answer(text), started={"question": question, "lang": "en"})


def verdict(cell: Cell, trace: Trace, *findings: Finding, **fields: Any) -> CaseVerdict:
    """The verdict of a trial with these findings besides a kept and a vacuous one."""
    every = (*findings, Finding(contract="CX5", state="kept"), Finding(contract="CX9", state="vacuous"))
    state = fields.pop("verdict", "broken" if any(each.state == "broken" for each in findings) else "kept")
    provenance: Provenance = fields.pop("provenance", "scripted")
    return CaseVerdict(
        agent=cell.agent, profile="reference", model=cell.model, provenance=provenance, set=cell.set, case=cell.case,
        trial=cell.trial, verdict=state, findings=every, answer=trace.answer, status="completed",
        llm_calls=len(trace.of("llm_call")), tool_calls=len(trace.of("tool_call")), tokens=Usage(input=900, output=80),
        recorded_ms=1_200, **fields,
    )  # fmt: skip


def trials(*, wrong: bool) -> Iterator[tuple[CaseVerdict, Trace]]:
    """Verdicts and traces of one of the runs."""
    broken = Finding(
        contract="tool_order",
        state="broken",
        because=BECAUSE,
        witness=(WITNESS,),
        turn=1,
        at="goldensets/shared.yaml:7",
    )
    trace = refund(wrong=wrong)
    yield verdict(Cell("lean_react", "scripted", "shared", RED), trace, *([broken] if wrong else [])), trace
    for agent in ("lean_react", "plan_execute"):
        for case in ("weather-berlin", "wetter-münchen", "天气-北京"):
            trace = plain(f"How warm is it in {case.partition('-')[2]}?", f"It is 7 °C in *{case}*.")
            yield verdict(Cell(agent, "scripted", "shared", case), trace), trace
    trace = plain(QUESTION, "No.")
    yield verdict(Cell("plan_execute", "scripted", "shared", RED), trace), trace
    wrong_fact = Finding(contract="facts", state="broken", because="the answer lacks 7", witness=(3,))
    trace = plain("How warm is it?", "I do not know.")
    cell = Cell("lean_react", "qwen2.5-coder-1.5b-instruct", "shared", "weather-berlin")
    yield verdict(cell, trace, wrong_fact, known=True, provenance="local"), trace
    trace = plain("And tomorrow?", "")
    lost = {"code": "cassette-miss", "because": "model call 2 is not in the cassette", "cause": "prompt"}
    yield (
        verdict(
            Cell("plan_execute", "scripted", "shared", "weather-tomorrow"), trace, verdict="could_not_check", **lost
        ),
        trace,
    )


def write_small_run(runs: Path, run: str, *, wrong: bool) -> Path:
    """Write one of the runs into the folder *runs*."""
    with RunStore.create(runs, run=run) as store:
        verdicts = tuple([store.append(each, (trace,)) for each, trace in trials(wrong=wrong)])
        totals = Totals(
            trials=len(verdicts), kept=sum(each.verdict == "kept" for each in verdicts),
            broken=sum(each.verdict == "broken" for each in verdicts), known=sum(each.known for each in verdicts),
            could_not_check=sum(each.verdict == "could_not_check" for each in verdicts),
        )  # fmt: skip
        manifest = {"versions": {"tapegate": "0.1.0"}, "guards": ["sockets"]}
        store.finish(RunRecord(run=run, results=verdicts, totals=totals, exit_code=3, manifest=manifest))
        return store.folder
