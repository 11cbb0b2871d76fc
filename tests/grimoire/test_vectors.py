"""Vectors in memory and in the side index, by the store that uses them; small thresholds stand for large stores."""

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.episodes_made import OTHER, SPACE, episode, unit, vectors
from metnos.core.clock import MovableClock
from metnos.grimoire import vectors as searching
from metnos.grimoire.episode import Where
from metnos.grimoire.episodes_sqlite import SqliteEpisodes
from metnos.grimoire.vectors_side import IndexRules

SMALL = IndexRules(from_rows=200, tail_least=20, batch=50)
COUNT = 400


@pytest.fixture
def rows() -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return vectors(COUNT)  # type: ignore[return-value]  # numpy knows no shapes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "episodes"


Open = Callable[[], SqliteEpisodes]


@pytest.fixture
def opened(folder: Path, clock: MovableClock) -> Open:
    return lambda: SqliteEpisodes(folder, clock, index=SMALL)


@pytest.fixture
def store(opened: Open, rows: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> SqliteEpisodes:
    made = opened()
    made.add([episode(number, session=f"S{number % 40}") for number in range(COUNT)], rows, SPACE)
    assert made.tend()
    return made


def side_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("vectors-*"))


def found(store: SqliteEpisodes, query: object, count: int = 10, where: Where | None = None) -> list[int]:
    return [int(each.id[1:]) for each in store.nearest(query, count, where or Where())]  # type: ignore[arg-type]


