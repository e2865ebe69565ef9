"""What a command imports before it does anything: start-up is part of the product."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[3]
HELP = """
import sys
from harness.__main__ import main
sys.argv = ["harness", "--help"]
main()
print(*sorted(sys.modules), file=sys.stderr)
"""
ARGPARSE = "import __future__, argparse, importlib, os, sys, time; argparse.ArgumentParser().format_help(); print(*sys.modules)"
HEAVY = ("litellm", "vcr", "pydantic", "httpx", "yaml", "jsonschema", "aiohttp", "openai")


def test_help_imports_argparse_and_the_errors_only():
    """Everything else is loaded by the command that needs it."""
    helped = subprocess.run([sys.executable, "-c", HELP], cwd=REPO, capture_output=True, text=True, check=True)
    allowed = subprocess.run([sys.executable, "-c", ARGPARSE], capture_output=True, text=True, check=True)

    loaded = set(helped.stderr.split()) - set(allowed.stdout.split())
    assert sorted(loaded) == [
        "harness",
        "harness.__main__",
        "harness.cli",
        "harness.cli.main",
        "harness.cli.output",
        "harness.errors",
    ]


def test_a_warm_run_imports_nothing_heavy(project, process):
    """Once golden sets and cassettes are compiled, a replay needs no YAML, no pydantic and no HTTP client."""
    process("run")
    code = (
        "import sys; from harness.cli.main import main; code = main(['run', '--json']); "
        f"print(code, *[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    ended = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)

    assert ended.stderr == "0\n"
