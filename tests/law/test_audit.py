import json
import random
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from killing import Say, at_work, wait_for_a_word
from metnos import app
from metnos.core.clock import MovableClock, SystemClock
from metnos.core.errors import AuditError
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import audit_log, founding
from metnos.law.audit_line import DAMAGED, HEAD_REBUILT, Entry
from metnos.law.audit_verify import Wrong
from metnos.law.principal import at_terminal
from suite import Repeat
from support import at_once, kinds, on_a_full_disk


def sound(opened: app.App) -> bool:
    return app.verify_audit(opened.workspace).sound


def log(opened: app.App, month: str = "2026-11") -> Path:
    return audit_log.path_of(opened.workspace.audit, month)


def test_lines_are_numbered_and_chained(opened: app.App) -> None:
    lines = [opened.audit.append(Entry("some act", {"n": str(n)})) for n in range(3)]
    assert [line.seq for line in lines] == [5, 6, 7]
    assert lines[1].prev == lines[0].hash
    head = opened.audit.head()
    assert head is not None
    assert (head.seq, head.hash, head.month) == (7, lines[2].hash, "2026-11")
    assert head.size == log(opened).stat().st_size
    assert sound(opened)


def test_a_line_is_on_the_disk_when_append_returns(opened: app.App) -> None:
    line = opened.audit.append(Entry("some act"))
    assert log(opened).read_bytes().endswith(line.encode())
    assert log(opened).stat().st_mode & 0o777 == 0o600


def test_a_new_month_begins_a_new_file_with_a_signed_checkpoint(opened: app.App, clock: MovableClock) -> None:
    clock.move(timedelta(days=20))
    line = opened.audit.append(Entry("some act"))
    assert line.month == "2026-12"
    assert audit_log.months(opened.workspace.audit) == ["2026-11", "2026-12"]
    assert kinds(opened.workspace)[-2:] == ["some act", "checkpoint"]
    assert sound(opened)


def test_a_clock_set_back_does_not_write_into_an_older_file(opened: app.App, clock: MovableClock) -> None:
    clock.move(timedelta(days=20))
    opened.audit.append(Entry("some act"))
    clock.move(timedelta(days=-60))
    line = opened.audit.append(Entry("some act"))
    assert (line.month, line.ts[:7]) == ("2026-12", "2026-10")
    assert sound(opened)


def test_checkpoints_come_at_their_interval(workspace: Workspace, clock: MovableClock) -> None:
    settings = Settings(audit={"checkpoint_every": 6})
    audit = founding.take_seat(workspace, settings, clock).audit
    for _ in range(20):
        audit.append(Entry("some act"))
    signed = [line.seq for line in audit.newest() if line.kind == "checkpoint"][::-1]
    assert signed == [6, 12, 18, 24]
    assert app.verify_audit(workspace).checkpoints == 4
    assert app.verify_audit(workspace).sound


def test_an_act_is_recorded_before_and_after(opened: app.App) -> None:
    with opened.audit.act(Entry("some act")) as intent:
        assert kinds(opened.workspace)[-1] == "some act"
        assert [line.seq for line in opened.audit.unfinished()] == [intent.seq]
    last = next(opened.audit.newest())
    assert (last.entry.names["phase"], last.entry.counts["intent"]) == ("done", intent.seq)
    assert opened.audit.unfinished() == []


def test_an_act_that_fails_is_recorded_as_failed(opened: app.App) -> None:
    with pytest.raises(ValueError, match="no"), opened.audit.act(Entry("some act")):
        raise ValueError("no")
    assert next(opened.audit.newest()).entry.names["phase"] == "failed"
    assert opened.audit.unfinished() == []


