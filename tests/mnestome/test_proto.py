from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.traces import trace
from metnos.core.clock import MovableClock
from metnos.core.ids import made_at
from metnos.grimoire.medium import MIGRATIONS as MEDIUM
from metnos.grimoire.medium import Facts, Medium
from metnos.grimoire.trace import Desired
from metnos.grimoire.trace import State as Ended
from metnos.mnestome import proto, record
from metnos.mnestome.lists import history
from metnos.mnestome.rules import Event, replay
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database
from mnestome.turns import DAY, START, Turn, Wish
from support import at_once


def wish(db: Database, turn: str, ts: datetime = START, *wishes: Wish, tags: Sequence[str] = ()) -> bool:
    return record.record_turn(db, Turn(turn, ts, desired=wishes or (Wish(),), tags=tags))


def events(db: Database, key: str) -> list[Event]:
    return [change.event for change in history(db, key)]


def test_the_first_wish(db: Database) -> None:
    assert wish(db, "T1") is True
    (found,) = proto.protos(db)
    assert (found.dst, found.src, found.uses, found.weight) == ("sign_files", "request", 1, 0.30)
    assert (found.first, found.used, found.summary) == (START, START, "sign files")
    assert made_at(found.id) == START
    assert db.query("SELECT delta, new_state, reason, turn FROM events") == [(0.30, "proto", "wished for", "T1")]


def test_a_repeated_wish_reinforces_one_row(db: Database) -> None:
    for number in range(3):
        wish(db, f"T{number}", START + number * 10 * DAY)
    (found,) = proto.protos(db)
    kept = 0.8352702114112720  # exp(-0.018 * 10)
    assert found.uses == 3
    assert found.weight == pytest.approx((0.30 * kept + 0.15) * kept + 0.15)
    assert (found.first, found.used, found.weighed) == (START, START + 20 * DAY, START + 20 * DAY)
    assert found.at(START + 30 * DAY) == pytest.approx(found.weight * kept)


def test_a_turn_counts_once_however_often_it_is_applied(db: Database) -> None:
    assert [wish(db, "T1") for _ in range(3)] == [True, False, False]
    wish(db, "T2", START, Wish(), Wish(signature={"summary": "again"}), Wish())
    (found,) = proto.protos(db)
    assert found.uses == 2


def test_a_turn_without_a_wish_is_marked_too(db: Database) -> None:
    assert record.record_turn(db, Turn("T1")) is True
    assert record.unapplied(db, ["T2", "T1", "T0"]) == ["T2", "T0"]
    assert proto.protos(db) == []


def test_the_record_of_a_turn_fits(db: Database) -> None:
    desired = Desired("count_words", "read_files", "1.0.0", {"summary": "count words"})
    record.record_turn(db, Facts("T1", START, Ended.DONE, (), (desired,), ("text",)))
    (found,) = proto.protos(db)
    assert (found.src, found.src_version, found.tags) == ("read_files", "1.0.0", ("text",))


def test_another_source_is_another_wish_and_a_newer_version_is_not(db: Database) -> None:
    wish(db, "T1", START, Wish(), Wish(source="find_files", source_version="1.0.0"))
    wish(db, "T2", START, Wish(source="find_files", source_version="2.0.0"))
    found = {each.src: each for each in proto.protos(db)}
    assert (found["request"].uses, found["find_files"].uses) == (1, 2)
    assert found["find_files"].src_version == "2.0.0"


@pytest.mark.slow
def test_processes_that_apply_the_same_turns_at_once(db: Database) -> None:
    done = at_once([lambda: [wish(db, f"T{number}") for number in range(10)].count(True)] * 4)
    assert sum(done) == 10
    (found,) = proto.protos(db)
    assert found.uses == 10
    assert len(events(db, found.id)) == 10


@pytest.mark.parametrize(
    "odd",
    [
        Wish(name=""), Wish(name="Sign Files"), Wish(name="x" * 65), Wish(name="../etc"), Wish(source=""),
        Wish(source="a b"), Wish(source_version="\n"), Wish(name="request"), Wish(name="naïve_files"),
    ],
)  # fmt: skip
def test_what_is_no_name_is_left_out_and_stops_nothing(db: Database, odd: Wish) -> None:
    assert wish(db, "T1", START, odd, Wish("good_name")) is True
    assert [each.dst for each in proto.protos(db)] == ["good_name"]


def test_a_model_that_rambles_is_bounded(db: Database) -> None:
    many = [Wish(f"wish_{'x' * number}", signature={"summary": "s" * 100_000}) for number in range(50)]
    wish(db, "T1", START, *many, tags=["t" * 1000] * 100)
    found = proto.protos(db)
    assert len(found) == 16
    assert all(len(each.summary) == 64 and len(each.tags) <= 16 for each in found)


