"""A scripted model: a real HTTP server on loopback whose replies are written by hand, one script per golden case."""
