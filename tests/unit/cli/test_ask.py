"""`harness run --ask`: one live question, against a scripted model behind real HTTP."""

from __future__ import annotations

import jsonschema
import pytest

from harness.cli.ask import note_of
from harness.errors import ExitCode
from harness.models.scripted.script import load_script, parse_script
from harness.models.scripted.server import ScriptedServer
from harness.records.trace import (
    ConfigResolved,
    Event,
    FallbackUsed,
    FinalAnswer,
    Issue,
    Progress,
    ToolCalled,
    ToolResult,
    Verification,
    Warned,
)
from harness.reports.documents import schema_of

QUESTION = "What is the weather in Berlin?"
BARE = """\
def build(ctx):
    return Bare(ctx)


class Bare:
    def __init__(self, ctx):
        self.ctx = ctx

    async def run(self, question):
        yield await self.ctx.models.chat([question.message])
"""
CHOOSY = """\
from harness.errors import UsageError

OPTIONS = {"depth": (1, "how deep")}


def build(ctx):
    raise UsageError("bad-option", f"`depth` is 1 to 5, not {ctx.options['depth']}", hint="give it less")
"""
LIBRARY = """\
from harness.records.tool import tool


def build(world):
    @tool(effect="read")
    def find_book(title: str) -> str:
        \"\"\"Find a book.\"\"\"
        return "none"

    return [find_book]
"""
TALKING = """\
from harness.records.trace import FinalAnswer


def build(ctx):
    return Talking(ctx)


class Talking:
    def __init__(self, ctx):
        self.ctx = ctx

    async def run(self, question):
        async for _ in self.ctx.models.stream([question.message], visible=True):
            pass
        yield FinalAnswer(text="7 °C")
"""


@pytest.fixture
def session(project):
    """A model on loopback that follows the script of S1-en."""
    with ScriptedServer() as server:
        yield server.open(load_script(project / "goldensets" / "scripts" / "shared" / "lean_react" / "S1-en.yaml"))


def test_the_answer_comes_on_stdout_and_what_was_done_on_stderr(project, harness, session):
    """A person reads the answer; a pipe gets nothing but the answer."""
    ended = harness(
        "run", "--ask", QUESTION, "--lean", "--model", "gpt-4.1-mini", "--base-url", session.openai_base_url
    )

    assert (ended.code, ended.out) == (ExitCode.PASS, "It is 7 °C in Berlin, with rain.\n")
    assert '  get_weather {"city": "Berlin"}\n' in ended.err
    assert "lean_react × gpt-4.1-mini (local): completed, 2 model calls, 1 tool calls, " in ended.err
    session.close()


def test_the_document_is_what_its_schema_says(project, harness, session):
    """With `--json` nothing is streamed onto stdout."""
    words = [
        "--ask",
        QUESTION,
        "--agent",
        "lean_react",
        "--model",
        "gpt-4.1-mini",
        "--base-url",
        session.openai_base_url,
    ]
    document = harness("run", *words, "--json").document

    jsonschema.validate(document, schema_of("ask"))
    assert (document["answer"], document["status"]) == ("It is 7 °C in Berlin, with rain.", "completed")
    assert not (project / "reports" / "runs").exists()


def test_an_unreachable_model_is_no_pass(project, harness):
    """Whatever the agent makes of it, nothing was answered."""
    ended = harness(
        "run", "--ask", QUESTION, "--lean", "--model", "gpt-4.1-mini", "--base-url", "http://127.0.0.1:9/v1"
    )

    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "Traceback" not in ended.err
    assert "  error llm_errors: " in ended.err
    assert "127.0.0.1:9" in ended.err


def test_the_document_says_why_nothing_was_answered(project, harness):
    """A script reads the reason where it reads the answer."""
    words = ["--ask", QUESTION, "--lean", "--model", "gpt-4.1-mini", "--base-url", "http://127.0.0.1:9/v1"]
    document = harness("run", *words, "--json").document

    jsonschema.validate(document, schema_of("ask"))
    assert ("failed", True) == (document["status"], document["because"].startswith("llm_errors: "))


