"""The weights of the gate before knowledge: those in force, and fitting them from what became of admitted facts.

A fact keeps the factors that it was admitted by. If it helped, it was worth it; if it did harm, lost to what
contradicts it, or faded away unused, it was not; of the rest nothing is known yet. `admission.fit` makes weights of it.

Rules: a weight that the owner set is the owner's, whatever was fitted. Fitting always begins at the settings and never
at what was fitted before, so that doing it often leads nowhere else. What is fitted counts only once it is kept. Holds
numbers only, and a memory that is taken in from a file brings no weights.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, to_text
from metnos.grimoire import admission
from metnos.grimoire.admission import AdmissionRules, Outcome, Weights
from metnos.grimoire.fact import Kind, Standing
from metnos.grimoire.facts_admit import CONSENT
from metnos.store.db import Database

_KEPT = "admission weights"  # the row of the table `progress`
ENOUGH = 20  # outcomes: with fewer, chance says more than they do
_EACH = 5  # of each sort: from one sort alone nothing can be told apart
_LATEST = 5000  # facts that are looked at, the newest
_BECAME = (  # a time of its own that is over says nothing against a fact, but the time that a dream had does
    "SELECT f.kind, f.data, f.helped, f.harmed, f.standing, f.tags, f.confirm_by IS NULL AND f.valid_until IS NOT NULL,"
    " EXISTS (SELECT 1 FROM fact_links l WHERE l.relation = 'contradicts' AND (l.src = f.id OR l.dst = f.id))"
    " FROM (SELECT * FROM facts ORDER BY seq DESC LIMIT ?) f ORDER BY f.seq"
)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights before and after; of facts that proved good and bad, how many there are and how many would come in."""

    before: Weights
    after: Weights
    good: int = 0
    bad: int = 0
    in_before: tuple[int, int] = (0, 0)  # of the good, of the bad
    in_after: tuple[int, int] = (0, 0)
    own: Mapping[str, float] = field(default_factory=dict)  # which the owner set

    @property
    def is_enough(self) -> bool:
        return self.good + self.bad >= ENOUGH and min(self.good, self.bad) >= _EACH


class Fitting:
    """The weights of one memory. ``given`` are those of the settings, ``own`` those of them that the owner set."""

    def __init__(self, db: Database, clock: Clock, given: Weights, own: Mapping[str, float] | None = None) -> None:
        self._db = db
        self._clock = clock
        self._given = given
        self._own = dict(own or {})

    def rules(self) -> AdmissionRules:
        """The gate's numbers, as they are now."""
        return AdmissionRules(weights=self.weights())

    def weights(self) -> Weights:
        """What counts: the owner's own, else what was fitted and kept, else the default."""
        row = self._db.first("SELECT value FROM progress WHERE name = ?", (_KEPT,))
        kept = {} if row is None else json.loads(row[0])
        return replace(self._given, **{**kept, **self._own})

    def outcomes(self) -> list[Outcome]:
        """What became of the facts whose factors are known, as far as it can be told; the oldest first."""
        found = []
        for kind, data, helped, harmed, standing, tags, ended, contradicted in self._db.query(_BECAME, (_LATEST,)):
            factors = admission.came_by(json.loads(data))
            if factors is None or kind == Kind.WARNING or CONSENT in json.loads(tags):
                continue  # weights have no say about warnings, nor about what the owner is to decide
            good = admission.became(helped, harmed, Standing(standing), bool(contradicted), bool(ended))
            if good is not None:
                found.append(Outcome(factors, good))
        return found

    def fit(self) -> Fitted:
        """Weights that would have told good from bad better; nothing changes before they are kept."""
        outcomes = self.outcomes()
        good, bad = ([each for each in outcomes if each.good is wanted] for wanted in (True, False))
        before = self.weights()
        seen = Fitted(before, before, len(good), len(bad), own=self._own)
        if not seen.is_enough:
            return seen
        after = admission.fit(outcomes, self._given, self._own)

        def let_in(weights: Weights) -> tuple[int, int]:
            one, other = (sum(admission.passes(each.factors, weights) for each in some) for some in (good, bad))
            return one, other

        return replace(seen, after=after, in_before=let_in(before), in_after=let_in(after))

    def keep(self, weights: Weights) -> None:
        """Let these weights count, as far as the owner did not set them."""
        put = "INSERT OR REPLACE INTO progress (name, value, ts) VALUES (?, ?, ?)"
        with self._db.write() as tx:
            tx.execute(put, (_KEPT, canonical_json(asdict(weights)).decode(), to_text(self._clock.now())))

    def drop(self) -> bool:
        """Go back to the settings; says whether anything was kept."""
        with self._db.write() as tx:
            return bool(tx.execute("DELETE FROM progress WHERE name = ?", (_KEPT,)))
