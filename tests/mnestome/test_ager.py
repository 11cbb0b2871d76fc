import multiprocessing
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from math import exp
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.core.errors import MetnosError
from metnos.mnestome import ager as ageing
from metnos.mnestome import bulk, leaving
from metnos.mnestome.ager import Ager, Day, Report, unused_since
from metnos.mnestome.past import Past
from metnos.mnestome.record import record_turn
from metnos.mnestome.rows import change_state
from metnos.mnestome.rules import CLOCK_SET_BACK, State
from metnos.store.db import Database
from mnestome.ageing import DAY, Passing, Turn, Wish, away, everything, replayed, stored, there_since
from support import at_once

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
LAMBDA = 0.018


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(tmp_path / "events_history.sqlite")
    yield made
    made.close()


def age(db: Database, past: Past, now: datetime, there: Callable[[datetime], int] | None = None) -> Report:
    return Ager(db, past, zone=UTC).age(now, there or there_since(START, now))


def passing(db: Database, turn: str = "T1", ts: datetime = START, *passings: Passing) -> str:
    record_turn(db, Turn(turn, ts, passings or (Passing(),)))
    return str(db.query("SELECT id FROM mnests ORDER BY rowid DESC LIMIT 1")[0][0])


def wish(db: Database, turn: str = "W1", ts: datetime = START) -> None:
    record_turn(db, Turn(turn, ts, desired=(Wish(),)))


def states(db: Database) -> list[str]:
    return [state for (state,) in db.query("SELECT state FROM mnests ORDER BY state")]


# -- weights


def test_a_night_takes_what_the_formula_says_and_tells_it(db: Database, past: Past) -> None:
    key = passing(db)
    now = START + DAY
    report = age(db, past, now)
    assert (report.weighed, report.faded, report.again) == (1, 0, False)
    ((weight, weighed, used),) = db.query("SELECT weight, ts_decayed, ts_used FROM mnests")
    assert weight == pytest.approx(0.30 * exp(-LAMBDA))
    assert (weighed, used) == ("2026-11-16T12:00:00.000Z", "2026-11-15T12:00:00.000Z")
    ((kind, delta, reason),) = db.query("SELECT kind, delta, reason FROM events WHERE id > 1")
    assert (kind, reason) == ("decay", "ager nightly")
    assert delta == pytest.approx(weight - 0.30)
    assert replayed(db, past, key, now) == pytest.approx(weight, abs=1e-12)


def test_a_second_run_in_a_day_changes_nothing(db: Database, past: Past) -> None:
    passing(db)
    wish(db)
    age(db, past, START + 200 * DAY)
    before = everything(db)
    report = age(db, past, START + 200 * DAY + timedelta(hours=11))
    assert everything(db) == before
    assert (report.weighed, report.again, report.by_disuse) == (0, True, False)


def test_what_was_used_today_was_weighed_today(db: Database, past: Past) -> None:
    passing(db)
    assert age(db, past, START + timedelta(hours=2)).weighed == 0


@pytest.mark.parametrize("hours", [-11, 0, 9])
def test_a_day_is_a_local_one(hours: int) -> None:
    day = Day.of(START, timezone(timedelta(hours=hours)))
    start, end = datetime.fromisoformat(day.start), datetime.fromisoformat(day.end)
    assert start <= START < end
    assert end - start == DAY
    assert start.astimezone(timezone(timedelta(hours=hours))).hour == 0


