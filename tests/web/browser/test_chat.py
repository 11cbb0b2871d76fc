"""The chat with what a real Metnos seldom says: second yeses, failures, words of a model, another language."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Locator, Page, expect

from metnos.web import site
from web.browser import looks
from web.browser.conftest import SHOTS, WIDE, House, looking
from web.standin import ANSWERED, EVIL, STARTED, WANTED, Api, signed_in

pytestmark = pytest.mark.slow


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def page(api: Api, browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """The pages over the stand-in, in a browser."""
    door = socket.create_server(("127.0.0.1", 0))
    app = signed_in(site.build(api), api)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=0))
    thread = threading.Thread(target=server.run, args=([door],), daemon=True)
    thread.start()
    house = House(tmp_path, f"http://127.0.0.1:{door.getsockname()[1]}")
    with looking(browser, house, viewport=WIDE) as found:
        yield found
    server.should_exit = True
    thread.join(60)
    assert not thread.is_alive()


def told(page: Page, api: Api, *story: dict[str, Any]) -> Locator:
    """Ask for something, and be told ``story``."""
    api.story = [STARTED, *story]
    page.goto("/")
    page.get_by_label("What you ask").fill("move them")
    page.keyboard.press("Enter")
    return page.locator(".turn").last


def test_a_second_yes_needs_a_tick_and_no_key_gives_it(page: Page, api: Api) -> None:
    again = WANTED | {"yes": 1, "needs": 2, "question": 2}
    turn = told(page, api, WANTED | {"needs": 2}, again, ANSWERED)
    turn.get_by_role("button", name="Yes, do it").click()
    second = turn.locator(".question").last
    expect(second).to_contain_text("This cannot be taken back")
    expect(second.get_by_role("button", name="Always")).to_have_count(0)
    second.focus()
    expect(second).to_have_attribute("data-keys", "heard")
    page.keyboard.press("y")
    expect(second.get_by_role("button", name="Yes, do it")).to_be_disabled()
    looks.as_it_is(page, "chat-second-yes", SHOTS)
    second.get_by_label("I know that it cannot be taken back.").check()
    second.get_by_role("button", name="Yes, do it").click()
    expect(turn.get_by_role("button", name="Undo")).to_be_visible()
    answers = [body for path, body in api.posts if path.endswith("/answer")]
    assert answers == [{"question": 1, "answer": "yes"}, {"question": 2, "answer": "yes"}]


@pytest.mark.parametrize(("button", "answer"), [("Always", "always"), ("No", "no"), ("Later, in the inbox", "later")])
def test_every_answer_is_sent_as_it_was_given(page: Page, api: Api, button: str, answer: str) -> None:
    turn = told(page, api, WANTED, ANSWERED)
    turn.get_by_role("button", name=button, exact=True).click()
    expect(turn.locator(".question .said")).to_be_visible()
    assert ("/api/runs/r1/answer", {"question": 1, "answer": answer}) in api.posts


def test_everything_that_is_shown_is_text(page: Page, api: Api) -> None:
    step = {"number": 1, "executor": EVIL}
    turn = told(
        page, api,
        {"event": "Planned", "executors": [EVIL, "b"], "path": EVIL, "notes": [EVIL], "learnt_from": 2},
        {"event": "StepStarted", "of": 1, "title": EVIL, **step},
        {"event": "StepDone", "ok": False, "message": EVIL, "count": 0, "wall_ms": 3, "action": "", **step},
        {"event": "Text", "delta": EVIL},
        WANTED, ANSWERED,
    )  # fmt: skip
    turn.get_by_text("Which rule asks?").click()
    for place in (".notes", ".steps", ".question", ".question dl"):
        expect(turn.locator(place)).to_contain_text(EVIL)
    turn.get_by_role("button", name="Yes, do it").click()
    turn.get_by_role("button", name="Why?").click()
    expect(turn.locator(".why")).to_contain_text(EVIL)
    expect(turn.locator(".answer td").first).to_contain_text(EVIL)
    assert turn.locator("script, img, iframe, [onerror]").count() == 0
    looks.as_it_is(page, "chat-text", SHOTS)


def test_a_failure_says_what_to_do(page: Page, api: Api) -> None:
    turn = told(page, api, {"event": "Failed", "error": {"what": "no sandbox", "fix": "install bubblewrap"}})
    expect(turn.get_by_role("alert")).to_contain_text("no sandbox")
    expect(turn.get_by_role("alert")).to_contain_text("install bubblewrap")
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_a_run_is_stopped(page: Page, api: Api) -> None:
    told(page, api, WANTED)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".doing")).to_have_text("Stopping")
    assert ("/api/runs/r1/cancel", {}) in api.posts


def test_what_was_on_its_way_when_it_was_stopped_changes_nothing(page: Page, api: Api) -> None:
    told(page, api, WANTED | {"held": True})
    with page.expect_response("**/cancel") as answer:
        page.get_by_role("button", name="Stop").click()
    answer.value.finished()
    expect(page.locator(".doing")).to_have_text("Stopping")
    api.go_on.set()
    expect(page.locator(".question")).to_be_visible()
    expect(page.locator(".doing")).to_have_text("Stopping")


def test_words_of_a_model_are_shown_as_they_come_and_named_as_such(page: Page, api: Api) -> None:
    parts = [{"event": "Text", "delta": part} for part in ("Hello", ", there")]
    turn = told(page, api, *parts, ANSWERED | {"text": "Hello, there.", "steps": [], "undo": [], "model_text": True})
    expect(turn.locator(".answer")).to_have_text("Hello, there.")
    expect(turn.locator(".notes")).to_contain_text("A language model's words; nothing was done.")


def test_a_question_speaks_the_language_of_its_request(page: Page, api: Api) -> None:
    turn = told(page, api, WANTED | {"language": "it"})
    expect(turn.get_by_role("button", name="Sì, fallo")).to_be_visible()
    assert turn.locator(".question").get_attribute("lang") == "it"


def test_a_long_preview_is_cut_and_can_be_seen_whole(page: Page, api: Api) -> None:
    turn = told(page, api, WANTED | {"lines": [f"line {number}" for number in range(100)]})
    expect(turn.get_by_text("line 39", exact=True)).to_be_visible()
    expect(turn.get_by_text("line 99", exact=True)).to_have_count(0)
    turn.get_by_role("button", name="Show all (100)").click()
    expect(turn.get_by_text("line 99", exact=True)).to_be_visible()
