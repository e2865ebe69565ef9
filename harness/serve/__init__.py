"""
`harness serve`: one HTTP API over every design of a project.

`app` puts it together. A request passes `gatekeeper`, reaches a route in `api` or in an agent's own `app.py`, and comes
back through `streams` or, refused, through `refusals`. Both kinds of routes know only `host`, which starts runs on
`workers` (threads with event loops), asks models through `ports`, plays `recordings`, and keeps `conversations` with the
`worlds` that they changed.
"""
