"""The arms of the experiment: what a generation leaves to the next.

- *no inheritance*: every generation begins with nothing;
- *bottleneck*: the product's way. What is known goes through the barrier and the bottleneck into a signed testament,
  and the heir takes it in, discounted, varied, and earned anew by use; facts fade;
- *random*: the same, but chance chooses among all that could cross;
- *total recall*: nobody dies, nothing fades and nothing is pruned. What misleads is still believed less and what is
  contradicted still gives way, because learning that one was wrong is no forgetting;
- *no death*: nobody dies, and facts fade as in the product: tells what dying adds to forgetting.

Rules: every arm runs the same learner on the same tasks, and differs in nothing else. A testament of the lab is a real
one: packed, signed, verified and taken in by the product's code. Its keys follow from the seed and protect nothing.
Released episodes do not cross, because there is no owner to release them.
"""

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from metnos.core.clock import MovableClock
from metnos.core.sign import Signer
from metnos.grimoire import fact_rules
from metnos.grimoire.fact import Fact, Standing
from metnos.life import legacy, lineage_schema, testament_file
from metnos.life.barrier_scan import Known, words
from metnos.life.cause import Cause
from metnos.life.inheritance import Inheritance
from metnos.life.lab_mind import START, Learner
from metnos.life.lab_world import Task
from metnos.life.legacy import Estate
from metnos.life.lineage import Lineage
from metnos.life.testament import MOST_ENTRIES, Category, Entry, Testament
from metnos.life.testament_rules import BottleneckRules
from metnos.store.db import Database, Durability

_FOR_EVER = 1e6  # days of half-life: nothing fades in the time that an experiment spans
_ALL = 100_000  # facts: all there are
KEEPING = replace(
    fact_rules.RULES,
    structural_days=_FOR_EVER,
    strategic_days=_FOR_EVER,
    tactical_days=_FOR_EVER,
    ephemeral_days=_FOR_EVER,
    prune=0.0,
)


class Way(StrEnum):
    """How a generation is followed by the next."""

    NONE = "none"
    BOTTLENECK = "bottleneck"
    RANDOM = "random"
    TOTAL = "total"
    DEATHLESS = "deathless"


@dataclass(frozen=True, slots=True)
class Arm:
    """``entries``: how many may cross. ``strict``: only own knowledge decides, as plans are steered today.
    ``stubborn``: what misleads is believed no less for it, as by somebody who cannot let go of anything."""

    name: str
    way: Way
    entries: int = 0
    strict: bool = False
    stubborn: bool = False

    @property
    def dies(self) -> bool:
        return self.way not in (Way.TOTAL, Way.DEATHLESS)


def main_arms(entries: int) -> tuple[Arm, ...]:
    """The arms that are compared."""
    return (
        Arm("no inheritance", Way.NONE),
        Arm("bottleneck", Way.BOTTLENECK, entries),
        Arm("total recall", Way.TOTAL),
        Arm("random", Way.RANDOM, entries),
        Arm("no death", Way.DEATHLESS),
    )


