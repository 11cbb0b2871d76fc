"""Facts and episodes move to another embedder together."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.ids import UlidMaker
from metnos.grimoire.episode import Episode, Provenance
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.reembed import reembed
from metnos.grimoire.vectored import OfEpisodes, OfFacts
from metnos.store.db import Database

OLD, NEW = Space("old", "1", "p", 4), Space("new", "1", "p", 8)


class Counting:
    """A vector that says how long the text is."""

    space = NEW

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), NEW.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[len(text) % NEW.dim] = 1.0
        return rows


def fact(number: int, clock: MovableClock, char: str = "x", length: int | None = None, **changes: Standing) -> Fact:
    now, text = clock.now(), char * (number if length is None else length)
    provenance, decay = Provenance.SELF, Decay.STRATEGIC
    return Fact(
        f"F{number:03}", Kind.INSIGHT, text, "papers", 0.6, 0.5, provenance, decay, now, now, now, **changes
    )  # fmt: skip


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    db = Database(tmp_path / "grimoire.db", MIGRATIONS, clock=clock)
    made = Facts(db, clock, UlidMaker(clock))
    for number in range(100):
        made.put(fact(number, clock), np.eye(4, dtype=np.float32)[number % 4], OLD)
    made.put(fact(100, clock, standing=Standing.PRUNED), np.eye(4, dtype=np.float32)[0], OLD)
    yield made
    db.close()


def are_new(facts: Facts, count: int) -> bool:
    ids = [f"F{number:03}" for number in range(count)]
    vectors = facts.vectors_of(ids)
    wanted = Counting().embed(["x" * number for number in range(count)])
    same = all(np.array_equal(vectors[name], row) for name, row in zip(ids, wanted, strict=True))
    return facts.space == NEW and len(vectors) == count and same


def test_facts_and_episodes_are_exchanged_together(tmp_path: Path, clock: MovableClock, facts: Facts) -> None:
    episodes = open_episodes(tmp_path / "episodes", "sqlite", clock)
    episodes.add([Episode("E1", clock.now(), "hello", "s")], np.eye(4, dtype=np.float32)[:1], OLD)
    stores = {"episodes": OfEpisodes(episodes), "facts": OfFacts(facts)}
    moved = reembed(tmp_path, stores, Counting(), clock)
    assert (moved.switched, moved.done, moved.of) == (True, 101, 101)
    assert are_new(facts, 100)
    assert episodes.space == NEW
    assert facts.vectors_of(["F100"]) == {}, "what was pruned needs no vector"
    assert reembed(tmp_path, stores, Counting(), clock).embedded == 0
    episodes.close()


def test_a_fact_that_is_said_otherwise_meanwhile_gets_the_vector_of_what_it_says_now(
    tmp_path: Path, clock: MovableClock, facts: Facts
) -> None:
    class Changing(OfFacts):
        def replace_vectors(self, batches: Iterator[tuple[Sequence[str], np.ndarray]], space: Space) -> None:
            self.facts.put(fact(7, clock, "y", 12))
            super().replace_vectors(batches, space)

    assert reembed(tmp_path, {"facts": Changing(facts)}, Counting(), clock).switched
    (found,) = facts.vectors_of(["F007"]).values()
    assert np.array_equal(found, Counting().embed(["y" * 12])[0])
