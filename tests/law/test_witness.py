"""What remembers the audit from outside: a log that was cut, replaced or rolled back stops all acting until it is
accepted, and nothing that honest processes do ever looks like that."""

import shutil
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copying import copy_folder
from law.asks import OWNER, Court, ask
from metnos import app
from metnos.core import files
from metnos.core.clock import MovableClock, SystemClock
from metnos.core.errors import Refused
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import audit_log, founding, witness
from metnos.law.audit import Audit, read_head
from metnos.law.audit_line import ACCEPTED, DAMAGED, DOUBTED, HEAD_REBUILT, RECOVERED, Entry
from metnos.law.audit_log import Head
from metnos.law.principal import Channel, at_terminal, of_account
from support import at_once, kinds


def write(audit: Audit, count: int = 5) -> None:
    for _ in range(count):
        audit.append(Entry("some act"))


def reopened(opened: app.App) -> app.App:
    opened.close()
    return app.App.open(opened.workspace, opened.clock)


def log(opened: app.App) -> Path:
    return audit_log.path_of(opened.workspace.audit, "2026-11")


def cut(opened: app.App, lines: int) -> None:
    """Take the last lines away, whole."""
    path = log(opened)
    path.write_bytes(b"".join(list(audit_log.raw_lines(path.read_bytes()))[:-lines]))


def forget_store(opened: app.App) -> None:
    opened.close()
    for path in opened.workspace.law.glob("audit.db*"):
        path.unlink()


def refused(opened: app.App) -> bool:
    """Whether the policy refuses what it would ask about, or allow."""
    court = Court.over(opened)
    try:
        return court.policy().decide(ask()).verdict == "refuse"
    except Refused:
        return True


class TestWhatIsDoubted:
    def test_a_cut_log_whose_store_was_lost_and_it_stays_so_when_the_log_has_grown_again(self, opened: app.App) -> None:
        write(opened.audit, 6)
        cut(opened, 4)
        forget_store(opened)
        again = reopened(opened)
        assert again.audit.doubt()
        assert refused(again)
        write(again.audit, 12)
        assert again.audit.doubt()
        forget_store(again)
        third = reopened(again)
        assert refused(third)
        write(third.audit, 1)
        assert third.audit.doubt()

    def test_a_whole_workspace_that_was_rolled_back(self, opened: app.App, tmp_path: Path) -> None:
        write(opened.audit)
        opened.close()
        copy_folder(opened.workspace.root, tmp_path / "before")
        again = reopened(opened)
        court = Court.over(again)
        grant = court.grants.grant("*", "fs.write", "/home/owner", days=9, by=OWNER)  # type: ignore[arg-type]
        court.grants.revoke(grant.id, OWNER)
        again.close()
        shutil.rmtree(opened.workspace.root)
        (tmp_path / "before").rename(opened.workspace.root)
        third = reopened(again)
        assert third.audit.doubt()
        assert refused(third)
        with pytest.raises(Refused):
            Court.over(third).policy().permit(ask(), Court.over(third).preview)
        assert kinds(third.workspace).count(DOUBTED) == 1

    def test_a_log_that_was_removed_with_its_store(self, opened: app.App) -> None:
        write(opened.audit)
        log(opened).unlink()
        forget_store(opened)
        assert reopened(opened).audit.doubt()

    def test_a_cut_tail_and_a_foreign_line(self, opened: app.App) -> None:
        write(opened.audit)
        cut(opened, 2)
        assert opened.audit.doubt()
        assert DAMAGED in kinds(opened.workspace)
        opened.audit.accept(at_terminal())
        assert opened.audit.doubt() is None
        with log(opened).open("ab") as file:
            file.write(b"a line that nobody wrote\n")
        write(opened.audit, 1)
        assert opened.audit.doubt()
        assert reopened(opened).audit.doubt()

    def test_a_lost_store_and_a_lost_witness(self, opened: app.App) -> None:
        write(opened.audit)
        path = opened.audit.witness.path
        assert path is not None
        path.unlink()
        forget_store(opened)
        assert reopened(opened).audit.doubt()

    @pytest.mark.parametrize("content", [b"", b"1:2:3", b"\0" * 512, None])
    def test_a_damaged_or_forged_witness(self, opened: app.App, content: bytes | None) -> None:
        write(opened.audit)
        path = opened.audit.witness.path
        assert path is not None
        if content is None:
            seq, _, rest = path.read_bytes().partition(b":")
            content = b"%d:" % (int(seq) - 1) + rest
        path.write_bytes(content)
        again = reopened(opened)
        assert again.audit.doubt()
        again.audit.accept(at_terminal())
        assert again.audit.doubt() is None

    def test_only_accepting_ends_it_and_the_audit_says_so(self, opened: app.App) -> None:
        write(opened.audit)
        cut(opened, 3)
        forget_store(opened)
        again = reopened(opened)
        assert refused(again)
        assert len(again.audit.accept(at_terminal())) == 1
        assert not refused(again)
        assert not refused(reopened(again))
        last = next(again.audit.newest())
        assert (last.kind, last.entry.names["channel"]) == (ACCEPTED, "terminal")
        assert again.audit.accept(at_terminal()) == []


