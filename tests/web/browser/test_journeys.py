"""What people come for: ask, look, allow, take back, decide; in a real browser against a real Metnos."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from web.browser import looks
from web.browser.conftest import SHOTS, House

pytestmark = pytest.mark.slow


def ask(page: Page, text: str, path: str = "/") -> Locator:
    """Ask for something; the turn that it becomes."""
    if path:
        page.goto(path)
    page.get_by_label("What you ask").fill(text)
    page.keyboard.press("Enter")
    return page.locator(".turn").last


def answered(turn: Locator) -> Locator:
    """The turn, when it is over."""
    expect(turn.get_by_role("button", name="Why?")).to_be_visible()
    return turn


def test_a_newcomer_asks_and_sees_what_was_done_and_why(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="How full are the disks?").click()
    expect(page.get_by_label("What you ask")).to_have_value("How full are the disks?")
    turn = answered(ask(page, "find the PDFs in ~/play", ""))
    expect(turn.locator(".steps li.good")).to_contain_text("find_files")
    expect(turn.locator(".steps .tail")).to_contain_text("2 items")
    expect(turn.get_by_role("row")).to_have_count(3)  # the heading, and two files
    expect(turn.locator(".meta")).to_contain_text("cost nothing")
    turn.get_by_role("button", name="Why?").click()
    expect(turn.locator(".why")).to_contain_text("Planned by")
    expect(turn.locator(".why")).to_contain_text("What could have done it")
    looks.as_it_is(page, "journey-why", SHOTS)
    turn.get_by_role("button", name="Good").click()
    expect(turn.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".turn .answer")).to_contain_text("contract.pdf")


def test_every_example_works_with_no_language_model(page: Page) -> None:
    page.goto("/")
    examples = [str(each.get_attribute("data-example")) for each in page.locator("[data-example]").all()]
    assert len(examples) == 4
    for place, text in enumerate(examples):
        turn = answered(ask(page, text, "" if place else "/"))
        expect(turn.locator(".steps li.good")).to_have_count(1)
        expect(turn.locator(".badge")).to_have_count(0)


def test_a_conversation_goes_on(page: Page) -> None:
    answered(ask(page, "find the PDFs in ~/play/papers"))
    answered(ask(page, "how many are there?", ""))
    assert page.locator(".turn").count() == 2
    page.goto("/")
    page.get_by_role("link", name="find the PDFs in ~/play/papers").first.click()
    expect(page.locator(".turn")).to_have_count(2)


def test_a_change_is_asked_about_done_with_the_keyboard_alone_and_taken_back(page: Page, house: House) -> None:
    papers, archive = house.home / "play" / "papers", house.home / "play" / "archive"
    turn = ask(page, "move the PDFs in ~/play/papers to ~/play/archive")
    question = turn.locator(".question")
    expect(question).to_contain_text("invoice.pdf")
    expect(question).to_contain_text("undo moves them back")
    expect(question).to_contain_text("If you say always")
    expect(question).to_be_focused()
    assert not archive.exists()
    looks.as_it_is(page, "journey-asked", SHOTS)
    expect(question).to_have_attribute("data-keys", "heard")
    page.keyboard.press("y")
    answered(turn)
    assert sorted(each.name for each in archive.iterdir()) == ["contract.pdf", "invoice.pdf"]
    expect(question).to_contain_text("You said yes.")
    turn.get_by_role("button", name="Undo").click()
    expect(turn.get_by_role("button", name="Redo")).to_be_visible()
    assert (papers / "invoice.pdf").exists()
    assert not archive.exists()


def test_a_key_that_was_meant_for_the_request_approves_nothing(page: Page, house: House) -> None:
    page.goto("/")
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))  # the keys come without a pause, however busy we are
    turn = ask(page, "create a folder called yonder in ~/play", "")
    expect(turn.locator(".question")).to_be_focused()  # it came up under somebody's fingers
    for key in "yes, yesterday":
        page.clock.run_for(150)
        page.keyboard.press(key)
    expect(turn.get_by_role("button", name="Yes, do it")).to_be_enabled()
    page.get_by_label("What you ask").focus()
    page.keyboard.type("yes y y")
    expect(turn.get_by_role("button", name="Yes, do it")).to_be_enabled()
    assert not (house.home / "play" / "yonder").exists()
    turn.get_by_role("button", name="No", exact=True).click()
    answered(turn)
    expect(turn).to_contain_text("You said no.")
    assert not (house.home / "play" / "yonder").exists()


def test_a_question_is_found_again_after_a_reload(page: Page, house: House) -> None:
    ask(page, "create a folder called reload in ~/play")
    expect(page.get_by_role("button", name="Yes, do it")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Yes, do it").click()
    answered(page.locator(".turn").last)
    assert (house.home / "play" / "reload").is_dir()


def test_what_is_left_for_later_is_decided_in_the_inbox(page: Page, house: House) -> None:
    turn = ask(page, "delete ~/play/papers/shopping.txt")
    turn.get_by_role("button", name=re.compile("Later")).click()
    answered(turn)
    page.goto("/inbox")
    page.get_by_role("link", name=re.compile("^Look at: delete_files")).first.click()
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("shopping.txt")
    looks.as_it_is(page, "journey-question", SHOTS)
    page.get_by_role("button", name="Yes, do it").click()
    answered(page.locator(".turn").last)
    assert not (house.home / "play" / "papers" / "shopping.txt").exists()
    page.goto("/undo")
    row = page.get_by_role("listitem").filter(has_text="shopping.txt").first
    row.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Taken back.")).to_be_visible()
    assert (house.home / "play" / "papers" / "shopping.txt").exists()


def test_a_question_is_refused_with_a_reason_or_changed(page: Page, house: House) -> None:
    for name in ("one", "two"):
        turn = ask(page, f"create a folder called {name} in ~/play")
        turn.get_by_role("button", name=re.compile("Later")).click()
        answered(turn)
    page.goto("/inbox")
    page.get_by_role("link", name=re.compile("^Look at: make_folders")).first.click()
    page.get_by_role("button", name="No…").click()
    page.get_by_label("Why not?").fill("not today")
    page.get_by_role("button", name="Say no").click()
    expect(page).to_have_url(re.compile("/inbox$"))
    page.get_by_role("link", name=re.compile("^Look at: make_folders")).first.click()
    page.get_by_role("button", name="Change it…").click()
    box = page.get_by_label("What it is given, as JSON")
    box.fill(re.sub(r"/(one|two)\b", "/three", box.input_value()))
    page.get_by_role("button", name="Ask me again with this").click()
    expect(page.get_by_role("region", name="What it is given")).to_contain_text("three")
    page.get_by_role("button", name="Yes, do it").click()
    expect(page.get_by_role("status").filter(has_text="Done.")).to_be_visible()
    assert [each.name for each in (house.home / "play").iterdir() if each.name in ("one", "two", "three")] == ["three"]


def test_a_rehearsal_changes_nothing(page: Page, house: House) -> None:
    page.goto("/")
    page.get_by_label("Rehearse only").check()
    turn = answered(ask(page, "create a folder called rehearsed in ~/play", ""))
    expect(turn.locator(".meta")).to_contain_text("rehearsed")
    assert not (house.home / "play" / "rehearsed").exists()


def test_a_file_that_would_like_to_be_markup_is_shown_as_its_name(page: Page, house: House) -> None:
    folder = house.home / "play" / "evil"
    folder.mkdir(exist_ok=True)
    names = ["<img src=x onerror=alert(1)>.pdf", "<script>alert(2)<"]
    for name in names:
        Path(folder / name).write_text("x")
    turn = answered(ask(page, "find the files in ~/play/evil"))
    expect(turn.locator(".answer")).to_contain_text(names[0])
    assert turn.locator(".answer img, .answer script").count() == 0
    page.reload()
    expect(page.locator(".turn .answer")).to_contain_text(names[0])


def test_the_theme_is_kept(page: Page) -> None:
    page.goto("/inbox")
    switch = page.get_by_role("button", name=re.compile("Theme"))
    switch.click()
    switch.click()
    page.goto("/undo")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"


def test_the_menu_of_a_phone_opens_and_closes_by_key(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/inbox")
    menu = page.get_by_role("button", name=re.compile("Menu"))
    expect(page.get_by_role("link", name="Memory")).to_be_hidden()
    menu.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Memory")).to_be_visible()
    looks.as_it_is(page, "journey-menu", SHOTS)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Memory")).to_be_hidden()
    expect(menu).to_be_focused()


def test_one_who_is_not_signed_in_is_told_how_to_get_in(stranger: Page, house: House) -> None:
    stranger.goto("/pair")
    looks.as_it_is(stranger, "pair", SHOTS)
    code = house.link().split("key=")[1]
    stranger.get_by_label("Code").fill(code)
    stranger.get_by_role("button", name="Pair").click()
    expect(stranger.get_by_label("What you ask")).to_be_visible()
