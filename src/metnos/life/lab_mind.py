"""A learner of the lab: the product's own memory, in a folder of its own, with a clock that the lab moves.

It is asked for something, looks up what it has learnt about that (`Mind.recall`), and does it so; where it knows
nothing it guesses, but not what it is warned of. Then it turns out what was right, as when an owner corrects. What it
relied on is believed more or less for it, what happened becomes an episode, and every fifty ticks there is a
consolidation.

Rules: episodes, curator, gate, facts, fading and recall are the product's, with its numbers. Nothing but facts decides,
as in a turn without a language model. There is no embedder: all texts are made of the same few words, which are enough.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from metnos.core.clock import Clock, MovableClock
from metnos.core.embedding import Embedder
from metnos.core.ids import UlidMaker
from metnos.grimoire import fact_rules, memory_schema
from metnos.grimoire.curator import Curator, Numbers
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.episode import Episode, Provenance, Viewer, Where
from metnos.grimoire.episodes import open_episodes
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.fact_rules import FactRules
from metnos.grimoire.facts import Facts
from metnos.grimoire.learning import Think
from metnos.grimoire.mind import Mind
from metnos.grimoire.question import Span
from metnos.grimoire.trace import State
from metnos.life.inheritance import Inheritance
from metnos.life.lab_world import Task
from metnos.store.db import Database, Durability

START = datetime(2026, 1, 1, tzinfo=UTC)
EVERY = 50  # ticks between consolidations, the curator's own number
_SHOWN = 8  # facts that fit into a context: a little more than a turn shows a model
_NO_EPISODES = Where(kinds=("none",))
_CPU = 60.0  # seconds that a consolidation may take: never reached
_TRAP = "refused"
_ARGS = {"into": "archive"}  # what every call has in common; a warning names it
_LEAST_OWN = 0.5  # what a fact must be believed to steer a plan of the product
_OWN = frozenset({Provenance.SELF, Provenance.OWNER})


@dataclass(frozen=True, slots=True)
class Decided:
    """What was chosen, and the fact that said so; none if it was guessed."""

    way: str
    fact: Fact | None = None

    @property
    def is_inherited(self) -> bool:
        return self.fact is not None and self.fact.provenance in fact_rules.INHERITED


class Ids(UlidMaker):
    """Ids that follow from a name, so that the same run gives the same bytes. They sort as they were made."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self._count = name, 0

    def __call__(self) -> str:
        self._count += 1
        return f"{self._name}-{self._count:06}"