class TestWhatIsNot:
    def test_a_store_that_was_lost_while_the_witness_vouches(self, opened: app.App) -> None:
        write(opened.audit)
        forget_store(opened)
        again = reopened(opened)
        write(again.audit, 1)
        assert HEAD_REBUILT in kinds(again.workspace)
        assert again.audit.doubt() is None

    def test_a_witness_that_was_lost_while_the_store_vouches(self, opened: app.App) -> None:
        write(opened.audit)
        path = opened.audit.witness.path
        assert path is not None
        path.unlink()
        again = reopened(opened)
        assert again.audit.doubt() is None
        write(again.audit, 1)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700

    def test_a_power_cut_after_its_first_line(self, opened: app.App, monkeypatch: pytest.MonkeyPatch) -> None:
        path = opened.audit.witness.path
        assert path is not None
        path.unlink(missing_ok=True)
        synced: list[str] = []
        monkeypatch.setattr(files, "sync_folder", lambda folder: synced.append(str(folder)))
        write(opened.audit, 1)
        assert synced == [str(path.parent)], "it never has a name before its content is on the disk"

    @pytest.mark.parametrize("back", ["store", "witness", "both"])
    def test_what_a_killed_writer_leaves_between_two_of_its_steps(self, opened: app.App, back: str) -> None:
        write(opened.audit)
        path = opened.audit.witness.path
        assert path is not None
        record, head = path.read_bytes(), opened.audit.head()
        assert head is not None
        write(opened.audit, 1)
        if back in ("witness", "both"):
            path.write_bytes(record)
        if back in ("store", "both"):
            with opened.audit._db.write() as tx:
                opened.audit._write_head(tx, head)
        again = reopened(opened)
        assert again.audit.doubt() is None
        assert (RECOVERED in kinds(again.workspace)) == (back != "witness")
        assert app.verify_audit(again.workspace).sound

    def test_a_copy_and_a_moved_workspace(self, opened: app.App, tmp_path: Path) -> None:
        write(opened.audit)
        opened.close()
        copy_folder(opened.workspace.root, tmp_path / "copy")
        write(reopened(opened).audit)
        copied = app.App.open(Workspace(tmp_path / "copy"), opened.clock)
        write(copied.audit, 2)
        assert copied.audit.doubt() is None
        copied.close()
        (tmp_path / "copy").rename(tmp_path / "moved")
        assert app.App.open(Workspace(tmp_path / "moved"), opened.clock).audit.doubt() is None

    def test_a_backup_that_the_owner_puts_back(self, opened: app.App, tmp_path: Path) -> None:
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, lambda *_: None, opened.clock)
        write(opened.audit)
        opened.close()
        app.restore(
            tmp_path / "b.tar.gz", opened.workspace, replace=True, passphrase=None, agree=lambda _: at_terminal()
        )
        again = reopened(opened)
        assert again.audit.doubt() is None
        assert ACCEPTED in kinds(again.workspace)

    def test_an_account_without_a_home(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/dev/null/nowhere")
        opened = app.App.open(workspace, MovableClock(SystemClock().now()))
        write(opened.audit)
        assert opened.audit.doubt() is None

    @pytest.mark.slow
    def test_processes_that_write_and_look_at_once(self, workspace: Workspace) -> None:
        doubts = at_once([partial(_write_and_look, workspace)] * 5)
        assert doubts == [[]] * 5


def _write_and_look(workspace: Workspace) -> list[str]:
    audit = founding.take_seat(workspace, Settings(), SystemClock()).audit
    found = []
    for _ in range(30):
        audit.append(Entry("some act"))
        found.append(audit.doubt())
    return [each for each in found if each is not None]


@given(
    st.lists(st.sampled_from("abcdef"), max_size=12),
    st.lists(st.sampled_from("abcdef"), max_size=12),
    st.integers(0, 12),
)
def test_a_log_is_trusted_exactly_if_it_goes_on_from_what_the_witness_saw(
    seen: list[str], log: list[str], more: int
) -> None:
    """A log is a list of hashes here; what the witness saw is one, and the log is that with more behind it, or any."""
    grown = seen + log[:more]
    record = head_of(seen)
    for found in (grown, log):
        honest = found[: len(seen)] == seen
        hashes = {number: hash_of(found[:number]) for number in range(1, len(found) + 1)}
        if record is not None:
            doubted = witness.judge(record, head_of(found), hashes.get)
            assert (doubted is None) == honest


def hash_of(log: list[str]) -> str:
    return "".join(log).rjust(64, "0")


def head_of(log: list[str]) -> Head | None:
    return Head(len(log), hash_of(log), "2026-11", 7, "f" * 128) if log else None


def test_what_the_store_remembers_is_what_the_witness_says(opened: app.App) -> None:
    write(opened.audit)
    assert opened.audit.witness.read() == read_head(opened.audit._db)


@pytest.mark.parametrize("channel", [each for each in Channel if not of_account(each).may_answer])
def test_only_a_person_accepts_the_audit(opened: app.App, channel: Channel) -> None:
    with pytest.raises(Refused):
        opened.audit.accept(of_account(channel))
