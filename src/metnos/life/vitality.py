"""How alive this agent is: one point for each tick, and the dice. The one writer of ``ticks``.

Rules: a turn or a heartbeat is one tick, however often it is offered, and from however many processes. The throw of a
tick is the digest of the agent's signature over the number of the tick: it can be computed once only, cannot be chosen
or thrown again, and whoever has the public key can check it. Each throw, each change of phase and the end are in the
audit before they are in the table; a process that dies between the two throws the same again. Once the dice have ended
a life they stay so, also after ticks at which none were thrown. Deciding what an end means is not done here: a
household is told, a golem is retired.

Does not guarantee that nobody knows a throw beforehand: whoever holds the agent's key can compute all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from metnos.context.budgets import Phase
from metnos.core.clock import from_text, to_text
from metnos.core.sign import Signer
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.life import dice
from metnos.life import vitality_rules as rules_of
from metnos.life.cause import Cause
from metnos.life.dice import THROWN, Proof, Thrown
from metnos.life.vitality_rules import PURPOSE, RULES, Clocks, Effects, Rules, Terms
from metnos.models.budget import reserve_of
from metnos.store.db import Database, Row, Transaction

PHASE_CHANGED, OVER = "life phase changed", "life over"

_MILLION = 10**6  # the audit counts in whole numbers
_SELECT = (
    "SELECT tick, source, ts, economic, epistemic, stochastic, phase, hazard, roll, proof, cause, hayflick FROM ticks"
)
_EVENLY = (
    " WHERE ((SELECT max(tick) FROM ticks) - tick) % max(1, ((SELECT max(tick) FROM ticks) + ? - 1) / ?) = 0"
    " ORDER BY tick"
)
_INSERT = (
    "INSERT INTO ticks (tick, source, ts, economic, epistemic, stochastic, phase, hazard, roll, proof, cause,"
    " hayflick, vitality) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Point:
    """One tick. ``roll`` is nothing where no dice were thrown; ``cause`` says why the life is over, if it is;
    ``hayflick`` is the greatest age that held then."""

    tick: int
    source: str
    ts: datetime
    clocks: Clocks
    phase: Phase
    hazard: float = 0.0
    roll: float | None = None
    proof: str = ""
    cause: Cause | None = None
    hayflick: int = 0

    @property
    def vitality(self) -> float:
        return self.clocks.vitality

    @property
    def thrown(self) -> Thrown:
        return Thrown(self.tick, self.hayflick, self.hazard, self.roll, self.proof, self.clocks.stochastic)


@dataclass(frozen=True, slots=True)
class Ticked:
    """A tick that was new, and the one before it."""

    point: Point
    before: Point | None

    @property
    def has_changed(self) -> bool:
        """Whether it begins another phase than the one before; a newborn thrives."""
        return self.point.phase is not (self.before.phase if self.before else Phase.THRIVING)

    @property
    def is_over(self) -> bool:
        """Whether the life is over with this tick, and was not before."""
        return self.point.cause is not None and (self.before is None or self.before.cause is None)


class Vitality:
    """The ticks of one life. ``spent`` is the money that was used, ``fitness`` how much of what was foretold is true.

    Threads may share it.
    """

    def __init__(
        self,
        db: Database,
        signer: Signer,
        audit: Audit,
        terms: Terms,
        *,
        spent: Callable[[], float],
        fitness: Callable[[], float],
        rules: Rules = RULES,
    ) -> None:
        self._db = db
        self._signer = signer
        self._audit = audit
        self.terms = terms
        self._spent = spent
        self._fitness = fitness
        self._rules = rules

    # -- living

    def tick(self, source: str, ts: datetime) -> Ticked | None:
        """Live one tick; nothing if this turn or heartbeat was one already."""
        with self._db.write() as tx:
            if tx.first("SELECT 1 FROM ticks WHERE source = ?", (source,)):
                return None
            before = self.last()
            ticked = Ticked(self._point(source, ts, before), before)
            self._record(ticked)
            _put(tx, ticked.point)
        return ticked

    def _point(self, source: str, ts: datetime, before: Point | None) -> Point:
        number, terms = (before.tick if before else 0) + 1, self.terms
        hazard, roll, proof = 0.0, None, ""
        if terms.ages:
            hazard = rules_of.hazard(number, terms.hayflick, self._rules)
            proof = self._signer.sign(PURPOSE, rules_of.throw_message(number))
            roll = rules_of.throw_of(proof)
        gone = terms.ages and self._was_ended()
        clocks = self.clocks(number, ended=gone or (roll is not None and roll < hazard))
        phase = rules_of.phase_of(clocks.vitality, before.phase if before else None, self._rules)
        cause, limit = rules_of.cause_of(clocks, self._rules), terms.hayflick if terms.ages else 0
        return Point(number, source, ts, clocks, phase, hazard, roll, proof, cause, limit)

    def _was_ended(self) -> bool:
        """Whether the dice have ended this life. An end holds at every throw after it, so the last one says it for
        all; the tick before may have been one at which no dice were thrown."""
        row = self._db.first("SELECT stochastic FROM ticks WHERE roll IS NOT NULL ORDER BY tick DESC LIMIT 1")
        return row is not None and row[0] <= 0

    def clocks(self, tick: int, *, ended: bool = False) -> Clocks:
        """The clocks as they stand, at that age. ``ended``: the dice have fallen."""
        terms = self.terms
        balance = terms.balance_usd
        money = rules_of.economic(balance, reserve_of(balance), self._spent()) if terms.economic else 1.0
        age = rules_of.survival(tick, terms.hayflick, self._rules) if terms.ages else 1.0
        return Clocks(money, self._fitness() if terms.epistemic else 1.0, 0.0 if ended else age)

    def _record(self, ticked: Ticked) -> None:
        """What the audit holds of a tick: the dice with their proof, another phase, the end."""
        point, before = ticked.point, ticked.before
        at = {"tick": point.tick}
        if point.roll is not None:
            self._audit.append(point.thrown.recorded())
        if ticked.has_changed:
            names = {"was": str(before.phase if before else Phase.THRIVING), "is": str(point.phase)}
            counts = {"vitality_ppm": int(point.vitality * _MILLION)}
            self._audit.append(Entry(PHASE_CHANGED, names, counts=at | counts))
        if ticked.is_over:
            self._audit.append(Entry(OVER, {"cause": str(point.cause)}, counts=at))

    # -- looking

    def last(self) -> Point | None:
        row = self._db.first(_SELECT + " ORDER BY tick DESC LIMIT 1")
        return _point(row) if row else None

    def points(self, count: int) -> list[Point]:
        """Ticks, the oldest first: all of them, or ``count`` spread evenly over the life; the last is always there."""
        rows = self._db.query(_SELECT + _EVENLY, (count, count))
        return [_point(row) for row in rows]

    def phase(self) -> Phase:
        last = self.last()
        return last.phase if last else Phase.THRIVING

    def hayflick_ratio(self) -> float:
        last = self.last()
        return rules_of.hayflick_ratio(last.tick if last else 0, self.terms.hayflick if self.terms.ages else 0)

    def effects(self) -> Effects:
        """What the phase and the age change."""
        return rules_of.effects(self.phase(), self.hayflick_ratio(), self._rules)

    def cause(self) -> Cause | None:
        """Why the life is over, as of the last tick."""
        last = self.last()
        return last.cause if last else None

    def prove(self) -> Proof:
        """Check every throw: that the agent's key made it, that it was thrown against the hazard of its age, that it
        ended the life if and only if it had to, and that the audit has the same."""
        thrown = (_point(row).thrown for row in self._db.query(_SELECT + " ORDER BY tick"))
        audited = (line.entry for line in self._audit.newest() if line.kind == THROWN)
        return dice.prove(thrown, audited, self._signer.public, self._rules)


def _put(tx: Transaction, point: Point) -> None:
    clocks = point.clocks
    tx.execute(
        _INSERT,
        (
            point.tick,
            point.source,
            to_text(point.ts),
            clocks.economic,
            clocks.epistemic,
            clocks.stochastic,
            str(point.phase),
            point.hazard,
            point.roll,
            point.proof,
            str(point.cause or ""),
            point.hayflick,
            point.vitality,
        ),
    )


def _point(row: Row) -> Point:
    tick, source, ts, economic, epistemic, stochastic, phase, hazard, roll, proof, cause, hayflick = row
    clocks = Clocks(economic, epistemic, stochastic)
    why = Cause(cause) if cause else None
    return Point(tick, source, from_text(ts), clocks, Phase(phase), hazard, roll, proof, why, hayflick)
