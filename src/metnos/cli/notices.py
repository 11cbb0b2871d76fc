"""What the owner has not seen yet, for whoever shows it: the chat, the first screen, a one-shot answer.

Works with and without the daemon: both write to the same place, and what is due is told once.
"""

from collections.abc import Callable

from metnos.app import App
from metnos.app import night as building

Fetch = Callable[[], list[str]]


def fetching(app: App) -> Fetch:
    """A function that brings what is new since it was last called. What it brings counts as seen."""
    night = building.build(app)

    def fetch() -> list[str]:
        night.remind(app.clock.now())  # without the daemon nobody else would
        found = night.notices.unseen()
        if found:
            night.notices.seen([each.id for each in found])
        return [f"{each.kind}: {each.text}" for each in found]

    return fetch