def further_arms(entries: int) -> tuple[Arm, ...]:
    """What the width of the bottleneck does, what steering by own knowledge alone, and what never doubting."""
    narrow = max(1, entries // 4)
    return (
        Arm(f"bottleneck, {narrow} entries", Way.BOTTLENECK, narrow),
        Arm(f"random, {narrow} entries", Way.RANDOM, narrow),
        Arm(f"bottleneck, {MOST_ENTRIES} entries", Way.BOTTLENECK, MOST_ENTRIES),
        Arm("bottleneck, heeding only its own", Way.BOTTLENECK, entries, strict=True),
        Arm("no inheritance, heeding only its own", Way.NONE, strict=True),
        Arm("total recall, never doubting", Way.TOTAL, stubborn=True),
    )


@dataclass(frozen=True, slots=True)
class Left:
    """What crossed a death: how many were known, how many of them crossed and were taken, and in how many bytes."""

    known: int = 0
    crossed: int = 0
    taken: int = 0
    size: int = 0


class Line:
    """One line of generations in one arm. ``learner`` is who lives now."""

    def __init__(self, arm: Arm, folder: Path, name: str, tasks: Iterable[Task]) -> None:
        self.arm = arm
        self.clock = MovableClock(START)
        self._folder, self._name = folder, name
        self._known = Known(common=frozenset(_common(tasks)))
        self._generation = 0
        self._born = self.clock.now()
        self.learner, self._lineage = self._birth()

    def succeed(self) -> Left:
        """The generation ends, and the next begins."""
        if not self.arm.dies:
            return Left()
        facts = self.learner.facts.find(standings=(), count=_ALL)
        known = sum(fact.standing is Standing.ACTIVE for fact in facts)
        raw = b"" if self.arm.way is Way.NONE else self._last_will(facts)
        self.close()
        self._generation += 1
        self._born = self.clock.now()
        self.learner, self._lineage = self._birth()
        if not raw:
            return Left(known)
        opened = testament_file.unpack(raw)
        self._lineage.begin(opened, raw.partition(b"\n")[0].decode())
        inheritance = Inheritance(self._lineage, self.learner.facts, self.learner.episodes, self.clock)
        taken = inheritance.take(opened, _signer(f"{self._name} {self._generation}").public)
        self.learner.inherits(inheritance)
        return Left(known, len(opened.testament.entries), taken.known, opened.size)

    def close(self) -> None:
        self.learner.close()
        self._lineage.db.close()

    # -- inside

    def _birth(self) -> tuple[Learner, Lineage]:
        folder = self._folder / f"{self._generation}"
        rules = KEEPING if self.arm.way is Way.TOTAL else fact_rules.RULES
        rules = replace(rules, weakening=0.0) if self.arm.stubborn else rules
        learner = Learner(folder, self.clock, rules, self.arm.strict)
        db = Database(folder / "life.db", lineage_schema.MIGRATIONS, clock=self.clock, durability=Durability.NORMAL)
        return learner, Lineage(db, self.clock)

    def _last_will(self, facts: Sequence[Fact]) -> bytes:
        """What is left, as a signed testament."""
        signer = _signer(f"{self._name} {self._generation}")
        estate = Estate(
            key=signer.public,
            died=self.clock.now(),
            facts=facts,
            links=(),
            mnests=(),
            known=self._known,
            private=lambda: (),  # all that was ever said here are the lab's own words
            descents=self._lineage.descents(),
            proofs={fact.id: self._lineage.proof(fact) for fact in facts},
        )
        left = Testament(
            id=self.learner.ids(),
            born=self._born,
            died=self.clock.now(),
            cause=Cause.OWNER,
            generation=self._generation,
            ticks=self.learner.ticks,
            profile="home",
            reflection=dict.fromkeys(Category, ()),
            reflected_by="extraction",
            lived={"facts": len(facts)},
            ancestors=self._lineage.ancestors(),
            entries=self._chosen(estate),
        )
        return testament_file.pack(left, b"", signer)

    def _chosen(self, estate: Estate) -> tuple[Entry, ...]:
        if self.arm.way is Way.BOTTLENECK:
            return legacy.gather(estate, BottleneckRules(limit=self.arm.entries)).entries
        could = sorted(legacy.gather(estate).entries, key=lambda each: each.id)
        chance = random.Random(f"{self._name} {self._generation}")  # noqa: S311 -- repeatable; nothing here is secret
        return tuple(chance.sample(could, min(self.arm.entries, len(could))))


def _signer(name: str) -> Signer:
    """A key that follows from a name, so that the same run gives the same bytes."""
    return Signer(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"lab {name}".encode()).digest()))


def _common(tasks: Iterable[Task]) -> Iterable[str]:
    """All words of the lab's world: none of them says anything of anybody."""
    for task in tasks:
        for text in (task.form, task.area, *task.ways):
            yield from words(text.replace("_", " "))
            yield from words(text)
