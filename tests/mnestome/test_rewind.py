from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from metnos.core.errors import DaemonError, StoreCorrupt
from metnos.executors import schema as executors
from metnos.mnestome.ager import Ager
from metnos.mnestome.past import Past
from metnos.mnestome.record import record_turn, unapplied
from metnos.mnestome.rewind import rewind
from metnos.mnestome.schema import MIGRATIONS
from metnos.mnestome.snapshot import Snapshots
from metnos.store.db import Database
from mnestome.ageing import DAY, Passing, Turn, Wish, away, everything, replayed, stored

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def snapshots(db: Database, tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots", db.path, (*executors.MIGRATIONS, *MIGRATIONS))


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(tmp_path / "events_history.sqlite")
    yield made
    made.close()


def turn(db: Database, number: int, ts: datetime) -> None:
    record_turn(db, Turn(f"T{number}", ts, (Passing(dst=f"read_files_{number % 2}"),), (Wish(),), ("text",)))


def idle() -> bool:
    return False


def test_the_mnestome_of_a_month_and_nothing_else_goes_back(db: Database, snapshots: Snapshots, past: Past) -> None:
    turn(db, 1, START)
    with db.write() as tx:
        tx.execute("INSERT INTO executor_revoked (code, name, ts) VALUES ('old', 'read_files', 'then')")
    snapshots.make(START)
    then = everything(db)
    with db.write() as tx:
        tx.execute("INSERT INTO executor_revoked (code, name, ts) VALUES ('new', 'read_files', 'now')")
        tx.execute("INSERT INTO applied_turns (projection, turn, ts) VALUES ('fast paths', 'T2', 'now')")
    turn(db, 2, START + 20 * DAY)
    Ager(db, past, zone=UTC).age(START + 21 * DAY, away)
    since = everything(db)
    done = rewind(db, snapshots, past, "2026-11", START + 22 * DAY, busy=idle)
    now = everything(db)
    assert now.pop("applied_turns") == [("fast paths", "T2", "now"), *then.pop("applied_turns")]
    assert now == then
    assert (done.mnests, done.events) == (2, 2)
    assert len(db.query("SELECT 1 FROM executor_revoked")) == 2  # what was revoked since stays revoked
    assert unapplied(db, ["T1", "T2"]) == ["T2"]
    kept = Database(done.aside, read_only=True)
    assert everything(kept) == since
    kept.close()
    assert [each.month for each in snapshots.all()] == ["2026-11"]  # what was kept aside is no month


def test_events_are_still_only_ever_added_and_no_number_comes_twice(
    db: Database, snapshots: Snapshots, past: Past
) -> None:
    turn(db, 1, START)
    snapshots.make(START)
    turn(db, 2, START + DAY)
    (newest,) = db.query("SELECT max(id) FROM events")[0]
    rewind(db, snapshots, past, "2026-11", START + 2 * DAY, busy=idle)
    turn(db, 2, START + DAY)
    assert db.query("SELECT min(id) > ? FROM events WHERE turn = 'T2'", (newest,)) == [(1,)]
    with pytest.raises(Exception, match="only ever added"), db.write() as tx:
        tx.execute("DELETE FROM events")
    with pytest.raises(Exception, match="only ever added"), db.write() as tx:
        tx.execute("UPDATE events SET reason = 'another'")


def test_years_that_had_moved_since_are_undone_with_the_rest(db: Database, snapshots: Snapshots, past: Past) -> None:
    turn(db, 1, START)
    snapshots.make(START)
    turn(db, 2, START + DAY)
    turn(db, 3, START + 2 * DAY)
    later = START + 60 * DAY
    Ager(db, past, zone=UTC).age(later, away)
    past.move(db, later)
    rewind(db, snapshots, past, "2026-11", later, busy=idle)
    for number in (2, 3):
        turn(db, number, START + (number - 1) * DAY)
    Ager(db, past, zone=UTC).age(later, away)
    for _ in range(2):  # before the year moves again, and after
        for (key,) in db.query("SELECT id FROM mnests"):
            assert replayed(db, past, key, later) == pytest.approx(stored(db, key, later), abs=1e-9)
        past.move(db, later)
    assert db.query("SELECT sum(uses) FROM mnests") == [(6,)]


def test_a_damaged_snapshot_changes_nothing(db: Database, snapshots: Snapshots, past: Past) -> None:
    turn(db, 1, START)
    made = snapshots.make(START)
    assert made is not None
    content = bytearray(made.path.read_bytes())
    content[4096 * 5 : 4096 * 9] = os_noise(4096 * 4)
    made.path.write_bytes(content)
    turn(db, 2, START + DAY)
    before = everything(db)
    with pytest.raises(StoreCorrupt):
        rewind(db, snapshots, past, "2026-11", START + DAY, busy=idle)
    assert everything(db) == before


def os_noise(size: int) -> bytes:
    return bytes(number * 31 % 251 for number in range(size))


def test_not_while_a_daemon_works_with_it(db: Database, snapshots: Snapshots, past: Past) -> None:
    snapshots.make(START)
    with pytest.raises(DaemonError, match="Stop it"):
        rewind(db, snapshots, past, "2026-11", START, busy=lambda: True)
