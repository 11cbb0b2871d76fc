"""Memory and fast paths in a real browser: a journey on a real Metnos, and each page as a careful person sees it."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Page, expect

from web.browser import looks
from web.browser.conftest import SHOTS, WIDE, House, looking
from web.browser.test_graph import Shown
from web.knowing import PLAN, Knowing

pytestmark = pytest.mark.slow
Inspect = Callable[[str, str], None]


@pytest.fixture(scope="module")
def shown() -> Iterator[tuple[House, Knowing]]:
    api = Knowing()
    with Shown(api) as house:
        yield house, api


@pytest.mark.repeated
def test_every_page_is_well_made(browser: Browser, shown: tuple[House, Knowing], views: Sequence[looks.View]) -> None:
    with looking(browser, shown[0]) as page:
        for path, name in (
            ("/memory", "memory"), ("/memory?q=key", "memory-found"), ("/memory/facts", "facts"),
            ("/memory/facts/01FACT", "fact"), ("/memory/playbook?version=2", "playbook"), ("/fastpaths", "fastpaths"),
            ("/fastpaths/a1b2c3d4e5f6", "fastpath"),
        ):  # fmt: skip
            looks.whole(page, path, name, SHOTS, views)


def test_forgetting_shows_what_would_go_and_asks_again(browser: Browser, shown: tuple[House, Knowing]) -> None:
    house, api = shown
    with looking(browser, house, viewport=WIDE) as page:
        page.goto("/memory/forget")
        page.get_by_label("Everything that holds these words").fill("spare key")
        page.get_by_role("button", name="See what would go").click()
        expect(page.locator("#plan")).to_contain_text("Episodes (3)")
        expect(page.locator("#plan")).to_contain_text("and 2 more")
        expect(page.locator("#plan")).to_contain_text("USER.md")
        looks.as_it_is(page, "forget", SHOTS)
        assert api.posts == [("/api/memory/forget/plan", {"words": "spare key"})]
        page.get_by_role("button", name="Forget this").click()
        page.get_by_role("button", name="Cancel").click()
        assert len(api.posts) == 1
        page.get_by_role("button", name="Forget this").click()
        page.locator("#sure").get_by_role("button", name="Forget").click()
        expect(page.locator("#plan")).to_contain_text("3 episodes, 1 fact")
    assert api.posts[1] == ("/api/memory/forget", {"words": "spare key", "plan": PLAN, "sure": True})


def test_what_is_told_is_found_and_can_be_forgotten(page: Page) -> None:
    page.goto("/memory")
    page.get_by_label("In your own words").fill("The spare key lies under the blue flowerpot.")
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_text("Remembered.")).to_be_visible()
    page.get_by_label("A question").fill("where does the spare key lie")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="The spare key lies under the blue flowerpot.").click()
    page.get_by_role("link", name="Forget it").click()
    page.get_by_role("button", name="See what would go").click()
    expect(page.locator("#plan")).to_contain_text("Episodes (1)")
    page.get_by_role("button", name="Forget this").click()
    page.locator("#sure").get_by_role("button", name="Forget").click()
    expect(page.locator("#plan-title")).to_have_text("Forgotten")
    page.goto("/memory/episodes")
    expect(page.get_by_text("blue flowerpot")).to_have_count(0)


@pytest.mark.repeated
def test_the_pages_of_a_new_metnos_are_well_made(inspect: Inspect) -> None:
    for path, name in (("/mnestome", "mnestome-new"), ("/memory/tiers", "tiers"), ("/fastpaths", "fast-new")):
        inspect(path, name)
