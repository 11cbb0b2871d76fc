"""Every page of the shell in both sizes and both themes."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.slow
Inspect = Callable[[str, str], None]


@pytest.mark.parametrize(("path", "name"), [("/", "chat"), ("/turns", "turns"), ("/inbox", "inbox"),
                                            ("/inbox?all=1", "inbox-all"), ("/undo", "undo")])  # fmt: skip
def test_a_page_is_well_made(inspect: Inspect, path: str, name: str) -> None:
    inspect(path, name)


def test_a_turn_is_explained_on_a_page_of_its_own(page: Page, inspect: Inspect) -> None:
    page.goto("/")
    page.get_by_label("What you ask").fill("what time is it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Why?")).to_be_visible()
    turn = page.locator(".turn").get_attribute("data-turn")
    inspect(f"/turns/{turn}", "turn")
    inspect(f"/?c={turn}", "conversation")
