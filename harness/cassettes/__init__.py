"""Recorded traffic: the only code that touches the top-level folder `cassettes/`."""
