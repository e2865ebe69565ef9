"""Providers' wire formats: bytes to our messages and back. Pure, no I/O."""
