"""Which step serves which call, and what is held against a run."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ExitCode
from harness.models.scripted.script import (
    Expect,
    For,
    Reply,
    ScriptedCall,
    ScriptedThinking,
    Step,
    ToolResultExpected,
    parse_script,
    script_of,
)
from harness.models.scripted.session import ScriptError, ScriptSession

USER = {"role": "user", "content": "hi"}


def open_session(*steps, embedder=None):
    return ScriptSession(script_of(steps, path="s.yaml"), origin="http://x", on_close=lambda: None, embedder=embedder)


def says(text, **target):
    return Step(target=For(**target), reply=Reply(text=text))


def chat(session, *messages, headers=None, **params):
    body = {"model": "gpt-4.1-mini", "messages": list(messages) or [USER], **params}
    answer = session.answer("/v1/chat/completions", headers or {}, json.dumps(body).encode())
    content = json.loads(answer.pieces[0])
    return answer.status, content["choices"][0]["message"]["content"] if answer.status == 200 else content["error"]


def message(session, *messages, headers=None, **params):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 4000, "messages": list(messages) or [USER], **params}
    headers = {"anthropic-version": "2023-06-01", **(headers or {})}
    answer = session.answer("/v1/messages", headers, json.dumps(body).encode())
    return answer.status, json.loads(answer.pieces[0])


def from_call(purpose, slot="", call=1):
    return {"x-harness-purpose": purpose, "x-harness-slot": slot, "x-harness-call": str(call)}


def failure(session):
    with pytest.raises(ScriptError) as caught:
        session.close()
    return caught.value


def test_steps_serve_in_order():
    """A client that says nothing of its calls gets the steps as they stand, whatever they are for."""
    session = open_session(says("one", purpose="plan"), says("two", purpose="agent"))

    assert [(200, "one"), (200, "two")] == [chat(session), chat(session)]
    session.close()


def test_steps_are_chosen_by_purpose_slot_and_call():
    """Parallel calls find their own steps, in whatever order they come."""
    session = open_session(
        says("v2", purpose="verify", slot="verify/1/2"),
        says("v1", purpose="verify", slot="verify/1/1"),
        says("third", call=3),
        says("any"),
    )
    answers = [
        chat(session, headers=from_call("verify", "verify/1/1", 1)),
        chat(session, headers=from_call("answer", "", 3)),
        chat(session, headers=from_call("verify", "verify/1/2", 2)),
        chat(session, headers=from_call("verify", "verify/1/2", 4)),
    ]

    assert ["v1", "third", "v2", "any"] == [text for _, text in answers]
    session.close()


def test_an_unmet_expectation_fails_the_run():
    """The call is refused in the provider's shape, and closing names the step, its line and every complaint."""
    script = parse_script(
        "format: 1\nsteps:\n- expect: {contains: Berlin, last_role: tool}\n  reply: {text: hi}\n", path="s.yaml"
    )
    session = ScriptSession(script, origin="http://x", on_close=lambda: None)
    status, error = chat(session)
    caught = failure(session)

    assert (400, "invalid_request_error") == (status, error["type"])
    assert (
        "error[script-unmet]: s.yaml:3: step 1: expected the last message from `tool`, got one from `user`; expected "
        "'Berlin' in a message; the last one is 'hi'\n\n"
        "hint: if the agent is right, change `expect` in the script; else mend the agent; then record again"
    ) == str(caught)
    assert ExitCode.USAGE == caught.exit_code


def test_an_extra_call_fails_the_run():
    """A call that no step is left for is refused and told with what it said."""
    session = open_session(says("one"))
    chat(session)
    status, _ = chat(session, {"role": "user", "content": "once more"}, headers=from_call("answer", "a/1", 2))

    assert 400 == status
    assert (
        "error[script-extra-call]: s.yaml: call 2 is a chat call (purpose `answer`, slot `a/1`, call `2`) that no step is "
        "left for; its last message is 'once more'\n\n"
        "hint: if the agent is right, add a step to the script; else mend the agent; then record again"
    ) == str(failure(session))


def test_a_client_that_names_only_a_slot_is_served_by_slot():
    """One header is enough to choose by."""
    session = open_session(says("one", slot="a"), says("two", slot="b"))

    assert (200, "two") == chat(session, headers={"x-harness-slot": "b"})


def test_a_call_of_another_purpose_is_extra():
    """A step is not given to a call that it is not for."""
    session = open_session(says("one", purpose="plan"))
    chat(session, headers=from_call("agent"))

    assert ["script-extra-call", "script-unused"] == [problem.code for problem in failure(session).problems]


def test_an_unused_step_fails_the_run():
    """Every step must be called for; all problems are told at once."""
    session = open_session(says("one"), says("two"), says("three"))
    chat(session)

    assert (
        "error[script-unused]: s.yaml: step 2: no call came for it\n"
        "s.yaml: step 3: no call came for it\n\n"
        "hint: if the agent is right, take the step out of the script; else mend the agent; then record again"
    ) == str(failure(session))


