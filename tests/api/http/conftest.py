"""A page of ours, open and signed in, on a workspace of the test's own; and a terminal on the same one."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api.http.served import Client, Served, entered, serving
from copying import copy_folder
from metnos.app import house
from metnos.cli import main
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace

Terminal = Callable[..., Any]


@pytest.fixture
def served(_template: Workspace, blank: Workspace, clock: MovableClock) -> Iterator[Served]:
    """A workspace with every built-in executor, served in this process. Its clock is the test's."""
    copy_folder(_template.root, blank.root)
    with serving(blank, clock) as found:
        yield found


@pytest.fixture
def page(served: Served) -> Client:
    """The owner's browser, which came in by a one-time link with the level full."""
    return entered(served)


@pytest.fixture
def terminal(served: Served, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What a command says with --json on the same workspace, at the same time of day."""
    monkeypatch.setattr(house, "SystemClock", lambda: clock)
    root = str(served.app.workspace.root)

    def say(*line: str) -> Any:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = main(["--workspace", root, *line, "--json"])
        assert code == 0, said.getvalue()
        return json.loads(said.getvalue())

    return say