class Learner(Mind):
    """One agent. ``strict``: it heeds only what is its own and well believed, as plans are steered today."""

    def __init__(self, folder: Path, clock: MovableClock, rules: FactRules, strict: bool = False) -> None:
        folder.mkdir()
        self._folder, self._clock, self._rules, self._strict = folder, clock, rules, strict
        self.ids = Ids(f"L{folder.name}")
        self.db = Database(folder / "grimoire.db", memory_schema.MIGRATIONS, clock=clock, durability=Durability.NORMAL)
        self.episodes = open_episodes(folder / "episodes", "sqlite", clock)
        self._waiting: list[Episode] = []
        self.ticks = 0
        self._happenings = 0
        self._inheritance: Inheritance | None = None
        self._about: dict[str, Fact | None] = {}
        self._warned: dict[str, frozenset[str]] = {}

    # -- what a mind asks its owner

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def root(self) -> Path:
        return self._folder

    @property
    def embedder(self) -> Embedder | None:
        return None

    def dates(self, text: str, now: datetime) -> Iterator[tuple[str, Span]]:  # noqa: ARG002 -- no task speaks of a time
        return iter(())

    def asks(self, text: str) -> bool:  # noqa: ARG002 -- nor is any a question
        return False

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.db, self._clock, self.ids, rules=self._rules)

    def curator(self, cpu_s: float, embedder: Embedder | None = None, think: Think | None = None) -> Curator:
        """As every mind's, but for ids that can be repeated."""
        numbers = Numbers(curator=CuratorRules(cpu_s=cpu_s))
        return Curator(
            *(self.db, self._clock, self.ids, self.episodes, self.facts),
            playbook=self._considered,
            embedder=embedder,
            think=think,
            numbers=numbers,
        )

    # -- one task

    def decide(self, task: Task, chance: random.Random) -> Decided:
        """What it would do. ``chance`` guesses."""
        self._clock.move(START + timedelta(days=task.day) - self._clock.now())
        fact = self._known(task.form)
        if fact is not None and (way := _way(fact)) in task.ways:
            return Decided(way, fact)
        # Drawn before it is looked at what is warned of, so that learners with other warnings have the same luck.
        order = chance.sample(task.ways, len(task.ways))
        warned = self._warnings(task.area)
        return Decided(next((way for way in order if way not in warned), order[0]))

    def see(self, task: Task, decided: Decided) -> None:
        """It turned out what was right: what failed failed, and what was wrong the owner did not like, and said so."""
        if decided.fact is not None:
            self._judge(task, decided.fact, decided.way == task.right)
        if decided.way in task.traps:
            self._happened(task, decided.way, State.FAILED)
        elif decided.way != task.right:
            self._happened(task, decided.way, State.DONE, liked=False)
        self._happened(task, task.right, State.DONE, liked=True)
        self.ticks += 1
        if self.ticks % EVERY == 0:
            self.learn()

    def learn(self) -> None:
        """A consolidation."""
        self.episodes.add(self._waiting)
        self._waiting = []
        while (cycle := self.consolidate(_CPU)) is None or not cycle.finished:
            pass
        if self._inheritance is not None:
            self._inheritance.settle()
        self._about.clear()
        self._warned.clear()

    def inherits(self, inheritance: Inheritance) -> None:
        """It was left something, and has taken it in."""
        self._inheritance = inheritance

    def close(self) -> None:
        self.episodes.close()
        self.db.close()

    # -- inside

    def _known(self, form: str) -> Fact | None:
        """The first fact that comes to mind and says what to do for this form. Kept until something changes it."""
        if form not in self._about:
            found = self.recall(form, Viewer(), count=0, facts=_SHOWN, where=_NO_EPISODES)
            facts = (each.of for each in found.facts if isinstance(each.of, Fact))
            self._about[form] = next((fact for fact in facts if self._heeds(fact, form)), None)
        return self._about[form]

    def _heeds(self, fact: Fact, form: str) -> bool:
        if fact.kind not in fact_rules.ACTING or fact.data.get("when", {}).get("canonical") != form:
            return False
        if self._strict:
            return fact.provenance in _OWN and fact.confidence >= _LEAST_OWN
        return fact.confidence >= fact_rules.RULES.prune  # what is believed less is on its way out

    def _warnings(self, area: str) -> frozenset[str]:
        if area not in self._warned:
            found = self.facts.find(kinds=(Kind.ANTI,), domains=(area,))
            said = [str(fact.data.get("executor", "")) for fact in found if self._warns(fact)]
            self._warned[area] = frozenset(said)
        return self._warned[area]

    def _warns(self, fact: Fact) -> bool:
        return not self._strict or fact.provenance in _OWN

    def _judge(self, task: Task, fact: Fact, right: bool) -> None:
        """What was relied on is believed more or less for it; its twin in the playbook, too (as `usefulness` does)."""
        twins = [fact.id, *self._twins(fact)]
        self.facts.shown(twins)
        (self.facts.helped if right else self.facts.harmed)(twins)
        if not right:
            self._about.pop(task.form, None)

    def _twins(self, fact: Fact) -> list[str]:
        of = str(fact.data.get("fact", fact.id))
        sql = "SELECT id FROM facts WHERE (kind = 'heuristic' AND json_extract(data, '$.fact') = ?1) OR id = ?1"
        return [key for (key,) in self.db.query(sql, (of,)) if key != fact.id]

    def _happened(self, task: Task, way: str, state: State, liked: bool | None = None) -> None:
        self._happenings += 1
        number = self._happenings
        failed = state is State.FAILED
        step = {"executor": way, "ok": not failed, "kind": _TRAP if failed else "", "args": _ARGS}
        payload: dict[str, Any] = {"canonical": task.form, "state": state, "steps": [step]}
        if liked is not None:
            payload["feedback"] = liked
        name, now, talk = f"{self._folder.name} {number}", self._clock.now(), f"{self.ticks}"
        self._waiting.append(
            Episode(f"E{number:06}", now, task.form, name, payload=payload, session=talk, domain=task.area)
        )


def _way(fact: Fact) -> str:
    return str(fact.data.get("prefer", {}).get("executor", ""))
