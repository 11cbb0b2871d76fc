"""Descent: whom an agent comes from, what it was left, and what became of each thing. The one writer of its tables.

Rules: an agent inherits once. What a testament brings is written down here first, as quarantined, and only then looked
at, so that a process killed anywhere finds what is still to be done. Rows hold names, digests and numbers; the words of
a testament are in its core, which is the gravestone, and in the file that was inherited.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import TestamentError
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts_admit import CONSENT
from metnos.life import inheritance_rules as rules
from metnos.life.inheritance_rules import InheritanceRules, Proof, Shares
from metnos.life.testament import Ancestor, Bone, Category, Descent, Entry, Habit, Opened
from metnos.store.db import Database, Row

_HEIRLOOMS = (
    "SELECT entry, kind, state, reason, fact, origin, generation, held, believed, confidence, earned FROM heirlooms"
)


class State(StrEnum):
    """What became of an entry of the testament when it came in."""

    QUARANTINED = "quarantined"  # not looked at yet
    LEFT_OUT = "left out"  # by chance: a successor is no copy
    TAKEN = "taken"
    DOUBTED = "doubted"  # taken, and believed very little
    MERGED = "merged"  # it says what another one said
    CONTRADICTED = "contradicted"
    CONSENT = "consent"  # about people: it waits for the owner
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Heirloom:
    """One entry of the testament, here. ``generation`` counts the deaths it crossed, ours' predecessor's included."""

    entry: str
    kind: Kind
    state: State
    reason: str
    fact: str
    origin: str
    generation: int
    held: int
    believed: float
    confidence: float
    earned: datetime | None  # when own experience had shown it


@dataclass(frozen=True, slots=True)
class Grave:
    """One who died in this line. Of those before the last only the name is known: the key, and its testament's."""

    key: str
    testament: str
    generation: int
    born: datetime | None = None
    died: datetime | None = None
    cause: str = ""
    profile: str = ""
    ticks: int = 0
    said: Mapping[str, tuple[str, ...]] | None = None  # the reflection


@dataclass(frozen=True, slots=True)
class Origins:
    """What an agent inherited from."""

    testament: str
    key: str
    generation: int  # ours
    size: int
    taken: datetime
    ended: datetime | None  # when all of it had come in
    counts: Mapping[str, int]
    graves: tuple[Grave, ...]  # the latest first
    habits: tuple[Habit, ...]


