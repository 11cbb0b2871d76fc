"""Archives that a stranger wrote: databases with a schema of their own, heads that lead elsewhere, files for SQLite."""

import contextlib
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from law.hostile import bring, packed
from metnos import app
from metnos.app import tables
from metnos.core.errors import BackupError
from metnos.core.workspace import Workspace
from metnos.law.audit_line import Entry
from support import agreed, kinds

AUDIT = ".law/audit.db"
Change = Callable[[Path], object]


def changed(root: Path, file: str, *statements: str) -> None:
    with closing(sqlite3.connect(root / file, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode=DELETE")
        for statement in statements:
            base.execute(statement)


@pytest.fixture
def plain(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "plain"))


@pytest.fixture
def target(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "here" / "workspace")


@contextlib.contextmanager
def refused(target: Workspace) -> Iterator[None]:
    """Nothing is restored, nothing is left, and the error says what to do."""
    with pytest.raises(BackupError) as caught:
        yield
    assert "Nothing was restored" in str(caught.value)
    assert str(target.root) not in caught.value.what, "in words of the backup"
    assert not target.root.exists()
    assert not list(target.root.parent.glob(".*"))


def doubts_what_is_cut(target: Workspace) -> None:
    """Whoever cuts the log afterwards is noticed, and nothing acts any more."""
    opened = app.App.open(target)
    assert opened.halted() is None
    for _ in range(3):
        opened.audit.append(Entry("thing done"))
    opened.close()
    log = max(target.audit.glob("*.jsonl"))
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    again = app.App.open(target)
    assert again.audit.doubt()
    assert again.halted()
    assert again.audit.doubts()


SILENCED = "CREATE TRIGGER q AFTER INSERT ON audit_doubts BEGIN DELETE FROM audit_doubts; END"
SCHEMAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a trigger that forgets doubts": (AUDIT, (SILENCED,)),
    "a trigger that aborts": (
        AUDIT,
        ("CREATE TRIGGER q BEFORE UPDATE ON audit_head BEGIN SELECT RAISE(ABORT, 'no'); END",),
    ),
    "a trigger that ignores": (
        AUDIT,
        ("CREATE TRIGGER q BEFORE UPDATE ON audit_head BEGIN SELECT RAISE(IGNORE); END",),
    ),
    "a missing table": (AUDIT, ("DROP TABLE audit_head",)),
    "a view as a table": (AUDIT, ("DROP TABLE audit_doubts", "CREATE VIEW audit_doubts AS SELECT 1 why, 2 ts")),
    "a table without its checks": (
        AUDIT,
        (
            "DROP TABLE audit_head",
            "CREATE TABLE audit_head (id INTEGER PRIMARY KEY, seq, hash, month, size, signature)",
        ),
    ),
    "no record of migrations": (AUDIT, ("DELETE FROM migrations",)),
    "a record with a gap": (AUDIT, ("UPDATE migrations SET position = 9223372036854775807 WHERE position = 2",)),
    "a record that is a view": (
        AUDIT,
        ("ALTER TABLE migrations RENAME TO m", "CREATE VIEW migrations AS SELECT * FROM m"),
    ),
    "one index more": ("memory/medium.db", ("CREATE INDEX q ON turns (seq) WHERE seq > 1",)),
    "one table more": ("memory/night.db", ("CREATE TABLE q (a)",)),
    "one column more": ("memory/life.db", ("ALTER TABLE spendings ADD COLUMN q TEXT",)),
    "a virtual table": ("memory/grimoire.db", ("CREATE VIRTUAL TABLE q USING fts5(a)",)),
    "another tokenizer": (
        "memory/grimoire.db",
        ("DROP TABLE facts_text", "CREATE VIRTUAL TABLE facts_text USING fts5(text, subject, tokenize = 'trigram')"),
    ),
    "a guard less": (".mnestome/mnest.sqlite", ("DROP TRIGGER events_stay",)),
    "a trigger among the Laws": (
        ".law/law.db",
        ("CREATE TRIGGER q AFTER UPDATE ON grants BEGIN UPDATE grants SET revoked = NULL; END",),
    ),
    "a trigger in what can be undone": (
        ".law/undo.db",
        ("CREATE TRIGGER q AFTER INSERT ON actions BEGIN DELETE FROM actions; END",),
    ),
    "a table of the messenger": ("memory/telegram.db", ("DROP TABLE updates",)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_is_not_ours_is_refused(plain: Path, key: Path, target: Workspace, name: str) -> None:
    file, statements = SCHEMAS[name]
    changed(plain, file, *statements)
    with refused(target):
        bring(plain, key, target)


@pytest.mark.parametrize("name", SCHEMAS)
def test_nor_is_it_taken_from_an_own_backup(plain: Path, key: Path, target: Workspace, name: str) -> None:
    shutil.copytree(plain, target.root)
    target.keys.mkdir(exist_ok=True)
    shutil.copy2(key, target.secret_key)
    before = {path: path.stat().st_ino for path in target.root.rglob("*")}
    file, statements = SCHEMAS[name]
    changed(plain, file, *statements)
    with pytest.raises(BackupError, match="Nothing was restored"):
        bring(plain, key, target)
    assert {path: path.stat().st_ino for path in target.root.rglob("*")} == before


HEADS = {
    "a way out": "month = '9/../../../victim/history', size = 0, seq = 400",
    "a month that is none": "month = '2026-13'",
    "a month with more": "month = '2026-11' || char(10)",
    "other digits": "month = '٢٠٢٦-11'",
    "the largest number": "seq = 9223372036854775807",
    "the largest size": "size = 9223372036854775807",
    "no hash": "hash = 'x'",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_no_audit_writes_is_refused_and_touches_no_file(
    plain: Path, key: Path, target: Workspace, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim" / "history.jsonl"
    victim.parent.mkdir()
    victim.write_text("mine\n")
    (plain / ".audit" / "9").mkdir()
    (plain / ".audit" / "9" / "f").write_text("x")
    changed(plain, AUDIT, f"UPDATE audit_head SET {HEADS[name]}")
    with refused(target):
        bring(plain, key, target)
    assert victim.read_text() == "mine\n"


def test_the_store_of_a_strangers_audit_is_made_anew(plain: Path, key: Path, target: Workspace) -> None:
    before = target.root.parent.parent / "plain" / AUDIT
    pages = before.read_bytes()
    bring(plain, key, target)
    assert target.audit_db.read_bytes()[:100] != pages[:100]
    assert app.verify_audit(target).sound
    assert app.verify_audit(target).notes == (), "store, log and signatures said the same"
    doubts_what_is_cut(target)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit_head SET seq = seq - 1",
        "UPDATE audit_head SET size = 0",
        "UPDATE audit_head SET month = '2031-01'",
        "DELETE FROM audit_head",
        "INSERT INTO audit_doubts VALUES ('why', 'when')",
    ],
)
def test_a_store_that_is_at_odds_with_its_log_is_told_of_for_ever(
    plain: Path, key: Path, target: Workspace, change: str
) -> None:
    changed(plain, AUDIT, change)
    bring(plain, key, target)
    assert {"audit head rebuilt", "audit accepted"} <= set(kinds(target))
    assert any("lost and made again" in each for each in app.verify_audit(target).notes)
    doubts_what_is_cut(target)


def test_a_cut_log_of_a_stranger_is_said_and_told_of(plain: Path, key: Path, target: Workspace) -> None:
    log = max((plain / ".audit").glob("*.jsonl"))
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    path = packed(plain, plain.parent / "hostile.tar.gz", key)
    done = app.restore(path, target, replace=False, passphrase=None, agree=agreed)
    assert any("missing from the end" in fault.detail for fault in done.faults)
    assert "audit head rebuilt" in kinds(target)
    doubts_what_is_cut(target)


def _numbered(root: Path) -> None:
    log = max((root / ".audit").glob("*.jsonl"))
    log.write_bytes(log.read_bytes().replace(b'"seq":1,', b'"seq":9007199254740992,'))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / ".audit" / "2031-01.jsonl").mkdir() or (root / ".audit/2031-01.jsonl/x").write_text(""),
        lambda root: (root / AUDIT).unlink() or (root / AUDIT).mkdir() or (root / AUDIT / "x").write_text(""),
        lambda root: (root / AUDIT).unlink(),
        lambda root: (root / ".mnestome/mnest.sqlite").write_text("no database at all" * 100),
        lambda root: (root / "memory/night.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000),
    ],
    ids=["a month that is a folder", "a store that is a folder", "no store", "no database", "a broken database"],
)
def test_what_stands_in_the_place_of_something_else_is_refused(
    plain: Path, key: Path, target: Workspace, change: Change
) -> None:
    change(plain)
    with pytest.raises(BackupError):
        bring(plain, key, target)
    assert not target.root.exists()


