"""What is remembered, for whoever shows it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from metnos.app import App, keeping, remembered
from metnos.app.remembered_words import told
from metnos.core.errors import UsageError
from metnos.grimoire.episode import Episode, Provenance, Scope, Viewer
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.grimoire.facts_rows import Which
from support import START

FACT = Fact("01FACT", Kind.INSIGHT, "tea is hot", "tea", 0.8, 0.5, Provenance.SELF, Decay.TACTICAL, START, START, START)


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "x" * 100_000])
def test_what_is_no_text_is_not_remembered(equipped: App, text: str) -> None:
    with pytest.raises(UsageError):
        remembered.note(equipped, text)


def test_belief_halves_in_its_half_life_and_never_where_it_does_not_fade() -> None:
    now = START + timedelta(days=7)
    curve = remembered.belief(FACT, now, points=7)
    assert [moment for moment, _ in curve] == [START + (now + timedelta(days=42) - START) * n / 6 for n in range(7)]
    assert curve[0] == (START, 0.8)
    assert all(level == pytest.approx(0.8 * 2 ** (-(moment - START) / timedelta(days=14))) for moment, level in curve)
    for still in (replace(FACT, pinned=True), replace(FACT, decay=Decay.NEVER)):
        assert {level for _, level in remembered.belief(still, now)} == {0.8}


def test_a_memory_is_shown_to_whom_it_belongs(equipped: App) -> None:
    made = {Scope.OWNER: "owner", Scope.AGENT: "agent", Scope.SHARED: "owner"}
    made |= {Scope.SENDER: "api:me", Scope.SESSION: "api:me"}
    for number, (scope, sender) in enumerate(made.items()):
        equipped.grimoire.take_in(Episode(f"01E{number}", START, scope, str(scope), scope=scope, sender=sender))

    def seen(viewer: Viewer | None) -> set[Scope]:
        found = (remembered.exactly(equipped, f"01E{number}", viewer) for number in range(len(made)))
        return {each.scope for each in found if each is not None}

    assert seen(None) == set(made)
    assert seen(Viewer()) == {Scope.OWNER, Scope.AGENT, Scope.SHARED}
    assert seen(Viewer("api:me", is_owner=False)) == {Scope.SHARED, Scope.SENDER, Scope.SESSION}
    assert seen(Viewer("api:other", is_owner=False)) == {Scope.SHARED}


def test_pages_of_facts_end_where_the_facts_end(equipped: App) -> None:
    for number in range(5):
        equipped.grimoire.facts.put(replace(FACT, id=f"01FACT{number}", confidence=0.1 * number + 0.2))
    ids = [each.id for each in remembered.facts(equipped, Which(), "", 100)[0]]
    assert ids == [f"01FACT{number}" for number in (4, 3, 2, 1, 0)]
    assert [each.id for each in remembered.facts(equipped, Which(), ids[1], 2)[0]] == ids[2:4]
    assert remembered.facts(equipped, Which(), ids[-1], 2) == ([], 5)
    assert remembered.facts(equipped, Which(), "01GONE", 2) == ([], 5)
    assert remembered.facts(equipped, Which(domains=("coffee",)), "", 2) == ([], 0)


def test_another_plan_has_another_digest(equipped: App) -> None:
    equipped.grimoire.add("the tea is hot")
    plans = [keeping.forgetting(equipped).plan(words) for words in ("tea", "hot", "tea", "cold")]
    first, second, again, empty = map(remembered.digest_of, plans)
    assert first == again
    assert len({first, second, empty}) == 3
    equipped.grimoire.add("the tea is cold")
    assert remembered.digest_of(keeping.forgetting(equipped).plan("tea")) != first


def test_numbers_are_told_in_words() -> None:
    counts = {"episodes": 1, "facts": 2, "turns": 0, "entered": 3, "unheard": 4}
    assert told(counts) == "1 episode, 2 facts, 3 into the playbook, 4 unheard"
