from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.facts_made import START, on_disk, opened
from metnos.core.clock import MovableClock
from metnos.core.errors import StoreError
from metnos.grimoire import happenings
from metnos.grimoire.facts import Facts

WRITE = {"entry_type": "pattern", "category": "files", "confidence": 0.5, "source": "self"}
CYCLE = {"entries_pruned": 1, "entries_promoted": 2, "heuristics_proposed": 3}


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    with opened(tmp_path, clock) as made:
        yield made


def test_what_happens_is_recorded_the_newest_first(facts: Facts, clock: MovableClock) -> None:
    tell = happenings.tell(facts.db, clock)
    tell(happenings.WRITE, WRITE)
    tell(happenings.CYCLE, CYCLE)
    tell(happenings.CYCLE, {**CYCLE, "entries_pruned": 7})
    (write,) = happenings.newest(facts.db, happenings.WRITE, 9)
    assert (write.data, write.ts) == (WRITE, START)
    assert [each.data["entries_pruned"] for each in happenings.newest(facts.db, happenings.CYCLE, 9)] == [7, 1]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("Rain", WRITE),
        (happenings.WRITE, CYCLE),
        (happenings.WRITE, {**WRITE, "text": "words"}),
        (happenings.CYCLE, {}),
    ],
)
def test_nothing_else_is_told(facts: Facts, kind: str, data: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="mistake"):
        happenings.tell(facts.db)(kind, data)


@pytest.mark.parametrize("name", ["A secret plan", "zebrafishword with words", "../../etc", "x" * 100, ""])
def test_what_could_be_content_is_not_kept(facts: Facts, name: str) -> None:
    happenings.tell(facts.db)(happenings.WRITE, {**WRITE, "category": name})
    assert happenings.newest(facts.db, happenings.WRITE, 1)[0].data["category"] == happenings.OTHER
    assert b"zebrafishword" not in on_disk(facts)


def test_what_is_no_number_is_none(facts: Facts) -> None:
    happenings.tell(facts.db)(happenings.WRITE, {**WRITE, "confidence": float("nan")})
    assert happenings.newest(facts.db, happenings.WRITE, 1)[0].data["confidence"] == 0.0


def test_it_is_written_with_what_it_tells_or_not_at_all(facts: Facts) -> None:
    with pytest.raises(RuntimeError), facts.db.write():
        happenings.tell(facts.db)(happenings.WRITE, WRITE)
        raise RuntimeError
    assert happenings.newest(facts.db, happenings.WRITE, 1) == []


def test_the_newest_are_kept_up_to_a_bound(facts: Facts, clock: MovableClock) -> None:
    tell = happenings.tell(facts.db, clock, kept=5)
    for _ in range(9):
        tell(happenings.WRITE, WRITE)
    tell(happenings.CYCLE, CYCLE)
    assert len(happenings.newest(facts.db, happenings.WRITE, 99)) == 4
    assert len(happenings.newest(facts.db, happenings.CYCLE, 99)) == 1
