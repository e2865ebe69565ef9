"""Codes of commands, of runs and their verdicts, and of serving."""

from __future__ import annotations

from harness.cli.codes.code import CHECK, NOTHING, USAGE, Code

COMMAND = {
    "bad-arguments": Code(USAGE, "A command was called with words that it does not take", "`harness COMMAND --help`"),
    "no-such-command": Code(USAGE, "There is no command of that name", "`harness --help` lists the commands"),
    "no-such-topic": Code(
        USAGE, "`harness explain` knows no code, contract, agent or schema of that name", "`harness list agents`"
    ),
    "internal": Code(
        CHECK, "The harness itself crashed; this is a defect of tapegate", "report it with the text that was printed"
    ),
    "process-left": Code(
        CHECK,
        "The project's own code tried to end the process, by sys.exit, os._exit or os.exec, before anything was decided",
        "raise an error there instead; the text after the message names the call",
    ),
    "contract-hung": Code(
        CHECK,
        "The contracts of a trial came to no end: a pattern that backtracks for ever, or a loop in a contract of your own",
        "simplify the regex or the contract; run the case alone to see which it is",
    ),
    "lost-trials": Code(
        CHECK,
        "Planned trials ended without a verdict, because an agent cancelled the task that it ran in",
        "let the agent cancel only tasks that it started itself",
    ),
    "bad-policy": Code(
        USAGE,
        "The policy of the gate, in [tool.harness.gate] or a file of its own, cannot be read, or has a key that is not known",
        "correct the line that is named; `harness gate --help` lists the keys",
    ),
    "two-policies": Code(
        USAGE,
        "A file was named as the policy of the gate, and [tool.harness.gate] has rules as well",
        "keep the rules in one place: move them into the file, or take the file's name away",
    ),
    "ci-write": Code(
        USAGE,
        "A command would have written cassettes or a baseline on a CI machine, where nobody reviews them",
        "write and commit them elsewhere, or pass `--allow-ci-write`",
    ),
    "ask-failed": Code(CHECK, "A live question did not come to an end", "ask again; the message says what went wrong"),
    "network-refused": Code(
        CHECK,
        "Something tried to reach the network during a replay, which has none",
        "let the agent reach models and tools through `ctx` only, then record the case again",
    ),
    "no-port": Code(USAGE, "There is no port of that name to replay on", "use `fast` or `wire`"),
    "no-litellm": Code(
        USAGE, "Recording and `--wire` need packages that are not installed", 'pip install "tapegate[record]"'
    ),
    "no-reports": Code(
        USAGE,
        "The HTML report, the page of the history or its results store needs packages that are not installed",
        'pip install "tapegate[reports]"',
    ),
    "no-scipy": Code(USAGE, "A statistic needs packages that are not installed", 'pip install "tapegate[stats]"'),
    "bad-numbers": Code(
        USAGE,
        "A statistic was asked of numbers for which it means nothing, such as more passes than trials",
        "the message says which number, and in what range it must lie",
    ),
}