def test_an_agent_that_crashes_says_so(project, harness):
    """An agent that does not catch a model's error ends with it; the person at the keyboard sees both."""
    (project / "agents" / "bare").mkdir()
    (project / "agents" / "bare" / "agent.py").write_text(BARE)

    ended = harness("run", "--ask", QUESTION, "--agent", "bare", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "  error agent_crash: ModelError: " in ended.err


def test_options_that_the_agent_refuses_are_the_callers_mistake(project, harness):
    """What the agent says of a value is told as the error that it is, with its hint, and nothing is sent."""
    (project / "agents" / "choosy").mkdir()
    (project / "agents" / "choosy" / "agent.py").write_text(CHOOSY)

    words = ["--agent", "choosy", "--option", "depth=9", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    ended = harness("run", "--ask", QUESTION, *words)

    assert (ExitCode.USAGE, "") == (ended.code, ended.out)
    assert "error[bad-option]: `depth` is 1 to 5, not 9\n\nhint: give it less\n" == ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ask", " ", "--model", "m"], "--ask needs a question"),
        (["--ask", QUESTION, "--model", "m", "--base-url", "nonsense"], "`nonsense` is no address of a server"),
    ],
)
def test_what_cannot_be_asked_is_refused(project, harness, words, message):
    """Nothing is sent."""
    document = harness("run", *words, "--json").document

    assert (message, 2) == (document["error"]["message"], document["exit_code"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--ask needs --model"),
        (["--model", "m", "--lean", "--agent", "plan_execute"], "--ask takes one agent, not 2"),
        (["--model", "m", "shared"], "--ask does not go with SET"),
        (["--model", "m", "--trials", "2"], "--ask does not go with --trials"),
        (["--model", "m", "--wire"], "--ask does not go with --wire"),
    ],
)
def test_flags_that_do_not_go_with_a_question_are_refused(project, harness, words, message):
    """A question is no run of golden cases."""
    document = harness("run", "--ask", QUESTION, *words, "--json").document

    assert (document["error"]["message"], document["exit_code"]) == (message, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agent", "nobody"], "no agent named `nobody`"),
        (["--agent", "lean_react@loud"], "agent `lean_react` has no profile `loud`"),
        (["--lean", "--option", "loud=1"], "agent `lean_react` has no option `loud`"),
        (["--lean", "--option", "max_steps=many"], "option `max_steps` of agent `lean_react` cannot be 'many'"),
        (["--lean", "--ultrathink"], "agent `lean_react` has no option `ultrathink`"),
        (["--ultrathink", "--ultrathink-budget", "0"], "`0` is no whole number of at least 1"),
        (["--model", "scripted"], "the model `scripted` answers golden cases only"),
    ],
)
def test_agents_and_options_that_are_not_there_are_refused(project, harness, words, message):
    """Before anything is asked."""
    document = harness("run", "--ask", QUESTION, "--model", "m", *words, "--json").document

    assert document["error"]["message"].endswith(message)
    assert document["exit_code"] == 2


@pytest.mark.parametrize("words", [["--ultrathink"], ["--ultrathink-budget", "2048"], ["--agent", "ultrathink"]])
def test_ultrathink_names_its_agent(project, harness, words):
    """As `--lean` does; the model's server sees the agent's own tools."""
    script = "format: 1\nsteps:\n- expect: {tools: [enable_ultrathink]}\n  reply: {text: '391.'}\n"
    with ScriptedServer() as server:
        session = server.open(parse_script(script))
        told = ["--model", "claude-sonnet-4-5", "--base-url", session.openai_base_url]
        ended = harness("run", "--ask", "What is 17 × 23?", *words, *told)
        session.close()

    assert (ended.code, ended.out) == (ExitCode.PASS, "391.\n")
    assert "ultrathink × claude-sonnet-4-5 (local): completed, 1 model calls" in ended.err


def test_the_world_can_be_named(project, harness):
    """The agent gets the tools of that world."""
    _write_library(project, LIBRARY)
    script = "format: 1\nsteps:\n- expect: {tools: [find_book]}\n  reply: {text: None.}\n"
    with ScriptedServer() as server:
        session = server.open(parse_script(script))
        told = ["--lean", "--model", "m", "--base-url", session.openai_base_url, "--world", "library"]
        ended = harness("run", "--ask", "Which books are there?", *told)
        session.close()

    assert (ended.code, ended.out) == (ExitCode.PASS, "None.\n")


