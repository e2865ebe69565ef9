"""`harness`, and `python -m harness`."""

from __future__ import annotations

import os
import sys

from harness.cli import main as cli

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> int:
    """Run one command in a process of its own, where the kernel may close the network for good."""
    os.environ.setdefault("HARNESS_GUARD", "kernel")
    return cli.main()


def run() -> NoReturn:
    """Run one command and leave at once: no exit hook and no thread of an agent's changes the verdict or holds it up."""
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # whoever read it has left
            continue
    os._exit(code)


if __name__ == "__main__":
    run()
