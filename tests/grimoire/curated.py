"""A memory with a curator, and what it lives through."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from grimoire.happened import START, step, turn
from metnos.core.clock import MovableClock
from metnos.core.ids import UlidMaker
from metnos.grimoire import happenings
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.curator import Curator, Numbers
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.episode import Episode, Verdict
from metnos.grimoire.episodes import Episodes, open_episodes
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.mood import Mood
from metnos.grimoire.playbook import Playbook
from metnos.grimoire.reports import Reports
from metnos.store.db import Database

NOW = START + timedelta(days=1)


@dataclass
class Memory:
    """A memory with a curator."""

    db: Database
    clock: MovableClock
    episodes: Episodes
    facts: Facts
    outcomes: dict[str, Outcome]
    considered: list[tuple[list[Fact], int]]
    playbook: Playbook | None = None

    def curator(self, episodes: Episodes | None = None, rules: CuratorRules | None = None, **more: Any) -> Curator:
        return Curator(
            self.db,
            self.clock,
            UlidMaker(self.clock),
            episodes or self.episodes,
            self.facts,
            outcome_of=lambda source: self.outcomes.get(source, Outcome()),
            playbook=self._consider,
            numbers=Numbers(curator=rules or CuratorRules()),
            **more,
        )

    def _consider(self, heuristics: Sequence[Fact], ticks: int) -> tuple[int, int]:
        self.considered.append((list(heuristics), ticks))
        if self.playbook is None:
            return 0, 0
        report = self.playbook.consider(heuristics, ticks)
        return len(report.entered), len(report.left)

    def add(self, *lived: Episode) -> list[Episode]:
        """Take in, as capture does: without any judgement."""
        raw = [replace(each, verdict=Verdict.UNJUDGED, importance=None, seq=0) for each in lived]
        self.episodes.add(raw, None, None)
        return raw

    def known(self, *kinds: Kind) -> list[Fact]:
        return self.facts.find(kinds=kinds, standings=())

    def get(self, episode: Episode) -> Episode:
        (found,) = self.episodes.get([episode.id])
        return found

    def close(self) -> None:
        self.episodes.close()
        self.db.close()


def open_memory(folder: Path, engine: str = "sqlite") -> Memory:
    clock = MovableClock(NOW)
    db = Database(folder / "grimoire.db", MIGRATIONS, busy_timeout_s=30)
    facts = Facts(db, clock, UlidMaker(clock), happenings.tell(db, clock))
    return Memory(db, clock, open_episodes(folder / "episodes", engine, clock, 30), facts, {}, [])


def failing(count: int, url: str = "slow.example", **changes: Any) -> list[Episode]:
    bad = step("fetch_pages", ok=False, kind="timeout", url=url)
    return [
        turn("fetch {url}", bad, at=timedelta(minutes=place), state="failed", domain="web", **changes)
        for place in range(count)
    ]


def corrected(place: int) -> list[Episode]:
    at, talk = place * timedelta(hours=1), f"S{place}"
    bad, good = step("move_files", to="/srv/old"), step("move_files", to="/srv/papers")
    first = turn("move the {glob}", bad, at=at, session=talk, payload={"feedback": False})
    return [first, turn("move the {glob}", good, at=at + timedelta(minutes=1), session=talk)]


def lived_through(days: int) -> list[Episode]:
    """Several domains, each with something to learn."""
    made = []
    for domain in ("a", "b", "c", "d", "e"):
        for place in range(days):
            bad = step(f"fetch_{domain}", ok=False, kind="timeout", url=f"{domain}.example")
            made.append(turn(f"get {domain}", bad, at=timedelta(hours=place), state="failed", domain=domain))
    return made


def knowledge(memory: Memory) -> tuple[Any, ...]:
    """All that was learnt and felt, and what the reports say came of it."""
    facts = sorted(
        (str(each.kind), each.text, round(each.confidence, 6), each.data.get("count"), tuple(sorted(each.sources)))
        for each in memory.known()
    )
    told = [
        {name: count for name, count in each.data.items() if name.startswith("facts_") or name in ("promoted", "faded")}
        for each in Reports(memory.db, memory.clock).latest("curator", 100)
    ]
    return facts, Mood(memory.db, memory.clock).now(), told
