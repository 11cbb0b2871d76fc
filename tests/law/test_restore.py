import base64
import json
import os
import random
import tarfile
from datetime import timedelta
from pathlib import Path

import pytest

from killing import killed_after
from metnos import app
from metnos.core import sign
from metnos.core.clock import SystemClock
from metnos.core.errors import BackupError, Refused
from metnos.core.seal import seal
from metnos.core.settings import keys, leaves, read_file
from metnos.core.workspace import Workspace
from metnos.law import arrival, backup
from metnos.law.arrival import Arrival
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal, of_account
from metnos.law.steady_clock import LatestTime
from metnos.store import archive
from suite import Repeat
from support import agreed, kinds

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
WORDS = "correct horse"
WANTED = {  # settings that a stranger would like to bring
    "policy.autonomy": "full", "policy.approval_hours": "700", "sandbox.bwrap": "/tmp/evil", "executors.births": "9999",
    "models.main.url": "https://models.example/v1", "models.main.key": "env:KEY", "models.turn_usd": "999",
    "embed.kind": "openai", "embed.url": "https://models.example/v1", "otel.endpoint": "https://otel.example",
    "telegram.enabled": "true", "telegram.api_base": "https://telegram.example", "web.host": "0.0.0.0",
    "web.behind_proxy": "true", "web.hosts": "evil.example", "mcp.elicit": "true", "life.webhook": "https://death.example",
    "backup.folder": "/tmp/shared", "memory.think": "on", "fastpath.wrong_share": "0.2", "life.profile": "golem",
}  # fmt: skip
KEPT = {"turn.show": "33", "memory.keep_days": "7", "night.at": "03:30"}


def quiet(_name: str, _size: int) -> None:
    pass


def settle(opened: app.App, **settings: str) -> app.App:
    """What an agent has that lets others in and lets things happen; and these settings."""
    code = opened.pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER)
    opened.pairing.redeem(code, Channel.WEB)
    opened.pairing.redeem(opened.pairing.offer(Channel.API, Autonomy.FULL, 5, OWNER), Channel.API)
    opened.pairing.offer(Channel.WEB, Autonomy.FULL, 5, OWNER)
    opened.grants.grant("*", Capability.FS_WRITE, "/srv", days=9, by=OWNER)
    opened.inbox.ask("act", "waits", {}, "a" * 64, asked_by=OWNER, hours=9)
    opened.inbox.approve(opened.inbox.ask("act", "agreed", {}, "b" * 64, asked_by=OWNER, hours=9).id, OWNER)
    opened.confirmations.confirm("notes", "c" * 64, OWNER)
    servers = {"notes": {"command": ["/tmp/evil", "--all"], "url": "", "env": {}, "key": ""}}
    opened.workspace.mcp_servers.write_text(json.dumps({"servers": servers}))
    for name, value in settings.items():
        opened.set_setting(name.replace("__", "."), value)
    return app.App.open(opened.workspace, opened.clock)


def lets_nothing_happen(restored: app.App) -> None:
    """Nobody comes in, nothing was agreed to in advance, and nothing is started."""
    assert restored.pairing.devices() == []
    assert restored.seat.db.query("SELECT 1 FROM pairing_codes") == []
    assert restored.seat.db.query("SELECT 1 FROM devices WHERE secret IS NOT NULL") == []
    assert restored.grants.active() == []
    assert restored.inbox.open("act") == []
    assert restored.inbox.standing("b" * 64) is None
    assert not restored.confirmations.holds("notes", "c" * 64)
    assert restored.seat.db.query("SELECT 1 FROM confirmed_servers") == []


@pytest.fixture
def stranger(opened: app.App, tmp_path: Path) -> Path:
    """The backup of another agent, with its keys and everything that it would like to bring."""
    there = settle(opened, **{name.replace(".", "__"): value for name, value in (WANTED | KEPT).items()})
    there.halts.halt("as it was")
    return app.backup(there.workspace, tmp_path / "s.tar.gz", WORDS, quiet, there.clock).path


@pytest.fixture
def saved(opened: app.App, tmp_path: Path) -> Path:
    (opened.workspace.root / "USER.md").write_text("as it was")
    return app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet, opened.clock).path


@pytest.fixture
def saved_with_keys(opened: app.App, tmp_path: Path) -> Path:
    return app.backup(opened.workspace, tmp_path / "k.tar.gz", "correct horse", quiet, opened.clock).path


