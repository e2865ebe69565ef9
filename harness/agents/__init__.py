"""Agents: loading them, and running one trial of one case. The only code that touches the top-level folder `agents/`."""