@pytest.mark.parametrize("odd", [{"summary": "\udcff"}, {"summary": float("nan")}, {"summary": {1, 2}}, {}])
def test_a_signature_that_cannot_be_stored(db: Database, odd: dict[str, Any]) -> None:
    assert wish(db, "T1", START, Wish(signature=odd)) is True
    assert len(proto.protos(db)) == 1


def test_what_was_said_first_stays(db: Database) -> None:
    wish(db, "T1")
    wish(db, "T2", START, Wish(signature={"summary": "something else entirely"}))
    assert proto.protos(db)[0].summary == "sign files"


def test_the_words_of_a_forgotten_turn_go_and_new_ones_come(db: Database, tmp_path: Path) -> None:
    wish(db, "T1", START, Wish(signature={"summary": "heliotrope-secret"}))
    proto.forget_turn(db, "T1")
    (found,) = proto.protos(db)
    assert (found.summary, found.uses) == ("", 1)
    assert all(b"heliotrope" not in path.read_bytes() for path in tmp_path.glob("mnest.sqlite*"))
    wish(db, "T2")
    assert proto.protos(db)[0].summary == "sign files"


def test_recurring_is_often_and_fresh(db: Database) -> None:
    for number in range(3):
        wish(db, f"A{number}", START, Wish("often_files"))
    for number in range(2):
        wish(db, f"B{number}", START, Wish("seldom_files"))
    for number in range(9):
        wish(db, f"C{number}", START, Wish("very_files"))
    assert [each.dst for each in proto.recurring(db, START)] == ["very_files", "often_files"]
    assert [each.dst for each in proto.recurring(db, START + 60 * DAY)] == ["very_files"]
    assert proto.recurring(db, START + 600 * DAY) == []
    assert len(proto.recurring(db, START, min_uses=1, min_weight=0.0)) == 3


class TestCatchingUp:
    """Wishes on their way from the traces into the mnestome."""

    @pytest.fixture
    def medium(self, tmp_path: Path) -> Iterator[Medium]:
        made = Medium(Database(tmp_path / "medium.db", MEDIUM), MovableClock(START))
        for number in range(4):
            made.close(trace(f"T{number}"))
        yield made
        made.db.close()

    @staticmethod
    def apply(db: Database, medium: Medium, *, again: int = 0, most: int = 99) -> None:
        """As far as a process gets before it dies: it acknowledges only if it sees the end."""
        offered = medium.pending(record.PROJECTION, again=again)
        for turn in record.unapplied(db, offered)[:most]:
            record.record_turn(db, medium.facts(turn))
        if most > len(offered):
            medium.applied(record.PROJECTION, *offered)

    def test_a_process_that_dies_on_the_way_costs_nothing(self, db: Database, medium: Medium) -> None:
        for most in (1, 0, 2):
            self.apply(db, medium, most=most)
        assert len(medium.pending(record.PROJECTION)) == 4
        for _ in range(2):
            self.apply(db, medium)
        assert medium.pending(record.PROJECTION) == []
        assert [each.uses for each in proto.protos(db)] == [4]

    def test_what_a_power_cut_took_is_brought_back(self, db: Database, medium: Medium, tmp_path: Path) -> None:
        self.apply(db, medium, most=2)
        db.close()
        before = (tmp_path / "mnest.sqlite").read_bytes()
        self.apply(db, medium)
        db.close()
        (tmp_path / "mnest.sqlite").write_bytes(before)  # acknowledged and not on the disk
        assert [each.uses for each in proto.protos(db)] == [2]
        self.apply(db, medium, again=4)
        assert [each.uses for each in proto.protos(db)] == [4]

    def test_a_mnestome_that_was_lost_is_built_anew(self, db: Database, medium: Medium, tmp_path: Path) -> None:
        self.apply(db, medium)
        medium.redact("T1")
        lost = Database(tmp_path / "another.sqlite", MIGRATIONS)
        medium.offer_again(record.PROJECTION)
        self.apply(lost, medium)
        assert [(each.uses, each.weight) for each in proto.protos(lost)] == [
            (each.uses, each.weight) for each in proto.protos(db)
        ]
        lost.close()


moments = st.floats(0, 365).map(lambda days: START + days * DAY)


@given(st.lists(st.tuples(moments, st.sampled_from(["sign_files", "count_words"])), min_size=1, max_size=12))
def test_weights_follow_from_events_even_when_the_clock_jumps(
    tmp_path_factory: pytest.TempPathFactory, wished: list[tuple[datetime, str]]
) -> None:
    db = Database(tmp_path_factory.mktemp("mnestome") / "mnest.sqlite", MIGRATIONS)
    for number, (ts, name) in enumerate(wished):
        wish(db, f"T{number}", ts, Wish(name))
    for found in proto.protos(db):
        said = events(db, found.id)
        weight, at = replay(said, found.decay_lambda)
        assert found.weight == pytest.approx(weight, abs=1e-12)
        assert found.weighed == at == max(event.ts for event in said)
        assert found.uses == len(said)
        assert found.used >= found.first
    db.close()
