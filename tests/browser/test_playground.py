"""The playground as a person uses it: ask and watch, stop, play a recording, sign in; by mouse and by keyboard."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from harness.testing.project import ScratchProject

from .accessibility import faults
from .hostile import EXPRESSIONS, LETTERS, LINKS, MARKUP
from .watching import Watch

QUESTION = "How warm is it in Berlin?"
ANSWER = "It is **7 °C** in Berlin."
TOKEN = "0123456789abcdef-token"
ASKED = [{"tool_calls": [{"name": "get_weather", "args": {"city": "Berlin"}}]}, {"text": ANSWER}]
STAGES = ["Understanding", "Planning", "Querying", "Synthesising"]


def script(*replies: dict[str, Any]) -> str:
    """What a model says, call by call; after a call of the tool it looks at what came of it."""
    steps, seen = [], {}
    for reply in replies:
        steps.append({**seen, "reply": reply})
        seen = {"expect": {"tool_result": {"name": "get_weather", "contains": "7"}}} if "tool_calls" in reply else {}
    apart = json.loads(json.dumps(steps))  # no reply twice: YAML would name it once, and scripts know no names
    return yaml.safe_dump({"format": 1, "steps": apart})  # which escapes what JSON leaves as it is


def put(page: Page, question: str) -> Any:
    """Ask a question; its turn on the page."""
    page.get_by_label("Question", exact=True).fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    return page.locator("article.turn").last


def turn_of(page: Page) -> Any:
    """The newest question on the page, with all that came of it."""
    return page.locator("article.turn").last


@pytest.fixture
def playground(page: Page, asked: Callable[..., Any]) -> Callable[..., Page]:
    """A function: what the model says → the playground of a server that asks it."""

    def start(*replies: dict[str, Any], **how: Any) -> Page:
        page.goto(asked(script(*replies), **how).url)
        expect(page.get_by_label("Design", exact=True)).to_have_value("example")
        return page

    return start


@pytest.fixture
def played(page: Page, serve: Callable[..., Any], project: ScratchProject) -> Page:
    """The playground of a server without a model, which plays recordings."""
    page.goto(serve(project.folder).url)
    expect(page.get_by_text("1 of 1 recordings")).to_be_visible()
    return page


def test_asking_and_watching(playground: Callable[..., Page]) -> None:
    """The answer comes about before one's eyes: stages, thought and action, observation, figures, and the answer as Markdown."""
    page = playground(*ASKED)
    turn = put(page, QUESTION)

    expect(turn.locator(".answer strong")).to_have_text("7 °C")
    expect(turn.locator(".stages li")).to_have_text(STAGES)
    expect(turn.locator(".stages li.reached")).to_have_count(4)
    expect(turn.locator(".step.action")).to_contain_text("get_weather")
    expect(turn.locator(".step.observation")).to_contain_text('"temperature_c"')
    expect(turn.locator(".figures div", has_text="Model calls").locator("dd")).to_have_text("2")
    expect(turn.locator(".figures div", has_text="Tool calls").locator("dd")).to_have_text("1")
    expect(page.get_by_role("status")).to_have_text("Answered")


def test_steps_are_there_before_the_answer(playground: Callable[..., Page]) -> None:
    """While the model is still at its second reply, the action and its observation stand there, and the stage is marked."""
    page = playground(ASKED[0], {"text": ANSWER, "delay_ms": 2_500})
    turn = put(page, QUESTION)
    expect(turn.locator(".step.observation")).to_be_visible()
    expect(turn.locator(".answer")).to_be_empty()
    expect(turn.locator(".stages [aria-current=step]")).to_have_count(1)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()

    expect(turn.locator(".answer strong")).to_have_text("7 °C")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()


@pytest.mark.parametrize("how", ["button", "Escape"])
def test_stopping(how: str, playground: Callable[..., Page]) -> None:
    """A question that takes too long is stopped, says so, and the next one is answered."""
    page = playground({"text": "At last.", "delay_ms": 60_000}, {"text": "Quick."})
    turn = put(page, QUESTION)
    expect(turn.locator(".step.model")).to_be_visible()
    if how == "button":
        page.get_by_role("button", name="Stop", exact=True).click()
    else:
        page.keyboard.press("Escape")
    expect(turn.locator(".outcome")).to_have_text("Stopped")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()

    expect(put(page, "And now?").locator(".answer")).to_have_text("Quick.")


