"""A workspace as whoever served it before left it, and no desktop: nothing comes up before whoever runs the tests."""

import pytest

from copying import copy_folder
from metnos.api.daemon import Household
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.night import desktop
from support import START


@pytest.fixture(autouse=True)
def _quiet_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "_FOLDERS", ())


@pytest.fixture(scope="session")
def _template(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """With every built-in executor and all databases: what takes a while at the first start and turn is done once."""
    made = Workspace(tmp_path_factory.mktemp("served") / "workspace")
    copy_folder(_template.root, made.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(made.root.parent))
        household = Household(App.open(made, MovableClock(START)), lambda _: None)
        household.app.toolbox.kit().by_meaning()  # keeps the vectors of what executors say of themselves
        household.close()
    return made
