from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import forking
from metnos.core.clock import from_text
from metnos.mnestome import past as moving
from metnos.mnestome.ager import Ager
from metnos.mnestome.past import Past
from metnos.mnestome.record import record_turn
from metnos.store.db import Database
from mnestome.ageing import DAY, Passing, Turn, away, replayed, stored
from support import at_once

START = datetime(2026, 12, 20, 12, 0, tzinfo=UTC)
NEW_YEAR = datetime(2027, 1, 1, 0, 0, tzinfo=UTC)


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(tmp_path / "events_history.sqlite")
    yield made
    made.close()


def lived(db: Database, past: Past, nights: int = 30) -> list[str]:
    """Three mnests over a turn of the year, aged every night."""
    for number in range(nights):
        now = START + number * DAY
        record_turn(db, Turn(f"T{number}", now, (Passing(dst=f"read_files_{number % 3}"),)))
        Ager(db, past, zone=UTC).age(now + timedelta(hours=16), away)
    return [key for (key,) in db.query("SELECT id FROM mnests ORDER BY id")]


def test_the_living_year_stays_and_the_file_is_not_made(db: Database, past: Past) -> None:
    lived(db, past, 3)
    assert past.due(db, START + 3 * DAY) == 0
    assert past.move(db, START + 3 * DAY) == 0
    assert not past.path.exists()
    assert past.db is None


def test_past_years_move_and_weights_can_be_computed_from_both(db: Database, past: Past) -> None:
    keys, now = lived(db, past), START + 30 * DAY
    before = {key: past.rows(db, key) for key in keys}
    (total,) = db.query("SELECT count(*) FROM events")[0]
    waiting = past.due(db, now)
    moved = past.move(db, now)
    assert waiting == moved
    assert 0 < moved < total
    assert db.query("SELECT min(ts) >= '2027' FROM events") == [(1,)]
    assert db.query("SELECT year FROM events_moved") == [("2026",)]
    assert {key: past.rows(db, key) for key in keys} == before
    for key in keys:
        assert replayed(db, past, key, now) == pytest.approx(stored(db, key, now), abs=1e-9)
    assert past.move(db, now) == 0
    assert oct(past.path.stat().st_mode & 0o777) == "0o600"


@pytest.mark.parametrize("at", ["before the copy", "after the copy"])
def test_a_move_that_is_killed_loses_nothing_and_counts_nothing_twice(
    db: Database, past: Past, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    monkeypatch.setattr(moving, "_BATCH", 7)
    keys, now = lived(db, past), START + 30 * DAY
    before = {key: past.rows(db, key) for key in keys}

    def killed() -> None:
        really, copied = Past._copy, []

        def copy(self: Past, year: str, upto: int, rows: list[tuple[object, ...]]) -> None:
            copied.append(rows)
            if at == "after the copy":
                really(self, year, upto, rows)
            if len(copied) == 3:
                forking.die()
            really(self, year, upto, rows)

        monkeypatch.setattr(Past, "_copy", copy)
        past.move(db, now)

    assert forking.run(killed) == forking.KILLED
    assert {key: past.rows(db, key) for key in keys} == before
    assert past.move(db, now) > 0
    assert {key: past.rows(db, key) for key in keys} == before
    assert past.due(db, now) == 0


@pytest.mark.slow
def test_two_who_move_at_once(db: Database, past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "_BATCH", 5)
    keys, now = lived(db, past), START + 30 * DAY
    before = {key: past.rows(db, key) for key in keys}
    (old,) = db.query("SELECT count(*) FROM events WHERE ts < '2027'")[0]
    assert sum(at_once([lambda: past.move(db, now)] * 3)) == old
    assert {key: past.rows(db, key) for key in keys} == before


def test_a_clock_that_ran_ahead_moves_a_year_in_two_parts(db: Database, past: Past) -> None:
    (key, *_) = lived(db, past, 3)
    past.move(db, NEW_YEAR + 400 * DAY)  # a wrong clock
    assert db.query("SELECT count(*) FROM events") == [(0,)]
    record_turn(db, Turn("later", START + 5 * DAY, (Passing(dst="read_files_0"),)))
    assert past.move(db, START + 6 * DAY) == 0
    assert past.move(db, NEW_YEAR + DAY) == 1
    told = past.rows(db, key)
    assert [row[0] for row in told] == sorted(row[0] for row in told)
    assert from_text(told[-1][2]) == START + 5 * DAY
    assert replayed(db, past, key, NEW_YEAR) == pytest.approx(stored(db, key, NEW_YEAR), abs=1e-9)


def test_what_no_note_covers_does_not_count(db: Database, past: Past) -> None:
    (key, *_) = lived(db, past)
    past.move(db, START + 30 * DAY)
    told = past.rows(db, key)
    (newest,) = past.db.query("SELECT max(id) FROM events")[0]  # type: ignore[union-attr]
    with past.db.write() as tx:  # type: ignore[union-attr]
        tx.execute(
            "INSERT INTO events (id, mnest_id, ts, kind, delta, reason) VALUES (?, ?, ?, 'reinforce', 0.15, 'undone')",
            (newest + 100_000, key, "2026-12-24T00:00:00.000Z"),
        )
    assert past.rows(db, key) == told
    assert past.forget_after(newest) == 1
    assert past.rows(db, key) == told
