"""What tests of the terminal share: a home with a workspace, and the program without a process of its own."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli import warm
from copying import copy_folder
from metnos.cli import main
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.store.db import Database
from support import Ran, Say


@pytest.fixture(autouse=True)
def _ended(loaded_program: None) -> Iterator[None]:
    """Whatever was started ends with the test, however that ends."""
    yield
    warm.end_all()


@pytest.fixture
def root(_template: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default workspace of the test's own home, with every built-in; the working directory is that home."""
    home = tmp_path / "home"
    copy_folder(_template.root, home / ".local/share/metnos")
    monkeypatch.chdir(home)
    return home / ".local/share/metnos"


@pytest.fixture
def medium(
    tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Medium]:
    """The turns that the commands of a test's module read: those which it imports as ``commands``."""
    made = Medium(Database(tmp_path / "medium.db", MIGRATIONS, clock=clock), clock)
    monkeypatch.setattr(request.module.commands, "open_app", lambda _: SimpleNamespace(medium=made))
    yield made
    made.db.close()


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """The program without a process of its own: for all but what only a process has, at a small part of the time."""

    def run(*arguments: str, **variables: str) -> Ran:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            code = main(arguments)
        seen = capsys.readouterr()
        return Ran(code, seen.out, seen.err)

    return run
