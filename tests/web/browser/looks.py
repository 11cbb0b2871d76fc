"""What holds for every page: usable by whoever cannot see it, as wide as its window, light, and in both themes."""

from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SIZES = ((1440, 900), (390, 844))
THEMES = ("light", "dark")
MOST_BYTES = 300_000
_SENT = """["resource", "navigation"].flatMap((kind) => performance.getEntriesByType(kind))
    .reduce((sum, each) => sum + each.decodedBodySize, 0)"""


def whole(page: Page, path: str, name: str, shots: str | None, most: int = MOST_BYTES) -> None:
    """Go to ``path`` in every size and theme, and find nothing wrong."""
    for width, height in SIZES:
        for theme in THEMES:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.goto(path)
            as_it_is(page, f"{name}-{width}-{theme}", shots)
    assert page.evaluate(_SENT) <= most


def as_it_is(page: Page, name: str, shots: str | None) -> None:
    """Look at what is shown now."""
    if shots:
        Path(shots).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{shots}/{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, f"{name} is wider than its window"
    found = Axe().run(page).response["violations"]
    said = [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"][:3]]
    assert said == [], name