@settings(max_examples=settings().max_examples // 4)
@given(steps=st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_one_step_over_months_is_the_same_as_many(steps: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    from metnos.mnestome.schema import MIGRATIONS

    folder, weights = tmp_path_factory.mktemp("steps"), []
    for name, nights in (("many", steps), ("one", [sum(steps)])):
        db, past, now = Database(folder / f"{name}.sqlite", MIGRATIONS), Past(folder / f"{name}-past.sqlite"), START
        key = passing(db)
        for days in nights:
            now += days * DAY
            age(db, past, now, away)
        weights.append(stored(db, key, now))
        db.close()
    assert weights[0] == pytest.approx(weights[1], abs=1e-12)


def test_every_state_fades(db: Database, past: Past) -> None:
    passing(db, "T1", START, Passing(), Passing(dst="count_words"))
    wish(db)
    with db.write() as tx:
        change_state(tx, db.query("SELECT id FROM mnests ORDER BY id")[0][0], State.SUPERSEDED, START, "for the test")
    assert age(db, past, START + DAY, away).weighed == 3
    assert db.query("SELECT count(*) FROM mnests WHERE weight < 0.3") == [(3,)]


# -- states


def test_below_a_fifth_it_is_decaying_and_a_use_brings_it_back(db: Database, past: Past) -> None:
    key = passing(db)
    report = age(db, past, START + 23 * DAY, away)  # 0.30 * exp(-0.018 * 23) = 0.198
    assert (report.faded, states(db)) == (1, ["decaying"])
    assert db.query("SELECT new_state, reason FROM events WHERE kind = 'state_change'") == [
        ("decaying", "its weight fell below 0.2")
    ]
    passing(db, "T2", START + 24 * DAY)
    assert states(db) == ["active"]
    assert replayed(db, past, key, START + 24 * DAY) == pytest.approx(stored(db, key, START + 24 * DAY), abs=1e-12)


def test_an_unused_mnest_reaches_the_archive_and_not_sooner(db: Database, past: Past) -> None:
    key = passing(db)
    for days in range(1, 120):
        now = START + days * DAY
        report = age(db, past, now)
        low = 0.30 * exp(-LAMBDA * days) < 0.05
        assert bool(report.proposals) == (low and days >= 90)
        if report.proposals:
            break
    else:
        pytest.fail("it was never proposed")
    (proposal,) = report.proposals
    assert (proposal.id, proposal.source, proposal.used, report.proposable) == (key, "find_files", START, 1)
    leaving.asked(db, proposal)
    assert age(db, past, now + DAY).proposals == ()
    assert leaving.archive(db, key, "the owner let it go", now + DAY) is True
    assert leaving.archive(db, key, "the owner let it go", now + DAY) is False
    assert states(db) == []
    ((state, reason),) = db.query("SELECT state, reason FROM mnests_archive")
    assert (state, reason) == ("decaying", "the owner let it go")
    assert past.rows(db, key)[-1][5:7] == ("archived", "the owner let it go")


def test_what_was_used_since_it_was_asked_about_is_not_archived(db: Database, past: Past) -> None:
    key = passing(db)
    now = START + 150 * DAY
    (proposal,) = age(db, past, now).proposals
    leaving.asked(db, proposal)
    passing(db, "T2", now)
    assert leaving.archive(db, key, "the owner let it go", now) is False
    later = now + 300 * DAY
    assert [each.id for each in age(db, past, later).proposals] == [key]  # left alone once more: asked once more


def test_a_holiday_archives_nothing_and_deletes_no_wish(db: Database, past: Past) -> None:
    passing(db)
    wish(db)
    now = START + 300 * DAY
    report = age(db, past, now, away)
    assert (report.by_disuse, report.removed, report.proposals) == (False, (), ())
    assert states(db) == ["decaying", "proto"]
    back = now + DAY  # one day at home after all those months
    report = age(db, past, back, lambda since: int(since < back))
    assert (report.by_disuse, report.removed, report.proposals) == (True, (), ())


def test_a_wish_that_does_not_come_back_is_removed_and_its_story_stays(db: Database, past: Past) -> None:
    wish(db)
    ((key,),) = db.query("SELECT id FROM mnests")
    assert age(db, past, START + 99 * DAY).removed == ()  # 0.30 * exp(-0.018 * 99) = 0.0505
    assert age(db, past, START + 101 * DAY).removed == ("sign_files",)
    assert states(db) == []
    assert past.rows(db, key)[-1][5:7] == ("removed", leaving.FADED)


def test_recurring_wishes_are_reported(db: Database, past: Past) -> None:
    for number in range(3):
        wish(db, f"W{number}", START)
    (found,) = age(db, past, START + DAY, away).recurring
    assert (found.dst, found.uses) == ("sign_files", 3)


def test_history_goes_to_the_archive_after_its_time(db: Database, past: Past) -> None:
    key = passing(db)
    with db.write() as tx:
        change_state(tx, key, State.SUPERSEDED, START + 10 * DAY, "executor archived")
    assert age(db, past, START + 99 * DAY, away).archived == 0
    past.move(db, START + 99 * DAY)  # a year ends meanwhile, and the event that says when is in the other file
    assert age(db, past, START + 101 * DAY, away).archived == 1
    assert db.query("SELECT id, state, reason FROM mnests_archive") == [(key, "superseded", "superseded 90 days ago")]


@given(st.sets(st.integers(0, 500)), st.integers(1, 200))
def test_since_when_the_owner_was_there_on_so_many_days(days: set[int], wanted: int) -> None:
    now = START + 501 * DAY
    moments = sorted(START + day * DAY for day in days)
    active = lambda since: sum(moment > since for moment in moments)  # noqa: E731
    found = unused_since(now, active, wanted)
    if len(moments) < wanted:
        assert found is None
    else:
        assert found is not None
        assert active(found) >= wanted
        assert active(found + DAY) < wanted


# -- clocks


def test_a_clock_that_ran_ahead_freezes_nothing(db: Database, past: Past) -> None:
    key = passing(db)
    age(db, past, START + 10 * DAY)
    passing(db, "T2", START + 1000 * DAY)  # a wrong clock
    age(db, past, START + 1001 * DAY)
    now = START + 12 * DAY
    report = age(db, past, now)
    assert (report.weighed, report.set_back) == (1, 1)
    expected = 0.30 * exp(-LAMBDA * 12) + 0.15
    assert stored(db, key, now) == pytest.approx(expected)
    assert db.query("SELECT ts_used, ts_decayed FROM mnests") == [("2026-11-27T12:00:00.000Z",) * 2]
    assert db.query("SELECT reason FROM events ORDER BY id DESC LIMIT 1") == [(CLOCK_SET_BACK,)]
    assert replayed(db, past, key, now) == pytest.approx(expected, abs=1e-9)
    assert age(db, past, now + DAY).weighed == 1
    assert stored(db, key, now + DAY) == pytest.approx(expected * exp(-LAMBDA))
    assert replayed(db, past, key, now + DAY) == pytest.approx(expected * exp(-LAMBDA), abs=1e-9)


def test_a_run_in_the_future_does_not_stop_ageing_by_disuse(db: Database, past: Past) -> None:
    wish(db)
    age(db, past, START + 3000 * DAY, away)
    assert age(db, past, START + 200 * DAY).by_disuse is True


def test_a_clock_without_a_battery_stops_the_ager_and_nothing_is_lost(db: Database, past: Past) -> None:
    passing(db)
    before = everything(db)
    with pytest.raises(MetnosError, match="cannot be"):
        age(db, past, datetime(1970, 1, 1, tzinfo=UTC))
    assert everything(db) == before


# -- dry runs, crashes, company


@pytest.mark.parametrize("many", [1_000_000, 1])
def test_a_dry_run_says_what_would_happen_and_changes_nothing(
    db: Database, past: Past, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(ageing, "MANY", many)
    indexes = _indexes(db)
    passing(db, "T1", START, Passing(), Passing(dst="count_words"))
    wish(db)
    before, now = everything(db), START + 200 * DAY
    report = Ager(db, past, zone=UTC).age(now, there_since(START, now), dry_run=True)
    assert (everything(db), _indexes(db)) == (before, indexes)
    assert (report.weighed, report.faded, report.removed, len(report.proposals)) == (3, 2, ("sign_files",), 2)
    really = age(db, past, now)
    assert (really.weighed, really.faded, really.removed) == (report.weighed, report.faded, report.removed)
    assert [each.id for each in really.proposals] == [each.id for each in report.proposals]


def _killed_after(db: Database, past: Past, now: datetime, batches: int) -> None:
    def progress(done: int, _of: int) -> None:
        if done >= batches * 10:
            os._exit(9)

    Ager(db, past, zone=UTC).age(now, away, progress=progress)


@pytest.mark.slow
@pytest.mark.parametrize("many", [1_000_000, 1])
def test_a_killed_run_is_gone_on_with(db: Database, past: Past, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr(ageing, "_BATCH", 10)
    monkeypatch.setattr(ageing, "MANY", many)
    for number in range(45):
        passing(db, f"T{number}", START, Passing(dst=f"read_files_{number}"))
    indexes = _indexes(db)
    now = START + 30 * DAY
    for killed_after in (1, 3):
        child = multiprocessing.get_context("fork").Process(target=_killed_after, args=(db, past, now, killed_after))
        child.start()
        child.join()
        assert child.exitcode == 9
    left = age(db, past, now, away).weighed
    assert 0 < left < 45
    assert _indexes(db) == indexes
    assert db.query("SELECT count(*), count(DISTINCT mnest_id) FROM events WHERE kind = 'decay'") == [(45, 45)]
    assert db.query("SELECT count(*) FROM mnests WHERE abs(weight - ?) < 1e-12", (0.30 * exp(-LAMBDA * 30),)) == [(45,)]


def _indexes(db: Database) -> set[str]:
    found = db.query("SELECT name, replace(sql, ' IF NOT EXISTS', '') FROM sqlite_master WHERE type = 'index'")
    return {f"{name}: {sql}" for name, sql in found}


def test_indexes_that_were_laid_aside_come_back_also_after_a_failure(db: Database) -> None:
    before = _indexes(db)
    with pytest.raises(RuntimeError), bulk.without_order(db, 10, 10):
        assert len(_indexes(db)) < len(before)
        raise RuntimeError
    assert _indexes(db) == before
    with bulk.without_order(db, 9, 10):
        assert _indexes(db) == before


def test_a_row_that_came_with_a_backup_is_never_run(db: Database) -> None:
    before = db.query("SELECT type, name, sql FROM sqlite_master ORDER BY name")
    with db.write() as tx:
        tx.execute("DROP INDEX mnests_in")
        for name, sql in (
            ("mnests_in", "CREATE TRIGGER mnests_in AFTER INSERT ON events BEGIN DELETE FROM mnests; END"),
            ("other", "DROP TABLE mnests"),
        ):
            tx.execute("INSERT INTO ager_facts (name, value) VALUES (?, ?)", (f"index {name}", sql))
    bulk.put_back(db)
    assert db.query("SELECT type, name, sql FROM sqlite_master ORDER BY name") == before
    assert db.query("SELECT name FROM ager_facts WHERE name LIKE 'index %'") == []


@pytest.mark.slow
def test_agers_at_once_weigh_each_row_once(db: Database, past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ageing, "_BATCH", 5)
    for number in range(60):
        passing(db, f"T{number}", START, Passing(dst=f"read_files_{number}"))
    now = START + 30 * DAY
    done = at_once([lambda: age(db, past, now, away).weighed] * 3)
    assert sum(done) == 60
    assert db.query("SELECT count(*), count(DISTINCT mnest_id) FROM events WHERE kind = 'decay'") == [(60, 60)]
