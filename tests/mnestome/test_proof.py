from datetime import UTC, timedelta
from pathlib import Path

import pytest

from metnos.mnestome.ager import Ager
from metnos.mnestome.past import Past
from metnos.mnestome.proof import unproved
from metnos.mnestome.record import record_turn
from metnos.store.db import Database
from mnestome.ageing import DAY, Passing, Turn, away
from support import START


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path / "events_history.sqlite")


def test_weights_follow_from_events_also_from_those_of_past_years(db: Database, past: Past) -> None:
    for number in range(60):
        now = START + number * DAY
        record_turn(db, Turn(f"T{number}", now, (Passing(dst=f"read_files_{number % 4}"),)))
        Ager(db, past, zone=UTC).age(now + timedelta(hours=16), away)
    now = START + 60 * DAY
    assert past.move(db, now) > 0
    assert unproved(db, past, 100, now) == (4, [])
    assert unproved(db, past, 3, now) == (3, []), "no more than were asked for"


def test_a_weight_that_no_event_explains_is_found(db: Database, past: Past) -> None:
    for name in ("read_files", "count_text"):
        record_turn(db, Turn(f"T {name}", START, (Passing(dst=name),)))
    with db.write() as tx:
        tx.execute("UPDATE mnests SET weight = 0.9 WHERE dst_executor = 'count_text'")
    looked, wrong = unproved(db, past, 100, START + DAY)
    assert (looked, [each.dst for each in wrong]) == (2, ["count_text"])
