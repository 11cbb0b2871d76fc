"""The pages of what Metnos can do and what it keeps, in a real browser over a stand-in for the API that has everything:
executors in every state, runs that failed, settings from everywhere."""

import asyncio
import socket
import threading
from collections.abc import Iterator, Sequence

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from metnos.api.http.guard_rules import HEADERS, carried
from web.browser import looks
from web.browser.conftest import SHOTS, WIDE, House, looking
from web.recorded import Records, built
from web.standin import EVIL

pytestmark = pytest.mark.slow


def strict(app: ASGIApp) -> ASGIApp:
    """With the headers that the guard sends."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        async def said(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = carried(message["headers"], HEADERS)
            await send(message)

        await app(scope, receive, said)

    return door


@pytest.fixture(scope="module")
def records() -> Iterator[tuple[Records, str]]:
    """The pages, served on a port of their own."""
    api = Records()
    door = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(strict(built(api)), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([door])), daemon=True)
    thread.start()
    yield api, f"http://127.0.0.1:{door.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def api(records: tuple[Records, str]) -> Records:
    records[0].forget()
    return records[0]


@pytest.fixture
def page(browser: Browser, api: Records, records: tuple[Records, str], tmp_path: object) -> Iterator[Page]:
    assert api is records[0]
    with looking(browser, House(tmp_path, records[1]), viewport=WIDE) as found:  # type: ignore[arg-type]
        yield found


@pytest.fixture
def clumsy(browser: Browser, api: Records, records: tuple[Records, str]) -> Iterator[Page]:
    """Somebody who is told no: the browser complains about that, too."""
    assert api is records[0]
    context = browser.new_context(base_url=records[1], viewport=WIDE)  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


@pytest.mark.repeated
def test_every_page_is_well_made(page: Page, views: Sequence[looks.View]) -> None:
    for path, name in (
        ("/executors", "executors"), ("/executors/count_words", "executor"), ("/arena?goal=move+files", "arena"),
        ("/night", "night"), ("/audit", "audit"), ("/settings", "settings"), ("/settings/models", "models"),
        ("/settings/devices", "devices"), ("/settings/grants", "grants"), ("/doctor?now=1", "doctor"),
    ):  # fmt: skip
        looks.whole(page, path, name, SHOTS, views)


def test_what_one_types_narrows_the_list(page: Page) -> None:
    page.goto("/executors")
    page.get_by_label("Search").fill("note")
    expect(page.locator(".executor:visible")).to_have_count(1)
    page.get_by_label("Search").fill("zzz")
    expect(page.get_by_text("No executor fits these words.")).to_be_visible()


def test_the_emergency_stop_is_pressed_only_on_purpose(page: Page, api: Records) -> None:
    page.goto("/executors")
    page.get_by_text("I want to stop everything").click()
    stop = page.get_by_role("button", name="Stop everything")
    expect(stop).to_be_disabled()
    page.get_by_label("Why?").press("Enter")
    page.get_by_label("Yes, stop everything.").check()
    stop.click()
    sure = page.get_by_role("dialog")
    expect(sure.get_by_role("button", name="Stop everything")).to_be_disabled()
    looks.as_it_is(page, "stop-sure", SHOTS)
    sure.get_by_role("button", name="Cancel").click()
    assert api.posts == []
    stop.click()
    sure.get_by_role("textbox").fill("stop")
    sure.get_by_role("button", name="Stop everything").click()
    expect(page.get_by_text("Everything is halted.")).to_be_visible()
    assert api.posts == [("/api/panic", {"reason": "stopped on the web page", "sure": True})]


def test_an_executor_is_switched_on_after_a_question(page: Page, api: Records) -> None:
    page.goto("/executors/count_words")
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_role("dialog").get_by_text("3 strikes within 24 hours")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("count_words is switched on.")).to_be_visible()
    assert [(path, body["state"]) for path, body in api.posts] == [("/api/executors/count_words/state", "active")]


def test_the_audit_is_proven_in_the_page(page: Page, api: Records) -> None:
    page.goto("/audit")
    page.get_by_role("button", name="Verify all of it").click()
    expect(page.get_by_role("heading", name="Whole", exact=True)).to_be_visible()
    looks.as_it_is(page, "audit-whole", SHOTS)
    fault = {"wrong": "changed", "place": "2026-04.jsonl", "seq": 7, "detail": EVIL}
    api.replies["/api/audit/verify"] = {"state": "done", "ok": False, "lines": 412, "files": 2, "checkpoints": 6,
                                         "problems": [fault], "problems_total": 1, "notes": []}  # fmt: skip
    page.get_by_role("button", name="Verify again").click()
    expect(page.get_by_role("heading", name="Not whole")).to_be_visible()
    expect(page.locator("#verdict").get_by_text(EVIL)).to_be_visible()
    looks.as_it_is(page, "audit-broken", SHOTS)


def test_a_setting_is_edited_in_place_and_what_is_wrong_is_said_at_the_field(clumsy: Page, api: Records) -> None:
    clumsy.goto("/settings")
    field = clumsy.locator('[data-setting="turn.show"]')
    field.get_by_role("textbox").fill("much")
    with clumsy.expect_response("**/api/settings"):
        field.get_by_role("textbox").press("Enter")
    expect(field.get_by_role("alert")).to_contain_text(f"that is no number {EVIL}")
    expect(field.get_by_role("textbox")).to_have_attribute("aria-invalid", "true")
    looks.as_it_is(clumsy, "settings-wrong", SHOTS)
    field.get_by_role("textbox").fill("40")
    field.get_by_role("button", name="Save").click()
    expect(clumsy.get_by_text("Saved.")).to_be_visible()
    assert api.posts[-1] == ("/api/settings", {"name": "turn.show", "value": "40"})


def test_full_autonomy_is_asked_about_first(page: Page, api: Records) -> None:
    page.goto("/settings")
    field = page.locator('[data-setting="policy.autonomy"]')
    field.get_by_role("combobox").select_option("full")
    field.get_by_role("button", name="Save").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert api.posts == []


def test_a_model_is_really_asked_and_its_words_are_shown(page: Page, api: Records) -> None:
    page.goto("/settings/models")
    page.locator('[data-test="main"]').click()
    expect(page.locator("#t-main")).to_contain_text(f"Rome. {EVIL}")
    looks.as_it_is(page, "models-tested", SHOTS)
    failed = {"ok": False, "seconds": 0.1, "said": "", "error": "nobody there", "fix": EVIL}
    api.replies["/api/models/main/test"] = failed
    page.locator('[data-test="main"]').click()
    expect(page.locator("#t-main")).to_contain_text("It does not work: nobody there")
    expect(page.locator("#t-main")).to_contain_text(EVIL)


def test_a_code_for_another_device_is_shown_with_what_to_do(page: Page, api: Records) -> None:
    page.goto("/settings/devices")
    page.get_by_label("Only look").check()
    page.get_by_label("What to call it").fill("my phone")
    page.get_by_role("button", name="Make a code").click()
    expect(page.locator("#code-text")).to_have_text("METNOS-WEB-7Q4K-9F2M-ABCD")
    looks.as_it_is(page, "devices-code", SHOTS)
    wanted = {"channel": "web", "level": "read_only", "minutes": 10, "days": 90, "name": "my phone"}
    assert api.posts == [("/api/devices/code", wanted)]


def test_a_long_proof_is_waited_for(page: Page, api: Records) -> None:
    done = api.replies["/api/audit/verify"]
    api.replies["/api/audit/verify"] = done | {"state": "running", "ok": None}
    api.answers["/api/audit/verify"] = done
    page.goto("/audit")
    page.get_by_role("button", name="Verify all of it").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("heading", name="Whole", exact=True)).to_be_visible()


def test_a_job_is_run_now_and_the_doctor_looks(page: Page, api: Records) -> None:
    page.goto("/night")
    page.get_by_role("button", name="Run now: Catch up").click()
    expect(page.get_by_text("Catch up: done. nothing was left")).to_be_visible()
    page.goto("/doctor")
    expect(page.get_by_role("heading", name="Something must be mended")).to_be_visible()
    api.answers["/api/doctor"] = {"checks": [{"name": "python", "level": "green", "says": "fine", "fix": ""}]}
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("heading", name="All is well")).to_be_visible()
