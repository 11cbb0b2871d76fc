"""Weights of the gate from what became of what it let in: with real facts."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from grimoire.facts_made import START, fact, place
from metnos.core.clock import MovableClock
from metnos.core.sections import AdmissionSettings
from metnos.grimoire import admission
from metnos.grimoire.admission import AdmissionRules, Weights
from metnos.grimoire.fact import Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.fitting import Fitting


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock(START)


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    made = place(tmp_path, clock)
    yield made
    made.db.close()


def fitting(facts: Facts, clock: MovableClock, **own: float) -> Fitting:
    return Fitting(facts.db, clock, replace(Weights(), **own), own)


def admit(facts: Facts, number: int, kind: Kind = Kind.PATTERN, episodes: int = 3) -> str:
    sources = tuple(f"e{number}-{each}" for each in range(episodes))
    seen = fact(
        f"01F{number:03}", kind=kind, text=f"tool{number} takes {number} s", subject=f"tool{number}", value=f"{number}",
        sources=sources, episode_count=episodes, domain=f"d{number}",
    )  # fmt: skip
    kept = facts.admit(seen).fact
    assert kept is not None
    return kept.id


def lived(facts: Facts, count: int = 12) -> None:
    """What three episodes taught proved wrong, what twelve did proved right."""
    for number in range(count):
        facts.harmed([admit(facts, number)])
        facts.helped([admit(facts, 100 + number, episodes=12)])


def test_the_settings_default_to_the_weights() -> None:
    assert Weights(**AdmissionSettings().model_dump()) == Weights()


def test_a_fact_keeps_the_factors_that_it_was_admitted_by(facts: Facts) -> None:
    seen = fact(kind=Kind.BASELINE, data={"metric": "ms", "mean": 4.0, "stddev": 1.0, "count": 3}, subject="a: ms")
    judged = facts.admit(seen).judged
    assert judged is not None
    more = replace(seen, id="01B", data={**seen.data, "mean": 4.1}, sources=("ep9",), value="4.1")
    merged = facts.admit(more).fact
    assert merged is not None
    assert merged.data["mean"] == 4.1
    factors = admission.came_by(merged.data)
    assert factors is not None
    assert asdict(factors) == pytest.approx(asdict(judged.factors), abs=1e-4)


def test_what_became_of_facts_is_known_as_far_as_it_can_be(facts: Facts, clock: MovableClock) -> None:
    good, bad, gone, lost, _open = (admit(facts, number) for number in range(5))
    facts.helped([good])
    facts.harmed([bad])
    facts.put(replace(facts.get([gone])[0], standing=Standing.PRUNED))
    facts.put(replace(facts.get([lost])[0], standing=Standing.QUARANTINED))
    facts.link(lost, good, "contradicts")
    admit(facts, 9, Kind.WARNING)
    facts.harmed([admit(facts, 10, Kind.WARNING)])
    assert [each.good for each in fitting(facts, clock).outcomes()] == [True, False, False, False]


def test_too_little_fits_nothing(facts: Facts, clock: MovableClock) -> None:
    lived(facts, 4)
    found = fitting(facts, clock).fit()
    assert (found.good, found.bad, found.is_enough) == (4, 4, False)
    assert found.after == found.before == Weights()


def test_it_learns_to_ask_for_more_where_little_was_not_enough(facts: Facts, clock: MovableClock) -> None:
    lived(facts)
    place = fitting(facts, clock)
    found = place.fit()
    assert (found.good, found.bad, found.is_enough) == (12, 12, True)
    assert found.in_before == (12, 12)
    assert found.in_after[1] < 12 == found.in_after[0]
    assert place.weights() == Weights(), "nothing changes before it is kept"
    place.keep(found.after)
    assert place.weights() == found.after
    assert place.fit().after == found.after, "fitting again leads nowhere else"
    assert place.drop()
    assert place.weights() == Weights()
    assert not place.drop()


def test_what_the_owner_set_stays_whatever_was_fitted(facts: Facts, clock: MovableClock) -> None:
    lived(facts)
    place = fitting(facts, clock, grounding=4.0, kind=0.9)
    after = place.fit().after
    assert (after.grounding, after.kind) == (4.0, 0.9)
    assert after.bias != Weights().bias
    place.keep(replace(after, grounding=1.0))
    assert (place.weights().grounding, place.weights().bias) == (4.0, after.bias)


def test_the_gate_weighs_by_what_is_in_force(tmp_path: Path, clock: MovableClock) -> None:
    weights = [Weights()]
    facts = place(tmp_path / "other", clock, gate=lambda: AdmissionRules(weights[0]))
    assert facts.admit(fact("01A")).is_kept
    weights[0] = Weights(bias=-6.0, grounding=1.0)
    assert not facts.admit(fact("01B", text="something else altogether", domain="b")).is_kept
    facts.db.close()