class Lineage:
    """The descent of one agent. Threads may share it."""

    def __init__(self, db: Database, clock: Clock, numbers: InheritanceRules = rules.RULES) -> None:
        self.db = db
        self.numbers = numbers
        self._clock = clock

    # -- beginning

    def begin(self, opened: Opened, core: str) -> bool:
        """Write down what came, as quarantined; says whether this call did. Raises if something else was inherited."""
        testament = opened.testament
        with self.db.write() as tx:
            known = tx.first("SELECT testament FROM inheritance")
            if known is not None and known[0] != opened.digest:
                raise TestamentError(
                    "this agent inherited from another testament already, and an agent inherits once",
                    fix="Make another successor: metnos --workspace FOLDER init --from TESTAMENT",
                )
            if known is not None:
                return False
            now = to_text(self._clock.now())
            tx.execute(
                "INSERT INTO inheritance (one, testament, key, generation, size, core, taken)"
                " VALUES (1, ?, ?, ?, ?, ?, ?)",
                (opened.digest, opened.key, testament.generation + 1, opened.size, core, now),
            )
            tx.execute_many(
                "INSERT INTO heirlooms (entry, kind, state, origin, generation, held, believed)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [_row(each) for each in testament.entries],
            )
            tx.execute_many(
                "INSERT INTO heir_bones (src, dst, weight) VALUES (?, ?, ?)",
                [(each.src, each.dst, each.weight) for each in testament.bones],
            )
            return True

    def became(self, entry: str, state: State, reason: str = "", fact: Fact | None = None) -> None:
        """Note what became of an entry."""
        with self.db.write() as tx:
            tx.execute(
                "UPDATE heirlooms SET state = ?, reason = ?, fact = ?, confidence = ? WHERE entry = ?",
                (state, reason, fact.id if fact else None, fact.confidence if fact else 0.0, entry),
            )

    def note_episodes(self, ids: Sequence[str]) -> None:
        """These episodes are inherited ones."""
        with self.db.write() as tx:
            tx.execute_many("INSERT OR IGNORE INTO heir_episodes (episode) VALUES (?)", [(each,) for each in ids])

    def end(self, counts: Mapping[str, int]) -> None:
        """All of it has come in."""
        with self.db.write() as tx:
            tx.execute(
                "UPDATE inheritance SET ended = coalesce(ended, ?), counts = ?",
                (to_text(self._clock.now()), canonical_json(dict(counts)).decode()),
            )

    # -- reading

    def origins(self) -> Origins | None:
        """What this agent inherited from; nothing if it is the first of its line."""
        row = self.db.first("SELECT testament, key, generation, size, core, taken, ended, counts FROM inheritance")
        if row is None:
            return None
        testament, key, generation, size, text, taken, ended, counts = row
        core = json.loads(text)["core"]
        last = _grave(testament, key, core)
        before = (Grave(each.key, each.testament, each.generation) for each in _ancestors(core))
        return Origins(
            testament,
            key,
            generation,
            size,
            from_text(taken),
            from_text(ended) if ended else None,
            json.loads(counts),
            (last, *before),
            tuple(Habit(each["setting"], each["value"], each["held"]) for each in core["habits"]),
        )

    def generation(self) -> int:
        """0 for the first of a line."""
        row = self.db.first("SELECT generation FROM inheritance")
        return int(row[0]) if row else 0

    def ancestors(self) -> tuple[Ancestor, ...]:
        """As our own testament will name them, the latest first."""
        found = self.origins()
        return tuple(Ancestor(each.key, each.testament, each.generation) for each in found.graves) if found else ()

    def heirlooms(self, *states: State) -> list[Heirloom]:
        found = [_heirloom(row) for row in self.db.query(f"{_HEIRLOOMS} ORDER BY rowid")]
        return [each for each in found if not states or each.state in states]

    def episodes(self) -> frozenset[str]:
        """The inherited ones."""
        return frozenset(key for (key,) in self.db.query("SELECT episode FROM heir_episodes"))

    def bones(self) -> list[Bone]:
        """The skeleton of the predecessor's mnestome, the strongest first."""
        found = self.db.query("SELECT src, dst, weight FROM heir_bones ORDER BY weight DESC, src, dst")
        return [Bone(*row) for row in found]

    def descents(self) -> dict[str, Descent]:
        """Of every fact that is inherited, how it came here; where several entries became one, the one that held
        longest. ``held`` is without this life."""
        found: dict[str, Descent] = {}
        for each in sorted(self.heirlooms(), key=lambda each: (each.held, -each.generation, each.entry)):
            if each.fact:
                found[each.fact] = Descent(each.origin, each.generation, each.held)
        return found

    def habits(self) -> dict[str, Habit]:
        """The settings of the predecessor, by name."""
        found = self.origins()
        return {each.setting: each for each in found.habits} if found else {}

    # -- what became of it

    def proof(self, fact: Fact) -> Proof:
        """What this life has shown so far of something inherited."""
        own = len(set(fact.sources) - self.episodes())
        return _proof(fact, own, self.numbers)

    def settle(self, get: Callable[[Sequence[str]], list[Fact]]) -> list[Fact]:
        """Note what own experience has shown since; those facts, once."""
        open_ = [each for each in self.heirlooms() if each.fact and each.earned is None]
        inherited = self.episodes()
        facts = {fact.id: fact for fact in get(sorted({each.fact for each in open_}))}
        earned = {
            fact.id: fact
            for fact in facts.values()
            if _proof(fact, len(set(fact.sources) - inherited), self.numbers) is Proof.EARNED
        }
        now = to_text(self._clock.now())
        with self.db.write() as tx:
            tx.execute_many("UPDATE heirlooms SET earned = ? WHERE fact = ?", [(now, key) for key in earned])
        return list(earned.values())

    def shares(self, get: Callable[[Sequence[str]], list[Fact]], believed: Mapping[str, float]) -> Shares:
        """What became of the inheritance; ``believed`` is all that counts now."""
        kept = {each.fact: each for each in self.heirlooms() if each.fact}
        facts = {fact.id: fact for fact in get(sorted(kept))}
        counted: Counter[str] = Counter()
        for key, each in kept.items():
            fact = facts.get(key)
            proved = self.proof(fact) if fact else Proof.UNTRIED
            gone = fact is None or fact.standing in (Standing.PRUNED, Standing.EXPIRED)
            held = each.earned is not None or proved is Proof.EARNED
            if proved is Proof.REFUTED:
                counted["refuted"] += 1
            elif gone:
                counted["faded"] += 1
            elif held:
                counted["earned"] += 1
        own = sum(key not in kept for key in believed)
        return Shares(len(kept), counted["earned"], counted["refuted"], counted["faded"], own)

    def divergence(self, believed: Mapping[str, float]) -> float:
        """How far what is believed now is from what the predecessor believed when it died."""
        before: dict[str, float] = {}
        for each in self.heirlooms():
            key = each.fact or each.entry
            before[key] = max(before.get(key, 0.0), each.believed)
        return rules.divergence(before, believed)


def _proof(fact: Fact, own: int, numbers: InheritanceRules) -> Proof:
    aside = fact.standing is Standing.QUARANTINED and bool(fact.contradicts) and CONSENT not in fact.tags
    return rules.proof(fact.helped, fact.harmed, own, aside, numbers)


def _row(entry: Entry) -> tuple[str | int | float, ...]:
    return (
        entry.id,
        entry.kind,
        State.QUARANTINED,
        entry.origin,
        entry.generation + 1,
        entry.held,
        entry.confidence,
    )


def _heirloom(row: Row) -> Heirloom:
    entry, kind, state, reason, fact, origin, generation, held, believed, confidence, earned = row
    made = Heirloom(
        entry, Kind(kind), State(state), reason, fact or "", origin, generation, held, believed, confidence, None
    )
    return replace(made, earned=from_text(earned)) if earned else made


def _grave(testament: str, key: str, core: Mapping[str, Any]) -> Grave:
    return Grave(
        key,
        testament,
        core["generation"],
        from_text(core["born"]),
        from_text(core["died"]),
        core["cause"],
        core["profile"],
        core["ticks"],
        {str(each): tuple(core["reflection"][str(each)]) for each in Category},
    )


def _ancestors(core: Mapping[str, Any]) -> list[Ancestor]:
    return [Ancestor(each["key"], each["testament"], each["generation"]) for each in core["ancestors"]]
