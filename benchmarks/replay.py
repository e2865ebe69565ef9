"""
What a replay costs, as whole processes measured in turn: this product beside the floor, beside a bare interpreter, and
its wire port. Prints CPU seconds (user + system, children included), medians, and the ratios that matter.

Usage: python benchmarks/replay.py [--rounds N] [--wire]
"""

from __future__ import annotations

import argparse
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


class Measured(NamedTuple):
    """What one process used."""

    cpu_s: float
    peak_mb: float


def measure(command: list[str], folder: Path) -> Measured:
    """Run *command* in *folder* and measure it alone."""
    probe = (
        "import resource,subprocess,sys;"
        "r=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL);"
        "u=resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(r.returncode,u.ru_utime+u.ru_stime,u.ru_maxrss/1024)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", probe, *command], cwd=folder, capture_output=True, text=True, check=True
    )
    code, cpu_s, peak_mb = ran.stdout.split()
    if code != "0":
        raise SystemExit(f"{' '.join(command)} exited with {code}")
    return Measured(float(cpu_s), float(peak_mb))


def scratch(folder: Path, cases: int) -> Path:
    """A project whose *cases* cases of three model calls and two tool calls are recorded."""
    head = "format: 1\nabout: A benchmark\nworld: yard\ncases:\n"
    files = {
        **FILES,
        "goldensets/smoke.yaml": head + CASE.format(id="case-00000"),
        "goldensets/scripts/smoke/example/case-00000.yaml": SCRIPT,
    }
    del files["goldensets/scripts/smoke/example/weather.yaml"]
    project = ScratchProject(folder, files)
    ran = project.harness("record", "--model", "scripted")
    if ran.exit_code:
        raise SystemExit(ran.stdout + ran.stderr)
    recorded = project.path("cassettes/example/scripted/smoke/case-00000.0.yaml")
    for number in range(1, cases):
        shutil.copy(recorded, recorded.with_name(f"case-{number:05d}.0.yaml"))
    project.path("goldensets/smoke.yaml").write_text(
        head + "".join(CASE.format(id=f"case-{n:05d}") for n in range(cases))
    )
    if project.harness("run").exit_code:
        raise SystemExit("the replay is not green")
    return folder


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--wire", action="store_true", help="measure the wire port too, which takes a while")
    args = parser.parse_args()
    small, large = 100, 1000
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        commands: dict[str, tuple[list[str], Path]] = {
            "python -c pass": ([sys.executable, "-c", "pass"], root),
            "harness --help": ([sys.executable, "-m", "harness", "--help"], root),
        }
        for cases in (1, small, large):
            floor_folder = root / f"floor-{cases}"
            floor_folder.mkdir()
            floor.make(floor_folder, cases)
            project = scratch(root / f"project-{cases}", cases)
            commands[f"floor, {cases} cases"] = ([sys.executable, str(HERE / "floor.py"), str(floor_folder)], root)
            commands[f"harness run, {cases} cases"] = ([sys.executable, "-m", "harness", "run"], project)
            if args.wire and cases == small:
                commands[f"harness run --wire, {cases} cases"] = (
                    [sys.executable, "-m", "harness", "run", "--wire"],
                    project,
                )
        seen: dict[str, list[Measured]] = {name: [] for name in commands}
        for _ in range(args.rounds):
            for name, (command, folder) in commands.items():
                seen[name].append(measure(command, folder))
    cpu = {name: statistics.median(m.cpu_s for m in runs) for name, runs in seen.items()}
    for name, runs in seen.items():
        print(f"{name:32} {cpu[name]:8.3f} s CPU   peak {max(m.peak_mb for m in runs):6.1f} MB")
    per_case_ms = (cpu[f"harness run, {large} cases"] - cpu[f"harness run, {small} cases"]) / (large - small) * 1000
    floor_ms = (cpu[f"floor, {large} cases"] - cpu[f"floor, {small} cases"]) / (large - small) * 1000
    print(f"\nper case: {per_case_ms:.3f} ms against the floor's {floor_ms:.3f} ms: {per_case_ms / floor_ms:.1f} times")
    ratio = cpu[f"harness run, {large} cases"] / cpu[f"floor, {large} cases"]
    print(f"{large} cases: {ratio:.1f} times the floor")
    print(f"--help: {cpu['harness --help'] / cpu['python -c pass']:.1f} times `python -c pass`")
    if args.wire:
        wire = cpu[f"harness run --wire, {small} cases"]
        print(f"wire against fast, {small} cases: {wire / cpu[f'harness run, {small} cases']:.0f} times")


if __name__ == "__main__":
    main()
