import contextlib
import json
import os
import random
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from killing import Say, at_work, wait_for_a_word
from law.asks import OWNER, Court, others
from metnos import app
from metnos.core.errors import AuditError, Refused, StoreError, WorkspaceError
from metnos.core.fixed_file import FixedFile
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.audit_line import Entry
from metnos.law.halt import HALTED, READY, Halts
from metnos.law.halt_file import MAY_ACT, HaltNote
from metnos.law.principal import Principal
from suite import Repeat
from support import at_once, kinds, on_a_full_disk


def lose_store(workspace: Workspace) -> None:
    for path in workspace.law.glob("law.db*"):
        path.unlink()


def let_act(court: Court) -> None:
    """A halt file that says, rightly or not, that anything may act."""
    court.opened.workspace.halt_file.write_bytes(replace(MAY_ACT, announced=True).encode())


def again(court: Court) -> Halts:
    """What a new start finds."""
    court.opened.close()
    return app.App.open(court.opened.workspace, court.opened.clock).halts


def test_it_holds_until_the_owner_lifts_it(court: Court) -> None:
    assert court.halts.halted() is None
    court.halts.halt("smoke")
    court.halts.halt("fire")
    assert "fire" in (court.halts.why() or "")
    assert court.halts.lift(OWNER)
    assert court.halts.halted() is None
    assert not court.halts.lift(OWNER)
    assert kinds(court.opened.workspace)[-3:] == ["everything halted", "everything halted", "halt lifted"]


def test_it_holds_in_every_process(court: Court) -> None:
    at_once([lambda: court.halts.halt("from elsewhere")])
    assert "from elsewhere" in (court.halts.why() or "")


@pytest.mark.parametrize("stranger", others(), ids=str)
def test_nobody_else_lifts_it(court: Court, stranger: Principal) -> None:
    court.halts.halt("x")
    with pytest.raises(Refused):
        court.halts.lift(stranger)
    assert court.halts.halted() is not None


def test_what_is_halted_for_good_nobody_lifts(court: Court) -> None:
    court.halts.halt("it is retired", for_good=True)
    court.halts.halt("fire")
    with pytest.raises(Refused, match="for good: it is retired"):
        court.halts.lift(OWNER)
    assert court.halts.is_for_good()
    halt = court.halts.halted()
    assert halt is not None
    assert "fire" in halt.why
    assert "--lift" not in halt.fix


def test_without_a_reason_it_holds_too(court: Court) -> None:
    court.halts.halt("")
    assert court.halts.halted()


