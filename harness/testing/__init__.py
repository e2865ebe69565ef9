"""Builders, fakes and strategies for tests, the project's own and its users'."""
