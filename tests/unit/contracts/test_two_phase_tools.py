"""CG2–CG4, CG8, CG9 and CG11: tools in tool_code blocks."""

from __future__ import annotations

import pytest

from harness.contracts.two_phase_tools import (
    blocks_are_data,
    every_block_run,
    feelings_are_noted,
    inside_the_sandbox,
    is_inside,
    own_user_only,
    results_tell_the_truth,
)
from harness.records.case import ToolRule, ToolRules
from harness.records.trace import Effect, ErrorRaised, OfferedTool
from harness.testing.builders import check, make_case, make_trace, model_turn, reasons, tool_use

FEELING = OfferedTool(
    "update_current_feeling", "d", True, {"username": "string", "feeling": "string", "context": "string"},
    ("username", "feeling"),
)  # fmt: skip
READ = OfferedTool("read_user_profile", "d", False, {"username": "string"}, ("username",))
STARTED = {"tools": (FEELING, READ), "user": "vera"}
CALL = 'update_current_feeling("vera", "It\'s fine")'
CHANGED = (Effect("feelings", "vera", "Neutral", "Happy"),)


def fenced(*code):
    """Blocks of *code*."""
    return "\n".join(f"```tool_code\n{one}\n```" for one in code)


def use(tool="update_current_feeling", error=None, **args):
    """A call of a tool as the agent ran it."""
    effect = "write" if tool == "update_current_feeling" else "read"
    return tool_use(tool, args, error=error, effect=effect, source="tool_code")


def think(text, *uses, finished=None):
    """A thought and what came of it."""
    return make_trace(model_turn(text, purpose="think"), *uses, started=STARTED, finished=finished)


FINE = use(username="vera", feeling="It's fine")
PROFILE = use("read_user_profile", username="vera")
REFUSED = use("tool_code", error="invalid_args")


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        (fenced(CALL), [FINE]),
        (fenced(CALL, "read_user_profile('vera')"), [FINE, PROFILE]),
        (fenced(f"{CALL}\nprint(read_user_profile(username='vera'))"), [FINE, PROFILE]),
        (fenced("os.remove('x')"), [REFUSED]),
        (fenced(f"{CALL}\nos.remove('x')"), [FINE, REFUSED]),
        (fenced(f"{CALL}\nos.remove('x')"), [REFUSED]),
        (fenced("no python at all", CALL), [REFUSED, FINE]),
        (fenced("delete_everything()"), [use("delete_everything", error="unknown_tool")]),
        (fenced("read_user_profile()"), [use("read_user_profile", error="invalid_args")]),
        (fenced("# nothing"), []),
        ("```tool_code\nread_user_profile('vera", []),
        ("```tool_code\nread_user_profile('vera", [REFUSED]),
        ("```tool_code\nread_user_profile('vera')", [PROFILE]),
    ],
)
def test_cg2_as_they_stand_there(text, uses):
    """Every call in order; what is no call, or fits no tool, is answered with a failure, alone or with its block."""
    assert ["kept"] == reasons(check(every_block_run, think(text, *uses)))


@pytest.mark.parametrize(
    ("text", "uses", "because"),
    [
        (fenced(f"{CALL}\nread_user_profile('vera')"), [FINE],
         "block 1 asks for update_current_feeling, read_user_profile, run are update_current_feeling"),
        (fenced(CALL, CALL), [FINE], "block 2 asks for update_current_feeling, run are none"),
        (fenced(CALL), [use(username="vera", feeling="It")], "block 1 gives update_current_feeling other arguments than it ran with"),
        (fenced(CALL), [REFUSED], "block 1 asks for update_current_feeling, run are tool_code"),
        (fenced("read_user_profile()"), [PROFILE], "block 1 gives read_user_profile other arguments than it ran with"),
        (fenced(CALL), [FINE, FINE], "update_current_feeling is run, which no block asks for"),
        ("No block.", [PROFILE], "read_user_profile is run, which no block asks for"),
        (fenced("no python at all"), [], "block 1 asks for nothing that may be run, run are none"),
        (fenced("os.remove('x')"), [PROFILE], "block 1 asks for nothing that may be run, run are read_user_profile"),
        (fenced("read_user_profile('vera')", CALL), [FINE, PROFILE],
         "block 1 asks for read_user_profile, run are update_current_feeling"),
    ],
)  # fmt: skip
def test_cg2_lost_and_made_up(text, uses, because):
    """Lost, cut, doubled, swapped and made-up calls break CG2; so does a call that could be read and is refused."""
    assert [because] == reasons(check(every_block_run, think(text, *uses)))


