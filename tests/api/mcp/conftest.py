"""What tests of the MCP server share: a workspace in the test's own home, with everything in it."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from copying import copy_folder
from metnos.api.mcp.mount import Mounted, mount
from metnos.app import App
from metnos.core.clock import SystemClock
from metnos.core.workspace import Workspace
from metnos.law.principal import at_terminal


@pytest.fixture
def house(_template: Workspace, tmp_path: Path) -> Workspace:
    """The default workspace of the test's own home."""
    home = tmp_path / "home"
    copy_folder(_template.root, home / ".local/share/metnos")
    return Workspace(home / ".local/share/metnos")


@pytest.fixture
def app(house: Workspace) -> App:
    return App.open(house, SystemClock())


@pytest.fixture
def asking(house: Workspace) -> App:
    """The same, and the owner lets clients ask."""
    App.open(house, SystemClock()).set_setting("mcp.elicit", "true", at_terminal())
    return App.open(house, SystemClock())


@pytest.fixture
def mounted() -> Callable[[App], Mounted]:
    return lambda app: mount(lambda: contextlib.nullcontext(app))
