"""The pages of `harness serve`, as a browser gets them: their policy, their words, and the door before them."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harness.models.scripted.script import parse_script
from harness.models.scripted.server import ScriptedServer

TOKEN = "0123456789abcdef-token"
HTML = {"accept": "text/html,*/*"}
PAGES = ["/", "/runs"]
LOADED = {"script", "style", "link"}
ONE_WORD = {
    "en": "Understanding", "de": "Verstehen", "pt": "Entendendo", "ru": "Понимание", "zh": "理解",
}  # fmt: skip
CUT_OFF = """
format: 1
steps:
- reply: {text: "<img src=x onerror=pwned()> **7 °C**"}
"""


class Tags(HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def guarded(serve, project) -> Any:
    """A server that demands a token, and a client that follows nowhere by itself."""
    return serve(project.folder, rules={"token": TOKEN})


def signed_in(served: Any, **headers: str) -> Any:
    """The answer to the right token."""
    return served.client.post(
        "/sign-in", data={"token": TOKEN, "next": "/runs"}, headers={"origin": served.url, **headers}
    )


def settings_of(page: str) -> dict[str, Any]:
    """What a page tells its scripts."""
    return json.loads(re.search(r'<script id="settings"[^>]*>(.*?)</script>', page).group(1))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_runs_its_own_scripts_only(serve, project, path):
    """Each answer has a nonce of its own, which all that it loads carries, and nothing else is let run."""
    served = serve(project.folder)
    first, second = (served.client.get(path) for _ in range(2))
    policies = [page.headers["content-security-policy"] for page in (first, second)]
    nonce = re.search(r"'nonce-([\w-]+)'", policies[0]).group(1)

    assert [
        "default-src 'none'", f"script-src 'nonce-{nonce}'", f"style-src 'nonce-{nonce}'", "img-src 'self'",
        "connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
        "require-trusted-types-for 'script'", "trusted-types rendered-answers",
    ] == policies[0].split("; ")  # fmt: skip
    assert policies[0] != policies[1]
    loaded = [
        attributes for tag, attributes in Tags(first.text).found if tag in LOADED and attributes.get("rel") != "icon"
    ]
    assert {nonce} == {attributes.get("nonce") for attributes in loaded}
    assert 5 <= len(loaded)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_handler_no_style_and_no_address_elsewhere(serve, project, path):
    """What the policy would refuse is not even there."""
    tags = Tags(serve(project.folder).client.get(path).text).found
    addresses = [each.get("href") or each.get("src") or each.get("action") or "/" for _, each in tags]

    assert [] == [name for _, each in tags for name in each if name.startswith("on") or name == "style"]
    assert [] == [address for address in addresses if not re.match(r"/(?!/)|#", address)]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 200), ("GET", "/api/agents", 200), ("GET", "/nothing", 404), ("POST", "/api/sessions", 201), ("GET", "/favicon.ico", 200)],
)  # fmt: skip
def test_every_answer_is_kept_to_itself(serve, project, method, path, status):
    """No guessing of types, no address for other servers, no window and no page of another origin that looks in."""
    answer = serve(project.folder).client.request(method, path)

    assert status == answer.status_code
    assert {
        "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
    }.items() <= dict(answer.headers).items()  # fmt: skip
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_stream_is_kept_to_itself(serve, project):
    """What is read while it comes has the same headers."""
    served = serve(project.folder)
    url = served.client.get("/api/recordings").json()["recordings"][0]["url"]

    assert "default-src 'none'" in served.client.post(url).headers["content-security-policy"]


def test_a_page_speaks_the_reader_s_language(serve, project):
    """By what the browser says that its reader reads; English where it says nothing that is known."""
    served = serve(project.folder)
    for accepted, language in {"fr": "en", "de-AT,de;q=0.9": "de", "pt-BR": "pt", "ru": "ru", "zh-Hans": "zh"}.items():
        page = served.client.get("/", headers={"accept-language": accepted}).text

        assert f'<html lang="{language}">' in page
        assert ONE_WORD[language] == settings_of(page)["words"]["understanding"]


def test_a_language_is_chosen(serve, project):
    """The choice is kept in a cookie, and leads back to the page that it was made on."""
    served = serve(project.folder)
    chosen = served.client.post("/language", data={"language": "ru", "next": "/runs"}, headers={"origin": served.url})

    assert (303, "/runs") == (chosen.status_code, chosen.headers["location"])
    assert '<html lang="ru">' in served.client.get("/", headers={"accept-language": "de"}).text


def test_a_language_that_is_not_there_is_not_chosen(serve, project):
    """Nothing is remembered, and no file is looked for."""
    served = serve(project.folder)
    for language in ("xx", "../en", ""):
        served.client.post("/language", data={"language": language, "next": "/"}, headers={"origin": served.url})

        assert '<html lang="en">' in served.client.get("/").text


def test_a_browser_is_led_to_the_door(guarded):
    """A person gets a form, a program the refusal in JSON."""
    led = guarded.client.get("/runs", headers=HTML)
    door = guarded.client.get(led.headers["location"])

    assert (303, "/sign-in?next=/runs") == (led.status_code, led.headers["location"])
    assert 'name="token" type="password"' in door.text
    assert 'name="next" value="/runs"' in door.text
    assert 401 == guarded.client.get("/api/agents", headers=HTML).status_code


def test_the_token_gets_a_cookie(guarded):
    """No script reads it, no other site sends it, and it is not the token."""
    entered = signed_in(guarded)
    cookie = entered.headers["set-cookie"]

    assert (303, "/runs") == (entered.status_code, entered.headers["location"])
    assert [] == [word for word in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200") if word not in cookie]
    assert (False, False) == ("Secure" in cookie, TOKEN in cookie)
    assert 200 == guarded.client.get("/api/agents").status_code
    assert "Sign out" in guarded.client.get("/").text


def test_behind_tls_the_cookie_is_secure(guarded):
    """The form says by its origin that the browser spoke TLS, to whatever stands before the server."""
    origin = guarded.url.replace("http:", "https:")

    assert "Secure" in signed_in(guarded, origin=origin).headers["set-cookie"]


def test_a_wrong_token_stays_outside(guarded):
    """The form comes back with a word of what is wrong, and without what was typed."""
    for token in ("", "not-the-one", TOKEN[:-1], TOKEN + "x", "é"):
        refused = guarded.client.post("/sign-in", data={"token": token, "next": "/"}, headers={"origin": guarded.url})

        assert (401, None) == (refused.status_code, refused.headers.get("set-cookie"))
        assert "That is not the token of this server." in refused.text
        assert not token or token not in refused.text


def test_tokens_are_not_tried_for_ever(guarded):
    """Ten attempts a minute, then the right one has to wait too."""
    for _ in range(10):
        guarded.client.post("/sign-in", data={"token": "wrong"}, headers={"origin": guarded.url})
    refused = signed_in(guarded)

    assert 429 == refused.status_code
    assert "Too many attempts. Wait a minute, then try again." in refused.text


def test_signing_out_ends_it(guarded):
    """The cookie is taken back, and whoever kept a copy of it has nothing."""
    signed_in(guarded)
    kept = dict(guarded.client.cookies)
    left = guarded.client.post("/sign-out", headers={"origin": guarded.url})

    assert (303, "/sign-in", {}) == (left.status_code, left.headers["location"], dict(guarded.client.cookies))
    guarded.client.cookies.update(kept)
    assert 401 == guarded.client.get("/api/agents").status_code


def test_a_cookie_needs_a_page_to_change_something(guarded):
    """A browser says where a request comes from; one that does not say is no page of ours, so it shows the token."""
    signed_in(guarded)

    assert 401 == guarded.client.post("/api/sessions").status_code
    assert 201 == guarded.client.post("/api/sessions", headers={"origin": guarded.url}).status_code
    assert 403 == guarded.client.post("/api/sessions", headers={"origin": "http://evil.test"}).status_code


def test_the_door_leads_to_pages_only(guarded):
    """An address from outside cannot send who signed in anywhere else."""
    for elsewhere in ("//evil.test", "https://evil.test", "/\\evil.test", "javascript:alert(1)", "", "/api/agents"):
        told = {"token": TOKEN, "next": elsewhere}
        entered = guarded.client.post("/sign-in", data=told, headers={"origin": guarded.url})

        assert "/" == entered.headers["location"]


def test_without_a_token_there_is_no_door(serve, project):
    """A server on loopback that asks for none leads straight in."""
    assert "/" == serve(project.folder).client.get("/sign-in").headers["location"]


def test_what_the_door_looks_like_is_served_without_a_token(guarded):
    """Its style and script, which browsers may keep for ever; other files there are none."""
    page = guarded.client.get("/sign-in").text
    for address in re.findall(r'(?:href|src)="(/assets/[^"]+)"', page):
        answer = guarded.client.get(address)

        assert (200, "public, max-age=31536000, immutable") == (answer.status_code, answer.headers["cache-control"])
    folder = re.search(r"/assets/\w+", page).group()
    assert [404, 404] == [
        guarded.client.get(f"{folder}/{name}").status_code for name in ("secrets.css", "..%2Froutes.py")
    ]
    assert "no-cache" == guarded.client.get("/assets/old/base.css").headers["cache-control"]


def test_a_link_from_elsewhere_opens_a_page_and_nothing_more(serve, project):
    """A person may follow a link to a page; a request of another page to the API stays refused."""
    served = serve(project.folder)
    followed = {**HTML, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}

    assert 200 == served.client.get("/", headers=followed).status_code
    assert 403 == served.client.get("/api/agents", headers=followed).status_code
    assert 403 == served.client.get("/", headers={**followed, "sec-fetch-dest": "iframe"}).status_code
    assert 403 == served.client.post("/language", headers=followed, data={"language": "de"}).status_code


def test_an_answer_is_rendered_harmless(serve, project):
    """Markdown becomes HTML; what could do something stays text."""
    served = serve(project.folder)
    for text, html in RENDERED.items():
        assert html == served.client.post("/api/render", json={"text": text}).json()["html"].strip()


RENDERED = {
    "**7 °C**": "<p><strong>7 °C</strong></p>",
    "<script>pwned()</script>": "<p>&lt;script&gt;pwned()&lt;/script&gt;</p>",
    "[x](javascript:pwned())": "<p>[x](javascript:pwned())</p>",
    "![x](https://evil.test/x.png)": "<p>[image: x]</p>",
}


def test_a_page_tells_no_secret(serve, project, monkeypatch):
    """A key of the environment that stands in an agent's own page is scrubbed there as anywhere."""
    monkeypatch.setenv("EXAMPLE_API_KEY", "very-secret-value")
    project.write(
        "agents/example/page.html", '{% extends "tapegate/page.html" %}{% block main %}{{ told }}{% endblock %}'
    )
    project.write("agents/example/app.py", APP)
    page = serve(project.folder).client.get("/example")

    assert "&lt;b&gt;&lt;secret:EXAMPLE_API_KEY>" in page.text
    assert "very-secret-value" not in page.text


