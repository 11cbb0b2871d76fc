"""A workspace with every built-in and a furnished home, which the tests of a file share: making one takes a while."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from copying import copy_folder
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.law.principal import at_terminal
from metnos.synt.compiler import Bench
from synt.pipelines import furnish

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
_SETTINGS = {"policy.autonomy": "full", "executors.births": "100", "executors.active": "100"}


@dataclass(frozen=True, slots=True)
class House:
    """An open workspace, and the home of its owner."""

    app: App
    home: Path

    @property
    def bench(self) -> Bench:
        return Bench(self.app.pool, self.app.settings.executors)


@pytest.fixture(scope="module")
def house(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    root = tmp_path_factory.mktemp("house").resolve()
    home = root / "home"
    home.mkdir()
    copy_folder(_template.root, root / "workspace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        furnish(home)
        workspace, clock = Workspace(root / "workspace"), MovableClock(START)
        first = App.open(workspace, clock)
        for name, value in _SETTINGS.items():
            first.set_setting(name, value, at_terminal())
        first.close()
        app = App.open(workspace, clock)
        app.__dict__["embedder"] = None  # loading one takes longer than all the rest
        app.turns.warm()
        yield House(app, home)
        app.close()