def test_elsewhere_without_keys_it_is_a_new_agent_with_the_old_memory(saved: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(saved, target, replace=False, passphrase=None, agree=agreed)
    assert (done.kept, done.keys) == (None, "new")
    assert (target.root / "USER.md").read_text() == "as it was"
    assert kinds(target)[-2:] == ["key installed", "workspace restored"]
    assert app.verify_audit(target).sound
    assert app.App.open(target).audit.unfinished() == []


def test_elsewhere_with_keys_it_is_the_same_agent(saved_with_keys: Path, workspace: Workspace, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(saved_with_keys, target, replace=False, passphrase="correct horse", agree=agreed)
    assert done.keys == "from the backup"
    assert target.secret_key.read_bytes() == workspace.secret_key.read_bytes()
    assert target.secret_key.stat().st_mode & 0o777 == 0o600
    assert not (target.root / ".backup").exists()
    assert app.verify_audit(target).sound
    assert "key installed" not in kinds(target)[-1:]


def test_a_wrong_passphrase_restores_nothing(saved_with_keys: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    with pytest.raises(BackupError, match="passphrase"):
        app.restore(saved_with_keys, Workspace(target), replace=False, passphrase="wrong horse", agree=agreed)
    assert not target.exists()
    assert not list(tmp_path.glob(".elsewhere*"))


def test_sealed_keys_are_not_left_lying_when_not_wanted(saved_with_keys: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    assert app.restore(saved_with_keys, target, replace=False, passphrase=None, agree=agreed).keys == "new"
    assert not (target.root / ".backup").exists()


def test_a_workspace_that_is_there_is_kept_and_replaced_only_on_purpose(saved: Path, workspace: Workspace) -> None:
    (workspace.root / "USER.md").write_text("newer")
    with pytest.raises(BackupError) as caught:
        app.restore(saved, workspace, replace=False, passphrase=None, agree=agreed)
    assert "--replace" in caught.value.fix
    assert (workspace.root / "USER.md").read_text() == "newer"
    secret = workspace.secret_key.read_bytes()
    done = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert done.keys == "kept from the workspace that was there"
    assert workspace.secret_key.read_bytes() == secret
    assert (workspace.root / "USER.md").read_text() == "as it was"
    assert done.kept is not None
    assert (done.kept / "USER.md").read_text() == "newer"
    assert kinds(Workspace(done.kept))[-1] == "workspace replaced"
    assert kinds(workspace)[-1] == "workspace restored"
    assert app.verify_audit(workspace).sound
    assert not list(workspace.root.parent.glob(".workspace.restoring*"))


def test_twice_at_the_same_second_keeps_both(
    saved: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed).kept
    second = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed).kept
    assert first != second
    assert first is not None
    assert first.is_dir()
    assert second is not None
    assert second.is_dir()


def test_without_an_atomic_exchange_it_works_too(
    saved: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metnos.core.files.exchange", lambda *_: False)
    done = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert done.kept is not None
    assert app.verify_audit(workspace).sound


def test_into_an_empty_folder(saved: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "empty")
    target.root.mkdir()
    assert app.restore(saved, target, replace=False, passphrase=None, agree=agreed).kept is None
    assert app.App.open(target).constitution.laws


def test_a_damaged_archive_restores_nothing(saved: Path, workspace: Workspace) -> None:
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 0xFF
    saved.write_bytes(content)
    before = {path: path.stat().st_ino for path in workspace.root.rglob("*")}
    with pytest.raises(BackupError, match="damaged"):
        app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert {path: path.stat().st_ino for path in workspace.root.rglob("*")} == before


@pytest.mark.parametrize("broken", ["audit", "law", "key", "settings", "soul"])
def test_a_broken_workspace_is_replaced(saved: Path, workspace: Workspace, broken: str) -> None:
    """These are the cases that a restore exists for."""
    if broken in ("audit", "law"):
        path = workspace.law / f"{broken}.db"
        for side in workspace.law.glob(f"{broken}.db-*"):
            side.unlink()
        path.write_bytes(b"this is not a database, whatever it was before" * 20)
    elif broken == "key":
        workspace.secret_key.chmod(0o644)
    else:
        (workspace.settings if broken == "settings" else workspace.soul).write_text("[[[")
    done = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert app.App.open(workspace).constitution.laws
    assert app.verify_audit(workspace).sound
    assert done.keys == ("new" if broken == "key" else "kept from the workspace that was there")


def test_places_where_nothing_can_be_restored_are_clear_errors(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place, says in (("file", "is a file"), ("file/below", "nothing was restored")):
        with pytest.raises(BackupError, match=says):
            app.restore(saved, Workspace(tmp_path / place), replace=True, passphrase=None, agree=agreed)
    with pytest.raises(BackupError, match="mount point"):
        app.restore(saved, Workspace(Path("/proc")), replace=True, passphrase=None, agree=agreed)


def test_a_swap_that_fails_takes_nothing_away(
    saved: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever rename fails, the old workspace is whole somewhere, and nothing staged is left behind."""
    real = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if "restoring" in self.name:
            raise OSError(16, "Device or resource busy")
        return real(self, target)

    (workspace.root / "USER.md").write_text("newer")
    monkeypatch.setattr(Path, "rename", failing)
    kept = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed).kept
    assert kept is not None
    assert (kept / "USER.md").read_text() == "newer"
    monkeypatch.setattr("metnos.core.files.exchange", lambda *_: False)
    (workspace.root / "USER.md").write_text("newest")
    with pytest.raises(BackupError, match="busy"):
        app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert (workspace.root / "USER.md").read_text() == "newest"


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_at_any_moment_there_is_a_whole_workspace(saved: Path, workspace: Workspace, repeat: Repeat) -> None:
    chance = random.Random(5)
    for _ in repeat("kills of a restore", suite=4, soak=60):
        killed_after(
            chance.random() * 0.07, lambda: app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
        )
        app.found(workspace)
        assert app.App.open(workspace).constitution.laws
        assert app.verify_audit(workspace).sound


def test_the_key_of_another_agent_is_not_taken_over(saved: Path, workspace: Workspace, tmp_path: Path) -> None:
    sign.make_keys(tmp_path / "s", tmp_path / "p")
    (tmp_path / "s").replace(workspace.secret_key)
    stranger = workspace.secret_key.read_bytes()
    done = app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert done.keys == "new"
    assert workspace.secret_key.read_bytes() != stranger
    assert done.kept is not None
    assert Workspace(done.kept).secret_key.read_bytes() == stranger


# -- what comes from another agent


@pytest.mark.parametrize("passphrase", [None, WORDS])
def test_nothing_of_another_agent_is_restored_unless_a_person_agrees(
    stranger: Path, tmp_path: Path, passphrase: str | None
) -> None:
    target = tmp_path / "elsewhere"
    shown: list[Arrival] = []
    for no in (None, shown.append):
        more = {} if no is None else {"agree": no}
        with pytest.raises(Refused):
            app.restore(stranger, Workspace(target), replace=False, passphrase=passphrase, **more)
        assert not target.exists()
        assert not list(tmp_path.glob(".elsewhere*"))
    (brought,) = shown
    assert brought.word == brought.key[:8] == app.read_backup(stranger).public_key[:8]
    assert not brought.own
    assert {name: str(value) for name, value in brought.settings.items()}["sandbox.bwrap"] == "/tmp/evil"
    assert brought.more["MCP servers"] == ("notes: /tmp/evil --all",)


@pytest.mark.parametrize("passphrase", [None, WORDS])
def test_what_another_agent_brings_lets_nothing_happen(stranger: Path, tmp_path: Path, passphrase: str | None) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(stranger, target, replace=False, passphrase=passphrase, agree=agreed)
    assert (done.keys == "new") == (passphrase is None)
    assert dict(leaves(read_file(target.settings))) == {"turn.show": 33, "memory.keep_days": 7, "night.at": "03:30"}
    assert set(done.arrival.settings) == set(WANTED)
    restored = app.App.open(target)
    lets_nothing_happen(restored)
    assert restored.inbox.newest(9) == []
    assert restored.halts.halted() is not None, "what was stopped stays stopped"
    assert (restored.settings.policy.autonomy, restored.settings.sandbox.bwrap) == ("supervised", "")
    (line,) = [each for each in restored.audit.newest() if each.kind == "workspace restored"]
    by = agreed(None)
    assert line.entry.names == {"public_key": done.manifest.public_key, "channel": by.channel, "sender": by.sender}
    assert (line.entry.counts["devices"], line.entry.counts["grants"], line.entry.counts["own"]) == (2, 1, 0)


def test_an_own_old_backup_brings_back_nothing_that_was_ended_since(opened: app.App, tmp_path: Path) -> None:
    there = settle(
        opened, policy__autonomy="full", models__main__url="http://127.0.0.1:1/v1", otel__endpoint="http://a"
    )
    old = app.backup(there.workspace, tmp_path / "o.tar.gz", None, quiet, there.clock).path
    there.set_setting("otel.endpoint", "")
    done = app.restore(old, there.workspace, replace=True, passphrase=None, agree=agreed)
    assert done.arrival.own
    restored = app.App.open(there.workspace)
    lets_nothing_happen(restored)
    assert len(restored.inbox.newest(9)) == 2, "what was asked is its own history"
    assert restored.settings.models.main.url == "http://127.0.0.1:1/v1", "as it is here now"
    assert restored.settings.otel.endpoint == "", "not as it is here now"
    assert restored.settings.policy.autonomy == "supervised"
    assert dict(done.arrival.settings) == {"policy.autonomy": "full", "otel.endpoint": "http://a"}


def test_a_level_that_allows_less_is_not_raised(opened: app.App, tmp_path: Path) -> None:
    opened.set_setting("policy.autonomy", "read_only")
    opened.set_setting("memory.think", "off")
    path = app.backup(opened.workspace, tmp_path / "o.tar.gz", None, quiet, opened.clock).path
    target = Workspace(tmp_path / "elsewhere")
    app.restore(path, target, replace=False, passphrase=None, agree=agreed)
    restored = app.App.open(target)
    assert (restored.settings.policy.autonomy, restored.settings.memory.think) == ("read_only", "off")


def test_every_setting_that_a_restore_keeps_is_one_and_says_only_how_the_agent_works() -> None:
    known = {each.name: each for each in keys()}
    assert known.keys() > arrival.KEPT
    assert known.keys() > arrival.STRICT.keys()
    leading = (
        "url",
        "key",
        "host",
        "endpoint",
        "folder",
        "bwrap",
        "proxy",
        "api_base",
        "token",
        "rpc",
        "webhook",
        "usd",
    )
    assert [name for name in arrival.KEPT if name.endswith(leading)] == []
    # Words are where an address or a program can hide: of those kept, each has a form that holds neither.
    assert {name for name in arrival.KEPT if known[name].kind == "str"} == {"night.at", "mnestome.fading"}


@pytest.mark.parametrize(
    "text",
    ["[[[", "policy = 1", "policy.autonomy = 'full'", "[policy]\nautonomy='full'\nx=1", "a = " + "[" * 3000,
     "policy = {autonomy = 'full'}", "[sandbox]\nbwrap = '/tmp/evil'\n[turn]\nshow = 33",
     '["policy"]\n"autonomy"="full"',
     "[turn]\nshow = 99999999", "\x00", "[policy.autonomy]\nx = 1", "[[policy]]\nautonomy = 'full'"],
    ids=range(12),
)  # fmt: skip
def test_however_a_setting_is_spelt_it_is_void(opened: app.App, tmp_path: Path, text: str) -> None:
    opened.workspace.settings.write_text(text)
    manifest = rewritten(opened, tmp_path / "a.tar.gz")
    target = Workspace(tmp_path / "elsewhere")
    app.restore(manifest, target, replace=False, passphrase=None, agree=agreed)
    restored = app.App.open(target)
    assert (restored.settings.policy.autonomy, restored.settings.sandbox.bwrap) == ("supervised", "")


def rewritten(opened: app.App, target: Path, sealed: bytes = b"", **members: bytes) -> Path:
    """An archive of the workspace as it lies there, with other members besides, signed as it should be."""
    writer = archive.Writer(target, quiet)
    writer.add_tree(opened.workspace.root, keep=lambda name: not name.startswith(".keys/"))
    writer.add_file(opened.workspace.public_key, ".keys/agent.pub")
    for name, content in members.items():
        writer.add_bytes(content, name)
    if sealed:
        writer.add_bytes(sealed, backup.SEALED_KEYS)
    writer.finish("2026-11-15T12:00:00.000Z", "0", opened.seat.signer)
    writer.publish()
    writer.discard()
    return target


@pytest.mark.parametrize("name", [".keys/agent.key", ".keys/telegram", ".keys/a/b", ".run/daemon.sock"])
def test_keys_that_were_not_sealed_and_what_belongs_to_a_daemon_are_refused(
    opened: app.App, tmp_path: Path, name: str
) -> None:
    path = rewritten(opened, tmp_path / "a.tar.gz", **{name: opened.workspace.secret_key.read_bytes()})
    with pytest.raises(BackupError, match="no backup of ours"):
        app.restore(path, Workspace(tmp_path / "elsewhere"), replace=False, passphrase=None, agree=agreed)


@pytest.mark.parametrize(
    "content",
    [b"[]", b'{"agent.key": 5}', b'{"../agent.key": "AA=="}', b"{}", b'{"agent.key": "AA=="}', b"[" * 50_000],
    ids=range(6),
)  # fmt: skip
def test_sealed_keys_that_are_none_are_refused(opened: app.App, tmp_path: Path, content: bytes) -> None:
    path = rewritten(opened, tmp_path / "a.tar.gz", seal(content, WORDS))
    with pytest.raises(BackupError):
        app.restore(path, Workspace(tmp_path / "elsewhere"), replace=False, passphrase=WORDS, agree=agreed)
    assert not (tmp_path / "elsewhere").exists()


def test_the_key_of_one_agent_does_not_come_in_an_archive_of_another(opened: app.App, tmp_path: Path) -> None:
    sign.make_keys(tmp_path / "s", tmp_path / "p")
    other = json.dumps({"agent.key": base64.b64encode((tmp_path / "s").read_bytes()).decode()}).encode()
    path = rewritten(opened, tmp_path / "a.tar.gz", seal(other, WORDS))
    with pytest.raises(BackupError, match="not those"):
        app.restore(path, Workspace(tmp_path / "elsewhere"), replace=False, passphrase=WORDS, agree=agreed)


def test_rows_and_triggers_of_a_doctored_law_db_do_not_come_along(opened: app.App, tmp_path: Path) -> None:
    """Making a row void is a change, and a trigger of the archive's own could answer it with another row."""
    there = settle(opened)
    columns = "executor, capability, target, sending, created, expires, NULL, reason, granted_by"
    again = f"INSERT INTO grants SELECT '0' || id, {columns} FROM grants LIMIT 1"
    with there.seat.db.write() as tx:
        tx.execute(f"CREATE TRIGGER back AFTER UPDATE ON grants BEGIN {again}; END")
        tx.execute("CREATE TRIGGER in_again AFTER INSERT ON halts BEGIN UPDATE devices SET revoked = NULL; END")
    path = rewritten(there, tmp_path / "a.tar.gz")
    target = Workspace(tmp_path / "elsewhere")
    app.restore(path, target, replace=False, passphrase=None, agree=agreed)
    restored = app.App.open(target)
    lets_nothing_happen(restored)
    assert restored.seat.db.query("SELECT name FROM sqlite_master WHERE type = 'trigger'") == [("inbox_one_way",)]


def test_a_doctored_law_db_is_only_read(opened: app.App, tmp_path: Path) -> None:
    """Neither its triggers nor the steps of our own schema run in it; what it says is counted all the same."""
    there = settle(opened)
    there.halts.halt("as it was")
    with there.seat.db.write() as tx:
        for table in ("grants", "devices", "inbox"):
            tx.execute(f"CREATE TRIGGER never_{table} BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")
        tx.execute("DROP TABLE confirmed_servers")
        tx.execute("DELETE FROM migrations WHERE position > 4")
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(rewritten(there, tmp_path / "a.tar.gz"), target, replace=False, passphrase=None, agree=agreed)
    assert done.arrival.void == {"devices": 2, "codes": 1, "grants": 1, "questions": 2}
    restored = app.App.open(target)
    lets_nothing_happen(restored)
    assert "as it was" in (restored.halts.why() or "")


def test_what_another_agent_had_begun_is_not_ended_here(opened: app.App, tmp_path: Path) -> None:
    """A change that was cut short is settled at the next start, with the paths and the contents that stand there."""
    root = opened.workspace.law
    (root / "undo").mkdir()
    members = {".law/undo.db": b"SQLite format 3\0" + b"\0" * 4080, ".law/undo/blob": b"#!/bin/sh"}
    path = rewritten(opened, tmp_path / "a.tar.gz", **{name: each for name, each in members.items() if "blob" in name})
    target = Workspace(tmp_path / "elsewhere")
    app.restore(path, target, replace=False, passphrase=None, agree=agreed)
    assert not target.undo_store.exists()
    assert not target.undo_db.exists()


def test_everything_comes_out_closed_to_others(opened: app.App, tmp_path: Path) -> None:
    deep = opened.workspace.notes / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "note.txt").write_text("a note")
    for path in opened.workspace.root.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)
    opened.workspace.secret_key.chmod(0o600)
    path = app.backup(opened.workspace, tmp_path / "b.tar.gz", WORDS, quiet, opened.clock).path
    target = Workspace(tmp_path / "elsewhere")
    before = os.umask(0)
    try:
        app.restore(path, target, replace=False, passphrase=WORDS, agree=agreed)
    finally:
        os.umask(before)
    open_ = {each: each.stat().st_mode & 0o777 for each in (target.root, *target.root.rglob("*"))}
    assert {mode for each, mode in open_.items() if each.is_dir()} == {0o700}
    assert {mode for each, mode in open_.items() if each.is_file()} == {0o600}
    assert (target.notes / "a" / "b" / "note.txt").read_text() == "a note"


def test_a_constitution_of_its_own_is_shown_and_pinned_anew(opened: app.App, tmp_path: Path) -> None:
    soul = opened.workspace.soul.read_text()
    opened.workspace.soul.write_text(soul + "\nAnd be kind.\n")
    app.App.open(opened.workspace, opened.clock)
    path = app.backup(opened.workspace, tmp_path / "b.tar.gz", WORDS, quiet, opened.clock).path
    shown: list[Arrival] = []
    target = Workspace(tmp_path / "elsewhere")
    app.restore(path, target, replace=False, passphrase=WORDS, agree=lambda each: shown.append(each) or agreed(each))  # type: ignore[func-returns-value]
    assert shown[0].soul.endswith("And be kind.\n")
    assert app.App.open(target).standing == "pinned"


def test_any_tool_sees_no_secret_in_an_archive(stranger: Path, opened: app.App) -> None:
    with tarfile.open(stranger) as tar:
        held = [tar.extractfile(each) for each in tar.getmembers() if each.name != backup.SEALED_KEYS]
        secret = opened.workspace.secret_key.read_bytes().splitlines()[1]
        assert not any(secret in each.read() for each in held if each is not None)


@pytest.mark.parametrize("for_good", [False, True])
def test_no_backup_lifts_a_halt(saved: Path, opened: app.App, for_good: bool) -> None:
    opened.halts.halt("smoke", for_good=for_good)
    opened.close()
    app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
    restored = app.App.open(opened.workspace)
    assert "smoke" in (restored.halts.why() or "")
    assert restored.halts.is_for_good() == for_good
    assert kinds(opened.workspace).count("everything halted") == 1


@pytest.mark.parametrize("lost", [("halt_file",), ("halt_file", "law_db"), ("law_db",), ("law_db", "audit_db")])
@pytest.mark.parametrize("for_good", [False, True])
def test_no_backup_lifts_a_halt_of_which_a_part_was_lost(
    saved: Path, opened: app.App, lost: tuple[str, ...], for_good: bool
) -> None:
    opened.halts.halt("smoke", for_good=for_good)
    opened.close()
    for name in lost:
        getattr(opened.workspace, name).unlink()
    app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
    restored = app.App.open(opened.workspace)
    assert restored.halted() is not None
    if lost != ("halt_file", "law_db"):  # the audit alone still knows of that one
        assert restored.halts.is_for_good() == for_good


def test_a_missing_halt_file_halts_what_is_restored_and_a_person_lifts_it(saved: Path, opened: app.App) -> None:
    opened.close()
    opened.workspace.halt_file.unlink()
    app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
    restored = app.App.open(opened.workspace)
    assert restored.halted() is not None
    assert restored.halts.lift(agreed(None))
    assert restored.halted() is None


@pytest.mark.parametrize("channel", [None, Channel.SCRIPT, Channel.LIBRARY, Channel.API, Channel.MCP, Channel.NIGHT])
def test_only_a_person_replaces_a_workspace_even_by_its_own_backup(
    saved: Path, opened: app.App, channel: Channel | None
) -> None:
    (opened.workspace.root / "USER.md").write_text("newer")
    seen = kinds(opened.workspace)
    opened.close()
    with pytest.raises(Refused):
        app.restore(
            saved, opened.workspace, replace=True, passphrase=None,
            agree=lambda _: of_account(channel) if channel else None,
        )  # fmt: skip
    assert (opened.workspace.root / "USER.md").read_text() == "newer"
    assert kinds(opened.workspace) == seen


def test_what_ran_elsewhere_and_the_time_there_do_not_come_along(opened: app.App, tmp_path: Path) -> None:
    opened.halts.running.add(4321, "100")
    opened.workspace.latest_time.write_bytes(LatestTime(7, opened.clock.now() + timedelta(days=9000)).encode())
    saved = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet, opened.clock).path
    target = Workspace(tmp_path / "elsewhere")
    app.restore(saved, target, replace=False, passphrase=None, agree=agreed)
    restored = app.App.open(target)
    assert restored.halts.running.all() == []
    assert abs(restored.steady.now() - SystemClock().now()) < timedelta(hours=1)
