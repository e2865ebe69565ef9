"""Pages in a real browser: one package, so that a browser lives only while its tests run."""
