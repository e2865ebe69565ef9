"""
What a replay costs, as whole processes measured in turn: this product beside the floor, beside a bare interpreter, and
its wire port. Prints CPU seconds (user + system, children included) and the ratios that matter, each the median of the
ratios of the rounds, so that a machine that is busy elsewhere slows both sides of it.

Usage: python benchmarks/replay.py [--rounds N] [--wire] [--growth]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import floor  # noqa: E402

from harness.testing.project import FILES, ScratchProject  # noqa: E402

SCRIPT = """
format: 1
steps:
  - expect: {last_role: user}
    reply: {tool_calls: [{name: get_weather, args: {city: Berlin}}]}
  - expect: {tool_result: {name: get_weather, contains: "7"}}
    reply: {tool_calls: [{name: get_weather, args: {city: Bonn}}]}
  - expect: {tool_result: {name: get_weather, contains: "7"}}
    reply: {text: "It is **7 °C** in Berlin and in Bonn."}
"""
CASE = """
  - id: {id}
    question: How warm is it in Berlin and in Bonn?
    lang: en
    class: simple
    facts: {{all: [7]}}
    tools: {{required: [get_weather], forbidden: [delete_*]}}
"""
HEAD = "format: 1\nabout: A benchmark\nworld: yard\ncases:\n"
SMALL, LARGE, HUGE = 100, 1_000, 10_000
HARNESS = [sys.executable, "-m", "harness"]
WIRE_CASES = "harness run --wire"


class Measured(NamedTuple):
    """What one process used."""

    cpu_s: float
    peak_mb: float


class Command(NamedTuple):
    """A process to measure, and where it runs."""

    words: list[str]
    folder: Path


def measure(command: Command, environment: dict[str, str]) -> Measured:
    """
    Run *command* and measure it alone.

    Raises:
        SystemExit: It failed.
    """
    probe = (
        "import resource,subprocess,sys;"
        "r=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL);"
        "u=resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(r.returncode,u.ru_utime+u.ru_stime,u.ru_maxrss/1024)"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", probe, *command.words],
        cwd=command.folder, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, cpu_s, peak_mb = ran.stdout.split()
    if code != "0":
        raise SystemExit(f"{' '.join(command.words)} exited with {code}")
    return Measured(float(cpu_s), float(peak_mb))


def record(folder: Path) -> ScratchProject:
    """A project whose one case of three model calls and two tool calls is recorded."""
    files = {
        **FILES,
        "goldensets/smoke.yaml": HEAD + CASE.format(id="case-00000"),
        "goldensets/scripts/smoke/example/case-00000.yaml": SCRIPT,
    }
    del files["goldensets/scripts/smoke/example/weather.yaml"]
    project = ScratchProject(folder, files)
    ran = project.harness("record", "--model", "scripted")
    if ran.exit_code:
        raise SystemExit(ran.stdout + ran.stderr)
    return project


def multiply(project: ScratchProject, folder: Path, cases: int) -> Command:
    """
    The replay of a copy of *project* in *folder* that has its case *cases* times; a first run has filled its caches.

    Beyond a thousand they are trials of a thousand cases, as a golden set of one file can hold no more.
    """
    cases, trials = min(cases, LARGE), max(cases // LARGE, 1)
    shutil.copytree(project.folder, folder, ignore=shutil.ignore_patterns(".cache", "reports"))
    copy = ScratchProject(folder, {})
    recorded = copy.path("cassettes/example/scripted/smoke/case-00000.0.yaml")
    for number in range(cases):
        for trial in range(trials):
            if number or trial:
                shutil.copyfile(recorded, recorded.with_name(f"case-{number:05d}.{trial}.yaml"))
    ids = [f"case-{number:05d}" for number in range(cases)]
    copy.path("goldensets/smoke.yaml").write_text(HEAD + "".join(CASE.format(id=id) for id in ids), encoding="utf-8")
    words = ["run", "--trials", str(trials)]
    ran = copy.harness(*words)
    if ran.exit_code:
        raise SystemExit(f"the replay is not green\n{ran.stdout}{ran.stderr}")
    return Command([*HARNESS, *words], folder)


def scratch(folder: Path, cases: int) -> Path:
    """A project in *folder* whose *cases* cases are recorded and compiled, for a profiler."""
    with tempfile.TemporaryDirectory() as temporary:
        return multiply(record(Path(temporary)), folder, cases).folder


def commands(root: Path, *, wire: bool, growth: bool) -> dict[str, Command]:
    """What is measured, in the order of each round."""
    recorded = record(root / "recorded")
    chosen = {
        "python -c pass": Command([sys.executable, "-c", "pass"], root),
        "harness --help": Command([*HARNESS, "--help"], root),
    }
    for cases in (1, SMALL, LARGE, *((HUGE,) if growth else ())):
        answers = root / f"floor-{cases}"
        answers.mkdir()
        floor.make(answers, cases)
        replay = multiply(recorded, root / f"project-{cases}", cases)
        chosen[f"floor, {cases} cases"] = Command([sys.executable, str(HERE / "floor.py"), str(answers)], root)
        chosen[f"harness run, {cases} cases"] = replay
        if wire and cases in (1, SMALL):
            chosen[f"harness run --wire, {cases} cases"] = Command([*replay.words, "--wire"], replay.folder)
    return chosen


class Rounds:
    """CPU seconds of every command in every round, and what follows from them."""

    def __init__(self, seen: dict[str, list[Measured]]) -> None:
        self.seen = seen

    def cpu(self, name: str) -> list[float]:
        """CPU seconds of the command *name*, one a round."""
        return [run.cpu_s for run in self.seen[name]]

    def slope_ms(self, name: str, few: int, many: int) -> list[float]:
        """CPU milliseconds that one case more costs, one a round."""
        ends = zip(self.cpu(f"{name}, {few} cases"), self.cpu(f"{name}, {many} cases"), strict=True)
        return [(last - first) / (many - few) * 1000 for first, last in ends]

    def told(self) -> list[str]:
        """The lines to print."""
        lines = [
            f"{name:32} {statistics.median(self.cpu(name)):8.3f} s CPU   peak {max(m.peak_mb for m in runs):6.1f} MB"
            for name, runs in self.seen.items()
        ]
        bare, one = self.cpu("python -c pass"), self.cpu("harness run, 1 cases")
        case, least = self.slope_ms("harness run", SMALL, LARGE), self.slope_ms("floor", SMALL, LARGE)
        lines += [
            "",
            f"--help: {_ratio(self.cpu('harness --help'), bare)} times `python -c pass`",
            f"start-up: a run of one case is {_ratio(one, bare)} times `python -c pass`",
            f"per case: {statistics.median(case):.3f} ms, the floor {statistics.median(least):.3f} ms: {_ratio(case, least)} times",
            f"{LARGE} cases: {_ratio(self.cpu(f'harness run, {LARGE} cases'), self.cpu(f'floor, {LARGE} cases'))} times the floor",
        ]
        if f"harness run, {HUGE} cases" in self.seen:
            growth = _ratio(self.slope_ms("harness run", LARGE, HUGE), case)
            lines.append(f"growth: a case costs {growth} times as much from {LARGE} to {HUGE} cases as before")
        if f"{WIRE_CASES}, {SMALL} cases" in self.seen:
            whole = _ratio(self.cpu(f"{WIRE_CASES}, {SMALL} cases"), self.cpu(f"harness run, {SMALL} cases"))
            each = _ratio(self.slope_ms(WIRE_CASES, 1, SMALL), case)
            lines.append(
                f"wire port: {SMALL} cases take {whole} times as long as on the fast port, a case {each} times"
            )
        return lines


def _ratio(some: list[float], others: list[float]) -> str:
    return f"{statistics.median(one / max(other, 1e-6) for one, other in zip(some, others, strict=True)):.1f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--wire", action="store_true", help="measure the wire port too: some 10 s a round")
    parser.add_argument("--growth", action="store_true", help=f"measure {HUGE} cases too: some 10 s a round")
    args = parser.parse_args()
    # Memory, where there is such a folder: the cost of creating files on a disk is not what is measured here.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory) as temporary:
        root = Path(temporary)
        # As an installed package: its modules are compiled, and stay so.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(root / "bytecode"), "NO_COLOR": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        chosen = commands(root, wire=args.wire, growth=args.growth)
        for command in chosen.values():
            measure(command, environment)  # compiles what it imports
        seen: dict[str, list[Measured]] = {name: [] for name in chosen}
        for _ in range(args.rounds):
            for name, command in chosen.items():
                seen[name].append(measure(command, environment))
    print("\n".join(Rounds(seen).told()))


if __name__ == "__main__":
    main()
