from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grimoire.facts_made import SPACE, START, fact, opened, told, vector
from metnos.core.clock import MovableClock
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.facts_admit import CONSENT, Outcome
from metnos.law.principal import at_terminal

DAY = timedelta(days=1)


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    with opened(tmp_path, clock) as made:
        yield made


def value(key: str, port: str, **changes: object) -> Fact:
    text = f"The port of the server is {port}"
    return fact(key, **{"text": text, "subject": "server port", "value": port, **changes})


def measured(key: str, mean: float) -> Fact:
    data = {"metric": "s", "mean": mean, "stddev": 1.0, "count": 5}
    about = {"subject": "s", "value": f"{mean}", "data": data, "sources": tuple(f"{key}{n}" for n in range(5))}
    return fact(key, kind=Kind.BASELINE, text=f"It takes {mean} s", episode_count=5, **about)


def test_what_is_new_and_grounded_is_admitted_and_told(facts: Facts) -> None:
    done = facts.admit(fact(confidence=0.99))
    assert (done.outcome, done.is_kept) == (Outcome.ADMITTED, True)
    assert facts.get(["01FACT"])[0].confidence == 0.6
    assert len(told(facts)) == 1


def test_what_has_too_little_is_rejected_and_refused_fast_until_it_has_more(facts: Facts, clock: MovableClock) -> None:
    thin = fact(text="Something happens", sources=("e1",), episode_count=1)
    assert facts.admit(thin).outcome is Outcome.REJECTED
    assert facts.admit(thin).outcome is Outcome.KNOWN
    more = replace(thin, sources=("e1", "e2", "e3", "e4"), episode_count=4)
    assert facts.admit(more).outcome is Outcome.ADMITTED
    other = replace(thin, text="Nothing much goes on")
    assert facts.admit(other).outcome is Outcome.REJECTED
    clock.move(8 * DAY)
    assert facts.admit(other).outcome is Outcome.REJECTED, "after a while it is weighed again"


def test_a_near_duplicate_merges_and_reinforces_once_for_each_new_episode(facts: Facts) -> None:
    first = facts.admit(fact("a")).fact
    assert first is not None
    again = facts.admit(fact("b", text=first.text.upper(), sources=("ep3", "ep4")))
    assert again.outcome is Outcome.MERGED
    assert again.fact is not None
    assert again.fact.id == "a"
    assert (again.fact.sources, again.fact.episode_count) == (("ep1", "ep2", "ep3", "ep4"), 4)
    assert again.fact.confidence > first.confidence
    same = facts.admit(fact("c", sources=("ep4",))).fact
    assert same is not None
    assert same.confidence == again.fact.confidence, "the same evidence twice is no more evidence"
    assert facts.count() == 1


def test_other_words_merge_by_their_vector(facts: Facts) -> None:
    facts.admit(fact("a", text="The printer is slow in the morning"), vector(1, 0.01), SPACE)
    near = fact("b", text="Mornings, printing takes long", sources=("e9",))
    assert facts.admit(near, vector(1), SPACE).outcome is Outcome.MERGED
    far = fact("c", text="Scans come out upside down", sources=("e9", "e8", "e7"))
    assert facts.admit(far, vector(0, 1), SPACE).outcome is Outcome.ADMITTED


def test_the_newest_estimate_of_a_measure_replaces_the_older(facts: Facts) -> None:
    facts.admit(measured("a", 4.0))
    merged = facts.admit(measured("b", 4.5)).fact
    assert merged is not None
    assert (merged.id, merged.text, merged.data["mean"], merged.episode_count) == ("a", "It takes 4.5 s", 4.5, 10)
    assert facts.admit(measured("c", 40.0)).outcome is Outcome.CONTRADICTED


def test_a_contradiction_is_kept_linked_and_the_newer_quarantined(facts: Facts) -> None:
    facts.admit(value("a", "80", sources=("e1", "e2", "e3")))
    done = facts.admit(value("b", "81", sources=("e4", "e5", "e6")))
    assert done.outcome is Outcome.CONTRADICTED
    old, new = facts.get(["a", "b"])
    assert (old.standing, new.standing) == (Standing.ACTIVE, Standing.QUARANTINED)
    assert (old.contradicts, new.contradicts) == (("b",), ("a",))
    assert (old.value, old.confidence) == ("80", 0.6), "nothing is overwritten"


def test_when_the_evidence_turns_so_do_the_two(facts: Facts) -> None:
    facts.admit(value("a", "80", sources=("e1", "e2", "e3")))
    facts.admit(value("b", "81", sources=("e4", "e5", "e6")))
    for number in range(4):
        facts.admit(value(f"c{number}", "81", sources=(f"n{number}", f"m{number}")))
    old, new = facts.get(["a", "b"])
    assert (old.standing, new.standing) == (Standing.QUARANTINED, Standing.ACTIVE)
    assert old.contradicts == ("b",)


