from datetime import UTC, datetime
from pathlib import Path

import pytest

from metnos.core.errors import StoreCorrupt, StoreError, UsageError
from metnos.executors import schema as executors
from metnos.mnestome import snapshot as keeping
from metnos.mnestome.record import record_turn
from metnos.mnestome.schema import MIGRATIONS
from metnos.mnestome.snapshot import Snapshots, month_of
from metnos.store.db import Database
from metnos.store.file import copy_database
from mnestome.ageing import Passing, Turn, everything

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ALL = (*executors.MIGRATIONS, *MIGRATIONS)


@pytest.fixture
def snapshots(db: Database, tmp_path: Path) -> Snapshots:
    record_turn(db, Turn("T1", START, (Passing(),)))
    return Snapshots(tmp_path / "snapshots", db.path, ALL)


def test_one_for_each_month_of_utc(db: Database, snapshots: Snapshots) -> None:
    assert snapshots.all() == []
    made = snapshots.make(START)
    assert made is not None
    assert (made.month, made.path.name, made.packed) == ("2026-11", "2026-11.sqlite", False)
    assert oct(made.path.stat().st_mode & 0o777) == "0o600"
    assert oct(snapshots.folder.stat().st_mode & 0o777) == "0o700"
    record_turn(db, Turn("T2", START, (Passing(),)))
    assert snapshots.make(START) is None
    with snapshots.open("2026-11") as old:
        assert old.query("SELECT uses FROM mnests") == [(1,)]
        with pytest.raises(StoreError), old.write():
            pass
    assert snapshots.make(datetime(2026, 12, 1, 0, 0, tzinfo=UTC)) is not None
    assert [each.month for each in snapshots.all()] == ["2026-11", "2026-12"]
    assert month_of(datetime.fromisoformat("2026-12-01T01:00:00+02:00")) == "2026-11"


def test_what_is_older_than_a_year_is_compressed_and_reads_the_same(db: Database, snapshots: Snapshots) -> None:
    snapshots.make(START)
    with snapshots.open("2026-11") as old:
        before = everything(old)
    assert snapshots.pack(datetime(2027, 11, 30, tzinfo=UTC)) == ()
    later = datetime(2027, 12, 1, tzinfo=UTC)
    assert snapshots.pack(later) == ("2026-11",)
    (packed,) = snapshots.all()
    assert (packed.packed, packed.path.name) == (True, "2026-11.sqlite.zst")
    assert oct(packed.path.stat().st_mode & 0o777) == "0o600"
    assert [path.name for path in snapshots.folder.iterdir()] == ["2026-11.sqlite.zst"]
    with snapshots.open("2026-11") as old:
        assert everything(old) == before
    assert snapshots.pack(later) == ()
    assert snapshots.make(START) is None  # compressed, the month still has one


def test_the_original_stays_until_the_compressed_one_was_proved(
    snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots.make(START)
    monkeypatch.setattr(keeping, "_digest_inside", lambda _: "another")
    with pytest.raises(StoreCorrupt):
        snapshots.pack(datetime(2028, 1, 1, tzinfo=UTC))
    assert [path.name for path in snapshots.folder.iterdir()] == ["2026-11.sqlite"]


def test_a_compression_that_was_cut_short_is_done_again(snapshots: Snapshots) -> None:
    snapshots.make(START)
    (snapshots.folder / "2026-11.sqlite.zst").write_bytes(b"half")
    assert [each.packed for each in snapshots.all()] == [False]
    assert snapshots.pack(datetime(2028, 1, 1, tzinfo=UTC)) == ("2026-11",)
    with snapshots.open("2026-11") as old:
        assert old.query("SELECT count(*) FROM mnests") == [(1,)]


def test_what_a_killed_process_left_half_made_goes(snapshots: Snapshots) -> None:
    snapshots.make(START)
    (snapshots.folder / ".2026-12.sqlite.4194999.tmp").write_bytes(b"half")  # beyond any process's number
    snapshots.make(datetime(2026, 12, 1, tzinfo=UTC))
    assert sorted(path.name for path in snapshots.folder.iterdir()) == ["2026-11.sqlite", "2026-12.sqlite"]


def test_a_snapshot_of_an_older_metnos_is_read_from_a_copy(snapshots: Snapshots, tmp_path: Path) -> None:
    older = Database(tmp_path / "older.sqlite", ALL[:-1])
    snapshots.folder.mkdir()
    older.close()
    copy_database(tmp_path / "older.sqlite", snapshots.folder / "2026-01.sqlite")
    before = (snapshots.folder / "2026-01.sqlite").read_bytes()
    with snapshots.open("2026-01") as old:
        assert old.query("SELECT count(*) FROM mnests_archive") == [(0,)]
    assert (snapshots.folder / "2026-01.sqlite").read_bytes() == before


def test_a_damaged_one_says_so(snapshots: Snapshots) -> None:
    snapshots.folder.mkdir()
    (snapshots.folder / "2026-01.sqlite.zst").write_bytes(b"nothing of the kind")
    with pytest.raises(StoreCorrupt, match="damaged"), snapshots.open("2026-01"):
        pass


@pytest.mark.parametrize("month", ["2026-13", "../x", "2026-1", "now", ""])
def test_what_is_no_month(snapshots: Snapshots, month: str) -> None:
    with pytest.raises(UsageError, match="is not a month"):
        snapshots.find(month)


def test_a_month_without_one(snapshots: Snapshots) -> None:
    with pytest.raises(UsageError, match="There is none yet"):
        snapshots.find("2020-01")
    snapshots.make(START)
    with pytest.raises(UsageError, match="There are: 2026-11"):
        snapshots.find("2020-01")
