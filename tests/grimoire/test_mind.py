"""A memory put together with the least that its owner must say."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from grimoire.episodes_made import embedded
from metnos.core import files
from metnos.core.clock import Clock, MovableClock
from metnos.core.embedding import Embedder, Space
from metnos.core.errors import ModelError
from metnos.grimoire import capture, memory_schema
from metnos.grimoire.episode import Viewer, Where
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.mind import LEARNING, Mind
from metnos.grimoire.question import Span
from metnos.grimoire.recall import NOTHING
from metnos.store.db import Database


class Meaning:
    """An embedder that can fail."""

    def __init__(self) -> None:
        self.space = Space("small", "1", "p", 16)
        self.fails = False
        self.texts: list[str] = []

    def embed(self, texts: list[str]) -> object:
        if self.fails:
            raise ModelError("it is away", kind="unreachable")
        self.texts += texts
        return embedded(list(texts), self.space.dim)


class Bare(Mind):
    def __init__(self, folder: Path, clock: Clock, embedder: Embedder | None = None) -> None:
        self.db = Database(folder / "grimoire.db", memory_schema.MIGRATIONS, clock=clock)
        self.episodes = open_episodes(folder / "episodes", "sqlite", clock)
        self._folder, self._clock, self._embedder = folder, clock, embedder

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def root(self) -> Path:
        return self._folder

    @property
    def embedder(self) -> Embedder | None:
        return self._embedder

    def dates(self, text: str, now: datetime) -> Iterator[tuple[str, Span]]:
        return iter(())

    def asks(self, text: str) -> bool:
        return text.endswith("?")


@pytest.fixture
def meaning() -> Meaning:
    return Meaning()


@pytest.fixture
def mind(tmp_path: Path, clock: MovableClock, meaning: Meaning) -> Bare:
    return Bare(tmp_path, clock, meaning)  # type: ignore[arg-type]


def test_what_is_told_is_embedded_when_somebody_first_asks(mind: Bare, meaning: Meaning) -> None:
    mind.add("the key is under the mat")
    assert meaning.texts == []
    assert [each.text for each in mind.recall("where is the key", Viewer()).episodes] == ["the key is under the mat"]
    assert "the key is under the mat" in meaning.texts


def test_an_embedder_that_fails_leaves_the_words_and_is_told_of(mind: Bare, meaning: Meaning) -> None:
    mind.add("the key is under the mat")
    meaning.fails = True
    found = mind.recall("where is the key", Viewer())
    assert len(found.episodes) == 1
    assert "it is away" in found.notes


def test_a_question_that_came_to_nothing_answers_none(mind: Bare, clock: MovableClock) -> None:
    asked = capture.note("where is the passport?", "01ASKED", clock.now())
    mind.take_in(type(asked)(id="01ASKED", ts=clock.now(), text=asked.text, source="t", payload={"state": "nothing"}))
    found = mind.recall("where is the passport?", Viewer())
    assert found.episodes == ()
    assert NOTHING in found.notes


def test_recalling_can_be_narrowed_down(mind: Bare) -> None:
    mind.add("the key is under the mat", ["house"])
    assert mind.recall("where is the key", Viewer(), where=Where(tags=("garden",))).episodes == ()
    assert len(mind.recall("where is the key", Viewer(), where=Where(tags=("house",))).episodes) == 1


def test_one_at_a_time_learns(mind: Bare, tmp_path: Path) -> None:
    mind.add("the key is under the mat")
    with files.held(tmp_path / LEARNING):
        assert mind.consolidate(5) is None
    cycle = mind.consolidate(5)
    assert cycle is not None
    assert cycle.finished
