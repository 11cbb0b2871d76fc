import math
from collections.abc import Sequence
from pathlib import Path

import pytest

import forking
from metnos.grimoire.trace import Passing
from metnos.mnestome import proto, record, rows
from metnos.mnestome.lists import history, listing
from metnos.mnestome.rules import Rules, State
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database
from mnestome.turns import DAY, START, Pass, Turn, Wish, check, everything, passed, reasons
from support import at_once

SLOW = Rules(lambdas={"invoice": 0.005, "news": 0.2})


def turn(db: Database, name: str, *passings: Pass, wishes: Sequence[Wish] = (), tags: Sequence[str] = ()) -> bool:
    return record.record_turn(db, Turn(name, START, passings, wishes, tags))


def mark_as_of_old(db: Database, name: str) -> None:
    with db.write() as tx:
        tx.execute("INSERT INTO applied_turns (projection, turn, ts) VALUES ('wishes', ?, 't')", (name,))


def test_the_first_passing_is_a_newborn_mnest(db: Database) -> None:
    assert turn(db, "T1", Pass(), tags=("invoice",)) is True
    (found,) = everything(db)
    assert (found.src, found.src_version, found.dst, found.dst_version) == (
        "find_files",
        "1.0.0",
        "read_files",
        "1.0.0",
    )
    assert (found.weight, found.uses, found.state, found.tags) == (0.30, 1, State.ACTIVE, ("invoice",))
    assert found.first == found.used == found.weighed == START
    (change,) = history(db, found.id)
    assert (change.turn, change.event.delta, change.event.decay_lambda, change.new_state) == (
        "T1",
        0.30,
        0.018,
        "active",
    )


def test_a_use_reinforces_what_is_left(db: Database) -> None:
    passed(db, "find_files", "read_files")
    passed(db, "find_files", "read_files", START + 10 * DAY)
    (found,) = everything(db)
    assert found.weight == pytest.approx(0.30 * math.exp(-0.18) + 0.15)
    assert (found.uses, found.used, found.first) == (2, START + 10 * DAY, START)


def test_a_passing_seen_often_in_one_turn_counts_once(db: Database) -> None:
    turn(db, "T1", Pass(), Pass(), Pass("read_files", "count_text"), Pass())
    assert sorted((each.dst, each.uses) for each in everything(db)) == [("count_text", 1), ("read_files", 1)]


def test_only_what_is_given_is_recorded(db: Database) -> None:
    turn(db, "T1", Pass("find_files", "read_files"), Pass("list_folders", "move_files"))
    assert {(each.src, each.dst) for each in everything(db)} == {
        ("find_files", "read_files"),
        ("list_folders", "move_files"),
    }


def test_the_record_of_a_turn_fits(db: Database) -> None:
    given = Passing("find_files", "1.0.0", "read_files", "2.0.0", "reference", 1, 2)
    assert record.record_passing(db, given, "T1", START) == everything(db)[0].id


def test_every_version_is_a_mnest_of_its_own(db: Database) -> None:
    turn(db, "T1", Pass(), Pass(dst_version="1.1.0"), Pass(src_version="2.0.0"))
    assert len(listing(db, START)) == 3


def test_a_turn_counts_once_however_often_it_is_applied(db: Database) -> None:
    assert [turn(db, "T1", Pass(), wishes=[Wish()]) for _ in range(3)] == [True, False, False]
    assert [each.uses for each in everything(db)] == [1, 1]
    assert record.unapplied(db, ["T0", "T1"]) == ["T0"]


def test_a_turn_whose_wishes_are_there_already_gets_only_its_passings(db: Database) -> None:
    turn(db, "T0", wishes=[Wish()])
    mark_as_of_old(db, "T1")
    assert turn(db, "T1", Pass(), wishes=[Wish()]) is True
    assert [each.uses for each in proto.protos(db)] == [1]
    assert [each.uses for each in listing(db, START)] == [1]
    assert turn(db, "T1", Pass(), wishes=[Wish()]) is False


