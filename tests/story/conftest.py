"""A home for the story: a workspace with every built-in, a clock to move, and the recorded language model."""

import os
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from copying import copy_folder
from metnos.core import ids
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.night import desktop
from metnos.turn import planning
from story.owner import Owner, stand_in
from story.record import ANEW, SWITCH
from story.recording import FILE, TRIED, Model, recording, replaying

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)  # when the workspace was founded
_MODEL = os.environ.get(SWITCH, "")  # set only while `record.py` runs


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    home = tmp_path / "home"
    if not _MODEL:
        yield replaying(home)
        return
    old = () if os.environ.get(ANEW) else (FILE, TRIED)
    with recording(home, Path(_MODEL), old) as made:
        yield made


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nights come at the same moment wherever the story is told."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def owner(
    _template: Workspace,
    utc: None,
    tmp_path: Path,
    model: Model,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Owner:
    """Somebody who has had Metnos for an hour, and a language model for as long."""
    home = tmp_path / "home"
    copy_folder(_template.root, home / ".local/share/metnos")
    monkeypatch.chdir(home)
    monkeypatch.setattr(desktop, "_FOLDERS", ())  # nothing comes up on the desktop of whoever runs this
    monkeypatch.setattr(ids, "secrets", SimpleNamespace(randbits=random.Random(1).getrandbits))  # one story, not many
    clock = MovableClock(START + timedelta(hours=1))
    stand_in(monkeypatch, clock, model)
    monkeypatch.setattr(planning, "time", model)  # the only clock that the model's time can be seen on
    return Owner(clock, capsys)
