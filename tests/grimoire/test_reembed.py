"""To another embedder: all of it or nothing, in the background, through a kill, and with what came meanwhile."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import forking
from metnos.core.canon import sha256_hex
from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.errors import ModelError, StoreBusy, StoreError
from metnos.grimoire.episode import Episode
from metnos.grimoire.episodes import ANY, Episodes, open_episodes
from metnos.grimoire.reembed import FILLING, SIDE, SWITCHING, discard, forgotten, reembed, unfinished
from metnos.grimoire.vectored import OfEpisodes, Vectored

OLD, NEW = "old", "new"


class Hashing:
    """A small embedder: the same text always has the same vector, another model another one."""

    def __init__(self, model: str = NEW, dim: int = 16, hook: Callable[[int], None] | None = None) -> None:
        self.space = Space(model, "1", "p", dim)
        self.texts: list[str] = []
        self._hook = hook

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self._hook:
            self._hook(len(self.texts))
        self.texts += texts
        rows = [
            np.random.default_rng(int(sha256_hex(f"{self.space.model}{text}".encode())[:15], 16)).normal(
                size=self.space.dim
            )
            for text in texts
        ]
        made = np.array(rows).reshape(len(texts), self.space.dim)
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def some(clock: MovableClock, first: int, count: int) -> list[Episode]:
    return [
        Episode(f"E{number:04}", clock.now() + timedelta(seconds=number), f"text {number}", f"source {number}")
        for number in range(first, first + count)
    ]


def fill(store: Episodes, clock: MovableClock, first: int, count: int, embedder: Hashing | None = None) -> None:
    embedder = embedder or Hashing(OLD, 8)
    made = some(clock, first, count)
    store.add(made, embedder.embed([each.text for each in made]), embedder.space)


@pytest.fixture
def episodes(tmp_path: Path, clock: MovableClock) -> Iterator[Episodes]:
    made = open_episodes(tmp_path / "episodes", "sqlite", clock)
    fill(made, clock, 0, 300)
    yield made
    made.close()


@pytest.fixture
def stores(episodes: Episodes) -> dict[str, Vectored]:
    return {"episodes": OfEpisodes(episodes)}


def is_all_new(store: Episodes) -> bool:
    """Whether every episode has the vector that the new embedder gives its text."""
    embedder, after = Hashing(), 0
    while page := store.select(ANY, after=after, count=500):
        vectors = store.vectors_of([each.id for each in page])
        wanted = embedder.embed([each.text for each in page])
        for each, vector in zip(page, wanted, strict=True):
            if each.id not in vectors or float(vectors[each.id] @ vector) < 0.99:
                return False
        after = page[-1].seq
    return store.space == embedder.space


def test_everything_is_exchanged_and_the_side_file_is_gone(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    seen: list[tuple[int, int]] = []
    moved = reembed(tmp_path, stores, Hashing(), clock, progress=lambda done, of: seen.append((done, of)))
    assert (moved.done, moved.of, moved.embedded, moved.switched) == (300, 300, 300, True)
    assert is_all_new(episodes)
    assert seen[-1] == (300, 300)
    assert seen == sorted(seen)
    assert not (tmp_path / SIDE).exists()
    assert unfinished(tmp_path) == ""


def test_the_same_space_is_left_alone_unless_it_is_to_be_done_again(
    tmp_path: Path, clock: MovableClock, stores: dict[str, Vectored]
) -> None:
    embedder = Hashing(OLD, 8)
    assert reembed(tmp_path, stores, embedder, clock).switched
    assert embedder.texts == []
    assert reembed(tmp_path, stores, embedder, clock, again=True).embedded == 300


def test_stopped_it_changes_nothing_and_goes_on_where_it_was(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    asked = iter([False, False, True])
    first = reembed(tmp_path, stores, Hashing(), clock, stop=lambda: next(asked))
    assert not first.switched
    assert 0 < first.done < 300
    assert episodes.space == Hashing(OLD, 8).space
    assert unfinished(tmp_path) == FILLING
    embedder = Hashing()
    second = reembed(tmp_path, stores, embedder, clock)
    assert second.switched
    assert len(embedder.texts) == 300 - first.done, "nothing is embedded twice"
    assert is_all_new(episodes)


def test_what_is_taken_in_meanwhile_is_embedded_too(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    def another(done: int) -> None:
        if done < 300:
            fill(episodes, clock, 1000 + done, 1)

    assert reembed(tmp_path, stores, Hashing(hook=another), clock).switched
    assert episodes.count() > 300
    assert is_all_new(episodes)


def test_what_is_taken_in_at_the_very_moment_of_the_exchange_is_embedded_too(
    tmp_path: Path, clock: MovableClock, episodes: Episodes
) -> None:
    class Late(OfEpisodes):
        def replace_vectors(self, batches: Iterator[tuple[Sequence[str], np.ndarray]], space: Space) -> None:
            fill(self.episodes, clock, 2000, 3)
            super().replace_vectors(batches, space)

    assert reembed(tmp_path, {"episodes": Late(episodes)}, Hashing(), clock).switched
    assert episodes.count() == 303
    assert is_all_new(episodes)


def test_what_is_forgotten_meanwhile_does_not_come_back(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    asked = iter([False, False, True])
    reembed(tmp_path, stores, Hashing(), clock, stop=lambda: next(asked))
    episodes.remove(["E0003", "E0299"])
    assert forgotten(tmp_path, "episodes", ["E0003", "E0299"]) == 1
    assert reembed(tmp_path, stores, Hashing(), clock).switched
    assert episodes.count() == 298
    assert is_all_new(episodes)
    assert forgotten(tmp_path, "episodes", ["E0001"]) == 0


def test_an_embedder_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    def fails(done: int) -> None:
        if done:
            raise ModelError("it is gone", kind="unreachable")

    with pytest.raises(ModelError):
        reembed(tmp_path, stores, Hashing(hook=fails), clock)
    assert episodes.space == Hashing(OLD, 8).space
    assert reembed(tmp_path, stores, Hashing(), clock).switched


def test_an_embedder_that_becomes_another_one_is_noticed(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    embedder = Hashing()

    def exchanged(done: int) -> None:
        if done:
            embedder.space = Space("a third", "1", "p", 16)

    embedder._hook = exchanged
    with pytest.raises(ModelError, match="another one"):
        reembed(tmp_path, stores, embedder, clock)
    assert episodes.space == Hashing(OLD, 8).space


def test_for_another_target_it_begins_anew(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    asked = iter([False, False, True])
    reembed(tmp_path, stores, Hashing("a third"), clock, stop=lambda: next(asked))
    embedder = Hashing()
    assert reembed(tmp_path, stores, embedder, clock).switched
    assert len(embedder.texts) == 300
    assert is_all_new(episodes)


def test_it_refuses_to_run_twice_at_once(tmp_path: Path, clock: MovableClock, stores: dict[str, Vectored]) -> None:
    def again(_: int) -> None:
        with pytest.raises(StoreBusy, match="already"):
            reembed(tmp_path, stores, Hashing(), clock)
        refused.append(True)

    refused: list[bool] = []
    assert reembed(tmp_path, stores, Hashing(hook=again), clock).switched
    assert refused


def test_given_up_it_leaves_the_memory_as_it_was(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored]
) -> None:
    asked = iter([False, True])
    reembed(tmp_path, stores, Hashing(), clock, stop=lambda: next(asked))
    discard(tmp_path)
    assert unfinished(tmp_path) == ""
    assert episodes.space == Hashing(OLD, 8).space


class Breaks(OfEpisodes):
    """A store that cannot exchange its vectors just now."""

    def replace_vectors(self, batches: Iterator[tuple[Sequence[str], np.ndarray]], space: Space) -> None:
        raise StoreError("the disk is full")


def test_an_exchange_that_was_begun_is_finished_before_anything_else(
    tmp_path: Path, clock: MovableClock, episodes: Episodes
) -> None:
    second = open_episodes(tmp_path / "second", "sqlite", clock)
    fill(second, clock, 500, 40)
    broken: dict[str, Vectored] = {"episodes": OfEpisodes(episodes), "facts": Breaks(second)}
    with pytest.raises(StoreError):
        reembed(tmp_path, broken, Hashing(), clock)
    assert unfinished(tmp_path) == SWITCHING
    assert (episodes.space, second.space) == (Hashing().space, Hashing(OLD, 8).space), "no store holds a mix"
    whole: dict[str, Vectored] = {"episodes": OfEpisodes(episodes), "facts": OfEpisodes(second)}
    with pytest.raises(ModelError, match="finished first"):
        reembed(tmp_path, whole, Hashing("a third"), clock)
    embedder = Hashing()
    assert reembed(tmp_path, whole, embedder, clock).switched
    assert embedder.texts == []
    assert is_all_new(episodes)
    assert is_all_new(second)
    second.close()


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1, 3, 5])
def test_killed_at_any_moment_it_goes_on_and_there_is_never_a_mix(
    tmp_path: Path, clock: MovableClock, episodes: Episodes, stores: dict[str, Vectored], moment: int
) -> None:
    episodes.close()

    def work() -> None:
        calls = iter(range(1, 100))

        def killed(_: int) -> None:
            if next(calls) == moment:
                forking.die()

        store = open_episodes(tmp_path / "episodes", "sqlite", clock)
        reembed(tmp_path, {"episodes": OfEpisodes(store)}, Hashing(hook=killed), clock)

    assert forking.run(work) == forking.KILLED
    store = open_episodes(tmp_path / "episodes", "sqlite", clock)
    assert store.space == Hashing(OLD, 8).space
    assert len(store.vectors_of([f"E{number:04}" for number in range(300)])) == 300
    embedder = Hashing()
    assert reembed(tmp_path, {"episodes": OfEpisodes(store)}, embedder, clock).switched
    assert len(embedder.texts) == 300 - 64 * (moment - 1)
    assert is_all_new(store)
    store.close()


@pytest.mark.slow
def test_killed_in_the_middle_of_the_exchange_it_is_finished_next_time(
    tmp_path: Path, clock: MovableClock, episodes: Episodes
) -> None:
    episodes.close()

    class Killed(OfEpisodes):
        def texts_of(self, ids: Sequence[str]) -> dict[str, str]:
            forking.die()  # the exchange has begun: it asks what is still there
            return {}

    def work() -> None:
        opened = open_episodes(tmp_path / "episodes", "sqlite", clock)
        reembed(tmp_path, {"episodes": Killed(opened)}, Hashing(), clock)

    assert forking.run(work) == forking.KILLED
    assert unfinished(tmp_path) == SWITCHING
    store, embedder = open_episodes(tmp_path / "episodes", "sqlite", clock), Hashing()
    assert store.space == Hashing(OLD, 8).space
    assert reembed(tmp_path, {"episodes": OfEpisodes(store)}, embedder, clock).switched
    assert embedder.texts == []
    assert is_all_new(store)
    store.close()
