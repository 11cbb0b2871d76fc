"""Every version of the playbook is kept, can be compared and put back; what is forgotten is in none."""

from pathlib import Path

import pytest

from grimoire.desk import ONE, TWO, Desk, texts
from metnos.core.canon import sha256_hex
from metnos.core.errors import UsageError
from metnos.grimoire import facts_rows
from metnos.grimoire.playbook import Report
from metnos.grimoire.playbook_writer import founded
from metnos.law.principal import at_terminal


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_every_version_is_kept_compared_and_put_back(desk: Desk) -> None:
    desk.learn(ONE)
    desk.text += "\n- mine \udce9\n"
    desk.learn(ONE, TWO)
    kept = [(version.by, version.why) for version in desk.book.versions()]
    assert kept == [
        ("owner", "as it was found"), ("metnos", "what was learnt changed"),
        ("owner", "as it was found"), ("metnos", "what was learnt changed"),
    ]  # fmt: skip
    assert f"+- {ONE.text}" in desk.book.diff(1, 2).splitlines()
    last = desk.text
    report = desk.book.restore(2, at_terminal())
    assert texts(report.barred) == [TWO.text]
    assert desk.plain == founded().decode() + f"\n- {ONE.text}\n"
    assert desk.book.consider([ONE, TWO], 100) == Report(), "what was put back is not undone by itself"
    desk.book.restore(4, at_terminal())
    assert desk.text == last, "to the byte"
    assert texts(desk.book.consider([TWO], 1).left) == [ONE.text], "what is put back is Metnos's line again"
    with pytest.raises(UsageError, match="no version 77"):
        desk.book.restore(77, at_terminal())


def test_what_the_owner_agreed_to_is_written_if_the_file_is_what_they_saw(desk: Desk) -> None:
    desk.learn(ONE)
    seen = desk.path.read_bytes()
    agreed = seen.replace(b"## By hand\n", b"## By hand\n\n- agreed\n")
    desk.text += "- meanwhile\n"
    assert not desk.book.put(agreed, sha256_hex(seen), "agreed")
    assert "agreed" not in desk.text
    desk.path.write_bytes(seen)
    assert desk.book.put(agreed, sha256_hex(seen), "agreed")
    assert desk.path.read_bytes() == agreed
    assert desk.book.consider([ONE], 1) == Report()


def test_what_is_forgotten_is_in_no_version(desk: Desk, tmp_path: Path) -> None:
    desk.text += "\nzürich \udce9\n"  # no proper text
    desk.learn(ONE, TWO)
    desk.text = desk.text.replace(f"- {ONE.text}\n", "")
    desk.book.look()
    gone = desk.book.forget({"F1", "F2"})
    assert (gone.lines, gone.versions) == (1, 2)
    with desk.db.write() as tx:
        facts_rows.remove(tx, ["F1", "F2"])
    desk.db.query("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in tmp_path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"newest folder" not in content, path
        assert b"Rename copies" not in content, path
    assert all(b"newest" not in desk.book.history.content(each.id) for each in desk.book.versions())
