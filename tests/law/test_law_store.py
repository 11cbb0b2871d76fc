"""An older copy of law.db stops all acting until it is accepted; nothing that honest processes do looks like one."""

import random
import shutil
import time
from functools import partial
from pathlib import Path

import pytest

from killing import Say, at_work, wait_for_a_word
from law.asks import OWNER, Court, ask
from metnos import app
from metnos.core.clock import SystemClock
from metnos.core.errors import Refused
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.audit_line import ACCEPTED, DOUBTED
from metnos.law.capability import Capability
from metnos.law.law_store import LawStore
from metnos.law.pairing import Pairing
from metnos.law.principal import Autonomy, Channel, at_terminal
from suite import Repeat
from support import agreed, at_once, kinds


def reopened(opened: app.App) -> app.App:
    opened.close()
    return app.App.open(opened.workspace, opened.clock)


def give(opened: app.App, folder: str = "/home/owner") -> str:
    return opened.grants.grant("*", Capability.FS_WRITE, folder, days=9, by=OWNER).id


def seen(opened: app.App) -> Path:
    path = opened.seat.db.seen
    assert path is not None
    return path


def save(opened: app.App, to: Path) -> app.App:
    """Copy law.db while nothing has it open."""
    opened.close()
    to.mkdir()
    for path in opened.workspace.law.glob("law.db*"):
        shutil.copy2(path, to)
    return app.App.open(opened.workspace, opened.clock)


def put_back(opened: app.App, saved: Path) -> app.App:
    opened.close()
    for path in opened.workspace.law.glob("law.db*"):
        path.unlink()
    for path in saved.iterdir():
        shutil.copy2(path, opened.workspace.law)
    return app.App.open(opened.workspace, opened.clock)


def acts(opened: app.App) -> bool:
    try:
        return Court.over(opened).policy().decide(ask()).verdict != "refuse"
    except Refused:
        return False


class TestWhatIsDoubted:
    def test_a_grant_that_was_revoked_does_not_come_back(self, opened: app.App, tmp_path: Path) -> None:
        given = give(opened)
        again = save(opened, tmp_path / "saved")
        again.grants.revoke(given, OWNER)
        third = put_back(again, tmp_path / "saved")
        assert not acts(third)
        assert not acts(reopened(third))
        assert kinds(third.workspace).count(DOUBTED) == 1

    def test_a_device_that_was_removed_does_not_come_back_unseen(self, opened: app.App, tmp_path: Path) -> None:
        code = opened.pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER)
        device, _ = opened.pairing.redeem(code, Channel.WEB)
        again = save(opened, tmp_path / "saved")
        again.pairing.revoke(device.id, OWNER)
        assert not acts(put_back(again, tmp_path / "saved"))

    def test_it_stays_in_doubt_however_much_is_stored_since(self, opened: app.App, tmp_path: Path) -> None:
        again = save(opened, tmp_path / "saved")
        for number in range(3):
            give(again, f"/home/owner/{number}")
        third = put_back(again, tmp_path / "saved")
        for number in range(6):
            give(third, f"/home/owner/{number}")
        assert not acts(reopened(third))

    def test_a_process_that_runs_already_notices(self, opened: app.App) -> None:
        opened.seat.db._keep(10**6)
        assert not acts(opened)

    @pytest.mark.parametrize("content", [b"", b"\0" * 32, b"a" * 32])
    def test_a_damaged_count(self, opened: app.App, content: bytes) -> None:
        give(opened)
        seen(opened).write_bytes(content)
        again = reopened(opened)
        assert not acts(again)
        again.seat.accept(at_terminal())
        assert acts(again)

    def test_the_owner_accepts_it_and_any_other_copy_is_an_older_one_then(
        self, opened: app.App, tmp_path: Path
    ) -> None:
        first = save(opened, tmp_path / "first")
        given = give(first)
        second = save(first, tmp_path / "second")
        second.grants.revoke(given, OWNER)
        third = put_back(second, tmp_path / "first")
        assert len(third.seat.doubts()) == 1
        assert len(third.seat.accept(at_terminal())) == 1
        assert acts(reopened(third))
        assert kinds(third.workspace)[-1] == ACCEPTED
        assert not acts(put_back(third, tmp_path / "second"))


class TestWhatIsNot:
    def test_a_store_that_was_lost_and_its_old_copies_are_older_ones_then(
        self, opened: app.App, tmp_path: Path
    ) -> None:
        give(opened)
        again = save(opened, tmp_path / "saved")
        again.close()
        for path in opened.workspace.law.glob("law.db*"):
            path.unlink()
        third = app.App.open(opened.workspace, opened.clock)
        assert acts(third)
        assert not acts(put_back(third, tmp_path / "saved"))

    def test_a_count_that_was_lost_or_is_late(self, opened: app.App) -> None:
        give(opened)
        late = seen(opened).read_bytes()
        give(opened, "/home/owner/more")
        newest = seen(opened).read_bytes()
        assert late != newest
        seen(opened).write_bytes(late)
        again = reopened(opened)
        assert acts(again)
        assert seen(again).read_bytes() == newest
        seen(again).unlink()
        assert acts(reopened(again))
        assert seen(again).read_bytes() == newest

    def test_an_account_without_a_home(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/dev/null/nowhere")
        opened = app.App.open(workspace)
        give(opened)
        assert not opened.seat.db.is_older()

    def test_a_backup_that_the_owner_puts_back(self, opened: app.App, tmp_path: Path) -> None:
        saved = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, lambda *_: None, opened.clock).path
        give(opened)
        opened.close()
        app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
        assert acts(app.App.open(opened.workspace))

    def test_reading_counts_nothing(self, opened: app.App) -> None:
        give(opened)
        before = seen(opened).read_bytes()
        with opened.seat.db.write() as tx:
            tx.query("SELECT 1")
        assert acts(reopened(opened))
        assert seen(opened).read_bytes() == before

    @pytest.mark.slow
    def test_processes_that_write_and_look_at_once(self, workspace: Workspace) -> None:
        assert at_once([partial(_write_and_look, workspace)] * 5) == [False] * 5

    @pytest.mark.repeated
    def test_a_process_that_is_killed_at_any_moment(self, workspace: Workspace, repeat: Repeat) -> None:
        app.App.open(workspace).close()
        chance = random.Random(11)
        for _ in repeat("kills while the store of the Laws is written", suite=6, soak=100):
            with at_work(partial(_write_on, workspace)) as (worker,):
                wait_for_a_word(worker)
                time.sleep(chance.random() * 0.03)
                worker.kill()
            opened = app.App.open(workspace)
            assert opened.seat.doubts() == []
            assert acts(opened)
            opened.close()


def _store(workspace: Workspace) -> tuple[LawStore, Pairing]:
    seat = founding.take_seat(workspace, Settings(), SystemClock())
    return seat.db, Pairing(seat.db, seat.signer, SystemClock(), seat.audit)


def _write_on(workspace: Workspace, say: Say) -> None:
    _, pairing = _store(workspace)
    while True:
        pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER)
        say("one more")


def _write_and_look(workspace: Workspace) -> bool:
    db, pairing = _store(workspace)
    older = False
    for _ in range(25):
        pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER)
        older = older or db.is_older()
    return older