def test_a_follow_up_and_a_reload(playground: Callable[..., Page]) -> None:
    """A conversation goes on, is there again when the page is loaded anew, and ends when a new one is begun."""
    page = playground({"text": "First."}, {"text": "Second."}, {"text": "Third."})
    expect(put(page, "One?").locator(".answer")).to_have_text("First.")
    expect(put(page, "Two?").locator(".answer")).to_have_text("Second.")
    page.reload()
    expect(page.locator("#turns")).to_contain_text("Second.")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("#turns")).to_be_empty()

    expect(put(page, "Three?").locator(".answer")).to_have_text("Third.")


def test_a_failure_is_told(playground: Callable[..., Page]) -> None:
    """A model that refuses ends the turn with what it said; the page goes on working."""
    refused = {"status": 401, "error": {"message": "no such key"}}
    page = playground(refused, refused, refused, {"text": "Fine."})
    turn = put(page, QUESTION)
    expect(turn.locator(".outcome")).not_to_be_empty()

    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()


def test_by_keyboard_alone(playground: Callable[..., Page]) -> None:
    """The skip link, the field, Ctrl+Enter: a question needs no mouse."""
    page = playground({"text": "Quick."})
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.get_by_label("Question", exact=True).focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Control+Enter")

    expect(turn_of(page).locator(".answer")).to_have_text("Quick.")


def test_a_recording_all_at_once(played: Page) -> None:
    """Without a model the page offers recordings; one is played at once, marked as scripted, and has a link of its own."""
    played.get_by_label("Speed").select_option("All at once")
    played.get_by_role("button", name="Play", exact=True).click()

    expect(turn_of(played).locator(".answer")).to_have_text("It is 7 °C in Berlin.")
    expect(turn_of(played).locator(".provenance")).to_have_text("scripted")
    assert "#recording=" in played.url
    played.reload()
    expect(played.get_by_label("Recording", exact=True)).not_to_have_value("")


def test_a_recording_as_recorded(played: Page) -> None:
    """Slowed down twenty times, the 50 ms of the one tool alone take a second: the action is there before its observation."""
    played.get_by_label("Speed").select_option("20 times as slow")
    begun = monotonic()
    played.get_by_role("button", name="Play", exact=True).click()
    turn = turn_of(played)
    expect(turn.locator(".step.action")).to_be_visible()
    expect(turn.locator(".step.observation")).to_have_count(0)
    expect(turn.locator(".answer")).to_have_text("It is 7 °C in Berlin.")

    assert monotonic() - begun > 1


def test_a_recording_step_by_step(played: Page) -> None:
    """Each press shows one event more; the rest comes at once where it is asked for."""
    played.get_by_label("Speed").select_option("Step by step")
    played.get_by_role("button", name="Play", exact=True).click()
    player = played.get_by_role("group", name="Player")
    steps = turn_of(played).locator(".steps > li")
    player.get_by_role("button", name="Step", exact=True).click()
    before = steps.count()
    for _ in range(3):
        player.get_by_role("button", name="Step", exact=True).click()
    assert before < steps.count()
    player.get_by_role("button", name="To the end").click()

    expect(turn_of(played).locator(".answer")).to_have_text("It is 7 °C in Berlin.")


def test_in_the_readers_language(played: Page) -> None:
    """The stages and everything else speak the language that is chosen, and stay with it."""
    played.get_by_label("Language").select_option("Deutsch")
    expect(played.locator("html")).to_have_attribute("lang", "de")
    played.get_by_role("button", name="Abspielen", exact=True).click()
    expect(turn_of(played).locator(".stages li").first).to_have_text("Verstehen")
    played.reload()

    expect(played.locator("html")).to_have_attribute("lang", "de")