APP = """
from pathlib import Path

from fastapi import APIRouter, Request


def routes(host):
    router = APIRouter()

    @router.get("/example", summary="An example")
    async def page(request: Request):
        return host.page(request, Path(__file__).parent / "page.html", told="<b>very-secret-value")

    return router
"""


def test_pages_of_agents_are_linked(serve, project):
    """By the summary of their route, on every page."""
    project.write("agents/example/page.html", '{% extends "tapegate/page.html" %}')
    project.write("agents/example/app.py", APP)
    served = serve(project.folder)

    assert '<a href="/example">An example</a>' in served.client.get("/runs").text
    assert '<a href="/example" aria-current="page">An example</a>' in served.client.get("/example").text


def test_names_of_designs_and_texts_are_never_markup(serve, project: Any):
    """What a project calls its things reaches the page by the API alone, as JSON."""
    project.write("agents/example/app.py", APP.replace("An example", "<script>pwned()</script>"))
    project.write("agents/example/page.html", '{% extends "tapegate/page.html" %}')
    page = serve(project.folder).client.get("/").text

    assert "<script>pwned" not in page
    assert "&lt;script&gt;pwned()&lt;/script&gt;" in page


def test_a_live_answer_names_who_gave_it(serve, project: Any, root: Path):
    """The stream's headers say by whom the question is answered, and what stops it."""
    with ScriptedServer() as scripted:
        address = scripted.open(parse_script(CUT_OFF)).openai_base_url
        served = serve(project.folder, model="gpt-4.1-mini", base_url=address)
        answered = served.ask("example", "How warm is it?", stream=True)

    assert "local" == answered.headers["x-provenance"]
    assert re.fullmatch(r"[\w-]{16}", answered.headers["x-trial"])
