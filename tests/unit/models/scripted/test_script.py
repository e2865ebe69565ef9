"""The script format: its example, its refusals, its schema."""

import json
import textwrap
from pathlib import Path

import jsonschema
import msgspec
import pytest

from harness.errors import BadFileError
from harness.goldensets.yaml_tree import read_yaml
from harness.models.scripted import script as script_module
from harness.models.scripted.script import (
    Expect,
    For,
    Reply,
    ScriptedCall,
    Step,
    ToolResultExpected,
    load_script,
    parse_script,
    script_of,
    script_schema,
)

SCHEMA_FILE = Path(script_module.__file__).parents[3] / "goldensets" / "scripts" / "schema.json"


def example():
    doc = script_module.__doc__
    return textwrap.dedent(doc[doc.index("    # yaml-language") : doc.index("More forms")])


def refusal(text):
    with pytest.raises(BadFileError) as caught:
        parse_script(text, path="s.yaml")
    return str(caught.value)


def steps(*lines):
    return "format: 1\nsteps:\n" + "\n".join(lines) + "\n"


def test_the_documented_example_loads():
    """The example at the head of the module is a script; each step knows its line."""
    script = parse_script(example(), path="s.yaml")

    assert ("s.yaml:5", "s.yaml:23", "s.yaml:25") == script.places
    assert For(purpose="agent", slot="", call=1) == script.steps[0].target
    assert '{"city": "Lisb' == script.steps[0].reply.tool_calls[1].raw
    assert "Slow down" == script.steps[1].reply.error.message
    assert ("Berlin: ", "7 °C ", "and rain.") == script.steps[2].reply.chunks


def test_a_script_is_loaded_from_its_file(tmp_path):
    """`load_script` reads a path and names it in errors."""
    path = tmp_path / "a.yaml"
    path.write_text(steps("- reply: {text: hi}"))

    assert (f"{path}:3",) == load_script(path).places


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            steps("- reply: {txt: hi}"),
            (
                "error[bad-script]: s.yaml:3: no key `txt` is known here (in `steps[0].reply.txt`)\n\n"
                "hint: did you mean `text`?"
            ),
        ),
        (
            steps("- reply:", "    text: 3"),
            (
                "error[bad-script]: s.yaml:4: Expected `str`, got `int` (in `steps[0].reply.text`)\n\n"
                "hint: `harness explain schema:script` prints the format"
            ),
        ),
        (
            "format: 2\nsteps: []",
            (
                "error[bad-script]: s.yaml:1: script format 2 is not known to this version (it reads 1)\n\n"
                "hint: update tapegate, or write the script in format 1"
            ),
        ),
        ("format: 1\n", "error[bad-script]: s.yaml:1: Object missing required field `steps`"),
        ("", "error[bad-script]: s.yaml: Expected `object`, got `null`"),
        (steps("- reply: {}"), "error[bad-script]: s.yaml:3: the reply is empty: give `text`, `tool_calls`"),
        (steps("- reply: {status: 429}"), "error[bad-script]: s.yaml:3: status 429 needs an `error` with a `message`"),
        (steps("- reply: {text: ab, chunks: [a]}"), "error[bad-script]: s.yaml:3: `chunks` joined are not the `text`"),
        (
            steps("- reply: {tool_calls: [{name: t, args: {}, args_raw: '{}'}]}"),
            "error[bad-script]: s.yaml:3: tool call `t` has both `args` and `args_raw`",
        ),
        (
            steps("- reply: {text: a, thinking: [{text: hm}]}"),
            "error[bad-script]: s.yaml:3: a thinking block needs a `signature`, or is `redacted`",
        ),
        (
            steps("- reply: {text: a, thinking: [{text: hm, redacted: x}]}"),
            "error[bad-script]: s.yaml:3: a redacted thinking block has neither `text` nor `signature`",
        ),
        (
            steps("- expect: {tool_result: {contains: a}}", "  reply: {text: b}"),
            "error[bad-script]: s.yaml:3: `tool_result` takes either `name` or `nth`",
        ),
        (
            steps("- expect: {contains: ''}", "  reply: {text: b}"),
            "error[bad-script]: s.yaml:3: an expected text is empty",
        ),
    ],
)
def test_a_bad_script_says_where_and_why(text, message):
    """Each mistake is told with file, line and, where there is one, the way out."""
    assert refusal(text).startswith(message)


