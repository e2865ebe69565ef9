"""The arena: designs on the same questions in the same recorded world, and what may be said of the difference."""

from harness.compare.arena import Chosen, compare_run
from harness.compare.matrix import Differ

__all__ = ["Chosen", "Differ", "compare_run"]
