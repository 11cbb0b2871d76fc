"""What every test shares: a clean environment, a clock that stands still, and a founded workspace of its own.

`--soak` plays what is repeated (kills, escapes, fuzzing) many times more often; `make soak` says how often.
"""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import processes
from cli import warm
from copying import copy_folder, keep_folder
from metnos import app
from metnos.app import house
from metnos.core.clock import MovableClock
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.executors import perform
from metnos.law import founding, principal
from metnos.store import db
from metnos.synt import mutants
from sandboxes import LentPool
from support import START
from typist import sit_down

pytest_plugins = ["suite", "workers"]

_templates: list[Workspace] = []  # what was made before the workers began


@pytest.fixture(autouse=True, scope="session")
def _unsynced() -> Iterator[None]:
    """Nothing waits for the disk, which was most of the time: only a power cut could tell, and no test makes one."""
    really = db.pragma

    def pragma(connection: sqlite3.Connection, name: str, value: str) -> None:
        if name in ("journal_mode", "synchronous"):
            really(connection, "synchronous", "OFF")
        if name != "synchronous":
            really(connection, name, value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(db, "pragma", pragma)
        yield


@pytest.fixture(autouse=True, scope="session")
def _owner_is_here() -> Iterator[None]:
    """A test may speak as the owner in person. Who types a command is found out by `cli.person`, as in life."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(principal, "is_at_terminal", lambda: True)
        yield


@pytest.fixture(scope="session")
def loaded_program() -> Iterator[None]:
    """The program of the terminal is loaded once; see `cli.warm`."""
    with warm.loaded():
        yield


@pytest.fixture(autouse=True, scope="session")
def _lent_sandboxes(request: pytest.FixtureRequest) -> Iterator[None]:
    """A warm sandbox is passed on from test to test; with `--soak` each workspace starts its own, as in life."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption("--soak"):
            patch.setattr(house, "Pool", LentPool)
        yield
    LentPool.end_all()


@pytest.fixture(scope="session")
def _no_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where nothing can be: below a file."""
    nobody = tmp_path_factory.mktemp("homes") / "nobody"
    nobody.touch()
    return nobody / "home"


@pytest.fixture(scope="session")
def _apps() -> Iterator[list[app.App]]:
    """Every workspace that was opened, for whoever closes it."""
    opened: list[app.App] = []
    really = app.App.open.__func__  # type: ignore[attr-defined]  # the function behind the class method

    def remember(cls: type[app.App], *args: object, **kwargs: object) -> app.App:
        opened.append(really(cls, *args, **kwargs))
        return opened[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app.App, "open", classmethod(remember))
        yield opened


@pytest.fixture(autouse=True)
def _alone(
    _apps: list[app.App], _no_home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No setting of whoever runs the tests may reach them, and nothing they do may reach that home.

    A test with a folder of its own has its home there. Most tests need neither. Whatever a test opens is closed behind
    it: a long run must not gather open files. Whatever it starts ends with it. What had to be killed is its fault.
    """
    _apps.clear()  # those of a module or a session are closed by whoever opened them
    before = processes.children()
    _forget_settings(monkeypatch)
    home = _no_home
    if "tmp_path" in request.fixturenames:
        home = request.getfixturevalue("tmp_path") / "home"
        home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("METNOS_WEB__PORT", "0")  # many daemons run side by side
    yield
    while _apps:
        _apps.pop().close()
    left = processes.end_new(before)
    assert not left, f"still running after the test: {left}"


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock(START)


@pytest.fixture
def blank(tmp_path: Path) -> Workspace:
    """A workspace that was not founded."""
    return Workspace(tmp_path / "workspace")


@pytest.fixture(scope="session")
def _founded(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace as `founding` makes it, made once."""
    made = Workspace(tmp_path_factory.mktemp("founded") / "workspace")
    founding.found(made, Settings(), MovableClock(START))
    keep_folder(made.root)
    return made


@pytest.fixture
def workspace(_founded: Workspace, blank: Workspace) -> Workspace:
    """Founded, without the built-in executors: they take a while, and come by themselves to whoever asks for them."""
    copy_folder(_founded.root, blank.root)
    return blank


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace with every built-in executor, every database, and what they say of themselves embedded, made once."""
    return _templates[0] if _templates else _make_template(tmp_path_factory.mktemp("template"))


def pytest_workers_begin(session: pytest.Session, folder: Path) -> None:
    """One template for all workers, which have the embedder loaded by that as well."""
    if any("_template" in getattr(item, "fixturenames", ()) for item in session.items):
        _templates.append(_make_template(folder / "template"))


def _make_template(folder: Path) -> Workspace:
    made = Workspace(folder / "workspace")
    with pytest.MonkeyPatch.context() as patch:
        _forget_settings(patch)
        patch.setenv("HOME", str(folder))
        app.found(made, MovableClock(START))
        first = app.App.open(made, MovableClock(START))
        assert first.turns
        assert first.toolbox.kit().by_meaning()
        first.close()
    keep_folder(made.root)
    return made


def _forget_settings(patch: pytest.MonkeyPatch) -> None:
    """No setting of whoever runs the tests may reach them."""
    for name in list(os.environ):
        if name.startswith(("METNOS_", "XDG_")):
            patch.delenv(name)


@pytest.fixture
def equipped(_template: Workspace, blank: Workspace, clock: MovableClock) -> app.App:
    """An open workspace with every built-in executor."""
    copy_folder(_template.root, blank.root)
    return app.App.open(blank, clock)


@pytest.fixture
def typist(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A person at the terminal of this process, who types what they are asked to; every prompt that they saw."""
    return sit_down(monkeypatch)


@pytest.fixture
def opened(workspace: Workspace, clock: MovableClock) -> app.App:
    return app.App.open(workspace, clock)


@pytest.fixture(autouse=True, scope="module")
def _warm_births(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where drafts are made all day, they share a warm sandbox; with `--soak` each has one of its own, as in life.

    So it is in other folders, and in modules that say ``COLD = True``.
    """
    shared = request.path.parent.name in ("app", "cli", "story", "synt") and not getattr(request.module, "COLD", False)
    with pytest.MonkeyPatch.context() as patch:
        if shared and not request.config.getoption("--soak"):
            patch.setattr(perform, "_is_risky", lambda _: False)
        yield


@pytest.fixture
def no_mutants() -> Iterator[None]:
    """The last gate of a draft lets pass what comes so far: it takes longer than all others, and has its own tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutants, "prove", lambda *_args: mutants.Proof(1, (), 0, (), empty_lives=False))
        yield


@pytest.fixture
def defaults() -> Settings:
    return Settings()
