"""Every page of the shell in both sizes and both themes, with something on it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from web.browser.conftest import House

pytestmark = pytest.mark.slow
Inspect = Callable[[str, str], None]


@pytest.fixture(scope="module", autouse=True)
def used(house: House) -> None:
    """Something was found, something was done that can be taken back, and something waits."""
    house.metnos("ask", "find the PDFs in ~/play")
    house.metnos("ask", "remind me tomorrow at 9 to pay the rent")
    house.metnos("ask", "move ~/play/expenses.csv to ~/play/papers", codes=(3,))  # nobody is there to be asked


@pytest.mark.repeated
def test_every_page_and_what_its_list_leads_to_is_well_made(page: Page, inspect: Inspect) -> None:
    for path, name in (("/", "chat"), ("/turns", "turns"), ("/inbox", "inbox"), ("/inbox?all=1", "inbox-all"),
                       ("/undo", "undo")):  # fmt: skip
        inspect(path, name)
    for path, link, name in (
        ("/turns", "a.title", "turn"), ("/turns", "a[href^='/?c=']", "conversation"), ("/inbox", "a.title", "question"),
    ):  # fmt: skip
        page.goto(path)
        inspect(str(page.locator(f".list {link}").first.get_attribute("href")), name)
