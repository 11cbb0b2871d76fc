"""What is removed from episodes is gone: from what is found, and from every byte of every file. On both engines."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grimoire.episodes_made import OTHER, SPACE, episode, vectors
from metnos.core.clock import MovableClock
from metnos.grimoire.episode import Episode
from metnos.grimoire.episodes import ENGINES, Engine, open_episodes


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: MovableClock) -> Iterator[Engine]:
    made = open_episodes(tmp_path / "episodes", request.param, clock)
    yield made
    made.close()


def ids(found: object) -> list[str]:
    return [each.id for each in found]  # type: ignore[attr-defined]  # hits and episodes both have one


def found_in(folder: Path, *needles: bytes) -> list[str]:
    content = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return [path.name for path, held in content.items() if any(needle in held for needle in needles)]


def test_what_is_removed_is_gone_from_every_file(store: Engine, tmp_path: Path) -> None:
    secret = "xylophonequartz"
    rows = vectors(60)
    made = [episode(number, f"plain text {number}", payload={"n": number}) for number in range(60)]
    made[30] = replace(made[30], text=f"about {secret} once", payload={"hidden": secret}, tags=(secret,), domain=secret)
    store.add(made, rows, SPACE)
    half = rows[30].astype(np.float16)
    assert store.remove(["E00030", "missing", "E00031"]) == 2
    assert (
        found_in(tmp_path, secret.encode(), secret.encode()[:9], half.tobytes(), half.astype(np.float32).tobytes())
        == []
    )
    assert store.matching(secret, 5) == store.get(["E00030"]) == []
    assert "E00030" not in ids(store.nearest(rows[30], 60))
    assert len(store.nearest(rows[30], 60)) == store.count() == 58
    assert store.vectors_of(["E00030"]) == {}
    store.add([made[30]], rows[30:31], SPACE)  # it may come again
    assert ids(store.matching(secret, 5)) == ids(store.nearest(rows[30], 1)) == ["E00030"]


def spoken(number: int, length: int) -> Episode:
    name = f"z{number:05}x"
    return episode(number, f"said q{name}", domain=f"d{name}", session=f"s{name}" * length)


@pytest.mark.slow
def test_however_often_something_is_removed_nothing_of_it_stays(store: Engine, tmp_path: Path) -> None:
    """What stays is moved about in the files when something is added or goes; then it goes too, with every copy."""
    chance, here = random.Random(0), list[int]()
    for start in range(0, 900, 150):
        came = chance.sample(range(start, start + 150), 150)
        here += came
        store.add([spoken(number, chance.choice([1, 9])) for number in came])
        gone = set(chance.sample(here, len(here) // 3))
        here = [number for number in here if number not in gone]
        store.remove([f"E{number:05}" for number in gone])
        assert len(store.matching("said", 2000)) == store.count() == len(here)
    gone = set(range(900)) - set(here)
    assert found_in(tmp_path, *(f"{sign}z{number:05}x".encode() for number in gone for sign in "qds")) == []


def test_removing_while_vectors_are_replaced_leaves_nothing_behind(store: Engine, tmp_path: Path) -> None:
    store.add([episode(number) for number in range(3)], vectors(3), SPACE)
    fresh = vectors(3, 5, OTHER.dim)

    def batches() -> Iterator[tuple[list[str], object]]:
        yield ["E00000", "E00001", "E00002"], fresh
        store.remove(["E00001"])
        half = fresh[1].astype(np.float16)
        assert found_in(tmp_path, half.tobytes(), half.astype(np.float32).tobytes()) == []

    store.replace_vectors(batches(), OTHER)  # type: ignore[arg-type]  # as above
    assert sorted(ids(store.nearest(fresh[1], 9))) == ["E00000", "E00002"]
