"""What tests of executors share."""

from collections.abc import Iterator

import pytest

from metnos.app import App


@pytest.fixture
def full(equipped: App) -> Iterator[App]:
    """An app whose owner lets everything happen that can be taken back."""
    equipped.set_setting("policy.autonomy", "full")
    opened = App.open(equipped.workspace, equipped.clock)
    yield opened
    opened.close()
