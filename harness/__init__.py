"""Record an agent's model traffic once, replay today's agent against it offline, and hold every run to contracts."""

__version__ = "0.1.0"