def recall(store: SqliteEpisodes, rows: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> float:
    """How many of the ten nearest of an exact search are found."""
    queries = vectors(20, 5)
    shares = [len({*found(store, each)} & {*np.argsort(-(rows @ each))[:10].tolist()}) / 10 for each in queries]
    return float(np.mean(shares))


# -- looking at every row


@given(st.integers(0, 60), st.integers(0, 70), st.integers(0, 2**32 - 1))
def test_the_best_are_the_best_and_in_order(many: int, count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    scores = chance.choice(np.linspace(-1, 1, 9).astype(np.float32), size=many)
    keys = chance.permutation(many).astype(np.int64)
    got_keys, got = searching.best(keys, scores, count)
    expected = sorted(scores.tolist(), reverse=True)[:count]
    assert got.tolist() == expected
    assert [scores[keys.tolist().index(key)] for key in got_keys] == expected
    equal = [first for first, same in zip(pairwise(got_keys), got[:-1] == got[1:], strict=True) if same] if many else []
    assert all(one < other for one, other in equal)


@given(st.lists(st.integers(0, 9), max_size=12))
def test_rows_in_memory_grow_and_stay_what_they_were(sizes: list[int]) -> None:
    kept = searching.Rows(4)
    whole = np.arange(4 * sum(sizes), dtype=np.float16).reshape(-1, 4)
    earlier, start = [], 0
    for size in sizes:
        kept.append(np.arange(start, start + size), whole[start : start + size])
        start += size
        earlier.append((start, *kept.all))
    for end, keys, rows in earlier:
        assert keys.tolist() == list(range(end))
        assert np.array_equal(rows, whole[:end])


def test_an_exact_search_in_chunks_is_one_of_everything() -> None:
    rows = vectors(100).astype(np.float16)
    given = [(number, row.tobytes()) for number, row in enumerate(rows)]
    chunks = [given[start : start + 7] for start in range(0, 100, 7)]
    keys, scores = searching.exact(chunks, rows[5], 12)
    assert keys.tolist() == np.argsort(-searching.scores(rows, rows[5]), kind="stable")[:12].tolist()
    assert scores[0] == pytest.approx(1, abs=1e-2)


# -- the side index


def test_below_the_threshold_there_is_none(opened: Open, folder: Path) -> None:
    store = opened()
    store.add([episode(number) for number in range(199)], vectors(199), SPACE)
    assert not store.tend()
    assert side_files(folder) == []
    store.close()


@pytest.mark.slow
def test_with_the_side_index_nearly_all_of_the_nearest_are_found(store: SqliteEpisodes, rows, folder: Path) -> None:  # type: ignore[no-untyped-def]
    assert len(side_files(folder)) == 1
    assert recall(store, rows) > 0.9
    assert not store.tend()  # nothing is left to do


def test_it_is_used_and_only_what_it_lacks_is_in_memory(store: SqliteEpisodes, rows) -> None:  # type: ignore[no-untyped-def]
    found(store, rows[0])
    held = store._search._held
    assert held is not None
    assert held.side is not None
    assert len(held.tail) == 0
    late = vectors(3, 77)
    store.add([episode(1000 + number) for number in range(3)], late, SPACE)
    assert [found(store, each, 1) for each in late] == [[1000], [1001], [1002]]
    assert len(held.tail) == 3


def test_when_it_is_behind_it_is_brought_up_to_date_from_where_it_is(store: SqliteEpisodes, rows, folder: Path) -> None:  # type: ignore[no-untyped-def]
    old = side_files(folder)
    late = vectors(30, 77)
    store.add([episode(1000 + number) for number in range(30)], late, SPACE)
    assert store.tend()
    assert len(side_files(folder)) == 1
    assert side_files(folder) != old
    found(store, rows[0])
    assert store._search._held is not None
    assert len(store._search._held.tail) == 0
    assert recall(store, np.concatenate([rows, np.zeros((600, SPACE.dim)), late])) > 0.9


def test_stopped_it_keeps_what_it_has(opened: Open, rows, folder: Path) -> None:  # type: ignore[no-untyped-def]
    store = opened()
    store.add([episode(number) for number in range(COUNT)], rows, SPACE)
    looks = iter([False, False])
    assert store.tend(lambda: next(looks, True))
    found(store, rows[0])
    assert store._search._held is not None
    assert len(store._search._held.tail) == COUNT - 2 * SMALL.batch
    assert recall(store, rows) > 0.9
    store.close()


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[64:4096] = bytes(each ^ 0xFF for each in content[64:4096])
    path.write_bytes(content)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [Path.unlink, truncated, garbled, emptied])
def test_lost_or_damaged_it_is_not_missed_and_made_anew(
    store: SqliteEpisodes, opened: Open, rows, folder: Path, damage: Callable[[Path], None]
) -> None:  # type: ignore[no-untyped-def]
    store.close()
    damage(side_files(folder)[0])
    again = opened()
    assert recall(again, rows) == 1.0  # every row is looked at
    assert again.tend()
    assert len(side_files(folder)) == 1
    assert recall(again, rows) > 0.9
    again.close()


def test_copied_elsewhere_it_is_still_good(store: SqliteEpisodes, opened: Open, rows, folder: Path) -> None:  # type: ignore[no-untyped-def]
    store.close()
    os.utime(side_files(folder)[0], ns=(1, 1))
    again = opened()
    found(again, rows[0])
    assert again._search._held is not None
    assert again._search._held.side is not None
    again.close()


def test_conditions_hold_with_it_too(store: SqliteEpisodes, rows) -> None:  # type: ignore[no-untyped-def]
    """Ten of four hundred are of a session; all ten are found, whatever is nearer."""
    for query in vectors(5, 8):
        assert sorted(found(store, query, 10, Where(sessions=("S7",)))) == list(range(7, COUNT, 40))
        few = found(store, query, 3, Where(sessions=("S7", "S8")))
        allowed = [number for number in range(COUNT) if number % 40 in (7, 8)]
        assert few == sorted(allowed, key=lambda number: -(rows[number] @ query))[:3]


def test_removed_vectors_are_overwritten_in_it(store: SqliteEpisodes, opened: Open, rows, folder: Path) -> None:  # type: ignore[no-untyped-def]
    needle = rows[33].astype(np.float16).tobytes()
    assert needle in side_files(folder)[0].read_bytes()
    other = opened()
    assert found(other, rows[33], 1) == [33]
    store.remove(["E00033", "E00034"])
    for path in folder.iterdir():
        assert needle not in path.read_bytes()
    for each in (store, other):
        assert 33 not in found(each, rows[33], 50)
        assert len(found(each, rows[33], 50)) == 50
        assert found(each, rows[40], 1) == [40]
    assert store._search._held is not None
    assert store._search._held.side is not None, "it must not be thrown away for two of four hundred"
    other.close()


def test_of_twins_the_one_that_stays_is_still_found(opened: Open, rows) -> None:  # type: ignore[no-untyped-def]
    store = opened()
    rows[11] = rows[12] = rows[10]
    store.add([episode(number) for number in range(COUNT)], rows, SPACE)
    store.tend()
    store.remove(["E00010"])
    assert {11, 12} <= {*found(store, rows[11], 5)}
    store.close()


def test_with_many_holes_it_is_made_anew(store: SqliteEpisodes, rows, folder: Path) -> None:  # type: ignore[no-untyped-def]
    store.remove([f"E{number:05}" for number in range(0, COUNT, 4)])
    assert store.tend()
    row = store._db.first("SELECT rows FROM side_index")
    assert row == (COUNT * 3 // 4,)
    assert not {each for each in found(store, rows[1], 50) if each % 4 == 0}


def test_another_space_leaves_nothing_of_it(store: SqliteEpisodes, folder: Path) -> None:
    fresh = vectors(COUNT, 3, OTHER.dim)
    store.replace_vectors(iter([([f"E{number:05}" for number in range(COUNT)], fresh)]), OTHER)
    assert side_files(folder) == []
    assert found(store, fresh[5], 1) == [5]
    assert store.tend()
    assert found(store, fresh[5], 1) == [5]
    store.close()


def test_killed_after_the_removal_the_next_to_open_finishes_it(
    store: SqliteEpisodes, opened: Open, folder: Path, rows, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    secret = replace(episode(900, "secretword"), payload={"of": "secretword"})
    store.add([secret])
    monkeypatch.setattr(SqliteEpisodes, "_scrub", lambda self: None)
    store.remove(["E00900", "E00033"])
    monkeypatch.undo()
    store.close()
    opened().close()
    for path in folder.iterdir():
        assert b"secretword" not in path.read_bytes()
        assert rows[33].astype(np.float16).tobytes() not in path.read_bytes()


def test_two_do_not_build_at_once(store: SqliteEpisodes, opened: Open) -> None:
    store.add([episode(1000 + number) for number in range(30)], vectors(30, 77), SPACE)
    other = opened()
    during: list[bool] = []

    def look() -> bool:
        if not during:
            during.append(other.tend())
        return False

    assert store.tend(look)
    assert during == [False]
    other.close()


def test_a_vector_that_came_late_for_an_early_episode_is_found(store: SqliteEpisodes) -> None:
    store.add([episode(2000)])
    late = unit(np.eye(SPACE.dim)[3])
    store.put_vectors(["E02000"], late[None, :], SPACE)
    assert found(store, late, 1) == [2000]


def test_vectors_are_the_same_out_of_the_table_the_index_and_the_memory(store: SqliteEpisodes, opened: Open) -> None:
    """The last of them are not in the index yet, one has none, one is gone, one never was."""
    store.add([episode(number) for number in (500, 501)], vectors(2, seed=9), SPACE)
    store.add([episode(502)])
    store.remove([episode(3).id])
    ids = [episode(number).id for number in (399, 0, 502, 3, 501, 7, 500, 9999)]
    fresh = opened()
    table = fresh.vectors_of(ids)
    fresh.nearest(vectors(1)[0], 1)  # from now on the index is at hand
    at_hand = fresh.vectors_of(ids)
    seqs = {each.id: each.seq for each in fresh.get(ids)}
    known = list(seqs)
    for other in (at_hand, fresh.vectors_of(known, [seqs[key] for key in known])):
        assert set(other) == set(table) == {episode(number).id for number in (399, 0, 501, 7, 500)}
        assert all(np.array_equal(table[key], other[key]) for key in table)