def test_what_a_tool_lacks_is_told_with_what_explains_it(project, harness):
    """A store that does not answer: no answer counts, and the next command is named."""
    unplugged = LIBRARY.replace('return "none"', 'raise CouldNotCheckError("news-store-unreachable", "nobody there")')
    tools = f"from harness.errors import CouldNotCheckError\n{unplugged}"
    _write_library(project, tools)
    script = """
format: 1
steps:
- reply: {tool_calls: [{name: find_book, args: {title: Emma}}]}
- expect: {tool_result: {name: find_book, contains: nobody there}}
  reply: {text: None.}
"""
    with ScriptedServer() as server:
        session = server.open(parse_script(script))
        told = ["--lean", "--model", "m", "--base-url", session.openai_base_url, "--world", "library"]
        ended = harness("run", "--ask", "Which books are there?", *told)
        session.close()

    assert ended.code == ExitCode.COULD_NOT_CHECK
    assert "error[news-store-unreachable]: nobody there\n\nhint: `harness explain news-store-unreachable`" in ended.err


def _write_library(project, tools):
    world = project / "goldensets" / "worlds" / "library"
    world.mkdir()
    (world / "world.yaml").write_text('format: 1\nabout: Books\nnow: "2026-03-10T09:00:00+00:00"\nuser: vera\n')
    (world / "tools.py").write_text(tools)


def test_a_world_that_is_not_there_is_refused(project, harness):
    """As is a world for golden cases, which name their own."""
    unknown = harness("run", "--ask", QUESTION, "--model", "m", "--world", "mars")
    beside = harness("run", "--world", "newsroom")

    assert (2, 2) == (unknown.code, beside.code)
    assert "error[unknown-world]: no world named `mars`" in unknown.err
    assert "--world goes with --ask; golden cases name their own" in beside.err


@pytest.mark.parametrize("command", ["run", "serve"])
def test_help_says_what_a_budget_may_be(harness, command):
    """The range and the default, before anything is asked."""
    told = " ".join(harness(command, "--help").out.split())

    assert "tokens to think with, 1024 to 128000 (default 10000)" in told


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (ToolCalled(call_id="c", tool="get_weather", args={"city": "Berlin"}), 'get_weather {"city": "Berlin"}'),
        (
            ToolCalled(call_id="c", tool="read_file", args={"path": "a"}, args_raw='read_file("a")', source="tool_code"),
            'read_file("a")',
        ),
        (ToolResult(call_id="c", tool="read_file", ok=True, text="hello"), ""),
        (
            ToolResult(call_id="c", tool="read_file", ok=False, error_kind="denied", text="outside " + "x" * 300),
            f"read_file failed (denied): outside {'x' * 191}…",
        ),
        (Progress(stage="verification", value=0.5, message="round 2"), " 50% verification round 2"),
        (Progress(stage="metrics", value=1.0, detail="{}"), ""),
        (
            Verification(
                round=2, index=0, of=3, passed=False, verdict="fail", issues=(Issue("gap"),), solution_digest="d",
                count=0, required=3,
            ),
            "verification round 2, check 1 of 3: fail: 1 issue (0 of 3 in a row)",
        ),
        (
            Verification(round=3, index=0, of=1, passed=True, verdict="pass", solution_digest="d", count=2, required=3),
            "verification round 3, check 1 of 1: pass (2 of 3 in a row)",
        ),
        (FallbackUsed(origin="react", to="deterministic", reason="no_llm"), "fallback react → deterministic: no_llm"),
        (
            ConfigResolved(key="budget_tokens", asked=500, used=1024, why="at least 1024"),
            "budget_tokens: 1024 in place of 500 (at least 1024)",
        ),
        (ConfigResolved(key="budget_tokens", asked=2048, used=2048, why="as asked"), ""),
        (ConfigResolved(key="capability", asked="gpt-4.1", used="none", why="as the table has it"), ""),
        (Warned(code="budget_clamped", detail="1024"), "warning budget_clamped: 1024"),
        (FinalAnswer(text="7 °C"), ""),
    ],
)  # fmt: skip
def test_what_an_agent_does_is_told_in_a_line(data, note):
    """Each kind of event that says something to a person; the answer is not among them."""
    assert note == note_of(Event("t", 0, 0, data.type, data))


def test_the_answer_stands_on_a_line_of_its_own(project, harness):
    """What was streamed on the way and is not the answer does not run into it."""
    (project / "agents" / "bare").mkdir()
    (project / "agents" / "bare" / "agent.py").write_text(TALKING)
    with ScriptedServer() as server:
        session = server.open(parse_script("format: 1\nsteps:\n- reply: {text: Let me see.}\n"))
        told = ["--model", "m", "--base-url", session.openai_base_url]
        ended = harness("run", "--ask", QUESTION, "--agent", "bare", *told)

    assert ended.out == "Let me see.\n7 °C\n"