RUN = {
    "no-such-run": Code(USAGE, "There is no run of that name, or more than one matches", "give more of its id"),
    "bad-run": Code(USAGE, "A file of a run folder is damaged", "`harness run` makes a new one"),
    "bad-trace": Code(USAGE, "A trace of a run is damaged", "`harness run` makes a new one"),
    "nothing-to-diff": Code(
        NOTHING,
        "`harness diff` found no trial that is in both runs",
        "loosen its flags; two designs are compared by giving --agent twice",
    ),
    "one-design": Code(
        USAGE, "`harness compare` was given one design, which is never compared with itself", "name a second agent"
    ),
    "unlike-provenance": Code(
        USAGE,
        "Designs that were answered in different ways, by a script, a local model or a provider, were to be compared",
        "record both with the same model; without names, `harness compare` keeps them apart by itself",
    ),
    "unlike-sets": Code(
        USAGE,
        "Designs that ran different golden sets were to be compared",
        "choose a set that all of them run with --set, or declare it for them in [[tool.harness.matrix]]",
    ),
    "not-in-run": Code(USAGE, "A flag names what no trial of the run is about", "the message lists what the run has"),
    "unfinished-run": Code(USAGE, "The run was cut off before its end", "harness run --resume RUN"),
    "stale-run": Code(
        CHECK, "Golden sets, agents or cassettes have changed since the run was made", "`harness run` makes a new one"
    ),
    "nothing-run": Code(NOTHING, "The run has no verdict", "`harness list sets` shows what can run"),
    "unchecked-run": Code(
        CHECK,
        "Trials of the run could not be checked, so it cannot be the baseline",
        "mend what the run reports first",
    ),
    "scripted-failure": Code(
        USAGE,
        "Scripted cases of a reference profile must be kept, so a failure of one is never accepted",
        "mend the agent or its script",
    ),
    "no-reason": Code(USAGE, "A baseline needs a reason, which is committed with it", 'harness accept --reason "…"'),
    "bad-baseline": Code(USAGE, "A baseline is damaged", "take it from git again"),
    "cannot-write": Code(
        CHECK, "A run folder cannot be written", "make room, change its permissions, or pass `--out DIR`"
    ),
    "no-history": Code(
        NOTHING,
        "`harness history` knows no run that could show a trend",
        "`harness run` makes one; `harness history --partial` looks at runs that flags narrowed",
    ),
    "bad-history-store": Code(
        USAGE,
        "The address of the results store is no file and no URL of a database that is supported",
        "name a file of SQLite, or a server as postgresql://user@host/database",
    ),
    "history-store": Code(
        CHECK,
        "The results store cannot be opened, read or written",
        "look at the file or the server; `harness history --no-store` reads the run folders alone",
    ),
    "history-password": Code(
        USAGE,
        "`history` in pyproject.toml holds a password, which would be committed",
        "set HARNESS_HISTORY to the whole URL, or leave the password to ~/.pgpass or PGPASSWORD",
    ),
    "cannot-write-report": Code(
        CHECK,
        "A report cannot be written",
        "make room, or name another place with `--out FILE`, or `--report-dir DIR` of `harness gate`",
    ),
    "unknown-format": Code(
        USAGE, "A file has a newer format than this version reads", "update tapegate, or make the file again"
    ),
}

SERVE = {
    "no-fastapi": Code(USAGE, "`harness serve` needs packages that are not installed", 'pip install "tapegate[serve]"'),
    "cannot-listen": Code(USAGE, "The address to serve on cannot be used", "choose another `--port`"),
    "token-needed": Code(
        USAGE,
        "A server that other machines can reach was to start without a token",
        "set HARNESS_SERVE_TOKEN, or serve on 127.0.0.1",
    ),
    "bad-token": Code(USAGE, "The token for serving is missing, too short or no plain text", "make a longer one"),
    "wrong-token": Code(USAGE, "A request showed no token, or a wrong one", "send `Authorization: Bearer TOKEN`"),
    "wrong-host": Code(
        USAGE,
        "A request was addressed to a host that is not served, as a page does that points a name at this machine",
        "use the address that was printed, or `--allow-host NAME`",
    ),
    "wrong-origin": Code(USAGE, "A page of another site made a browser send a request", "ask from the server itself"),
    "not-json": Code(USAGE, "The body of a request is not said to be JSON", "send `Content-Type: application/json`"),
    "bad-request": Code(USAGE, "A request has a wrong form", "mend what the message names"),
    "slow-request": Code(USAGE, "A request did not come to its end in time", "send it again"),
    "body-too-large": Code(USAGE, "A request is larger than any question needs", "send less"),
    "question-too-long": Code(USAGE, "A question is longer than what is taken", "shorten it"),
    "too-many-requests": Code(USAGE, "A client made more requests a minute than it may", "wait, or raise `--rate`"),
    "too-many-runs": Code(CHECK, "As many runs as allowed are under way", "ask again later, or raise `--runs`"),
    "no-model": Code(
        USAGE, "A live question was asked of a server without a model", "start it with `harness serve --model M`"
    ),
    "no-such-recording": Code(USAGE, "There is no recording of that trial", "GET /api/recordings lists them"),
    "no-such-route": Code(USAGE, "Nothing is served under that address", "GET /api names what is"),
    "no-such-trace": Code(USAGE, "The run kept no trace of that trial", "GET /api/runs/RUN lists its trials"),
    "trace-too-large": Code(USAGE, "A trace is too large to be sent to a page", "read its file in the run's folder"),
    "no-such-trial": Code(USAGE, "No such trial is under way", "it may have ended by itself"),
    "session-in-address": Code(
        USAGE, "A conversation's name stood in an address, which stays in histories and logs", "let its cookie say it"
    ),
    "no-such-session": Code(USAGE, "There is no such conversation, or it was forgotten", "open another"),
    "session-busy": Code(USAGE, "The last question of a conversation is not answered yet", "wait for its answer"),
    "client-gone": Code(CHECK, "The client left before the answer was there", "ask again, and stay"),
    "run-cancelled": Code(CHECK, "A run was cancelled, because its client left or the server stops", "ask again"),
}
