"""The worlds that tools read and write: a store, a clock and a user for each trial."""

from harness.worlds.world import World, WorldTemplate, find_world, load_world

__all__ = ["World", "WorldTemplate", "find_world", "load_world"]
