"""Executors that come with a backup: nobody signed a stranger's, and an own old one frees nothing that was stopped."""

from pathlib import Path

import pytest

from executors.samples import sample_files
from metnos import app
from metnos.app import App
from metnos.core.canon import sha256_hex
from metnos.core.errors import NotTrusted
from metnos.core.workspace import Workspace
from metnos.executors import folder, index
from metnos.executors.state import State
from metnos.law.arrival import Arrival
from metnos.law.principal import Principal
from signing import adopt
from support import agreed

NAME = "sample_lines"
WORDS = "correct horse"


def quiet(_name: str, _size: int) -> None:
    pass


@pytest.fixture
def own(equipped: App) -> App:
    """A workspace with an executor of the owner's own."""
    adopt(equipped, NAME, sample_files(NAME))
    return equipped


def backup(opened: App, target: Path, words: str | None = WORDS) -> Path:
    return app.backup(opened.workspace, target, words, quiet, opened.clock).path


@pytest.mark.parametrize("passphrase", [None, WORDS])
def test_of_another_agent_no_executor_is_active_before_it_is_signed_here(
    own: App, tmp_path: Path, passphrase: str | None
) -> None:
    """With the key of whoever signed them, too, which is the key of the workspace from then on."""
    path, target = backup(own, tmp_path / "b.tar.gz"), Workspace(tmp_path / "elsewhere")
    shown: list[Arrival] = []

    def agree(arrival: Arrival) -> Principal:
        shown.append(arrival)
        return agreed(arrival)

    app.restore(path, target, replace=False, passphrase=passphrase, agree=agree)
    assert shown[0].more["executors"] == (NAME,)
    restored = App.open(target)
    assert restored.catalog.look(NAME).state is State.QUARANTINE
    with pytest.raises(NotTrusted):
        restored.catalog.get(NAME)
    assert {each.name for each in restored.catalog.usable()} == {each.name for each in own.catalog.usable()} - {NAME}
    restored.close()


def test_what_was_stopped_since_an_own_backup_stays_stopped(own: App, tmp_path: Path) -> None:
    path = backup(own, tmp_path / "b.tar.gz", None)
    code = sha256_hex(sample_files(NAME)[folder.SOURCE])
    own.catalog.change(NAME, State.REVOKED, "it did harm")
    own.catalog.change("read_files", State.DISABLED, "not wanted")
    own.close()
    app.restore(path, own.workspace, replace=True, passphrase=None, agree=agreed)
    restored = App.open(own.workspace)
    assert restored.catalog.look(NAME).state is State.REVOKED
    assert restored.catalog.look("read_files").state is State.DISABLED
    assert index.is_revoked(restored.catalog.db, code)
    assert restored.catalog.get("find_files").state is State.ACTIVE
    assert app.verify_audit(own.workspace).sound
    restored.close()


def test_an_own_backup_brings_its_executors_back_as_they_are(own: App, tmp_path: Path) -> None:
    path = backup(own, tmp_path / "b.tar.gz", None)
    own.close()
    app.restore(path, own.workspace, replace=True, passphrase=None, agree=agreed)
    restored = App.open(own.workspace)
    assert restored.catalog.get(NAME).state is State.ACTIVE
    restored.close()


def test_where_it_cannot_be_known_what_was_stopped_nothing_is_active_unseen(own: App, tmp_path: Path) -> None:
    path = backup(own, tmp_path / "b.tar.gz", None)
    own.close()
    for side in own.workspace.mnestome.glob("mnest.sqlite*"):
        side.unlink()
    own.workspace.mnest_db.write_bytes(b"no database any more" * 100)
    app.restore(path, own.workspace, replace=True, passphrase=None, agree=agreed)
    restored = App.open(own.workspace)
    assert restored.catalog.look(NAME).state is State.QUARANTINE
    assert restored.catalog.get("find_files").state is State.ACTIVE
    restored.close()


def test_a_list_of_servers_that_is_none_does_not_come_along(equipped: App, tmp_path: Path) -> None:
    equipped.workspace.mcp_servers.write_text("[" * 50_000)
    path, target = backup(equipped, tmp_path / "b.tar.gz", None), Workspace(tmp_path / "elsewhere")
    app.restore(path, target, replace=False, passphrase=None, agree=agreed)
    assert not target.mcp_servers.exists()