def test_stopping_does_not_wait_for_the_audit_and_lifting_does(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    court.halts.halt("x")
    court.halts.lift(OWNER)
    monkeypatch.setattr(type(court.opened.audit), "append", _full)
    with pytest.raises(AuditError):
        court.halts.halt("smoke")
    assert court.halts.halted() is not None
    with pytest.raises(AuditError):
        court.halts.lift(OWNER)
    assert court.halts.halted() is not None


class TestOfALostStore:
    def test_the_halt_holds_and_is_in_the_store_again(self, court: Court) -> None:
        court.halts.halt("smoke")
        lose_store(court.opened.workspace)
        found = again(court)
        assert found.halted()
        let_act(court)
        assert found.halted(), "the file is not all that knows of it"

    def test_it_is_learnt_from_the_audit_alone(self, court: Court) -> None:
        court.halts.halt("smoke")
        let_act(court)
        lose_store(court.opened.workspace)
        found = again(court)
        assert found.halted()
        assert found.lift(OWNER)
        assert found.halted() is None

    def test_what_was_lifted_stays_lifted(self, court: Court) -> None:
        court.halts.halt("smoke")
        court.halts.lift(OWNER)
        lose_store(court.opened.workspace)
        assert again(court).halted() is None

    def test_what_was_for_good_stays_so(self, court: Court) -> None:
        court.halts.halt("retired", for_good=True)
        let_act(court)
        lose_store(court.opened.workspace)
        found = again(court)
        assert found.is_for_good()
        with pytest.raises(Refused):
            found.lift(OWNER)

    def test_for_good_is_in_the_file_as_well_and_no_later_halt_takes_it_away(self, court: Court) -> None:
        court.halts.halt("retired", for_good=True)
        court.halts.halt("fire")
        with court.opened.seat.db.write() as tx:
            tx.execute("DELETE FROM halts")
        assert court.halts.is_for_good()
        with pytest.raises(Refused):
            court.halts.lift(OWNER)


class TestTheFile:
    def test_a_workspace_is_founded_with_it_and_the_audit_knows(self, court: Court) -> None:
        workspace = court.opened.workspace
        assert workspace.halt_file.stat().st_mode & 0o777 == 0o600
        assert court.halts.file.read() == replace(MAY_ACT, announced=True)
        created = next(line for line in court.opened.audit.newest() if line.kind == founding.CREATED)
        assert created.entry.counts["halt_file"] == 1

    @pytest.mark.parametrize(
        "content", [None, b"", b"\0" * 4096, b"{}", MAY_ACT.encode()[:-1], MAY_ACT.encode() + b" "]
    )
    def test_missing_or_damaged_it_halts_also_at_the_next_start_and_the_owner_lifts_it(
        self, court: Court, content: bytes | None
    ) -> None:
        path = court.opened.workspace.halt_file
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        assert court.halts.halted()
        found = again(court)
        assert found.halted()
        founding.found(court.opened.workspace, Settings(), court.opened.clock)
        assert found.halted(), "`metnos init` lifts nothing"
        assert found.lift(OWNER)
        assert found.halted() is None
        assert again(court).halted() is None

    def test_a_link_to_one_that_says_yes_halts(self, court: Court, tmp_path: Path) -> None:
        path = court.opened.workspace.halt_file
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        assert court.halts.halted()

    def test_a_workspace_of_an_older_version_gets_one_at_its_next_start(self, court: Court) -> None:
        older(court)
        assert again(court).halted() is None
        assert kinds(court.opened.workspace)[-1] == READY
        assert again(court).halted() is None
        assert kinds(court.opened.workspace).count(READY) == 1
        court.opened.workspace.halt_file.unlink()
        assert again(court).halted()

    def test_an_older_one_that_is_halted_stays_so(self, court: Court) -> None:
        court.halts.halt("smoke")
        older(court)
        found = again(court)
        assert found.file.read().halted

    def test_what_only_the_file_knows_is_told_to_store_and_audit_at_the_next_start(self, court: Court) -> None:
        note = court.halts.note("smoke")
        court.halts.file.halt(note)
        found = again(court)
        last = next(court.opened.audit.newest())
        assert (last.kind, last.entry.names["halt"]) == (HALTED, note.id)
        let_act(court)
        assert "smoke" in (found.why() or "")
        again(court)
        assert kinds(court.opened.workspace).count(HALTED) == 1

    def test_a_store_that_cannot_be_read_neither_lifts_it_nor_hides_why(self, court: Court) -> None:
        court.halts.halt("smoke")
        court.opened.seat.db.close()
        court.opened.workspace.law_db.write_bytes(b"no database at all" * 300)
        halt = court.halts.halted()
        assert halt is not None
        assert "smoke" in halt.why
        let_act(court)
        with pytest.raises(StoreError):
            court.halts.halted()

    @pytest.mark.parametrize("reason", ["\udcff\x00", "a" * 5000, "\n\x1b[2J", "é" * 1000, '"' * 5000])
    def test_any_reason_fits(self, court: Court, reason: str) -> None:
        note = court.halts.note(reason)
        court.halts.file.halt(note)
        assert court.halts.file.read().id == note.id
        assert len(court.opened.workspace.halt_file.read_bytes()) == 4096


class TestOfTwoAtOnce:
    def test_what_the_audit_could_not_be_told_it_is_told_later(
        self, court: Court, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        really = type(court.opened.audit).append
        with monkeypatch.context() as full:
            full.setattr(type(court.opened.audit), "append", _full)
            with pytest.raises(AuditError):
                court.halts.halt("retired", for_good=True)
        assert type(court.opened.audit).append is really
        again(court)
        assert kinds(court.opened.workspace).count(HALTED) == 1
        lose_store(court.opened.workspace)
        let_act(court)
        assert again(court).is_for_good()

    def test_a_halt_that_was_only_stored_is_recorded_at_the_next_start_once(self, court: Court) -> None:
        note = court.halts.note("smoke")
        court.halts.file.halt(note)
        with court.opened.seat.db.write() as tx:
            row = (note.id, note.ts, note.reason)
            tx.execute("INSERT INTO halts (id, ts, reason) VALUES (?, ?, ?)", row)
        again(court)
        again(court)
        assert kinds(court.opened.workspace).count(HALTED) == 1

    @pytest.mark.parametrize("step", ["audit", "commit"])
    def test_a_panic_while_another_halt_is_lifted_stays(
        self, court: Court, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        court.halts.halt("smoke")
        newer = court.halts.note("fire")
        really = court.opened.audit.append

        def meanwhile(entry: Entry) -> object:
            court.halts.file.halt(newer)
            return really(entry)

        if step == "audit":
            monkeypatch.setattr(court.halts._audit, "append", meanwhile)
        else:
            monkeypatch.setattr(court.halts, "_lift_all", lambda _: court.halts.file.halt(newer))
        with pytest.raises(Refused):
            court.halts.lift(OWNER)
        assert court.halts.file.read().id == newer.id
        monkeypatch.undo()
        assert "fire" in (again(court).why() or "")

    def test_a_panic_while_a_start_announces_the_file_stays(
        self, court: Court, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        older(court)
        opened = app.App.open(court.opened.workspace, court.opened.clock)
        halts = opened.halts
        court.opened.workspace.halt_file.write_bytes(MAY_ACT.encode())
        newer = halts.note("fire")

        def meanwhile() -> bool:
            halts.file.halt(newer)
            return True

        monkeypatch.setattr(halts, "_is_announced", meanwhile)
        halts.settle(lost=False)
        assert halts.file.read() == replace(newer, announced=True)

    def test_a_lift_that_the_store_cannot_keep_leaves_the_halt_in_the_file(
        self, court: Court, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        court.halts.halt("smoke")
        really = court.halts.file.lift

        def then_fail(seen: HaltNote) -> bool:
            assert really(seen)
            raise StoreError("the disk is full")

        monkeypatch.setattr(court.halts.file, "lift", then_fail)
        with pytest.raises(StoreError):
            court.halts.lift(OWNER)
        assert court.halts.halted()
        assert again(court).file.read().halted

    def test_a_file_that_another_process_holds_is_halted_all_the_same(self, court: Court) -> None:
        with FixedFile(court.opened.workspace.halt_file).held():
            court.halts.file.halt(court.halts.note("smoke"))
        assert court.halts.file.read().reason == "smoke"

    @pytest.mark.parametrize("odd", ["folder", "pipe"])
    def test_where_no_file_lies_it_halts_and_lifting_says_what_to_remove(self, court: Court, odd: str) -> None:
        path = court.opened.workspace.halt_file
        path.unlink()
        path.mkdir() if odd == "folder" else os.mkfifo(path)
        if odd == "folder":
            court.halts.halt("smoke")
        assert court.halts.halted()
        seen = kinds(court.opened.workspace)
        with pytest.raises(WorkspaceError) as refused:
            court.halts.lift(OWNER)
        assert str(path) in refused.value.what
        assert kinds(court.opened.workspace) == seen
        path.rmdir() if odd == "folder" else path.unlink()
        assert court.halts.lift(OWNER)
        assert court.halts.halted() is None

    def test_halts_and_lifts_of_many_processes_end_in_agreement(self, court: Court) -> None:
        workspace = court.opened.workspace
        at_once([partial(_halt_or_lift, workspace, number % 2 == 0) for number in range(4)])
        found = again(court)
        stands = found._standing() is not None
        assert found.file.read().halted == stands
        assert bool(found._recorded()) == stands


def _full(*_: object) -> None:
    raise AuditError("the disk is full")


def _halt_or_lift(workspace: Workspace, halts: bool) -> None:
    opened = app.App.open(workspace)
    for number in range(10):
        if halts:
            opened.halts.halt(f"smoke {number}")
        else:
            with contextlib.suppress(Refused):
                opened.halts.lift(OWNER)


def older(court: Court) -> None:
    """As the version before left a workspace: no file, and an audit that knows of none."""
    workspace = court.opened.workspace
    workspace.halt_file.unlink()
    court.opened.close()
    for path in (*workspace.audit.iterdir(), *workspace.law.glob("audit.db*")):
        path.unlink()
    seat = founding.take_seat(workspace, Settings(), court.opened.clock)
    founding.install_key(seat)
    seat.audit.append(Entry(founding.CREATED, counts={"files": 7}))
    seat.audit.close()
    seat.db.close()


def _halt_and_lift(workspace: Workspace, say: Say) -> None:
    halts = app.App.open(workspace).halts
    while True:
        for word, act in (("halt", partial(halts.halt, "smoke")), ("lift", partial(halts.lift, OWNER))):
            say(f"begin {word}")
            act()
            say(f"end {word}")


@pytest.mark.repeated
def test_killed_while_it_halts_and_lifts_it_is_never_less_halted_than_was_said(
    workspace: Workspace, repeat: Repeat
) -> None:
    chance = random.Random(7)
    for _ in repeat("kills while halting and lifting", suite=4, soak=100):
        with at_work(partial(_halt_and_lift, workspace)) as (worker,):
            wait_for_a_word(worker)
            time.sleep(chance.random() * 0.02)
            last = worker.kill()[-1]
        opened = app.App.open(workspace)
        assert (opened.halts.halted() is not None) in {"end halt": [True], "end lift": [False]}.get(last, [True, False])
        if opened.halts.halted():
            opened.halts.lift(OWNER)
        assert opened.halts.halted() is None
        opened.close()
    assert app.verify_audit(workspace).sound


@pytest.mark.slow
def test_a_full_disk_stops_nobody_from_stopping() -> None:
    seen = json.loads(on_a_full_disk(FULL_DISK, size=2 << 20))
    assert seen == {"unrecorded": True, "halted": True, "told": True, "lifted": True}


FULL_DISK = """
import json
from pathlib import Path
from metnos import app
from metnos.core.errors import AuditError, MetnosError
from metnos.core.workspace import Workspace
from metnos.core.clock import SystemClock
from metnos.core.sections import Settings
from metnos.law import founding
from metnos.law.halt import HALTED
from metnos.law.principal import Channel, of_account

workspace = Workspace(Path("/mnt/workspace"))
founding.found(workspace, Settings(), SystemClock())
opened = app.App.open(workspace)
filler = Path("/mnt/filler")
with filler.open("wb", buffering=0) as file:
    try:
        while True:
            file.write(b"x" * 512)
    except OSError:
        pass
unrecorded = False
try:
    for _ in range(60):
        opened.halts.halt("smoke")
except MetnosError:
    unrecorded = True
halted = opened.halts.halted() is not None
last = opened.halts.file.read().id
filler.unlink()
opened.close()
again = app.App.open(workspace)
told = any(line.kind == HALTED and line.entry.names["halt"] == last for line in again.audit.newest())
lifted = again.halts.lift(of_account(Channel.TERMINAL)) and again.halts.halted() is None
print(json.dumps({"unrecorded": unrecorded, "halted": halted, "told": told, "lifted": lifted}))
"""
