"""What tests of executors share."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.app import App
from metnos.law.forbidden import Access, why_forbidden


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Path]:
    """A folder for a whole module, in an ordinary place."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """In an ordinary place: files of tests may lie below /dev, in memory, and that is out of bounds for executors."""
    if why_forbidden(tmp_path, Access.WRITE) is None:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def full(equipped: App) -> Iterator[App]:
    """An app whose owner lets everything happen that can be taken back."""
    equipped.set_setting("policy.autonomy", "full")
    opened = App.open(equipped.workspace, equipped.clock)
    yield opened
    opened.close()
