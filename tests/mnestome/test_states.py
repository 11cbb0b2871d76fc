import math
from datetime import datetime
from pathlib import Path

import pytest

from metnos.mnestome import record, rows, states
from metnos.mnestome.lists import history, listing
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Rules, State
from metnos.mnestome.states import Standing
from metnos.store.db import Database
from mnestome.turns import DAY, START, Pass, Turn, Wish, check, everything, passed, reasons

HERE = Standing("1.0.0", "active")


def follow(db: Database, now: datetime = START, **standings: Standing) -> int:
    """Reconcile, and once more: the second time there is nothing to do."""
    changed = states.reconcile(db, standings, now)
    events = db.query("SELECT count(*) FROM events")
    assert states.reconcile(db, standings, now + DAY) == 0
    assert db.query("SELECT count(*) FROM events") == events
    check(db)
    return changed


def by_id(db: Database, key: str) -> Mnest:
    (found,) = [each for each in everything(db) if each.id == key]
    return found


def wish(db: Database, turn: str = "W1", ts: datetime = START, source: str = "find_files") -> None:
    version = "" if source == "request" else "1.0.0"
    record.record_turn(db, Turn(turn, ts, desired=[Wish(source=source, source_version=version)]))


# -- put away and brought back


@pytest.mark.parametrize(("state", "reason"), [("archived", "executor archived"), ("revoked", "executor revoked")])
@pytest.mark.parametrize("end", ["find_files", "read_files"])
def test_an_executor_that_leaves_takes_its_mnests_along(db: Database, state: str, reason: str, end: str) -> None:
    key, other = passed(db, "find_files", "read_files"), passed(db, "count_text", "write_files")
    assert follow(db, **{end: Standing("1.0.0", state)}) == 1
    assert (by_id(db, key).state, reasons(db, key)[-1]) == (State.SUPERSEDED, reason)
    assert by_id(db, other).state is State.ACTIVE


def test_of_two_reasons_the_graver_one_is_told(db: Database) -> None:
    key = passed(db, "find_files", "read_files")
    follow(db, find_files=Standing("1.0.0", "archived"), read_files=Standing("1.0.0", "revoked"))
    assert reasons(db, key)[-1] == "executor revoked"


@pytest.mark.parametrize(("days", "state"), [(10, State.ACTIVE), (60, State.DECAYING)])
def test_what_left_with_an_executor_returns_with_it_as_it_then_weighs(db: Database, days: int, state: State) -> None:
    key = passed(db, "find_files", "read_files", times=2)
    follow(db, read_files=Standing("1.0.0", "archived"))
    assert follow(db, START + days * DAY, read_files=HERE, find_files=HERE) == 1
    found = by_id(db, key)
    assert (found.state, found.uses, reasons(db, key)[-1]) == (state, 2, states.BACK)
    assert found.at(START + days * DAY) == pytest.approx(0.45 * math.exp(-0.018 * days))


def test_it_returns_only_when_both_ends_are_back(db: Database) -> None:
    key, gone = passed(db, "find_files", "read_files"), Standing("1.0.0", "archived")
    follow(db, read_files=gone, find_files=gone)
    assert follow(db, read_files=HERE, find_files=gone) == 0
    assert follow(db, read_files=HERE, find_files=HERE) == 1
    assert by_id(db, key).state is State.ACTIVE


def test_what_was_used_again_before_goes_on_in_the_new_row(db: Database) -> None:
    old = passed(db, "find_files", "read_files", times=4)
    follow(db, read_files=Standing("1.0.0", "archived"))
    new = passed(db, "find_files", "read_files")
    assert follow(db, read_files=HERE, find_files=HERE) == 1
    assert (by_id(db, old).state, reasons(db, old)[-1]) == (State.SUPERSEDED, f"goes on as {new}")
    assert (by_id(db, new).weight, by_id(db, new).uses) == (pytest.approx(0.75), 5)
    assert reasons(db, new)[-1] == f"succeeds {old}"


def test_what_was_superseded_for_another_reason_stays_so(db: Database) -> None:
    key = passed(db, "find_files", "read_files")
    with db.write() as tx:
        rows.change_state(tx, key, State.SUPERSEDED, START, "replaced by hand")
    assert follow(db, find_files=HERE, read_files=HERE) == 0