def test_explicit_supersession_ends_the_older_ones_time(facts: Facts, clock: MovableClock) -> None:
    facts.admit(value("a", "80", sources=("e1", "e2", "e3")))
    clock.move(DAY)
    newer = value("b", "81", sources=("e4", "e5", "e6"), valid_from=clock.now())
    done = facts.admit(newer, supersedes=["a"])
    assert done.superseded == ("a",)
    old, new = facts.get(["a", "b"])
    assert (old.standing, old.valid_until) == (Standing.EXPIRED, clock.now())
    assert (new.standing, new.contradicts) == (Standing.ACTIVE, ())
    assert facts.links("b", "supersedes") == ["a"]


@pytest.mark.parametrize(
    "weaker", [{"provenance": Provenance.LETHE}, {"sender": "somebody"}, {"provenance": Provenance.DREAM}]
)
def test_a_weaker_source_cannot_end_what_a_stronger_one_said(facts: Facts, weaker: dict[str, object]) -> None:
    facts.admit(value("a", "80", sources=("e1", "e2", "e3")))
    newer = value("b", "81", sources=tuple("xyzuvw"), episode_count=9, data={"supersedes": ["a"]}, **weaker)
    done = facts.admit(newer, supersedes=["a"])
    assert done.superseded == ()
    assert facts.get(["a"])[0].standing is Standing.ACTIVE
    assert facts.get(["b"])[0].standing is Standing.QUARANTINED


def test_what_is_pinned_is_never_set_aside(facts: Facts) -> None:
    facts.put(value("a", "80", pinned=True, confidence=0.2))
    newer = value("b", "81", sources=tuple("abcdefghij"), episode_count=10)
    facts.admit(newer, supersedes=["a"])
    assert facts.get(["a"])[0].standing is Standing.ACTIVE


def test_what_is_about_people_waits_for_their_word(facts: Facts) -> None:
    done = facts.admit(fact(text="The owner prefers short answers in 4 of 5 turns"))
    assert done.outcome is Outcome.CONSENT
    assert done.fact is not None
    assert (done.fact.standing, done.fact.tags) == (Standing.QUARANTINED, (CONSENT,))
    again = facts.admit(replace(done.fact, id="b", tags=(), sources=("n1", "n2", "n3")))
    assert again.fact is not None
    assert again.fact.standing is Standing.QUARANTINED, "repeating it is no consent"
    agreed = facts.agreed("01FACT", at_terminal())
    assert agreed is not None
    assert (agreed.standing, agreed.tags) == (Standing.ACTIVE, ())
    assert facts.agreed("nobody", at_terminal()) is None


def test_a_dream_is_believed_little_has_a_time_and_is_confirmed_by_experience(facts: Facts) -> None:
    dreamt = facts.admit(fact("a", kind=Kind.HEURISTIC, provenance=Provenance.DREAM, decay=Decay.STRUCTURAL)).fact
    assert dreamt is not None
    assert (dreamt.kind, dreamt.confidence, dreamt.decay) == (Kind.INSIGHT, 0.3, Decay.EPHEMERAL)
    assert dreamt.confirm_by == START + 7 * DAY
    lived = facts.admit(fact("b", kind=Kind.INSIGHT, sources=("n1", "n2"))).fact
    assert lived is not None
    assert (lived.id, lived.provenance, lived.confirm_by) == ("a", Provenance.SELF, None)


def test_a_dream_whose_time_is_over_is_not_confirmed_any_more(facts: Facts, clock: MovableClock) -> None:
    facts.admit(fact("a", kind=Kind.INSIGHT, provenance=Provenance.DREAM))
    clock.move(8 * DAY)
    lived = facts.admit(fact("b", kind=Kind.INSIGHT, reinforced=clock.now())).fact
    assert lived is not None
    assert lived.id == "b"


@pytest.mark.parametrize(
    ("provenance", "generation", "first"),
    [(Provenance.CLADE, 0, 0.4), (Provenance.CLADE, 2, 0.4 * 0.85**2), (Provenance.LETHE, 1, 0.2 * 0.85)],
)
def test_what_is_inherited_is_believed_by_its_provenance_and_generation(
    facts: Facts, provenance: Provenance, generation: int, first: float
) -> None:
    taken = facts.admit(fact(provenance=provenance, generation=generation, episode_count=20)).fact
    assert taken is not None
    assert taken.confidence == pytest.approx(first)


def test_two_audiences_never_make_one_fact(facts: Facts) -> None:
    facts.admit(fact("a"))
    theirs = fact("b", scope=Scope.SENDER, sender="somebody", sources=("n1", "n2", "n3"))
    assert facts.admit(theirs).outcome is not Outcome.MERGED
    assert facts.get(["a"])[0].episode_count == 3
