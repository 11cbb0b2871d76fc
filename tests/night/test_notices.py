from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.night import schema
from metnos.night.notices import LONGEST, News, Notices, shortened
from metnos.store.db import Database
from support import at_once


@pytest.fixture
def db(tmp_path: Path, clock: MovableClock) -> Iterator[Database]:
    db = Database(tmp_path / "night.db", schema.MIGRATIONS, clock=clock)
    yield db
    db.close()


@pytest.fixture
def notices(db: Database, clock: MovableClock) -> Notices:
    return Notices(db, clock)


def test_told_until_seen(notices: Notices, clock: MovableClock) -> None:
    told = notices.tell([News("audit", "it is broken"), News("reminder", "tea", "1")])
    assert [(each.kind, each.text, each.ts) for each in told] == [
        ("audit", "it is broken", clock.now()),
        ("reminder", "tea", clock.now()),
    ]
    assert notices.unseen() == told
    assert notices.seen([told[0].id, 999]) == 1
    assert notices.seen([told[0].id]) == 0
    assert notices.unseen() == told[1:]


def test_what_is_told_once_is_never_told_again(notices: Notices, clock: MovableClock) -> None:
    (told,) = notices.tell([News("reminder", "tea", "1"), News("reminder", "other words", "1")])
    notices.seen([told.id])
    clock.move(timedelta(days=500))
    assert notices.tell([News("reminder", "tea", "1")]) == []


def test_what_goes_on_is_told_again_when_it_was_seen(notices: Notices) -> None:
    (first,) = notices.tell([News("audit", "broken"), News("audit", "broken")])
    assert notices.tell([News("audit", "broken")]) == []
    assert len(notices.tell([News("audit", "broken elsewhere"), News("executors", "broken")])) == 2
    notices.seen([first.id])
    assert len(notices.tell([News("audit", "broken")])) == 1


@pytest.mark.slow
def test_of_many_processes_one_tells(db: Database, clock: MovableClock) -> None:
    calls = [lambda: len(Notices(db, clock).tell([News("reminder", "tea", "1")]))] * 8
    assert sum(at_once(calls)) == 1


def test_any_text_fits(notices: Notices) -> None:
    (long, odd) = notices.tell([News("x", "a" * 10_000), News("x", "half a pair \ud800 and a zero \0")])
    assert (len(long.text), long.text[-1]) == (LONGEST, "…")
    assert odd.text == "half a pair ? and a zero \0"
    assert [each.text for each in notices.unseen()] == [long.text, odd.text]
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "ab…"
