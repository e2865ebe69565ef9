"""Golden sets: what people write, checked and turned into frozen records."""

from harness.goldensets.load import find_sets, load_set

__all__ = ["find_sets", "load_set"]
