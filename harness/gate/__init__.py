"""The baseline: what was accepted, and what is known."""