def test_a_file_that_is_not_there_says_so(tmp_path):
    """A missing script is the reader's to mend."""
    with pytest.raises(BadFileError) as caught:
        load_script(tmp_path / "none.yaml")

    assert f"error[bad-script]: {tmp_path}/none.yaml: cannot read the file: No such file or directory" == str(
        caught.value
    )


def test_a_step_blind_for_a_result_is_refused():
    """After a tool call the next step must expect something in the result; the message says what to write."""
    text = steps("- reply: {tool_calls: [{name: get_weather}]}", "- reply: {text: It is fine}")

    assert (
        "error[blind-script]: s.yaml:4: the model called `get_weather` before this step, which expects nothing in the "
        "result\n\n"
        "hint: add `expect: {tool_result: {name: get_weather, contains: …}}` with a text from the result"
    ) == refusal(text)


@pytest.mark.parametrize(
    "expect",
    [
        Expect(tool_result=ToolResultExpected(name="a", contains="x")),
        Expect(tool_result=(ToolResultExpected(name="a"), ToolResultExpected(name="b"))),
        Expect(tool_result=(ToolResultExpected(nth=1, contains="x"), ToolResultExpected(nth=3, contains="x"))),
        Expect(last_role="tool"),
    ],
)
def test_each_of_two_results_must_be_seen(expect):
    """One result out of two, or results without any text, still leave a script blind."""
    called = Step(reply=Reply(tool_calls=(ScriptedCall(name="a"), ScriptedCall(name="b"))))
    with pytest.raises(BadFileError) as caught:
        script_of([called, Step(expect=expect, reply=Reply(text="done"))])

    assert "blind-script" == caught.value.code


@pytest.mark.parametrize(
    "expect",
    [
        Expect(tool_result=(ToolResultExpected(name="a", contains="x"), ToolResultExpected(name="a", contains="y"))),
        Expect(tool_result=(ToolResultExpected(nth=2, contains="x"), ToolResultExpected(name="a", contains="y"))),
        Expect(contains="x"),
    ],
)
def test_ways_to_see_two_results(expect):
    """By name, by position, or by a text anywhere in what the agent sent."""
    called = Step(reply=Reply(tool_calls=(ScriptedCall(name="a"), ScriptedCall(name="a"))))

    assert 2 == len(script_of([called, Step(expect=expect, reply=Reply(text="done"))]).steps)


def test_a_parallel_step_of_another_slot_does_not_see_a_result():
    """The step that must see a result is the next one of the same purpose and slot, errors skipped."""
    seen = Expect(tool_result=ToolResultExpected(name="a", contains="x"))
    one, two = For(purpose="agent", slot="1"), For(purpose="agent", slot="2")
    called = Step(target=one, reply=Reply(tool_calls=(ScriptedCall(name="a"),)))
    failed = Step(target=one, reply=Reply(status=500, error=script_module.ScriptedError(message="x")))
    other = Step(target=two, reply=Reply(text="y"))
    answered = Step(target=one, expect=seen, reply=Reply(text="z"))

    assert 4 == len(script_of([called, other, failed, answered]).steps)
    with pytest.raises(BadFileError):
        script_of([called, other, failed, msgspec.structs.replace(answered, expect=Expect())])


def test_the_schema_accepts_the_example_and_refuses_a_typo():
    """Editors see the same format as the loader."""
    value = read_yaml(example().encode(), shown="s.yaml").value
    validator = jsonschema.Draft202012Validator(script_schema())
    validator.validate(value)
    value["steps"][0]["repply"] = {}

    assert not validator.is_valid(value)


def test_a_script_may_have_no_steps() -> None:
    """An agent that asks no model is held to that: any call is one too many."""
    assert () == parse_script("format: 1\nsteps: []\n").steps


def test_the_committed_schema_is_current():
    """`goldensets/scripts/schema.json` is what `script_schema` gives."""
    assert script_schema() == json.loads(SCHEMA_FILE.read_text())


def test_for_fits_what_it_leaves_out():
    """A step without a purpose serves any; one with a call number serves that call only."""
    assert For().fits(purpose="plan", slot="", call=None)
    assert For(purpose="plan", call=2).fits(purpose="plan", slot="x", call=2)
    assert not For(purpose="plan", call=2).fits(purpose="plan", slot="x", call=3)
    assert not For(slot="verify/1").fits(purpose="plan", slot="", call=1)
