"""
What a large HTML report costs: generated traces beside the floor of reading and compressing the same bytes, and the file in
a real browser. Prints how long it takes to write, its peak memory, its size, the time to first paint, how smoothly its
list scrolls, and how long a case takes to open.

Usage: python benchmarks/report.py [--traces N] [--megabytes N] [--rounds N] [--keep DIR]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import replay as processes  # noqa: E402

from harness.records.finding import Finding  # noqa: E402
from harness.records.messages import Usage  # noqa: E402
from harness.records.run import CaseVerdict, Cell, RunRecord, Totals  # noqa: E402
from harness.records.trace import Thought, Trace  # noqa: E402
from harness.records.trace_file import encode_events  # noqa: E402
from harness.reports.store import RunStore  # noqa: E402
from harness.testing.builders import answer, make_event, make_trace, model_turn, plan_updated, tool_use  # noqa: E402
from harness.testing.project import ScratchProject  # noqa: E402
from tests.browser.driver import chromium  # noqa: E402

RUN = "20260310-090000000-0000"
TRACES = f"reports/runs/{RUN}/traces"
DESIGNS = ("lean_react", "plan_execute", "ultrathink", "deep_think")
SETS = ("shared", "billing")
TRIALS = 5
FLOOR = """
import sys, zlib
from pathlib import Path
print(sum(len(zlib.compress(path.read_bytes())) for path in sorted(Path(sys.argv[1]).iterdir())))
"""
COMMANDS = ("floor", "harness report")
PAINTED = """async () => {
  for (;;) {
    const [entry] = performance.getEntriesByName('first-contentful-paint');
    if (entry) return entry.startTime;
    await new Promise(requestAnimationFrame);
  }
}"""
READ = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
HEAP = "() => performance.memory.usedJSHeapSize / 1e6"
OPENED = """async ([link, selector]) => {
  const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  const began = performance.now();
  location.hash = link;
  while (!document.querySelector(selector)) await painted();
  await painted();
  return performance.now() - began;
}"""
SCROLLED = """async selector => {
  const box = document.querySelector(selector);
  const gaps = [];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 180; frame++) {
    box.scrollTop += frame % 60 ? 240 : 20000;
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}"""
MIDDLE = "() => { const all = document.querySelectorAll('#panel-cases tbody a'); return all[all.length >> 1].getAttribute('href'); }"
LONG_FRAME_MS = 50


class Seen(NamedTuple):
    """What a browser measured once."""

    paint_ms: float
    """First contentful paint, from the beginning of the navigation."""
    ready_ms: float
    """The whole file is read."""
    list_ms: float
    """From a click on the list of cases until it is painted."""
    case_ms: float
    """The same for the page of a case, whose trace is unpacked for it."""
    heap_mb: float
    gaps: list[float]
    """Milliseconds between frames while the list scrolled from its beginning, with three leaps."""
    plain_paint_ms: float
    """The same of a page that is nothing but as many lines of text."""
    plain_gaps: list[float]


class Writer:
    """Texts of a given size, made of words that compress about as well as prose does; the same ones each time."""

    def __init__(self) -> None:
        self._chance = random.Random(7)  # noqa: S311 – the same texts each time
        letters = "etaoinshrdlucmfwypvbgk"
        self._words = ["".join(self._chance.choices(letters, k=self._chance.randint(2, 9))) for _ in range(4_000)]
        self._weights = [1 / rank for rank in range(1, len(self._words) + 1)]

    def text(self, size: int) -> str:
        """About *size* characters."""
        return " ".join(self._chance.choices(self._words, self._weights, k=max(size // 6, 1)))

    def trace(self, size: int) -> Trace:
        """A trial of three model calls and two tool calls whose file has about *size* bytes."""
        share = max((size - 2_900) * 2 // 21, 20)
        return make_trace(
            plan_updated("created", self.text(share // 2), self.text(share // 2), done=(1,)),
            make_event(Thought(text=self.text(share), source="react_thought")),
            model_turn(calls=[("search", {"query": self.text(60)})]),
            tool_use("search", {"query": self.text(60)}, text=self.text(3 * share), hits=3),
            model_turn(calls=[("read", {"path": self.text(20)})]),
            tool_use("read", {"path": self.text(20)}, text=self.text(2 * share)),
            model_turn(self.text(share)),
            answer(f"**{self.text(20)}**\n\n* {self.text(share)}"),
            started={"question": self.text(80), "lang": "en"},
        )


def make(runs: Path, traces: int, size: int) -> int:
    """Write a run of *traces* trials with traces of about *size* bytes each; the bytes of all traces together."""
    writer = Writer()
    verdicts = []
    total = 0
    with RunStore.create(runs, run=RUN) as store:
        for number in range(traces):
            trace = writer.trace(size)
            verdicts.append(store.append(_verdict(_cell(number), number, trace), (trace,)))
            total += len(encode_events(trace.events))
        broken = sum(verdict.verdict == "broken" for verdict in verdicts)
        totals = Totals(trials=traces, kept=traces - broken, broken=broken)
        store.finish(RunRecord(run=RUN, results=tuple(verdicts), totals=totals, exit_code=1))
    return total


def _cell(number: int) -> Cell:
    case, design = divmod(number // TRIALS, len(DESIGNS))
    return Cell(DESIGNS[design], "scripted", SETS[case % len(SETS)], f"case-{case:05d}", number % TRIALS)


def _verdict(cell: Cell, number: int, trace: Trace) -> CaseVerdict:
    bad = number % 17 == 0
    findings = [Finding(contract=name, state="kept") for name in ("CX1", "CX5", "tool_order")]
    if bad:
        because = "answered without calling `search`"
        findings.append(Finding(contract="facts", state="broken", because=because, witness=(12,), turn=3))
    return CaseVerdict(
        agent=cell.agent, profile="reference", model=cell.model, provenance="scripted", set=cell.set, case=cell.case,
        trial=cell.trial, verdict="broken" if bad else "kept", findings=tuple(findings), llm_calls=3, tool_calls=2,
        tokens=Usage(input=900 + number % 300, output=120), recorded_ms=1_500 + number % 900, answer=trace.answer,
        status="completed",
    )  # fmt: skip


def look(page: Any, report: Path, plain: Path) -> Seen:
    """Open the plain page and scroll it; open the report, scroll its list, open a case of it."""
    page.goto(plain.as_uri())
    plain_paint, plain_gaps = page.evaluate(PAINTED), page.evaluate(SCROLLED, "html")
    page.goto(report.as_uri())
    paint, ready = page.evaluate(PAINTED), page.evaluate(READ)
    opened = page.evaluate(OPENED, ["#/cases", "#panel-cases tbody a"])
    gaps = page.evaluate(SCROLLED, "#panel-cases .rows")
    case = page.evaluate(OPENED, [page.evaluate(MIDDLE), ".timeline .step"])
    return Seen(paint, ready, opened, case, page.evaluate(HEAP), gaps, plain_paint, plain_gaps)


def watched(report: Path, plain: Path, rounds: int) -> list[Seen]:
    """What a browser sees of both pages, each time with nothing left of the time before."""
    seen = []
    for _ in range(rounds):
        with chromium() as browser:
            seen.append(look(browser.new_page(viewport={"width": 1280, "height": 800}), report, plain))
    return seen


def write_plain(path: Path, lines: int) -> None:
    """A page of *lines* lines and nothing else: what the browser and the machine can do at best."""
    rows = "".join(f"<div>case-{number:05d} kept lean_react scripted</div>\n" for number in range(lines))
    path.write_text(f"<!doctype html><html lang=en><title>plain</title><body>{rows}", encoding="utf-8")


def built(folder: Path, file: Path, rounds: int) -> dict[str, list[processes.Measured]]:
    """What the floor and the command cost, in turn, the bytecode compiled before."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NO_COLOR": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    report = [*processes.HARNESS, "report", RUN, "--format", "html", "--out", str(file)]
    commands = {
        "floor": processes.Command([sys.executable, "-c", FLOOR, str(folder / TRACES)], folder),
        "harness report": processes.Command(report, folder),
    }
    seen: dict[str, list[processes.Measured]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            measured = processes.measure(command, environment)
            if turn:
                seen[name].append(measured)
    return seen


def told(traces: int, size: int, packed: int, file: int, seen: list[Seen]) -> list[str]:
    """The lines on the file and on what a reader sees of it."""

    def line(what: str, name: str, *, beside: str = "") -> str:
        every = [getattr(one, name) for one in seen]
        return f"{what:16} {statistics.median(every):8.0f} ms   worst of {len(seen)}: {max(every):.0f} ms{beside}"

    def frames(name: str) -> str:
        every = [gap for one in seen for gap in getattr(one, name)]
        slow = sum(gap > LONG_FRAME_MS for gap in every)
        return f"{statistics.median(every):.0f} ms a frame, {slow} of {len(every)} longer than {LONG_FRAME_MS} ms, the longest {max(every):.0f} ms"

    plain = statistics.median(one.plain_paint_ms for one in seen)
    return [
        f"{'file':16} {file / 1e6:8.2f} MB   {100 * file / size:.0f} % of the traces; compressed one by one they have {100 * packed / size:.0f} %",
        line("first paint", "paint_ms", beside=f"; a plain page of {traces:,} lines: {plain:.0f} ms"),
        line("all of it read", "ready_ms"),
        line("list opens in", "list_ms"),
        line("case opens in", "case_ms"),
        f"{'scrolling':16} {frames('gaps')}",
        f"{'plain page':16} {frames('plain_gaps')}",
        f"{'heap':16} {statistics.median(one.heap_mb for one in seen):8.0f} MB",
    ]


def told_of_writing(cost: dict[str, list[processes.Measured]]) -> str:
    """The line on the command."""
    floor, report = (statistics.median(run.cpu_s for run in cost[name]) for name in COMMANDS)
    peak = max(run.peak_mb for run in cost["harness report"])
    return (
        f"{'written in':16} {report:8.2f} s CPU   {report / floor:.1f} times reading and compressing each trace "
        f"({floor:.2f} s); peak {peak:.0f} MB"
    )


def main() -> None:
    """Generate, build, look, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--megabytes", type=float, default=50.0, help="of all traces together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", metavar="FILE", type=Path, help="keep the report there")
    args = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory) as temporary:
        folder = ScratchProject(Path(temporary)).folder
        file = args.keep.resolve() if args.keep else folder / "report.html"
        size = make(folder / "reports" / "runs", args.traces, int(args.megabytes * 1e6 / args.traces))
        cost = built(folder, file, args.rounds)
        packed = sum(len(zlib.compress(path.read_bytes())) for path in (folder / TRACES).iterdir())
        write_plain(folder / "plain.html", args.traces)
        seen = watched(file, folder / "plain.html", args.rounds)
        lines = [f"{args.traces:,} traces, {size / 1e6:.1f} MB", told_of_writing(cost)]
        lines += told(args.traces, size, packed, file.stat().st_size, seen)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
