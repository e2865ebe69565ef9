"""Trends over many runs: read from run folders, or from a results store that outlives them."""