def test_cg2_cut_off():
    """A run that ends at a limit may leave calls unrun."""
    ended = {"status": "failed", "reason": "tool_calls"}

    limit = ErrorRaised(kind="tool_calls", message="no more", where="harness")
    excuse = ErrorRaised(kind="tool_calls", message="no more", where="model")

    assert ["kept"] == reasons(check(every_block_run, think(fenced(CALL, CALL), FINE, limit, finished=ended)))
    assert "block 2 asks for update_current_feeling, run are none" in reasons(
        check(every_block_run, think(fenced(CALL, CALL), FINE, excuse, finished=ended))
    )
    assert ["vacuous"] == reasons(check(every_block_run, think("No block.")))
    assert ["vacuous"] == reasons(check(every_block_run, make_trace(model_turn(purpose="think", error="timeout"))))


def test_cg3_data_only():
    """A call with literals keeps CG3, a refused one too; a block that was evaluated, or a foreign tool, breaks it."""
    evaluated = think(fenced("read_user_profile('ve' + 'ra')"), PROFILE)
    foreign = think(fenced("system('ls')"), use("system"))

    look = tool_use("read_user_profile", {"username": "vera"}, source="internal")
    nobody = make_trace(PROFILE, started=STARTED)

    assert ["kept"] == reasons(check(blocks_are_data, think(fenced(CALL, "os.remove('x')"), FINE, REFUSED, look)))
    assert ["read_user_profile is run, and no block calls it plainly with literals"] == reasons(
        check(blocks_are_data, nobody)
    )
    assert ["read_user_profile is run, and no block calls it plainly with literals"] == reasons(
        check(blocks_are_data, evaluated)
    )
    assert (
        ["system is run, which is no tool of this trial"]
        == reasons(
            check(blocks_are_data, make_trace(model_turn(fenced("system('ls')")), use("system"), started=STARTED))
        )
        == reasons(check(blocks_are_data, foreign))
    )


def changes(kind, key, **args):
    """A tool that changed the row *key*."""
    return tool_use("write_file", args, effect="write", effects=(Effect(kind, key, None, "x"),))


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (use(username="vera", feeling="Happy"), "kept"),
        (use(username="boris", feeling="Happy", error="denied"), "kept"),
        (use(username="boris", feeling="Happy"), "update_current_feeling worked for boris, the user is vera"),
        (use(username=["vera"], feeling="Happy"), "update_current_feeling worked for ['vera'], the user is vera"),
        (changes("files", "vera/a.txt", path="a.txt"), "kept"),
        (changes("clusters", "120"), "kept"),
        (changes("feelings", "4", username="vera"), "kept"),
        (changes("files", "boris/a.txt", path="../../boris/a.txt"), "write_file changed a row of boris, the user is vera"),
        (changes("profile", "boris/city", username="vera"), "write_file changed a row of boris, the user is vera"),
        (changes("profile", "boris/city", username="boris"), "write_file worked for boris, the user is vera"),
        (tool_use("read_file", {"path": "a"}), "vacuous"),
    ],
)  # fmt: skip
def test_cg4_own_user(steps, found):
    """Tools work for the session's user; another name is refused, and nobody else's rows are changed."""
    assert [found] == reasons(check(own_user_only, make_trace(steps, started={"user": "vera"})))


def writes(text, *effects, **fields):
    """A writing tool that answers *text*."""
    return make_trace(tool_use("update_current_feeling", {}, text=text, effect="write", effects=effects, **fields))


@pytest.mark.parametrize(
    "trace",
    [
        writes("Updated feeling to 'Happy' for vera", *CHANGED),
        writes("Чувство обновлено: Happy", *CHANGED),
        writes("Nothing changed: the feeling is already 'Happy'"),
        writes("Feeling not updated: the store refused"),
        writes('{"error":"crash","message":"not saved"}', ok=False),
        writes('{"username":"vera","feeling":"Happy"}', *CHANGED),
        writes('{"username":"vera","feeling":"Happy"}'),
        writes('"Added an entry: “I have not slept”"', *CHANGED),
    ],
)
def test_cg8_true_results(trace):
    """A result that says what happened keeps CG8; an object shows a state and claims nothing."""
    assert ["kept"] == reasons(check(results_tell_the_truth, trace))