@pytest.mark.parametrize("state", [State.SEED, State.DECAYING])
def test_a_use_makes_a_mnest_active_and_says_so(db: Database, state: State) -> None:
    key = passed(db, "find_files", "read_files")
    with db.write() as tx:
        rows.change_state(tx, key, state, START, "for the test")
    assert passed(db, "find_files", "read_files") == key
    (found,) = everything(db)
    assert (found.state, found.uses) == (State.ACTIVE, 2)
    assert reasons(db, key)[-2:] == [record.PASSED, record.USED]
    check(db)


def test_a_tuple_of_which_there_is_only_history_gets_a_new_row(db: Database) -> None:
    old = passed(db, "find_files", "read_files", times=5)
    with db.write() as tx:
        rows.change_state(tx, old, State.SUPERSEDED, START, "executor archived")
    new = passed(db, "find_files", "read_files")
    assert new != old
    assert {each.id: (each.state, each.uses) for each in everything(db)} == {
        old: (State.SUPERSEDED, 5),
        new: (State.ACTIVE, 1),
    }


def test_a_passing_that_comes_late_loses_nothing_and_ages_nothing(db: Database) -> None:
    passed(db, "find_files", "read_files")
    passed(db, "find_files", "read_files", START - 9 * DAY)
    (found,) = everything(db)
    assert (found.weight, found.used, found.weighed) == (pytest.approx(0.45), START, START)
    check(db)


def test_tags_gather_and_are_bounded(db: Database) -> None:
    passed(db, "find_files", "read_files", tags=["a", "b"])
    passed(db, "find_files", "read_files", tags=["b", "c", "x" * 1000, *map(str, range(99))])
    (found,) = everything(db)
    assert found.tags[:4] == ("a", "b", "c", "x" * 64)
    assert len(found.tags) == 16


def test_a_tag_may_slow_forgetting_from_then_on(db: Database) -> None:
    record.record_passing(db, Pass(), "T1", START, rules=SLOW)
    record.record_passing(db, Pass(), "T2", START + 10 * DAY, ["invoice", "news"], SLOW)
    (found,) = everything(db)
    assert found.decay_lambda == 0.005
    assert found.at(START + 30 * DAY) == pytest.approx((0.30 * math.exp(-0.18) + 0.15) * math.exp(-0.1))
    check(db)


@pytest.mark.parametrize(
    "odd",
    [
        Pass(src=""), Pass(dst="Read Files"), Pass(dst="x" * 65), Pass(src="../etc"), Pass(src_version="\n"),
        Pass(dst_version="v" * 65), Pass(dst="naïve_files"), Pass(dst="read_files\n"),
    ],
)  # fmt: skip
def test_what_is_no_name_is_left_out_and_stops_nothing(db: Database, odd: Pass) -> None:
    assert record.record_passing(db, odd, "T0", START) is None
    assert turn(db, "T1", odd, Pass("good_files", "read_files")) is True
    assert [each.src for each in everything(db)] == ["good_files"]


def test_a_turn_beyond_all_measure_is_bounded(db: Database) -> None:
    turn(db, "T1", *(Pass(f"step_{number}") for number in range(1000)))
    assert len(everything(db)) == 256


@pytest.mark.slow
def test_processes_that_record_at_once_lose_nothing(db: Database) -> None:
    def work(name: int) -> int:
        return sum(turn(db, f"T{name}.{number}", Pass(), Pass("a", f"own_{name}")) for number in range(25))

    assert sum(at_once([lambda: work(0), lambda: work(1), lambda: work(0)])) == 50
    assert {each.dst: each.uses for each in everything(db)} == {"read_files": 50, "own_0": 25, "own_1": 25}
    check(db)


def test_a_process_killed_between_mark_and_rows_leaves_neither(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(rows, "tell", forking.die)
        assert forking.run(lambda: turn(db, "T1", Pass(), wishes=[Wish()])) == forking.KILLED
    assert record.unapplied(db, ["T1"]) == ["T1"]
    assert everything(db) == []
    assert turn(db, "T1", Pass(), wishes=[Wish()]) is True
    assert [each.uses for each in everything(db)] == [1, 1]


def test_several_passings_may_be_one_transaction(tmp_path: Path) -> None:
    db = Database(tmp_path / "m.sqlite", MIGRATIONS)
    with pytest.raises(RuntimeError), db.write():
        passed(db, "find_files", "read_files")
        raise RuntimeError("no")
    assert everything(db) == []
    db.close()