def test_signing_in(page: Page, watch: Watch, serve: Callable[..., Any], project: ScratchProject) -> None:
    """A server with a token shows its door; the right token opens it by a cookie that no script reads, and no address has it."""
    url = serve(project.folder, rules={"token": TOKEN}).url
    page.goto(f"{url}/runs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    watch.problems.clear()  # the door itself may come with a 401, which a browser logs
    page.get_by_label("Token").fill("guessed")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("That is not the token of this server.")
    watch.expect("status of 401")
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    cookies = {cookie["name"]: cookie for cookie in watch.context.cookies()}

    assert [] == [
        cookie["name"] for cookie in cookies.values() if not cookie["httpOnly"] or cookie["sameSite"] != "Strict"
    ]
    assert TOKEN not in page.url + page.content() + json.dumps(cookies)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    watch.problems[:] = [problem for problem in watch.problems if "status of 401" not in problem]


@pytest.mark.parametrize(
    "texts", [MARKUP, LINKS, EXPRESSIONS, LETTERS], ids=["markup", "links", "expressions", "letters"]
)
def test_hostile_answers(texts: dict[str, str], playground: Callable[..., Page]) -> None:
    """What a model says and asks its tools for is shown, and none of it runs, loads or leads anywhere."""
    whole = "\n\n".join(texts.values()).replace("\x00", "")
    asks = {"tool_calls": [{"name": "get_weather", "args": {"city": whole}}]}
    page = playground(asks, {"text": whole})
    turn = put(page, whole[:5_000])
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    expect(turn.locator(".answer")).not_to_be_empty()
    expect(turn.locator(".answer p").first).to_be_attached()
    page.get_by_label("Every event").check()
    turn.locator("details.raw").evaluate_all("all => all.forEach(one => { one.open = true; })")
    page.wait_for_timeout(200)

    assert [] == page.evaluate(
        """() => [...document.querySelectorAll('#turns *')].filter(one => one.namespaceURI !== 'http://www.w3.org/1999/xhtml'
             || ['script', 'img', 'iframe', 'style', 'object', 'embed', 'form', 'link', 'meta', 'base'].includes(one.localName)
             || [...one.attributes].some(each => each.name.startsWith('on') || each.name === 'style'
                || each.name === 'href' && !/^(https?:|mailto:)/.test(each.value))).map(one => one.outerHTML.slice(0, 100))"""
    )
    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(scheme: str, playground: Callable[..., Page]) -> None:
    """No rule of axe-core objects: empty, with an answer, with every event, with a recording chosen."""
    page = playground(*ASKED)
    page.emulate_media(color_scheme=scheme)
    assert [] == faults(page)
    turn = put(page, QUESTION)
    expect(turn.locator(".answer strong")).to_be_visible()
    page.get_by_label("Every event").check()
    turn.locator("details.raw").first.evaluate("one => { one.open = true; }")
    assert [] == faults(page)
    page.get_by_label("Play a recording").check()

    assert [] == faults(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_door_is_accessible(
    scheme: str, page: Page, watch: Watch, serve: Callable[..., Any], project: ScratchProject
) -> None:
    """The page that asks for the token too, with its error."""
    page.emulate_media(color_scheme=scheme)
    page.goto(serve(project.folder, rules={"token": TOKEN}).url + "/sign-in")
    assert [] == faults(page)
    page.get_by_label("Token").fill("guessed")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    watch.expect("status of 401")

    assert [] == faults(page)


def test_a_narrow_window(page: Page, playground: Callable[..., Page]) -> None:
    """On a telephone nothing sticks out, with an answer that has a wide table and a long word."""
    page.set_viewport_size({"width": 390, "height": 800})
    wide = "|" + "column |" * 30 + "\n|" + "-|" * 30 + "\n|" + "1|" * 30 + "\n\n" + "x" * 500
    playground({"text": wide})
    turn = put(page, "y" * 300)
    expect(turn.locator(".answer table")).to_be_visible()

    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")


def test_the_news_desks_dialog(
    page: Page, serve: Callable[..., Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The desk's dialog answers from its stream, goes through the four stages, keeps its session in a cookie, and closes."""
    monkeypatch.delenv("ESTAGIARIO_REACT", raising=False)
    page.goto(serve(root, world="newsroom").url + "/estagiario")
    page.get_by_role("button", name="Ask the desk").click()
    dialog = page.get_by_role("dialog", name="Estagiário")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_label("Question")).to_be_focused()
    dialog.get_by_label("Question").fill("Quantas notícias irrelevantes temos hoje?")
    page.keyboard.press("Control+Enter")
    expect(dialog.locator(".answer")).to_have_text(re.compile("8"))
    expect(dialog.locator(".stages li.reached")).to_have_count(4)

    assert [] == faults(page)
    assert "session" not in page.url
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
