"""Moving between engines, in both directions, with both engines as they are."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grimoire.episodes_made import OTHER, SPACE, episode, vectors
from metnos.core.clock import MovableClock
from metnos.core.errors import StoreError, UsageError
from metnos.grimoire import episodes_folder, episodes_move
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Mark, Verdict, Where
from metnos.grimoire.episodes import ENGINES, Engine, open_episodes
from metnos.grimoire.episodes_move import digest_of, move

OTHERS = {"sqlite": "lance", "lance": "sqlite"}


def filled(folder: Path, engine: str, clock: MovableClock, count: int = 25) -> Engine:
    store = open_episodes(folder, engine, clock)
    made = [episode(number, f"text {number}", tags=("t",), payload={"n": number}) for number in range(count)]
    store.add(made, vectors(count), SPACE)
    store.add([episode(100, "without a vector")])
    store.remove(["E00003"])
    store.mark([Mark("E00004", importance=0.5, verdict=Verdict.VERIFIED, pad=Pad(0.1, 0.2, 0.3), used=2)])
    return store


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(episodes_move, "_BATCH", 7)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_everything_moves_and_the_numbers_stay(tmp_path: Path, clock: MovableClock, engine: str) -> None:
    before = filled(tmp_path, engine, clock)
    kept, space, digest = before.select(Where()), before.space, digest_of(before)
    before.add([episode(101)])
    before.remove(["E00101"])  # its number must not be given again
    before.close()
    moved = move(tmp_path, OTHERS[engine], clock)
    assert (moved.done, moved.count, moved.digest) == (True, *digest)
    after = open_episodes(tmp_path, OTHERS[engine], clock)
    assert after.select(Where()) == kept
    assert after.space == space
    assert digest_of(after) == digest
    assert after.nearest(vectors(25)[7], 1)[0].id == after.matching("text 7", 1)[0].id == "E00007"
    assert [each.id for each in after.missing_vectors(9)] == ["E00100"]
    after.add([episode(200)])
    assert after.get(["E00200"])[0].seq == 28
    after.close()
    left = {path.name for path in tmp_path.iterdir()} - {"home"}
    assert not left & ({"episodes.db"} if engine == "sqlite" else {"lance"})
    with pytest.raises(StoreError, match=f"kept by {OTHERS[engine]}") as refused:
        open_episodes(tmp_path, engine, clock)
    assert f"memory move {engine}" in refused.value.fix


def stopping_after(batches: int) -> Callable[[], bool]:
    left = iter([False] * batches)
    return lambda: next(left, True)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_it_goes_on_where_it_was_stopped(tmp_path: Path, clock: MovableClock, engine: str) -> None:
    before = filled(tmp_path, engine, clock)
    digest = digest_of(before)
    before.close()
    stopped = move(tmp_path, OTHERS[engine], clock, stop=stopping_after(2))
    assert (stopped.done, stopped.count) == (False, 14)
    assert episodes_folder.in_charge(tmp_path) == engine
    told: list[tuple[int, int]] = []
    moved = move(tmp_path, OTHERS[engine], clock, tell=lambda done, total: told.append((done, total)))
    assert told == [(21, 25), (25, 25)]
    assert (moved.done, moved.count, moved.digest) == (True, *digest)


def changed(store: Engine) -> None:
    store.mark([Mark("E00005", importance=1.0)])


def embedded_anew(store: Engine) -> None:
    store.replace_vectors(iter([(["E00001"], vectors(1, 0, OTHER.dim))]), OTHER)


def added_to(store: Engine) -> None:
    store.add([episode(300)], vectors(1, 9), SPACE)


@pytest.mark.slow
@pytest.mark.parametrize("meanwhile", [changed, embedded_anew, added_to])
def test_what_happens_between_two_attempts_is_not_lost(
    tmp_path: Path, clock: MovableClock, meanwhile: Callable[[Engine], None]
) -> None:
    store = filled(tmp_path, "sqlite", clock)
    move(tmp_path, "lance", clock, stop=stopping_after(2))
    meanwhile(store)
    digest = digest_of(store)
    store.close()
    assert (move(tmp_path, "lance", clock).count, digest_of(open_episodes(tmp_path, "lance", clock))) == (
        digest[0],
        digest,
    )


def test_what_is_removed_is_removed_from_half_a_copy_too(tmp_path: Path, clock: MovableClock) -> None:
    store = filled(tmp_path, "sqlite", clock)
    store.add([replace(episode(50), text="secretword")])
    move(tmp_path, "lance", clock, stop=stopping_after(3))
    assert (tmp_path / "lance").exists()
    store.remove(["E00050"])
    assert not (tmp_path / "lance").exists()
    store.close()


def test_what_is_in_charge_is_never_dropped(tmp_path: Path, clock: MovableClock) -> None:
    filled(tmp_path, "sqlite", clock).close()
    with pytest.raises(StoreError):
        episodes_folder.drop(tmp_path, "sqlite")
    assert (tmp_path / "episodes.db").exists()


@pytest.mark.slow
def test_a_copy_that_differs_is_not_put_in_charge(
    tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake in an engine must not cost a memory: here one loses what is thought of episodes."""
    from metnos.grimoire.episodes_lance import LanceEpisodes

    really = LanceEpisodes.copy_in
    monkeypatch.setattr(
        LanceEpisodes,
        "copy_in",
        lambda self, made, halves: really(self, [replace(each, importance=None) for each in made], halves),
    )
    store = filled(tmp_path, "sqlite", clock)
    digest = digest_of(store)
    store.close()
    with pytest.raises(StoreError, match="not equal"):
        move(tmp_path, "lance", clock)
    again = open_episodes(tmp_path, "sqlite", clock)
    assert digest_of(again) == digest
    assert not (tmp_path / "lance").exists()
    again.close()


def test_there_must_be_something_to_move(tmp_path: Path, clock: MovableClock) -> None:
    with pytest.raises(UsageError, match="nobody"):
        move(tmp_path, "sqlite", clock)
    filled(tmp_path, "sqlite", clock).close()
    for engine in ("sqlite", "postgres"):
        with pytest.raises(UsageError, match=engine):
            move(tmp_path, engine, clock)
