"""The mnestome's benchmark: what it makes up is a sound history, and its baselines do what they are compared with."""

import importlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from metnos.app import tables
from metnos.core.clock import from_text
from metnos.mnestome.ager import Ager
from metnos.mnestome.graph import walk
from metnos.mnestome.past import Past
from metnos.mnestome.record import record_passing
from metnos.mnestome.rules import Rules, replay
from metnos.store.db import Database

ROOT = Path(__file__).resolve().parents[2]
MNESTS = 1500
WEIGHED = "SELECT id, weight, uses, ts_used, ts_decayed FROM mnests ORDER BY id"


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("bench.mnestome")


@pytest.fixture(scope="module")
def made(bench: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Made up once; every test has copies."""
    path = tmp_path_factory.mktemp("made") / "mnest.sqlite"
    return path, bench.made.make(path, MNESTS)


@pytest.fixture
def db(made: tuple[Path, Any], tmp_path: Path) -> Iterator[Database]:
    shutil.copy(made[0], tmp_path / "made.sqlite")
    with closing(Database(tmp_path / "made.sqlite", tables.of_mnestome())) as opened:
        yield opened


@pytest.fixture
def raw(made: tuple[Path, Any], tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The same mnestome in a file of its own, without our door."""
    shutil.copy(made[0], tmp_path / "raw.sqlite")
    with closing(sqlite3.connect(tmp_path / "raw.sqlite", isolation_level=None)) as connection:
        yield connection


@pytest.mark.slow
def test_every_weight_that_is_made_up_is_what_its_events_lead_to(
    made: tuple[Path, Any], db: Database, tmp_path: Path
) -> None:
    facts = made[1]
    past = Past(tmp_path / "past.sqlite")
    rows = db.query("SELECT id, weight, uses, ts_used, ts_decayed, state FROM mnests")
    assert len(rows) == facts.mnests == MNESTS
    states = set()
    for key, weight, uses, used, weighed, state in rows:
        events = past.events(db, key)
        found, at = replay(events, Rules().decay_lambda)
        assert (found, at) == (pytest.approx(weight), from_text(weighed))
        reinforced = [each.ts for each in events if each.kind == "reinforce"]
        assert (len(reinforced), max(reinforced)) == (uses, from_text(used))
        states.add(state)
    assert states == {"active", "decaying", "proto", "superseded"}
    assert facts.events == db.query("SELECT count(*) FROM events")[0][0] > 8 * MNESTS


@pytest.mark.slow
def test_the_last_state_that_events_tell_is_the_row_s(db: Database) -> None:
    told = db.query(
        "SELECT m.state, (SELECT new_state FROM events e WHERE e.mnest_id = m.id AND new_state IS NOT NULL"
        " ORDER BY e.id DESC LIMIT 1) FROM mnests m"
    )
    assert all(state == last for state, last in told)


def test_a_file_that_was_made_up_is_sound_and_has_all_its_indexes(db: Database, tmp_path: Path) -> None:
    indexes = "SELECT name, sql FROM sqlite_master ORDER BY name"
    with closing(Database(tmp_path / "blank.sqlite", tables.of_mnestome())) as blank:
        assert db.query(indexes) == blank.query(indexes)
    assert db.problems() == []


def test_a_passing_by_hand_leaves_the_same_row(bench: ModuleType, db: Database, raw: sqlite3.Connection) -> None:
    found = "SELECT src_executor, src_version, dst_executor, dst_version FROM mnests WHERE state = 'active' LIMIT 20"
    for number, row in enumerate(db.query(found)):
        passing, ts = bench._Passing(*row), bench.made.ENDED + timedelta(seconds=number)
        record_passing(db, passing, "01TURN", ts)
        bench.pass_by_hand(raw, passing, ts)
    assert _almost(raw.execute(WEIGHED).fetchall(), db.query(WEIGHED))
    events = "SELECT mnest_id, ts, kind, delta, new_state, reason, turn FROM events ORDER BY id"
    assert raw.execute(events).fetchall() == db.query(events)


def test_a_bare_night_leaves_the_weights_that_the_ager_leaves(
    bench: ModuleType, db: Database, raw: sqlite3.Connection, tmp_path: Path
) -> None:
    night = bench.made.NIGHT + timedelta(days=1)
    report = Ager(db, Past(tmp_path / "past.sqlite"), zone=UTC).age(night, lambda _: 0)
    bench.age_bare(raw, night)
    assert report.weighed == MNESTS
    left = {row[0] for row in db.query(WEIGHED)}
    assert _almost([row for row in raw.execute(WEIGHED) if row[0] in left], db.query(WEIGHED))


def test_walks_of_the_baselines_come_to_the_same_executors(
    bench: ModuleType, db: Database, raw: sqlite3.Connection
) -> None:
    edges = bench._in_memory(raw)
    for start in sorted(edges)[:40]:
        ours = {each.name: each.weight for each in walk(db, start, 3, bench.made.NIGHT, most=10**6)}
        blind = {name: weight for weight, name in bench.blind_walk(edges, start, 3)}
        plain = dict(raw.execute(bench._WALK, (start,)))
        plain.pop(start)
        # Blind, they count a second version and the start among the edges they follow: what is last may differ.
        for theirs in (blind, plain):
            shared = ours.keys() & theirs.keys()
            assert len(shared) >= 0.9 * len(ours)
            assert sum(theirs[name] >= ours[name] - 1e-9 for name in shared) >= 0.9 * len(ours)


def test_of_a_hundred_the_95th_is_the_95th_percentile(bench: ModuleType) -> None:
    assert bench.p95([float(each) for each in range(100, 0, -1)]) == 95.0
    assert bench.p95([7.0]) == 7.0


def _almost(rows: list[Any], others: list[Any]) -> bool:
    """The same but for the last digits of weights."""
    return [row[:1] + row[2:] for row in rows] == [row[:1] + row[2:] for row in others] and [
        row[1] for row in rows
    ] == pytest.approx([row[1] for row in others], rel=1e-8)
