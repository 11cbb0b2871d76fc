"""The embedder is watched: what drift, neighbours and lengths say, and what critical drift stops."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.errors import ModelError
from metnos.grimoire.health import (
    REEMBED,
    REFERENCES,
    EmbeddingHealth,
    Limits,
    Measured,
    State,
    described,
    judge,
    measure,
)
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.reports import Reports
from metnos.models.embed_builtin import Builtin
from metnos.store.db import Database

DIM = 64


class Drifting:
    """An embedder whose vectors can be moved by so much, while it keeps its name."""

    def __init__(self, version: str = "1", seed: int = 1) -> None:
        self.version = version
        self.seed = seed
        self.turn = 0.0  # of every vector, in radians, each in a direction of its own
        self.length = 1.0

    @property
    def space(self) -> Space:
        return Space("drifting", self.version, "p", DIM)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        chance = np.random.default_rng(self.seed)
        topics = chance.normal(size=(4, DIM))
        rows = []
        for place in range(len(texts)):
            row = topics[place * 4 // len(texts)] + 0.5 * chance.normal(size=DIM)
            row /= np.linalg.norm(row)
            other = chance.normal(size=DIM)
            other -= (other @ row) * row
            rows.append(np.cos(self.turn) * row + np.sin(self.turn) * other / np.linalg.norm(other))
        return (np.array(rows) * self.length).astype(np.float32)


@pytest.fixture
def db(tmp_path: Path, clock: MovableClock) -> Iterator[Database]:
    made = Database(tmp_path / "grimoire.db", MIGRATIONS, clock=clock)
    yield made
    made.close()


@pytest.fixture
def health(db: Database, clock: MovableClock) -> EmbeddingHealth:
    return EmbeddingHealth(db, clock)


def turn_for(drift: float) -> float:
    """The turn that moves every vector by this cosine distance."""
    return float(np.arccos(1 - drift))


def test_there_are_twenty_texts_of_several_languages_and_kinds_and_none_twice() -> None:
    assert len(REFERENCES) == 20
    assert len(set(REFERENCES)) == 20
    assert any("Sposta" in text for text in REFERENCES)
    assert any("def " in text for text in REFERENCES)
    assert any(ord(char) > 0x3000 for text in REFERENCES for char in text)


def test_the_first_check_keeps_the_vectors_and_the_same_embedder_is_healthy_ever_after(
    health: EmbeddingHealth, clock: MovableClock
) -> None:
    embedder = Drifting()
    first = health.check(embedder)
    assert (first.began, first.state) == (True, State.HEALTHY)
    clock.move(timedelta(days=7))
    second = health.check(embedder)
    assert (second.began, second.state) == (False, State.HEALTHY)
    assert second.measured.drift < 1e-6
    assert second.measured.stability == 1.0


@pytest.mark.parametrize(
    ("drift", "state"), [(0.019, State.HEALTHY), (0.03, State.WARNING), (0.049, State.WARNING), (0.06, State.CRITICAL)]
)
def test_drift_is_healthy_below_two_hundredths_and_critical_above_five(
    health: EmbeddingHealth, drift: float, state: State
) -> None:
    embedder = Drifting()
    health.check(embedder)
    embedder.turn = turn_for(drift)
    found = health.check(embedder)
    assert found.measured.drift == pytest.approx(drift, abs=1e-4)
    assert found.state is state


def test_critical_drift_stops_writes_and_says_what_to_do_until_everything_was_embedded_again(
    health: EmbeddingHealth,
) -> None:
    embedder = Drifting()
    health.check(embedder)
    health.require_writable()
    embedder.turn = turn_for(0.2)
    found = health.check(embedder)
    assert not health.writable()
    assert any(REEMBED in line for line in described(found))
    with pytest.raises(ModelError) as error:
        health.require_writable()
    assert REEMBED in error.value.fix
    assert "0.200" in error.value.what
    assert health.check(embedder).state is State.CRITICAL, "a check must not get used to what it found"
    health.keep(embedder)
    health.require_writable()
    assert health.check(embedder).state is State.HEALTHY


def test_an_embedder_that_is_set_back_is_writable_again(health: EmbeddingHealth) -> None:
    embedder = Drifting()
    health.check(embedder)
    embedder.turn = turn_for(0.2)
    health.check(embedder)
    embedder.turn = 0.0
    assert health.check(embedder).state is State.HEALTHY
    health.require_writable()


def test_a_drift_that_is_small_every_week_is_found_when_it_has_added_up(
    health: EmbeddingHealth, clock: MovableClock
) -> None:
    embedder, states = Drifting(), []
    health.check(embedder)
    for week in range(1, 6):
        clock.move(timedelta(days=7))
        embedder.turn = week * turn_for(0.01)
        states.append(health.check(embedder).state)
    assert states[0] is State.HEALTHY
    assert states[-1] is State.CRITICAL


def test_vectors_that_are_not_of_length_one_or_no_numbers_are_critical(health: EmbeddingHealth) -> None:
    embedder = Drifting()
    health.check(embedder)
    embedder.length = 1.5
    assert health.check(embedder).state is State.CRITICAL
    embedder.length = float("nan")
    assert health.check(embedder).state is State.CRITICAL


def test_a_broken_embedder_is_never_what_others_are_compared_with(health: EmbeddingHealth) -> None:
    embedder = Drifting()
    embedder.length = float("nan")
    assert health.check(embedder).state is State.CRITICAL
    embedder.length = 1.0
    found = health.check(embedder)
    assert (found.began, found.state) == (True, State.HEALTHY)


def test_another_space_has_vectors_of_its_own(health: EmbeddingHealth) -> None:
    health.check(Drifting())
    assert health.check(Drifting("2", seed=2)).began
    assert not health.check(Drifting()).began


def test_it_is_due_every_week_and_when_the_clock_was_set_back(health: EmbeddingHealth, clock: MovableClock) -> None:
    assert health.due()
    health.check(Drifting())
    assert not health.due()
    clock.move(timedelta(days=6, hours=23))
    assert not health.due()
    clock.move(timedelta(hours=1))
    assert health.due()
    health.check(Drifting())
    clock.move(timedelta(days=-30))
    assert health.due()


def test_every_check_leaves_a_report_of_numbers(health: EmbeddingHealth, db: Database, clock: MovableClock) -> None:
    health.check(Drifting())
    health.check(Drifting())
    reports = Reports(db, clock).latest("health")
    assert len(reports) == 2
    assert reports[0].data["state"] == "healthy"
    assert reports[0].data["measured"]["drift"] < 1e-6


@given(
    drift=st.floats(0, 1),
    stability=st.floats(0, 1),
    variance=st.floats(0, 1),
    off=st.floats(0, 1),
    more=st.floats(0, 1),
)
def test_no_figure_gets_better_by_getting_worse(
    drift: float, stability: float, variance: float, off: float, more: float
) -> None:
    order = [State.HEALTHY, State.WARNING, State.CRITICAL]
    limits = Limits()
    now, reasons = judge(Measured(drift, stability, variance, off), limits)
    assert (now is State.HEALTHY) == (not reasons)
    for worse in (
        Measured(drift + more, stability, variance, off),
        Measured(drift, stability * (1 - more), variance, off),
        Measured(drift, stability, variance + more, off),
        Measured(drift, stability, variance, off + more),
    ):
        assert order.index(judge(worse, limits)[0]) >= order.index(now)


def test_neighbours_that_change_for_no_drift_only_warn() -> None:
    assert judge(Measured(0.001, 0.4, 0.0, 0.0), Limits())[0] is State.WARNING
    assert judge(Measured(0.03, 0.4, 0.0, 0.0), Limits())[0] is State.CRITICAL


def test_the_built_in_embedder_is_healthy_and_knows_its_neighbours(health: EmbeddingHealth) -> None:
    embedder = Builtin()
    health.check(embedder)
    assert health.check(embedder).state is State.HEALTHY
    rows = embedder.embed(REFERENCES)
    shuffled = rows[::-1].copy()
    mixed = measure(rows, shuffled, Limits())
    assert judge(mixed, Limits())[0] is State.CRITICAL, "the texts must be told apart"
