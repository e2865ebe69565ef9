"""`harness serve`: one HTTP API over every design of a project; `harness.serve.app` puts it together."""
