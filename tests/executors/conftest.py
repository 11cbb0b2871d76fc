"""What tests of executors share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.app import App
from metnos.law.principal import at_terminal


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Path]:
    """A folder for a whole module, in an ordinary place."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def full(equipped: App) -> Iterator[App]:
    """An app whose owner lets everything happen that can be taken back."""
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    opened = App.open(equipped.workspace, equipped.clock)
    yield opened
    opened.close()
