"""Nothing that a test is reminded of comes up on the desktop of whoever runs it; what a turn lacks lies ready."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.extended import DRAFT, MISSING, Open, Opened
from app.remembered import quiet
from life.lived import live
from metnos.app import App
from metnos.app.growing import Growing
from metnos.night import desktop
from metnos.synt.draft import Made
from turn.fasting import fill
from turn.scripted import Said, reopened


@pytest.fixture(autouse=True)
def _quiet_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "_FOLDERS", ())


@pytest.fixture
def app(equipped: App, tmp_path: Path) -> Iterator[App]:
    """A workspace at the level `full` with some files beside it, and no model."""
    fill(tmp_path / "home")
    opened, _ = quiet(equipped)
    yield opened
    opened.close()


@pytest.fixture
def lived(equipped: App) -> App:
    """An agent that learnt something, some of it private."""
    equipped.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return live(equipped)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Where a testament is to be left."""
    return tmp_path / "left.testament"


@pytest.fixture
def ready(equipped: App, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A workspace with a model that finds nothing, where what is wanted lies ready; ``made`` is given, or raised."""

    def opened(*replies: Said, made: Any = DRAFT, **settings: str) -> Opened:
        def draft(_growing: Growing, _need: Any, progress: Any, _model: Any) -> Made:
            progress("code", "")
            if isinstance(made, Made):
                return made
            raise made

        monkeypatch.setattr(Growing, "draft", draft)
        return reopened(equipped, *(replies or (MISSING,)), **({"policy__autonomy": "full"} | settings))

    return opened
