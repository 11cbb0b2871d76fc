"""What is pinned, and that nothing acts with other code. A process is the memory of `own_pin.see`."""

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from law.asks import ASK, Court, others
from law.packages import compiled_of, make_package, plant, write_record
from metnos import app
from metnos.app import servers
from metnos.core.clock import MovableClock, SystemClock
from metnos.core.errors import Refused, SandboxError, UsageError
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding, own_bytecode, own_pin, schema
from metnos.law.audit_log import backwards
from metnos.law.levels import Verdict
from metnos.law.own_pin import LETTERS, OwnPin, PinStanding
from metnos.law.principal import Channel, at_terminal
from metnos.store.db import Database
from support import at_once, kinds


@pytest.fixture
def fresh(blank: Workspace, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> app.App:
    """A workspace that an earlier version made: nothing was pinned."""
    with monkeypatch.context() as patch:
        patch.setattr(OwnPin, "uphold", lambda _: None)
        founding.found(blank, Settings(), clock)
        return app.App.open(blank, clock)


@pytest.fixture
def package(tmp_path: Path, opened: app.App) -> Path:
    """Code in place of Metnos's own, which the owner pinned."""
    package = make_package(tmp_path)
    pin, _ = start(opened, package)
    pin.pin(pin.look().word, at_terminal())
    return package


@pytest.fixture
def levels(package: Path) -> Path:
    return package / "law" / "levels.py"


def start(opened: app.App, package: Path) -> tuple[OwnPin, PinStanding]:
    """A new process."""
    own_pin.see.cache_clear()
    pin = OwnPin(opened.seat.db, opened.audit, opened.seat.signer, opened.clock, package)
    return pin, pin.uphold()


def stopped(opened: app.App, package: Path) -> bool:
    pin, standing = start(opened, package)
    assert (pin.halt() is None) == (standing is not PinStanding.CHANGED)
    return standing is PinStanding.CHANGED


def change(levels: Path) -> None:
    levels.write_text(levels.read_text().replace("LIMIT = 1", "LIMIT = 99"))


def test_founding_pins_what_is_there(workspace: Workspace, clock: MovableClock) -> None:
    assert kinds(workspace).count(own_pin.PINNED) == 1
    opened = app.App.open(workspace, clock)
    assert opened.own.halt() is None
    assert opened.own.look().differences == ()
    assert kinds(workspace).count(own_pin.PINNED) == 1


def test_a_workspace_of_an_earlier_version_pins_at_its_first_start(fresh: app.App, tmp_path: Path) -> None:
    package = make_package(tmp_path)
    halt = start(dataclasses.replace(fresh), package)[0].halt()
    assert halt is None
    assert kinds(fresh.workspace).count(own_pin.PINNED) == 1
    assert start(fresh, package)[1] is PinStanding.KEPT


def test_a_change_stops_acting_and_is_recorded_once(opened: app.App, package: Path, levels: Path) -> None:
    before = kinds(opened.workspace)
    change(levels)
    for _ in range(3):
        assert stopped(opened, package)
    assert kinds(opened.workspace) == [*before, own_pin.CHANGED]
    lines = [line for line in backwards(opened.workspace.audit) if line.kind == own_pin.CHANGED]
    assert lines[0].entry.digests["code"] != lines[0].entry.digests["code_before"]
    (levels.parent / "more.py").touch()
    assert stopped(opened, package)
    assert kinds(opened.workspace) == [*before, own_pin.CHANGED, own_pin.CHANGED]  # another difference


def test_what_was_put_back_acts_again_after_a_start(opened: app.App, package: Path, levels: Path) -> None:
    start(opened, package)
    before = levels.read_bytes()
    change(levels)
    pin, _ = start(opened, package)
    halt = pin.halt()
    assert halt is not None
    assert "doctor --pin" in halt.fix
    levels.write_bytes(before)
    halt = pin.halt()  # this process runs the changed code
    assert halt is not None
    assert "other code" in halt.why
    assert not stopped(opened, package)


def test_a_change_while_it_runs_stops_when_somebody_looks(opened: app.App, package: Path, levels: Path) -> None:
    pin, _ = start(opened, package)
    before = levels.read_bytes()
    change(levels)
    assert pin.halt() is None
    assert pin.look().differences == ("law/levels.py was changed",)
    assert pin.halt() is not None
    levels.write_bytes(before)
    assert pin.halt() is None


def test_the_owner_pins_with_the_word_that_was_shown(opened: app.App, package: Path, levels: Path) -> None:
    change(levels)
    pin, _ = start(opened, package)
    running = OwnPin(opened.seat.db, opened.audit, opened.seat.signer, opened.clock, package)
    shown = pin.look().word
    assert len(shown) == LETTERS
    for wrong in ("", shown[:-1], shown.upper() + "x", "yes"):
        with pytest.raises(Refused):
            pin.pin(wrong, at_terminal())
    for by in others():
        with pytest.raises(Refused):
            pin.pin(shown, by)
    for channel in (Channel.WEB, Channel.TELEGRAM):
        with pytest.raises(Refused):
            pin.pin(shown, dataclasses.replace(at_terminal(), channel=channel))
    assert running.halt() is not None
    pin.pin(shown, at_terminal())
    assert running.halt() is None  # it was started with what is pinned now
    assert not stopped(opened, package)
    line = next(backwards(opened.workspace.audit))
    assert (line.kind, line.entry.names["channel"]) == (own_pin.PINNED, "terminal")


def test_code_that_changes_after_it_was_shown_is_not_pinned(opened: app.App, package: Path, levels: Path) -> None:
    change(levels)
    pin, _ = start(opened, package)
    shown = pin.look().word
    levels.write_text("LIMIT = 99\n")
    with pytest.raises(Refused):
        pin.pin(shown, at_terminal())
    assert stopped(opened, package)


def test_a_process_that_runs_what_was_pinned_before_stops(opened: app.App, package: Path, levels: Path) -> None:
    pin, _ = start(opened, package)
    change(levels)
    pin.pin(pin.look().word, at_terminal())  # as another process would
    halt = pin.halt()
    assert halt is not None
    assert halt.fix.startswith("Start Metnos again")
    assert not stopped(opened, package)


class TestForgeries:
    """Whoever can write to the workspace and to the code, but cannot sign."""

    def forge(self, opened: app.App, package: Path, signature: str) -> None:
        code = own_pin.measure(package)
        with opened.seat.db.write() as tx:
            tx.execute("DELETE FROM own_code")
            row = ("2026-11-15T12:00:00.000Z", "0.1.0", code.digest, json.dumps(dict(code.files)), signature)
            tx.execute(
                "INSERT INTO own_code (id, ts, version, digest, files, signature) VALUES (1, ?, ?, ?, ?, ?)", row
            )

    def test_a_forged_pin(self, opened: app.App, package: Path, levels: Path) -> None:
        change(levels)
        code = own_pin.measure(package).digest
        for signature in ("", "ab" * 64, opened.seat.signer.sign("constitution", code.encode())):
            self.forge(opened, package, signature)
            assert stopped(opened, package)

    def test_a_lost_pin(self, opened: app.App, package: Path, levels: Path) -> None:
        start(opened, package)
        with opened.seat.db.write() as tx:
            tx.execute("DELETE FROM own_code")
        assert not stopped(opened, package)  # the audit says that it was this
        change(levels)
        with opened.seat.db.write() as tx:
            tx.execute("DELETE FROM own_code")
        assert stopped(opened, package)

    def test_a_lost_store(self, workspace: Workspace, clock: MovableClock, tmp_path: Path) -> None:
        for path in workspace.law.glob("law.db*"):
            path.unlink()
        opened = app.App.open(workspace, clock)
        assert opened.own.halt() is None  # the same code
        for path in workspace.law.glob("law.db*"):
            path.unlink()
        seat = dataclasses.replace(opened.seat, db=Database(workspace.law_db, schema.MIGRATIONS))
        assert stopped(dataclasses.replace(opened, seat=seat), make_package(tmp_path))
        seat.db.close()

    def test_a_list_of_files_that_does_not_fit_the_pin(self, opened: app.App, package: Path, levels: Path) -> None:
        change(levels)
        with opened.seat.db.write() as tx:
            tx.execute("UPDATE own_code SET files = ?", (json.dumps(dict(own_pin.measure(package).files)),))
        pin, _ = start(opened, package)
        assert pin.halt() is not None
        assert pin.look().differences != ()

    def test_a_planted_compiled_file(self, opened: app.App, package: Path, levels: Path) -> None:
        start(opened, package)
        before = compiled_of(levels).read_bytes()
        plant(levels, "LIMIT = 9\n")
        pin, standing = start(opened, package)
        assert standing is PinStanding.CHANGED
        halt = pin.halt()
        assert halt is not None
        assert own_bytecode.removal(package) in halt.fix
        with pytest.raises(Refused):
            pin.pin(pin.look().word, at_terminal())
        compiled_of(levels).write_bytes(before)
        pin.look()
        assert pin.halt() is not None  # it may have been loaded
        assert not stopped(opened, package)

    def test_a_planted_compiled_file_with_a_forged_memory(self, opened: app.App, package: Path, levels: Path) -> None:
        plant(levels, "LIMIT = 9\n")
        source = own_pin.measure(package).files["law/levels.py"]
        pair = f"{source}:{own_pin.sha256_hex(compiled_of(levels).read_bytes())}"
        with opened.seat.db.write() as tx:
            assert tx.execute("UPDATE own_bytecode SET pairs = ?", (json.dumps([pair]),)) == 1
        assert stopped(opened, package)

    def test_a_planted_compiled_file_at_the_very_first_start(self, fresh: app.App, tmp_path: Path) -> None:
        package = make_package(tmp_path)
        plant(package / "law" / "levels.py", "LIMIT = 9\n")
        assert stopped(fresh, package)


def test_compiled_files_are_compiled_anew_only_once(
    opened: app.App, package: Path, levels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(opened, package)
    monkeypatch.setattr(own_bytecode, "_is_compiled_from", lambda *_: pytest.fail("it is known"))
    assert not stopped(opened, package)


class TestWheel:
    def test_one_that_is_not_as_installed_is_not_pinned_unasked(self, fresh: app.App, tmp_path: Path) -> None:
        package = make_package(tmp_path)
        write_record(package)
        change(package / "law" / "levels.py")
        pin, standing = start(fresh, package)
        assert standing is PinStanding.CHANGED
        assert pin.look().unrecorded == ("law/levels.py was changed",)
        pin.pin(pin.look().word, at_terminal())  # with the owner's word it is: they may have mended it
        assert not stopped(fresh, package)

    def test_one_that_is_as_installed_is(self, fresh: app.App, tmp_path: Path) -> None:
        package = make_package(tmp_path)
        write_record(package)
        assert not stopped(fresh, package)

    def test_an_update_asks_once(
        self, opened: app.App, package: Path, levels: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_record(package)
        assert not stopped(opened, package)
        change(levels)
        shutil.rmtree(package.parent / "metnos-0.1.0.dist-info")
        write_record(package, "0.2.0")  # whoever rewrites the files can rewrite this, too
        monkeypatch.setattr(own_pin, "__version__", "0.2.0")
        pin, standing = start(opened, package)
        halt = pin.halt()
        assert standing is PinStanding.CHANGED
        assert halt is not None
        assert "0.2.0" in halt.why
        assert pin.look().is_sound
        pin.pin(pin.look().word, at_terminal())
        assert not stopped(opened, package)


def test_a_link_to_a_folder_is_never_pinned(fresh: app.App, tmp_path: Path) -> None:
    package = make_package(tmp_path)
    (package / "web" / "more").symlink_to(tmp_path)
    pin, standing = start(fresh, package)
    assert standing is PinStanding.CHANGED
    with pytest.raises(Refused):
        pin.pin(pin.look().word, at_terminal())


@pytest.mark.slow
def test_many_starts_at_once_record_a_change_once(opened: app.App, package: Path, levels: Path) -> None:
    change(levels)

    def begin() -> str:
        seat = founding.take_seat(opened.workspace, Settings(), SystemClock())
        return start(dataclasses.replace(opened, seat=seat), package)[1].value

    assert set(at_once([begin] * 4)) == {"changed"}
    assert kinds(opened.workspace)[-1] == own_pin.CHANGED
    assert kinds(opened.workspace)[-2] == own_pin.PINNED


class TestActing:
    """Everything that acts asks the same."""

    @pytest.fixture
    def changed(self, opened: app.App, package: Path, levels: Path) -> app.App:
        change(levels)
        pin, _ = start(opened, package)
        return dataclasses.replace(opened, own=pin)

    def test_the_policy_refuses_and_says_what_to_type(self, changed: app.App) -> None:
        court = Court.over(changed)
        decision = court.policy(halted=changed.halted).decide(ASK)
        assert (decision.verdict, decision.rule) == (Verdict.REFUSE, own_pin.RULE)
        assert "metnos doctor --pin" in decision.fix

    def test_no_built_in_executor_is_signed(self, changed: app.App) -> None:
        assert changed.installed.changed == ()
        assert list(changed.catalog.rows()) == []

    def test_no_sandbox_starts(self, changed: app.App) -> None:
        with subprocess.Popen(["sleep", "60"]) as child:
            try:
                with pytest.raises(SandboxError):
                    changed.pool.on_start(child.pid)
            finally:
                child.kill()

    def test_nothing_beats_and_no_server_is_asked(self, changed: app.App) -> None:
        assert changed.halted() is not None
        with pytest.raises(UsageError):
            servers.look(changed, None, named=True)  # type: ignore[arg-type]  # refused before it is looked at

    def test_stopping_and_reading_go_on(self, changed: app.App) -> None:
        changed.halts.halt("smoke")
        halt = changed.halted()
        assert halt is not None
        assert halt.rule == "panic"
        assert changed.halts.lift(at_terminal())
        assert app.verify_audit(changed.workspace).sound
        assert changed.inbox.waiting() == []
