import os
from pathlib import Path

import pytest

from metnos.executors import journal
from metnos.executors.journal import Line
from support import at_once

LINE = Line("2026-11-15T12:00:00.000Z", ok=True, kind="", wall_ms=3, cpu_ms=2)


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    failed = Line(LINE.ts, ok=False, kind="not_found", wall_ms=1, cpu_ms=1)
    assert journal.append(tmp_path, LINE) == ""
    assert journal.append(tmp_path, failed) == ""
    assert journal.read(tmp_path) == [LINE, failed]
    assert (tmp_path / "journal.jsonl").stat().st_mode & 0o777 == 0o600


def test_it_stays_below_its_bound_and_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST_BYTES", 2000)
    for number in range(200):
        assert journal.append(tmp_path, Line(LINE.ts, ok=True, kind="", wall_ms=number, cpu_ms=0)) == ""
        assert (tmp_path / "journal.jsonl").stat().st_size <= 2000
    kept = [line.wall_ms for line in journal.read(tmp_path)]
    assert kept == list(range(200 - len(kept), 200))
    assert len(kept) > 8


def test_torn_lines_swallow_nothing(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b'{"ts":"x\n[]\n{"half')
    assert journal.append(tmp_path, LINE) == ""
    assert journal.read(tmp_path) == [LINE]


def test_trouble_is_returned_and_never_raised(tmp_path: Path) -> None:
    assert "cannot be written" in journal.append(tmp_path / "none", LINE)
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "journal.jsonl").symlink_to(tmp_path / "elsewhere")
    assert "cannot be written" in journal.append(tmp_path, LINE)
    (tmp_path / "journal.jsonl").unlink()
    os.link(tmp_path / "elsewhere", tmp_path / "journal.jsonl")
    assert "not an ordinary file" in journal.append(tmp_path, LINE)
    assert (tmp_path / "elsewhere").read_text() == "mine"
    (tmp_path / "journal.jsonl").unlink()
    (tmp_path / "journal.jsonl").mkdir()
    assert "cannot be written" in journal.append(tmp_path, LINE)
    assert journal.read(tmp_path) == []


@pytest.mark.slow
def test_many_at_once_lose_no_line(tmp_path: Path) -> None:
    at_once([lambda: [journal.append(tmp_path, LINE) for _ in range(50)]] * 4)
    assert journal.read(tmp_path) == [LINE] * 200
