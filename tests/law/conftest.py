"""A policy over a workspace of its own, and an archive that others change, for tests of the law."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from law.asks import Court
from law.hostile import quiet
from metnos import app
from metnos.app import tables
from metnos.core import seal
from metnos.core.workspace import Workspace
from metnos.law.audit_line import Entry
from metnos.store import archive


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


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory, _founded: Workspace) -> Path:
    """What an honest archive of another agent unpacks to, with its key beside it."""
    folder = tmp_path_factory.mktemp("honest")
    there = Workspace(folder / "there")
    shutil.copytree(_founded.root, there.root)
    opened = app.App.open(there)
    for _ in range(5):
        opened.audit.append(Entry("thing done"))
    for path, migrations in tables.of_workspace(there).items():
        opened._database(path, migrations)
    made = app.backup(there, folder / "a.tar.gz", None, quiet).path
    opened.close()
    (folder / "plain").mkdir()
    archive.read(made, into=folder / "plain")
    shutil.copy2(there.secret_key, folder / "key")
    return folder / "plain"


@pytest.fixture
def key(honest: Path) -> Path:
    return honest.parent / "key"