@pytest.mark.parametrize(
    ("trace", "because"),
    [
        (writes("Updated feeling to 'Happy' for vera"),
         "update_current_feeling says “Updated feeling to 'Happy' for vera”, and nothing was changed"),
        (writes("Saved", ok=False), "update_current_feeling says “Saved”, and nothing was changed"),
        (writes("Feeling not updated", *CHANGED), "update_current_feeling changed the store, and says “Feeling not updated”"),
        (writes("Ok.", *CHANGED), "update_current_feeling changed the store, and says “Ok.”"),
    ],
)  # fmt: skip
def test_cg8_untrue_results(trace, because):
    """Success that was not, and a change that is not told, break CG8."""
    assert [because] == reasons(check(results_tell_the_truth, trace))


def test_cg8_cached():
    """A result that is told again needs no change of its own."""
    assert ["vacuous"] == reasons(check(results_tell_the_truth, writes("Updated.", cached=True)))


@pytest.mark.parametrize("path", ["notes.txt", "a/b/../c", "./a", "", ".", "a/./b", "..a", "a.."])
def test_paths_inside(path):
    """Names, subfolders and steps back that stay below the folder."""
    assert is_inside(path)


@pytest.mark.parametrize(
    "path", ["../secret", "a/../../b", "..", "/etc/passwd", "~/x", "C:\\x", "..\\x", "\\x", "a\\..\\..\\x", "a\0"]
)
def test_paths_outside(path):
    """Steps above the folder at any point, roots, homes, drives, and no path at all."""
    assert not is_inside(path)


def file_use(tool, error=None, effects=(), **args):
    """A file tool."""
    return tool_use(tool, args, error=error, effects=effects)


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (file_use("read_file", path="notes.txt"), "kept"),
        (file_use("read_file", path="../../secret.txt", error="denied"), "kept"),
        (file_use("list_files"), "kept"),
        (file_use("search_files", query="../x"), "vacuous"),
        (file_use("read_file", path="../../secret.txt"),
         "read_file worked on ../../secret.txt, which is outside of its folder"),
        (file_use("list_files", directory="/etc"), "list_files worked on /etc, which is outside of its folder"),
        (file_use("write_file", path="a", effects=(Effect("files", "../a", None, "x"),)),
         "write_file changed ../a, which is outside of its folder"),
        (file_use("delete_file", path="a"), "delete_file worked, and deleting is not allowed"),
    ],
)  # fmt: skip
def test_cg9_sandbox(steps, found):
    """File tools stay inside, and delete nothing where that is not allowed."""
    assert [found] == reasons(check(inside_the_sandbox, make_trace(steps)))


def test_cg9_delete_allowed():
    """With the option a file may be deleted."""
    trace = make_trace(file_use("delete_file", path="a"), started={"config": {"allow_delete": True}})

    assert ["kept"] == reasons(check(inside_the_sandbox, trace))


MOVED = make_case(tools=ToolRules(required=(ToolRule(tool="update_current_feeling"),)))
CALM = make_case(writes=0)
ANSWER = model_turn("So good!", purpose="respond")


def test_cg11_feelings():
    """A feeling that is told is noted before the answer, for the right user; a question that needs none writes none."""
    noted = make_trace(model_turn(fenced(CALL), purpose="think"), FINE, ANSWER, started=STARTED)
    late = make_trace(model_turn("", purpose="think"), ANSWER, FINE, started=STARTED)
    other = make_trace(model_turn("", purpose="think"), use(username="boris", feeling="x"), ANSWER, started=STARTED)
    quiet = make_trace(model_turn("", purpose="think"), ANSWER, started=STARTED)

    assert ["kept"] == reasons(check(feelings_are_noted, noted, MOVED))
    assert ["the feeling is noted after the answer began"] == reasons(check(feelings_are_noted, late, MOVED))
    missed = ["the user tells of a feeling, and it is not noted for vera"]
    assert (
        missed == reasons(check(feelings_are_noted, other, MOVED)) == reasons(check(feelings_are_noted, quiet, MOVED))
    )
    assert ["kept"] == reasons(check(feelings_are_noted, quiet, CALM))
    assert ["update_current_feeling writes, and the message gives no reason to"] == reasons(
        check(feelings_are_noted, noted, CALM)
    )
    assert ["vacuous"] == reasons(check(feelings_are_noted, noted))
    assert ["vacuous"] == reasons(check(feelings_are_noted, make_trace(ANSWER, started={"tools": (READ,)}), MOVED))
