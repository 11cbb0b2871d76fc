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
    """Go to ``path`` in each of these sizes and themes, and find nothing wrong.

    Where these are not all that there are, Axe, which takes longer than all the rest, reads one page in one of them and
    the next in another.
    """
    read = views if len(views) == len(VIEWS) else [views[sum(name.encode()) % len(views)]]
    for view in views:
        seen_in(page, view)
        page.goto(path)
        shown = f"{name}-{view[0]}-{view[2]}"
        picture(page, shown, shots)
        if view in read:
            ask_axe(page, shown)
    assert page.evaluate(_SENT) <= MOST_BYTES


def seen_in(page: Page, view: View) -> None:
    """Give the window that size and that theme."""
    page.set_viewport_size({"width": view[0], "height": view[1]})
    page.emulate_media(color_scheme=view[2])


def as_it_is(page: Page, name: str, shots: str | None) -> None:
    """Look at what is shown now."""
    picture(page, name, shots)
    ask_axe(page, name)


def picture(page: Page, name: str, shots: str | None) -> None:
    """Keep a picture where they are wanted; whatever is shown is as wide as its window."""
    if shots:
        Path(shots).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{shots}/{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"{name} is wider than its window"


def ask_axe(page: Page, name: str) -> None:
    """Axe finds nothing that would keep anybody from using what is shown."""
    found = Axe().run(page).response["violations"]
    said = [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"][:3]]
    assert said == [], name
