"""Forgetting leaves nothing: every file is searched, byte for byte."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np
import pytest

from grimoire.taught import START, episode, fact, open_memory
from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.errors import UsageError
from metnos.core.ids import UlidMaker
from metnos.grimoire import happenings
from metnos.grimoire.episode import Provenance
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.forget import Forgetting, Forgotten
from metnos.grimoire.playbook import Playbook
from metnos.grimoire.playbook_writer import founded
from metnos.law.audit_line import Entry

SPACE = Space("test", "1", "", 8)
SECRET = "Zanzibar Quartet"


class Mind:
    """A memory with everything in it."""

    def __init__(self, root: Path, engine: str = "sqlite") -> None:
        clock = MovableClock(START)
        self.root = root
        self.clock = clock
        self.db = open_memory(root)
        self.episodes = open_episodes(root / "episodes", engine, clock)
        self.facts = Facts(self.db, clock, UlidMaker(clock), happenings.tell(self.db, clock))
        self.path = root / "PLAYBOOK.md"
        self.path.write_bytes(founded())
        self.book = Playbook(self.path, self.db, clock, lambda _: "")
        self.redacted: list[str] = []
        self.asked: list[str] = []
        self.forgetting = Forgetting(
            self.episodes, self.facts, self.book, root, clock, turns=self._redact, questions=self._erase
        )

    def _redact(self, sources: Sequence[str]) -> int:
        self.redacted += sources
        return len(sources)

    def _erase(self, ids: Collection[str], says: Callable[[str], bool]) -> int:
        self.asked += [*ids, *(["by words"] if says(f"a {SECRET} b") else [])]
        return 1

    def happen(self, *texts: str, **given: object) -> None:
        for number, text in enumerate(texts, start=self.episodes.count() + 1):
            vector = np.zeros((1, 8), dtype=np.float32)
            vector[0, number % 8] = 1
            self.episodes.add([episode(f"E{number}", text, **given)], vector, SPACE)

    def learn(self, *facts: Fact) -> None:
        for each in facts:
            vector = np.zeros(8, dtype=np.float32)
            vector[0] = 1
            self.facts.put(each, vector, SPACE)

    def close(self) -> None:
        self.episodes.close()
        self.db.close()


@pytest.fixture
def mind(tmp_path: Path) -> Mind:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return Mind(folder)


def found_in(root: Path, *needles: str) -> list[str]:
    """Every file that holds one of these, in any case, also with nothing between words."""
    forms = {
        form.encode(encoding)
        for each in needles
        for form in (each, each.lower())
        for encoding in ("utf-8", "utf-16-le")
    }
    return sorted(
        path.name for path in root.rglob("*") if path.is_file() and any(form in path.read_bytes() for form in forms)
    )


def test_nothing_is_left_that_a_search_of_all_bytes_finds(mind: Mind) -> None:
    mind.happen(
        f"I bought tickets for the {SECRET} in May.",
        "The weather was fine.",
        payload={"steps": [{"args": {"q": SECRET}}]},
    )
    mind.happen("The weather was fine again.")
    heard = fact("F1", f"Look for {SECRET} in the calendar first.", sources=("E1",), data={"strategy": "dates"})
    cause = fact("F2", "One follows the other.", kind=Kind.CAUSAL, sources=("E1",),
                 data={"cause": SECRET.lower(), "effect": "joy", "count": 3})  # fmt: skip
    other = fact("F3", "Calendars are slow.", sources=("E1", "E2", "E3"), confidence=0.9, episode_count=3)
    apart = fact("F4", "Nothing to do with it.", sources=("E2",), domain=SECRET.split()[0].lower())
    mind.learn(heard, cause, other, apart)
    mind.facts.link("F1", "F3", "supports")
    mind.facts.link("F2", "F4", "used_with")
    mind.book.consider([heard], 0)
    assert mind.book.consider([heard], 10).entered
    mind.path.write_bytes(mind.path.read_bytes() + f"- {SECRET} was written by hand\n".encode())
    mind.book.look()
    mind.path.write_bytes(mind.path.read_bytes().replace(f"- {SECRET} was written by hand\n".encode(), b""))
    with mind.db.write() as tx:
        for memory, kind in (("E1", "episode"), ("F1", "fact"), ("F3", "fact")):
            tx.execute(
                "INSERT INTO recalls (turn, memory, kind, factors, steered, ts) VALUES ('T', ?, ?, '{}', 0, '')",
                (memory, kind),
            )
    assert found_in(mind.root, "zanzibar")
    plan = mind.forgetting.plan(SECRET)
    assert (set(plan.episodes), set(plan.facts), plan.weakened, plan.yours) == (
        {"E1", "E2"},
        {"F1", "F2", "F4"},
        ("F3",),
        (),
    )
    first = mind.forgetting.forget(mind.forgetting.plan("zanzibar"))
    assert first == Forgotten(
        episodes=2, vectors=2, facts=3, weakened=1, links=2, edges=1, recalls=2,
        lines=1, versions=3, questions=1, turns=2,
    )  # fmt: skip
    assert mind.redacted == ["turn E1", "turn E2"]
    assert {"E1", "E2", "F1", "F2", "F4"} <= set(mind.asked)
    mind.close()
    assert found_in(mind.root, "Zanzibar", "Quartet", "quartet") == []
    assert found_in(mind.root, "Calendars are slow", "fine again") != []


def test_a_fact_with_other_sources_loses_that_source_and_support(mind: Mind) -> None:
    mind.happen("one", "two", "three", "four")
    mind.learn(
        fact("F1", "A pattern.", kind=Kind.PATTERN, sources=("E1", "E2", "E3", "E4"), episode_count=4, confidence=0.8),
        fact("F2", "A warning.", kind=Kind.ANTI, sources=("E1", "E2"), episode_count=2, confidence=0.4),
        fact("F3", "Only this.", sources=("E1",)),
        fact("F4", "Said by the owner.", provenance=Provenance.OWNER),
    )
    plan = mind.forgetting.plan(ids=["E1"])
    assert (plan.episodes, plan.facts, plan.weakened) == (("E1",), ("F3",), ("F1", "F2"))
    gone = mind.forgetting.forget(plan)
    assert (gone.episodes, gone.facts, gone.weakened, gone.traces) == (1, 1, 2, 0)
    pattern, warning, said = mind.facts.get(["F1", "F2", "F4"])
    assert (pattern.sources, pattern.episode_count, pattern.confidence) == (("E2", "E3", "E4"), 3, pytest.approx(0.6))
    assert warning.confidence == pytest.approx(0.3), "anti-knowledge keeps its floor"
    assert said.confidence == pytest.approx(0.8)
    assert mind.forgetting.forget(plan) == Forgotten(questions=1, turns=1), "again, nothing more is taken"
    assert mind.facts.get(["F1"])[0].confidence == pytest.approx(0.6)


def test_a_fact_that_quotes_what_goes_goes_although_it_has_other_sources(mind: Mind) -> None:
    mind.happen(
        "please call the dentist on Friday", "call the plumber", "move the invoices home", "move the invoices home"
    )
    mind.learn(
        fact("F1", 'Asked again and again: "call the dentist on Friday".', sources=("E1", "E2")),
        fact("F2", 'Often: "move the invoices home".', sources=("E3", "E4")),
        fact("F3", "Two things go together.", data={"parents": ["F1", "F2"]}, provenance=Provenance.DREAM),
    )
    assert mind.forgetting.plan(ids=["E1"]).facts == ("F1", "F3"), "and what was made of it"
    assert mind.forgetting.plan(ids=["E3"]).facts == (), "another episode says the same"


def test_facts_can_be_named_too(mind: Mind) -> None:
    mind.happen("one")
    mind.learn(fact("F1", "A rule.", sources=("E1",)), fact("F2", "Another."))
    plan = mind.forgetting.plan(ids=["F1", "nothing"])
    assert (plan.episodes, plan.facts) == ((), ("F1",))
    mind.forgetting.forget(plan)
    assert [each.id for each in mind.facts.find(standings=())] == ["F2"]
    assert mind.episodes.count() == 1


def test_what_the_owner_wrote_by_hand_stays_and_is_named(mind: Mind) -> None:
    (mind.root / "MEMORY.md").write_text(f"- the {SECRET.upper()} plays in May\n")
    mind.happen(f"{SECRET} on the radio")
    plan = mind.forgetting.plan(SECRET)
    assert plan.yours == ("MEMORY.md",)
    mind.forgetting.forget(plan)
    assert SECRET.upper() in (mind.root / "MEMORY.md").read_text()


def test_a_query_that_is_in_everything_is_refused(mind: Mind) -> None:
    for query in ("a", " ab "):
        with pytest.raises(UsageError, match="too much"):
            mind.forgetting.plan(query)
    assert mind.forgetting.plan().is_empty
    assert mind.forgetting.plan("nobody said this").is_empty


def test_a_plan_changes_nothing(mind: Mind) -> None:
    mind.happen(f"{SECRET} on the radio")
    mind.learn(fact("F1", f"{SECRET} is on at nine.", sources=("E1",)))
    mind.forgetting.plan(SECRET)
    assert (mind.episodes.count(), mind.facts.count()) == (1, 1)
    assert mind.episodes.matching("zanzibar", 5)


def test_after_forgetting_it_is_not_found_by_words_or_meaning(mind: Mind) -> None:
    mind.happen(f"{SECRET} on the radio", "something else")
    vector = mind.episodes.vectors_of(["E1"])["E1"]
    mind.forgetting.forget(mind.forgetting.plan(f"  {SECRET.lower().replace(' ', '   ')} "))
    assert mind.episodes.matching("zanzibar quartet", 5) == []
    assert [hit.id for hit in mind.episodes.nearest(vector, 5)] == ["E2"]
    assert mind.facts.matching("zanzibar", 5) == []


def test_what_is_returned_fits_an_audit_line_and_holds_no_word(mind: Mind) -> None:
    mind.happen(f"{SECRET} on the radio")
    gone = mind.forgetting.forget(mind.forgetting.plan(SECRET))
    assert Entry("memory forgotten", counts=gone.counts()).counts["episodes"] == 1