class TestWhatACrashLeaves:
    def test_a_whole_line_that_nobody_was_told_of_is_taken_up(self, opened: app.App) -> None:
        head = opened.audit.head()
        line = opened.audit.append(Entry("some act"))
        forget_back_to(opened, head)
        assert sound(opened)
        after = opened.audit.append(Entry("next act"))
        assert after.seq == line.seq + 2
        assert kinds(opened.workspace)[-3:] == ["some act", "audit recovered", "next act"]
        assert sound(opened)

    def test_a_whole_line_in_a_new_month_too(self, opened: app.App, clock: MovableClock) -> None:
        head = opened.audit.head()
        clock.move(timedelta(days=20))
        opened.audit.append(Entry("some act"))
        forget_back_to(opened, head)
        assert sound(opened)
        opened.audit.append(Entry("next act"))
        assert kinds(opened.workspace)[-4:] == ["some act", "checkpoint", "audit recovered", "next act"]
        assert sound(opened)

    def test_half_a_line_is_cut_off(self, opened: app.App) -> None:
        before = log(opened).read_bytes()
        with log(opened).open("ab") as file:
            file.write(b'{"counts":{},"dig')
        report = app.verify_audit(opened.workspace)
        assert report.sound
        assert "half a line" in report.notes[0]
        line = opened.audit.append(Entry("some act"))
        after = log(opened).read_bytes()
        assert after.startswith(before + b'{"counts":{"cut":17,"taken":0}')
        assert after.endswith(line.encode())
        assert sound(opened)

    @pytest.mark.parametrize("keep", [None, 20])
    def test_the_very_first_line_whole_or_half_is_no_sign_of_a_lost_store(
        self, opened: app.App, keep: int | None
    ) -> None:
        first = next(audit_log.raw_lines(log(opened).read_bytes()))
        log(opened).write_bytes(first[:keep])
        with opened.audit._db.write() as tx:
            tx.execute("DELETE FROM audit_head")
        opened.audit.append(Entry("next act"))
        assert kinds(opened.workspace)[-2:] == ["audit recovered", "next act"]
        assert HEAD_REBUILT not in kinds(opened.workspace)
        unsigned = {fault.wrong for fault in app.verify_audit(opened.workspace).faults}
        assert unsigned == ({Wrong.UNSIGNED} if keep else set()), "only the line that named the key is gone"

    def test_a_lost_store_is_rebuilt_and_said(self, opened: app.App) -> None:
        opened.audit.close()
        for path in opened.workspace.law.glob("audit.db*"):
            path.unlink()
        assert not app.verify_audit(opened.workspace).sound
        again = app.App.open(opened.workspace, opened.clock)
        again.audit.append(Entry("some act"))
        assert kinds(again.workspace)[-2:] == [HEAD_REBUILT, "some act"]
        report = app.verify_audit(opened.workspace)
        assert report.sound
        assert "lost and made again" in report.notes[0]


def forget_back_to(opened: app.App, head: audit_log.Head | None) -> None:
    """Set the store's head back, as if the process had died between the log and the store."""
    assert head is not None
    with opened.audit._db.write() as tx:
        opened.audit._write_head(tx, head)


class TestDamage:
    def test_a_cut_log_goes_on_and_never_hides_the_cut(self, opened: app.App) -> None:
        for _ in range(5):
            opened.audit.append(Entry("some act"))
        content = log(opened).read_bytes()
        log(opened).write_bytes(content[: content.rindex(b"\n", 0, -1) - 30])
        assert not sound(opened)
        opened.audit.append(Entry("next act"))
        assert kinds(opened.workspace)[-2:] == [DAMAGED, "next act"]
        assert not sound(opened)

    def test_a_foreign_line_is_left_and_named(self, opened: app.App) -> None:
        with log(opened).open("ab") as file:
            file.write(b"a line that nobody wrote\n")
        opened.audit.append(Entry("next act"))
        report = app.verify_audit(opened.workspace)
        assert [fault.place for fault in report.faults] == ["2026-11.jsonl:5"]
        assert b"a line that nobody wrote\n" in log(opened).read_bytes()

    def test_a_deleted_file_is_noticed(self, opened: app.App) -> None:
        log(opened).unlink()
        assert not sound(opened)
        opened.audit.append(Entry("next act"))
        assert not sound(opened)


class TestWhatCannotBeRecordedDoesNotHappen:
    def test_when_the_log_cannot_be_written(self, opened: app.App) -> None:
        before = opened.workspace.settings.read_bytes()
        log(opened).unlink()
        log(opened).mkdir()
        with pytest.raises(AuditError, match="cannot be written"):
            opened.set_setting("disk.need_free_mb", "1", at_terminal())
        assert opened.workspace.settings.read_bytes() == before

    def test_when_the_log_is_a_link_to_elsewhere(self, opened: app.App, tmp_path: Path) -> None:
        elsewhere = tmp_path / "elsewhere"
        log(opened).rename(elsewhere)
        log(opened).symlink_to(elsewhere)
        content = elsewhere.read_bytes()
        with pytest.raises(AuditError):
            opened.audit.append(Entry("some act"))
        assert elsewhere.read_bytes() == content

    def test_when_the_store_is_locked(self, opened: app.App) -> None:
        quick = app.App.open(opened.workspace, opened.clock)
        quick.audit._db._busy_timeout_s = 0.05
        quick.audit.close()
        with opened.audit.still(), pytest.raises(AuditError, match="too long"):
            quick.audit.append(Entry("some act"))

    @pytest.mark.slow
    def test_when_the_disk_is_full(self) -> None:
        seen = json.loads(on_a_full_disk(FULL_DISK, size=1 << 20))
        assert seen == {"refused": True, "unchanged": True, "sound": True, "recovered": True}


