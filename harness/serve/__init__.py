"""
`harness serve`: one HTTP API over every design of a project, and the pages that people use it by.

`app` puts it together. A connection has to hurry with its headers (`connections`); a request passes `gatekeeper`, with a
token or the cookie of a `sign_in`, reaches a route in `api`, in `pages` or in an agent's own `app.py`, and comes back
through `streams` or, refused, through `refusals`, always with `safe_headers`. All routes know only `host`, which starts
runs on `workers` (threads with event loops), asks models through `ports`, plays `recordings`, and keeps `conversations`
with the `worlds` that they changed. `run_folders` reads what `harness run` writes, while it writes.
"""
