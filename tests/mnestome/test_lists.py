from datetime import datetime
from pathlib import Path

import pytest

from metnos.core.errors import UsageError
from metnos.mnestome import lists, record, rows
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Kind, State
from metnos.store.db import Database
from mnestome.turns import DAY, START, Pass, Turn, Wish, check, passed


def put(db: Database, key: str, *, archived: bool = False) -> None:
    """A mnest of an id of our own."""
    values = (
        key,
        "a",
        "1",
        f"dst_{key.lower()}",
        "1",
        0.3,
        1,
        *["2026-11-15T12:00:00.000Z"] * 3,
        0.018,
        "active",
        "[]",
    )
    table, more, last = ("mnests_archive", ", ts_archived, reason", ["t", "let go"]) if archived else ("mnests", "", [])
    names = (
        "id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used, ts_decayed,"
        f" decay_lambda, state, tags{more}"
    )
    with db.write() as tx:
        tx.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * (13 + len(last)))})", (*values, *last))


def test_the_living_are_listed_the_heaviest_first(db: Database) -> None:
    passed(db, "a", "b")
    passed(db, "a", "c", times=3)
    gone = passed(db, "a", "d")
    fading = passed(db, "a", "e", START - 100 * DAY)
    with db.write() as tx:
        rows.change_state(tx, gone, State.SUPERSEDED, START, "for the test")
        rows.change_state(tx, fading, State.DECAYING, START, "for the test")
    record.record_turn(db, Turn("T9", desired=[Wish()]))
    assert [each.dst for each in lists.listing(db, START)] == ["c", "b", "e"]
    assert [each.dst for each in lists.decaying(db, START)] == ["e"]
    assert [each.dst for each in lists.listing(db, START, state=State.SUPERSEDED)] == ["d"]
    (wish,) = lists.listing(db, START, state=State.PROTO)
    assert (wish.dst, wish.dst_version, wish.summary) == ("sign_files", None, "sign files")


@pytest.mark.parametrize("tag", ["invoice", 'a"b', "naïve", "x\\", "a,b", "[", "%", ","])
def test_by_tag_finds_the_very_tag(db: Database, tag: str) -> None:
    wanted = passed(db, "a", "b", tags=["other", tag])
    passed(db, "a", "c", tags=[f"{tag}s", f"my {tag}", f'"{tag}"', tag.upper() + "!"])
    passed(db, "a", "d")
    assert [each.id for each in lists.by_tag(db, tag, START)] == [wanted]


class TestFinding:
    FIRST, SECOND = "01AAAAAAAAAAAAAAAAAAAAAAAX", "01ABBBBBBBBBBBBBBBBBBBBBBX"

    @pytest.fixture(autouse=True)
    def some(self, db: Database) -> None:
        put(db, self.FIRST)
        put(db, self.SECOND, archived=True)

    @pytest.mark.parametrize("part", [FIRST, "01AA", "01aa", " 01AA ", f"mnest_{FIRST}", "mnest_01AA", "AAX"])
    def test_by_a_part(self, db: Database, part: str) -> None:
        assert lists.find(db, part).id == self.FIRST

    def test_in_the_archive(self, db: Database) -> None:
        assert lists.find(db, "01AB").id == self.SECOND

    @pytest.mark.parametrize("part", ["01A", "X"])
    def test_more_than_one(self, db: Database, part: str) -> None:
        with pytest.raises(UsageError, match="several mnests") as caught:
            lists.find(db, part)
        assert "more of the id" in caught.value.fix

    @pytest.mark.parametrize("part", ["02", "AAXX"])
    def test_none(self, db: Database, part: str) -> None:
        with pytest.raises(UsageError, match="there is no mnest") as caught:
            lists.find(db, part)
        assert "mnestome list" in caught.value.fix

    @pytest.mark.parametrize("part", ["", "  ", "mnest_", "%", "_", "a b", "0" * 27, "é"])
    def test_what_is_no_part_of_an_id(self, db: Database, part: str) -> None:
        with pytest.raises(UsageError, match="no part of a mnest's id"):
            lists.find(db, part)


def test_the_history_says_what_a_mnest_weighed_after_each_event(db: Database) -> None:
    key = passed(db, "a", "b")
    passed(db, "a", "b", START + DAY)
    with db.write() as tx:
        rows.change_state(tx, key, State.DECAYING, START + DAY, "for the test")
    told = lists.history(db, key)
    assert [each.event.kind for each in told] == [Kind.REINFORCE, Kind.REINFORCE, Kind.STATE_CHANGE]
    assert told[0].weight == 0.30
    assert told[2].weight == told[1].weight == lists.find(db, key).weight
    assert (told[0].turn, told[2].event.reason, told[2].new_state) == ("T", "for the test", State.DECAYING)
    assert lists.history(db, "nobody") == []


def test_the_history_goes_on_over_the_years(db: Database, tmp_path: Path) -> None:
    key = passed(db, "a", "b", times=3)
    whole = lists.history(db, key)
    past = Past(tmp_path / "events_history.sqlite")
    past.move(db, datetime.fromisoformat("2027-01-02T00:00:00+00:00"))
    assert lists.history(db, key) == []
    assert lists.history(db, key, past) == whole
    record.record_passing(db, Pass("a", "b"), "T9", datetime.fromisoformat("2027-02-02T00:00:00+00:00"))
    assert lists.history(db, key, past)[:-1] == whole
    check(db, past)
    past.close()
