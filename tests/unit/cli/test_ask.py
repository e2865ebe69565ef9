"""`harness run --ask`: one live question, against a scripted model behind real HTTP."""

from __future__ import annotations

import jsonschema
import pytest

from harness.errors import ExitCode
from harness.models.scripted.script import load_script
from harness.models.scripted.server import ScriptedServer
from harness.reports.documents import schema_of

pytestmark = pytest.mark.filterwarnings("ignore")  # litellm warns about itself
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
