"""`harness`, and `python -m harness`."""

import os
import sys

from harness.cli import main as cli


def main() -> int:
    """Run one command in a process of its own, where the kernel may close the network for good."""
    os.environ.setdefault("HARNESS_GUARD", "kernel")
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
