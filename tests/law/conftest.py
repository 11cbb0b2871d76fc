"""A policy over a workspace of its own, for every test of the law."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from law.asks import Court
from metnos import app
from metnos.core import seal


@pytest.fixture(autouse=True)
def _cheap_seals(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a guess at a passphrase costs is proved in `core/test_seal`."""
    monkeypatch.setattr(seal, "_N", 1 << 10)


@pytest.fixture
def ordinary() -> Iterator[Path]:
    """A folder to which no rule applies by its place: files of tests may lie below /dev, in memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder).resolve()


@pytest.fixture
def court(opened: app.App) -> Court:
    return Court.over(opened)