FULL_DISK = """
import json
from pathlib import Path
from metnos import app
from metnos.core.errors import AuditError
from metnos.core.workspace import Workspace
from metnos.core.clock import SystemClock
from metnos.core.sections import Settings
from metnos.law import founding
from metnos.law.audit_line import Entry

workspace = Workspace(Path("/mnt/workspace"))
founding.found(workspace, Settings(), SystemClock())
opened = app.App.open(workspace)
settings = workspace.settings.read_bytes()
filler = Path("/mnt/filler")
with filler.open("wb", buffering=0) as file:
    try:
        while True:
            file.write(b"x" * 512)
    except OSError:
        pass
refused = False
try:
    for _ in range(100):  # what is left in half-full pages may still take a few
        opened.audit.append(Entry("some act"))
    opened.set_setting("disk.need_free_mb", "1", at_terminal())
except AuditError:
    refused = True
unchanged = workspace.settings.read_bytes() == settings
sound = app.verify_audit(workspace).sound
filler.unlink()
opened.audit.append(Entry("some act"))
print(json.dumps({"refused": refused, "unchanged": unchanged, "sound": sound,
                  "recovered": app.verify_audit(workspace).sound}))
"""


@pytest.mark.slow
def test_proving_the_log_while_others_write_disturbs_nobody(workspace: Workspace) -> None:
    """Opening a second door to the audit's database in one process must not cost the first one its locks."""
    ours = app.App.open(workspace)

    def append_and_verify() -> list[object]:
        alarms: list[object] = []
        for _ in range(15):
            ours.audit.append(Entry("our act"))
            report = app.verify_audit(workspace)
            alarms += [*report.faults, *report.notes]
        return alarms

    returned = at_once([append_and_verify, *(partial(_append_many, workspace, number) for number in range(8))])
    assert [alarm for alarms in returned for alarm in alarms or ()] == [], "a line being written is no fault"
    report = app.verify_audit(workspace)
    assert report.sound, report.faults[:3]
    assert kinds(workspace).count("our act") == 15


def test_an_end_that_cannot_be_recorded_says_that_it_was_done(opened: app.App, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(AuditError, match="was done, but its end could not be recorded"),
        opened.audit.act(Entry("some act")),
    ):
        monkeypatch.setattr(opened.audit, "append", _refuse)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="the real reason"), opened.audit.act(Entry("some act")):
        monkeypatch.setattr(opened.audit, "append", _refuse)
        raise ValueError("the real reason")


def _refuse(*_: object) -> None:
    raise AuditError("no")


def _append_many(workspace: Workspace, number: int) -> None:
    audit = founding.take_seat(workspace, Settings(), SystemClock()).audit
    for each in range(40):
        audit.append(Entry("some act", {"who": f"{number}-{each}"}))


@pytest.mark.slow
def test_processes_write_one_chain(workspace: Workspace) -> None:
    at_once([partial(_append_many, workspace, number) for number in range(5)])
    report = app.verify_audit(workspace)
    assert report.sound, report.faults[:3]
    who = {line.entry.names.get("who") for line in audit_log.backwards(workspace.audit)}
    assert len(who - {None}) == 200


def _append_for_ever(workspace: Workspace, name: str, acknowledge: Say) -> None:
    audit = founding.take_seat(workspace, Settings(), SystemClock()).audit
    number = 0
    while True:
        number += 1
        audit.append(Entry("some act", {"who": f"{name}-{number}"}))
        acknowledge(f"{name}-{number}")


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_writers_lose_no_line_and_break_no_chain(workspace: Workspace, repeat: Repeat) -> None:
    chance = random.Random(3)
    acknowledged: set[str] = set()
    for round_ in repeat("kills of four writers of an audit log", suite=5, soak=110):
        works = [partial(_append_for_ever, workspace, f"{round_}.{writer}") for writer in range(4)]
        with at_work(*works) as writers:
            wait_for_a_word(*writers)
            for writer in writers:
                time.sleep(chance.random() * 0.01)
                acknowledged.update(writer.kill())
        assert len(acknowledged) > round_
    report = app.verify_audit(workspace)
    assert report.sound, report.faults[:3]
    audit = founding.take_seat(workspace, Settings(), SystemClock()).audit
    assert audit.doubt() is None
    audit.append(Entry("some act"))
    report = app.verify_audit(workspace)
    assert report.sound, report.faults[:3]
    recorded = {line.entry.names.get("who") for line in audit_log.backwards(workspace.audit)}
    assert acknowledged <= recorded
