"""A workspace with a broken database: every command says so in a sentence, and a panic halts all the same."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from metnos.core.workspace import Workspace
from metnos.law.halt_file import HaltFile
from support import Say

FILES = {
    "audit": ".law/audit.db",
    "law": ".law/law.db",
    "mnest": ".mnestome/mnest.sqlite",
    "medium": "memory/medium.db",
}
TABLES = {"audit": "audit_head", "law": "halts", "mnest": "executors", "medium": "turns"}
DAMAGES = {
    "a table is missing": "DROP TABLE {0}",
    "a view in its place": "ALTER TABLE {0} RENAME TO q; CREATE VIEW {0} AS SELECT * FROM q",
    "a trigger aborts": "CREATE TRIGGER q BEFORE INSERT ON {0} BEGIN SELECT RAISE(ABORT, 'no'); END;"
    "CREATE TRIGGER r BEFORE UPDATE ON {0} BEGIN SELECT RAISE(ABORT, 'no'); END",
    "no record of migrations": "DELETE FROM migrations",
    "another column": "ALTER TABLE {0} ADD COLUMN q TEXT",
}


def damaged(root: Path, name: str, damage: str) -> None:
    path = root / FILES[name]
    if damage == "no database":
        for side in path.parent.glob(f"{path.name}-*"):
            side.unlink()
        path.write_bytes(b"x" * 4096)
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA writable_schema=ON" if "view" in damage else "PRAGMA foreign_keys=OFF")
        base.executescript(DAMAGES[damage].format(TABLES[name]))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("audit", damage) for damage in DAMAGES),
        ("law", "a table is missing"),
        ("law", "a trigger aborts"),
        ("law", "no database"),
        ("mnest", "a table is missing"),
        ("medium", "a trigger aborts"),
        ("medium", "no database"),
    ],
)
def test_every_command_says_so_and_a_panic_halts(root: Path, say: Say, name: str, damage: str) -> None:
    damaged(root, name, damage)
    asked = say("ask", "what is 2 plus 2")
    assert "Traceback" not in asked.err
    assert asked.code in (0, 1)
    examined = say("doctor")
    assert examined.code == 1
    words = " ".join(examined.out.split())
    assert any(each in words for each in ("is not as Metnos makes it", "damaged", "does not begin as")), words
    stopped = say("executor", "panic")
    assert stopped.code in (0, 1)
    assert HaltFile(Workspace(root).halt_file).read().halted
    assert say("ask", "what is 2 plus 2").code == 1


def test_a_head_that_leads_elsewhere_stops_everything(root: Path, say: Say, tmp_path: Path) -> None:
    victim = tmp_path / "victim" / "history.jsonl"
    victim.parent.mkdir()
    victim.write_text("mine\n")
    with closing(sqlite3.connect(root / FILES["audit"], isolation_level=None)) as base:
        (root / ".audit" / "9").mkdir()
        base.execute(
            "UPDATE audit_head SET month = ?, size = 0", (f"9/../../../../../../../..{victim.with_suffix('')}",)
        )
    asked = say("ask", "what is 2 plus 2")
    assert asked.code == 1
    assert "was not written by Metnos" in asked.out
    assert say("doctor").code == 1
    assert say("executor", "panic").code in (0, 1)
    assert HaltFile(Workspace(root).halt_file).read().halted
    assert victim.read_text() == "mine\n"