def test_why_it_left_may_stand_among_the_events_of_a_past_year(db: Database, tmp_path: Path) -> None:
    key = passed(db, "find_files", "read_files")
    follow(db, read_files=Standing("1.0.0", "archived"))
    past = Past(tmp_path / "events_history.sqlite")
    later = datetime.fromisoformat("2027-01-05T00:00:00+00:00")
    past.move(db, later)
    assert states.reconcile(db, {"read_files": HERE}, later, past) == 1
    assert by_id(db, key).live
    check(db, past)
    past.close()


@pytest.mark.parametrize("state", ["quarantine", "disabled", "seed", "active", "draft"])
def test_whatever_is_still_there_keeps_its_mnests(db: Database, state: str) -> None:
    key = passed(db, "find_files", "read_files")
    assert follow(db, read_files=Standing("1.0.0", state)) == 0
    assert by_id(db, key).state is State.ACTIVE


# -- versions


def test_a_newer_version_goes_on_with_the_weight_that_is_left(db: Database) -> None:
    old = passed(db, "find_files", "read_files", times=3, tags=["invoice"])
    later = START + 10 * DAY
    assert follow(db, later, read_files=Standing("2.0.0", "active"), find_files=HERE) == 1
    assert (by_id(db, old).state, reasons(db, old)[-1]) == (State.SUPERSEDED, "version 2.0.0 took its place")
    (new,) = listing(db, later)
    assert (new.src_version, new.dst_version, new.uses, new.tags) == ("1.0.0", "2.0.0", 3, ("invoice",))
    assert (new.weight, new.weighed) == (pytest.approx(0.6 * math.exp(-0.18)), later)
    assert (new.first, new.used, new.state) == (START, START, State.ACTIVE)
    assert reasons(db, new.id) == [f"succeeds {old}"]


def test_both_ends_may_have_a_newer_version(db: Database) -> None:
    passed(db, "find_files", "read_files")
    follow(db, read_files=Standing("2.0.0", "active"), find_files=Standing("1.1.0", "quarantine"))
    assert [(each.src_version, each.dst_version) for each in listing(db, START)] == [("1.1.0", "2.0.0")]


def test_a_version_that_was_used_already_takes_the_greater_weight(db: Database) -> None:
    passed(db, "find_files", "read_files", times=5)
    record.record_passing(db, Pass(dst_version="2.0.0"), "T9", START)
    follow(db, read_files=Standing("2.0.0", "active"))
    (new,) = listing(db, START)
    assert (new.dst_version, new.weight, new.uses) == ("2.0.0", pytest.approx(0.9), 6)


def test_an_older_version_may_come_back(db: Database) -> None:
    passed(db, "find_files", "read_files", times=5)
    for version in ("2.0.0", "1.0.0", "2.0.0"):
        follow(db, read_files=Standing(version, "active"))
    (new,) = listing(db, START)
    assert (new.dst_version, new.weight, new.uses) == ("2.0.0", pytest.approx(0.9), 5)


def test_a_fading_one_and_a_seed_stay_what_they_are(db: Database) -> None:
    for name, state in (("a", State.SEED), ("b", State.DECAYING)):
        key = passed(db, name, "read_files")
        with db.write() as tx:
            rows.change_state(tx, key, state, START, "for the test")
    follow(db, read_files=Standing("2.0.0", "active"))
    assert {each.src: each.state for each in listing(db, START)} == {"a": State.SEED, "b": State.DECAYING}


def test_it_comes_back_in_a_newer_version(db: Database) -> None:
    passed(db, "find_files", "read_files", times=3)
    follow(db, read_files=Standing("1.0.0", "archived"))
    assert follow(db, read_files=Standing("2.0.0", "active")) == 1
    (new,) = listing(db, START)
    assert (new.dst_version, new.weight) == ("2.0.0", pytest.approx(0.6))


def test_a_clock_that_had_run_ahead_is_not_inherited(db: Database) -> None:
    passed(db, "find_files", "read_files", START + 900 * DAY)
    follow(db, START, read_files=Standing("2.0.0", "active"))
    (new,) = listing(db, START)
    assert new.first == new.used == new.weighed == START


# -- born


