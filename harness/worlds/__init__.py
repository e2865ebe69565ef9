"""Worlds: the fixtures that tools read and write, one copy a trial."""
