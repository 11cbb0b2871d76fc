"""What every test shares: a clean environment, a clock that stands still, and a founded workspace of its own."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from metnos import app
from metnos.core.clock import MovableClock
from metnos.core.settings import Settings
from metnos.core.workspace import Workspace

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

# No deadline: these machines are noisy, and speed is measured in bench/.
hypothesis_settings.register_profile("metnos", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis_settings.load_profile("metnos")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of whoever runs the tests may reach them, and nothing they do may reach that home."""
    for name in list(os.environ):
        if name.startswith(("METNOS_", "XDG_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock(START)


@pytest.fixture
def blank(tmp_path: Path) -> Workspace:
    """A workspace that was not founded."""
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def workspace(blank: Workspace, clock: MovableClock) -> Workspace:
    app.found(blank, clock)
    return blank


@pytest.fixture
def opened(workspace: Workspace, clock: MovableClock) -> app.App:
    return app.App.open(workspace, clock)


@pytest.fixture
def defaults() -> Settings:
    return Settings()