def hot_journal(victim: Path) -> bytes:
    """A journal that SQLite would roll back; it then removes the file that the journal names as its superior."""
    name = str(victim).encode()
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 0, 99, 512, 4096)
    tail = struct.pack(">I", 1) + name + struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    return head.ljust(512, b"\0") + tail


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("file", [AUDIT, "memory/medium.db", ".mnestome/snapshots/2026-01.sqlite"])
def test_files_that_sqlite_believes_are_refused_before_it_sees_them(
    plain: Path, key: Path, target: Workspace, tmp_path: Path, file: str, suffix: str
) -> None:
    victim = tmp_path / "precious"
    victim.write_text("mine")
    if "snapshots" in file:
        (plain / file).parent.mkdir()
        shutil.copy2(plain / ".mnestome/mnest.sqlite", plain / file)
    (plain / f"{file}{suffix}").write_bytes(hot_journal(victim))
    with refused(target):
        bring(plain, key, target)
    assert victim.exists()


def test_sqlite_really_removes_what_such_a_journal_names(plain: Path, tmp_path: Path) -> None:
    """Else the test above proves nothing."""
    victim = tmp_path / "precious"
    victim.write_text("mine")
    (plain / f"{AUDIT}-journal").write_bytes(hot_journal(victim))
    with closing(sqlite3.connect(plain / AUDIT)) as base, contextlib.suppress(sqlite3.Error):
        base.execute("SELECT * FROM audit_head").fetchall()
    assert not victim.exists()


def test_an_index_that_was_laid_aside_is_no_fault_and_is_made_again(plain: Path, key: Path, target: Workspace) -> None:
    file = ".mnestome/mnest.sqlite"
    changed(plain, file, "DROP INDEX mnests_out", "INSERT INTO ager_facts VALUES ('index mnests_out', 'as it was')")
    bring(plain, key, target)
    with closing(sqlite3.connect(target.mnest_db)) as base:
        assert base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'mnests_out'").fetchone() == (1,)


def test_an_older_schema_is_taken_and_brought_up_to_date(plain: Path, key: Path, target: Workspace) -> None:
    changed(plain, AUDIT, "DROP TABLE audit_doubts", "DELETE FROM migrations WHERE position = 2")
    bring(plain, key, target)
    doubts_what_is_cut(target)


def test_every_database_that_a_workspace_opens_is_known(equipped: app.App, tmp_path: Path) -> None:
    opened = equipped
    known = {*tables.of_workspace(opened.workspace)}
    assert opened.grimoire
    assert opened.past
    made = [path for path in opened.workspace.root.rglob("*") if path.suffix in (".db", ".sqlite")]
    assert len(made) > 5
    assert {*made} <= known
