"""Facts: what several episodes taught. The only writer of facts, their sources and their links.

Rules: knowledge comes in by `admit`, which screens, weighs, merges and sets contradictions aside; `put` is for what was
decided elsewhere (the owner's consent, an import of one's own export). Whatever is put into a kind that steers plans is
screened there too. Every write is told (`GrimoireWrite`) in its own transaction; fading tells only what left by it.
Being shown changes nothing but a counter; only having helped makes a fact believed more. `remove` leaves no byte.

Does not guarantee that a fact is true: that is what confidence, sources and contradictions are for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from metnos.core.clock import Clock, to_text
from metnos.core.embedding import Space
from metnos.core.errors import Refused, StoreError
from metnos.core.ids import UlidMaker
from metnos.grimoire import causal, fact_rules, facts_admit, facts_fading, happenings, poison
from metnos.grimoire import facts_rows as rows
from metnos.grimoire.admission import RULES, AdmissionRules
from metnos.grimoire.episode import Provenance, Scope, Viewer
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.fact_rules import FactRules
from metnos.grimoire.facts_admit import Admitted
from metnos.grimoire.facts_find import SCANNED, Finder, Found
from metnos.grimoire.facts_rows import Which
from metnos.grimoire.immune import Immune, Stage
from metnos.store.db import Database, Transaction, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metnos.law.principal import Principal

    Vector = NDArray[np.float32]

__all__ = ["Admitted", "Decayed", "Facts", "Found", "Which"]

RELATIONS = ("contradicts", "supports", "refines", "used_with", "supersedes")


@dataclass(frozen=True, slots=True)
class Decayed:
    """What a round of fading did: how many facts changed, and which left because too little of them was left."""

    changed: int
    pruned: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()


def _unheard(kind: str, data: Mapping[str, Any]) -> None:
    """Nobody listens."""


class Facts:
    """The facts of one memory. Threads may share it."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: UlidMaker,
        tell: Callable[[str, Mapping[str, Any]], None] = _unheard,
        *,
        rules: FactRules = fact_rules.RULES,
        gate: Callable[[], AdmissionRules] = lambda: RULES,
        scanned: int = SCANNED,
    ) -> None:
        self.db = db
        self.rules = rules
        self._gate = gate  # asked each time: its weights can be fitted while this is open
        self.immune = Immune(db, clock)
        self.causal = causal.Causal(db)
        self._clock = clock
        self._ids = ids
        self._tell = tell
        self._finder = Finder(db, scanned)

    # -- coming in

    def new_id(self) -> str:
        return self._ids()

    def admit(
        self,
        candidate: Fact,
        vector: "Vector | None" = None,
        space: Space | None = None,
        rules: AdmissionRules | None = None,
        *,
        supersedes: Sequence[str] = (),
    ) -> Admitted:
        """Take knowledge in through the gate. The only way for what was learned, dreamt or received."""
        return facts_admit.admit(self, candidate, vector, space, rules or self._gate(), supersedes, self._clock.now())

    def agreed(self, fact: str, by: "Principal") -> Fact | None:
        """The owner agreed to a fact that waited for it (outcome ``consent``): it counts from now on.

        Only a person's word lets it count: ``by`` is whose it is.
        """
        if not by.may_answer:
            raise Refused(f"{by} may not agree for the owner: a person has to", fix="See: metnos inbox list")
        with self.db.write() as tx:
            found = rows.read(tx, [fact])
            return facts_admit.agreed(self, tx, found[0]) if found else None

    def unwanted(self, ids: Sequence[str]) -> int:
        """The owner did not want these known: they go, and whatever says the same is not learnt or asked about again.
        That is remembered by digests, and so stays when the words are forgotten."""
        for fact in self.get(ids):
            for digest in facts_admit.unwanted_patterns(fact):
                self.immune.remember(digest, Stage.CONSENT, "you did not want it known", fact.provenance)
        return self.remove(ids)

    def is_unwanted(self, fact: Fact) -> bool:
        """Whether the owner said no to it before, whatever it was called then."""
        found = map(self.immune.find, facts_admit.unwanted_patterns(fact))
        return any(each is not None and each.stage is Stage.CONSENT for each in found)

    def put(
        self,
        fact: Fact,
        vector: "Vector | None" = None,
        space: Space | None = None,
        tx: Transaction | None = None,
    ) -> Fact:
        """Insert a fact, or replace the one with its id. What would steer plans and reads like an instruction is
        quarantined, unless the owner said it."""
        kept = fact
        if fact.kind in fact_rules.ACTING and fact.provenance is not Provenance.OWNER:
            held = not fact_rules.may_act(fact) or poison.screen_fact(fact).is_poison
            kept = replace(fact, standing=Standing.QUARANTINED) if held and fact.standing is Standing.ACTIVE else fact
        with self._writing(tx) as own:
            self._refuse_mixed(own, vector, space)
            rows.write(own, kept, vector, space)
            for other in kept.contradicts:
                self._link(own, kept.id, other, "contradicts", 1.0)
            if kept.kind in causal.CAUSAL:
                causal.add(own, kept)
            self._told(kept)
        return kept

    # -- finding

    def get(self, ids: Sequence[str]) -> list[Fact]:
        """In the order asked; missing ones are left out."""
        with self.db.read() as tx:
            return rows.read(tx, ids)

    def find(
        self,
        *,
        kinds: Sequence[Kind] = (),
        domains: Sequence[str] = (),
        subject: str = "",
        standings: Sequence[Standing] = (Standing.ACTIVE,),
        scopes: Sequence[Scope] = (),
        visible_to: Viewer | None = None,
        count: int = 1000,
    ) -> list[Fact]:
        """The most believed first. No standings: any."""
        which = Which(tuple(kinds), tuple(domains), subject, tuple(standings), tuple(scopes), visible_to)
        with self.db.read() as tx:
            return rows.select(tx, which, count)

    def nearest(self, vector: "Vector", space: Space, count: int, which: Which | None = None) -> list[Found]:
        """By meaning, best first; among those that count, unless ``which`` says otherwise."""
        return self._finder.nearest(vector, space, count, which or Which())

    def matching(self, text: str, count: int, which: Which | None = None) -> list[Found]:
        """By words, best first."""
        return self._finder.matching(text, count, which or Which())

    def count(self, which: Which | None = None) -> int:
        where, values = (which or Which()).sql()
        row = self.db.first(f"SELECT count(*) FROM facts f WHERE {where}", values)  # noqa: S608 -- our own words
        return int(row[0]) if row else 0

    # -- belief

    def reinforce(self, fact: str, by: float | None = None, now: datetime | None = None) -> Fact | None:
        """It proved right: ``by`` is the share of what is missing to full belief. A dream in its time is confirmed."""
        return self._believe(fact, now, lambda at, old: self._confirmed(_up(old, by, at, self.rules), at))

    def weaken(self, fact: str, by: float | None = None, now: datetime | None = None) -> Fact | None:
        """It proved wrong: ``by`` is the share of belief that is lost."""
        return self._believe(fact, now, lambda at, old: _down(old, by, at, self.rules))

    def shown(self, ids: Sequence[str]) -> None:
        """They were put before somebody. That alone proves nothing."""
        with self.db.write() as tx:
            tx.execute_many("UPDATE facts SET shown = shown + 1 WHERE id = ?", [(each,) for each in ids])

    def helped(self, ids: Sequence[str]) -> None:
        """They were used and it went well."""
        for each in ids:
            self._believe(each, None, lambda at, old: replace(_up(old, None, at, self.rules), helped=old.helped + 1))

    def harmed(self, ids: Sequence[str]) -> None:
        """They were used and it went badly."""
        for each in ids:
            self._believe(each, None, lambda at, old: replace(_down(old, None, at, self.rules), harmed=old.harmed + 1))

    def decay(self, now: datetime | None = None) -> Decayed:
        """Take off the fading since it was last taken off; end what is over. As often as one likes.

        Only facts are touched that may have changed enough to be noticed: the rest is due later, and nothing is lost.
        """
        at = now or self._clock.now()
        pruned: list[str] = []
        expired: list[str] = []
        with self.db.write() as tx:
            changed: list[Fact] = []
            for old in facts_fading.due(tx, *self._due(at)):
                new = fact_rules.settled(old, at, self.rules)
                if new.standing is not old.standing:
                    (pruned if new.standing is Standing.PRUNED else expired).append(new.id)
                    self._told(new)
                changed.append(new)
            facts_fading.faded(tx, changed)
        return Decayed(len(changed), tuple(pruned), tuple(expired))

    # -- links and sources

    def link(self, src: str, dst: str, relation: str, weight: float = 1.0) -> None:
        with self.db.write() as tx:
            self._link(tx, src, dst, relation, weight)

    def links(self, fact: str, relation: str) -> list[str]:
        """The other ends. What contradicts or is used together does so both ways."""
        found = self.db.query("SELECT dst FROM fact_links WHERE src = ? AND relation = ?", (fact, relation))
        if relation in ("contradicts", "used_with"):
            found += self.db.query("SELECT src FROM fact_links WHERE dst = ? AND relation = ?", (fact, relation))
        return sorted({other for (other,) in found})

    def sources(self, fact: str) -> list[str]:
        """The episodes it came from."""
        return [
            each for (each,) in self.db.query("SELECT episode FROM fact_sources WHERE fact = ? ORDER BY 1", (fact,))
        ]

    def derived_only_from(self, episodes: Sequence[str]) -> list[str]:
        """Facts that nothing is left of when these episodes go."""
        return rows.derived_only_from(self.db, episodes)

    def drop_sources(self, episodes: Sequence[str]) -> None:
        """These episodes are gone: no fact names them any more."""
        with self.db.write() as tx:
            rows.erase_freed(tx)
            tx.execute_many("DELETE FROM fact_sources WHERE episode = ?", [(each,) for each in episodes])

    # -- vectors

    @property
    def space(self) -> Space | None:
        return rows.space_of(self.db)

    def vectors_of(self, ids: Sequence[str]) -> "dict[str, Vector]":
        return rows.vectors(self.db, ids, self.space)

    def missing_vectors(self, count: int) -> list[Fact]:
        """Facts that are found by words only."""
        return rows.without_vector(self.db, count)

    def put_vectors(self, ids: Sequence[str], vectors: "Sequence[Vector]", space: Space) -> None:
        """For those that have none, in the space of the rest."""
        with self.db.write() as tx:
            for key, vector in zip(ids, vectors, strict=True):
                self._refuse_mixed(tx, vector, space)
                rows.put_vector(tx, key, vector, space)

    def replace_vectors(self, batches: "Iterable[tuple[Sequence[str], Sequence[Vector]]]", space: Space) -> None:
        """Another embedder: every vector at once, or none. Facts that no batch names are left without one."""
        with self.db.write() as tx:
            rows.erase_freed(tx)
            tx.execute("UPDATE facts SET vector = NULL, space = ''")
            for ids, vectors in batches:
                for key, vector in zip(ids, vectors, strict=True):
                    rows.put_vector(tx, key, vector, space)
        self._finder.forget()

    # -- going

    def remove(self, ids: Sequence[str]) -> int:
        """Really: rows, words, vectors, sources, links; nothing of them is left that a search of the file finds."""
        with self.db.write() as tx:
            pairs = causal.held(tx, ids)
            gone = rows.remove(tx, ids)
            causal.mend(tx, rows.select(tx, Which(kinds=tuple(causal.CAUSAL)), -1) if pairs else (), pairs)
        self._finder.forget()
        if gone:
            self.db.query("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    def clean_up(self, before: datetime) -> int:
        """Remove what was pruned before a moment."""
        sql = "SELECT id FROM facts WHERE standing = 'pruned' AND applied < ?"
        return self.remove([key for (key,) in self.db.query(sql, (to_text(before),))])

    # -- inside

    def _believe(self, fact: str, now: datetime | None, change: Callable[[datetime, Fact], Fact]) -> Fact | None:
        at = now or self._clock.now()
        with self.db.write() as tx:
            found = rows.read(tx, [fact])
            if not found:
                return None
            new = change(at, found[0])
            if new.provenance is found[0].provenance:
                facts_fading.believed(tx, [new])
            else:
                rows.write(tx, new, None, None)
            self._told(new)
        return new

    def _confirmed(self, fact: Fact, now: datetime) -> Fact:
        if fact.confirm_by is None or not fact_rules.is_confirmable(fact, now):
            return fact
        return replace(fact, confirm_by=None, provenance=Provenance.SELF, decay=Decay.TACTICAL)

    def _due(self, now: datetime) -> tuple[Mapping[Decay, datetime], datetime, datetime, float]:
        """Since when each class of decay must be untouched for a change to be noticed, at its fastest."""
        r = self.rules
        share = r.noticed * r.unproven  # of a half-life, a little less than it takes
        days = {
            Decay.STRUCTURAL: r.structural_days,
            Decay.STRATEGIC: r.strategic_days,
            Decay.TACTICAL: r.tactical_days,
            Decay.EPHEMERAL: r.ephemeral_days,
        }
        since = {decay: now - timedelta(days=share * length) for decay, length in days.items()}
        return since, now, now - timedelta(days=r.expire_days - r.confirm_days), r.prune

    def _told(self, fact: Fact) -> None:
        about = {"entry_type": str(fact.kind), "category": fact.domain, "confidence": fact.confidence}
        self._tell(happenings.WRITE, {**about, "source": str(fact.provenance)})

    def _link(self, tx: Transaction, src: str, dst: str, relation: str, weight: float) -> None:
        if relation not in RELATIONS:
            raise StoreError(f"facts cannot be linked by {relation!r}; this is a mistake in Metnos")
        now = to_text(self._clock.now())
        values: tuple[Value, ...] = (src, dst, relation, weight, now)
        tx.execute(
            "INSERT INTO fact_links (src, dst, relation, weight, ts) SELECT ?1, ?2, ?3, ?4, ?5"
            " WHERE ?1 <> ?2 AND (SELECT count(*) FROM facts WHERE id IN (?1, ?2)) = 2"
            " ON CONFLICT (src, dst, relation) DO UPDATE SET weight = excluded.weight, ts = excluded.ts",
            values,
        )

    def _refuse_mixed(self, tx: Transaction, vector: "Vector | None", space: Space | None) -> None:
        held = None if vector is None else rows.space_of(tx)
        if held is not None and held != space:
            raise StoreError(
                f"facts have vectors of {held.model}, this one is of another embedder: they must not be mixed",
                fix="Move the whole memory to the new embedder first.",
            )

    @contextmanager
    def _writing(self, tx: Transaction | None) -> Iterator[Transaction]:
        if tx is not None:
            yield tx
        else:
            with self.db.write() as own:
                yield own


def _up(fact: Fact, by: float | None, now: datetime, rules: FactRules) -> Fact:
    return fact_rules.reinforced(fact, rules.reinforcement if by is None else by, now, rules)


def _down(fact: Fact, by: float | None, now: datetime, rules: FactRules) -> Fact:
    return fact_rules.weakened(fact, rules.weakening if by is None else by, now, rules)
