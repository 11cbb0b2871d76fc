from pathlib import Path

import pytest

from metnos.core.errors import StoreSchema
from metnos.executors import schema as executors
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database

COLUMNS = (
    "id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used, ts_decayed,"
    " decay_lambda, state, tags, desired_sig, desired_by"
)
ROW = ("1", "find_files", "1.0.0", "read_files", "1.0.0", 0.3, 1, "t1", "t1", "t1", 0.018, "active", "[]", None, None)
NAMES = COLUMNS.split(", ")


def put(db: Database, **changes: object) -> None:
    values = [changes.get(name, value) for name, value in zip(NAMES, ROW, strict=True)]
    with db.write() as tx:
        tx.execute(f"INSERT INTO mnests ({COLUMNS}) VALUES ({', '.join('?' * len(ROW))})", values)


def test_a_file_that_had_only_executors_grows(tmp_path: Path) -> None:
    Database(tmp_path / "m.sqlite", executors.MIGRATIONS).close()
    for _ in range(2):
        db = Database(tmp_path / "m.sqlite", (*executors.MIGRATIONS, *MIGRATIONS))
        tables = {name for (name,) in db.query("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert {"executors", "mnests", "events", "applied_turns"} <= tables
        db.close()


def test_one_live_row_for_a_tuple_and_any_number_of_old_ones(db: Database) -> None:
    put(db)
    for state in ("seed", "active", "decaying"):
        with pytest.raises(StoreSchema):
            put(db, id="2", state=state)
    put(db, id="3", state="superseded")
    put(db, id="4", state="superseded")
    put(db, id="5", dst_version="1.0.1")


def test_one_wish_for_a_source_and_a_name_whatever_the_version(db: Database) -> None:
    wish = {"dst_executor": "sign_files", "dst_version": None, "state": "proto", "desired_sig": "{}"}
    put(db, **wish)
    for version in ("1.0.0", "2.0.0"):
        with pytest.raises(StoreSchema):
            put(db, **wish, id="2", src_version=version)
    put(db, **wish, id="3", src_executor="request", src_version="")


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": 1.1}, {"weight": -0.1}, {"uses": 0}, {"ts_used": "t0"}, {"ts_decayed": "t0"}, {"decay_lambda": 0.0},
        {"state": "gone"}, {"state": "proto", "desired_sig": "{}"}, {"dst_version": None}, {"tags": "{}"},
        {"tags": "no json"}, {"desired_sig": "[]"}, {"state": "proto", "dst_version": None},
    ],
)  # fmt: skip
def test_what_is_no_mnest_is_refused(db: Database, wrong: dict[str, object]) -> None:
    with pytest.raises(StoreSchema):
        put(db, **wrong)


def test_events_are_only_ever_added(db: Database) -> None:
    insert = "INSERT INTO events (mnest_id, ts, kind, delta, new_state, reason) VALUES ('1', 't', ?, ?, ?, ?)"
    with db.write() as tx:
        tx.execute(insert, ("reinforce", 0.3, None, "wished for"))
        tx.execute(insert, ("state_change", None, "active", "born"))
    for values in (("reinforce", None, None, "x"), ("state_change", None, None, "x"), ("decay", -0.1, None, "")):
        with pytest.raises(StoreSchema), db.write() as tx:
            tx.execute(insert, values)
    for sql in ("UPDATE events SET delta = 1", "DELETE FROM events"):
        with pytest.raises(StoreSchema, match="only ever added"), db.write() as tx:
            tx.execute(sql)