def test_an_executor_that_is_born_fulfils_the_wishes_for_it(db: Database) -> None:
    wish(db, "W1")
    wish(db, "W2", source="request")
    keys = {each.src: each.id for each in everything(db)}
    assert follow(db, sign_files=Standing("1.0.0", "seed"), find_files=Standing("1.2.0", "active")) == 2
    found = {each.src: each for each in everything(db)}
    assert {src: each.id for src, each in found.items()} == keys
    assert all((each.state, each.dst_version) == (State.ACTIVE, "1.0.0") for each in found.values())
    assert found["find_files"].src_version == "1.2.0"
    assert reasons(db, keys["request"])[-1] == states.BORN


def test_a_wish_for_what_was_used_before_goes_on_in_that(db: Database) -> None:
    wish(db)
    (proto,) = everything(db)
    key = passed(db, "find_files", "sign_files", times=2)
    assert follow(db, sign_files=HERE, find_files=HERE) == 1
    assert (by_id(db, proto.id).state, reasons(db, proto.id)[-1]) == (State.SUPERSEDED, f"goes on as {key}")
    assert (by_id(db, key).uses, by_id(db, key).weight) == (3, pytest.approx(0.45))
    wish(db, "W9")
    assert listing(db, START, state=State.PROTO)[0].id != proto.id


@pytest.mark.parametrize("state", ["draft", "archived", "revoked"])
def test_a_wish_stays_one_while_its_executor_is_not_there(db: Database, state: str) -> None:
    wish(db)
    assert follow(db, sign_files=Standing("1.0.0", state)) == 0
    assert [each.state for each in everything(db)] == [State.PROTO]


def test_a_wish_whose_source_is_gone_is_born_and_leaves_with_it(db: Database) -> None:
    wish(db)
    follow(db, sign_files=HERE, find_files=Standing("1.0.0", "archived"))
    (found,) = everything(db)
    assert found.state is State.SUPERSEDED
    assert reasons(db, found.id)[-2:] == [states.BORN, states.ARCHIVED]
    follow(db, sign_files=HERE, find_files=HERE)
    assert by_id(db, found.id).state is State.ACTIVE


# -- all of it


def test_tags_of_both_rows_say_how_fast_what_is_left_fades(db: Database) -> None:
    rules = Rules(lambdas={"invoice": 0.005})
    record.record_passing(db, Pass(), "T1", START, ["invoice"], rules)
    record.record_passing(db, Pass(dst_version="2.0.0"), "T2", START, ["pdf"], rules)
    states.reconcile(db, {"read_files": Standing("2.0.0", "active")}, START, rules=rules)
    (new,) = listing(db, START)
    assert (new.tags, new.decay_lambda) == (("pdf", "invoice"), 0.005)
    check(db)


def test_more_rows_than_one_transaction_takes_and_nothing_lost_when_it_is_cut_short(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "_BATCH", 4)
    for number in range(10):
        passed(db, f"from_{number}", "read_files")
    born, made = rows.born, list[int]()

    def killed(*args: object, **more: object) -> str:
        made.append(1)
        if len(made) > 6:
            raise KeyboardInterrupt
        return born(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "born", killed)
    with pytest.raises(KeyboardInterrupt):
        states.reconcile(db, {"read_files": Standing("2.0.0", "active")}, START)
    check(db)
    assert [each.dst_version for each in listing(db, START)].count("2.0.0") == 4
    monkeypatch.setattr(rows, "born", born)
    assert follow(db, read_files=Standing("2.0.0", "active")) == 6
    assert {each.dst_version for each in listing(db, START)} == {"2.0.0"}


def test_it_works_while_the_indexes_of_weight_are_laid_aside(db: Database) -> None:
    passed(db, "find_files", "read_files")
    with db.write() as tx:
        for name in ("mnests_out", "mnests_in", "mnests_state"):
            tx.execute(f"DROP INDEX {name}")
    assert follow(db, read_files=Standing("2.0.0", "active")) == 1


def test_every_change_of_state_says_why(db: Database) -> None:
    key = passed(db, "find_files", "read_files")
    follow(db, read_files=Standing("1.0.0", "archived"))
    follow(db, read_files=HERE)
    changes = [change for change in history(db, key) if change.new_state]
    assert [(each.new_state, each.event.reason) for each in changes[1:]] == [
        (State.SUPERSEDED, states.ARCHIVED),
        (State.ACTIVE, states.BACK),
    ]
