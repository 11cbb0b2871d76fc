"""A page of ours, open and signed in, on a workspace of the test's own."""

from collections.abc import Iterator

import pytest

from api.http.served import Client, Served, entered, serving
from metnos.app import App
from metnos.core.clock import MovableClock


@pytest.fixture
def served(equipped: App, clock: MovableClock) -> Iterator[Served]:
    """A workspace with every built-in executor, served in this process. Its clock is the test's."""
    equipped.close()  # only its files are needed
    with serving(equipped.workspace, clock) as found:
        yield found


@pytest.fixture
def page(served: Served) -> Client:
    """The owner's browser, which came in by a one-time link with the level full."""
    return entered(served)
