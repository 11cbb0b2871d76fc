"""What holds for every page: usable by whoever cannot see it, as wide as its window, light, and in both themes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

View = tuple[int, int, Literal["light", "dark"]]
# Each size and each theme is in the first two. No style depends on both.
VIEWS: tuple[View, ...] = ((1440, 900, "light"), (390, 844, "dark"), (1440, 900, "dark"), (390, 844, "light"))
MOST_BYTES = 300_000
_SENT = """["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind))
    .reduce((sum, each) => sum + each.decodedBodySize, 0)"""


def whole(page: Page, path: str, name: str, shots: str | None, views: Sequence[View]) -> None:
    """Go to ``path`` in each of these sizes and themes, and find nothing wrong."""
    for width, height, theme in views:
        seen_in(page, (width, height, theme))
        page.goto(path)
        as_it_is(page, f"{name}-{width}-{theme}", shots)
    assert page.evaluate(_SENT) <= MOST_BYTES


def seen_in(page: Page, view: View) -> None:
    """Give the window that size and that theme."""
    page.set_viewport_size({"width": view[0], "height": view[1]})
    page.emulate_media(color_scheme=view[2])


def as_it_is(page: Page, name: str, shots: str | None) -> None:
    """Look at what is shown now."""
    if shots:
        Path(shots).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{shots}/{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"{name} is wider than its window"
    found = Axe().run(page).response["violations"]
    said = [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"][:3]]
    assert said == [], name