def test_a_broken_rule_fails_the_run_and_uses_no_step():
    """The provider's own refusal comes back, and closing tells the rule."""
    session = open_session(says("one"))
    status, answer = message(session, thinking={"type": "enabled", "budget_tokens": 4000})
    message(session)
    caught = failure(session)

    assert (400, "invalid_request_error") == (status, answer["error"]["type"])
    assert "`max_tokens` must be greater than `thinking.budget_tokens`. (4000 and 4000)" == answer["error"]["message"]
    assert (
        "error[script-rule-broken]: s.yaml: call 1 breaks a rule of the provider: `max_tokens` must be greater than "
        "`thinking.budget_tokens`. (4000 and 4000)\n\n"
        "hint: a real provider refuses this request with a 400: mend the agent, then record again"
    ) == str(caught)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_request_is_refused(body):
    """Nonsense is a 400 and a problem of the run, never a crash."""
    session = open_session(says("one"))
    answer = session.answer("/v1/chat/completions", {}, body)

    assert 400 == answer.status
    assert "script-rule-broken" == failure(session).code


def test_an_anthropic_call_needs_its_version():
    """The header is part of the API."""
    session = open_session(says("one"))
    answer = session.answer(
        "/v1/messages", {}, json.dumps({"model": "m", "max_tokens": 1, "messages": [USER]}).encode()
    )

    assert "anthropic-version: header is required" == json.loads(answer.pieces[0])["error"]["message"]


def test_thinking_is_remembered_from_step_to_step():
    """What a step gave out must come back: the rules and the script share one memory."""
    thinking = (ScriptedThinking(text="hm", signature="c2ln"),)
    session = open_session(
        Step(reply=Reply(thinking=thinking, tool_calls=(ScriptedCall(name="get_weather", args={}),))),
        Step(expect=Expect(tool_result=ToolResultExpected(nth=1, contains="7")), reply=Reply(text="7 °C")),
    )
    params = {
        "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    }
    _, first = message(session, **params)
    said = {"role": "assistant", "content": first["content"]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1_1", "content": "7"}]}
    without = {"role": "assistant", "content": first["content"][1:]}

    assert 400 == message(session, USER, without, result, **params)[0]
    assert 200 == message(session, USER, said, result, **params)[0]
    assert ["script-rule-broken"] == [problem.code for problem in session.problems]


def test_thinking_cannot_go_over_openais_api():
    """A script with thinking blocks proves nothing when the format has no place for them."""
    session = open_session(Step(reply=Reply(text="a", thinking=(ScriptedThinking(text="hm", signature="s"),))))
    chat(session)

    assert "step 1: expected a call of Anthropic's API, which alone carries thinking blocks" == failure(session).message


def embed(session, *texts):
    body = json.dumps({"model": "e", "input": list(texts)}).encode()
    answer = session.answer("/v1/embeddings", {}, body)
    content = json.loads(answer.pieces[0])
    return [item["embedding"] for item in content["data"]] if answer.status == 200 else content["error"]["message"]


def test_embedding_calls_have_steps_of_their_own():
    """Steps with vectors answer embedding calls, the others chat calls, each in order."""
    session = open_session(says("one"), Step(reply=Reply(vectors=((1.0,), (2.0,)))), says("two"))

    assert [[1.0], [2.0]] == embed(session, "a", "b")
    assert ["one", "two"] == [chat(session)[1], chat(session)[1]]
    session.close()


def test_vectors_must_be_as_many_as_texts():
    """A step with too few vectors is unmet."""
    session = open_session(Step(reply=Reply(vectors=((1.0,),))))

    assert "refused by the script (s.yaml): step 1: it has 1 vectors, the call 2 texts" == embed(session, "a", "b")
    assert "script-unmet" == failure(session).code


def test_an_embedder_answers_what_no_step_answers():
    """With an embedder, embedding calls need no steps; without, they are extra."""
    session = open_session(says("one"), embedder=lambda text: [float(len(text))])

    assert [[3.0]] == embed(session, "abc")
    assert "an embedding call (no purpose given) that no step is left for" in embed(open_session(says("one")), "abc")


def test_another_address_is_none_of_ours():
    """Only the three interfaces are served."""
    assert open_session(says("one")).answer("/v1/responses", {}, b"{}") is None


def test_a_problem_is_a_record():
    """Problems can be written down as they are."""
    session = open_session(says("one"))

    assert {"code": "script-unused", "message": "step 1: no call came for it", "at": "s.yaml"} == msgspec.to_builtins(
        session.problems[0]
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "auto", "tool", "user", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "id", "name", "function", "tool_calls", "tool_use_id", "text"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
requests = st.fixed_dictionaries(
    {"model": st.sampled_from(["claude-opus-5-5", "gpt-4.1-mini", ""]) | json_values, "messages": json_values},
    optional=dict.fromkeys(
        ["tools", "tool_choice", "system", "thinking", "output_config", "stream", "max_tokens", "input", "stop"],
        json_values,
    ),
)


@given(requests, st.sampled_from(["/v1/chat/completions", "/v1/messages", "/v1/embeddings"]))
def test_no_request_makes_it_crash(request_, path):
    """Whatever JSON comes, the answer is a reply or a refusal in the provider's shape."""
    session = open_session(says("one"), Step(reply=Reply(vectors=((1.0,),))))
    answer = session.answer(path, {"anthropic-version": "x"}, json.dumps(request_).encode())

    assert answer.status in (200, 400)
    assert answer.streamed or json.loads(answer.pieces[0])
