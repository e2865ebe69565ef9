"""`harness`, and `python -m harness`."""

import sys

from harness.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
